"""Names of samples, found by paths that lack folders or the extension of an image."""

from __future__ import annotations

from itertools import product
from time import perf_counter

import pytest

from enhg.io._name_finder import NameFinder

NAMES = ["a/1.png", "b/1.png", "b/c/2.jpg", "c/2.jpg", "3.png", "d/3.x", "4"]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("a/1.png", [0]),
        ("1.png", [0, 1]),
        ("/home/b/1", [1]),
        ("home\\a\\1.jpg", [0]),
        ("c/2.jpg", [3]),
        ("x/c/2.jpg", [3]),
        ("x/b/c/2.jpg", [2, 3]),
        ("2", [2, 3]),
        ("x/3.png", [4]),
        ("3.x", [5]),
        ("x/4.png", [6]),
        ("e/1.png", []),
        ("", []),
        ("/", []),
    ],
)
def test_samples_that_a_name_matches(name, rows):
    assert NameFinder(NAMES).find(name) == rows


def test_folders_of_a_name_that_a_sample_is_not_in():
    finder = NameFinder(NAMES)
    for (i, own), folder in product(enumerate(NAMES), ("", "x/", "/y/X/")):
        if i != 2:  # which another one ends alike
            assert finder.outside(i, folder + own) == ("x" if folder else "")


def test_one_file_name_in_many_folders_takes_no_longer():
    def seconds(names):
        start = perf_counter()
        finder = NameFinder(names)
        assert [finder.find(f"/data/{name}") for name in names] == [[i] for i in range(len(names))]
        return perf_counter() - start

    distinct = min(seconds([f"images/{i}.png" for i in range(3000)]) for _ in range(3))
    assert min(seconds([f"{i}/image.png" for i in range(3000)]) for _ in range(3)) < 5 * distinct
