"""Data of the page, as plain lists and numbers for its script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import enhg
from enhg.io import Samples
from enhg.learning.cluster_count import ClusterCount
from enhg.plotting._drawing import COLORS
from enhg.plotting.matrices import confusion
from enhg.report._layout import lay_out
from enhg.report._pictures import Pictures
from enhg.report._results import Results
from enhg.report._selection import Selection
from enhg.run import Run, four_decimals
from enhg.structures.elastic_net import ElasticNetHypergraph

_MOST_MEMBERS = 24  # listed for a sample, and as many hyperedges that it is a member of
_MOST_EIGENVALUES = 80
_SCORE_NAMES = {"ac": "AC", "nmi": "NMI", "accuracy": "accuracy"}


def run_content(run: Run, summary: Sequence[tuple[str, str]], command: str) -> dict[str, object]:
    """Version, command, times, warnings and scores of the run."""
    assert run.structure is not None
    scores = {} if run.scores is None else vars(run.scores)
    named = [[name, scores.get(key)] for key, name in _SCORE_NAMES.items()]
    return {
        "version": enhg.__version__,
        "source": run.input.source,
        "command": command,
        "stages": [[name, float(seconds)] for name, seconds in run.stages],
        "warnings": list(run.warnings),
        "summary": [[name, text] for name, text in summary],
        "scores": [[name, value] for name, value in named if value is not None],
        "certificate": _finite(run.structure.certificate),
        "components": run.structure.n_components,
        "largest": run.structure.largest_component,
        "lowConfidence": int(run.samples.low_confidence.sum()),
        "outliers": int(run.samples.is_outlier.sum()),
    }


def sample_content(
    results: Results,
    selection: Selection,
    pictures: Pictures,
    samples: Samples,
    structure: ElasticNetHypergraph,
) -> dict[str, object]:
    """Groups, samples and pictures of the page."""
    return {
        "kind": results.run.grouping,
        "total": len(results.group),
        "pictured": selection.n_pictured,
        "shape": samples.image_shape,
        "features": samples.X.shape[1],
        "colors": COLORS,
        "groups": _groups(results),
        "trueClasses": results.true_classes,
        "samples": _columns(results, selection),
        "edges": _edges(selection, structure),
        "tiles": _tiles(pictures),
        "confusion": _confusion(results),
        "eigenvalues": _numbers(results.eigenvalues[:_MOST_EIGENVALUES]),
        "estimate": _estimate(results.estimate),
    }


def _groups(results: Results) -> list[dict[str, Any]]:
    """Name, size, number of given labels and most frequent true class of every group."""
    groups = []
    for code, name in enumerate(results.names):
        inside = results.group == code
        truth = results.truth[inside & (results.truth >= 0)]
        counts = np.bincount(truth, minlength=1)
        groups.append(
            {
                "name": name,
                "count": int(inside.sum()),
                "given": int((inside & results.given).sum()),
                "truth": int(counts.argmax()) if len(truth) else -1,
                "purity": float(counts.max() / len(truth)) if len(truth) else 0.0,
            }
        )
    return groups


def _columns(results: Results, selection: Selection) -> dict[str, list[Any]]:
    """One list per property, in the order of the selection; places on the map in thousandths."""
    rows, columns = selection.rows, results.columns
    assert columns.boundary_scores is not None
    assert columns.residuals is not None
    across, up = np.rint(1000 * lay_out(results.points[rows]).T).astype(int).tolist()
    return {
        "name": [columns.names[row] for row in rows],
        "group": results.group[rows].tolist(),
        "alternative": results.alternative[rows].tolist(),
        "truth": results.truth[rows].tolist(),
        "given": results.given[rows].astype(int).tolist(),
        "confidence": _rounded(columns.confidence[rows]),
        "outlier": _rounded(columns.outlier_scores[rows]),
        "boundary": _rounded(columns.boundary_scores[rows]),
        "residual": _rounded(columns.residuals[rows]),
        "lowConfidence": columns.low_confidence[rows].astype(int).tolist(),
        "isOutlier": columns.is_outlier[rows].astype(int).tolist(),
        "fragment": results.fragment[rows].tolist(),
        "x": across,
        "y": up,
    }


def _edges(selection: Selection, structure: ElasticNetHypergraph) -> dict[str, list[Any]]:
    """Members of the hyperedge of every pictured sample, and the hyperedges that it is in."""
    support = np.diff(structure.representation_.coefficients.indptr)
    members = selection.members
    position = np.full(members.shape[0], -1)
    position[selection.rows] = np.arange(len(selection.rows))
    return {
        "support": support[selection.pictured].tolist(),
        "members": _listed(members, selection.pictured, position),
        "memberOf": _listed(sparse.csr_array(members.T), selection.pictured, position),
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


def _rounded(values: NDArray) -> list[float]:
    """Numbers with the four decimals of labels.csv."""
    return [float(text) for text in four_decimals(values)]


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _numbers(values: NDArray) -> list[float | None]:
    """Numbers for JSON, which has no NaN and no infinity."""
    return [round(float(value), 6) if np.isfinite(value) else None for value in values]
