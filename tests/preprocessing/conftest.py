import warnings

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter


@pytest.fixture
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="session")
def images():
    """Make images of independent pixels."""

    def make(n=6, d=1024, seed=0):
        return np.random.default_rng(seed).integers(0, 256, (n, d)).astype(np.uint8)

    return make


@pytest.fixture(scope="session")
def blurred_images():
    """Make images of smooth noise with a black border, one pixel wide."""

    def make(n, side, seed=0):
        noise = np.random.default_rng(seed).normal(size=(n, side, side))
        frames = np.zeros((n, side + 2, side + 2))
        frames[:, 1:-1, 1:-1] = 1 + gaussian_filter(noise, (0, 1, 1))
        return frames.reshape(n, -1)

    return make
