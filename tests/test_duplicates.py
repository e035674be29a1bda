"""Copies and near-copies among images."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps
from scipy.ndimage import gaussian_filter
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_sample_images

from enhg import duplicates
from enhg.duplicates import DuplicateGroup, conflicting, duplicate_table, find_duplicates
from enhg.io import read_samples
from enhg.io._base import Photos


def crop(image, left, top, right, bottom):
    width, height = image.size
    return image.crop(
        (round(left * width), round(top * height), round((1 - right) * width),
         round((1 - bottom) * height))
    )  # fmt: skip


def resized(image, factor):
    size = (round(image.width * factor), round(image.height * factor))
    return image.resize(size, Image.Resampling.LANCZOS)


def recompressed(image, quality):
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=quality)
    return Image.open(stream).convert("RGB")


def brightened(image, factor):
    return ImageEnhance.Brightness(image).enhance(factor)


NEAR = {
    "half the size": lambda image: resized(image, 0.5),
    "twice the size": lambda image: resized(image, 2),
    "quality 30": lambda image: recompressed(image, 30),
    "quality 90": lambda image: recompressed(image, 90),
    "cropped by 2 %": lambda image: crop(image, 0.02, 0.02, 0, 0),
    "cropped by 5 % at two sides": lambda image: crop(image, 0.05, 0, 0, 0.05),
    "cropped by 5 % at all sides": lambda image: crop(image, 0.05, 0.05, 0.05, 0.05),
    "brighter": lambda image: brightened(image, 1.2),
    "darker": lambda image: brightened(image, 0.8),
    "all": lambda image: recompressed(
        brightened(crop(resized(image, 0.5), 0.03, 0, 0.02, 0.02), 1.1), 40
    ),
}
OTHER = {
    "mirrored": ImageOps.mirror,
    "upside down": ImageOps.flip,
    "turned": lambda image: image.rotate(180),
    "stretched": lambda image: image.resize((image.width, image.height * 2)),
    "cropped by 30 %": lambda image: crop(image, 0.3, 0.3, 0, 0),
    "negative": ImageOps.invert,
    "much darker": lambda image: brightened(image, 0.4),
}


def as_photos(images):
    """Photos as reading makes them; the digest is that of the pixels."""
    thumbnails, digests = [], []
    for image in images:
        stream = io.BytesIO()
        small = image.convert("RGB")
        small.thumbnail((160, 160))
        small.save(stream, "JPEG", quality=85)
        thumbnails.append(stream.getvalue())
        digests.append(hashlib.sha256(image.tobytes() + repr(image.size).encode()).hexdigest())
    files = [Path(f"{i}.jpg") for i in range(len(images))]
    return Photos(files, thumbnails, digests, [image.size for image in images])


@pytest.fixture(scope="module")
def pictures():
    """Parts of two photographs that do not overlap."""
    parts = []
    for array in load_sample_images().images:
        image = Image.fromarray(array)
        for x in range(0, 640, 160):
            for y in range(0, 420, 140):
                parts.append(image.crop((x, y, x + 160, y + 140)))
    return parts


def test_different_pictures_are_no_copies(pictures):
    assert find_duplicates(as_photos(pictures)) == []


@pytest.mark.parametrize("change", NEAR)
def test_near_copies(pictures, change):
    n = len(pictures)
    changed = [NEAR[change](picture) for picture in pictures]
    groups = find_duplicates(as_photos(pictures + changed))
    pairs = {tuple(sorted(group.members)) for group in groups}
    assert pairs <= {(i, n + i) for i in range(n)}
    assert len(pairs) >= n - 4  # parts of the sky are without detail
    assert all(group.copies == (True, False) for group in groups)


@pytest.mark.parametrize("change", OTHER)
def test_other_pictures(pictures, change):
    changed = [OTHER[change](picture) for picture in pictures]
    assert find_duplicates(as_photos(pictures + changed)) == []


def test_pictures_of_equal_low_frequencies_are_no_copies(pictures):
    """They agree in what is large, as two landscapes do, and differ in detail."""
    houses = [np.asarray(pictures[i], dtype=float) for i in (1, 2, 4, 5, 7, 8, 10, 11)]
    blurred = [gaussian_filter(picture, (4, 4, 0)) for picture in houses]
    details = [picture - low for picture, low in zip(houses, blurred, strict=True)]
    others = [low + detail for low, detail in zip(blurred, details[1:] + details[:1], strict=True)]
    images = [Image.fromarray(np.uint8(np.clip(x, 0, 255))) for x in [*houses, *others]]
    assert find_duplicates(as_photos(images)) == []


def test_pictures_that_differ_in_one_part_are_no_copies(pictures):
    """As of a form, or before one background: a sixteenth of the area is another picture."""
    images = []
    for i in (1, 2, 5, 8, 10, 11):
        image = pictures[4].copy()
        image.paste(pictures[i].resize((40, 35)), (60, 52))
        images.append(image)
    assert find_duplicates(as_photos(images)) == []


def test_members_agree_with_the_first():
    """Pictures of a slow pan are similar to the next one; the last is not similar to the first."""
    photograph = Image.fromarray(load_sample_images().images[0]).resize((640, 427))
    pan = [photograph.crop((x, 100, x + 320, 340)) for x in range(0, 200, 8)]
    groups = find_duplicates(as_photos(pan))
    assert len(groups) > 3
    for group in groups:
        first, *others = group.members
        for i, similarity in zip(others, group.similarities[1:], strict=True):
            (pair,) = find_duplicates(as_photos([pan[first], pan[i]]))
            assert pair.similarities == (1.0, pytest.approx(similarity, abs=0.05))
            assert abs(i - first) * 8 <= 0.1 * 320


def test_landscapes_are_no_copies(data_folder):
    photos = read_samples(data_folder / "photos" / "scenes", size=(8, 8)).photos
    assert find_duplicates(photos) == []


def test_groups_of_two_class_names():
    groups = [
        DuplicateGroup((0, 1, 2), (True,) * 3, (1.0,) * 3),
        DuplicateGroup((3, 4), (True,) * 2, (1.0,) * 2),
        DuplicateGroup((5, 6), (True,) * 2, (1.0,) * 2),
    ]
    assert conflicting(groups, ["oak", "oak", "elm", "oak", "", "elm", "oak"]) == groups[::2]


@pytest.fixture(scope="module")
def symmetric(pictures):
    """A picture that is nearly symmetric."""
    half = pictures[5]
    whole = Image.new("RGB", (2 * half.width, half.height))
    whole.paste(half, (0, 0))
    whole.paste(ImageOps.mirror(half), (half.width, 0))
    return Image.blend(whole, pictures[20].resize(whole.size), 0.1)


def test_a_near_copy_of_a_symmetric_picture(pictures, symmetric):
    groups = find_duplicates(as_photos([symmetric, *pictures[:5], recompressed(symmetric, 50)]))
    assert [(group.members, group.copies) for group in groups] == [((0, 6), (True, False))]


def test_the_mirror_image_of_a_symmetric_picture(pictures, symmetric, monkeypatch):
    photos = as_photos([symmetric, *pictures[:5], ImageOps.mirror(symmetric)])
    assert find_duplicates(photos) == []
    monkeypatch.setattr(duplicates, "_TURNED", 1)  # the correlation is above the threshold
    assert len(find_duplicates(photos)) == 1


def test_groups_begin_with_the_largest_picture(pictures):
    a, b, c = pictures[:3]
    images = [b, resized(a, 0.5), a, c, recompressed(a, 60), resized(a, 0.5), b]
    groups = find_duplicates(as_photos(images))
    assert [(group.members, group.copies) for group in groups] == [
        ((0, 6), (True, True)),
        ((2, 1, 4, 5), (True, False, False, False)),
    ]
    names = ["=b.jpg", "1", "2", "3", "4", "5", "6"]
    similarities = [f"{similarity:.4f}" for group in groups for similarity in group.similarities]
    assert duplicate_table(groups, names) == {
        "group": [1, 1, 2, 2, 2, 2],
        "name": ["=b.jpg", "6", "2", "1", "4", "5"],
        "kind": ["", "copy", "", "near-copy", "near-copy", "near-copy"],
        "of": ["", "=b.jpg", "", "2", "2", "2"],
        "similarity": similarities,
    }


def test_the_order_of_images_does_not_matter(pictures):
    images = [*pictures[:6], *(NEAR["all"](picture) for picture in pictures[:4]), pictures[1]]
    order = np.random.default_rng(0).permutation(len(images))
    groups = {frozenset(group.members) for group in find_duplicates(as_photos(images))}
    permuted = find_duplicates(as_photos([images[i] for i in order]))
    assert {frozenset(int(order[i]) for i in group.members) for group in permuted} == groups
    assert frozenset({1, 7, 10}) in groups


def test_many_copies_do_not_hide_a_near_copy(pictures):
    images = [pictures[0]] * 30 + [recompressed(pictures[0], 50)] * 20 + pictures[1:]
    (group,) = find_duplicates(as_photos(images))
    assert group.members == tuple(range(50))
    assert sum(group.copies) == 30


def test_images_of_large_coefficients_are_compared(pictures, monkeypatch):
    images = [*pictures, NEAR["all"](pictures[3])]
    n = len(images)
    monkeypatch.setattr(duplicates, "_nearest", lambda points: np.empty((0, 2), dtype=int))
    assert find_duplicates(as_photos(images)) == []
    rng = np.random.default_rng(0)
    matrix = np.where(rng.random((n, n)) < 0.5, rng.uniform(-0.1, 0.1, (n, n)), 0)
    matrix[n - 1, 3] = 0
    matrix[3, n - 1] = 0
    assert find_duplicates(as_photos(images), csr_array(matrix)) == []
    matrix[n - 1, 3] = -0.5
    (group,) = find_duplicates(as_photos(images), csr_array(matrix))
    assert group.members == (3, n - 1)


def test_near_copies_among_many_images(pictures, monkeypatch):
    """The index of many images, here of few."""
    monkeypatch.setattr(duplicates, "_MOST_COMPARED", 20)
    plain = [Image.new("RGB", (200, 100), (c, c, c)) for c in range(30)]  # all equally near
    changed = [NEAR["all"](picture) for picture in pictures[:12]]
    groups = find_duplicates(as_photos([*pictures, *changed, *plain]))
    n = len(pictures)
    exact = [(i, n + i) for i in range(12)]
    assert [group.members for group in groups if group.members not in exact] == []
    assert len(groups) >= 9  # parts of the sky are without detail


def test_distinct_pairs():
    pairs = np.random.default_rng(0).integers(0, 30, (500, 2))
    expected = {(min(pair), max(pair)) for pair in pairs.tolist() if pair[0] != pair[1]}
    assert [tuple(pair) for pair in duplicates._distinct(pairs, 30).tolist()] == sorted(expected)
    assert duplicates._distinct(np.empty((0, 2), int), 0).shape == (0, 2)


def test_largest_coefficients():
    rng = np.random.default_rng(0)
    matrix = np.where(rng.random((40, 40)) < 0.3, rng.normal(size=(40, 40)), 0)
    pairs = duplicates._largest(csr_array(matrix))
    for i, row in enumerate(matrix):
        expected = np.argsort(-np.abs(row))[: min(duplicates._NEIGHBORS, np.count_nonzero(row))]
        assert set(pairs[pairs[:, 0] == i, 1]) == set(expected)


def test_small_digits_are_no_copies_of_each_other():
    digits = (load_digits().images[:300] * 15.9).astype(np.uint8)
    images = [Image.fromarray(digit).resize((32, 32)) for digit in digits]
    assert find_duplicates(as_photos(images)) == []
    again = [brightened(image, 0.8) for image in images]
    groups = find_duplicates(as_photos(images + again))
    assert {tuple(sorted(group.members)) for group in groups} == {(i, 300 + i) for i in range(300)}


def test_small_pictures_of_another_light_are_no_copies(pictures):
    """Small photographs of one face differ in shading, as these do, and agree in detail."""
    small = [pictures[i].resize((40, 40)) for i in (1, 2, 5, 8, 10, 11)]
    light = np.linspace(0.7, 1, 40)[:, None]
    shaded = [Image.fromarray(np.uint8(np.asarray(image) * light)) for image in small]
    assert find_duplicates(as_photos([*small, *shaded])) == []


def test_similarities_are_at_most_1(pictures):
    """Of files with other bytes and equal pixels, too."""
    small = [picture.resize((40, 30)) for picture in pictures]
    photos = as_photos(small * 2)
    digests = [f"{digest}{i}" for i, digest in enumerate(photos.digests)]
    groups = find_duplicates(replace(photos, digests=digests))
    assert len(groups) > 20
    assert max(value for group in groups for value in group.similarities) <= 1


def test_plain_pictures_are_compared_by_contents_only():
    images = [Image.new("RGB", (200, 100), (c, c, c)) for c in (0, 1, 1, 250, 255)]
    assert find_duplicates(as_photos(images)) == [DuplicateGroup((1, 2), (True, True), (1.0, 1.0))]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_images(pictures, count):
    assert find_duplicates(as_photos(pictures[:count])) == []
    twice = find_duplicates(as_photos(pictures[:count] * 2))
    assert [group.members for group in twice] == [(i, count + i) for i in range(count)]


def test_windows_equal_those_of_another_library(pictures):
    """Shifted and scaled pictures are those of scipy's interpolation."""
    from scipy.ndimage import map_coordinates

    pixels = duplicates._decoded(as_photos(pictures[:3]).thumbnails, "RGB", 32).astype(np.float32)
    window = np.random.default_rng(0).uniform(-0.06, 0.06, (3, 2, 2)).astype(np.float32)
    moved = duplicates._window(pixels, window)
    place = (np.arange(32) + 0.5) / 32 - 0.5
    for picture, result, (rows, columns) in zip(pixels, moved, window, strict=True):
        y, x = ((place * (1 + scale) + shift + 0.5) * 32 - 0.5 for shift, scale in (rows, columns))
        grid = np.meshgrid(y, x, indexing="ij")
        for channel, values in zip(picture, result, strict=True):
            expected = map_coordinates(channel, grid, order=1, mode="nearest")
            np.testing.assert_allclose(values, expected, atol=1e-2)
