"""Data of the page, as plain lists and numbers for its script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import enhg
from enhg.duplicates import conflicting
from enhg.io import Samples
from enhg.learning.cluster_count import ClusterCount
from enhg.plotting._drawing import COLORS
from enhg.plotting.matrices import confusion
from enhg.report._fitted import Fitted
from enhg.report._layout import lay_out
from enhg.report._pictures import Pictures
from enhg.report._results import Results
from enhg.report._selection import Selection
from enhg.report._similar import SIMILAR, nearest
from enhg.report._text import shown
from enhg.run import Run, four_decimals
from enhg.structures.elastic_net import ElasticNetHypergraph

_MOST_MEMBERS = 24  # listed for a sample
_MOST_EIGENVALUES = 80
_SCORE_NAMES = {"ac": "AC", "nmi": "NMI", "accuracy": "accuracy"}


def run_content(run: Run, summary: Sequence[tuple[str, str]], command: str) -> dict[str, object]:
    """Version, command, times, warnings and scores of the run."""
    scores = {} if run.scores is None else vars(run.scores)
    named = [[name, scores.get(key)] for key, name in _SCORE_NAMES.items()]
    return {
        "version": enhg.__version__,
        "run": run.kind,
        "source": shown(run.input.source),
        "command": shown(command),
        "stages": [[name, float(seconds)] for name, seconds in run.stages],
        "warnings": [shown(text) for text in run.warnings],
        "summary": [[shown(name), shown(text)] for name, text in summary],
        "scores": [[name, value] for name, value in named if value is not None],
        "structure": _structure(run),
        "confidenceThreshold": run.confidence_threshold,
        "lowConfidence": int(run.samples.low_confidence.sum()),
        "outliers": int(run.samples.is_outlier.sum()),
    }


def sample_content(
    results: Results,
    selection: Selection,
    pictures: Pictures | None,
    samples: Samples,
    structure: ElasticNetHypergraph | None,
) -> dict[str, object]:
    """Groups, samples and pictures of the page."""
    eigenvalues = results.eigenvalues
    position, rows, photos = selection.position, selection.rows.tolist(), samples.photos
    return {
        "kind": results.run.grouping,
        "total": len(results.group),
        "pictured": selection.n_pictured,
        "sizes": None if photos is None else [edge for row in rows for edge in photos.sizes[row]],
        "rows": None if photos is None else rows,
        "shape": samples.image_shape,
        "features": samples.X.shape[1],
        "colors": COLORS,
        "groups": _groups(results),
        "byFolder": results.by_folder,
        "trueClasses": [shown(name) for name in results.true_classes],
        "samples": _columns(results, selection),
        "edges": None if structure is None else _edges(selection, structure),
        "tiles": None if pictures is None else _tiles(pictures),
        "confusion": _confusion(results),
        "eigenvalues": None if eigenvalues is None else _numbers(eigenvalues[:_MOST_EIGENVALUES]),
        "estimate": _estimate(results.estimate),
        "suggestions": _on_page(position[results.suggested]),
        "duplicates": _duplicates(results, position),
        "skipped": [[shown(image.name), shown(image.reason)] for image in samples.skipped],
        "ignored": samples.n_ignored,
    }


def fitted_content(fitted: Fitted, results: Results) -> dict[str, object]:
    """Samples of the model that are similar to the new samples of the page."""
    code = {name: at for at, name in enumerate(results.names)}
    return {
        "name": [shown(name) for name in fitted.names],
        "group": [code.get(label, -1) for label in fitted.labels],
        "similar": fitted.similar,
        "sizes": [edge for _, size in fitted.thumbnails for edge in size] or None,
        "tiles": None if fitted.pictures is None else _tiles(fitted.pictures),
    }


def _structure(run: Run) -> dict[str, object] | None:
    if run.structure is None:
        return None
    return {
        "certificate": _finite(run.structure.certificate),
        "violation": run.structure.median_violation,
        "components": run.structure.n_components,
        "largest": run.structure.largest_component,
    }


def _on_page(positions: NDArray) -> list[int]:
    return positions[positions >= 0].tolist()


def _duplicates(results: Results, position: NDArray) -> list[dict[str, object]]:
    """Groups of copies: [position, similarity, class name] of the members on the page."""
    names = [shown(name) for name in results.class_names]
    conflicts = {group.members for group in conflicting(results.run.duplicates, names)}
    groups = []
    for group in results.run.duplicates:
        members = [
            [int(position[row]), similarity, names[row]]
            for row, similarity in zip(group.members, group.similarities, strict=True)
            if position[row] >= 0
        ]
        if len(members) > 1:
            groups.append({"members": members, "conflict": group.members in conflicts})
    return groups


def _groups(results: Results) -> list[dict[str, Any]]:
    """Name, size, median confidence, given labels and most frequent true class of every group."""
    groups = []
    for code, name in enumerate(results.names):
        inside = results.group == code
        truth = results.truth[inside & (results.truth >= 0)]
        counts = np.bincount(truth, minlength=1)
        confidence = results.columns.confidence[inside]
        groups.append(
            {
                "name": shown(name),
                "count": int(inside.sum()),
                "confidence": float(np.median(confidence)) if len(confidence) else 0.0,
                "given": int((inside & results.given).sum()),
                "truth": int(counts.argmax()) if len(truth) else -1,
                "purity": float(counts.max() / len(truth)) if len(truth) else 0.0,
            }
        )
    return groups


def _columns(results: Results, selection: Selection) -> dict[str, list[Any] | None]:
    """One list per property, in the order of the selection; None for those of fitted samples only.

    Places on the map are in thousandths.
    """
    rows, columns = selection.rows, results.columns
    across = up = None
    if results.points is not None:
        across, up = np.rint(1000 * lay_out(results.points[rows]).T).astype(int).tolist()
    return {
        "name": [shown(columns.names[row]) for row in rows],
        "group": results.group[rows].tolist(),
        "alternative": results.alternative[rows].tolist(),
        "truth": results.truth[rows].tolist(),
        "given": results.given[rows].astype(int).tolist(),
        "confidence": _rounded(columns.confidence[rows]),
        "outlier": _rounded(columns.outlier_scores[rows]),
        "boundary": _optional(columns.boundary_scores, rows),
        "residual": _optional(columns.residuals, rows),
        "lowConfidence": columns.low_confidence[rows].astype(int).tolist(),
        "isOutlier": columns.is_outlier[rows].astype(int).tolist(),
        "fragment": results.fragment[rows].tolist(),
        "x": across,
        "y": up,
    }


def _edges(selection: Selection, structure: ElasticNetHypergraph) -> dict[str, object]:
    """Members of the hyperedge of every pictured sample, and what fills the similar images up."""
    representation = structure.representation_
    pictured, members = selection.pictured, selection.members
    among = members[pictured][:, pictured]
    return {
        "support": np.diff(representation.coefficients.indptr)[pictured].tolist(),
        "members": _listed(members, pictured, selection.position),
        "memberOf": np.bincount(members.indices, minlength=members.shape[1])[pictured].tolist(),
        "similar": SIMILAR,
        "nearest": nearest(representation.samples[pictured], sparse.csr_array(among)),
    }


def _listed(entries: sparse.csr_array, rows: NDArray, position: NDArray) -> list[Any]:
    """[count, position, coefficient, position, coefficient, …] of each row, largest first."""
    lists = []
    for row in rows:
        inside = slice(entries.indptr[row], entries.indptr[row + 1])
        others, values = position[entries.indices[inside]], entries.data[inside]
        order = np.argsort(-np.abs(values), kind="stable")
        order = order[others[order] >= 0][:_MOST_MEMBERS]
        pairs = zip(others[order].tolist(), values[order].tolist(), strict=True)
        flat = [number for other, value in pairs for number in (other, round(value, 4))]
        lists.append([len(values), *flat])
    return lists


def _tiles(pictures: Pictures) -> dict[str, object]:
    return {
        "size": pictures.tile,
        "columns": pictures.columns,
        "smallSize": pictures.small_tile,
        "smallColumns": pictures.small_columns,
        "residualSpan": pictures.residual_span,
    }


def _confusion(results: Results) -> dict[str, object] | None:
    """Counts of (true class, group), each cluster below the class that it matches best."""
    scored = (results.truth >= 0) & ~results.given
    if not scored.any():
        return None
    truth, group = results.truth[scored], results.group[scored]
    if results.run.grouping == "cluster":
        table, rows, columns = confusion(truth, group, True)
    else:
        rows, columns = np.arange(len(results.true_classes)), np.arange(len(results.names))
        table = np.zeros((len(rows), len(columns)), int)
        np.add.at(table, (truth, group), 1)
    return {"table": table.tolist(), "rows": rows.tolist(), "columns": columns.tolist()}


def _estimate(count: ClusterCount | None) -> dict[str, object] | None:
    if count is None:
        return None
    return {
        "nClusters": int(count.n_clusters),
        "runnerUp": int(count.runner_up),
        "reliable": bool(count.reliable),
        "eigenvalues": _numbers(count.eigenvalues[:_MOST_EIGENVALUES]),
        "scores": _numbers(count.scores[:_MOST_EIGENVALUES]),
    }


def _optional(values: NDArray | None, rows: NDArray) -> list[float] | None:
    return None if values is None else _rounded(values[rows])


def _rounded(values: NDArray) -> list[float]:
    """Numbers with the four decimals of labels.csv."""
    return [float(text) for text in four_decimals(values)]


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _numbers(values: NDArray) -> list[float | None]:
    """Numbers for JSON, which has no NaN and no infinity."""
    return [round(float(value), 6) if np.isfinite(value) else None for value in values]
