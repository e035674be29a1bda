"""Labels of many types, with missing ones."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from enhg import (
    ElasticNetHypergraph,
    Hypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    self_representation,
)
from enhg._label_arrays import label_array
from enhg.exceptions import InputError
from enhg.learning._labels import check_labels, check_true_labels, labels_of, missing_marker

TEN = np.zeros((10, 1))


def on(hypergraph, **options):
    return HypergraphClassifier(structure=hypergraph, method="diffusion", **options)


CONNECTED = Hypergraph.from_edges([[i, i + 1] for i in range(9)])


@pytest.mark.parametrize(
    ("first", "second", "missing", "dtype"),
    [
        (3, 8, -1, int),
        (3, 8, -1, np.int8),
        (0.0, 2.0, np.nan, float),
        (0.0, 2.0, -1, np.float32),
        ("cat", "dog", "", str),
        *(("cat", "dog", missing, str) for missing in ("-1", "-1.0", "nan", "NA", "<na>", "?")),
        ("cat", "dog", " ? ", object),
        ("cat", "dog", None, object),
        ("cat", "dog", np.nan, object),
        ("cat", "dog", "", object),
        ("cat", "dog", -1, object),
        (3, 8, None, object),
        (3, 8, -1, object),
        (True, False, None, object),
    ],
)
def test_labels_of_many_kinds(first, second, missing, dtype):
    y = np.array([first, *[missing] * 8, second], dtype=dtype)
    before = y.tolist()
    model = on(CONNECTED).fit(TEN, y)
    assert model.classes_.tolist() == sorted([first, second])
    assert model.transduction_.tolist() == [first] * 5 + [second] * 5
    assert repr(y.tolist()) == repr(before)


@pytest.mark.parametrize("dtype", [int, float, object])
def test_minus_one_and_one_are_two_classes(dtype):
    y = np.array([-1, 1] * 5, dtype=dtype)
    with pytest.warns(UserWarning, match="only -1 and 1: these are taken as two classes"):
        model = on(CONNECTED).fit(TEN, y)
    assert model.classes_.tolist() == [-1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = on(CONNECTED).fit(TEN, np.array([-1, 1, 0, -1, -1, 0, 1, -1, -1, 0], dtype=dtype))
    assert model.classes_.tolist() == [0, 1]


def test_all_samples_labeled():
    for y in (np.arange(10) % 3, np.arange(10) % 3 == 0, list("abcabcabca")):
        model = on(CONNECTED, alpha=0.1).fit(TEN, y)
        assert model.transduction_.tolist() == list(y)


@pytest.mark.parametrize("y", [[-1] * 10, [np.nan] * 10, [""] * 10, [None] * 10])
def test_no_label_at_all(y):
    with pytest.raises(InputError, match="at least two classes, got no label"):
        on(CONNECTED).fit(TEN, y)


@pytest.mark.parametrize("y", [[2] + [-1] * 9, ["a"] + [""] * 9, ["a"] + [None] * 9, [1] * 10])
def test_one_class(y):
    with pytest.raises(InputError, match=f"at least two classes, got only one class, {y[0]!r}"):
        on(CONNECTED).fit(TEN, y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["a", 1, *[None] * 8], "both text and numbers"),
        ([(1, 2), (3, 4), *[None] * 8], "one string or number per sample, got .1, 2."),
        ([0.5, 1.25, *[-1] * 8], "continuous"),
    ],
)
def test_labels_of_no_class(y, words):
    labels = np.empty(10, dtype=object)
    labels[:] = y
    with pytest.raises(InputError, match=words):
        on(CONNECTED).fit(TEN, labels)


@pytest.mark.parametrize("missing", [float("nan"), None, -1, "", "-1", "NaN", "-1.0", "<NA>", "?"])
@pytest.mark.parametrize("form", [list, tuple])
def test_missing_labels_in_a_list_of_text(missing, form):
    classes, _, labeled = check_labels(form(["cat", missing, "dog", missing]), np.zeros((4, 1)))
    assert (classes.tolist(), labeled.tolist()) == (["cat", "dog"], [0, 2])


@pytest.mark.parametrize("y", [["cat", 1, 2, -1], ["cat", True, "dog", ""], ("a", 1.0, "b", "c")])
def test_lists_of_text_and_numbers_are_refused_as_arrays_of_them_are(y):
    for labels in (y, np.array(y, object)):
        with pytest.raises(InputError, match="y must hold labels of one type, got both text and"):
            check_labels(labels, np.zeros((4, 1)))


@pytest.mark.parametrize(
    "y",
    [
        [0.0, np.inf, 1.0, -1],
        np.array([0, -np.inf, 1, None], object),
        np.float32([0, 1, np.inf, 1]),
        np.ma.MaskedArray([0.0, np.nan, np.nan, 1.0], [False, True, False, False]),
    ],
)
def test_labels_that_are_not_finite_are_refused_without_a_warning(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(
            InputError, match=r"y must hold finite numbers, got -?(inf|nan)"
        ) as caught:
            check_labels(y, np.zeros((4, 1)))
    assert caught.value.parameter == "y"


def test_labels_that_provide_dlpack_only(only_dlpack):
    check_column(only_dlpack(np.array([-1 if n is None else n for n in NUMBERS])), NUMBERS)


def test_classes_codes_and_indices():
    classes, codes, labeled = check_labels(["b", "", "a", None, "b"], np.zeros((5, 1)))
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]
    assert labeled.tolist() == [0, 2, 4]


@pytest.mark.parametrize(("first", "second"), [("-1", "nan"), (-1, 1), (-1.0, 2.0)])
def test_only_the_mask_of_a_masked_array_marks_missing_labels(first, second):
    y = np.ma.MaskedArray([first, second, first, second], [False, False, True, False])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classes, codes, labeled = check_labels(y, np.zeros((4, 1)))
    assert classes.tolist() == [first, second]
    assert codes.tolist() == [0, 1, 1]
    assert labeled.tolist() == [0, 1, 3]


def test_masked_labels_that_are_objects():
    mask = [False, False, True, False]
    y = np.ma.MaskedArray(np.array(["b", "a", None, "b"], object), mask)
    classes, codes, labeled = check_labels(y, np.zeros((4, 1)))
    assert classes.dtype.kind == "U"
    assert (classes.tolist(), codes.tolist(), labeled.tolist()) == (
        ["a", "b"],
        [1, 0, 1],
        [0, 1, 3],
    )
    with pytest.raises(InputError, match="y must hold labels of one type"):
        check_labels(
            np.ma.MaskedArray(np.array(["b", 1, None, "b"], object), mask), np.zeros((4, 1))
        )


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ([0, 1, 0], "inconsistent numbers of samples"),
        (np.zeros((10, 2)), "1d array"),
    ],
)
def test_targets_that_are_refused(y, message):
    with pytest.raises(InputError, match=message) as caught:
        on(CONNECTED).fit(TEN, y)
    assert caught.value.parameter == "y"


def test_markers_of_missing_labels():
    classes = ([0, 1], [0.0, 1.0], np.uint8([0, 1]), ["a", "b"], [False, True])
    assert [missing_marker(np.array(each)) for each in classes] == [-1, -1, -1, "", None]
    classes = ([-1, 1], [-1.0, 0.0], ["", "a"], np.uint64([0, 2**63]))
    assert [missing_marker(np.array(each)) for each in classes] == [None] * 4


def test_a_missing_label_is_none_of_the_classes():
    codes = np.array([1, 2, 0])
    assert labels_of(np.array([-1, 1]), codes).tolist() == [1, None, -1]
    labels = labels_of(np.array([3, 200], np.uint8), codes)
    assert labels.tolist() == [200, -1, 3]
    assert labels.dtype == np.int64


# --- columns of tables ----------------------------------------------------------------------------

TEXT, NUMBERS, TRUTHS = ["b", None, "a", None, "b"], [7, None, 3, None, 7], [1, None, 0, None, 1]
OF_PANDAS = [
    *((dtype, TEXT) for dtype in ("string", "string[pyarrow]", "object", "category", None)),
    *((dtype, NUMBERS) for dtype in ("Int64", "UInt8", "category", "int64[pyarrow]", "object")),
    ("boolean", [None if truth is None else bool(truth) for truth in TRUTHS]),
    ("category", [None if truth is None else bool(truth) for truth in TRUTHS]),
]


def check_column(column, values):
    """Classes have the type of the values: integers and booleans do not become floats."""
    classes, codes, labeled = check_labels(column, np.zeros((5, 1)))
    expected = sorted({value for value in values if value is not None})
    assert [(type(a), a) for a in classes.tolist()] == [(type(b), b) for b in expected]
    assert codes.tolist() == [1, 0, 1]
    assert labeled.tolist() == [0, 2, 4]


@pytest.mark.parametrize(("dtype", "values"), OF_PANDAS)
def test_columns_of_pandas_with_missing_labels(dtype, values):
    pandas = pytest.importorskip("pandas")
    if str(dtype).endswith("[pyarrow]"):
        pytest.importorskip("pyarrow")
    column = pandas.Series(values, dtype=dtype)
    check_column(column, values)
    check_column(column.array, values)
    check_column(pandas.Index(column), values)


@pytest.mark.parametrize("dtype", ["string", "object", "category"])
def test_a_table_of_one_column_of_pandas(dtype):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"label": pandas.Series(TEXT, dtype=dtype)})
    with pytest.warns(UserWarning, match="column-vector"):
        check_column(table, TEXT)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [("String", TEXT), ("Categorical", TEXT), ("Int64", NUMBERS), ("UInt8", NUMBERS),
     ("Boolean", [None if truth is None else bool(truth) for truth in TRUTHS])],
)  # fmt: skip
def test_columns_of_polars_with_missing_labels(dtype, values):
    polars = pytest.importorskip("polars")
    check_column(polars.Series(values, dtype=getattr(polars, dtype)), values)


def test_minus_one_beside_missing_labels_of_pandas():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([0, 1, -1, None, 1], dtype="Int64")
    classes, _, labeled = check_labels(column, np.zeros((5, 1)))
    assert (classes.tolist(), labeled.tolist()) == ([0, 1], [0, 1, 4])
    every = pandas.Series([-1, 1, -1, 1, 1], dtype="Int64")
    with pytest.warns(UserWarning, match="only -1 and 1"):
        assert check_labels(every, np.zeros((5, 1)))[0].tolist() == [-1, 1]


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="needs NumPy 2")
def test_strings_of_numpy_of_any_length():
    check_column(np.array([text or "" for text in TEXT], dtype=np.dtypes.StringDType()), TEXT)


def test_labels_of_a_tensor():
    torch = pytest.importorskip("torch")
    check_column(torch.tensor([-1 if n is None else n for n in NUMBERS]), NUMBERS)


@pytest.mark.parametrize(
    "dtype", ["string", "string[pyarrow]", "str", "category", "object", "Int64", "Float64"]
)
@pytest.mark.parametrize("as_frame", [False, True])
def test_labels_of_pandas_with_missing_ones(dtype, as_frame):
    pd = pytest.importorskip("pandas")
    first, second = (3, 8) if dtype.endswith("64") else ("cat", "dog")
    y = pd.Series([first, *[pd.NA] * 8, second], dtype=dtype)
    model = on(CONNECTED).fit(TEN, y.to_frame().to_numpy() if as_frame else y)
    assert model.classes_.tolist() == [first, second]
    assert model.labeled_indices_.tolist() == [0, 9]


def test_dates_with_missing_ones():
    dates = np.array(["2020-01-01", *["NaT"] * 8, "2021-01-01"], dtype="M8[D]")
    classes, _, labeled = check_labels(dates, TEN)
    assert (len(classes), labeled.tolist()) == (2, [0, 9])


@pytest.mark.parametrize(
    "y", [[b"a", b"b"] * 5, np.zeros(10, dtype=[("a", int)]), sparse.csr_array(np.ones((10, 1)))]
)
def test_labels_that_are_none(y):
    with pytest.raises(InputError) as caught:
        check_labels(y, TEN)
    assert caught.value.parameter == "y"


def test_the_mask_of_labels_and_of_samples():
    y = np.ma.MaskedArray([0] + [5] * 8 + [1], [0] + [1] * 8 + [0])
    assert on(CONNECTED).fit(TEN, y).classes_.tolist() == [0, 1]
    X = np.random.default_rng(0).normal(size=(20, 5))
    masked = np.ma.MaskedArray(X, np.abs(X) > 2)
    for fit in (
        HypergraphClustering(2, random_state=0).fit,
        lambda X: HypergraphClassifier().fit(X, [0, 1] * 10),
        self_representation,
        ElasticNetHypergraph().fit,
    ):
        with pytest.raises(InputError, match=r"X must hold a number everywhere, got \d+ masked"):
            fit(masked)
    plain = HypergraphClustering(2, random_state=0).fit(X)
    again = HypergraphClustering(2, random_state=0).fit(np.ma.MaskedArray(X))  # nothing masked
    np.testing.assert_array_equal(plain.labels_, again.labels_)
    with pytest.raises(InputError, match="masked"):
        plain.predict(masked)
    for wrong in (np.ma.MaskedArray([[1.0], [1.0]], [[0], [1]]),):
        with pytest.raises(InputError, match="incidence must hold a number everywhere"):
            Hypergraph(wrong)


LARGE = 2**53  # from here on, float64 does not hold every integer


@pytest.mark.parametrize(
    ("classes", "missing"),
    [
        ([LARGE, LARGE + 1, LARGE + 3], np.nan),
        ([LARGE, LARGE + 1, LARGE + 3], None),
        ([2**63 + 1, 2**63 + 2, 2**63 + 5], -1),
    ],
)
def test_large_integers_beside_missing_labels_are_kept(classes, missing):
    kept, codes, labeled = check_labels([*classes, *classes, missing], TEN[:7])
    assert kept.tolist() == classes
    assert codes.tolist() == [0, 1, 2, 0, 1, 2]
    assert labeled.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("given", "dtype"),
    [([0, 1.0, np.nan], float), ([1, 2.5], float), ([1, None], object), (["a", None], object)],
)
def test_ordinary_lists_become_arrays_as_ever(given, dtype):
    assert label_array(given, "y").dtype == dtype


@pytest.mark.parametrize(
    "given", [["a\0", "a", "b", None], [LARGE, float(LARGE + 2), LARGE + 1, None]]
)
def test_labels_that_would_be_merged_are_refused(given):
    with pytest.raises(InputError, match=r"y must hold labels that differ as") as caught:
        check_labels(np.array(given, object), TEN[:4])
    assert caught.value.parameter == "y"


def test_pandas_does_not_warn_of_its_categorical():
    pandas = pytest.importorskip("pandas")
    y = pandas.Categorical(["a", "b", "a"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_true_labels(y, 3, np.array(["a", "b"]))[0].tolist() == ["a", "b", "a"]
        assert label_array(y, "y").tolist() == ["a", "b", "a"]
