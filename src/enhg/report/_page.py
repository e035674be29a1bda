"""Writing of the page: data, style and script inside one file, photographs beside it."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import numpy as np
from scipy import sparse

from enhg._atomic import atomic_file
from enhg.io import Samples
from enhg.io.models import SavedModel
from enhg.report._content import fitted_content, run_content, sample_content
from enhg.report._fitted import THUMBNAILS, Fitted, find_fitted, thumbnail_file
from enhg.report._pictures import Pictures, draw_pictures
from enhg.report._results import Results, make_results
from enhg.report._selection import MOST_PICTURED, Selection, select
from enhg.report._text import shown
from enhg.run import Model, Run, fitted_structure
from enhg.structures.elastic_net import ElasticNetHypergraph

_SCRIPTS = (
    "tools.js", "page.js", "pictures.js", "lists.js", "groups.js", "search.js", "review.js",
    "panel.js", "map.js", "drawings.js", "start.js",
)  # fmt: skip


def write_report(
    path: Path,
    run: Run,
    samples: Samples,
    model: Model | SavedModel | None,
    *,
    summary: Sequence[tuple[str, str]],
    command: str,
    out: Path | None = None,
) -> None:
    """Write the report of a run as one HTML file, whole or not at all.

    Photographs are written to the folder ``thumbnails`` beside it, one file for each sample on the
    page by its row: ``thumbnails/000123.jpg``. Those of the model that are similar to new ones are
    ``thumbnails/fitted-000045.jpg``.

    Parameters
    ----------
    path : Path
        The file, in an existing folder; a file of that name is replaced.
    run : Run
        Record of a clustering, a classification or a prediction.
    samples : Samples
        The samples of the run.
    model : HypergraphClustering, HypergraphClassifier, SavedModel or None
        The learner of the run, with an `ElasticNetHypergraph` as structure. For a prediction the
        saved model, whose samples are shown beside the new ones that they are similar to; None
        for a page without them.
    summary : sequence of (name, text)
        Lines of the summary.
    command : str
        The command line of the run.
    out : Path, optional
        The folder that the page will be moved to, from which its links lead to the images; that of
        `path` by default.
    """
    saved = model if isinstance(model, SavedModel) else None
    learner = None if run.kind == "predict" or isinstance(model, SavedModel) else model
    structure = None if learner is None else fitted_structure(learner)
    results = make_results(run, samples, learner)
    selection = _selected(results, samples, structure)
    pictures = _pictures(samples, structure, selection)
    fitted = None if saved is None else find_fitted(saved, samples, selection.pictured)
    data = run_content(run, summary, command)
    data |= sample_content(results, selection, pictures, samples, structure)
    data["fitted"] = None if fitted is None else fitted_content(fitted, results)
    if samples.photos is not None:
        files, folder = samples.photos.files, path.parent if out is None else out
        data["originals"] = [_url(files[row], folder) for row in selection.pictured]
    page = _filled(shown(f"enhg: {samples.source.name}"), data, _sheets(pictures, fitted))
    if samples.photos is not None:
        thumbnails = {row: samples.photos.thumbnails[row] for row in selection.pictured.tolist()}
        _write_thumbnails(path.parent / THUMBNAILS, "", thumbnails)
    if fitted is not None:
        thumbnails = {at: data for at, (data, _) in enumerate(fitted.thumbnails)}
        _write_thumbnails(path.parent / THUMBNAILS, "fitted-", thumbnails)
    with atomic_file(path) as part:
        part.write_bytes(page.encode())


def _selected(
    results: Results, samples: Samples, structure: ElasticNetHypergraph | None
) -> Selection:
    n = len(samples.X)
    members = sparse.csr_array((n, n)) if structure is None else structure.member_coefficients_
    groups = (group.members for group in results.run.duplicates)
    copies = np.fromiter(chain.from_iterable(groups), dtype=int)
    wanted = np.concatenate([results.suggested, copies])
    return select(results, members, wanted, photographs=samples.photos is not None)


def _pictures(
    samples: Samples, structure: ElasticNetHypergraph | None, selection: Selection
) -> Pictures | None:
    """Tiles of what was represented; photographs have them where they are pixels, and not many."""
    if samples.photos is not None:
        many = len(samples.X) > MOST_PICTURED
        if structure is None or samples.image_shape is None or many:
            return None
    return draw_pictures(samples, structure, selection.pictured)


def _sheets(pictures: Pictures | None, fitted: Fitted | None) -> dict[str, str]:
    """Sheets of tiles as data URIs, by the class of their elements on the page."""
    sheets = {} if pictures is None else dict(pictures.sheets)
    if fitted is not None and fitted.pictures is not None:
        sheets["fitted"] = fitted.pictures.sheets["sample"]
    return sheets


def _write_thumbnails(folder: Path, prefix: str, thumbnails: Mapping[int, bytes]) -> None:
    if thumbnails:
        folder.mkdir(exist_ok=True)
    for row, thumbnail in thumbnails.items():
        (folder / f"{prefix}{thumbnail_file(row)}").write_bytes(thumbnail)


def _url(file: Path, folder: Path) -> str:
    """The URL of a file for a page in a folder: relative, but for another drive of Windows."""
    try:
        path = os.path.relpath(file, folder)
    except ValueError:
        return file.absolute().as_uri()
    return quote(os.fsencode(Path(path).as_posix()))


def _filled(title: str, data: dict[str, object], sheets: dict[str, str]) -> str:
    """The template with its parts filled in; its policy allows only its own script to run."""
    style = _part("page.css") + "".join(
        f'.{name}{{background-image:url("{uri}")}}' for name, uri in sheets.items()
    )
    script = "".join(map(_part, _SCRIPTS))
    # A page that is opened as a file has no origin that 'self' could stand for.
    images = "data:" if data["sizes"] is None else "data: 'self' file:"
    parts = {
        "policy": f"default-src 'none'; img-src {images}; style-src {_hash(style)}; "
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
