"""Samples of images: the cache of their pixels."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from enhg._npz import read_archive, write_archive
from enhg.io import FeatureCache, images, read_samples

RNG = np.random.default_rng(0)


@pytest.fixture
def album(tmp_path):
    """Five gray images of 8 bits and one of 16."""
    folder = tmp_path / "album"
    folder.mkdir()
    for i in range(5):
        Image.fromarray(RNG.integers(0, 256, (6, 7), np.uint8)).save(folder / f"{i}.png")
    Image.fromarray(RNG.integers(0, 2**16, (6, 7), np.uint16)).save(folder / "deep.png")
    return folder


@pytest.fixture
def decoded(monkeypatch):
    """Names of the images that are decoded."""
    names = []
    original = images.read_image

    def recording(path, **options):
        names.append(path.name)
        return original(path, **options)

    monkeypatch.setattr(images, "read_image", recording)
    return names


def assert_equal(samples, expected):
    np.testing.assert_array_equal(samples.X, expected.X)
    assert samples.X.dtype == expected.X.dtype
    assert samples.names == expected.names
    assert samples.image_shape == expected.image_shape
    assert vars(samples.photos) == vars(expected.photos)
    assert samples.skipped == expected.skipped
    assert samples.recipe is None


@pytest.mark.parametrize("options", [{}, {"gray": False}, {"size": (4, 5)}])
def test_pixels_from_the_cache_are_those_of_the_files(album, tmp_path, decoded, options):
    (album / "bad.png").write_bytes(b"damaged")
    expected = read_samples(album, **options)
    cache = tmp_path / "cache"
    assert_equal(read_samples(album, cache=FeatureCache(cache), **options), expected)
    decoded.clear()
    again = read_samples(album, cache=FeatureCache(cache), **options)
    assert_equal(again, expected)
    assert set(decoded) <= {"bad.png"}  # what cannot be read may have been repaired
    (album / "deep.png").unlink()
    shallow = read_samples(album, cache=FeatureCache(cache), **options)
    assert shallow.X.dtype == np.uint8
    assert_equal(shallow, read_samples(album, **options))


@pytest.mark.parametrize("length", [1, 41, 43])
def test_rows_of_another_length_in_the_cache_are_made_again(album, tmp_path, length):
    expected = read_samples(album)
    read_samples(album, cache=FeatureCache(tmp_path / "cache"))
    for file in (tmp_path / "cache").glob("features-*"):
        with file.open("rb") as stream:
            state = read_archive(stream, "enhg.FeatureCache", 1)
        state["features"] = np.resize(state["features"], (len(state["digests"]), length))
        write_archive(file, "enhg.FeatureCache", 1, state, overwrite=True)
    for _ in range(2):  # the second time from what the first added
        assert_equal(read_samples(album, cache=FeatureCache(tmp_path / "cache")), expected)


def test_pixels_of_another_kind_are_read_again(album, tmp_path, decoded):
    for options in ({"size": (4, 5)}, {"size": (5, 4)}, {"size": (4, 5), "gray": False}):
        decoded.clear()
        samples = read_samples(album, cache=FeatureCache(tmp_path / "cache"), **options)
        assert len(decoded) == 6
        assert_equal(samples, read_samples(album, **options))
