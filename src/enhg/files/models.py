"""Fitted models onto disk and back: arrays and JSON, nothing executed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from enhg._archive import read_archive, write_archive
from enhg.files._base import InputError, readable
from enhg.graphs.elastic_net import ElasticNetHypergraph
from enhg.graphs.l1_hypergraph import L1Hypergraph
from enhg.hypergraph import Hypergraph
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.learning.count import ClusterCount
from enhg.learning.spectral import Spectrum
from enhg.preprocessing import Normalizer, check_samples
from enhg.representation.problem import Representation

Model = HypergraphClustering | HypergraphClassifier

_FORMAT, _VERSION = "enhg.Model", 1
_LEARNERS = {kind.__name__: kind for kind in (HypergraphClustering, HypergraphClassifier)}
_STRUCTURES = {kind.__name__: kind for kind in (ElasticNetHypergraph, L1Hypergraph)}
# What fit sets beside the structure; the labels of a classifier follow from its distributions.
_FITTED = {
    "HypergraphClustering": (
        "labels_", "embedding_", "confidence_", "foreign_membership_", "cluster_centers_",
    ),
    "HypergraphClassifier": (
        "classes_", "label_distributions_", "confidence_", "foreign_membership_", "unreached_",
        "labelled_",
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
        "learner": {"kind": type(model).__name__, "parameters": _parameters(model, "graph")},
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
            header["count"] = [count.best, count.runner_up, count.sure]
    else:
        header["method"] = model.method_
    arrays["header"] = np.array(json.dumps(header))
    write_archive(path, _FORMAT, _VERSION, arrays, overwrite=overwrite)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a learner that `save_model` wrote; an error says why any other file is not one."""
    return read_model(path)[0]


def read_model(path: str | os.PathLike[str]) -> tuple[Model, tuple[int, ...] | None]:
    """The learner of a file, and the shape of the images that it takes, where that is known."""
    with readable(Path(path)), open(path, "rb") as stream:
        try:
            arrays = read_archive(stream, _FORMAT, _VERSION)
            header = json.loads(str(arrays["header"]))
            return _model(header, arrays), _image_shape(header)
        except Exception as error:  # arbitrary bytes make the readers raise almost anything
            reason = str(error) or type(error).__name__
            raise InputError(
                f"{os.fspath(path)}: is no model that this enhg can read ({reason}); make it by "
                "enhg cluster, enhg classify or save_model"
            ) from error


def _model(header: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> Model:
    structure = _structure(header, arrays)
    kind = header["learner"]["kind"]
    model: Model = _LEARNERS[kind](graph=structure, **header["learner"]["parameters"])
    model.structure_, model.graph_ = structure, structure.graph_
    model.representation_ = structure.representation_
    model.outlier_scores_ = structure.outlier_scores_
    model.n_features_in_ = structure.n_features_in_
    if header["feature_names"]:
        names = np.array(header["feature_names"], dtype=object)
        model.feature_names_in_ = names
    n = len(structure.samples_)
    for name in _FITTED[kind]:
        setattr(model, name, arrays[name])
    if isinstance(model, HypergraphClassifier):
        model.method_ = header["method"]
        _require(model.label_distributions_.shape == (n, len(model.classes_)), "distributions")
        model.transduction_ = model._labels(model.label_distributions_)
        return model
    model.n_clusters_ = len(model.cluster_centers_)
    _require(
        model.embedding_.shape == (n, model.cluster_centers_.shape[1])
        and model.labels_.shape == (n,),
        "embedding",
    )
    model.spectrum_ = Spectrum(*(arrays[f"spectrum.{field.name}"] for field in fields(Spectrum)))
    model.cluster_count_ = None
    if "count" in header:
        best, runner_up, sure = header["count"]
        model.cluster_count_ = ClusterCount(
            int(best), int(runner_up), bool(sure), arrays["count.scores"], arrays["count.values"]
        )
    return model


def _structure(header: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> ElasticNetHypergraph:
    structure = _STRUCTURES[header["structure"]["kind"]](**header["structure"]["parameters"])
    samples = check_samples(arrays["samples"].astype(str(arrays["samples_type"])))
    structure.samples_, structure.n_features_in_ = samples, samples.shape[1]
    structure.normalizer_ = Normalizer(
        header["normalizer"]["how"],
        spread=header["normalizer"]["spread"],
        mixing=_from_sparse("mixing", arrays),
        **{name: arrays.get(f"normalizer.{name}") for name in ("mean", "directions", "damping")},
    )
    structure.error_weight_ = header["error_weight"]
    structure.graph_ = Hypergraph.from_arrays(
        {name[6:]: array for name, array in arrays.items() if name.startswith("graph.")}
    )
    _require(structure.graph_.n_vertices == len(samples), "graph")
    structure.outlier_scores_ = arrays["outlier_scores"]
    coefficients = _from_sparse("coefficients", arrays)
    if coefficients is None or coefficients.shape != (len(samples), len(samples)):
        raise ValueError("its coefficients do not fit its samples")
    normalised = structure.normalizer_(samples)
    structure.representation_ = Representation(
        coefficients,
        arrays["certificate"],
        arrays["l1_penalty"],
        arrays["ridge_penalty"],
        normalised,
        normalised,
        _from_sparse("sparse_errors", arrays),
    )
    return structure


def _require(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(f"its {what} does not fit its samples")


def _image_shape(header: Mapping[str, Any]) -> tuple[int, ...] | None:
    shape = header["image_shape"]
    return None if shape is None else tuple(int(side) for side in shape)


def _parameters(estimator: Any, *left_out: str) -> dict[str, Any]:
    """What it was made with, numbers and words; a random state of its own kind is not kept."""
    found = {}
    for name, value in estimator.get_params(deep=False).items():
        if name in left_out:
            continue
        if isinstance(value, Integral) and not isinstance(value, bool):
            value = int(value)
        elif isinstance(value, Real) and not isinstance(value, bool):
            value = float(value)
        found[name] = value if isinstance(value, int | float | str | bool | None) else None
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
