"""Pages of files outside of docs/, links to such files, and layout and plots of the site only.

The pages are read in the repository, too: their links name files of the repository. On the site
they lead to the page that shows the file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
REPOSITORY = DOCS.parent
# Pages of the site by the file or folder of the repository that they show.
PAGES = {"benchmarks/results/README.md": "benchmarks.md", "examples": "gallery/index.rst"}
# Files that are pages as they are, as far as they exist.
INCLUDED = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
_INCLUDE = """```{{include}} ../../{name}
:relative-docs: docs/
```
"""
_LINK = re.compile(r"(?<!!)\[([^]]+)\]\((\.\./[^)#]+)\)")
_EXAMPLE = re.compile(r"examples/(\w+)\.py")
_SESSION = re.compile(r"^(```python\n(?:(?!```).*\n)*?)\n```$", re.MULTILINE)
_BLOCK = re.compile(r"^```python\n(>>> (?:(?!```).*\n)*)```$", re.MULTILINE)
_PLOT = re.compile(r"^(>>> .*plot.*?) +# (.+)", re.MULTILINE)


def page_of(path: Path) -> Path | None:
    """The page that shows a file of the repository, or None."""
    name = path.relative_to(REPOSITORY).as_posix()
    if example := _EXAMPLE.fullmatch(name):
        return DOCS / "gallery" / f"{example[1]}.rst"
    return DOCS / PAGES[name] if name in PAGES else None


def with_links_of_site(text: str, folder: Path) -> str:
    """Let links end at pages of the site; other folders are named, without a link."""

    def replaced(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if not target.is_relative_to(REPOSITORY):
            return link[0]
        if page := page_of(target):
            return f"[{link[1]}]({Path(os.path.relpath(page, folder)).as_posix()})"
        return f"`{link[1]}`" if target.is_dir() else link[0]

    return _LINK.sub(replaced, text)


def laid_out(text: str) -> str:
    """Without the empty line that ends a doctest; a deviation stays on one line with its sign."""
    return _SESSION.sub(r"\1```", text).replace(" ± ", " ±\N{NO-BREAK SPACE}")


def with_plots(text: str) -> str:
    """Run the examples of a page in their order; what a block draws is shown below it.

    The comment in a line that plots is the alternative text of the picture.
    """

    def directive(block: re.Match[str]) -> str:
        lines = [".. plot::", "   :context: close-figs"]
        lines += [f"   :alt: {plot[2]}" for plot in _PLOT.finditer(block[1])]
        lines += ["", *(f"   {line}" for line in _PLOT.sub(r"\1", block[1]).splitlines())]
        return "\n".join(["```{eval-rst}", *lines, "```"])

    return _BLOCK.sub(directive, text)


def _replace(app: Sphinx, docname: str, source: list[str]) -> None:
    text = laid_out(with_links_of_site(source[0], app.env.doc2path(docname).parent))
    source[0] = with_plots(text) if _PLOT.search(text) else text


def _write(app: Sphinx, config: object) -> None:
    """Write a page for every included file."""
    (DOCS / "project").mkdir(exist_ok=True)
    for name in INCLUDED:
        if (REPOSITORY / name).exists():
            page, text = DOCS / "project" / name.lower(), _INCLUDE.format(name=name)
            page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", _write)
    app.connect("source-read", _replace)
    return {"parallel_read_safe": True}
