"""Odd samples and labels, by Hypothesis, for the solver and the two learners.

Either a result is right as far as can be seen without another solver, or an error says what is
wrong with the input.
"""

from __future__ import annotations

import faulthandler
import warnings
from collections import Counter

import numpy as np
import pandas as pd
from fuzz_readers import check_message
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from scipy import sparse

from enhg import HypergraphClassifier, HypergraphClustering, InputError, self_representation

SECONDS = 120  # after which the process ends with a traceback
RESULTS: Counter[str] = Counter()  # numbers of inputs that were given, and that were accepted
_TYPES = ("f8", "f4", "f8", "f4", "f2", "g", "i1", "u1", "i2", "i8", "u8", "?", ">f8", "c16")


@st.composite
def tables(draw):
    """Finite or not, a table of numbers of some structure, scale and type."""
    n = draw(st.sampled_from([12, 9, 14, 7, 5, 10, 3, 2, 1, 0]))
    d = draw(st.sampled_from([5, 7, 3, 6, 2, 1, 0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    kind = draw(st.sampled_from(["normal", "blocks", "constant", "zeros", "copies", "integers"]))
    if kind == "blocks":
        X += 5 * (np.arange(n) % 3)[:, None]
    elif kind == "constant":
        X[:] = draw(st.sampled_from([1.0, -3.0, 1e-9]))
    elif kind == "zeros":
        X[rng.random(n) < 0.5] = 0
    elif kind == "copies" and n:
        X = X[rng.integers(max(1, n // 3), size=n)]
    elif kind == "integers":
        X = np.rint(3 * X)
    with np.errstate(all="ignore"):
        X = X * 10.0 ** draw(st.sampled_from([0, 0, 0, 0, 3, -3, 30, -30, 150, -150, 300, -310]))
        if draw(st.integers(0, 9)) == 0 and X.size:
            X[rng.integers(n), rng.integers(d)] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
        return X.astype(draw(st.sampled_from(_TYPES)))


@st.composite
def sample_inputs(draw):
    """A table in some form that a caller may have."""
    X = draw(tables())
    form = draw(st.sampled_from(["array"] * 20 + [*_FORMS]))
    return _FORMS[form](X) if form in _FORMS else X


def _as_objects(X):
    return X.astype(object)


_FORMS = {
    "list": lambda X: X.tolist(),
    "frame": lambda X: pd.DataFrame(X.astype(float) if X.dtype.kind == "f" else X),
    "sparse": lambda X: sparse.csr_array(X.astype(float)) if X.dtype.kind != "c" else X,
    "masked": lambda X: np.ma.MaskedArray(X, X == 0),
    "objects": _as_objects,
    "words": lambda X: X.astype(str),
    "flat": lambda X: X.ravel(),
    "deep": lambda X: X[:, :, None],
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "none": lambda X: None,
    "mixed": lambda X: [[1, "a"], [None, 2]],
}


@st.composite
def label_inputs(draw, n):
    """Labels of many kinds, mostly one per sample, some of them missing."""
    n = max(0, n + draw(st.sampled_from([0] * 18 + [1, -1])))
    kinds = {
        "numbers": st.sampled_from([0, 1, 2, -1]),
        "floats": st.sampled_from([0.0, 1.0, -1.0, np.nan, np.inf, 0.5]),
        "words": st.sampled_from(["a", "b", "", "-1", "nan"]),
        "objects": st.sampled_from(["a", "b", None, np.nan, pd.NA, -1, 1, True, (), b"a"]),
        "truth": st.booleans(),
        "signs": st.sampled_from([-1, 1]),
        # NumPy's text cannot end with NUL.
        "text": st.text(st.characters(exclude_characters="\0"), max_size=3),
        "large": st.integers(),
    }
    values = draw(st.lists(kinds[draw(st.sampled_from([*kinds]))], min_size=n, max_size=n))
    form = draw(st.sampled_from(["list", "array", "object", "series", "string", "mask", "column"]))
    if form == "list":
        return values
    array = np.empty(n, dtype=object)
    array[:] = values
    if form == "series":
        return pd.Series(array)
    if form == "string":
        return pd.Series([v if isinstance(v, str) else pd.NA for v in values], dtype="string")
    if form == "mask":
        return np.ma.MaskedArray(np.arange(n) % 3, np.arange(n) % 2)
    if form == "column":
        return array[:, None]
    if form == "array" and len({type(value) for value in values}) == 1:
        return np.array(values)
    return array


_PENALTIES = st.sampled_from([1e-3, 0.1, 1.0, 10.0, 1e3, 1e6])


def _outcome(action):
    """What an action returns; None if it refuses its input with a message."""
    RESULTS["inputs"] += 1
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = action()
        RESULTS["accepted"] += 1
        return result
    except InputError as error:
        check_message(str(error))
    except TypeError as error:
        # Of scikit-learn, for sparse matrices and for objects that are no numbers.
        if not any(text in str(error) for text in ("parse", "must be a string or a real number")):
            raise
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None


def check_representation(X, gamma, lam, loss, scale):
    """Finite coefficients without a diagonal, and a certificate that is never NaN."""
    options = {"gamma": gamma, "lam": lam, "loss": loss, "gamma_scale": scale}
    result = _outcome(lambda: self_representation(X, **options))
    if result is None:
        return
    n = len(result.samples)
    Z = result.coefficients.toarray()
    assert Z.shape == (n, n)
    assert np.isfinite(Z).all()
    assert not np.diagonal(Z).any()
    assert result.certificate.shape == (n,)
    assert (result.certificate >= 0).all()
    if gamma <= 1e3:  # rounding is small beside the penalty
        _check_certificate(result, Z, loss)


def _check_certificate(result, Z, loss):
    """The certificate against the optimality conditions, from the definition."""
    A = result.samples.astype(np.float64)
    largest = np.abs(A).max(initial=0)
    if not 1e-100 < largest < 1e100 or loss == "norm":
        return  # products would overflow here, in the test
    a, b = result.l1_penalty[:, None], result.ridge_penalty[:, None]
    correlations = (A - Z @ A) @ A.T
    off = np.where(Z != 0, np.abs(correlations - b * Z - a * np.sign(Z)), np.abs(correlations) - a)
    np.fill_diagonal(off, 0)
    worst = np.maximum(off, 0).max(axis=1, initial=0)
    room = 1e-3 * np.abs(A @ A.T).max(initial=0) if result.samples.dtype == np.float32 else 0
    claimed = result.certificate * result.l1_penalty
    checked = np.isfinite(claimed) & (result.l1_penalty > 0)
    assert (worst[checked] <= 2 * claimed[checked] + 1e-9 * largest**2 + room).all()


def check_clustering(X, n_clusters, method):
    """Labels from 0 to k − 1, and scores from 0 to 1."""
    model = _outcome(lambda: HypergraphClustering(n_clusters, method=method, random_state=0).fit(X))
    if model is None:
        return
    n = model.graph_.n_vertices
    assert model.labels_.shape == (n,)
    assert model.labels_.min() >= 0
    assert model.labels_.max() < model.n_clusters_
    assert n_clusters in ("auto", model.n_clusters_)
    for scores in (model.confidence_, model.boundary_scores_, model.outlier_scores_):
        assert scores.shape == (n,)
        assert ((scores >= 0) & (scores <= 1)).all()
    assert np.isfinite(model.embedding_).all()


def check_classification(X, y, method):
    """Classes of y, distributions over them, and given labels that are kept."""
    model = _outcome(lambda: HypergraphClassifier(method=method).fit(X, y))
    if model is None:
        return
    n, k = model.graph_.n_vertices, len(model.classes_)
    assert k >= 2
    F = model.label_distributions_
    assert F.shape == (n, k)
    assert (F >= 0).all()
    assert np.isclose(F.sum(axis=1), ~model.unreached_).all()
    assert model.transduction_.shape == (n,)
    given_labels = np.asarray(y, dtype=object).ravel()[model.labeled_indices_]
    if not isinstance(y, np.ma.MaskedArray):
        assert [str(label) for label in given_labels] == [
            str(_like(label, given))
            for label, given in zip(
                model.transduction_[model.labeled_indices_], given_labels, strict=True
            )
        ]


def _like(label, given):
    """A label in the type of the one that was given."""
    return type(given)(label) if isinstance(given, (bool, int, float)) else label


def _length(X):
    return X.shape[0] if hasattr(X, "shape") else len(X or "")


def checks(count: int, number: int = 0) -> dict:
    """Tests by name, each with so many inputs; `number` is the seed."""

    def fuzzed(**strategies):
        def decorate(function):
            configured = settings(
                max_examples=count, deadline=None, database=None, print_blob=False,
                suppress_health_check=[*HealthCheck],
            )(given(**strategies)(function))  # fmt: skip
            return seed(number)(configured)

        return decorate

    @fuzzed(
        X=sample_inputs(), gamma=_PENALTIES, lam=st.sampled_from([0.0, 0.1, 5.0]),
        loss=st.sampled_from(["squared", "norm"]), scale=st.sampled_from(["relative", "absolute"]),
    )  # fmt: skip
    def representation(X, gamma, lam, loss, scale):
        check_representation(X, gamma, lam, loss, scale)

    @fuzzed(
        X=sample_inputs(),
        n_clusters=st.sampled_from([1, 2, 3, 5, "auto", 0, 50, 2.5, None]),
        method=st.sampled_from(["auto", "spectral"]),
    )
    def clustering(X, n_clusters, method):
        check_clustering(X, n_clusters, method)

    @fuzzed(
        pair=sample_inputs().flatmap(lambda X: st.tuples(st.just(X), label_inputs(_length(X)))),
        method=st.sampled_from(["auto", "diffusion", "poisson", "discriminant"]),
    )
    def classification(pair, method):
        check_classification(*pair, method)

    return {
        "self_representation": representation,
        "clustering": clustering,
        "classification": classification,
    }
