"""Options that several commands share, and the parsing of their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

PREPROCESSINGS = ("auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none")
METHODS = ("auto", "diffusion", "poisson", "discriminant")
FEATURES = ("auto", "pixels", "network", "hog")
FOLDERS = ("links", "copies")


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


def whole(low: int, high: int | None = None) -> Callable[[int | None], int | None]:
    """Make a check of whole numbers from `low` on, and up to `high` if given; None is accepted."""

    def check(value: int | None) -> int | None:
        if value is not None and (value < low or (high is not None and value > high)):
            allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
            raise typer.BadParameter(f"must be a whole number {allowed}, got {value}")
        return value

    return check


def _check_above_one(value: float) -> float:
    if not 1 < value < float("inf"):
        raise typer.BadParameter(f"must be a number above 1, got {value:g}")
    return value


def _check_error_weight(value: float | None) -> float | None:
    return _check_positive(value) if value else value


def _check_fraction(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"must lie between 0 and 1, got {value:g}")
    return value


def _among(allowed: tuple[str, ...]) -> Callable[[str | None], str | None]:
    """Make a check of words; None is accepted."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in allowed:
            raise typer.BadParameter(f"must be one of {', '.join(allowed)}, got {value!r}")
        return value

    return check


def _parse_channels(text: str) -> tuple[float, ...]:
    """One number for all colors, or three."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) not in (1, 3) or not all(isfinite(value) for value in values):
        raise typer.BadParameter(
            f"must be a number, or three with commas between them, got {text!r}"
        )
    return values if len(values) == 3 else 3 * values


# The defaults stand in the commands, so that the help shows them without importing the library;
# a test holds them equal to those of the library.
Input = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT",
        help="Folder of images, or .npy .npz .mat .h5 .csv .tsv .parquet .zarr file.",
    ),
]
Out = Annotated[
    Path,
    typer.Option("-o", "--out", metavar="OUT", help="Folder for the results: new or empty."),
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
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Labels of some samples: .csv or .tsv with columns name and label; or .csv or .npy "
        "with one entry per sample, in order. Empty, -1, nan, NA or ? for unlabeled.",
    ),
]
Method = Annotated[
    str,
    typer.Option(
        callback=_among(METHODS),
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
    typer.Option(
        metavar="NAME",
        help="Array of a .npz, .mat, .h5 or .zarr file, or column of lists of a .parquet file, "
        "that holds the samples.",
    ),
]
Size = Annotated[
    tuple | None,
    typer.Option(
        parser=_parse_size,
        metavar="HxW",
        help="Compare images by their pixels, resized to this size, as in 32x32.",
    ),
]
Color = Annotated[bool, typer.Option("--color", help="Compare images by their pixels, in color.")]
Features = Annotated[
    str,
    typer.Option(
        callback=_among(FEATURES),
        metavar="NAME",
        help="What the images of a folder are compared by: network (features of a small neural "
        "network, for photographs), hog (edges and colors), pixels (for aligned images such as "
        "faces and digits), or auto, which chooses.",
    ),
]
ModelFile = Annotated[
    Path | None,
    typer.Option("--model", metavar="FILE", help="Network of your own: an ONNX model of images."),
]
ModelSize = Annotated[
    tuple | None,
    typer.Option(
        parser=_parse_size, metavar="HxW", help="Input size of --model, if its file does not say."
    ),
]
ModelMean = Annotated[
    tuple | None,
    typer.Option(
        parser=_parse_channels,
        metavar="X,X,X",
        help="Mean that is subtracted from colors in 0 to 1 before --model.",
    ),
]
ModelStd = Annotated[
    tuple | None,
    typer.Option(
        parser=_parse_channels,
        metavar="X,X,X",
        help="Standard deviation that colors are divided by before --model.",
    ),
]
ModelOutput = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Output or inner layer of --model that holds the features."),
]
Images = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of the images behind the rows of a file, to be shown: found by the names "
        "of the samples, or in order if there are as many images as samples.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Stop at images that cannot be read; else they are left out."),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Do not read or write .enhg-cache beside the results, which holds features and "
        "coefficients for the next run.",
    ),
]
Folders = Annotated[
    str | None,
    typer.Option(
        callback=_among(FOLDERS),
        metavar="KIND",
        help="Write a folder for each cluster or class: links to the images, or copies. The "
        "images themselves stay where they are.",
    ),
]
ContactSheets = Annotated[
    bool,
    typer.Option("--contact-sheets", help="Write a picture of each cluster or class."),
]
LabelsFromFolders = Annotated[
    bool,
    typer.Option(
        "--labels-from-folders",
        help="The sub-folders of INPUT are the classes of their images; the images outside of "
        "them, or in a sub-folder called unlabeled, are to be labeled.",
    ),
]
Gamma = Annotated[
    float,
    typer.Option(
        callback=_check_above_one,
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
        "--members",
        callback=whole(1),
        metavar="N",
        help="One hyperedge for each sample, with the N largest coefficients. By default three, "
        "with 5, 7 and 10.",
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
        callback=_among(PREPROCESSINGS),
        metavar="NAME",
        help="Preprocessing of the samples: whiten (faces), smooth (digits), zero_mean, unit, "
        "lift (few features), none, or auto, which chooses.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(callback=whole(1), metavar="N", help="Threads; all cores if not given."),
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
CheckpointFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder outside of OUT for what is computed, which is kept. After an interruption the "
        "same command goes on from it. If not given, runs of over a minute have one in OUT until "
        "they end.",
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Compare images on the workers of a Dask cluster, such as tcp://host:8786; local for "
        "workers on this machine.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        callback=whole(0, 2**32 - 1), metavar="N", help="Seed of the random number generator."
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace results of the same names.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print only warnings and errors.")]
Verbose = Annotated[
    bool,
    typer.Option("-v", "--verbose", help="Print also figures of the representation."),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the results as JSON in place of the summary.")
]
Suggest = Annotated[
    int | None,
    typer.Option(
        callback=whole(1),
        metavar="N",
        help="Write suggestions.csv: the N samples to label next, best first.",
    ),
]
