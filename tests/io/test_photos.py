"""The images of samples."""

from __future__ import annotations

import tracemalloc

import numpy as np

from enhg.io import Samples
from enhg.io.photos import attach_photos


def test_names_that_match_all_images_take_no_memory(tmp_path, refuses):
    n = 1000
    for i in range(n):
        (tmp_path / str(i)).mkdir()
        (tmp_path / str(i) / "image.png").touch()
    samples = Samples(np.ones((n, 1)), ["image.png"] * n, None, None, tmp_path / "a.npy")
    tracemalloc.start()
    refuses(
        lambda: attach_photos(samples, tmp_path), f"the names of the {n} samples, got {n} images"
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * n**2
