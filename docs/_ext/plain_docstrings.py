"""Docstrings are written to be read as they are; here they become reStructuredText.

- An indented block after a blank line is a formula: it stays as it is, line by line.
- Outside of backticks, \\|, \\* and an underscore at the end of a word have no special meaning.
- A name in backticks is linked if it is public, and set as code if not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import listing

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

NAMED_SECTIONS = {"Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "Methods"}
UNNAMED_SECTIONS = {"Returns", "Yields", "Raises", "Warns"}
_CODE = re.compile(r"(``[^`]*``|`[^`]*`)")
_SPECIAL = re.compile(r"(?<!\\)([|*]|(?<=\w)_(?!\w))")


def to_markup(lines: list[str]) -> list[str]:
    """Return the lines of a docstring as reStructuredText, up to its examples."""
    result: list[str] = []
    section, level, formula = "", 0, None
    for at, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if _underlined(lines, at):
            section, level, formula = line.strip(), 0, None
        if section == "Examples" or line.lstrip().startswith(">>>"):
            return result + lines[at:]
        if not line.strip():
            result.append(line)
            continue
        if formula is not None and indent < formula:
            formula = None
        if formula is None and indent > level and at and not lines[at - 1].strip():
            result += [" " * level + "::", ""]
            formula = indent
        if formula is None:
            level = indent + 2 * line.lstrip().startswith("- ")
            if section in NAMED_SECTIONS and indent == 0:
                name, colon, kind = line.partition(" : ")  # numpydoc escapes names by itself
                typed = section in UNNAMED_SECTIONS and not colon
                line = escape(line) if typed else name + colon + escape(kind)
            elif set(line) != {"-"}:
                line = escape(line)
        result.append(line)
    return result


def _underlined(lines: list[str], at: int) -> bool:
    return at + 1 < len(lines) and bool(lines[at].strip()) and set(lines[at + 1].strip()) == {"-"}


def escape(line: str) -> str:
    """Escape special characters outside of code; a code that a letter follows stays code."""
    parts = _CODE.split(line)
    return "".join(part if at % 2 else _SPECIAL.sub(r"\\\1", part) for at, part in enumerate(parts))


def inherited(lines: list[str]) -> list[str]:
    """The first paragraph of a docstring of scikit-learn, whose markup and references differ."""
    end = lines.index("") if "" in lines else len(lines)
    return [*lines[:end], "", "Inherited from scikit-learn."]


def _process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list) -> None:
    of_sklearn = what == "method" and obj.__module__.startswith("sklearn")
    lines[:] = inherited(lines) if of_sklearn else to_markup(lines)


def name_role(
    role: str, rawtext: str, text: str, lineno: int, inliner: object, options=None, content=()
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """A name in backticks: a link to a public name, and code otherwise."""
    from docutils import nodes
    from sphinx import addnodes

    target = listing.full_name(text)
    code = nodes.literal(rawtext, text, classes=["py"])
    if target is None:
        return [code], []
    link = addnodes.pending_xref(
        rawtext, code, refdomain="py", reftype="obj", reftarget=target, refexplicit=True
    )
    return [link], []


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("name", name_role)
    app.config.default_role = "name"
    # Before numpydoc, whose priority is 500.
    app.connect("autodoc-process-docstring", _process, priority=400)
    return {"parallel_read_safe": True}
