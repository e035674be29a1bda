"""The record of a run as lines of text and as an object for JSON."""

from __future__ import annotations

import os
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enhg._text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enhg.io import Samples
    from enhg.run import Group, InputFigures, Run

Row = tuple[str, str]

_MOST_SIZES = 10  # groups up to which every size is listed
_LONGEST_NAME = 30  # of a class, in characters
_MOST_SKIPPED = 10  # images that are named

_METHODS = {
    "diffusion": "diffusion",
    "poisson": "Poisson learning",
    "discriminant": "diffusion of linear discriminants",
    "self_training": "self-training",
}


def rows(run: Run) -> list[Row]:
    """Lines of the summary, a name and a text each."""
    lines = [(f"{noun(run)}s", _input_text(run)), *group_rows(run)]
    if unusual := int(run.samples.is_outlier.sum()):
        lines.append(("unusual", f"{counted(unusual, noun(run))} unlike all others"))
    if run.duplicates:
        images = counted(sum(len(group.members) for group in run.duplicates), noun(run))
        groups = counted(len(run.duplicates), "group")
        lines.append(("copies", f"{images} in {groups} of copies or near-copies"))
    return [*lines, *score_rows(run), *_skipped_rows(run.input)]


def details_rows(run: Run) -> list[Row]:
    """The line of the figures of the representation, if the run has made one."""
    return [] if run.structure is None else [("details", _details_text(run))]


def score_rows(run: Run) -> list[Row]:
    """The line of the score, where true labels are known."""
    return [] if run.scores is None else [("score", _score_text(run))]


def group_rows(run: Run) -> list[Row]:
    """Lines about clusters or classes, and their confidence."""
    lines = [("clusters" if run.grouping == "cluster" else "classes", _groups_text(run))]
    lines.append(("confidence", _confidence_text(run)))
    if run.spreading is not None and run.spreading.n_disputed:
        labels = counted(run.spreading.n_disputed, "given label")
        verb = "contradicts" if run.spreading.n_disputed == 1 else "contradict"
        lines.append(("disputed", f"{labels} that {verb} similar {noun(run)}s; kept"))
    if run.n_unreached:
        lines.append(("unreached", f"{counted(run.n_unreached, noun(run))} without a label"))
    return lines


def feature_rows(samples: Samples) -> list[Row]:
    """Lines about the features of a folder of images."""
    from enhg.run import input_figures

    figures = input_figures(samples)
    return [
        ("images", _images_text(figures)),
        ("features", f"{figures.n_features} of every image"),
        *_skipped_rows(figures),
    ]


def _skipped_rows(figures: InputFigures) -> list[Row]:
    """The line of the images that could not be read, the first few of them with the reason."""
    if not figures.skipped:
        return []
    texts = [
        printable(f"{image.name} ({image.reason})") for image in figures.skipped[:_MOST_SKIPPED]
    ]
    if more := len(figures.skipped) - len(texts):
        texts.append(f"and {more} more")
    return [("skipped", "\n".join(texts))]


def files_row(out: Path, files: dict[str, str]) -> Row:
    """The line of the folder, and one of every file written there with its description."""
    width = max(len(name) for name in files) + 2
    lines = [f"{printable(name):<{width}}{text}" for name, text in files.items()]
    return "written", "\n".join([printable(f"{out}{os.sep}"), *lines])


def to_json(run: Run, files: list[str]) -> dict[str, Any]:
    """The record without its columns, for ``--json``."""
    columns = run.samples
    figures: dict[str, Any] = {
        "command": run.kind,
        "samples": run.input.n_samples,
        "features": run.input.n_features,
        "image_shape": run.input.image_shape and list(run.input.image_shape),
        "source": run.input.source,
        "compared_by": run.input.description or None,
        "skipped": len(run.input.skipped),
        "ignored": run.input.n_ignored,
        "clusters" if run.grouping == "cluster" else "classes": len(run.groups),
        "sizes": {group.name: group.size for group in run.groups},
        "low_confidence": int(columns.low_confidence.sum()),
        "outliers": int(columns.is_outlier.sum()),
        "unreached": run.n_unreached,
        "duplicates": [[columns.names[row] for row in group.members] for group in run.duplicates],
    }
    if (structure := run.structure) is not None:
        figures |= {
            "preprocessing": structure.preprocessing,
            "mean_support": round(structure.mean_support, 2),
            "certificate": structure.certificate,
            "median_violation": structure.median_violation,
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


def percent(share: float, digits: int = 0) -> str:
    """A share in percent; 0 and 100 % only where it is, to the four decimals of the tables.

    >>> percent(0.42), percent(1.0), percent(0.998), percent(0.0005), percent(0.9996, 1)
    ('42%', '100%', 'over 99%', 'under 1%', 'over 99.9%')
    """
    text = f"{share:.{digits}%}"
    step = 10.0**-digits
    if text == f"{1:.{digits}%}" and round(share, 4) < 1:
        return f"over {100 - step:.{digits}f}%"
    if text == f"{0:.{digits}%}" and round(share, 4) > 0:
        return f"under {step:.{digits}f}%"
    return text


def noun(run: Run) -> str:
    """What a sample is called: an image if it is known to be one."""
    is_image = run.input.image_shape is not None or run.input.has_photos
    return "image" if is_image else "sample"


def _input_text(run: Run) -> str:
    figures = run.input
    if figures.description:
        return _images_text(figures)
    source = printable(figures.source)
    if figures.image_shape is None:
        return f"{figures.n_samples} of {figures.n_features} features, from {source}"
    size = "×".join(map(str, figures.image_shape))
    return f"{figures.n_samples} of {size}, from {source}"


def _images_text(figures: InputFigures) -> str:
    """Images of a folder: their number, what they are compared by and why, what is left out."""
    source = printable(figures.source)
    lines = [f"{figures.n_samples}, from {source}", f"compared by {figures.description}"]
    left_out = []
    if figures.skipped:
        left_out.append(f"{counted(len(figures.skipped), 'image')} could not be read")
    if figures.n_ignored:
        verb = "is" if figures.n_ignored == 1 else "are"
        left_out.append(f"{counted(figures.n_ignored, 'file')} {verb} no image")
    return "\n".join([*lines, *(["; ".join(left_out)] if left_out else [])])


def _confidence_text(run: Run) -> str:
    """The confidence of half of the samples, and how many to check, of which confidence."""
    if isnan(run.median_confidence):
        return "no label was predicted"
    low = int(run.samples.low_confidence.sum())
    if not low:
        return f"all {percent(run.median_confidence)}"
    median, threshold = percent(run.median_confidence), percent(run.confidence_threshold)
    if median[0].isdigit() and median != "100%":
        median = f"at least {median}"
    half = f"half of the {noun(run)}s {median}"
    if low == 1:
        return f"{half}; check the one of lowest confidence first ({threshold})"
    if threshold[0].isdigit() and run.confidence_threshold > 0:
        threshold += " or less"
    elif threshold.startswith("over"):
        threshold = "below 100%"
    return f"{half}; check the {low} of lowest confidence first ({threshold})"


def _details_text(run: Run) -> str:
    structure = run.structure
    assert structure is not None
    first = (
        f"preprocessing {structure.preprocessing}; {structure.mean_support:.1f} non-zero "
        f"coefficients per sample on average, largest certificate {structure.certificate:.1e}"
    )
    if structure.median_violation is not None:
        first += (
            f" over the candidates; over all samples about {structure.median_violation:.1g}, as "
            "only similar samples are compared"
        )
    edges = f"{structure.n_hyperedges} hyperedges"
    second = f"{edges}, {counted(structure.n_components, 'component')}"
    if run.spreading is not None:
        second += f"; {_methods_text(run.spreading.method_weights)}"
    return f"{first}\n{second}"


def _groups_text(run: Run) -> str:
    count = len(run.groups)
    if run.spreading is not None:
        labels = counted(run.spreading.n_given, "label")
        share = run.spreading.n_given / run.input.n_samples
        return f"{count}, from {labels} ({percent(share, 1)})\n{_sizes_text(run)}"
    estimate = ""
    if run.estimate is not None and run.estimate.all_equal:
        return f"1, since no two of the {run.input.n_samples} {noun(run)}s differ"
    if run.estimate is not None:
        reliable = "" if run.estimate.reliable else ", not reliable"
        runner_up = ""
        if run.estimate.runner_up != run.estimate.n_clusters:  # else no other number was scored
            runner_up = f"; next peak {run.estimate.runner_up}"
        estimate = f" (estimated{reliable}{runner_up})"
    return f"{count}{estimate}\n{_sizes_text(run)}"


def _methods_text(weights: Mapping[str, float]) -> str:
    """The methods whose weight is not 0 % when rounded; with weights if several, largest first."""
    shown = (name for name in weights if round(100 * weights[name]) > 0)
    names = sorted(shown, key=lambda name: -weights[name])
    if len(names) == 1:
        return _METHODS[names[0]]
    return ", ".join(f"{_METHODS[name]} ({weights[name]:.0%})" for name in names)


def _sizes_text(run: Run) -> str:
    """The size of every group, or of the smallest and the largest."""
    groups = sorted(run.groups, key=lambda group: group.size)
    if len(groups) <= _MOST_SIZES:
        return f"{', '.join(map(_size_text, run.groups))} {noun(run)}s"
    if groups[0].size == groups[-1].size:
        return f"{counted(groups[0].size, noun(run))} each"
    return f"from {_size_text(groups[0])} to {_size_text(groups[-1])} {noun(run)}s"


def _size_text(group: Group) -> str:
    name = printable(group.name)
    name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return f"{name}: {group.size}"


def _score_text(run: Run) -> str:
    scores = run.scores
    assert scores is not None
    against = f"against the labels in {printable(Path(run.input.source).name)}"
    if scores.accuracy is None:
        labeled = counted(scores.n_scored, f"labeled {noun(run)}")
        part = "" if scores.n_scored == run.input.n_samples else f"on the {labeled}, "
        return f"AC {scores.ac:.3f}, NMI {scores.nmi:.3f} {part}{against}"
    unlabeled = "" if run.spreading is None else "unlabeled "
    samples = counted(scores.n_scored, f"{unlabeled}{noun(run)}")
    return f"accuracy {scores.accuracy:.3f} on the {samples}, {against}"
