"""Help, usage and options of the program."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg import (
    ElasticNetHypergraph,
    HyperedgeRule,
    Hypergraph,
    HypergraphClassifier,
    InputError,
    __version__,
)
from enhg.cli import commands
from enhg.cli.options import METHODS, PREPROCESSINGS

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = X[:90].astype(np.uint8), Y[:90]


def test_help_and_usage_errors_import_no_heavy_library():
    code = (
        "import sys, enhg.cli.commands\n"
        "heavy = {'numpy', 'sklearn', 'numba', 'matplotlib', 'rich', 'scipy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("command", ["cluster", "classify", "predict", "demo"])
def test_help_has_usage_examples_and_defaults(command, run):
    help = run(command, "--help").stdout
    assert help.count(f"enhg {command}") >= 3  # usage and two examples
    assert "labels" in help
    assert command == "predict" or "[default: 0" in help
    assert max(map(len, help.splitlines())) <= 80


def test_program_without_arguments_shows_its_help(run):
    shown = run().output
    assert all(word in shown for word in ("cluster", "classify", "demo", "--version"))
    assert run("--help").exit_code == 0


def test_version(run):
    assert run("--version").stdout == f"enhg {__version__}\n"


@pytest.mark.parametrize("command", [commands.cluster, commands.classify])
def test_defaults_are_those_of_the_library(command):
    """They are repeated in the program, so that the help shows them without the library."""
    given = {name: p.default for name, p in inspect.signature(command).parameters.items()}
    structure = ElasticNetHypergraph()
    assert HyperedgeRule().selection == "top"  # the help of --members holds for it only
    assert (given["gamma"], given["lam"]) == (structure.gamma, structure.lam)
    assert given["preprocessing"] == structure.preprocessing
    assert given.get("alpha", HypergraphClassifier().alpha) == HypergraphClassifier().alpha
    rule = HyperedgeRule(threshold=given["threshold"])
    assert ElasticNetHypergraph(hyperedges=rule).fit(X).graph_ == structure.fit(X).graph_


def test_every_preprocessing_of_the_library_is_an_option():
    for name in PREPROCESSINGS:
        assert ElasticNetHypergraph(preprocessing=name).fit(X).preprocessing_ is not None
    with pytest.raises(InputError) as caught:
        ElasticNetHypergraph(preprocessing="other").fit(X)
    assert all(name in str(caught.value) for name in PREPROCESSINGS)


def test_every_method_of_the_library_is_an_option():
    labels = np.where(np.arange(90) < 30, Y, -1)
    for name in METHODS:
        assert HypergraphClassifier(method=name).fit(X, labels).method_weights_
    with pytest.raises(InputError) as caught:
        HypergraphClassifier(method="other").fit(X, labels)
    assert all(name in str(caught.value) for name in METHODS)


def test_preprocessing(tmp_path, run):
    np.save(tmp_path / "x.npy", X)
    result = run(
        "cluster", tmp_path / "x.npy", "-k", 3, "-o", tmp_path / "o", "--preprocessing", "unit"
    )
    assert result.exit_code == 0
    graph = Hypergraph.load(tmp_path / "o" / "hypergraph.npz")
    assert graph == ElasticNetHypergraph(preprocessing="unit").fit(X).graph_
    assert graph != ElasticNetHypergraph().fit(X).graph_
    result = run(
        "cluster", tmp_path / "x.npy", "-k", 3, "-o", tmp_path / "p", "--preprocessing", "x"
    )
    assert result.exit_code == 2
    assert "zero_mean" in result.output


def test_error_weight(tmp_path, run):
    np.save(tmp_path / "x.npy", X)
    graphs = {}
    for name, more in (("plain", []), ("never", ["0"]), ("robust", ["0.5"])):
        out = tmp_path / name
        more = ["--error-weight", *more] if more else []
        assert run("cluster", tmp_path / "x.npy", "-k", 3, "-o", out, *more).exit_code == 0
        graphs[name] = Hypergraph.load(out / "hypergraph.npz")
    assert graphs["plain"] == graphs["never"] != graphs["robust"]
    result = run("cluster", tmp_path / "x.npy", "-k", 3, "-o", out, "--error-weight", "-1")
    assert result.exit_code == 2
    assert "must be a positive number, got -1" in result.output


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["cluster", "x.npy", "-k", "3"], "-o"),
        (["cluster", "x.npy", "-k", "0", "-o", "out"], "-k"),
        (["cluster", "x.npy", "-k", "two", "-o", "out"], "-k"),
        (["cluster", "x", "-k", "2", "-o", "out", "--size", "32"], "HEIGHTxWIDTH"),
        (["cluster", "x", "-k", "2", "-o", "out", "--size", "0x8"], "HEIGHTxWIDTH"),
        (["cluster", "x", "-k", "2", "-o", "out", "--gamma", "1"], "must be a number above 1"),
        (["cluster", "x", "-k", "2", "-o", "out", "--gamma", "inf"], "above 1"),
        (
            ["cluster", "x", "-k", "2", "-o", "out", "--lam", "-1"],
            "'--lam': must be a number of at least 0, got -1",
        ),
        (
            ["cluster", "x", "-k", "2", "-o", "out", "--lam", "nan"],
            "'--lam': must be a number of at least 0, got nan",
        ),
        (
            ["classify", "x", "--labels", "y", "-o", "out", "--members", "0"],
            "'--members': must be a whole number of at least 1, got 0",
        ),
        (
            ["demo", "-o", "out", "--seed", "-1"],
            "'--seed': must be a whole number from 0 to 4294967295, got -1",
        ),
        (
            ["demo", "-o", "out", "--seed", "4294967296"],
            "'--seed': must be a whole number from 0 to 4294967295, got 4294967296",
        ),
        (
            ["cluster", "x", "-o", "out", "--jobs", "0"],
            "'--jobs': must be a whole number of at least 1, got 0",
        ),
        (["cluster", "x", "-k", "2", "-o", "out", "--memory-budget", "much"], "such as 500MB"),
        (["cluster", "x", "-k", "2", "-o", "out", "--memory-budget", "0GB"], "such as 500MB"),
        (["cluster", "x", "-k", "2", "-o", "out", "--memory-budget", "-2GB"], "such as 500MB"),
        (
            ["classify", "x", "--labels", "y", "-o", "out", "--alpha", "1"],
            "must lie between 0 and 1, got 1",
        ),
        (["classify", "x", "-o", "out"], "--labels"),
        (["classify", "x", "--labels", "y", "-o", "out", "--method", "fish"], "poisson"),
        (
            ["cluster", "x", "-o", "out", "--suggest", "0"],
            "'--suggest': must be a whole number of at least 1, got 0",
        ),
        (["predict", "model.npz", "-o", "out"], "INPUT"),
        (["paint"], "paint"),
    ],
)
def test_usage(words, part, run):
    result = run(*words)
    assert result.exit_code == 2
    assert part in result.stderr
    assert "Traceback" not in result.output
