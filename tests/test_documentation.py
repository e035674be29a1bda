"""The pages of the site, without making it: make docs does."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import re
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import enhg
from enhg.cli.commands import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*DOCS.glob("*.md"), *(DOCS / "guide").glob("*.md")]
GENERATED = {"gallery/index", "project/*"}


@pytest.fixture(scope="module")
def extensions():
    """The modules of docs/_ext, and docs/check_links.py."""
    folders = [str(DOCS / "_ext"), str(DOCS)]
    sys.path[:0] = folders
    names = (
        "commands", "listing", "plain_docstrings", "repository_links", "gallery_order",
        "check_links",
    )  # fmt: skip
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        for folder in folders:
            sys.path.remove(folder)
        for name in names:
            sys.modules.pop(name, None)


def entries(page):
    """The pages that the tables of contents of a page list."""
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names = [line for block in blocks for line in block.splitlines()]
    return [name for name in names if name and not name.startswith(":")]


def test_every_page_is_in_a_table_of_contents():
    listed, waiting = {DOCS / "index.md"}, [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        for name in entries(page):
            target = (page.parent / f"{name}.md").resolve()
            if target.relative_to(DOCS).with_suffix("").as_posix() in GENERATED:
                continue
            assert target.exists(), f"{page.name}: {name}"
            assert target not in listed, f"{name} is listed twice"
            listed.add(target)
            waiting.append(target)
    assert listed == set(PAGES)


def test_the_reference_lists_every_public_name(extensions):
    listing = extensions["listing"]
    names = [name for group in listing.sections().values() for name in group]
    assert len(names) == len(set(names))
    assert {f"enhg.{name}" for name in enhg.__all__} <= set(names)
    for module in listing.public_modules():
        for name in set(module.__all__) - set(enhg.__all__):
            assert f"{module.__name__}.{name}" in names
    modules = {module.__name__ for module in listing.public_modules()}
    assert {"enhg.plotting", "enhg.modularity", "enhg.structures.choice"} <= modules


def test_every_public_name_has_an_example(extensions):
    listing = extensions["listing"]
    missing = [
        name
        for group in listing.sections().values()
        for name in group
        if callable(value := listing.load(name)) and ">>>" not in (value.__doc__ or "")
    ]
    assert missing == []


def test_the_site_shows_what_docstrings_say_of_properties(extensions):
    """numpydoc lists a property with the first sentence of its own docstring."""
    listing = extensions["listing"]
    differing = []
    for value in map(listing.load, itertools.chain(*listing.sections().values())):
        attributes = (inspect.getdoc(value) or "").partition("\nAttributes\n")[2]
        for name, text in re.findall(r"^(\w+) : .*\n((?: {4}.*\n)*)", attributes, re.MULTILINE):
            member = getattr(value, name, None)
            if isinstance(member, property) and text:
                first = inspect.getdoc(member).partition("\n\n")[0]
                if " ".join(text.split()) != " ".join(first.split()):
                    differing.append(f"{value.__name__}.{name}")
    assert differing == []


def test_names_in_docstrings_are_resolved(extensions):
    full_name = extensions["listing"].full_name
    assert full_name("count_clusters") == "enhg.count_clusters"
    assert full_name("enhg.plotting.plot_image") == "enhg.plotting.plot_image"
    assert full_name("Hypergraph.theta") == "enhg.Hypergraph.theta"
    assert full_name("HypergraphClustering.predict_with_scores")
    assert full_name("HypergraphClustering.fit_predict")  # of scikit-learn
    assert full_name("labels_") is None


def test_methods_of_scikit_learn_have_a_sentence(extensions):
    documented = extensions["listing"].is_documented
    public = {"fit_predict", "get_params", "set_params", "suggest", "labels_", "_get_tags"}
    members = {
        name for name in public if documented(getattr(enhg.HypergraphClustering, name, None), name)
    }
    assert members == public - {"labels_", "_get_tags"}
    lines = inspect.getdoc(enhg.HypergraphClustering.fit_predict).splitlines()
    text = extensions["plain_docstrings"].inherited(lines)
    assert text == [lines[0], "", "Inherited from scikit-learn."]


def test_the_reference_of_the_command_line_has_every_option(extensions):
    page = extensions["commands"].page()
    group = get_command(app)
    for name, command in group.commands.items():
        section = page.partition(f"## enhg {name}\n")[2].partition("\n## ")[0]
        described = set(re.findall(r"`{3}\{option\} (.*)\n\S", section))
        options = {text for names in described for text in re.split(r"[ ,]+", names)}
        assert {text for parameter in command.params for text in parameter.opts} <= options | {
            parameter.name
            for parameter in command.params
            if parameter.param_type_name == "argument"
        }


def test_a_block_that_plots_shows_its_picture(extensions):
    text = "```python\n>>> ax = plotting.plot_image(X)  # A digit\n```\n\n```python\nX = 1\n```\n"
    drawn = extensions["repository_links"].with_plots(text)
    assert drawn.startswith("```{eval-rst}\n.. plot::\n   :context: close-figs\n   :alt: A digit\n")
    assert drawn.endswith("```python\nX = 1\n```\n")


def test_every_page_of_the_guide_has_a_picture():
    without = [
        page.name
        for page in (DOCS / "guide").glob("*.md")
        if not re.search(r"!\[|>>> .*plot.*# \S", page.read_text(encoding="utf-8"))
    ]
    assert without == []


def test_the_results_of_the_readme_are_those_of_the_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = re.search(r"^\| data set .*\n((?:\|.*\n)+)", readme, re.MULTILINE)
    rows = set(table[0].splitlines())
    assert len(rows) == 7
    assert rows <= set((DOCS / "quality.md").read_text(encoding="utf-8").splitlines())


DOCSTRING = """|Z| of `labels_`, with *one* star.

    |z| = labels_

Text again, of labels_ and ``|x|``:

- a point,
  and its end

  of two paragraphs.

Parameters
----------
X_ : array of |x|
    One |z|.

    A formula:

        |z|_

Returns
-------
array of shape (n_samples_,)

Examples
--------
>>> a | b
""".splitlines()


def test_docstrings_become_markup(extensions):
    lines = extensions["plain_docstrings"].to_markup(DOCSTRING)
    assert lines[0] == r"\|Z\| of `labels_`, with \*one\* star."
    assert lines[2:5] == ["::", "", "    |z| = labels_"]
    assert r"Text again, of labels\_ and ``|x|``:" in lines
    assert "  of two paragraphs." in lines  # not a formula
    assert r"X_ : array of \|x\|" in lines
    at = lines.index("    A formula:")
    assert lines[at : at + 5] == ["    A formula:", "", "    ::", "", "        |z|_"]
    assert r"array of shape (n_samples\_,)" in lines
    assert lines[-1] == ">>> a | b"


def test_the_gallery_begins_with_examples_that_exist(extensions):
    module = extensions["gallery_order"]
    scripts = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
    ordered = sorted(scripts, key=module.GalleryOrder("examples"))
    first = [f"plot_{name}.py" for name in module.FIRST]
    assert ordered[: len(first)] == first
    assert ordered[len(first) :] == [name for name in scripts if name not in first]


def test_pages_are_laid_out(extensions):
    laid_out = extensions["repository_links"].laid_out
    assert laid_out("```python\n>>> 1\n1\n\n```\n\n```\nls\n```") == (
        "```python\n>>> 1\n1\n```\n\n```\nls\n```"
    )
    text = "```python\n>>> 1\n\n>>> 2\n```\n\n```\nls\n```\n"
    assert laid_out(text) == text
    assert laid_out("0.95 ± 0.01") == "0.95 ±\N{NO-BREAK SPACE}0.01"


def test_links_to_the_repository_become_links_of_the_site(extensions):
    convert = extensions["repository_links"].with_links_of_site
    text = (
        "[a](../../examples) [b](../../examples/plot_digits.py) [c](../../tests) [d](../method.md)"
    )
    assert convert(text, DOCS / "guide") == (
        "[a](../gallery/index.rst) [b](../gallery/plot_digits.rst) `c` [d](../method.md)"
    )
    outside = "[a](../../../elsewhere) ![b](../images/report.png)"
    assert convert(outside, DOCS) == outside


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="b.html#place">b</a>', None),
        ('<a href="https://example.org/x">x</a>', None),
        ('<a href="#here">x</a><p id="here">', None),
        ('<a href="c.html">c</a>', "c.html names no file"),
        ('<a href="b.html#nowhere">b</a>', "#nowhere names no place"),
        ('<a href="#nowhere">b</a>', "#nowhere names no place"),
        ('<img src="c.png">', "c.png names no file"),
        ('<img srcset="b.html, c.png 2x">', "c.png names no file"),
        ('<a href="../outside.html">x</a>', "outside.html names no file"),
        ('<script src="https://example.org/x.js">', "loaded from another site"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loaded from another site"),
    ],
)
def test_links_of_a_site_are_checked(extensions, tmp_path, body, problem):
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "outside.html").touch()
    (site / "a.html").write_text(body)
    (site / "b.html").write_text('<p id="place">')
    wrong, outside = extensions["check_links"].problems(site)
    assert outside == ("example.org" in body)
    if problem is None:
        assert wrong == []
    else:
        assert len(wrong) == 1
        assert problem in wrong[0]
