"""Features without a model, against scikit-image."""

import numpy as np
import pytest
from PIL import Image
from skimage import data
from skimage.feature import hog

from enhg.features import ImageFeatures


@pytest.fixture(scope="module")
def extractor():
    return ImageFeatures("hog").fit()


def test_gradients_are_those_of_scikit_image(extractor):
    pixels = data.chelsea()
    small = Image.fromarray(pixels).resize((128, 128), Image.Resampling.BICUBIC)
    gray = np.asarray(small.convert("L"))
    vector = hog(gray, orientations=9, pixels_per_cell=(16, 16), cells_per_block=(2, 2))
    result = extractor.transform([pixels])[0]
    assert result.shape == (len(vector) + 128,)
    expected = vector / np.linalg.norm(vector)
    np.testing.assert_allclose(result[: len(vector)], expected, atol=1e-6)


def test_colors_are_shares_of_pixels(extractor):
    pixels = np.zeros((128, 128, 3), dtype=np.uint8)
    pixels[:32] = (255, 0, 0)  # hue 0, saturation and value 255
    pixels[32:] = (0, 0, 255)  # hue 170 of 256
    colors = extractor.transform([pixels])[0, 1764:].reshape(8, 4, 4)
    assert colors[0, 3, 3] ** 2 == pytest.approx(0.25)
    assert colors[170 * 8 // 256, 3, 3] ** 2 == pytest.approx(0.75)
    assert np.count_nonzero(colors) == 2


def test_both_blocks_have_unit_length(extractor):
    result = extractor.transform([data.coffee(), data.camera()])
    for block in (result[:, :1764], result[:, 1764:]):
        np.testing.assert_allclose(np.linalg.norm(block, axis=1), 1, rtol=1e-5)


def test_image_of_one_color(extractor):
    result = extractor.transform(np.full((1, 10, 10), 7, dtype=np.uint8))[0]
    assert not result[:1764].any()
    assert np.linalg.norm(result[1764:]) == pytest.approx(1)
