"""Writing of the page: data, pictures, style and script inside one file."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path

from enhg._atomic import atomic_file
from enhg.io import Samples
from enhg.report._content import run_content, sample_content
from enhg.report._pictures import Pictures, draw_pictures
from enhg.report._results import make_results
from enhg.report._selection import select
from enhg.run import Model, Run, fitted_structure

_SCRIPTS = ("page.js", "panel.js", "map.js", "drawings.js")


def write_report(
    path: Path,
    run: Run,
    samples: Samples,
    model: Model,
    *,
    summary: Sequence[tuple[str, str]],
    command: str,
) -> None:
    """Write the report of a run as one HTML file, whole or not at all.

    Parameters
    ----------
    path : Path
        The file, in an existing folder; a file of that name is replaced.
    run : Run
        Record of a clustering or classification.
    samples : Samples
        The samples of the run.
    model : HypergraphClustering or HypergraphClassifier
        The learner of the run, with an `ElasticNetHypergraph` as structure.
    summary : sequence of (name, text)
        Lines of the summary.
    command : str
        The command line of the run.
    """
    structure = fitted_structure(model)
    results = make_results(run, samples, model)
    selection = select(results, structure.member_coefficients_)
    pictures = draw_pictures(samples, structure, selection.pictured)
    data = run_content(run, summary, command)
    data |= sample_content(results, selection, pictures, samples, structure)
    page = _filled(f"enhg: {samples.source.name}", data, pictures)
    with atomic_file(path) as part:
        # The title is the only place where a file name that is not valid text is unescaped.
        part.write_bytes(page.encode("utf-8", errors="replace"))


def _filled(title: str, data: dict[str, object], pictures: Pictures) -> str:
    """The template with its parts filled in; its policy allows only its own script to run."""
    style = _part("page.css") + "".join(
        f'.{name}{{background-image:url("{uri}")}}' for name, uri in pictures.sheets.items()
    )
    script = "".join(map(_part, _SCRIPTS))
    parts = {
        "policy": f"default-src 'none'; img-src data:; style-src {_hash(style)}; "
        f"script-src {_hash(script)}; base-uri 'none'; form-action 'none'",
        "title": escape(title),
        "style": style,
        # Only "<" could end the text of a script element; JSON has another spelling for it.
        "data": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda hole: parts[hole[1]], _part("page.html"))


def _part(name: str) -> str:
    return files("enhg.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
