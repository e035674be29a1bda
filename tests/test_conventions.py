"""Conventions of the code base: vocabulary, spelling, size of files and functions."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("src", "benchmarks", "experiments", "examples", "tests")
MODULES = sorted(
    path
    for name in PACKAGES
    for path in (ROOT / name).rglob("*.py")
    if path != Path(__file__)  # which lists the words
) + sorted([*(ROOT / "docs").glob("*.py"), *(ROOT / "docs/_ext").glob("*.py")])
PAGES = sorted(
    path
    for folder in (".", "docs", "docs/guide", "experiments")
    for path in (ROOT / folder).glob("*.md")
)
REPORT = sorted(
    path
    for kind in ("*.html", "*.js", "*.css")
    for folder in ("report", "labeling/page")
    for path in (ROOT / "src" / "enhg" / folder).glob(kind)
)
KERNELS = "_kernels.py"  # compiled loops stay in one file, which Numba's cache needs

# Words that have another name in this project's vocabulary, and British spelling.
BANNED_WORDS = re.compile(
    r"\b(re-?build\w*|rebuilt|past the paper|peers?|told|doubtful|foreign|received|"
    r"\w*labell\w*|colour\w*|neighbour\w*|centre[ds]?|grey|licence|"
    r"(?:un)?(?:normal|minim|optim|symmetr|regular|serial|organ|summar|special|factor)is(?:e|ed|es|er|"
    r"ing|ation)\w*)\b",
    re.IGNORECASE,
)
# A column of the file of the paper's figures, and an attribute of HTML.
ALLOWED_WORDS = {"labelled_percent", "labelledby"}
BANNED_IDENTIFIERS = {"found", "told", "now", "of", "Crew"}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [*MODULES, *PAGES, *REPORT], ids=relative)
def test_vocabulary(path):
    text = path.read_text(encoding="utf-8")
    used = {match[0] for match in BANNED_WORDS.finditer(text)} - ALLOWED_WORDS
    assert not used


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_identifiers(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    assert not names & BANNED_IDENTIFIERS


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_files_stay_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= 500 or path.name == KERNELS


def body_lengths(path: Path) -> list[int]:
    """Lines of every function's body, its docstring not counted."""
    lengths = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            statements = node.body[1:] if ast.get_docstring(node) else node.body
            last = node.body[-1].end_lineno
            lengths.append(last - statements[0].lineno + 1 if statements else 0)
    return lengths


@pytest.mark.parametrize("package", ["src", "benchmarks", "experiments", "tests"])
def test_functions_stay_short(package):
    modules = [path for path in MODULES if path.is_relative_to(ROOT / package)]
    lengths = [length for path in modules for length in body_lengths(path)]
    assert max(lengths) <= 60
    assert np.percentile(lengths, 90) < 25
