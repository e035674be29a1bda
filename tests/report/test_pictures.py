"""Pictures of the samples."""

import tracemalloc
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from enhg import ElasticNetHypergraph
from enhg.io import Samples
from enhg.report._pictures import draw_pictures


@pytest.mark.parametrize(
    ("shape", "tile"),
    [((8, 8), (8, 8)), ((200, 100), (64, 32)), ((6, 9, 3), (6, 9)), ((6, 9, 2), (6, 9))],
)
def test_tiles(shape, tile):
    X = np.random.default_rng(0).integers(0, 256, size=(12, np.prod(shape)), dtype=np.uint8)
    samples = Samples(X, [str(i) for i in range(12)], shape, None, Path("x.npy"))
    pictures = draw_pictures(samples, ElasticNetHypergraph().fit(X), np.arange(12))
    assert pictures.tile == tile
    sheet = Image.open(BytesIO(b64decode(pictures.sheets["sample"].partition(",")[2])))
    assert sheet.mode == ("RGB" if shape[2:] == (3,) else "L")
    height, width = tile
    i, j = divmod(7, pictures.columns)
    cut = np.asarray(sheet)[i * height : (i + 1) * height, j * width : (j + 1) * width]
    if shape[:2] == tile and shape[2:] != (2,):
        span = float(X.max()) - float(X.min())
        np.testing.assert_allclose(
            cut, (X[7].reshape(shape) - float(X.min())) * 255 / span, atol=0.6
        )


def test_many_features_take_little_memory():
    """No square of the number of features, which is 80 GB here."""
    X = np.random.default_rng(0).standard_normal((4, 100_000), dtype=np.float32)
    samples = Samples(X, list("abcd"), None, None, Path("x.npy"))
    tracemalloc.start()
    pictures = draw_pictures(samples, ElasticNetHypergraph().fit(X), np.arange(4))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pictures.tile == (1, 4)
    assert peak < 100 * X.nbytes
