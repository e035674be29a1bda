"""Checks of samples, matrices and parameters."""

import re
import shutil
from datetime import time

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator

from enhg import _validation
from enhg._validation import (
    check_choice,
    check_features,
    check_fraction,
    check_nonnegative,
    check_positive,
    check_rng,
    check_samples,
    check_whole,
    kept_samples,
    not_validated,
    require_positive_entries,
    sample_dtype,
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
        (np.float16, np.float32),
        (">f4", np.float32),
        (">f8", np.float64),
        (">u2", np.float32),
    ],
)
def test_dtype_of_samples(given, expected):
    X = np.array([[0, 1], [1, 0], [1, 1]]).astype(given)
    result = check_samples(X)
    assert result.dtype == expected
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(result, X)


@pytest.mark.parametrize("given", ["f8", "f4", ">f4", ">i2", "f2", "u1", "i2", "i4", "?"])
def test_sample_dtype_is_that_of_samples(given):
    assert sample_dtype(np.dtype(given)) == check_samples(np.ones((2, 2), given)).dtype


def test_arrays_of_dask_and_zarr_are_read(tmp_path):
    da, zarr = pytest.importorskip("dask.array"), pytest.importorskip("zarr")
    X = np.arange(12, dtype=np.uint8).reshape(4, 3)
    for array in (
        da.from_array(X, chunks=2),
        zarr.array(X),
        zarr.create_array(tmp_path / "X.zarr", data=X),
    ):
        result = check_samples(array)
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, X)


def test_zarr_array_that_was_removed(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(tmp_path / "X.zarr", data=np.ones((4, 3)))
    shutil.rmtree(tmp_path / "X.zarr")  # Zarr reads zeros
    with pytest.raises(InputError, match="X must be a Zarr array that is still there"):
        check_samples(array)


def test_description_of_a_dask_array_is_checked_before_it_is_computed():
    da = pytest.importorskip("dask.array")

    def fail(block):
        raise AssertionError("computed")

    array = da.ones((4, 3)).map_blocks(fail, dtype=float, meta=np.empty((0, 0)))
    for wrong in (array[0], array.astype(object), array.astype(str)):
        with pytest.raises(InputError, match="faces must") as caught:
            check_samples(wrong, name="faces")
        assert caught.value.parameter == "faces"


def test_samples_in_fortran_order_become_c_ordered():
    X = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    result = check_samples(X)
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(result, X)


def test_tables_that_cannot_be_samples():
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["2020-01-01", None])
    for table, message in (
        (
            pandas.DataFrame({"a": days, "b": days}),
            "X must hold real numbers, got dtype datetime64",
        ),
        (
            pandas.DataFrame({"a": days, "b": [1.0, 2.0]}),
            "X must hold real numbers, got dtype date",
        ),
        (pandas.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "got Expected unique column names"),
    ):
        if not table.columns.is_unique and sklearn.__version__.startswith("1.6."):
            continue  # which takes such a table for one without names
        with pytest.raises(InputError, match=message):
            check_samples(table)


def test_column_of_embeddings_is_no_table():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="X must have 2 dimensions, samples × features, got dim 1"):
        check_samples(pandas.Series([[1.0, 2.0], [3.0, 4.0]]))


def test_names_of_columns_are_all_text_or_none():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[1.0, 2.0]], columns=["a", 1])
    with pytest.raises(InputError, match="X must have column names that are all text, or none"):
        check_features(BaseEstimator(), table, reset=True)


DAYS = np.array(["2020-01-01", "2020-01-02"], "M8[us]")
DATES = {"date": DAYS, "duration": np.diff(DAYS, append=DAYS[:1])}


def as_objects(values):
    rows = np.empty((len(values), 1), object)
    rows[:, 0] = list(values)
    return rows


@pytest.mark.parametrize("values", DATES.values(), ids=DATES)
def test_dates_and_durations_in_lists_and_objects_are_no_counts(values):
    rows = [[value] for value in values]
    for X in (
        rows,
        tuple(map(tuple, rows)),
        [values, values],
        [[value, 1.0] for value in DAYS - DAYS[0]],
        as_objects(values),
        as_objects(values.tolist()),
    ):
        with pytest.raises(InputError, match=r"X must hold real numbers, got dtype (date|timed)"):
            check_samples(X)


def test_dates_beside_numbers_in_tables_of_polars():
    polars = pytest.importorskip("polars")
    for values in (*DATES.values(), [time(1), time(2)]):
        with pytest.raises(InputError, match=r"X must hold real numbers, got dtype (Da|Du|Ti)"):
            check_samples(polars.DataFrame({"a": values, "b": [1.0, 2.0]}))
    table = polars.DataFrame({"a": [1, 2], "b": [3.0, 4.0]})
    np.testing.assert_array_equal(check_samples(table), [[1, 3], [2, 4]])
    with pytest.raises(InputError, match=r"X must be in memory, got a LazyFrame; call .* collect"):
        check_samples(table.lazy())


def test_columns_of_pandas_that_are_no_numbers():
    pandas = pytest.importorskip("pandas")
    for column in (
        pandas.period_range("2020", periods=2, freq="D"),
        pandas.interval_range(0, 2),
        pandas.Series(pandas.to_datetime(["2020", "2021"]), dtype=object),
        pandas.Series(list(DAYS), dtype=object),
    ):
        with pytest.raises(InputError, match=r"X must .*real numbers, got"):
            check_samples(pandas.DataFrame({"a": column, "b": [1.0, 2.0]}))
    numbers = pandas.DataFrame({"a": pandas.Series([1, 2], dtype=object), "b": [3.0, 4.0]})
    np.testing.assert_array_equal(check_samples(numbers), [[1, 3], [2, 4]])


def test_tables_of_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    np.testing.assert_array_equal(check_samples(pyarrow.table({"a": [1, 2]})), [[1], [2]])
    with pytest.raises(InputError, match="X must"):
        check_samples(pyarrow.table({"a": DAYS, "b": [1.0, 2.0]}))


def test_float_samples_are_not_copied():
    X = np.ones((3, 2))
    assert check_samples(X) is X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, np.nan]], "hold finite numbers, got NaN (Input faces contains NaN)"),
        ([[1.0, np.inf]], "hold finite numbers, got infinity (Input faces contains infinity)"),
        ([1.0, 2.0], "have 2 dimensions, samples × features, got dim 1 (Expected 2D array, got 1D"),
        (3.0, "have 2 dimensions, samples × features, got dim 0"),
        (np.ones((2, 2, 2)), "have 2 dimensions, samples × features, got dim 3"),
        (np.ones((0, 2)), "have at least 1 sample, got 0 sample(s) (shape=(0, 2)) while a minimum"),
        (np.ones((2, 0)), "have at least 1 feature, got 0 feature(s) (shape=(2, 0)) while a"),
        ([["a", "b"]], "hold real numbers, got text (could not convert string to float: "),
        ([[1j]], "hold real numbers, got complex numbers (Complex data not supported)"),
        ([[1.0], [1.0, 2.0]], "have rows of one length, got setting an array element"),
        ([[10**400]], "be an array of real numbers, got int too large to convert to float"),
        (np.array([[1, [2]]], object), "be an array of real numbers, got setting an array element"),
        (np.ones((2, 2), "m8[s]"), "hold real numbers, got dtype timedelta64"),
        (np.zeros(2, [("a", "f8"), ("b", "f8")]), "have 2 dimensions, samples × features, got dim"),
        (np.matrix([[1.0]]), "be an array of real numbers, got np.matrix is not supported"),
    ],
)
def test_unusable_samples(X, message):
    with pytest.raises(InputError, match=re.escape(f"faces must {message}")) as caught:
        check_samples(X, name="faces")
    assert caught.value.parameter == "faces"
    assert "\n" not in str(caught.value)
    assert "[[" not in str(caught.value)  # the array is not printed
    with pytest.raises(InputError) as caught:
        check_samples(X, name="the faces", parameter="faces")
    assert caught.value.parameter == "faces"


def test_one_dimension_comes_with_advice():
    with pytest.raises(InputError, match=r"Reshape your data by array\.reshape\(-1, 1\)"):
        check_samples(np.arange(1000.0))


@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_sparse_samples_are_refused(dtype):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        check_samples(sparse.eye_array(3, dtype=dtype))


def test_least_number_of_samples():
    message = r"X must have at least 2 samples, got 1 sample\(s\) .* a minimum of 2 is required"
    with pytest.raises(InputError, match=message):
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


@pytest.mark.parametrize("setting", [False, True])
def test_the_callers_setting_holds_outside_of_validated(setting):
    def assumes_finite():
        return sklearn.get_config()["assume_finite"]

    with sklearn.config_context(assume_finite=setting):
        with not_validated():
            assert assumes_finite() is setting
        with validated(), validated():
            assert assumes_finite() is True
            with not_validated():
                assert assumes_finite() is setting
                with validated():
                    assert assumes_finite() is True
            assert assumes_finite() is True
        assert assumes_finite() is setting


@pytest.mark.parametrize("wrong", [-1, 2**32, "a", 1.5, [1, 2, "b"]])
def test_check_rng_refuses(wrong):
    with pytest.raises(InputError, match="random_state must be None, a whole number") as caught:
        check_rng(wrong)
    assert caught.value.parameter == "random_state"


def test_check_rng_accepts():
    given = np.random.RandomState(3)
    assert check_rng(given) is given
    assert check_rng(3).randint(1000) == np.random.RandomState(3).randint(1000)
    assert isinstance(check_rng(None), np.random.RandomState)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, -1, -0.5, np.inf, -np.inf, np.nan, 10**400])
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


@pytest.mark.parametrize("value", [*NOT_NUMBERS, -1, -1e-300, np.inf, np.nan, 10**400])
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


# --- samples that are kept ------------------------------------------------------------------------


def read_only(array):
    array.setflags(write=False)
    return array


def test_samples_that_can_be_changed_are_copied():
    X = np.random.default_rng(0).random((6, 3))
    for given in (X, X[:4], read_only(X[1:]), np.ma.MaskedArray(X), read_only(np.asarray(X)[:])):
        samples = check_samples(given)
        kept = kept_samples(samples, given)
        assert not np.may_share_memory(kept, X)
        assert not kept.flags.writeable
        np.testing.assert_array_equal(kept, samples)


def test_samples_of_a_table_are_copied():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).random((6, 3)))
    kept = kept_samples(check_samples(frame), frame)
    assert not np.may_share_memory(kept, frame.to_numpy())


def test_samples_that_are_read_only_are_not_copied(tmp_path):
    X = np.random.default_rng(0).random((6, 3))
    np.save(tmp_path / "X.npy", X)
    buffer = np.frombuffer(X.tobytes()).reshape(6, 3)
    for given in (read_only(X.copy()), np.load(tmp_path / "X.npy", mmap_mode="r"), buffer):
        assert np.may_share_memory(kept_samples(check_samples(given), given), given)
    for mode in ("r+", "c"):
        given = np.load(tmp_path / "X.npy", mmap_mode=mode)
        assert not np.may_share_memory(kept_samples(check_samples(given), given), given)


@pytest.mark.parametrize("form", [np.uint8, list])
def test_new_samples_are_not_copied_again(form):
    X = np.arange(12).reshape(4, 3)
    given = X.tolist() if form is list else X.astype(form)
    samples = check_samples(given)
    assert kept_samples(samples, given) is samples
    assert not samples.flags.writeable


@pytest.mark.parametrize("kind", [np.ma.asarray, list, tuple])
def test_masked_entries_are_refused_also_in_rows_of_a_list(kind):
    X = np.ma.MaskedArray(np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(check_samples(kind(X)), X.data)
    X[[0, 2], 1] = np.ma.masked
    with pytest.raises(InputError, match="X must hold a number everywhere, got 2 masked entries"):
        check_samples(kind(X))
