"""Saving and loading of fitted learners: arrays and JSON, nothing executed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from enhg._files import open_regular, require_path
from enhg._npz import State, read_archive, require, require_array, require_value, write_archive
from enhg.exceptions import InputError
from enhg.io._base import readable
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering

Model = HypergraphClustering | HypergraphClassifier

_FORMAT, _VERSION = "enhg.Model", 2
_LEARNERS: dict[str, type[HypergraphClustering] | type[HypergraphClassifier]] = {
    kind.__name__: kind for kind in (HypergraphClustering, HypergraphClassifier)
}


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A learner that was saved, and how its samples were made from images.

    Attributes
    ----------
    model : HypergraphClustering or HypergraphClassifier
    image_shape : tuple of int or None
        Shape of a sample, where samples are pixels.
    recipe : dict or None
        `recipe` of `enhg.features.ImageFeatures`, where samples are such features.
    names : list of str or None
        Names of the samples.
    checksums : ndarray of shape (n_samples,) or None
        CRC-32 of the thumbnail of every sample, where they are images.
    folder : Path or None
        The folder that the model was read from.
    feature_names : tuple of str or None
        Names of the features, where samples are from a table.
    """

    model: Model
    image_shape: tuple[int, ...] | None
    recipe: dict[str, Any] | None
    names: list[str] | None = None
    checksums: NDArray[np.uint32] | None = None
    folder: Path | None = None
    feature_names: tuple[str, ...] | None = None


def save_model(
    model: Model,
    path: str | os.PathLike[str],
    *,
    image_shape: tuple[int, ...] | None = None,
    recipe: dict[str, Any] | None = None,
    names: Sequence[str] | None = None,
    thumbnails: Sequence[bytes] | None = None,
    feature_names: Sequence[str] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a fitted learner to an ``.npz`` file: the whole file or, on failure, nothing.

    Parameters
    ----------
    model : HypergraphClustering or HypergraphClassifier
        Fitted on an `ElasticNetHypergraph` or `L1Hypergraph`, which can attach new samples. The
        samples of `fit` are saved, as they were then. Of the parameters, `random_state`,
        `verbose`, `checkpoint`, `n_jobs` and `memory_budget` are not.
    path : path
        Used as given; no suffix is added.
    image_shape : tuple of int, optional
        Height and width, and channels if there are any, of a sample. ``enhg predict`` resizes
        the images of a folder to it.
    recipe : dict, optional
        `recipe` of the `enhg.features.ImageFeatures` that made the samples. ``enhg predict`` makes
        the same features of the images of a folder.
    names : sequence of str, optional
        Names of the samples, which the report of ``enhg predict`` shows.
    thumbnails : sequence of bytes, optional
        Pictures of the samples, which are not saved: by their checksums, ``enhg predict``
        recognizes them in the folder ``thumbnails`` beside the model.
    feature_names : sequence of str, optional
        Names of the features. ``enhg predict`` refuses tables whose columns have others.
    overwrite : bool, default=False
        Replace an existing file; otherwise it is left alone and FileExistsError is raised.

    Raises
    ------
    InputError
        When the model is not of these classes, its structure or preprocessing cannot be saved, or
        names or thumbnails are not one for each sample.
    FileExistsError
        When the file is there and `overwrite` is False.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_digits
    >>> X = load_digits(n_class=3).data
    >>> model = HypergraphClustering(3, random_state=0).fit(X[:400])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder, "digits.npz"))
    ...     loaded = load_model(Path(folder, "digits.npz"))
    >>> bool((loaded.predict(X[400:]) == model.predict(X[400:])).all())
    True
    """
    kind = type(model).__name__
    if _LEARNERS.get(kind) is not type(model):
        raise InputError(
            f"model must be a HypergraphClustering or a HypergraphClassifier, got a {kind}",
            parameter="model",
        )
    check_is_fitted(model)
    shape = _image_shape(image_shape, model.n_features_in_)
    state: State = {
        "learner": kind,
        "image_shape": None if shape is None else list(shape),
        "recipe": json.dumps(recipe),
        "state": model.to_state(),
    }
    n_samples = model.graph_.n_vertices
    for parameter, given in (("names", names), ("thumbnails", thumbnails)):
        if given is not None and len(given) != n_samples:
            raise InputError(
                f"{parameter} must be one for each of the {n_samples} samples, got {len(given)}",
                parameter=parameter,
            )
    if feature_names is not None:
        if len(feature_names) != model.n_features_in_:
            raise InputError(
                f"feature_names must be one for each of the {model.n_features_in_} features, got "
                f"{len(feature_names)}",
                parameter="feature_names",
            )
        state["feature_names"] = list(feature_names)
    if names is not None:  # as bytes: text takes four for each letter in an array
        state["names"] = np.frombuffer(json.dumps(list(names)).encode(), np.uint8)
    if thumbnails is not None:
        state["checksums"] = np.array([crc32(data) for data in thumbnails], np.uint32)
    write_archive(path, _FORMAT, _VERSION, state, overwrite=overwrite)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a learner that `save_model` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    HypergraphClustering or HypergraphClassifier

    Raises
    ------
    InputError
        When the file is missing, damaged or not a saved model.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_digits
    >>> from enhg import HypergraphClustering, load_model, save_model
    >>> X = load_digits(n_class=3).data
    >>> file = tempfile.mkdtemp() + "/model.npz"
    >>> save_model(HypergraphClustering(3, random_state=0).fit(X), file)
    >>> load_model(file).n_clusters_
    3
    """
    return read_model(path).model


def read_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a learner, and how its samples were made from images.

    Parameters
    ----------
    path : path
        The file.
    """
    require_path(path)
    if Path(path).is_dir():
        raise InputError(f"{os.fspath(path)}: must be a model file, got a folder")
    with readable(Path(path)), open_regular(path) as stream:
        try:
            state = read_archive(stream, _FORMAT, _VERSION)
            model = _LEARNERS[state["learner"]].from_state(state["state"])
            shape = _image_shape(state["image_shape"], model.n_features_in_)
            names, checksums = _names(state, model), _checksums(state, model)
            folder = Path(path).resolve().parent
            return SavedModel(
                model, shape, _recipe(state), names, checksums, folder, _feature_names(state, model)
            )
        except Exception as error:  # on arbitrary bytes the readers raise almost any exception
            reason = str(error) or type(error).__name__
            if isinstance(error, KeyError):
                reason = f"{reason} is missing or unknown"
            raise InputError(f"{os.fspath(path)}: not a model of this enhg ({reason})") from error


def _image_shape(shape: Any, n_features: int) -> tuple[int, ...] | None:
    """The shape of an image of so many features as a tuple, or None; InputError for any other."""
    if shape is None:
        return None
    sides = np.asarray(shape)
    whole = sides.ndim == 1 and sides.size in (2, 3) and sides.dtype.kind in "iu"
    if not whole or sides.min() < 1 or prod(sides.tolist()) != n_features:
        raise InputError(
            f"image_shape must be (height, width) or (height, width, channels) of {n_features} "
            f"features, got {shape!r}",
            parameter="image_shape",
        )
    return tuple(sides.tolist())


def _names(state: State, model: Model) -> list[str] | None:
    if "names" not in state:
        return None
    names = json.loads(require_array(state, "names", (None,), "u").tobytes())
    require(isinstance(names, list) and len(names) == model.graph_.n_vertices, "names")
    require(all(isinstance(name, str) for name in names), "names")
    return names


def _feature_names(state: State, model: Model) -> tuple[str, ...] | None:
    if "feature_names" not in state:
        return None
    names = require_value(state, "feature_names", list)
    require(len(names) == model.n_features_in_, "feature_names")
    require(all(isinstance(name, str) for name in names), "feature_names")
    return tuple(names)


def _checksums(state: State, model: Model) -> NDArray[np.uint32] | None:
    if "checksums" not in state:
        return None
    return require_array(state, "checksums", (model.graph_.n_vertices,), "u")


def _recipe(state: State) -> dict[str, Any] | None:
    recipe = json.loads(state["recipe"])
    if recipe is not None and not isinstance(recipe, dict):
        raise InputError("recipe must be an object")
    return recipe
