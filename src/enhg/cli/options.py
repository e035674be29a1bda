"""Options that several commands share, and the parsing of their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

PREPROCESSINGS = ("auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none")
METHODS = ("auto", "diffusion", "poisson", "discriminant")


def _parse_size(text: str) -> tuple[int, int]:
    height, cross, width = text.lower().replace("×", "x").partition("x")
    if not (cross and height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        raise typer.BadParameter(f"must be HEIGHTxWIDTH in pixels, such as 32x32, got {text!r}")
    return int(height), int(width)


def _parse_bytes(text: str) -> int:
    amount = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)\s*([KMGT]?)(I?)B?", text.strip().upper())
    size = 0
    if amount:
        number, prefix, binary = amount.groups()
        size = int(float(number) * (1024 if binary else 1000) ** " KMGT".index(prefix or " "))
    if size < 1:
        raise typer.BadParameter(f"must be an amount of memory, such as 500MB or 2GB, got {text!r}")
    return size


def _parse_clusters(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    if not text.isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"must be auto or a whole number of at least 1, got {text!r}")
    return int(text)


def _check_positive(value: float) -> float:
    if not 0 < value < float("inf"):
        raise typer.BadParameter(f"must be a positive number, got {value:g}")
    return value


def _check_nonnegative(value: float) -> float:
    if not 0 <= value < float("inf"):
        raise typer.BadParameter(f"must be a number of at least 0, got {value:g}")
    return value


def _whole(low: int, high: int | None = None) -> Callable[[int | None], int | None]:
    """Make a check of whole numbers from `low` on, and up to `high` if given; None is accepted."""

    def check(value: int | None) -> int | None:
        if value is not None and (value < low or (high is not None and value > high)):
            allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
            raise typer.BadParameter(f"must be a whole number {allowed}, got {value}")
        return value

    return check


def _check_error_weight(value: float | None) -> float | None:
    return _check_positive(value) if value else value


def _check_fraction(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"must lie between 0 and 1, got {value:g}")
    return value


def _check_preprocessing(value: str) -> str:
    if value not in PREPROCESSINGS:
        raise typer.BadParameter(f"must be one of {', '.join(PREPROCESSINGS)}, got {value!r}")
    return value


def _check_method(value: str) -> str:
    if value not in METHODS:
        raise typer.BadParameter(f"must be one of {', '.join(METHODS)}, got {value!r}")
    return value


# The defaults stand in the commands, so that the help shows them without importing the library;
# a test holds them equal to those of the library.
Input = Annotated[
    Path,
    typer.Argument(metavar="INPUT", help="Folder of images, or .npy .npz .mat .h5 .csv file."),
]
Out = Annotated[
    Path,
    typer.Option("-o", "--out", metavar="OUT", help="Folder for the results: new, or empty."),
]
Clusters = Annotated[
    Any,
    typer.Option(
        "-k",
        "--clusters",
        parser=_parse_clusters,
        metavar="K",
        help="Number of clusters; auto estimates it.",
    ),
]
Labels = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="Labels of some samples: .csv with columns name,label; or .csv or .npy with one "
        "entry per sample, in order. Empty, -1, nan or ? for unlabeled.",
    ),
]
Method = Annotated[
    str,
    typer.Option(
        callback=_check_method,
        metavar="NAME",
        help="How labels spread: diffusion, poisson (for very few labels), discriminant (diffusion "
        "of linear discriminants), or auto, the mean of these and of self-training, weighted by "
        "cross-validation on the labels.",
    ),
]
Alpha = Annotated[
    float,
    typer.Option(
        callback=_check_fraction,
        metavar="X",
        help="Parameter of diffusion between 0 and 1: the larger, the further labels spread.",
    ),
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
    bool, typer.Option("--color", help="Keep the colors of images in a folder; default is gray.")
]
Gamma = Annotated[
    float,
    typer.Option(
        callback=_check_positive,
        metavar="X",
        help="Weight of the loss, above 1: the larger, the closer the reconstruction.",
    ),
]
Lam = Annotated[
    float,
    typer.Option(
        callback=_check_nonnegative,
        metavar="X",
        help="Weight of the ridge penalty: the larger, the more similar samples share the "
        "coefficients.",
    ),
]
Members = Annotated[
    int | None,
    typer.Option(
        callback=_whole(1),
        metavar="N",
        help="One hyperedge for each sample, with the N largest coefficients. By default two, with "
        "5 and with 10.",
    ),
]
ErrorWeight = Annotated[
    float | None,
    typer.Option(
        callback=_check_error_weight,
        metavar="X",
        help="Weight of sparse errors in single features, such as shadows; 0 for none. If not "
        "given, 0.5 for whitened samples (faces) and 0 for others.",
    ),
]
Preprocessing = Annotated[
    str,
    typer.Option(
        callback=_check_preprocessing,
        metavar="NAME",
        help="Preprocessing of the samples: whiten (faces), smooth (digits), zero_mean, unit, "
        "lift (few features), none, or auto, which chooses.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(callback=_whole(1), metavar="N", help="Threads; all cores if not given."),
]
MemoryBudget = Annotated[
    int | None,
    typer.Option(
        parser=_parse_bytes,
        metavar="SIZE",
        help="Memory of the solver, besides samples and result, as in 2GB; half of the free "
        "memory if not given.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        callback=_whole(0, 2**32 - 1), metavar="N", help="Seed of the random number generator."
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files of the same names in OUT.")
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print only warnings and errors.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print the results as JSON in place of the summary.")
]
Suggest = Annotated[
    int | None,
    typer.Option(
        callback=_whole(1),
        metavar="N",
        help="Write suggestions.csv: the N samples to label next, best first.",
    ),
]
