"""The record of a run as lines of text and as an object for JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enhg.run import Group, InputFigures, Run

Row = tuple[str, str]

_MOST_SIZES = 10  # groups up to which every size is listed

_METHODS = {
    "diffusion": "diffusion",
    "poisson": "Poisson learning",
    "discriminant": "diffusion of linear discriminants",
    "self_training": "self-training",
}


def rows(run: Run) -> list[Row]:
    """Lines of the summary: a name and a text each."""
    lines = [("samples", _input_text(run.input))]
    if run.structure is not None:
        support = f"{run.structure.mean_support:.1f} non-zero coefficients per sample on average"
        edges = f"{run.structure.n_hyperedges} hyperedges"
        components = counted(run.structure.n_components, "component")
        lines += [
            ("support", f"{support}; largest certificate {run.structure.certificate:.1e}"),
            ("hypergraph", f"{edges}, {components}"),
        ]
    lines.append(("outliers", counted(int(run.samples.is_outlier.sum()), "sample")))
    return [*lines, *group_rows(run)]


def group_rows(run: Run) -> list[Row]:
    """Lines about clusters or classes, their confidence and their scores."""
    low = counted(int(run.samples.low_confidence.sum()), "sample")
    lines = [("clusters" if run.grouping == "cluster" else "classes", _groups_text(run))]
    lines.append(("confidence", f"below {run.confidence_threshold:.2g} for {low}"))
    if run.spreading is not None and run.spreading.n_disputed:
        labels = counted(run.spreading.n_disputed, "given label")
        differs = "differs" if run.spreading.n_disputed == 1 else "differ"
        lines.append(("disputed", f"{labels} that {differs} from the label distribution; kept"))
    if run.n_unreached:
        lines.append(("unreached", f"{counted(run.n_unreached, 'sample')} without a label"))
    if run.scores is not None:
        lines.append(("score", _score_text(run)))
    return lines


def files_row(out: Path, files: dict[str, str]) -> Row:
    """The line of the files that were written, each with its description."""
    width = max(len(name) for name in files) + 2
    return "written", "\n".join(f"{out / f'{name:<{width}}'}{text}" for name, text in files.items())


def to_json(run: Run, files: list[str]) -> dict[str, Any]:
    """The record without its columns, for ``--json``."""
    columns = run.samples
    figures: dict[str, Any] = {
        "command": run.kind,
        "samples": run.input.n_samples,
        "features": run.input.n_features,
        "image_shape": run.input.image_shape and list(run.input.image_shape),
        "source": run.input.source,
        "clusters" if run.grouping == "cluster" else "classes": len(run.groups),
        "sizes": {group.name: group.size for group in run.groups},
        "low_confidence": int(columns.low_confidence.sum()),
        "outliers": int(columns.is_outlier.sum()),
        "unreached": run.n_unreached,
    }
    if (structure := run.structure) is not None:
        figures |= {
            "preprocessing": structure.preprocessing,
            "mean_support": round(structure.mean_support, 2),
            "certificate": structure.certificate,
            "hyperedges": structure.n_hyperedges,
            "components": structure.n_components,
            "largest_component": structure.largest_component,
        }
    if run.estimate is not None:
        figures["estimate"] = vars(run.estimate)
    if run.spreading is not None:
        figures |= {
            "method_weights": dict(run.spreading.method_weights),
            "given": run.spreading.n_given,
            "disputed": run.spreading.n_disputed,
        }
    if run.scores is not None:
        names = {"ac": "ac", "nmi": "nmi", "accuracy": "accuracy", "scored": "n_scored"}
        values = {name: getattr(run.scores, field) for name, field in names.items()}
        figures |= {name: value for name, value in values.items() if value is not None}
    if run.suggestions is not None:
        figures["suggestions"] = list(run.suggestions)
    seconds = {name: round(value, 3) for name, value in run.stages}
    return figures | {"files": files, "seconds": seconds, "warnings": list(run.warnings)}


def counted(number: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "label"), counted(2, "label")
    ('1 label', '2 labels')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _input_text(figures: InputFigures) -> str:
    if figures.image_shape is None:
        return f"{figures.n_samples} of {figures.n_features} features, from {figures.source}"
    size = "×".join(map(str, figures.image_shape))
    return f"{figures.n_samples} images of {size}, from {figures.source}"


def _groups_text(run: Run) -> str:
    count = len(run.groups)
    if run.spreading is not None:
        labels = counted(run.spreading.n_given, "label")
        share = run.spreading.n_given / run.input.n_samples
        methods = _methods_text(run.spreading.method_weights)
        return f"{count}, from {labels} ({share:.1%}) by {methods}"
    estimate = ""
    if run.estimate is not None:
        reliable = "" if run.estimate.reliable else ", not reliable"
        estimate = f" (estimated{reliable}; runner-up {run.estimate.runner_up})"
    return f"{count}{estimate}, of {_sizes_text(run.groups, named=run.kind == 'predict')}"


def _methods_text(weights: Mapping[str, float]) -> str:
    """The methods whose weight is not 0 % when rounded; with weights if several, largest first."""
    shown = (name for name in weights if round(100 * weights[name]) > 0)
    names = sorted(shown, key=lambda name: -weights[name])
    if len(names) == 1:
        return _METHODS[names[0]]
    return ", ".join(f"{_METHODS[name]} ({weights[name]:.0%})" for name in names)


def _sizes_text(groups: tuple[Group, ...], *, named: bool) -> str:
    sizes = [group.size for group in groups]
    if len(groups) > _MOST_SIZES:
        return f"{min(sizes)} to {max(sizes)} samples"
    texts = [f"{group.size} ({group.name})" if named else f"{group.size}" for group in groups]
    return f"{', '.join(texts)} samples"


def _score_text(run: Run) -> str:
    scores = run.scores
    assert scores is not None
    against = f"against the labels in {Path(run.input.source).name}"
    if scores.accuracy is None:
        return f"AC {scores.ac:.3f}, NMI {scores.nmi:.3f} {against}"
    unlabeled = "" if run.spreading is None else "unlabeled "
    samples = counted(scores.n_scored, f"{unlabeled}sample")
    return f"accuracy {scores.accuracy:.3f} on the {samples}, {against}"
