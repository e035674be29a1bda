"""Steps that the commands share: solving, learning, writing, and the summary at the end."""

from __future__ import annotations

import gc
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

from enhg._files import resolved
from enhg._memory import require_memory
from enhg._optional import require
from enhg._text import printable
from enhg.cli import summary
from enhg.cli.advice import next_rows
from enhg.cli.interruption import say_results_are_complete, set_outcome
from enhg.exceptions import InputError

if TYPE_CHECKING:
    import typer
    from numpy.typing import NDArray

    from enhg._checkpoint import Checkpoint
    from enhg.cli.reading import Reading
    from enhg.cli.terminal import Stages
    from enhg.io import Samples
    from enhg.io.models import SavedModel
    from enhg.run import Model, Run
    from enhg.structures.elastic_net import ElasticNetHypergraph


_UNSAVED_SECONDS = 60.0  # of a run before it writes a checkpoint that was not requested
# Workers that are cut off print a traceback; what goes wrong in them is raised here.
_WORKER_LOG = "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED"
_CONNECTION_SECONDS = 10

FILES = {
    "report.html": "the results and what to check: open it in a browser",
    "thumbnails": "the pictures of the page",
    "labels.csv": "results of every image or sample",
    "suggestions.csv": "the images to label next, best first",
    "duplicates.csv": "copies and near-copies",
    "skipped.csv": "images that could not be read",
    "folders": "a folder for each group",
    "contact-sheets": "a picture of each group",
    "model.npz": "for enhg predict",
    "hypergraph.npz": "for enhg.Hypergraph.load",
}
"""What runs write into OUT, and what it is."""

_FOLDERS = ("folders", "contact-sheets")
_THUMBNAILS = "thumbnails"
_OPTIONAL = (
    *("suggestions.csv", "duplicates.csv", "skipped.csv"),
    *(
        f"{_THUMBNAILS}/{prefix}{'[0-9]' * n_digits}.jpg"
        for prefix in ("", "fitted-")
        for n_digits in (6, 7)
    ),
)
"""Files that only some runs write; no other picture in the folder of thumbnails is one of them."""


@dataclass(frozen=True)
class Outputs:
    """What is written beside labels.csv, the model and the report: options of a command."""

    suggest: int | None = None
    folders: str | None = None
    contact_sheets: bool = False

    @property
    def new(self) -> list[str]:
        """Folders that must not hold anything of an earlier run."""
        wanted = {"folders": self.folders is not None, "contact-sheets": self.contact_sheets}
        return [name for name in _FOLDERS if wanted[name]]

    def check(self, reading: Reading, out: Path) -> None:
        """Raise InputError for options that contradict each other or the input.

        Warns of folders of an earlier run, which are never deleted.
        """
        reading.check()
        for name in _FOLDERS:
            if name not in self.new and (out / name).exists():
                warnings.warn(f"{out / name} is of an earlier run and stays as it is", stacklevel=2)
        for file in (reading.source, reading.labels):
            if file is not None:
                check_file(file, out, FILES)
        images = reading.image_folder
        if images is None and self.new:
            raise InputError(
                f"{reading.source}: {' and '.join(self.new)} are of images, got a file without "
                "them; give their folder as images",
                parameter="images",
            )
        for folder in (reading.source if reading.source.is_dir() else None, images):
            if folder is not None:
                _check_places(folder, out)


def check_file(file: Path, out: Path, names: Iterable[str]) -> None:
    """Raise InputError if results with some names would replace a file that is read."""
    place = resolved(file)
    if place.is_file() and place.parent == resolved(out) and place.name in names:
        raise InputError(
            f"{out}: the results would replace {file.name} in it, which this run reads; choose "
            "another folder, or move the file",
            parameter="out",
        )


def _check_places(images: Path, out: Path) -> None:
    """Raise InputError if images, or a Zarr folder, and results would be taken for each other."""
    if resolved(out).is_relative_to(resolved(images)):
        raise InputError(
            f"{out}: must be another folder than the input, {images}, and outside of it: the "
            "next run would read the results as input",
            parameter="out",
        )
    if resolved(images).is_relative_to(resolved(out / _THUMBNAILS)):
        raise InputError(
            f"{out}: must not have the images in its folder {_THUMBNAILS}, where the results "
            f"would replace them, got {images}",
            parameter="out",
        )


@contextmanager
def results(
    stages: Stages,
    reading: Reading,
    outputs: Outputs,
    out: Path,
    overwrite: bool,
    checkpoint: Path | None,
    dask: str | None,
) -> Iterator[tuple[Path, Checkpoint]]:
    """Folder to write the results of a run into, and its checkpoint; workers if there are any.

    The options are checked first.
    """
    from enhg.io import output_folder

    require_memory()
    with stages.warnings_shown():
        outputs.check(reading, out)
    with (
        _resumable(stages, out, checkpoint, overwrite, reading.cache) as parts,
        output_folder(out, overwrite, outputs.new, _OPTIONAL) as folder,
        _workers(dask),
    ):
        if parts.folder is not None and parts.folder.exists():
            stages.print_line(f"going on from {parts.folder}")
        yield folder, parts


@contextmanager
def _resumable(
    stages: Stages, out: Path, folder: Path | None, overwrite: bool, cache: Path | None
) -> Iterator[Checkpoint]:
    """Checkpoint of a run, from which the same command goes on after an interruption.

    Parameters
    ----------
    stages : Stages
    out : Path
        The folder of the results.
    folder : Path or None
        The folder of the checkpoint, which is kept. None: in `out`, after a minute, and removed
        by `output_folder` when the run is complete.
    overwrite : bool
        Whether the checkpoint of another run in `out` is replaced.
    cache : Path or None
        The folder of features and coefficients.
    """
    from enhg._checkpoint import Checkpoint
    from enhg.io.results import CHECKPOINT

    if folder is not None:
        if resolved(folder).is_relative_to(resolved(out)):
            raise InputError(
                f"{folder}: must be outside of the folder of the results, {out}, which must be "
                "empty for the same command to go on",
                parameter="checkpoint",
            )
        checkpoint = Checkpoint(folder)
    else:
        checkpoint = Checkpoint(out / CHECKPOINT, delay=_UNSAVED_SECONDS, replace=overwrite)

    kept = kept_progress(checkpoint.folder, cache)
    set_outcome(kept)
    try:
        yield checkpoint
    except InputError:  # the message says what to do first
        raise
    except Exception:
        if text := kept():
            stages.print_error(text)
        raise


def kept_progress(checkpoint: Path | None, cache: Path | None) -> Callable[[], str | None]:
    """Function that says where to a run has written what it computed, None if nowhere yet."""
    start = time()

    def kept() -> str | None:
        folder = checkpoint
        if folder is None or not folder.exists():
            folder = cache
            if folder is None or all(f.stat().st_mtime < start for f in folder.glob("*.npz")):
                return None
        return f"progress is kept; the same command goes on from {printable(str(folder))}"

    return kept


@contextmanager
def _workers(address: str | None) -> Iterator[None]:
    """Workers of a Dask cluster that solve blocks of samples; none without an address."""
    if address is None:
        yield
        return
    dask, distributed = require("dask", "dask"), require("distributed", "dask")
    client, fault = None, "no answer"
    try:
        if address == "local":
            with dask.config.set({_WORKER_LOG: "critical"}):
                client = distributed.Client(threads_per_worker=1, dashboard_address=None)
        else:
            client = distributed.Client(address, timeout=_CONNECTION_SECONDS)
    except (OSError, ValueError) as error:
        fault = str(error) or fault
    if client is None:
        gc.collect()  # the client that failed: collected while another is made, it waits for ever
        raise InputError(
            f"dask must be the address of a running Dask scheduler, or local, got {address} "
            f"({fault})",
            parameter="dask",
        )
    with client:
        yield


def fit_structure(
    stages: Stages,
    X: NDArray,
    members: int | None = None,
    error_weight: float | None = None,
    cache: Path | None = None,
    checkpoint: Checkpoint | None = None,
    **options: Any,
) -> ElasticNetHypergraph:
    """Represent the samples and connect them, or read what an earlier run has kept of this."""
    note = "(long on the first run only, then cached)"
    with stages.stage("compile", "importing and compiling", note):
        from enhg._validation import validated
        from enhg.io.cache import fit_cached
        from enhg.run import compile_kernels
        from enhg.structures.elastic_net import ElasticNetHypergraph
        from enhg.structures.hyperedges import HyperedgeRule

        require_memory()
        compile_kernels(X.dtype)
    with stages.stage("represent", "reconstructing every sample") as progress:
        structure = ElasticNetHypergraph(
            hyperedges=HyperedgeRule(threshold=members),
            error_weight="auto" if error_weight is None else error_weight or None,
            **options,
        )
        X.setflags(write=False)  # so that the structure keeps them without a copy
        with validated():  # by the reader
            fitted, _ = fit_cached(structure, X, cache, progress, checkpoint)
            return fitted


def cluster(
    stages: Stages,
    samples: Samples,
    structure: ElasticNetHypergraph,
    n_clusters: Any,
    **options: Any,
) -> tuple[Model, Run]:
    """Cluster the samples of a fitted structure."""
    with stages.stage("cluster", "clustering"):
        from sklearn.frozen import FrozenEstimator

        from enhg._validation import validated
        from enhg.learning.clustering import HypergraphClustering
        from enhg.run import record_clustering

        frozen = FrozenEstimator(structure)
        model = HypergraphClustering(n_clusters, structure=frozen, **options)
        with validated():
            model.fit(structure.samples_)
        return model, record_clustering(samples, model)


def classify(
    stages: Stages,
    samples: Samples,
    structure: ElasticNetHypergraph,
    given: NDArray,
    **options: Any,
) -> tuple[Model, Run]:
    """Classify the samples of a fitted structure."""
    with stages.stage("classify", "spreading labels"):
        import numpy as np
        from sklearn.frozen import FrozenEstimator

        from enhg._validation import validated
        from enhg.learning.classification import HypergraphClassifier
        from enhg.run import record_classification

        model = HypergraphClassifier(structure=FrozenEstimator(structure), **options)
        with validated():
            model.fit(structure.samples_, np.ma.MaskedArray(given, given == ""))
        return model, record_classification(samples, model)


def write(
    stages: Stages,
    folder: Path,
    out: Path,
    run: Run,
    samples: Samples,
    model: Model,
    outputs: Outputs,
) -> Run:
    """Write the results of a fit into the folder; returns the record with what was added to it."""
    from enhg.io import write_table
    from enhg.io.models import save_model
    from enhg.run import add_duplicates, add_suggestions, fitted_structure

    if outputs.suggest is not None:
        with stages.stage("suggest", "choosing images to label"):
            run = add_suggestions(run, model, outputs.suggest)
            write_table(folder / "suggestions.csv", {"name": run.suggestions or ()})
    structure = fitted_structure(model)
    with stages.stage("write", "writing"):
        run = add_duplicates(run, samples, structure)
        structure.graph_.save(folder / "hypergraph.npz")
        save_model(
            model,
            folder / "model.npz",
            image_shape=samples.image_shape,
            recipe=samples.recipe,
            names=samples.names,
            thumbnails=None if samples.photos is None else samples.photos.thumbnails,
            feature_names=samples.feature_names,
        )
        write_results(folder, run, samples, outputs)
    write_report(stages, folder, out, run, samples, model, summary.rows(run))
    return run


def write_results(folder: Path, run: Run, samples: Samples, outputs: Outputs) -> None:
    """Write the tables, and folders and contact sheets if they are wanted."""
    from enhg.duplicates import duplicate_table
    from enhg.io import write_table
    from enhg.io.results import write_skipped
    from enhg.run import label_table

    write_table(folder / "labels.csv", label_table(run))
    if samples.skipped:
        write_skipped(folder / "skipped.csv", samples.skipped)
    if run.duplicates:
        write_table(folder / "duplicates.csv", duplicate_table(run.duplicates, samples.names))
    if samples.photos is None:
        return
    if outputs.folders is not None:
        from enhg.io.folders import write_folders

        write_folders(
            folder / "folders", samples.names, samples.photos.files, run.samples.labels,
            copy=outputs.folders == "copies",
        )  # fmt: skip
    if outputs.contact_sheets:
        from enhg.io.contact import write_contact_sheets

        write_contact_sheets(
            folder / "contact-sheets", samples.photos, run.samples.labels, run.samples.confidence
        )


def write_report(
    stages: Stages,
    folder: Path,
    out: Path,
    run: Run,
    samples: Samples,
    model: Model | SavedModel,
    rows: list[summary.Row],
) -> None:
    """Write the page of the results into the folder, with links that are right in `out`."""
    from enhg import report

    with stages.stage("report", "making the page"):
        run = replace(run, stages=tuple(stages.times), warnings=tuple(stages.warnings))
        command = shlex.join(["enhg", *sys.argv[1:]])
        shown = [row for row in rows if row[0] != "skipped"]  # which the page has itself
        report.write_report(
            folder / "report.html", run, samples, model, summary=shown, command=command, out=out
        )


def print_results(stages: Stages, context: typer.Context, run: Run, files: dict[str, str]) -> None:
    """Print the summary or JSON, once the files, with their descriptions, are in place."""
    say_results_are_complete()
    out = Path(context.params["out"])
    details = summary.details_rows(run) if context.params.get("verbose") else ()
    run = replace(run, stages=tuple(stages.times), warnings=tuple(stages.warnings))
    files_row = summary.files_row(out, files)
    stages.print_rows(*summary.rows(run), *details, files_row, *next_rows(context, run))
    stages.print_json(summary.to_json(run, [str(out / name) for name in files]))
