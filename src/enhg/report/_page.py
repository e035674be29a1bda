"""The page as one file: data, pictures, style and script inside the template."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path

from numpy.typing import NDArray

from enhg._atomic import atomic_file
from enhg.io import Samples
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.report._content import content, run_of
from enhg.report._pictures import Pictures, pictures_of
from enhg.report._results import results_of
from enhg.report._selection import select
from enhg.structures.elastic_net import ElasticNetHypergraph

_SCRIPTS = ("page.js", "panel.js", "map.js", "drawings.js")


def write_report(
    path: Path,
    samples: Samples,
    model: HypergraphClustering | HypergraphClassifier,
    structure: ElasticNetHypergraph,
    *,
    stages: Sequence[tuple[str, float]],
    warnings: Sequence[str],
    summary: Sequence[tuple[str, str]],
    command: str,
    given: NDArray | None = None,
) -> None:
    """Write the report of a run as one HTML file, whole or not at all.

    Parameters
    ----------
    path : Path
        The file, in a folder that exists; a file of that name is replaced.
    samples : Samples
    model : HypergraphClustering or HypergraphClassifier
        Fitted on the graph of `structure`.
    structure : ElasticNetHypergraph
        Fitted on the samples.
    stages : sequence of (name, seconds)
    warnings : sequence of str
    summary : sequence of (name, text)
    command : str
        The command line that was run.
    given : array of str of shape (n_samples,), optional
        For a classifier: the labels it was given, "" where none.
    """
    results = results_of(model, structure, samples.labels, given)
    selection = select(results, structure)
    pictures = pictures_of(samples, structure, selection.pictured)
    run = run_of(samples, structure, stages, warnings, summary, command)
    data = run | content(results, selection, pictures, samples, structure)
    page = _filled(f"enhg: {samples.source.name}", data, pictures)
    with atomic_file(path) as part:
        # A name that is no valid text, as files may have, stands in the title alone unescaped.
        part.write_bytes(page.encode("utf-8", errors="replace"))


def _filled(title: str, data: dict[str, object], pictures: Pictures) -> str:
    """The template with everything in place, and nothing allowed to run but its own script."""
    style = _part("page.css") + "".join(
        f'.{name}{{background-image:url("{uri}")}}' for name, uri in pictures.sheets.items()
    )
    script = "".join(map(_part, _SCRIPTS))
    parts = {
        "policy": f"default-src 'none'; img-src data:; style-src {_hash(style)}; "
        f"script-src {_hash(script)}; base-uri 'none'; form-action 'none'",
        "title": escape(title),
        "style": style,
        # In a script element only "<" could end the text; JSON may spell it otherwise.
        "data": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda hole: parts[hole[1]], _part("page.html"))


def _part(name: str) -> str:
    return files("enhg.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
