"""The options that commands of the program share, and how their words are read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

NORMALIZATIONS = ("auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none")


def _parse_size(text: str) -> tuple[int, int]:
    height, cross, width = text.lower().replace("×", "x").partition("x")
    if not (cross and height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        raise typer.BadParameter(f"{text!r} is not HEIGHTxWIDTH in pixels, such as 32x32")
    return int(height), int(width)


def _parse_bytes(text: str) -> int:
    amount = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)\s*([KMGT]?)(I?)B?", text.strip().upper())
    size = 0
    if amount:
        number, prefix, binary = amount.groups()
        size = int(float(number) * (1024 if binary else 1000) ** " KMGT".index(prefix or " "))
    if size < 1:
        raise typer.BadParameter(f"{text!r} is not an amount of memory, such as 500MB or 2GB")
    return size


def _positive(value: float) -> float:
    if not 0 < value < float("inf"):
        raise typer.BadParameter(f"{value:g} is not a positive number")
    return value


def _positive_zero_or_none(value: float | None) -> float | None:
    return _positive(value) if value else value


def _one_of_the_normalizations(value: str) -> str:
    if value not in NORMALIZATIONS:
        raise typer.BadParameter(f"{value!r} is none of {', '.join(NORMALIZATIONS)}")
    return value


def number_of_clusters(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    if not text.isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"{text!r} is neither a whole number from 1 on nor auto")
    return int(text)


def one_of_the_methods(value: str) -> str:
    if value not in ("auto", "diffusion", "poisson"):
        raise typer.BadParameter(f"{value!r} is none of auto, diffusion, poisson")
    return value


def open_fraction(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"{value:g} does not lie between 0 and 1")
    return value


# A test holds the defaults of --gamma, --lam, --level and --alpha equal to the library's.
Input = Annotated[
    Path,
    typer.Argument(metavar="INPUT", help="Folder of images, or .npy .npz .mat .h5 .csv file."),
]
Out = Annotated[
    Path,
    typer.Option("-o", "--out", metavar="OUT", help="Folder for the results: new, or empty."),
]
Key = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Array of a .npz, .mat or .h5 file that holds the samples."),
]
Size = Annotated[
    tuple | None,
    typer.Option(
        parser=_parse_size, metavar="HxW", help="Resize the images of a folder, as in 32x32."
    ),
]
Color = Annotated[
    bool, typer.Option("--color", help="Keep the colors of a folder's images, not only gray.")
]
Gamma = Annotated[
    float,
    typer.Option(
        callback=_positive,
        metavar="X",
        help="Weight of the error, above 1: the higher, the closer samples are rebuilt.",
    ),
]
Lam = Annotated[
    float,
    typer.Option(
        min=0,
        metavar="X",
        help="Weight of the ridge: the higher, the more similar samples share their part.",
    ),
]
Members = Annotated[
    int, typer.Option(min=1, metavar="N", help="Rebuilders of a sample that join its hyperedge.")
]
ErrorWeight = Annotated[
    float | None,
    typer.Option(
        callback=_positive_zero_or_none,
        metavar="X",
        help="Let single pixels be wrong, at this price, as in shadows; 0 for never. If not "
        "given, 0.5 for faces and the like, whose samples are whitened, and 0 for others.",
    ),
]
Preprocessing = Annotated[
    str,
    typer.Option(
        callback=_one_of_the_normalizations,
        metavar="HOW",
        help="What is done to the samples first: whiten (faces), smooth (digits), zero_mean, "
        "unit, lift (points in few dimensions), none, or auto, which chooses.",
    ),
]
Jobs = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Threads; all cores if not given.")
]
MemoryBudget = Annotated[
    int | None,
    typer.Option(
        parser=_parse_bytes,
        metavar="SIZE",
        help="Memory for rebuilding, besides samples and result, as in 2GB; half of what is free if not given.",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="The same seed, the same result.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files of the same names in OUT.")
]
Quiet = Annotated[
    bool, typer.Option("-q", "--quiet", help="Print nothing but warnings and errors.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print what was found as JSON, in place of the summary.")
]
Suggest = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Write suggestions.csv: the N samples to label next, best first."
    ),
]
