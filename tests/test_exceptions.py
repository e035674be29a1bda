"""Exceptions and warnings of the package."""

import pickle

import pytest
from sklearn.exceptions import ConvergenceWarning

from enhg._optional import require
from enhg.exceptions import InputError, MissingDependencyError, warn_not_converged


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


def test_require_imports_a_module():
    import json.decoder

    assert require("json.decoder", "cli") is json.decoder


def test_require_names_the_extra():
    with pytest.raises(MissingDependencyError, match=r"needs absent; .* 'enhg\[plot\]'") as caught:
        require("absent.part", "plot")
    assert isinstance(caught.value, ImportError)
    assert caught.value.name == "absent"
