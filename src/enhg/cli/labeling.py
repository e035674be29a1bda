"""The command with which a person labels images in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enhg._optional import require
from enhg.cli import reading, steps
from enhg.cli.interruption import unhurried
from enhg.cli.options import (
    Clusters,
    Color,
    Features,
    Images,
    Input,
    Jobs,
    Key,
    Labels,
    MemoryBudget,
    ModelFile,
    ModelMean,
    ModelOutput,
    ModelSize,
    ModelStd,
    NoCache,
    Overwrite,
    Preprocessing,
    Quiet,
    Seed,
    Size,
    Strict,
    whole,
)
from enhg.cli.reading import Network, Reading, cache_folder
from enhg.cli.terminal import Stages, errors_in_one_line, options_of
from enhg.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from numpy.typing import NDArray

    from enhg.io import Samples
    from enhg.labeling.pictures import Pictures
    from enhg.labeling.session import LabelingSession
    from enhg.learning.clustering import HypergraphClustering

_MODEL, _SKIPPED = "model.npz", "skipped.csv"
_MAX_PORT = 65535
_AT_START = (
    "labels", "classes", "n_clusters", "features", "size", "color", "model", "model_size",
    "model_mean", "model_std", "model_output", "preprocessing", "seed", "overwrite",
)  # fmt: skip
"""Options that an earlier session has been started with."""


@errors_in_one_line
def label(
    context: typer.Context,
    source: Input,
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            metavar="OUT",
            help="Folder for the results: new, empty, or of a session that goes on.",
        ),
    ],
    labels: Labels = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="Names of the classes, as far as known; more can be added."
        ),
    ] = None,
    n_clusters: Clusters = "auto",
    features: Features = "auto",
    images: Images = None,
    port: Annotated[
        int,
        typer.Option(
            callback=whole(0, _MAX_PORT), metavar="N", help="Port of the page; 0 for any."
        ),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open no browser.")
    ] = False,
    strict: Strict = False,
    no_cache: NoCache = False,
    key: Key = None,
    size: Size = None,
    color: Color = False,
    model: ModelFile = None,
    model_size: ModelSize = None,
    model_mean: ModelMean = None,
    model_std: ModelStd = None,
    model_output: ModelOutput = None,
    preprocessing: Preprocessing = "auto",
    seed: Seed = 0,
    jobs: Jobs = None,
    memory_budget: MemoryBudget = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Label images by hand, many at a time, on a page in the browser.

    The images of INPUT are clustered first. The page shows the clusters, which can be labeled as a
    whole, and the images whose labels are most informative. After every action the labels spread to
    similar images, where they can be accepted. Only this machine can open the page. OUT receives

    \b
      actions.jsonl   every action, before the page confirms it. The same command
                      resumes from it, with the clusters, classes and labels
                      that it was started with
      labels.csv      one row per image: name; label; decided (person, model, or
                      accepted: a prediction that the person accepted);
                      confidence; mark (none of these, unsure, two things)
      labels.jsonl    the same as JSON lines
      answers.csv     the labels of the person, for enhg classify --labels
      classifier.npz  for enhg predict, written by Export on the page
      folders         links or copies of the images, a folder for each class, if
                      Export requests them
      model.npz       the clusters
      skipped.csv     images that could not be read or lie outside of INPUT, if
                      there are any

    \b
    Examples:
      enhg label photos/ -o labeled
      enhg label photos/ -o labeled --classes cat,dog --labels some.csv
    """
    for module in ("starlette", "uvicorn"):
        require(module, "label")
    from enhg.io.results import complete_results
    from enhg.labeling.export import ANSWERS, CLASSIFIER, LABELS, LINES
    from enhg.labeling.serving import open_port
    from enhg.labeling.session import LabelingSession

    stages = Stages(quiet, options=options_of(label))
    network = Network(model, model_size, model_mean, model_std, model_output)
    cache = cache_folder(out, no_cache)
    wanted = Reading(
        source, key, size, color, features, network, images, strict, cache, jobs, outside=False
    )
    names = [name for name in (classes or "").split(",") if name.strip()]
    options = _start_options(context)
    with open_port(port) as listening:  # first: clustering may take long
        complete_results(out)
        resumes = _is_session(out)
        if resumes:
            fitted, samples, pictures = _resume(stages, wanted, out)
        else:
            if labels is not None:
                steps.check_file(labels, out, (LABELS, LINES, ANSWERS, CLASSIFIER))
            with stages.warnings_shown():
                match = None if labels is None else reading.open_given(wanted, labels, False, 1)
            fitted, samples, pictures = _start(
                stages, wanted, out, match, names, options, n_clusters, seed, overwrite,
                preprocessing, memory_budget,
            )  # fmt: skip
        session = LabelingSession(fitted, samples.names, out)
        if resumes:
            _print_unused(stages, options, session.options)
            stages.print_line(f"resumed after {session.version} actions, {_count(session)}")
        _serve(stages, session, samples, pictures, out, listening, not no_browser)


def _is_session(out: Path) -> bool:
    from enhg.labeling.session import LOG

    return (out / LOG).is_file() and (out / _MODEL).is_file()


def _start(
    stages: Stages,
    wanted: Reading,
    out: Path,
    match: Callable[[Samples], NDArray] | None,
    classes: list[str],
    options: dict[str, str],
    n_clusters: int | str,
    seed: int,
    overwrite: bool,
    preprocessing: str,
    memory_budget: int | None,
) -> tuple[HypergraphClustering, Samples, Pictures]:
    """Cluster the images; the folder of the results receives the clusters and the log at once."""
    from enhg.io.results import write_skipped
    from enhg.labeling.pictures import Pictures
    from enhg.labeling.session import check_classes, start_log

    check_classes(classes)
    with steps.results(stages, wanted, steps.Outputs(), out, overwrite, None, None) as (
        folder,
        parts,
    ):
        reading.list_folder(stages, wanted)
        reading.check_clusters(wanted, n_clusters)
        samples = reading.read(stages, wanted)
        reading.check_clusters(wanted, n_clusters, samples)
        pictures = Pictures(samples, _shown_folder(wanted))
        if samples.skipped:
            write_skipped(folder / _SKIPPED, samples.skipped)
            stages.print_error(f"warning: {_left_out(samples)}, see {out / _SKIPPED}")
        with stages.warnings_shown():
            given = None if match is None else match(samples)
        check_classes([*classes, *([] if given is None else given.tolist())])
        structure = steps.fit_structure(
            stages, samples.X, cache=wanted.cache, checkpoint=parts, preprocessing=preprocessing,
            memory_budget=memory_budget, n_jobs=wanted.jobs,
        )  # fmt: skip
        model, _ = steps.cluster(
            stages, samples, structure, n_clusters, random_state=seed, checkpoint=parts
        )
        with stages.stage("write", "writing"):
            from enhg.io.models import save_model

            save_model(
                model, folder / _MODEL, image_shape=samples.image_shape, recipe=samples.recipe,
                names=samples.names,
            )  # fmt: skip
            labels = () if given is None else given.tolist()
            start_log(folder, samples.names, classes, labels, options)
    return model, samples, pictures


def _resume(
    stages: Stages, wanted: Reading, out: Path
) -> tuple[HypergraphClustering, Samples, Pictures]:
    """The clusters of an earlier session, its images and their pictures."""
    from enhg.io.models import read_model
    from enhg.labeling.pictures import Pictures
    from enhg.labeling.resuming import restore
    from enhg.learning.clustering import HypergraphClustering

    wanted.check()
    with stages.stage("load", "going on where it was"):
        saved = read_model(out / _MODEL)
    if not isinstance(saved.model, HypergraphClustering):
        raise InputError(f"{out / _MODEL}: must be a model of clusters, got one of classes")
    samples = reading.read_alike(stages, wanted, saved)
    folder = _shown_folder(wanted)
    if saved.names is not None:
        with stages.warnings_shown():
            samples = restore(samples, saved.names, saved.model, out, folder)
    return saved.model, samples, Pictures(samples, folder)


def _left_out(samples: Samples) -> str:
    count, first = len(samples.skipped), samples.skipped[0]
    images = "1 image is" if count == 1 else f"{count} images are"
    return f"{images} left out, first: {first.name} ({first.reason})"


def _shown_folder(wanted: Reading) -> Path:
    """The folder whose images are shown, and no others."""
    return wanted.image_folder or wanted.source.parent


def _start_options(context: typer.Context) -> dict[str, str]:
    """The options on the command line that only the start of a session takes."""
    names = options_of(label)
    given = {
        name for name in _AT_START
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    }  # fmt: skip
    return {names[name]: str(context.params[name]) for name in _AT_START if name in given}


def _print_unused(stages: Stages, given: dict[str, str], started: dict[str, str]) -> None:
    """Warn of options that differ from those that a session was started with."""
    if unused := [name for name, value in given.items() if started.get(name) != value]:
        stages.print_error(
            f"warning: {', '.join(unused)}: without effect, since the labels in the folder of the "
            "results go on as they were started; to start anew, choose another folder"
        )


def _serve(
    stages: Stages,
    session: LabelingSession,
    samples: Samples,
    pictures: Pictures,
    out: Path,
    listening: socket,
    open_browser: bool,
) -> None:
    """Serve the page until Ctrl-C, then print where the labels are."""
    from enhg.io.results import held_folder
    from enhg.labeling.export import LABELS, Exporter
    from enhg.labeling.serving import serve

    def announce(address: str) -> None:
        stages.print_error(f"open {address} (Ctrl-C stops; the same command resumes)")

    try:
        with held_folder(out):
            with stages.stage("map", "drawing the map"):
                session.prepare()
            with unhurried():
                serve(
                    session, pictures, Exporter(session, samples, out), listening,
                    open_browser=open_browser, announce=announce,
                )  # fmt: skip
    except KeyboardInterrupt:
        pass
    finally:
        session.close()
    stages.print_rows(("labels", _count(session)), ("files", str(out / LABELS)))


def _count(session: LabelingSession) -> str:
    settled = int(session.answers.settled.sum())
    return f"{settled} of {len(session.names)} images labeled or marked"
