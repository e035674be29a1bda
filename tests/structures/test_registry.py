"""Saved structures: states of what can attach new samples, and states that are refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from enhg import ElasticNetHypergraph, HyperedgeRule, L1Hypergraph
from enhg._npz import read_archive, write_archive
from enhg.exceptions import InputError
from enhg.preprocessing import SampleNormalizer
from enhg.structures._registry import SAVED_STRUCTURES

X = load_digits(n_class=4).data
HALF = len(X) // 2

STRUCTURES = {
    "default": ElasticNetHypergraph(),
    "lasso": L1Hypergraph(),
    "whitened": ElasticNetHypergraph(preprocessing="whiten"),
    "lifted": ElasticNetHypergraph(preprocessing="lift", gamma=np.float32(8)),
    "not preprocessed": ElasticNetHypergraph(preprocessing="none"),
    "transformer": ElasticNetHypergraph(preprocessing=SampleNormalizer(center=False)),
    "rule": ElasticNetHypergraph(
        hyperedges=HyperedgeRule("largest", 0.2, positive=np.True_, membership="binary"),
    ),
    "norm": ElasticNetHypergraph(loss="norm", gamma=2, error_weight=0.5),
}


def through_a_file(structure, folder):
    file = folder / "structure.npz"
    write_archive(file, "structure", 1, structure.to_state(), overwrite=True)
    with open(file, "rb") as stream:
        return type(structure).from_state(read_archive(stream, "structure", 1))


def same(one, other):
    """Whether two fitted attributes are equal."""
    if sparse.issparse(one):
        stored = zip((one.data, one.indices), (other.data, other.indices), strict=True)
        return one.shape == other.shape and all(np.array_equal(a, b) for a, b in stored)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return one == other


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", STRUCTURES)
def test_a_saved_structure_is_the_same(tmp_path, name, dtype):
    samples = (X / 7).astype(dtype)
    structure = clone(STRUCTURES[name]).fit(samples[:HALF])
    again = through_a_file(structure, tmp_path)
    assert type(again) is SAVED_STRUCTURES[type(structure).__name__]
    for attribute in (
        "graph_", "samples_", "outlier_scores_", "member_coefficients_", "relative_residuals_",
        "error_weight_", "n_features_in_",
    ):  # fmt: skip
        assert same(getattr(structure, attribute), getattr(again, attribute)), attribute
    for attribute, value in vars(structure.representation_).items():
        assert same(value, getattr(again.representation_, attribute)), attribute
    one, two = structure.attach(samples[HALF:]), again.attach(samples[HALF:])
    assert same(one.memberships, two.memberships)
    assert same(one.outlier_scores, two.outlier_scores)
    np.testing.assert_array_equal(structure.reconstruct([3]), again.reconstruct([3]))
    anew = clone(again).fit(samples[:HALF])
    assert anew.graph_ == structure.graph_


def test_parameters_of_the_machine_are_not_saved(tmp_path):
    structure = ElasticNetHypergraph(gamma=4, n_jobs=1, memory_budget=10**8, tol=1e-5)
    again = through_a_file(structure.fit(X[:HALF]), tmp_path)
    assert (again.gamma, again.tol, again.preprocessing) == (4, 1e-5, "auto")
    assert again.n_jobs is again.memory_budget is again.hyperedges is None


def test_images_are_stored_as_bytes():
    structure = ElasticNetHypergraph().fit(X[:HALF])
    assert structure.to_state()["samples"].dtype == np.uint8
    structure = ElasticNetHypergraph().fit(X[:HALF] - 0.5)
    assert structure.to_state()["samples"].dtype == np.float64


def test_transformers_of_other_packages_cannot_be_saved():
    structure = ElasticNetHypergraph(preprocessing=StandardScaler()).fit(X[:HALF])
    with pytest.raises(InputError, match=r"to be saved, got StandardScaler\(\)"):
        structure.to_state()


def test_parameters_that_are_no_numbers_cannot_be_saved():
    structure = ElasticNetHypergraph().fit(X[:HALF])
    structure.gamma = np.arange(3)
    with pytest.raises(InputError, match="gamma must be a positive number, got array"):
        structure.to_state()


# --- states that are refused ----------------------------------------------------------------------

N, D = HALF, X.shape[1]


@pytest.fixture(scope="module")
def state():
    structure = ElasticNetHypergraph(preprocessing="whiten", hyperedges=HyperedgeRule("top", 8))
    return structure.fit(X[:HALF]).to_state()


def changed(state, path, value):
    """A copy of a state with another value at a path; without it if the value is ..."""
    name, *rest = path.split(".", 1)
    if rest:
        value = changed(state[name], rest[0], value)
    return {key: item for key, item in (state | {name: value}).items() if item is not ...}


DAMAGES = [
    ("parameters", 3),
    ("parameters.evil", 1),
    ("parameters.n_jobs", 64),
    ("parameters.gamma", -1),
    ("parameters.gamma", "much"),
    ("parameters.lam", -1),
    ("parameters.loss", "l7"),
    ("parameters.gamma_scale", "log"),
    ("parameters.error_weight", "much"),
    ("hyperedges", 3),
    ("hyperedges.parameters.selection", "mass"),
    ("hyperedges.parameters.threshold", 0.5),
    ("hyperedges.parameters.evil", 1),
    ("preprocessing", 3),
    ("preprocessing.kind", "evil"),
    ("preprocessing.kind", "Smoothing"),
    ("preprocessing.state", {}),
    ("preprocessing.state.mean", np.zeros(D - 1)),
    ("preprocessing.state.damping", ...),
    ("error_weight", "much"),
    ("error_weight", 0.0),
    ("error_weight", -1.0),
    ("samples", np.zeros((N, D, 1))),
    ("samples", np.full((N, D), np.nan)),
    ("samples", np.full((N, D), "text")),
    ("samples", np.zeros((N, D - 1))),
    ("samples", np.zeros((1, D))),
    ("samples_dtype", "object"),
    ("samples_dtype", 3),
    ("representation", None),
    ("representation.coefficients", np.eye(N)),
    ("representation.coefficients", sparse.eye_array(N - 1, format="csr")),
    ("representation.coefficients", sparse.csr_array(np.full((N, N), np.nan))),
    ("representation.certificate", np.zeros(N - 1)),
    ("representation.certificate", np.full(N, "text")),
    ("representation.l1_penalty", np.full(N, np.nan)),
    ("representation.l1_penalty", np.full(N, -1.0)),
    ("representation.l1_penalty", np.zeros(N - 1)),
    ("representation.ridge_penalty", np.full(N, np.inf)),
    ("representation.ridge_penalty", np.full(N, -1.0)),
    ("representation.sparse_errors", sparse.eye_array(N, format="csr")),
    ("graph", 3),
    ("graph.weights", np.ones(N - 1)),
    ("graph.weights", np.full(N, -1.0)),
    ("graph.weights", np.full(N, np.nan)),
    ("outlier_scores", np.full(N, "text")),
    ("outlier_scores", np.full(N, np.nan)),
    ("outlier_scores", np.full(N, 1.5)),
    ("outlier_scores", np.full(N, 1j)),
    ("outlier_scores", np.zeros(N - 1)),
]


@pytest.mark.parametrize(("path", "value"), DAMAGES, ids=lambda value: str(value)[:40])
def test_damaged_states_are_refused(state, path, value):
    with pytest.raises(InputError):
        ElasticNetHypergraph.from_state(changed(state, path, value))


def leaves(state, prefix=""):
    for key, value in state.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        yield f"{prefix}{key}"


def test_every_part_is_needed(state):
    paths = [path for path in leaves(state) if "parameters." not in path]
    assert len(paths) > 15
    for path in paths:
        with pytest.raises(InputError, match=f"{path.split('.')[-1]}.* is missing"):
            ElasticNetHypergraph.from_state(changed(state, path, ...))


def test_a_graph_of_other_samples_is_refused(state):
    other = ElasticNetHypergraph().fit(X[: HALF - 1]).to_state()["graph"]
    with pytest.raises(InputError, match="its graph does not fit"):
        ElasticNetHypergraph.from_state(state | {"graph": other})


def test_the_ridge_is_no_parameter_of_the_lasso(state):
    with pytest.raises(InputError, match="its parameter lam does not fit"):
        L1Hypergraph.from_state(state)


def test_infinite_certificates_are_kept(state):
    certificate = np.full(N, np.inf)
    again = ElasticNetHypergraph.from_state(
        changed(state, "representation.certificate", certificate)
    )
    np.testing.assert_array_equal(again.representation_.certificate, certificate)
