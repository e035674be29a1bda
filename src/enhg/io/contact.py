"""Contact sheets: one picture of thumbnails per cluster or class."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from enhg._atomic import atomic_file
from enhg._optional import require
from enhg.exceptions import InputError
from enhg.io._base import Photos, reason
from enhg.io._decoding import open_thumbnail
from enhg.io.folders import UNLABELED, group_names

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

_LIMIT = 100  # thumbnails on a sheet
_HEIGHT = 120  # of a row of thumbnails
_WIDTH = 1254  # of a full row: ten squares
_GAP = 6
_MARGIN = 28
_HEADING = 66
_PAPER = "#ffffff"
_INK = "#1f2328"
_PALE_INK = "#6e7781"
_TITLE = 30  # size of the font
_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial Unicode.ttf", "arial.ttf")


def write_contact_sheets(
    folder: str | os.PathLike[str], photos: Photos, labels: ArrayLike, confidence: ArrayLike
) -> None:
    """Write one JPEG per cluster or class with the thumbnails of its images.

    A heading gives the cluster or class and its number of images. The most confident images come
    first, 100 at most. Pictures keep their proportions.

    Parameters
    ----------
    folder : path
        Folder to write into; it is made if it is missing, and files of the same names are
        replaced. The names are those of `enhg.io.folders.group_names`.
    photos : Photos
        The images.
    labels : array-like of shape (n,)
        Clusters as integers, -1 for none; or classes as text, "" for none.
    confidence : array-like of shape (n,)
        Of the label of each image.

    Raises
    ------
    InputError
        When a file cannot be written.
    MissingDependencyError
        When the extra `images` is not installed.
    """
    require("PIL.Image", "images")
    target = Path(folder)
    labels, confidence = np.asarray(labels), np.asarray(confidence)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for label, name in group_names(labels).items():
            members = np.flatnonzero(labels == label)
            order = members[np.argsort(-confidence[members], kind="stable")]
            pictures = [_open(photos.thumbnails[i]) for i in order[:_LIMIT]]
            with atomic_file(target / f"{name}.jpg") as part:
                sheet = _sheet(_title(label), len(members), pictures)
                sheet.save(part, format="JPEG", quality=88)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({reason(error)})") from error


def _title(label: Any) -> str:
    if isinstance(label, int):
        return f"Cluster {label}" if label >= 0 else UNLABELED
    text = " ".join(str(label).split()) or UNLABELED
    return text[:200]


def _open(thumbnail: bytes) -> Image.Image:
    with open_thumbnail(thumbnail) as image:
        return image.convert("RGB")


def _rows(proportions: Sequence[float]) -> list[tuple[list[int], float]]:
    """Pictures of every row and its height, by which the row is as wide as the sheet.

    The last row has the full height if it is not as wide.
    """
    rows = []
    row: list[int] = []
    for i in range(len(proportions)):
        row.append(i)
        room = _WIDTH - _GAP * (len(row) - 1)
        height = room / sum(proportions[k] for k in row)
        if height <= _HEIGHT or i == len(proportions) - 1:
            rows.append((row, min(height, _HEIGHT)))
            row = []
    return rows


def _sheet(title: str, count: int, pictures: Sequence[Image.Image]) -> Image.Image:
    Image, ImageDraw = require("PIL.Image", "images"), require("PIL.ImageDraw", "images")
    rows = _rows([picture.width / picture.height for picture in pictures])
    total = 2 * _MARGIN + _HEADING + sum(round(height) + _GAP for _, height in rows) - _GAP
    sheet = Image.new("RGB", (_WIDTH + 2 * _MARGIN, total), _PAPER)
    _draw_heading(ImageDraw.Draw(sheet), title, count, len(pictures))
    y = _MARGIN + _HEADING
    for row, height in rows:
        x = float(_MARGIN)
        for i in row:
            width = height * pictures[i].width / pictures[i].height
            size = (max(1, round(x + width) - round(x)), max(1, round(height)))
            sheet.paste(pictures[i].resize(size, Image.Resampling.LANCZOS), (round(x), y))
            x += width + _GAP
        y += round(height) + _GAP
    return sheet


def _draw_heading(draw: ImageDraw.ImageDraw, title: str, count: int, shown: int) -> None:
    text = "1 image" if count == 1 else f"{count} images"
    if shown < count:
        text += f", the {shown} most confident"
    small = require("PIL.ImageFont", "images").load_default(18)
    title, large = _drawable(title)
    room = _WIDTH - draw.textlength(text, small) - _MARGIN
    draw.text((_MARGIN, _MARGIN + 32), _shortened(title, large, room), _INK, large, anchor="ls")
    draw.text((_MARGIN + _WIDTH, _MARGIN + 32), text, _PALE_INK, small, anchor="rs")


def _drawable(title: str) -> tuple[str, ImageFont.FreeTypeFont]:
    """A font that has the letters, or the title without accents in Pillow's own, which has not."""
    ImageFont = require("PIL.ImageFont", "images")
    if not title.isascii():
        for name in _FONTS:
            with suppress(OSError):
                return title, ImageFont.truetype(name, _TITLE)
        letters = [c for c in unicodedata.normalize("NFKD", title) if not unicodedata.combining(c)]
        title = "".join(c if c.isascii() else "?" for c in letters)
    return title, ImageFont.load_default(_TITLE)


def _shortened(text: str, font: ImageFont.FreeTypeFont, room: float) -> str:
    """The start of a text that fits, with three dots if it is not whole."""
    if font.getlength(text) <= room:
        return text
    while text and font.getlength(f"{text}...") > room:
        text = text[:-1]
    return f"{text}..."
