"""Exceptions and warnings of the package."""

import pickle

import pytest
from sklearn.exceptions import ConvergenceWarning

from enhg._optional import require
from enhg.exceptions import Advised, InputError, MissingDependencyError, warn_not_converged


def test_input_error_is_a_value_error_of_one_line():
    error = InputError("two\nlines", parameter="size")
    assert isinstance(error, ValueError)
    assert (str(error), error.parameter) == ("two lines", "size")
    assert InputError("message").parameter is None


def test_input_error_can_be_pickled():
    error = pickle.loads(pickle.dumps(InputError("message", parameter="size")))
    assert (str(error), error.parameter) == ("message", "size")


def test_warning_of_convergence_names_the_caller():
    def solve():
        warn_not_converged("residual 0.1")

    with pytest.warns(ConvergenceWarning, match=r"residual 0\.1") as caught:
        solve()
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("advice", "library", "program"),
    [
        ((), "fact", "fact"),
        (("wait",), "fact; wait", "fact; wait"),
        (("raise {tol}",), "fact; raise tol", "fact"),
        (("raise {tol}", "lower {gamma}"), "fact; raise tol or lower gamma", "fact; lower -g"),
        (
            ("lower {gamma} (it is 2)", "set {k} up to {gamma}", "raise {tol}", "wait"),
            "fact; lower gamma (it is 2), set k up to gamma, raise tol, or wait",
            "fact; lower -g (it is 2), set -k up to -g, or wait",
        ),
        (
            ("lower {structure__gamma}", "raise {structure__rule__tol}"),
            "fact; lower gamma of structure or raise tol of rule of structure",
            "fact; lower -g",
        ),
    ],
)
def test_advice_names_parameters_or_what_sets_them(advice, library, program):
    message = Advised("fact", *advice)
    assert message == library
    assert message.phrased({"gamma": "-g", "k": "-k"}.get) == program


@pytest.mark.parametrize(
    ("rows", "library", "program"),
    [
        ([], "alone; wait", "alone; wait"),
        ([1], "alone: row 1; wait", "alone: {b}; wait"),
        ([0, 1, 3], "alone: rows 0, 1, 3; wait", "alone: a, {b}, d; wait"),
        (range(5), "alone: rows 0, 1, 2 and 2 more; wait", "alone: a, {b}, c and 2 more; wait"),
    ],
)
def test_samples_are_named_by_rows_or_by_the_program(rows, library, program):
    message = Advised("alone", "wait", rows=rows)
    assert message == library
    assert message.phrased({}.get, ["a", "{b}", "c", "d", "e"]) == program
    copy = pickle.loads(pickle.dumps(message))
    assert (copy, copy.rows, copy.phrased({}.get)) == (message, tuple(rows), library)


def test_facts_may_hold_braces():
    assert Advised("{odd} name", "rename {key}") == "{odd} name; rename key"


def test_advice_survives_a_warning_and_pickling():
    message = Advised("fact", "raise {tol}")
    with pytest.warns(ConvergenceWarning, match="fact; raise tol") as caught:
        warn_not_converged(message)
    copy = pickle.loads(pickle.dumps(caught[0].message.args[0]))
    assert (copy, copy.fact, copy.advice) == (message, "fact", ("raise {tol}",))


def test_require_imports_a_module():
    import json.decoder

    assert require("json.decoder", "cli") is json.decoder


def test_require_names_the_extra():
    with pytest.raises(MissingDependencyError, match=r"needs absent \(extra plot\)") as caught:
        require("absent.part", "plot")
    assert isinstance(caught.value, ImportError)
    assert caught.value.name == "absent"
