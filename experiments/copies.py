"""Made copies in folders of images: which are found, and which other pairs are reported.

A random sample of the images of every folder is changed in every way of `CHANGES`. A reported pair
of a member and the first of its group is right if one was made from the other, or both from one
image. Some folders have near-copies of their own, which are counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

from enhg import datasets, duplicates
from enhg.io import read_samples
from enhg.io._base import Photos
from enhg.io.images import list_images
from experiments.paths import RESULTS
from experiments.tabular import write_records

FILE = RESULTS / "copies.csv"
"""Counts and similarities of every folder."""

SAMPLE = 60
HEADER = ("folder", "images", "pairs", "number", "reported", "similarity")
DIFFERENT, OWN = "different", "own near-copies"
_SPECIES = 12

Picture = Image.Image


def _cropped(image: Picture, share: float) -> Picture:
    left, top = round(share * image.width), round(share * image.height)
    return image.crop((left, top, image.width - left, image.height - top))


def _resized(image: Picture, factor: float) -> Picture:
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    return image.resize(size, Image.Resampling.LANCZOS)


def _compressed(image: Picture, quality: int) -> Picture:
    stream = BytesIO()
    image.save(stream, "JPEG", quality=quality)
    return Image.open(stream).convert("RGB")


def _brightened(image: Picture, factor: float) -> Picture:
    return ImageEnhance.Brightness(image).enhance(factor)


CHANGES: dict[str, Callable[[Picture], Picture]] = {
    "5 % cropped at every side": lambda image: _cropped(image, 0.05),
    "JPEG quality 30": lambda image: _compressed(image, 30),
    "half the size": lambda image: _resized(image, 0.5),
    "twice the size": lambda image: _resized(image, 2),
    "brighter by 20 %": lambda image: _brightened(image, 1.2),
    "darker by 20 %": lambda image: _brightened(image, 0.8),
    "half the size, quality 30": lambda image: _compressed(_resized(image, 0.5), 30),
    "cropped, brighter, quality 30": lambda image: _compressed(
        _brightened(_cropped(image, 0.025), 1.2), 30
    ),
}


@dataclass(frozen=True)
class Folder:
    """Images of one kind.

    Attributes
    ----------
    name : str
    images : callable
        From the folder of the data sets to the images.
    per_object : int
        Number of consecutive images that may be near-copies of each other; 1 for none.
    """

    name: str
    images: Callable[[Path], list[Picture]]
    per_object: int = 1


def _photographs(name: str) -> Callable[[Path], list[Picture]]:
    def images(data: Path) -> list[Picture]:
        files = list_images(data / "photos" / name).files
        return [Image.open(file).convert("RGB") for file in files]

    return images


def _halves(data: Path) -> list[Picture]:
    return [
        image.crop((left, 0, left + image.width // 2, image.height))
        for image in _photographs("scenes")(data)
        for left in (0, image.width // 2)
    ]


def _faces(name: str) -> Callable[[Path], list[Picture]]:
    def images(data: Path) -> list[Picture]:
        X = datasets.load(name, data).X
        return [Image.fromarray(np.uint8(np.rint(x.reshape(32, 32)))) for x in X]

    return images


def _by_columns(file: str) -> Callable[[Path], list[Picture]]:
    def images(data: Path) -> list[Picture]:
        with np.load(data / file) as arrays:
            return [Image.fromarray(x.reshape(32, 32).T.copy()) for x in arrays["X"]]

    return images


def leaves(n: int = 600) -> list[Picture]:
    """Drawn leaves on white, of twelve outlines in turn; the photographs of leaves are not ours."""
    return [_leaf(i % _SPECIES, np.random.default_rng([7, i])) for i in range(n)]


def _leaf(species: int, rng: np.random.Generator) -> Picture:
    """A leaf whose outline and veins are those of its species with small deviations."""
    width, height = 240, 320
    kind = np.random.default_rng(species)
    aspect = kind.uniform(0.35, 0.9) * np.exp(rng.normal(0, 0.06))
    n_lobes, n_teeth, n_veins = (int(kind.integers(*ends)) for ends in ((0, 8), (20, 60), (4, 10)))
    depth, angle, color = kind.uniform(0.1, 0.4), kind.uniform(0.5, 1.1), kind.uniform(0, 50, 3)
    t = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    radius = 1 - depth * np.exp(rng.normal(0, 0.1)) * (0.5 - 0.5 * np.cos(n_lobes * t))
    radius += kind.uniform(0, 0.05) * np.sin(n_teeth * t + rng.uniform(0, 6)) * np.abs(np.sin(t))
    waves = np.cos(np.arange(1, 7)[:, None] * t + rng.uniform(0, 6, (6, 1)))
    radius = 0.42 * height * (radius + (rng.normal(0, 0.012, (6, 1)) * waves).sum(axis=0))
    turned = t + rng.normal(0, 0.05)
    x = width / 2 + 0.7 * aspect * radius * np.sin(turned)
    y = height / 2 - radius * np.cos(turned)
    mask = Image.new("L", (width, height))
    ImageDraw.Draw(mask).polygon(list(zip(x, y, strict=True)), fill=255)
    base = (np.array([40, 90, 20]) + color) * np.exp(rng.normal(0, 0.08))
    blade = Image.fromarray(np.uint8(np.clip(base + _mottled(rng, width, height), 0, 255)))
    draw, vein = ImageDraw.Draw(blade), tuple(int(level) + 45 for level in base)
    draw.line([(width / 2, 0), (width / 2, height)], fill=vein, width=3)
    for at in np.linspace(0.85, 0.15, n_veins) * height + rng.normal(0, 4, n_veins):
        for side in (-1, 1):
            slope = angle + rng.normal(0, 0.07)
            end = (width / 2 + side * width * np.sin(slope), at - width * np.cos(slope))
            draw.line([(width / 2, at), end], fill=vein, width=2)
    leaf = Image.new("RGB", (width, height), "white")
    leaf.paste(blade.filter(ImageFilter.GaussianBlur(0.8)), mask=mask)
    return leaf


def _mottled(rng: np.random.Generator, width: int, height: int) -> NDArray:
    """Noise of three scales, as the surface of a leaf."""
    layers = []
    for size, strength in ((40, 9), (12, 5), (3, 4)):
        noise = rng.normal(0, strength, (height // size + 2, width // size + 2))
        image = Image.fromarray(noise.astype(np.float32))
        layers.append(np.asarray(image.resize((width, height), Image.Resampling.BICUBIC)))
    return np.sum(layers, axis=0)[..., None]


FOLDERS = (
    Folder("scenes", _photographs("scenes")),
    Folder("halves of scenes", _halves),
    Folder("flowers", _photographs("flowers")),
    Folder("hand-signs", _photographs("hand-signs")),
    Folder("drawn leaves", lambda data: leaves()),
    Folder("Extended Yale B", _faces("yale-b")),
    Folder("PIE", _faces("pie")),
    Folder("ORL", _by_columns("orl_32x32.npz")),
    Folder("COIL-20", _by_columns("coil20_32x32.npz"), per_object=72),
)


def measure(data: Path, report: Callable[[int, int], None] | None = None) -> None:
    """Count the pairs of every folder, and store the counts."""
    rows: list[dict[str, Any]] = []
    for done, folder in enumerate(FOLDERS, 1):
        images = folder.images(data)
        with TemporaryDirectory() as place:
            rows += [
                {"folder": folder.name, "images": len(images)} | row
                for row in _rows(images, folder.per_object, Path(place))
            ]
        if report is not None:
            report(done, len(FOLDERS))
    write_records(FILE, HEADER, rows)


def _rows(images: list[Picture], per_object: int, place: Path) -> Iterator[dict[str, Any]]:
    """Of every kind of pairs: the number, how many are reported, and a similarity.

    It is the largest of the nearest pairs of different images, and the 5 % quantile of copies.
    """
    photos, origin, change_of = _with_copies(images, place)
    groups = duplicates.find_duplicates(photos)
    reported = np.array([(group.members[0], i) for group in groups for i in group.members[1:]])
    reported = reported[origin[reported[:, 0]] != origin[reported[:, 1]]]
    pictures = duplicates._Pictures(photos, np.arange(len(images)))
    nearest = duplicates._nearest(pictures.points)
    similarity = _similarities(pictures, nearest)
    for kind, is_own in {DIFFERENT: False, OWN: True}.items():
        chosen = _same_object(nearest, per_object) == is_own
        if chosen.any():
            wrong = _same_object(origin[reported], per_object) == is_own
            yield _row(kind, chosen.sum(), wrong.sum(), similarity[chosen].max())
    group_of = {i: number for number, group in enumerate(groups) for i in group.members}
    pictures = duplicates._Pictures(photos, np.arange(len(origin)))
    for change in CHANGES:
        copies = np.flatnonzero(change_of == change)
        pairs = np.column_stack([origin[copies], copies])
        n_together = sum(group_of.get(a, -1) == group_of.get(b, -2) for a, b in pairs.tolist())
        similarity = _similarities(pictures, pairs)
        yield _row(change, len(copies), n_together, np.quantile(similarity, 0.05))


def _row(kind: str, number: int, reported: int, similarity: float) -> dict[str, Any]:
    return dict(zip(HEADER[2:], (kind, number, reported, float(similarity)), strict=True))


def _same_object(pairs: NDArray, per_object: int) -> NDArray[np.bool_]:
    """Whether both of a pair show one object, of which a folder may have near-copies."""
    a, b = pairs.T // per_object
    return a == b


def _similarities(pictures: duplicates._Pictures, pairs: NDArray) -> NDArray:
    """Similarities of pairs, also of those below the thresholds."""
    with patch.multiple(duplicates, _SIMILARITY=0, _SMALL_SIMILARITY=0):
        return pictures.similarities(pairs)


def _with_copies(images: list[Picture], place: Path) -> tuple[Photos, NDArray, NDArray]:
    """Write images and copies of some; for each: photo, row of the image, and the change."""
    sample = np.random.default_rng(0).choice(len(images), min(SAMPLE, len(images)), replace=False)
    copies = [(i, change) for i in sample.tolist() for change in CHANGES]
    for i, image in enumerate(images):
        image.save(place / f"{i:06}.png")
    for number, (i, change) in enumerate(copies, len(images)):
        copy = CHANGES[change](images[i].convert("RGB"))
        copy.save(place / f"{number:06}.png")
    photos = read_samples(place, size=(8, 8)).photos
    assert photos is not None
    origin = np.array([*range(len(images)), *(i for i, _ in copies)])
    return photos, origin, np.array([""] * len(images) + [change for _, change in copies])
