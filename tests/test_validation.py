"""Checks of samples, matrices and parameters."""

import numpy as np
import pytest
import sklearn
from scipy import sparse

from enhg import _validation
from enhg._validation import (
    check_choice,
    check_fraction,
    check_nonnegative,
    check_positive,
    check_samples,
    check_whole,
    require_positive_entries,
    validated,
)
from enhg.exceptions import InputError

NOT_NUMBERS = ["1", None, True, np.True_, 1j, [1], np.array([1.0, 2.0])]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.uint8, np.float32),
        (np.int8, np.float32),
        (np.uint16, np.float32),
        (np.int16, np.float32),
        (np.int32, np.float64),
        (np.int64, np.float64),
        (bool, np.float64),
        (np.float16, np.float64),
    ],
)
def test_dtype_of_samples(given, expected):
    X = np.array([[0, 1], [1, 0], [1, 1]]).astype(given)
    result = check_samples(X)
    assert result.dtype == expected
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(result, X)


def test_samples_in_fortran_order_become_c_ordered():
    X = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    result = check_samples(X)
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(result, X)


def test_float_samples_are_not_copied():
    X = np.ones((3, 2))
    assert check_samples(X) is X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, np.nan]], "Input faces contains NaN"),
        ([[1.0, np.inf]], "Input faces contains infinity"),
        ([1.0, 2.0], "Expected 2D array"),
        (np.ones((2, 2, 2)), "dim 3"),
        (np.ones((0, 2)), "minimum of 1"),
        ([["a", "b"]], "could not convert"),
    ],
)
def test_unusable_samples(X, message):
    with pytest.raises(InputError, match=message) as caught:
        check_samples(X, name="faces")
    assert caught.value.parameter == "faces"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_sparse_samples_are_refused(dtype):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        check_samples(sparse.eye_array(3, dtype=dtype))


def test_least_number_of_samples():
    with pytest.raises(InputError, match="minimum of 2"):
        check_samples(np.ones((1, 3)), min_samples=2)


def test_validated_samples_are_neither_scanned_nor_copied(monkeypatch):
    scanned = []
    original = _validation.check_array

    def spy(*args, **kwargs):
        scanned.append(not sklearn.get_config()["assume_finite"])
        return original(*args, **kwargs)

    monkeypatch.setattr(_validation, "check_array", spy)
    images = check_samples(np.arange(6, dtype=np.uint8).reshape(2, 3))
    with validated():
        assert check_samples(images) is images
    assert scanned == [True, False]
    with pytest.raises(InputError):
        check_samples([[np.nan]])


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, -1, -0.5, np.inf, -np.inf, np.nan])
def test_check_positive_refuses(value):
    with pytest.raises(InputError, match="gamma must be a positive number, got") as caught:
        check_positive("gamma", value)
    assert caught.value.parameter == "gamma"


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2), np.int64(3), 5e-324])
def test_check_positive_accepts(value):
    assert check_positive("gamma", value) is None


def test_check_positive_optional():
    assert check_positive("gamma", None, optional=True) is None
    with pytest.raises(InputError, match="a positive number or None, got 0"):
        check_positive("gamma", 0, optional=True)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, -1, -1e-300, np.inf, np.nan])
def test_check_nonnegative_refuses(value):
    with pytest.raises(InputError, match="lam must be a number of at least 0, got"):
        check_nonnegative("lam", value)


def test_check_nonnegative_accepts_zero():
    assert check_nonnegative("lam", 0) is None


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, 6, 2.0, 2.5, np.nan])
def test_check_whole_refuses(value):
    with pytest.raises(InputError, match="n must be a whole number from 1 to 5, got"):
        check_whole("n", value, 1, 5)


@pytest.mark.parametrize("value", [1, 5, np.int8(3), np.uint64(4)])
def test_check_whole_accepts(value):
    assert check_whole("n", value, 1, 5) is None


def test_check_whole_without_an_upper_bound():
    assert check_whole("n", 10**12, 1) is None
    with pytest.raises(InputError, match="n must be a whole number of at least 1, got 0"):
        check_whole("n", 0, 1)


def test_check_whole_explains_its_bound():
    with pytest.raises(InputError, match=r"from 1 to 5 \(the number of samples\), got 6"):
        check_whole("n", 6, 1, 5, hint="(the number of samples)")


@pytest.mark.parametrize("value", ["c", "A", "", None, 1, ["a"], np.array(["a", "b"])])
def test_check_choice_refuses(value):
    with pytest.raises(InputError, match=r"loss must be one of \('a', 'b'\), got"):
        check_choice("loss", value, ["a", "b"])


def test_check_choice_accepts():
    assert check_choice("loss", "a", iter(["a", "b"])) is None


@pytest.mark.parametrize("value", [*NOT_NUMBERS, -0.1, 1.1, np.nan])
@pytest.mark.parametrize("open_interval", [True, False])
def test_check_fraction_refuses(value, open_interval):
    with pytest.raises(InputError, match=r"alpha must be a number .* 0 (and|to) 1.*, got"):
        check_fraction("alpha", value, open_interval=open_interval)


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0])
def test_check_fraction_bounds(value):
    assert check_fraction("alpha", value, open_interval=False) is None
    with pytest.raises(InputError, match="both excluded"):
        check_fraction("alpha", value, open_interval=True)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, np.nan])
def test_positive_entries(wrong):
    assert (
        require_positive_entries(np.array([1.0, 2.0]), "weights must be positive", "edge") is None
    )
    with pytest.raises(InputError, match=f"weights must be positive, got {wrong} at edge 1"):
        require_positive_entries(np.array([1.0, wrong]), "weights must be positive", "edge")
