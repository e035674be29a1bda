"""Fitted models onto disk and back: arrays and JSON, nothing executed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from enhg._npz import read_archive, write_archive
from enhg.hypergraph import Hypergraph
from enhg.io._base import InputError, readable
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.cluster_count import ClusterCount
from enhg.learning.clustering import HypergraphClustering
from enhg.learning.spectral import Spectrum
from enhg.preprocessing import Normalizer, check_samples
from enhg.representation.problem import Problem, Representation
from enhg.structures.elastic_net import ElasticNetHypergraph
from enhg.structures.l1_hypergraph import L1Hypergraph

Model = HypergraphClustering | HypergraphClassifier

_FORMAT, _VERSION = "enhg.Model", 1
_LEARNERS = {kind.__name__: kind for kind in (HypergraphClustering, HypergraphClassifier)}
_STRUCTURES = {kind.__name__: kind for kind in (ElasticNetHypergraph, L1Hypergraph)}
# What fit sets beside the structure; the labels of a classifier follow from its distributions.
_FITTED = {
    "HypergraphClustering": (
        "labels_", "embedding_", "confidence_", "boundary_scores_", "cluster_centers_",
    ),
    "HypergraphClassifier": (
        "classes_", "label_distributions_", "confidence_", "boundary_scores_", "unreached_",
        "labeled_indices_",
    ),
}  # fmt: skip


def save_model(
    model: Model,
    path: str | os.PathLike[str],
    *,
    image_shape: tuple[int, ...] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a fitted learner to an ``.npz`` file: the whole file or, on failure, nothing.

    Parameters
    ----------
    model : HypergraphClustering or HypergraphClassifier
        Fitted, on an `ElasticNetHypergraph` or `L1Hypergraph`, which can place new samples.
    path : path
        Used as given; no suffix is added.
    image_shape : tuple of int, optional
        Height and width, and channels if there are any, of a sample: the images of a folder are
        brought to it by ``enhg predict``.
    overwrite : bool, default=False
        Replace an existing file; otherwise it is left alone and FileExistsError raised.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_digits
    >>> X = load_digits(n_class=3).data
    >>> model = HypergraphClustering(3, random_state=0).fit(X[:400])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder, "digits.npz"))
    ...     again = load_model(Path(folder, "digits.npz"))
    >>> bool((again.predict(X[400:]) == model.predict(X[400:])).all())
    True
    """
    check_is_fitted(model)
    structure = model.structure_
    if isinstance(structure, FrozenEstimator):
        structure = structure.estimator
    if type(model).__name__ not in _LEARNERS or type(structure).__name__ not in _STRUCTURES:
        raise ValueError(
            "only a HypergraphClustering or HypergraphClassifier fitted on an ElasticNetHypergraph "
            f"or L1Hypergraph can be saved, got {type(model).__name__} on "
            f"{type(model.graph_ if structure is None else structure).__name__}"
        )
    normalizer, found = structure.normalizer_, structure.representation_
    header = {
        "learner": {"kind": type(model).__name__, "parameters": _parameters(model)},
        "structure": {"kind": type(structure).__name__, "parameters": _parameters(structure)},
        "normalizer": {"how": normalizer.how, "spread": normalizer.spread},
        "error_weight": structure.error_weight_,
        "image_shape": None if image_shape is None else [int(side) for side in image_shape],
        "feature_names": [str(name) for name in getattr(model, "feature_names_in_", [])],
    }
    arrays: dict[str, Any] = {
        "samples": _small(structure.samples_),
        "samples_type": np.array(structure.samples_.dtype.str),
        "outlier_scores": structure.outlier_scores_,
        "certificate": found.certificate,
        "l1_penalty": found.l1_penalty,
        "ridge_penalty": found.ridge_penalty,
        **_optional("normalizer", normalizer, ("mean", "directions", "damping")),
        **_sparse("mixing", normalizer.mixing),
        **_sparse("coefficients", found.coefficients),
        **_sparse("sparse_errors", found.sparse_errors),
        **{f"graph.{name}": array for name, array in structure.graph_.arrays().items()},
        **{name: getattr(model, name) for name in _FITTED[type(model).__name__]},
    }
    if isinstance(model, HypergraphClustering):
        arrays |= _optional("spectrum", model.spectrum_, ("values", "vectors", "residuals"))
        count = model.cluster_count_
        if count is not None:
            arrays |= {"count.scores": count.scores, "count.values": count.values}
            header["count"] = [count.n_clusters, count.runner_up, count.reliable]
    else:
        header["method"] = model.method_
    arrays["header"] = np.array(json.dumps(header))
    write_archive(path, _FORMAT, _VERSION, arrays, overwrite=overwrite)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a learner that `save_model` wrote; an error says why any other file is not one."""
    return read_model(path)[0]


def read_model(path: str | os.PathLike[str]) -> tuple[Model, tuple[int, ...] | None]:
    """The learner of a file, and the shape of the images that it takes, where that is known."""
    if Path(path).is_dir():
        raise InputError(f"{os.fspath(path)}: is a folder; give the file model.npz in it")
    with readable(Path(path)), open(path, "rb") as stream:
        try:
            arrays = read_archive(stream, _FORMAT, _VERSION)
            header = json.loads(str(arrays["header"]))
            model = _model(header, arrays)
            return model, _image_shape(header, model.n_features_in_)
        except Exception as error:  # arbitrary bytes make the readers raise almost anything
            reason = str(error) or type(error).__name__
            if isinstance(error, KeyError):
                reason = f"{reason} is missing or not known"
            raise InputError(
                f"{os.fspath(path)}: is no model that this enhg can read ({reason}); make it by "
                "enhg cluster, enhg classify or save_model"
            ) from error


def _model(header: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> Model:
    structure = _structure(header, arrays)
    kind = header["learner"]["kind"]
    model: Model = _LEARNERS[kind](structure=structure, **header["learner"]["parameters"])
    model.structure_, model.graph_ = structure, structure.graph_
    model.representation_ = structure.representation_
    model.outlier_scores_ = structure.outlier_scores_
    model.n_features_in_ = d = structure.n_features_in_
    if header["feature_names"]:
        _require(len(header["feature_names"]) == d, "feature names")
        model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    n = len(structure.samples_)
    for name in ("confidence_", "boundary_scores_"):
        _require_numbers(arrays, name, (n,))
    for name in _FITTED[kind]:
        setattr(model, name, arrays[name])
    if isinstance(model, HypergraphClassifier):
        _require(header["method"] in ("diffusion", "poisson"), "method")
        model.method_ = header["method"]
        _require(model.classes_.ndim == 1 and model.classes_.dtype.kind in "biufU", "classes")
        _require_numbers(arrays, "label_distributions_", (n, len(model.classes_)))
        _require(model.unreached_.shape == (n,) and model.unreached_.dtype == bool, "unreached_")
        _require_places(arrays, "labeled_indices_", n)
        model.transduction_ = model._labels(model.label_distributions_)
        return model
    k, m = _require_numbers(arrays, "cluster_centers_", (None, None))
    _require_numbers(arrays, "embedding_", (n, m))
    _require_places(arrays, "labels_", k)
    _require(len(model.labels_) == n, "labels_")
    model.n_clusters_ = k
    (count,) = _require_numbers(arrays, "spectrum.values", (None,))
    _require_numbers(arrays, "spectrum.vectors", (n, count))
    _require_numbers(arrays, "spectrum.residuals", (count,))
    model.spectrum_ = Spectrum(*(arrays[f"spectrum.{field.name}"] for field in fields(Spectrum)))
    model.cluster_count_ = None
    if "count" in header:
        best, runner_up, sure = header["count"]
        (numbers,) = _require_numbers(arrays, "count.scores", (None,))
        _require_numbers(arrays, "count.values", (numbers + 1,))
        model.cluster_count_ = ClusterCount(
            int(best), int(runner_up), bool(sure), arrays["count.scores"], arrays["count.values"]
        )
    return model


def _structure(header: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> ElasticNetHypergraph:
    structure = _STRUCTURES[header["structure"]["kind"]](**header["structure"]["parameters"])
    structure._check_choices()
    Problem(structure.gamma, structure.lam, structure.loss, structure.scale)
    n, d = _require_numbers(arrays, "samples", (None, None))
    samples = check_samples(arrays["samples"].astype(str(arrays["samples_type"])))
    structure.samples_, structure.n_features_in_ = samples, d
    structure.normalizer_ = _normalizer(header["normalizer"], arrays, d)
    price = header["error_weight"]
    _require(price is None or (isinstance(price, float | int) and price > 0), "error weight")
    structure.error_weight_ = price
    structure.graph_ = Hypergraph.from_arrays(
        {name[6:]: array for name, array in arrays.items() if name.startswith("graph.")}
    )
    _require(structure.graph_.n_vertices == n, "graph")
    for name in ("outlier_scores", "l1_penalty", "ridge_penalty"):
        _require_numbers(arrays, name, (n,))
    _require(arrays["certificate"].shape == (n,), "certificate")  # which may be infinite
    structure.outlier_scores_ = arrays["outlier_scores"]
    coefficients = _from_sparse("coefficients", arrays)
    if coefficients is None or coefficients.shape != (n, n):
        raise ValueError("its coefficients do not fit its samples")
    normalized = structure.normalizer_(samples)
    structure.representation_ = Representation(
        coefficients,
        arrays["certificate"],
        arrays["l1_penalty"],
        arrays["ridge_penalty"],
        normalized,
        normalized,
        _from_sparse("sparse_errors", arrays),
    )
    return structure


# What each way to normalize has learned: names of arrays, with their number of dimensions.
_LEARNED = {
    "whiten": {"mean": 1, "directions": 2, "damping": 1},
    "lift": {"mean": 1},
    "smooth": {},
    "zero_mean": {},
    "unit": {},
    "none": {},
}


def _normalizer(header: Mapping[str, Any], arrays: Mapping[str, NDArray], d: int) -> Normalizer:
    how, spread = header["how"], header["spread"]
    _require(how in _LEARNED and isinstance(spread, float) and spread > 0, "normalizer")
    learned = {}
    for name, dimensions in _LEARNED[how].items():
        shape = _require_numbers(arrays, f"normalizer.{name}", (None,) * dimensions)
        _require(name == "damping" or shape[0] == d, f"normalizer.{name}")
        learned[name] = arrays[f"normalizer.{name}"]
    if how == "whiten":
        _require(learned["directions"].shape[1] == len(learned["damping"]), "normalizer.damping")
    mixing = _from_sparse("mixing", arrays)
    _require((how == "smooth") == (mixing is not None), "mixing")
    _require(mixing is None or mixing.shape == (d, d), "mixing")
    return Normalizer(how, spread=spread, mixing=mixing, **learned)


def _require(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(f"its {what} does not fit the rest of it")


def _require_numbers(
    arrays: Mapping[str, NDArray], name: str, shape: tuple[int | None, ...]
) -> tuple[int, ...]:
    """The shape of an array of finite numbers, which must be the one given as far as it is."""
    if name not in arrays:
        raise ValueError(f"{name} is missing")
    array = arrays[name]
    fits = array.ndim == len(shape) and array.dtype.kind in "buif"
    fits = fits and all(b in (None, a) for a, b in zip(array.shape, shape, strict=True))
    _require(fits and bool(np.isfinite(array).all()), name)
    return array.shape


def _require_places(arrays: Mapping[str, NDArray], name: str, count: int) -> None:
    """An array of whole numbers from 0 to below the count."""
    places = arrays[name]
    fits = places.ndim == 1 and places.dtype.kind in "iu"
    _require(fits and (not places.size or 0 <= places.min() <= places.max() < count), name)


def _image_shape(header: Mapping[str, Any], n_features: int) -> tuple[int, ...] | None:
    if header["image_shape"] is None:
        return None
    shape = tuple(int(side) for side in header["image_shape"])
    _require(len(shape) in (2, 3) and min(shape) > 0 and prod(shape) == n_features, "image shape")
    return shape


def _parameters(estimator: Any) -> dict[str, Any]:
    """What it was made with, numbers and words; not what is of the machine or the run alone."""
    found = {}
    for name, value in estimator.get_params(deep=False).items():
        if name in ("structure", "random_state", "verbose", "n_jobs", "memory_budget"):
            continue
        value = value.item() if isinstance(value, np.generic) else value
        if not isinstance(value, int | float | str | bool | None):
            raise ValueError(f"{name} must be a number or a word to be saved, got {value!r}")
        found[name] = value
    return found


def _small(X: NDArray) -> NDArray:
    """X in bytes where it holds nothing else, as most images do."""
    with np.errstate(invalid="ignore"):
        small = X.astype(np.uint8)
    return small if np.array_equal(small, X) else X


def _optional(prefix: str, holder: Any, names: tuple[str, ...]) -> dict[str, NDArray]:
    found = {f"{prefix}.{name}": getattr(holder, name) for name in names}
    return {name: array for name, array in found.items() if array is not None}


def _sparse(prefix: str, matrix: sparse.csr_array | None) -> dict[str, NDArray]:
    if matrix is None:
        return {}
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return {f"{prefix}.{name}": part for name, part in parts.items()} | {
        f"{prefix}.shape": np.array(matrix.shape)
    }


def _from_sparse(prefix: str, arrays: Mapping[str, NDArray]) -> sparse.csr_array | None:
    if f"{prefix}.data" not in arrays:
        return None
    parts = tuple(arrays[f"{prefix}.{name}"] for name in ("data", "indices", "indptr"))
    matrix = sparse.csr_array(parts, shape=tuple(arrays[f"{prefix}.shape"]))
    matrix.check_format(full_check=True)
    return matrix
