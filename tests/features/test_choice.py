"""The choice between pixels and features of a network."""

from __future__ import annotations

import pytest

from enhg.features.choice import choose_features


def decoded():
    pytest.fail("the sizes decide")


def test_small_gray_images_of_one_size_keep_their_pixels():
    kind, reason = choose_features([(128, 96)] * 3, lambda: True)
    assert (kind, reason) == ("pixels", "they are small, gray and of one size")


@pytest.mark.parametrize(
    ("sizes", "is_gray", "reason"),
    [
        ([(32, 32)] * 3, lambda: False, "in color"),
        ([(32, 32), (32, 33)], decoded, "of different sizes"),
        ([(129, 32)] * 2, decoded, "not small"),
    ],
)
def test_other_images(sizes, is_gray, reason):
    assert choose_features(sizes, is_gray) == ("network", f"they are {reason}")
