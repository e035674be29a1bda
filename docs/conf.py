"""Configuration of the documentation site: make docs."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import enhg  # noqa: E402

project = "enhg"
author = "The enhg developers"
copyright = f"2026, {author}"
version = release = enhg.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "matplotlib.sphinxext.figmpl_directive",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "commands",
    "listing",
    "plain_docstrings",
    "repository_links",
]
nitpicky = True
toc_object_entries_show_parents = "hide"
templates_path = ["_templates"]
root_doc = "index"
exclude_patterns = ["_build", "_names.rst"]

# --- pages in Markdown ---
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
myst_number_code_blocks: list[str] = []
copybutton_prompt_text = r">>> |\.\.\. "  # not copied, nor what is printed
copybutton_prompt_is_regexp = True
suppress_warnings = ["config.cache"]  # the gallery's configuration holds a function

# --- reference: names from __all__, texts from docstrings ---
autosummary_generate = ["_names.rst"]
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_member_order = "alphabetical"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# Docstrings exist (GL08), have known sections in their order (GL06, GL07), name the parameters of
# the signature in its order (PR02, PR03) and begin with a sentence (SS01, SS03). That none is
# missing is tested in tests/test_public.py.
numpydoc_validation_checks = {
    "GL05", "GL06", "GL07", "GL08", "GL10", "PR02", "PR03", "PR10", "SS01", "SS03", "SS04",
}  # fmt: skip

# --- gallery: the scripts in examples/, run when the site is made ---
os.environ.setdefault("ENHG_DATA", str(HERE.parents[1] / "shared" / "data"))
_left_out = [r"__init__\.py"]
if not Path(os.environ["ENHG_DATA"]).is_dir():
    for script in sorted((HERE.parent / "examples").glob("*.py")):
        if "ENHG_DATA" in script.read_text(encoding="utf-8"):
            print(f"{script.name} is left out: ENHG_DATA names no folder")
            _left_out.append(rf"{script.stem}\.py")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": "|".join(_left_out),
    "within_subsection_order": "gallery_order.GalleryOrder",
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("enhg",),
    "reference_url": {"enhg": None},
    "inspect_global_variables": False,
    "remove_config_comments": True,
    "show_memory": False,
    "capture_repr": (),  # what is printed, without the axes that a plot returns
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "min_reported_time": 10_000,
    "image_srcset": ["2x"],
    "default_thumb_file": str(HERE / "images" / "method.png"),
}

# --- pictures of pages: drawn by the code above them, when the site is made ---
plot_include_source = True
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 100)]
plot_srcset = ["2x"]

# --- appearance ---
html_theme = "pydata_sphinx_theme"
html_title = f"enhg {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "getting_started": [], "reference_cli": []}
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,  # methods of a class before the page is scrolled to it
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "back_to_top_button": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}

# One file of MathJax that loads no other: glyphs are drawn as SVG. It comes with a package.
_mathjax = importlib.util.find_spec("sphinx-mathjax-offline")
assert _mathjax is not None
assert _mathjax.origin is not None
html_static_path.append(str(Path(_mathjax.origin).parent / "static" / "mathjax" / "tex-svg.js"))
mathjax_path = "tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}
