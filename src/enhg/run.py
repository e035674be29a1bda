"""What a run found, as figures (for JSON) and as the lines of its closing summary."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enhg.io import Samples, label_texts
from enhg.learning._base import Placement
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.learning.scores import DOUBTFUL, doubtful, outlier_bound, outlying
from enhg.metrics import (
    clustering_accuracy,
    normalized_mutual_information,
    unlabeled_accuracy,
)
from enhg.structures.elastic_net import ElasticNetHypergraph

Rows = list[tuple[str, str]]

_MOST_SIZES = 10  # clusters up to which every size is told


def of_samples(samples: Samples) -> dict[str, Any]:
    count, features = samples.X.shape
    shape = None if samples.image_shape is None else list(samples.image_shape)
    return {
        "samples": count,
        "features": features,
        "image_shape": shape,
        "source": str(samples.source),
    }


def of_structure(structure: ElasticNetHypergraph) -> dict[str, Any]:
    rebuilt, graph = structure.representation_, structure.graph_
    return {
        "preprocessing": structure.normalizer_.how,
        "rebuilders": round(rebuilt.coefficients.nnz / graph.n_vertices, 2),
        "certificate": float(rebuilt.certificate.max()),
        "hyperedges": graph.n_edges,
        "components": graph.connected_components()[0],
        "outliers": int(outlying(structure.outlier_scores_).sum()),
    }


def of_clusters(model: HypergraphClustering, truth: NDArray | None) -> dict[str, Any]:
    """Clusters, how sure they are, and how well they agree with the truth where it is known."""
    sizes = np.bincount(model.labels_, minlength=model.n_clusters_)
    estimate = model.cluster_count_
    found: dict[str, Any] = {
        "clusters": model.n_clusters_,
        "sizes": sizes.tolist(),
        "doubtful": int(doubtful(model.confidence_).sum()),
    }
    if estimate is not None:
        found["estimate"] = {
            "best": estimate.n_clusters,
            "runner_up": estimate.runner_up,
            "sure": estimate.reliable,
        }
    labels, known = _known(truth, len(model.labels_))
    if known.any():
        found["ac"] = clustering_accuracy(labels[known], model.labels_[known])
        found["nmi"] = normalized_mutual_information(labels[known], model.labels_[known])
    return found


def of_classes(
    model: HypergraphClassifier, given: NDArray, truth: NDArray | None
) -> dict[str, Any]:
    """The same of classes that were spread from the labels given (text, empty for none)."""
    reached = ~model.unreached_
    sizes = Counter(model.transduction_[reached].tolist())
    found: dict[str, Any] = {
        "classes": len(model.classes_),
        "sizes": {str(name): sizes[name] for name in model.classes_.tolist()},
        "method": model.method_,
        "given": int((given != "").sum()),
        "disputed": int(((given != "") & (given != model.transduction_)).sum()),
        "doubtful": int(doubtful(model.confidence_[reached], len(model.classes_)).sum()),
        "unreached": int((~reached).sum()),
    }
    labels, known = _known(truth, len(given))
    scored = known & (given == "")
    if scored.any():
        found["accuracy"] = unlabeled_accuracy(labels, model.transduction_, ~scored)
        found["scored"] = int(scored.sum())
    return found


def of_placement(
    model: HypergraphClustering | HypergraphClassifier, placed: Placement, truth: NDArray | None
) -> dict[str, Any]:
    """New samples among those of a model; a label is missing where nothing rebuilds one."""
    clusters = isinstance(model, HypergraphClustering)
    groups = range(model.n_clusters_) if clusters else model.classes_.tolist()
    sizes = Counter(placed.labels.tolist())
    lost = placed.confidence == 0
    found: dict[str, Any] = {
        "clusters" if clusters else "classes": len(groups),
        "placed": {str(name): sizes[name] for name in groups},
        "doubtful": int(
            (doubtful(placed.confidence, None if clusters else len(groups)) & ~lost).sum()
        ),
        "unplaced": int(lost.sum()),
        "outliers": int((placed.outlier_scores > outlier_bound(model.outlier_scores_)).sum()),
    }
    labels, known = _known(truth, len(placed.labels))
    if known.any() and clusters:
        found["ac"] = clustering_accuracy(labels[known], placed.labels[known])
        found["nmi"] = normalized_mutual_information(labels[known], placed.labels[known])
    elif known.any():
        texts = np.array(label_texts(placed.labels))
        found["accuracy"] = float((texts == labels)[known].mean())
        found["scored"] = int(known.sum())
    return found


def _known(truth: NDArray | None, count: int) -> tuple[NDArray, NDArray]:
    """The true labels as text, and where they are known."""
    labels = np.full(count, "") if truth is None else np.array(label_texts(truth))
    return labels, labels != ""


def lines(found: dict[str, Any], truth_in: str = "") -> Rows:
    """The figures of `of_samples`, `of_structure`, `of_clusters` and `of_classes`, in words."""
    rows = []
    if "samples" in found:
        rows.append(("samples", _about_samples(found)))
    if "hyperedges" in found:
        rows += [
            (
                "rebuilt",
                f"from {found['rebuilders']:.1f} others each on average; worst certificate {found['certificate']:.1e}",
            ),
            (
                "hypergraph",
                f"{found['hyperedges']} hyperedges, {counted(found['components'], 'component')}",
            ),
        ]
    if "placed" in found:
        kind = "clusters" if "clusters" in found else "classes"
        rows.append((kind, _about_placed(found, found[kind])))
    elif "clusters" in found:
        rows.append(("clusters", _about_clusters(found)))
    elif "classes" in found:
        share = found["given"] / max(sum(found["sizes"].values()) + found["unreached"], 1)
        labels = counted(found["given"], "label")
        spread = "by Poisson learning" if found["method"] == "poisson" else "by diffusion"
        rows.append(("classes", f"{found['classes']}, from {labels} ({share:.1%}), {spread}"))
    if "doubtful" in found:
        bound = DOUBTFUL + (1 / found["classes"] if "classes" in found else 0)
        samples = counted(found["doubtful"], "sample")
        rows.append(("doubtful", f"{samples} of a confidence below {bound:.2g}"))
    if found.get("disputed"):
        labels = counted(found["disputed"], "given label")
        rows.append(("disputed", f"{labels} that the others speak against; kept"))
    if found.get("unreached"):
        rows.append(("unreached", f"{counted(found['unreached'], 'sample')}, left without label"))
    if found.get("unplaced"):
        rows.append(("unplaced", f"{counted(found['unplaced'], 'sample')} that nothing rebuilds"))
    if "outliers" in found:
        rows.append(("outliers", f"{counted(found['outliers'], 'sample')} unlike all others"))
    if "ac" in found:
        score = f"AC {found['ac']:.3f}, NMI {found['nmi']:.3f}"
        rows.append(("score", f"{score} against the labels in {truth_in}"))
    if "accuracy" in found:
        which = f"{found['scored']}{' unlabeled' if 'given' in found else ''}"
        score = f"accuracy {found['accuracy']:.3f} on the {which}"
        rows.append(("score", f"{score}, against the labels in {truth_in}"))
    return rows


def _about_samples(found: dict[str, Any]) -> str:
    if found["image_shape"] is None:
        return f"{found['samples']}, of {found['features']} values, from {found['source']}"
    size = "×".join(map(str, found["image_shape"]))
    return f"{found['samples']} images of {size}, from {found['source']}"


def _about_clusters(found: dict[str, Any]) -> str:
    sizes = found["sizes"]
    text = ", ".join(map(str, sizes))
    if len(sizes) > _MOST_SIZES:
        text = f"{min(sizes)} to {max(sizes)}"
    estimate = found.get("estimate")
    how = ""
    if estimate is not None:
        sure = "" if estimate["sure"] else "not sure, "
        how = f" (estimated: {sure}next best {estimate['runner_up']})"
    return f"{found['clusters']}{how}, of {text} samples"


def _about_placed(found: dict[str, Any], count: int) -> str:
    sizes = found["placed"]
    if len(sizes) <= _MOST_SIZES:
        return f"{count}: " + ", ".join(f"{size} in {name}" for name, size in sizes.items())
    return f"{count}, of {min(sizes.values())} to {max(sizes.values())} of the new samples"


def files(out: Path, names: dict[str, str]) -> tuple[str, str]:
    """The row of the files that were written, each with a word on what it is."""
    width = max(len(name) for name in names) + 2
    return "written", "\n".join(f"{out / f'{name:<{width}}'}{what}" for name, what in names.items())


def counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
