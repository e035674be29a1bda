"""Warnings in the shell name options of the command, never parameters of the library."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import enhg
import enhg.features
import enhg.preprocessing
from enhg.cli import commands
from enhg.cli.terminal import Stages, options_of
from enhg.exceptions import Advised

SOURCE = Path(enhg.__file__).parent
COMMANDS = (
    commands.cluster, commands.classify, commands.predict, commands.write_features, commands.demo,
)  # fmt: skip
# Parameters whose names are words of plain sentences.
WORDS = {
    "center", "certificate", "eigenvalues", "features", "gap", "graph", "hyperedges", "left",
    "mean", "name", "other", "reliable", "representation", "samples", "small",
}  # fmt: skip
PLACEHOLDER = re.compile(r"\{(\w+)\}")


def public_parameters():
    objects = [getattr(enhg, name) for name in enhg.__all__]
    for package in (enhg.features, enhg.preprocessing):
        objects += [getattr(package, name) for name in package.__all__]
    names = set()
    for item in objects:
        if callable(item):
            names |= set(inspect.signature(item).parameters)
            names |= {
                name
                for method_name, method in inspect.getmembers(item, inspect.isfunction)
                if method_name == "__init__" or not method_name.startswith("_")
                for name in inspect.signature(method).parameters
            }
    return names - {"self", "args", "kwargs"}


PARAMETERS = public_parameters()


def bare_parameters(text):
    """Names of parameters in a text that are neither placeholders nor options."""
    words = re.findall(r"(?<![\w-])[A-Za-z_]\w*", PLACEHOLDER.sub("", text))
    return set(words) & (PARAMETERS - WORDS)


def is_function(node):
    return isinstance(node, ast.FunctionDef)


def called(node):
    """Name of the function that a node calls, "" for other nodes."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def issues_warning(node):
    """Whether a node calls warnings.warn or a function whose name starts with warn."""
    return called(node).lstrip("_").split("_")[0] == "warn"


def own_texts(function):
    """Texts in a function but for its docstring, messages of errors and checks of parameters."""
    left_out = {
        id(part)
        for node in ast.walk(function)
        if isinstance(node, ast.Raise)
        or called(node).startswith(("check_", "nonnegative_", "real_", "require_"))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for part in ast.walk(node)
    }
    constants = (node for node in ast.walk(function) if isinstance(node, ast.Constant))
    return [
        node.value for node in constants if isinstance(node.value, str) and id(node) not in left_out
    ]


def texts_of_constants(module, function):
    """Texts of constants of the module, and in dicts, that a function uses."""
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    values = [vars(import_module(module)).get(key) for key in used]
    values += [text for value in values if isinstance(value, dict) for text in value.values()]
    return [value for value in values if isinstance(value, str)]


def warning_texts():
    """Module, function and texts of every function of the package that issues warnings.

    Beside those in the function itself, these are texts of constants of the module that it uses,
    and the same of functions that are called for the text of the warning.
    """
    trees = {
        ".".join(["enhg", *path.relative_to(SOURCE).with_suffix("").parts]): ast.parse(
            path.read_text(encoding="utf-8")
        )
        for path in sorted(SOURCE.rglob("*.py"))
    }
    functions = [
        (module, node)
        for module, tree in trees.items()
        for node in filter(is_function, ast.walk(tree))
    ]
    for name, function in functions:
        calls = [node for node in ast.walk(function) if issues_warning(node)]
        if not calls:
            continue
        helpers = {called(node) for call in calls for node in ast.walk(call)} - {""}
        parts = own_texts(function) + texts_of_constants(name, function)
        for module, other in functions:
            if other.name in helpers:
                parts += own_texts(other) + texts_of_constants(module, other)
        yield name, function.name, parts


WARNINGS = list(warning_texts())


@pytest.mark.parametrize(
    ("module", "function", "parts"), WARNINGS, ids=[f"{w[0]}-{w[1]}" for w in WARNINGS]
)
def test_no_warning_names_a_parameter_but_in_advice(module, function, parts):
    assert not set().union(*map(bare_parameters, parts))
    named = {name for text in parts for name in PLACEHOLDER.findall(text)}
    assert {name.split("__")[-1] for name in named} <= PARAMETERS
    for command in COMMANDS:
        options = options_of(command)
        for text in parts:
            shown = Advised("fact", text).phrased(options.get) if PLACEHOLDER.search(text) else text
            assert not bare_parameters(shown)
            assert set(re.findall(r"--[\w-]+", shown)) <= set(options.values())


def test_the_walk_meets_the_warnings_and_finds_names():
    assert len(WARNINGS) >= 17
    every = "\n".join(text for *_, parts in WARNINGS for text in parts)
    for part in ("raise {gamma}", "no label reaches", "the estimate of the number", "{alpha}",
                 "{structure__hyperedges__threshold}"):  # fmt: skip
        assert part in every
    assert bare_parameters("raise gamma, or set --clusters") == {"gamma"}
    assert bare_parameters("set n_clusters up to 60") == {"n_clusters"}
    assert not bare_parameters("raise {gamma} or --gamma, of the samples")


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_those_of_the_help(command, run):
    name = "features" if command is commands.write_features else command.__name__
    shown = set(re.findall(r"--[a-z-]+", run(name, "--help").stdout.partition("Options:")[2]))
    assert set(options_of(command).values()) == shown - {"--help"}


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (commands.cluster, "alone; raise --gamma, set --clusters, or add --members"),
        (commands.classify, "alone; raise --gamma or add --members"),
        (commands.predict, "alone"),
        (None, "alone; raise gamma of structure, set n_clusters, add threshold, or lower tol"),
    ],
)
def test_every_command_names_its_own_options(command, shown, capsys):
    stages = Stages(quiet=True, options=None if command is None else options_of(command))
    with stages.warnings_shown():
        advice = ("raise {structure__gamma}", "set {n_clusters}", "add {threshold}", "lower {tol}")
        warnings.warn(Advised("alone", *advice), stacklevel=1)
        warnings.warn("plain", stacklevel=1)
    assert stages.warnings == [shown, "plain"]
    assert capsys.readouterr().err == f"warning: {shown}\nwarning: plain\n"


def test_advice_on_samples_that_nothing_represents(tmp_path, run):
    np.save(tmp_path / "orthogonal.npy", np.eye(30))
    words = ["cluster", tmp_path / "orthogonal.npy", "-k", 3, "-o", tmp_path / "out"]
    words += ["--preprocessing", "none"]
    assert (
        "raise --gamma (on the relative scale, above 1), raise --error-weight" in run(*words).stderr
    )
