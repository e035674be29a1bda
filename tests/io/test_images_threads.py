"""Reading in threads: order, a bounded number ahead, errors and early ends."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from enhg.exceptions import InputError
from enhg.io._base import Skipped
from enhg.io.images import read_images


@pytest.fixture
def files(tmp_path, save_image):
    """Thirty images, the i-th of value i."""
    return [
        save_image(tmp_path / f"{at}.png", np.full((3, 3), at, dtype=np.uint8)) for at in range(30)
    ]


def value(image):
    return image.getpixel((0, 0))


@pytest.mark.parametrize("n_jobs", [1, 2, 5, -1, None])
def test_order(files, n_jobs):
    def slow(image):
        time.sleep(0.02 if value(image) % 3 == 0 else 0)
        return value(image)

    results = read_images(files, slow, min_side=8, n_jobs=n_jobs)
    assert [image.value for image in results] == list(range(30))


def test_skipped_images_keep_their_place(files):
    files[7].write_text("?")
    results = list(read_images(files, value, min_side=8, n_jobs=3))
    assert results[7] == Skipped(str(files[7]), "not an image")
    assert [image.value for at, image in enumerate(results) if at != 7] == [
        at for at in range(30) if at != 7
    ]


def test_read_ahead_is_bounded(files):
    lock = threading.Lock()
    running, most, started = 0, 0, 0

    def count(image):
        nonlocal running, most, started
        with lock:
            running, started = running + 1, started + 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return value(image)

    results = read_images(files, count, min_side=8, n_jobs=3)
    assert started == 0  # nothing is read before it is needed
    for done, _ in enumerate(results, 1):
        time.sleep(0.03)  # time enough for threads without a bound to read everything
        assert started <= done + 2 * 3
    assert started == 30
    assert 2 <= most <= 3


def test_exceptions_of_convert_are_passed_on(files):
    def fail(image):
        if value(image) == 4:
            raise RuntimeError("my own mistake")
        return value(image)

    results = read_images(files, fail, min_side=8, n_jobs=2)
    with pytest.raises(RuntimeError, match="my own mistake"):
        list(results)


def test_early_end_stops_the_threads(files):
    started, before = [], set(threading.enumerate())
    results = read_images(files, lambda image: started.append(1), min_side=8, n_jobs=2)
    next(results)
    assert set(threading.enumerate()) > before
    results.close()
    assert len(started) <= 5
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two"])
def test_n_jobs_is_checked(files, n_jobs):
    with pytest.raises(InputError, match="n_jobs must be a whole number other than 0") as caught:
        read_images(files, value, min_side=8, n_jobs=n_jobs)
    assert caught.value.parameter == "n_jobs"


def test_no_files():
    assert list(read_images([], value, min_side=8)) == []
