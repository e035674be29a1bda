"""Saving and loading of fitted learners: arrays and JSON, nothing executed."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from enhg._npz import State, read_archive, write_archive
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
    """

    model: Model
    image_shape: tuple[int, ...] | None
    recipe: dict[str, Any] | None


def save_model(
    model: Model,
    path: str | os.PathLike[str],
    *,
    image_shape: tuple[int, ...] | None = None,
    recipe: dict[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a fitted learner to an ``.npz`` file: the whole file or, on failure, nothing.

    Parameters
    ----------
    model : HypergraphClustering or HypergraphClassifier
        Fitted on an `ElasticNetHypergraph` or `L1Hypergraph`, which can attach new samples.
    path : path
        Used as given; no suffix is added.
    image_shape : tuple of int, optional
        Height and width, and channels if there are any, of a sample. ``enhg predict`` resizes
        the images of a folder to it.
    recipe : dict, optional
        `recipe` of the `enhg.features.ImageFeatures` that made the samples. ``enhg predict`` makes
        the same features of the images of a folder.
    overwrite : bool, default=False
        Replace an existing file; otherwise it is left alone and FileExistsError is raised.

    Raises
    ------
    InputError
        When the model is not of these classes, or its structure or preprocessing cannot be saved.

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
    state = {
        "learner": kind,
        "image_shape": None if shape is None else list(shape),
        "recipe": json.dumps(recipe),
        "state": model.to_state(),
    }
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
    """
    return read_model(path).model


def read_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a learner, and how its samples were made from images.

    Parameters
    ----------
    path : path
        The file.
    """
    if Path(path).is_dir():
        raise InputError(f"{os.fspath(path)}: must be a model file, got a folder")
    with readable(Path(path)), open(path, "rb") as stream:
        try:
            state = read_archive(stream, _FORMAT, _VERSION)
            model = _LEARNERS[state["learner"]].from_state(state["state"])
            shape = _image_shape(state["image_shape"], model.n_features_in_)
            return SavedModel(model, shape, _recipe(state))
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


def _recipe(state: State) -> dict[str, Any] | None:
    recipe = json.loads(state["recipe"])
    if recipe is not None and not isinstance(recipe, dict):
        raise InputError("recipe must be an object")
    return recipe
