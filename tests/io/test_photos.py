"""The images of samples."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress
from pathlib import Path
from time import perf_counter

import numpy as np

from enhg import InputError
from enhg.io import Samples
from enhg.io.photos import _rows_of_images, attach_photos


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


def test_names_that_match_all_images_take_no_longer():
    n = 20_000
    images = [f"{i}/image.png" for i in range(n)]

    def seconds(names):
        start = perf_counter()
        with suppress(InputError):
            _rows_of_images(names, images, Path("images"))
        return perf_counter() - start

    distinct = min(seconds(images) for _ in range(3))
    assert min(seconds(["image.png"] * n) for _ in range(3)) < 8 * distinct
