"""Only public interfaces of scikit-learn, joblib, Numba and SciPy are used."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from numba import njit
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, TransformerMixin

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "experiments", "benchmarks", "examples", "docs", "tests")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PACKAGES = {"sklearn", "joblib", "numba", "scipy", "threadpoolctl"}
# Packages within, without an underscore, that are not for users.
INTERNAL = ("numba.core", "numba.np", "joblib.externals", "sklearn.externals")
# The manual of Numba describes these (Event API).
DOCUMENTED = ("numba.core.event",)


def is_within(dotted: str, names: Iterable[str]) -> bool:
    return any(f"{dotted}.".startswith(f"{name}.") for name in names)


def is_private(dotted: str) -> bool:
    """Whether a dotted name is of these packages and not for users."""
    root, *parts = dotted.split(".")
    if root not in PACKAGES or is_within(dotted, DOCUMENTED):
        return False
    return is_within(dotted, INTERNAL) or any(
        part.startswith("_") and not part.endswith("__") for part in parts
    )


def private_names(*owners: object) -> set[str]:
    names = {name for owner in owners for name in dir(owner)}
    return {name for name in names if name.startswith("_") and not name.endswith("__")}


# Attributes that estimators and compiled functions have for themselves.
INHERITED = private_names(
    BaseEstimator, ClassifierMixin, ClusterMixin, TransformerMixin, njit(lambda: None)
)


def programs(tree: ast.AST) -> Iterator[ast.AST]:
    """The module, and the programs in its strings."""
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if "import " not in node.value:
                continue
            try:
                yield ast.parse(node.value)
            except SyntaxError:
                continue


def imported(tree: ast.AST) -> tuple[dict[str, str], list[str]]:
    """The dotted names behind the names that imports bind, and all that are imported."""
    bound, names = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names.append(alias.name)
                bound[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names.append(f"{node.module}.{alias.name}")
                bound[alias.asname or alias.name] = names[-1]
    return bound, names


def dotted_name(node: ast.AST, bound: dict[str, str]) -> str | None:
    """The dotted name of an attribute of something imported."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in bound:
        return None
    return ".".join([bound[node.id], *reversed(parts)])


def private_options(tree: ast.AST) -> Iterator[str]:
    """Names of arguments with an underscore, given as such or in a dict."""
    for node in ast.walk(tree):
        names: list[str | None] = []
        if isinstance(node, ast.Call):
            names = [keyword.arg for keyword in node.keywords]
        elif isinstance(node, ast.Dict):
            names = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        for name in names:
            if isinstance(name, str) and name.startswith("_") and not name.endswith("__"):
                yield name


def private_uses(source: str) -> list[str]:
    uses = []
    for tree in programs(ast.parse(source)):
        bound, names = imported(tree)
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        uses += [name for name in names if is_private(name)]
        if any(is_within(name, ["numba"]) for name in names):
            uses += private_options(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute):
                continue
            name = dotted_name(node, bound)
            if name is not None and is_private(name):
                uses.append(name)
            elif node.attr in INHERITED - defined:
                uses.append(node.attr)
    return uses


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_only_public_interfaces_are_used(path):
    if path != Path(__file__):
        assert not private_uses(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from sklearn.utils._param_validation import Interval", "_param_validation"),
        ("from sklearn.cluster import _kmeans", "_kmeans"),
        ("import sklearn.utils._openmp_helpers", "_openmp_helpers"),
        ("import sklearn.cluster as c\nc._kmeans.lloyd()", "_kmeans"),
        ("from numba.core import types", "numba.core"),
        ("import numba\nnumba.core.caching.NullCache()", "numba.core"),
        ("from joblib._parallel_backends import LokyBackend", "_parallel_backends"),
        ("from joblib.externals.loky import get_reusable_executor", "externals"),
        ("names = kind._get_param_names()", "_get_param_names"),
        ("@njit\ndef solve(): pass\nprint(solve._cache)", "_cache"),
        ("from numba import njit\n@njit(_nrt=False)\ndef solve(): pass", "_nrt"),
        ("from numba import njit\nOPTIONS = {'_nrt': False}\nnjit(**OPTIONS)", "_nrt"),
        ("PROGRAM = '''\\nfrom numba.core.caching import NullCache\\n'''", "caching"),
    ],
)
def test_private_interfaces_are_recognized(source, name):
    assert any(name in use for use in private_uses(source))


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.utils.estimator_checks import check_estimator",
        "from sklearn import __version__",
        "from numba import njit\nsolve = njit(solve)\nsolve.stats",
        "from numba.core.event import install_listener",
        "from enhg._npz import State",
        "class A:\n    def _validate(self): self._own()",
    ],
)
def test_public_interfaces_are_recognized(source):
    assert not private_uses(source)
