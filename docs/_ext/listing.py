"""The public names of the package, by module, and the page that lists them.

`enhg.__all__` and the `__all__` of the public modules decide: a new name is listed without a change
here.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import enhg

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# Titles and order; a module that is not here comes at the end, under its own name.
TITLES = {
    "learning": "Learning",
    "structures": "Structures",
    "hypergraph": "Hypergraphs and graphs",
    "graph": "Hypergraphs and graphs",
    "representation": "Representation",
    "metrics": "Scores against true labels",
    "io": "Saving and loading",
    "exceptions": "Errors",
}
# Results of public methods, whose classes are not exported.
RECORDS = {
    "enhg.learning._base.Prediction": "predict_with_scores",
    "enhg.learning.spectral.Spectrum": "spectrum_",
    "enhg.structures._representation_hypergraph.Attachment": "attach",
}
NAMES, FOLDER = "_names.rst", "api"
_PROGRAM = {"cli", "report", "labeling", "run", "demo", "duplicates"}
_DEEPER = {"enhg.structures.choice"}


def sections() -> dict[str, list[str]]:
    """Full names by title, those of `enhg` first, then those of every public module."""
    result: dict[str, list[str]] = {title: [] for title in TITLES.values()}
    for name in enhg.__all__:
        part = getattr(enhg, name).__module__.split(".")[1]
        result.setdefault(TITLES.get(part, part), []).append(f"enhg.{name}")
    for module in public_modules():
        names = [name for name in module.__all__ if name not in enhg.__all__]
        if names:
            result[f"{module.__name__}"] = [f"{module.__name__}.{name}" for name in sorted(names)]
    result["Results of methods"] = list(RECORDS)
    return result


def public_modules() -> list:
    """The modules of `enhg` that have an `__all__`."""
    modules = []
    for info in pkgutil.walk_packages(enhg.__path__, "enhg."):
        parts = info.name.split(".")[1:]
        if len(parts) > 1 and info.name not in _DEEPER:
            continue
        if parts[0] in _PROGRAM or parts[0].startswith("_"):
            continue
        module = importlib.import_module(info.name)
        if hasattr(module, "__all__"):
            modules.append(module)
    return modules


@cache
def _targets() -> dict[str, str]:
    """Full names by the ways in which docstrings write them."""
    targets = {module.__name__: module.__name__ for module in public_modules()}
    for names in sections().values():
        for name in names:
            targets |= {name: name, name.rsplit(".")[-1]: name}
    return targets


def full_name(text: str) -> str | None:
    """The full name of a public object, or of a public method of one, that a text names."""
    head, _, member = text.removesuffix("()").partition(".")
    if text in _targets():
        return _targets()[text]
    if head not in _targets() or not member or "." in member or member.startswith("_"):
        return None
    value = load(_targets()[head])
    documented = inspect.isclass(value) and is_documented(getattr(value, member, None), member)
    return f"{_targets()[head]}.{member}" if documented else None


def load(name: str) -> object:
    """The object of a full name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def is_documented(value: object, name: str) -> bool:
    """Whether a member of a class has an entry: methods and properties of `enhg`, scikit-learn."""
    if name.startswith("_") or name in ("to_state", "from_state"):
        return False
    defined = getattr(value, "fget", None) or getattr(value, "func", None) or value
    package = (getattr(defined, "__module__", "") or "").partition(".")[0]
    return callable(defined) and package in ("enhg", "sklearn")


def page() -> str:
    """The sections of the reference, in Markdown."""
    parts = []
    for title, names in sections().items():
        if not names:
            continue
        is_module = title.startswith("enhg.")
        parts.append(f"## `{title}`" if is_module else f"## {title}")
        if is_module:
            text = inspect.getdoc(importlib.import_module(title)) or ""
            lines = [f".. py:module:: {title}", "", ".. py:currentmodule:: None"]
            parts += ["\n".join(["```{eval-rst}", *lines, "```"]), text.split("\n\n")[0]]
        parts.append("\n".join(["```{eval-rst}", *_table(names), "```"]))
    return "\n\n".join(parts) + "\n"


def _table(names: list[str]) -> list[str]:
    options = [".. autosummary::", f"   :toctree: {FOLDER}", "   :nosignatures:", ""]
    return options + [f"   ~{name}" for name in names]


def _write_names(app: Sphinx) -> None:
    """Write the file that autosummary reads to write a page for every name."""
    lines = _table([name for names in sections().values() for name in names])
    (Path(app.srcdir) / NAMES).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _append_page(app: Sphinx, docname: str, source: list[str]) -> None:
    if docname == "reference":
        source[0] += "\n" + page()


def _skip(app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object):
    """Leave out what a class inherits from Python and NumPy."""
    if what in ("class", "exception") and not is_documented(obj, name):
        return True
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", _write_names, priority=100)  # before autosummary
    app.connect("source-read", _append_page)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True}
