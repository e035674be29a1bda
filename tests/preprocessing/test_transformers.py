"""What holds for every transformer: scikit-learn's conventions and saving."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from enhg._npz import read_archive, write_archive
from enhg.exceptions import InputError
from enhg.preprocessing import Identity, Lifting, SampleNormalizer, Smoothing, Whitening
from enhg.preprocessing.naming import preprocessing_from_state, preprocessing_to_state

TRANSFORMERS = [
    SampleNormalizer(),
    SampleNormalizer(center=False),
    Whitening(),
    Smoothing(),
    Lifting(),
    Identity(),
]
each = pytest.mark.parametrize("transformer", TRANSFORMERS, ids=str)


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@each
@pytest.mark.filterwarnings("ignore::UserWarning")  # of samples without direction in its data
def test_check_estimator(transformer):
    results = check_estimator(transformer, on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    assert sum(result["status"] == "passed" for result in results) > 30


@each
def test_in_a_pipeline(transformer, digits):
    X, y = digits
    model = make_pipeline(clone(transformer), KNeighborsClassifier()).fit(X[:900], y[:900])
    assert model.score(X[900:], y[900:]) > 0.85
    again = clone(transformer).fit(X[:900]).transform(X[900:])
    np.testing.assert_array_equal(model[:-1].transform(X[900:]), again)


@each
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_precision_is_kept(transformer, digits, dtype):
    X = digits[0][:100].astype(dtype)
    expected = np.float64 if dtype == np.float64 else np.float32
    assert clone(transformer).fit(X).transform(X).dtype == expected


@each
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_saved_transformer_is_the_same(transformer, digits, dtype, tmp_path):
    X = digits[0].astype(dtype)
    fitted = clone(transformer).fit(X[:900])
    write_archive(tmp_path / "t.npz", "t", 1, preprocessing_to_state(fitted), overwrite=False)
    with open(tmp_path / "t.npz", "rb") as stream:
        again = preprocessing_from_state(read_archive(stream, "t", 1))
    assert type(again) is type(fitted)
    assert again.get_params() == fitted.get_params()
    assert again.n_features_in_ == 64
    transformed = again.transform(X[900:])
    assert transformed.dtype == dtype
    np.testing.assert_array_equal(transformed, fitted.transform(X[900:]))


@each
def test_saving_needs_fit(transformer):
    with pytest.raises(NotFittedError):
        clone(transformer).to_state()


def test_transformers_of_other_packages_cannot_be_saved():
    with pytest.raises(InputError, match=r"to be saved, got StandardScaler\(\)"):
        preprocessing_to_state(StandardScaler().fit(np.eye(3)))


def test_subclasses_cannot_be_saved():
    class Other(Whitening):
        pass

    with pytest.raises(InputError, match=r"to be saved, got Other\(\)"):
        preprocessing_to_state(Other().fit(np.random.default_rng(0).random((5, 3))))


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"kind": "os.system", "state": {}},
        {"kind": "StandardScaler", "state": {}},
        {"kind": ["Whitening"], "state": {}},
        {"kind": "Whitening", "state": 1},
    ],
)
def test_unknown_kinds_are_refused(state):
    with pytest.raises(InputError, match=r"its (kind|state) does not fit|kind is missing"):
        preprocessing_from_state(state)


DAMAGES = [
    (SampleNormalizer(), {"center": "yes"}),
    (SampleNormalizer(), {"center": 1}),
    (SampleNormalizer(), {"n_features": 0}),
    (SampleNormalizer(), {"n_features": 2.5}),
    (Identity(), {"n_features": -1}),
    (Identity(), {"n_features": True}),
    (Whitening(), {"mean": np.full(64, np.nan)}),
    (Whitening(), {"mean": np.zeros((64, 2))}),
    (Whitening(), {"mean": np.full(64, "text")}),
    (Whitening(), {"mean": np.zeros(63)}),
    (Whitening(), {"directions": np.zeros((64, 3))}),
    (Whitening(), {"damping": np.zeros(2)}),
    (Whitening(), {"damping": 0.5}),
    (Whitening(), {"damping": None}),
    (Lifting(), {"mean": np.zeros((2, 2))}),
    (Lifting(), {"spread": 0.0}),
    (Lifting(), {"spread": -1.0}),
    (Lifting(), {"spread": "wide"}),
    (Smoothing(), {"mixing": np.eye(64)}),
    (Smoothing(), {"mixing": None}),
    (Smoothing(), {"n_steps": -1}),
    (Smoothing(), {"n_steps": 10**9}),
    (Smoothing(), {"n_steps": 1.5}),
]


@pytest.mark.parametrize(("transformer", "change"), DAMAGES)
def test_damaged_states_are_refused(transformer, change, digits):
    state = clone(transformer).fit(digits[0]).to_state()
    (name,) = change
    type(transformer).from_state(state)
    with pytest.raises(InputError, match="does not fit the rest of it"):
        type(transformer).from_state(state | change)
    with pytest.raises(InputError, match=f"{name} is missing"):
        type(transformer).from_state({key: state[key] for key in state if key != name})


def test_damping_that_amplifies_is_refused(digits):
    state = Whitening().fit(digits[0]).to_state()
    with pytest.raises(InputError, match="its damping does not fit"):
        Whitening.from_state(state | {"damping": state["damping"] * 1e6})


def test_mixing_that_is_not_square_is_refused(digits):
    state = Smoothing().fit(digits[0]).to_state()
    with pytest.raises(InputError, match="its mixing does not fit"):
        Smoothing.from_state(state | {"mixing": state["mixing"][:10]})


@each
def test_samples_of_other_features_are_refused(transformer, digits):
    fitted = clone(transformer).fit(digits[0][:50])
    with pytest.raises(InputError, match="X must have the 64 features of fit, got 3") as caught:
        fitted.transform(digits[0][:50, :3])
    assert caught.value.parameter == "X"


@each
def test_feature_names_are_checked(transformer, digits):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(digits[0][:50]).add_prefix("pixel ")
    fitted = clone(transformer).fit(frame)
    with pytest.raises(InputError, match=r"X must have the features of fit: .*feature names"):
        fitted.transform(frame.add_prefix("other "))
