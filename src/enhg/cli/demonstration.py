"""The two demonstrations of ``enhg demo``: digits and photographs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from enhg.cli import reading, steps, summary
from enhg.cli.reading import Reading

if TYPE_CHECKING:
    from enhg.cli.terminal import Stages
    from enhg.run import Run


def sort_digits(stages: Stages, folder: Path, seed: int) -> list[summary.Row]:
    """Cluster and classify digits, write the results; returns the lines of the summary."""
    from enhg.io import write_table

    with stages.stage("load", "loading"):
        from enhg import demo
        from enhg.plotting._drawing import check_installed

        check_installed()
        samples = demo.load_samples()
        given = demo.choose_labels(samples, seed)
    structure = steps.fit_structure(stages, samples.X)
    clusters, run = steps.cluster(stages, samples, structure, "auto", random_state=seed)
    classes, classified = steps.classify(stages, samples, structure, given)
    with stages.stage("draw", "drawing"):
        demo.save_figures(folder, samples, structure, clusters, classes)
    rows = _both(run, classified)
    with stages.stage("write", "writing"):
        write_table(folder / "labels.csv", demo.label_table(run, classified, samples))
        structure.graph_.save(folder / "hypergraph.npz")
    steps.write_report(stages, folder, folder, run, samples, clusters, rows)
    return rows


def sort_photos(stages: Stages, folder: Path, seed: int) -> list[summary.Row]:
    """Cluster and classify photographs, write the results; returns the lines of the summary."""
    with stages.stage("load", "making photographs"):
        import numpy as np

        from enhg import demo
        from enhg.run import add_duplicates

        classes = demo.make_photos(folder / "photos", seed)
    samples = reading.read(stages, Reading(folder / "photos", features="network"))
    truth = np.array([classes[name] for name in samples.names])
    samples = replace(samples, labels=truth, source=Path("photos"))
    given = demo.choose_photo_labels(truth, seed)
    structure = steps.fit_structure(stages, samples.X)
    clusters, run = steps.cluster(stages, samples, structure, "auto", random_state=seed)
    _, classified = steps.classify(stages, samples, structure, given)
    run = add_duplicates(run, samples, structure)
    rows = _both(run, classified)
    with stages.stage("write", "writing"):
        steps.write_results(folder, run, samples, steps.Outputs(None, "copies", True))
    steps.write_report(stages, folder, folder, run, samples, clusters, rows)
    return rows


def _both(clustered: Run, classified: Run) -> list[summary.Row]:
    """The lines of a clustering, and those of a classification that are its own."""
    return [
        *summary.rows(clustered),
        *summary.group_rows(classified),
        *summary.score_rows(classified),
    ]
