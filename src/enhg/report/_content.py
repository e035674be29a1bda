"""What the page tells, as plain lists and numbers for its script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import enhg
from enhg.io import Samples
from enhg.plotting._drawing import COLORS
from enhg.plotting.matrices import confusion
from enhg.report._layout import lay_out
from enhg.report._pictures import Pictures
from enhg.report._results import Results
from enhg.report._selection import Selection
from enhg.structures.elastic_net import ElasticNetHypergraph

_MOST_REBUILDERS = 24  # listed for a sample, and as many hyperedges that it sits in
_MOST_EIGENVALUES = 80


def run_of(
    samples: Samples,
    structure: ElasticNetHypergraph,
    stages: Sequence[tuple[str, float]],
    warnings: Sequence[str],
    summary: Sequence[tuple[str, str]],
    command: str,
) -> dict[str, object]:
    """What was run, and how well the parts before learning went."""
    rebuilt, graph = structure.representation_, structure.graph_
    count, component = graph.connected_components()
    return {
        "version": enhg.__version__,
        "source": str(samples.source),
        "command": command,
        "stages": [[name, float(seconds)] for name, seconds in stages],
        "warnings": list(warnings),
        "summary": [[name, text] for name, text in summary],
        "certificate": _finite(float(rebuilt.certificate.max())),
        "components": int(count),
        "largest": int(np.bincount(component).max()),
    }


def content(
    results: Results,
    selection: Selection,
    pictures: Pictures,
    samples: Samples,
    structure: ElasticNetHypergraph,
) -> dict[str, object]:
    """The groups, the samples of the page and the pictures that belong to them."""
    return {
        "kind": results.kind,
        "total": len(results.group),
        "pictured": selection.n_pictured,
        "shape": samples.image_shape,
        "features": samples.X.shape[1],
        "colors": COLORS,
        "groups": _groups(results),
        "truths": results.truths,
        "scores": results.scores,
        "doubtful": int(results.doubtful.sum()),
        "outliers": int(results.outliers.sum()),
        "samples": _columns(results, selection, samples),
        "edges": _edges(selection, structure),
        "tiles": _tiles(pictures),
        "confusion": _confused(results),
        "spectrum": _numbers(results.eigenvalues[:_MOST_EIGENVALUES]),
        "estimate": _estimate(results.count),
    }


def _groups(results: Results) -> list[dict[str, Any]]:
    """Every group: how many samples, how many labels given, and which truth is most common."""
    groups = []
    for at, name in enumerate(results.names):
        inside = results.group == at
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


def _columns(results: Results, selection: Selection, samples: Samples) -> dict[str, list[Any]]:
    """One list a property, in the order of the selection; shares and places in thousandths."""
    rows = selection.rows
    across, up = lay_out(results.points[rows]).T

    def thousandths(values: NDArray) -> list[int]:
        return np.rint(1000 * values).astype(int).tolist()

    return {
        "name": [samples.names[row] for row in rows],
        "group": results.group[rows].tolist(),
        "rival": results.rival[rows].tolist(),
        "truth": results.truth[rows].tolist(),
        "given": results.given[rows].astype(int).tolist(),
        "confidence": thousandths(results.confidence[rows]),
        "outlying": thousandths(results.outlying[rows]),
        "foreign": thousandths(results.foreign[rows]),
        "doubtful": results.doubtful[rows].astype(int).tolist(),
        "outlier": results.outliers[rows].astype(int).tolist(),
        "piece": results.piece[rows].tolist(),
        "x": thousandths(across),
        "y": thousandths(up),
    }


def _edges(selection: Selection, structure: ElasticNetHypergraph) -> dict[str, list[Any]]:
    """For every pictured sample its rebuilders, and the hyperedges of others that it is in."""
    nonzeros = np.diff(structure.representation_.coefficients.indptr)
    members = selection.members
    place = np.full(members.shape[0], -1)
    place[selection.rows] = np.arange(len(selection.rows))
    return {
        "coefficients": nonzeros[selection.pictured].tolist(),
        "rebuilders": _listed(members, selection.pictured, place),
        "rebuilds": _listed(sparse.csr_array(members.T), selection.pictured, place),
    }


def _listed(entries: sparse.csr_array, rows: NDArray, place: NDArray) -> list[Any]:
    """[how many, place, coefficient, place, coefficient, …] for each row, the largest first."""
    lists = []
    for row in rows:
        inside = slice(entries.indptr[row], entries.indptr[row + 1])
        others, values = place[entries.indices[inside]], entries.data[inside]
        order = np.argsort(-np.abs(values), kind="stable")
        order = order[others[order] >= 0][:_MOST_REBUILDERS]
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
        "errorSpan": pictures.error_span,
        "errors": [round(float(share), 4) for share in pictures.relative_errors],
    }


def _confused(results: Results) -> dict[str, object] | None:
    """Counts of (truth, group), clusters under the class that they fit best."""
    scored = (results.truth >= 0) & ~results.given
    if not scored.any():
        return None
    truth, group = results.truth[scored], results.group[scored]
    if results.kind == "cluster":
        table, rows, columns = confusion(truth, group, True)
    else:
        rows, columns = np.arange(len(results.truths)), np.arange(len(results.names))
        table = np.zeros((len(rows), len(columns)), int)
        np.add.at(table, (truth, group), 1)
    return {"table": table.tolist(), "rows": rows.tolist(), "columns": columns.tolist()}


def _estimate(count: Any) -> dict[str, object] | None:
    if count is None:
        return None
    return {
        "best": int(count.n_clusters),
        "runnerUp": int(count.runner_up),
        "sure": bool(count.reliable),
        "values": _numbers(count.values[:_MOST_EIGENVALUES]),
        "scores": _numbers(count.scores[:_MOST_EIGENVALUES]),
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _numbers(values: NDArray) -> list[float | None]:
    """Numbers for JSON, which knows no NaN and no infinity."""
    return [round(float(value), 6) if np.isfinite(value) else None for value in values]
