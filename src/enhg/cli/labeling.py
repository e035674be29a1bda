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
    Out,
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

    from numpy.typing import NDArray

    from enhg.io import Samples
    from enhg.learning.clustering import HypergraphClustering

_MODEL = "model.npz"
_MAX_PORT = 65535


@errors_in_one_line
def label(
    source: Input,
    out: Out,
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

    The images of INPUT are clustered first. The page shows the clusters, which can be named as a
    whole, and the images whose labels help most. After every answer the labels spread to similar
    images, where they can be accepted. Only this machine can open the page. OUT receives

    \b
      actions.jsonl   every action, before the page confirms it. The same command
                      goes on from there, with the clusters, classes and labels
                      that it was started with; nothing is lost
      labels.csv      one row per image: name; label; decided (person; model;
                      accepted, by both); confidence; mark (none of these,
                      unsure, two things)
      labels.jsonl    the same as JSON lines
      answers.csv     the labels of the person, for enhg classify --labels
      classifier.npz  for enhg predict, on request
      folders         links or copies of the images, a folder for each class, on
                      request
      model.npz       the clusters

    \b
    Examples:
      enhg label photos/ -o labeled
      enhg label photos/ -o labeled --classes cat,dog --labels some.csv
    """
    for module in ("starlette", "uvicorn"):
        require(module, "label")
    stages = Stages(quiet, options=options_of(label))
    network = Network(model, model_size, model_mean, model_std, model_output)
    cache = cache_folder(out, no_cache)
    wanted = Reading(source, key, size, color, features, network, images, strict, cache, jobs)
    names = [name for name in (classes or "").split(",") if name.strip()]
    if _is_session(out):
        fitted, samples = _resume(stages, wanted, out)
        given = None
    else:
        match = None if labels is None else reading.open_given(wanted, labels, False)
        fitted, samples, given = _start(
            stages, wanted, out, match, names, n_clusters, seed, overwrite, preprocessing,
            memory_budget,
        )  # fmt: skip
    _run(stages, fitted, samples, out, names, given, port, not no_browser)


def _is_session(out: Path) -> bool:
    from enhg.labeling.session import LOG

    return (out / LOG).is_file() and (out / _MODEL).is_file()


def _start(
    stages: Stages,
    wanted: Reading,
    out: Path,
    match: Callable[[Samples], NDArray] | None,
    classes: list[str],
    n_clusters: int | str,
    seed: int,
    overwrite: bool,
    preprocessing: str,
    memory_budget: int | None,
) -> tuple[HypergraphClustering, Samples, NDArray | None]:
    """Cluster the images, and keep the clusters in the folder of the results."""
    from enhg.labeling.actions import class_name
    from enhg.labeling.pictures import Pictures

    for name in classes:
        class_name(name)
    with steps.results(stages, wanted, steps.Outputs(), out, overwrite, None, None) as (
        folder,
        parts,
    ):
        reading.list_folder(stages, wanted)
        reading.check_clusters(wanted, n_clusters)
        samples = reading.read(stages, wanted)
        reading.check_clusters(wanted, n_clusters, samples)
        Pictures(samples)  # refuses samples that cannot be seen, before they are clustered
        with stages.warnings_shown():
            given = None if match is None else match(samples)
        for name in [] if given is None else set(given.tolist()) - {""}:
            class_name(name)
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
    return model, samples, given


def _resume(stages: Stages, wanted: Reading, out: Path) -> tuple[HypergraphClustering, Samples]:
    """The clusters of an earlier session, and its images."""
    from enhg.io.models import read_model
    from enhg.learning.clustering import HypergraphClustering

    wanted.check()
    with stages.stage("load", "going on where it was"):
        saved = read_model(out / _MODEL)
    if not isinstance(saved.model, HypergraphClustering):
        raise InputError(f"{out / _MODEL}: must be a model of clusters, got one of classes")
    samples = reading.read_alike(stages, wanted, saved)
    if saved.names is not None and samples.names != saved.names:
        changed = sorted(set(saved.names) ^ set(samples.names)) or ["another order"]
        raise InputError(
            f"{out}: was made of other images than {wanted.source} has now ({changed[0]} is the "
            f"first of {len(changed)} that differ); put the images back, or choose another folder "
            "for the results",
            parameter="out",
        )
    _require_same(samples, saved.model, out)
    return saved.model, samples


def _require_same(samples: Samples, model: HypergraphClustering, out: Path) -> None:
    """Raise InputError if samples are not those of a model: only their names may be equal."""
    import numpy as np

    from enhg.run import fitted_structure

    stored = fitted_structure(model).samples_
    if samples.X.shape != stored.shape or not np.allclose(samples.X, stored, rtol=1e-3, atol=1e-3):
        raise InputError(
            f"{out}: was made of other images of the same names; choose another folder for the "
            "results",
            parameter="out",
        )


def _run(
    stages: Stages,
    model: HypergraphClustering,
    samples: Samples,
    out: Path,
    classes: list[str],
    given: NDArray | None,
    port: int,
    open_browser: bool,
) -> None:
    """Serve the page until Ctrl-C, then say where the labels are."""
    from enhg.labeling.export import LABELS, Exporter
    from enhg.labeling.pictures import Pictures
    from enhg.labeling.serving import serve
    from enhg.labeling.session import LabelingSession

    def announce(address: str, opened: bool) -> None:
        (stages.print_line if opened else stages.print_error)(
            f"{'opened' if opened else 'open'} {address} (Ctrl-C ends, the same command goes on)"
        )

    labels = None if given is None else given.tolist()
    pictures = Pictures(samples)
    session = LabelingSession(model, samples.names, out, classes, labels)
    with stages.stage("map", "drawing the map"):
        _ = session.places
    with unhurried():
        try:
            serve(
                session, pictures, Exporter(session, samples, out), port=port,
                open_browser=open_browser, announce=announce,
            )  # fmt: skip
        except KeyboardInterrupt:
            pass
        finally:
            session.close()
    settled = int(session.answers.settled.sum())
    count = f"{settled} of {len(samples.names)} images"
    stages.print_rows(("labeled", count), ("files", str(out / LABELS)))
