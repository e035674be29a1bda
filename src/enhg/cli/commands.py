"""The commands of the program.

Exit codes: 0 success; 1 wrong input, a wrong option value or another failure that the user can
correct, described in one line; 2 usage; 130 interrupted. Any other exception is a bug and keeps
its traceback.

NumPy, scikit-learn, Numba and matplotlib take seconds to import: they are imported inside
functions, so that ``--help`` and usage errors do not wait for them.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import enhg
from enhg.cli import summary
from enhg.cli.options import (
    Alpha,
    Clusters,
    Color,
    ErrorWeight,
    Gamma,
    Input,
    Jobs,
    Json,
    Key,
    Labels,
    Lam,
    Members,
    MemoryBudget,
    Method,
    Out,
    Overwrite,
    Preprocessing,
    Quiet,
    Seed,
    Size,
    Suggest,
)
from enhg.cli.terminal import Stages, errors_in_one_line
from enhg.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from enhg.io import Samples
    from enhg.run import Model, Run
    from enhg.structures.elastic_net import ElasticNetHypergraph

_FILES = {
    "report.html": "the results as a page",
    "labels.csv": "results of every sample",
    "model.npz": "for enhg predict",
    "hypergraph.npz": "for enhg.Hypergraph.load",
}
_DEMO_FILES = {
    "report.html": "the clusters as a page",
    "clusters.png": "every cluster, most confident first",
    "embedding.png": "the digits as points; the spectrum",
    "confusion.png": "clusters and predicted classes against true classes",
    "hyperedges.png": "members and reconstructions of five digits",
    "labels.csv": "cluster, predicted and true class of every digit",
    "hypergraph.npz": "for enhg.Hypergraph.load",
}

app = typer.Typer(
    name="enhg",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"enhg {enhg.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Cluster images without labels, or classify them from a few labels.

    Every sample is reconstructed from the others by an elastic net; it forms a hyperedge with
    the samples of its largest coefficients. Clustering and classification work on the hypergraph
    of all samples.

    Start with:  enhg demo
    """


@app.command()
@errors_in_one_line
def cluster(
    source: Input,
    out: Out,
    n_clusters: Clusters = "auto",
    key: Key = None,
    size: Size = None,
    color: Color = False,
    gamma: Gamma = 10,
    lam: Lam = 5,
    members: Members = None,
    preprocessing: Preprocessing = "auto",
    error_weight: ErrorWeight = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    memory_budget: MemoryBudget = None,
    suggest: Suggest = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Cluster images without labels.

    INPUT is a folder of images (of one size, or see --size) or a file with one row per sample.
    OUT receives

    \b
      report.html     a page with the clusters, a map, and samples of low
                      confidence
      labels.csv      one row per sample: name; label, 0 to K-1; confidence from 0
                      (between two clusters) to 1; outlier score from 0 to 1;
                      boundary score, the probability that a random walk leaves
                      the cluster in one step; residual, relative to the sample
      model.npz       for enhg predict, and enhg.load_model
      hypergraph.npz  for enhg.Hypergraph.load

    True labels in the file are used only for the score at the end.

    \b
    Examples:
      enhg cluster photos/ -o result --size 32x32
      enhg cluster faces.mat -k 38 -o result --key fea
    """
    from enhg.io import output_folder

    stages = Stages(quiet, as_json)
    with output_folder(out, overwrite) as folder:
        samples = _read(stages, source, key, size, color)
        if n_clusters != "auto" and n_clusters > len(samples.X):
            raise InputError(
                f"n_clusters must be at most the number of samples ({len(samples.X)}), got "
                f"{n_clusters}",
                parameter="n_clusters",
            )
        structure = _fit_structure(
            stages, samples.X, members, error_weight, gamma=gamma, lam=lam,
            preprocessing=preprocessing, memory_budget=memory_budget, n_jobs=jobs,
        )  # fmt: skip
        model, run = _cluster(stages, samples, structure, n_clusters, seed)
        run = _write(stages, folder, run, samples, model, suggest)
    _print_results(stages, out, run)


@app.command()
@errors_in_one_line
def classify(
    source: Input,
    labels: Labels,
    out: Out,
    key: Key = None,
    size: Size = None,
    color: Color = False,
    method: Method = "auto",
    alpha: Alpha = 0.98,
    gamma: Gamma = 10,
    lam: Lam = 5,
    members: Members = None,
    preprocessing: Preprocessing = "auto",
    error_weight: ErrorWeight = None,
    jobs: Jobs = None,
    memory_budget: MemoryBudget = None,
    suggest: Suggest = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Classify images from the labels of a few.

    INPUT is a folder of images (of one size, or see --size) or a file with one row per sample;
    FILE labels some of them, of two classes or more. OUT receives

    \b
      report.html     a page with the classes, a map, and samples of low
                      confidence
      labels.csv      one row per sample: name; label; confidence; outlier score,
                      boundary score and residual, see enhg cluster --help;
                      given, yes where FILE holds the label. No label and
                      confidence 0 where no label spreads to
      model.npz       for enhg predict, and enhg.load_model
      hypergraph.npz  for enhg.Hypergraph.load

    True labels in INPUT are used only for the score at the end.

    \b
    Examples:
      enhg classify photos/ --labels some.csv -o result --size 32x32
      enhg classify faces.mat --labels some.npy -o result
    """
    from enhg.io import output_folder, read_labels

    stages = Stages(quiet, as_json)
    with output_folder(out, overwrite) as folder:
        samples = _read(stages, source, key, size, color)
        given = read_labels(labels, samples.names, samples.labels)
        if len(classes := set(given) - {""}) < 2:
            raise InputError(
                f"{labels}: must hold labels of at least two classes, got only '{classes.pop()}'",
                parameter="labels",
            )
        structure = _fit_structure(
            stages, samples.X, members, error_weight, gamma=gamma, lam=lam,
            preprocessing=preprocessing, memory_budget=memory_budget, n_jobs=jobs,
        )  # fmt: skip
        model, run = _classify(stages, samples, structure, given, method=method, alpha=alpha)
        run = _write(stages, folder, run, samples, model, suggest)
    _print_results(stages, out, run)


@app.command()
@errors_in_one_line
def predict(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="model.npz of enhg cluster or enhg classify.")
    ],
    source: Input,
    out: Out,
    key: Key = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Assign new images to the clusters or classes of a model.

    Each is reconstructed from the samples of MODEL, which are not clustered or classified again.
    The images of a folder are resized, and turned to gray if the model's are. OUT receives

    \b
      labels.csv  one row per sample: name; label; confidence; outlier score from
                  0 to 1. No label (-1 for a cluster) and confidence 0 where all
                  coefficients are zero

    True labels in INPUT are used only for the score at the end.

    \b
    Examples:
      enhg predict result/model.npz new-photos/ -o assigned
      enhg predict result/model.npz more.npy -o assigned --json
    """
    from enhg.io import output_folder, write_table

    stages = Stages(quiet, as_json)
    with output_folder(out, overwrite) as folder:
        with stages.stage("load", "loading the model"):
            from enhg.io.models import read_model
            from enhg.run import label_table, record_prediction

            model, image_shape = read_model(model_file)
        size = image_shape[:2] if image_shape is not None and source.is_dir() else None
        color = image_shape is not None and len(image_shape) == 3
        samples = _read(stages, source, key, size, color, min_samples=1)
        if samples.X.shape[1] != model.n_features_in_:
            raise InputError(
                f"{source}: samples must have the {model.n_features_in_} features of {model_file}, "
                f"got {samples.X.shape[1]}"
            )
        with stages.stage("represent", "reconstructing every sample") as progress:
            prediction = model.predict_with_scores(samples.X, progress=progress)
        run = record_prediction(samples, model, prediction)
        with stages.stage("write", "writing"):
            write_table(folder / "labels.csv", label_table(run))
    _print_results(stages, out, run)


@app.command()
@errors_in_one_line
def demo(
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="OUT", help="Folder for the results.")
    ] = Path("enhg-demo"),
    seed: Seed = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Cluster and classify 1797 handwritten digits.

    They are part of scikit-learn; nothing is downloaded. The digits are clustered without labels,
    then classified from 5 % of the labels; both results are scored against the true labels. OUT
    receives a page, four pictures, the labels and the hypergraph.

    \b
    Examples:
      enhg demo
      enhg demo -o somewhere/else --seed 1
    """
    from enhg.io import output_folder, write_table

    stages = Stages(quiet)
    with output_folder(out, overwrite) as folder:
        with stages.stage("load", "loading"):
            from enhg import demo

            samples = demo.load_samples()
            given = demo.choose_labels(samples, seed)
        structure = _fit_structure(stages, samples.X)
        clusters, run = _cluster(stages, samples, structure, "auto", seed)
        classes, classified = _classify(stages, samples, structure, given)
        with stages.stage("draw", "drawing"):
            demo.save_figures(folder, samples, structure, clusters, classes)
        rows = [*summary.rows(run), *summary.group_rows(classified)]
        with stages.stage("write", "writing"):
            write_table(folder / "labels.csv", demo.label_table(run, classified, samples))
            structure.graph_.save(folder / "hypergraph.npz")
        _write_report(stages, folder, run, samples, clusters, rows)
    hint = f"open {out / 'report.html'}; for other images: enhg cluster --help"
    stages.print_rows(*rows, summary.files_row(out, _DEMO_FILES), ("next", hint))


def _read(
    stages: Stages,
    source: Path,
    key: str | None,
    size: tuple[int, ...] | None,
    color: bool,
    min_samples: int = 2,
) -> Samples:
    from enhg.io import read_samples

    pixels = None if size is None else (size[0], size[1])
    with stages.stage("read", "reading") as progress:
        samples = read_samples(source, key=key, size=pixels, gray=not color, progress=progress)
        if len(samples.X) < min_samples:
            raise InputError(f"{source}: must hold at least two samples, got one")
    return samples


def _fit_structure(
    stages: Stages,
    X: NDArray,
    members: int | None = None,
    error_weight: float | None = None,
    **options: Any,
) -> ElasticNetHypergraph:
    note = "(long on the first run only, then cached)"
    with stages.stage("compile", "importing and compiling", note):
        from enhg._validation import validated
        from enhg.run import compile_kernels
        from enhg.structures.elastic_net import ElasticNetHypergraph
        from enhg.structures.hyperedges import HyperedgeRule

        compile_kernels(X.dtype)
    with stages.stage("represent", "reconstructing every sample") as progress:
        structure = ElasticNetHypergraph(
            hyperedges=HyperedgeRule(threshold=members),
            error_weight="auto" if error_weight is None else error_weight or None,
            **options,
        )
        with validated():  # by the reader
            return structure.fit(X, progress=progress)


def _cluster(
    stages: Stages, samples: Samples, structure: ElasticNetHypergraph, n_clusters: Any, seed: int
) -> tuple[Model, Run]:
    with stages.stage("cluster", "clustering"):
        from sklearn.frozen import FrozenEstimator

        from enhg._validation import validated
        from enhg.learning.clustering import HypergraphClustering
        from enhg.run import record_clustering

        frozen = FrozenEstimator(structure)
        model = HypergraphClustering(n_clusters, structure=frozen, random_state=seed)
        with validated():
            model.fit(structure.samples_)
        return model, record_clustering(samples, model)


def _classify(
    stages: Stages,
    samples: Samples,
    structure: ElasticNetHypergraph,
    given: NDArray,
    **options: Any,
) -> tuple[Model, Run]:
    with stages.stage("classify", "spreading labels"):
        from sklearn.frozen import FrozenEstimator

        from enhg._validation import validated
        from enhg.learning.classification import HypergraphClassifier
        from enhg.run import record_classification

        model = HypergraphClassifier(structure=FrozenEstimator(structure), **options)
        with validated():
            model.fit(structure.samples_, given)
        return model, record_classification(samples, model)


def _write(
    stages: Stages, folder: Path, run: Run, samples: Samples, model: Model, suggest: int | None
) -> Run:
    """Write the results into the folder; returns the record with suggestions."""
    from enhg.io import write_table
    from enhg.io.models import save_model
    from enhg.run import add_suggestions, fitted_structure, label_table

    if suggest is not None:
        with stages.stage("suggest", "choosing samples to label"):
            run = add_suggestions(run, model, suggest)
            write_table(folder / "suggestions.csv", {"name": run.suggestions or ()})
    with stages.stage("write", "writing"):
        write_table(folder / "labels.csv", label_table(run))
        fitted_structure(model).graph_.save(folder / "hypergraph.npz")
        save_model(model, folder / "model.npz", image_shape=samples.image_shape)
    _write_report(stages, folder, run, samples, model, summary.rows(run))
    return run


def _write_report(
    stages: Stages,
    folder: Path,
    run: Run,
    samples: Samples,
    model: Model,
    rows: list[summary.Row],
) -> None:
    from enhg.report import write_report

    with stages.stage("report", "making the page"):
        run = replace(run, stages=tuple(stages.times), warnings=tuple(stages.warnings))
        command = shlex.join(["enhg", *sys.argv[1:]])
        write_report(folder / "report.html", run, samples, model, summary=rows, command=command)


def _print_results(stages: Stages, out: Path, run: Run) -> None:
    """Print the summary or JSON, once the results are in place."""
    run = replace(run, stages=tuple(stages.times), warnings=tuple(stages.warnings))
    files = dict(_FILES)
    if run.kind == "predict":
        files = {"labels.csv": _FILES["labels.csv"]}
    elif run.suggestions is not None:
        files["suggestions.csv"] = "the samples to label next, best first"
    stages.print_rows(*summary.rows(run), summary.files_row(out, files))
    stages.print_json(summary.to_json(run, [str(out / name) for name in files]))
