"""Files and folders of the repository that the experiments read and write."""

from pathlib import Path

_PACKAGE = Path(__file__).parent

PAPER = _PACKAGE / "paper"
"""The numbers printed in the paper's tables."""

SETTINGS = _PACKAGE / "settings.json"
"""The parameters chosen by the search."""

TEMPLATES = _PACKAGE / "templates"
"""The text of the generated pages."""

RESULTS = _PACKAGE / "results"
"""Stored scores."""

DOCS = _PACKAGE.parent / "docs"
"""The generated pages and their pictures."""
