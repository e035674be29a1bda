"""The program `enhg`: words to calls, no numerics.

Exit codes: 0 done; 1 the input or an option is wrong, or the run failed for a cause that the user
can mend, said in one line; 2 usage; 130 interrupted. Anything else is a bug and shows where.

NumPy, scikit-learn, Numba and matplotlib take seconds to load, so they are imported where they
are used: `--help` and mistyped options answer at once.
"""

from __future__ import annotations

import io
import shlex
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

import enhg
from enhg.cli.options import (
    Color,
    ErrorWeight,
    Gamma,
    Input,
    Jobs,
    Json,
    Key,
    Lam,
    Members,
    MemoryBudget,
    Out,
    Overwrite,
    Preprocessing,
    Quiet,
    Seed,
    Size,
    Suggest,
    number_of_clusters,
    one_of_the_methods,
    open_fraction,
)
from enhg.cli.terminal import Stages, errors_in_one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from enhg.io import Samples
    from enhg.learning.classification import HypergraphClassifier
    from enhg.learning.clustering import HypergraphClustering
    from enhg.structures.elastic_net import ElasticNetHypergraph

_DEMO_LABELED = 0.05
_FILES = {
    "report.html": "a page to look at",
    "labels.csv": "label, confidence and more of every sample",
    "model.npz": "for enhg predict",
    "hypergraph.npz": "for enhg.Hypergraph.load",
}
_DEMO_FILES = {
    "report.html": "a page with all of it",
    "clusters.png": "every cluster, most confident first",
    "embedding.png": "the digits as points; the spectrum",
    "confusion.png": "clusters and labels against the truth",
    "hyperedges.png": "what digits are rebuilt from",
    "labels.csv": "cluster, label and truth of every digit",
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


def main() -> None:
    """Run the program on the words of the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for names no encoding can write
    signal.signal(signal.SIGTERM, _stop)  # so that nothing half-made is left behind
    app(prog_name="enhg")


def _stop(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


def _print_version(wanted: bool) -> None:
    if wanted:
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
    """Cluster images without labels, or label them all from a few.

    Every image is rebuilt from a few others (the elastic net); it and those that matter most
    form a hyperedge, and the hypergraph of all of them tells which images belong together.

    Start with:  enhg demo
    """


# --- the commands --------------------------------------------------------------------------


@app.command()
@errors_in_one_line()
def cluster(
    source: Input,
    out: Out,
    n_clusters: Annotated[
        Any,
        typer.Option(
            "-k",
            "--clusters",
            parser=number_of_clusters,
            metavar="K",
            help="How many clusters to make; auto estimates it.",
        ),
    ] = "auto",
    key: Key = None,
    size: Size = None,
    color: Color = False,
    gamma: Gamma = 10,
    lam: Lam = 5,
    members: Members = 10,
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
    """Sort images into K clusters, without any labels.

    INPUT is a folder of images (of one size, or see --size) or a file of numbers with one row a
    sample. OUT receives

    \b
      report.html     a page to look at: the clusters, a map, what is doubtful
      labels.csv      one row an input: name; label, 0 to K-1; confidence from 0
                      (between two clusters) to 1; outlier, from 0 to 1 (like no
                      other); foreign, the part of its hyperedges that belongs to
                      other clusters; error, the part that others cannot rebuild
      model.npz       for enhg predict, and enhg.load_model
      hypergraph.npz  for enhg.Hypergraph.load

    True labels that the file holds are used for nothing but the score printed at the end.

    \b
    Examples:
      enhg cluster photos/ -o result --size 32x32
      enhg cluster faces.mat -k 38 -o result --key fea
    """
    from enhg.io import InputError, output_folder

    stages = Stages(quiet, as_json)
    with output_folder(out, overwrite) as folder:
        samples = _read(stages, source, key, size, color)
        if n_clusters != "auto" and n_clusters > len(samples.X):
            raise InputError(f"-k {n_clusters}: {source} holds only {len(samples.X)} samples")
        structure = _represent(
            stages,
            samples.X,
            gamma=gamma,
            lam=lam,
            threshold=members,
            preprocessing=preprocessing,
            error_weight=error_weight,
            memory_budget=memory_budget,
            n_jobs=jobs,
        )
        from sklearn.frozen import FrozenEstimator

        from enhg import run
        from enhg.learning.clustering import HypergraphClustering

        with stages.stage("cluster", "clustering"):
            model = HypergraphClustering(
                n_clusters, structure=FrozenEstimator(structure), random_state=seed
            ).fit(samples.X)
        found = run.of_clusters(model, samples.labels)
        said = _write(stages, folder, samples, structure, model, found, suggest)
    _say(stages, out, *said)


@app.command()
@errors_in_one_line()
def classify(
    source: Input,
    labels: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Labels of some samples: .csv with columns name,label; or .csv or .npy with one "
            "entry a sample, in order. Empty, -1, nan or ? where unknown.",
        ),
    ],
    out: Out,
    key: Key = None,
    size: Size = None,
    color: Color = False,
    method: Annotated[
        Any,
        typer.Option(
            callback=one_of_the_methods,
            metavar="HOW",
            help="How labels spread: diffusion, poisson (for very few), or auto, which chooses.",
        ),
    ] = "auto",
    alpha: Annotated[
        float,
        typer.Option(
            callback=open_fraction,
            metavar="X",
            help="Of diffusion, between 0 and 1: the nearer to 1, the further labels reach.",
        ),
    ] = 0.98,
    gamma: Gamma = 10,
    lam: Lam = 5,
    members: Members = 10,
    preprocessing: Preprocessing = "auto",
    error_weight: ErrorWeight = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Has no effect: nothing here is random.")
    ] = 0,
    jobs: Jobs = None,
    memory_budget: MemoryBudget = None,
    suggest: Suggest = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Label all images from the labels of a few.

    INPUT is a folder of images (of one size, or see --size) or a file of numbers with one row a
    sample; FILE labels some of them, of two classes or more. OUT receives

    \b
      report.html     a page to look at: the classes, a map, what is doubtful
      labels.csv      one row an input: name; label; confidence; outlier, foreign
                      and error, see enhg cluster --help; given, yes where FILE
                      holds the label. No label, confidence 0 where none reaches
      model.npz       for enhg predict, and enhg.load_model
      hypergraph.npz  for enhg.Hypergraph.load

    True labels that INPUT holds are used for nothing but the score printed at the end.

    \b
    Examples:
      enhg classify photos/ --labels some.csv -o result --size 32x32
      enhg classify faces.mat --labels some.npy -o result
    """
    from enhg.io import InputError, output_folder, read_labels

    stages = Stages(quiet, as_json)
    with output_folder(out, overwrite) as folder:
        samples = _read(stages, source, key, size, color)
        given = read_labels(labels, samples.names, samples.labels)
        if len(classes := set(given) - {""}) < 2:
            raise InputError(f"{labels}: '{classes.pop()}' is the only label; give two at least")
        structure = _represent(
            stages,
            samples.X,
            gamma=gamma,
            lam=lam,
            threshold=members,
            preprocessing=preprocessing,
            error_weight=error_weight,
            memory_budget=memory_budget,
            n_jobs=jobs,
        )
        import numpy as np
        from sklearn.frozen import FrozenEstimator

        from enhg import run
        from enhg.learning.classification import HypergraphClassifier

        with stages.stage("classify", "spreading labels"):
            model = HypergraphClassifier(
                structure=FrozenEstimator(structure), method=method, alpha=alpha
            ).fit(samples.X, given)
        found = run.of_classes(model, given, samples.labels)
        model.transduction_ = np.where(given != "", given, model.transduction_)
        said = _write(stages, folder, samples, structure, model, found, suggest, given)
    _say(stages, out, *said)


@app.command()
@errors_in_one_line()
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
    """Sort new images into the clusters or classes of a model.

    Each is rebuilt from the images of MODEL and takes its place among them; these are not
    clustered or classified again. The images of a folder are brought to the size and the colors
    of the model's. OUT receives

    \b
      labels.csv  one row an input: name; label; confidence; outlier, from 0 to 1
                  (like none of the model's). No label, or -1 for a cluster, and
                  confidence 0 where nothing rebuilds it

    True labels that INPUT holds are used for nothing but the score printed at the end.

    \b
    Examples:
      enhg predict result/model.npz new-photos/ -o sorted
      enhg predict result/model.npz more.npy -o sorted --json
    """
    from enhg.io import InputError, output_folder, write_labels

    stages = Stages(quiet, as_json)
    with output_folder(out, overwrite) as folder:
        with stages.stage("load", "loading the model"):
            from enhg import run
            from enhg.io.models import read_model

            model, image_shape = read_model(model_file)
        size = None
        if image_shape is not None and source.is_dir():
            size = image_shape[0], image_shape[1]
        color = image_shape is not None and len(image_shape) == 3
        samples = _read(stages, source, key, size, color, least=1)
        if samples.X.shape[1] != model.n_features_in_:
            raise InputError(
                f"{source}: samples have {samples.X.shape[1]} values, those of {model_file} have "
                f"{model.n_features_in_}; give samples of the same kind"
            )
        with stages.stage("represent", "rebuilding every sample from the model's") as progress:
            placed = model.place(samples.X, progress=progress)
        with stages.stage("write", "writing"):
            write_labels(
                folder / "labels.csv", samples.names, placed.labels, placed.confidence,
                {"outlier": _four_decimals(placed.outlier_scores)},
            )  # fmt: skip
    found = run.of_samples(samples) | run.of_placement(model, placed, samples.labels)
    names = {"labels.csv": "label, confidence and more of every sample"}
    _say(stages, out, found, run.lines(found, source.name), names)


@app.command()
@errors_in_one_line()
def demo(
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="OUT", help="Folder for the results.")
    ] = Path("enhg-demo"),
    seed: Seed = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Try it out: cluster and classify 1797 handwritten digits.

    They come with scikit-learn, nothing is downloaded. First they are clustered without labels,
    then labeled from 5 % of the labels; both are scored against the truth. OUT receives a
    page and four pictures to look at, the labels and the hypergraph.

    \b
    Examples:
      enhg demo
      enhg demo -o somewhere/else --seed 1
    """
    from enhg.io import Samples, output_folder, write_labels

    stages = Stages(quiet)
    with output_folder(out, overwrite) as folder:
        with stages.stage("load", "loading"):
            from sklearn.frozen import FrozenEstimator

            from enhg import run
            from enhg.datasets import load
            from enhg.learning.classification import HypergraphClassifier
            from enhg.learning.clustering import HypergraphClustering
            from enhg.plotting import save_pictures

            data = load("digits")
            given = _some_labels(data.y, seed)
            names = [str(row) for row in range(len(data.y))]
            samples = Samples(data.X, names, data.image_shape, data.y, Path(data.name))
        structure = _represent(stages, data.X)
        graph = FrozenEstimator(structure)
        with stages.stage("cluster", "clustering"):
            clusters = HypergraphClustering("auto", structure=graph, random_state=seed).fit(data.X)
        with stages.stage("classify", "spreading labels"):
            classes = HypergraphClassifier(structure=graph).fit(data.X, given)
        with stages.stage("draw", "drawing"):
            images = data.X.reshape(-1, *data.image_shape)
            save_pictures(folder, images, data.y, structure, clusters, classes)
        by_clusters = run.of_clusters(clusters, data.y)
        by_classes = run.of_classes(classes, given, data.y)
        rows = [
            ("samples", f"{len(data.X)} handwritten digits of 8×8 pixels"),
            *run.lines(run.of_structure(structure) | by_clusters, data.name),
            *run.lines(by_classes, data.name),
        ]
        with stages.stage("write", "writing"):
            write_labels(
                folder / "labels.csv", names, clusters.labels_, clusters.confidence_,
                {"classified": classes.transduction_, "given": _yes_or_no(given), "truth": data.y},
            )  # fmt: skip
            structure.graph_.save(folder / "hypergraph.npz")
            _report(folder, stages, samples, clusters, structure, rows)
    stages.say_rows(
        *rows,
        run.files(out, _DEMO_FILES),
        ("next", f"open {out / 'report.html'}; your own images: enhg cluster --help"),
    )


@app.command()
@errors_in_one_line("what was finished is kept in cells.csv; run the same command to go on")
def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="table1 table2 table3 table4 figure-paths figure-coefficients figure-affinity "
            "figure-robustness figure-recovery figure-lambda figure-gamma claims, or all.",
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR", envvar="ENHG_DATA", help="Folder of the image sets.", show_envvar=True
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--out", metavar="OUT", help="Folder: new, empty, or of a run to go on with."
        ),
    ] = Path("reproduction"),
    runs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs to average; the paper has ten.")
    ] = 10,
    quiet: Quiet = False,
) -> None:
    """Make the paper's tables and figures again, its own numbers beside ours.

    claims are the experiments behind what docs/reproduction.md says of the differences.

    DIR holds YaleB_32x32.mat, PIE_32x32.npz and usps.h5. OUT receives CSV, Markdown and PNG
    files, and cells.csv, where every single figure is kept as it is finished: a run that was
    stopped goes on from there. All cores are used.

    \b
    Examples:
      enhg reproduce table1 --data sets/ -o reproduction
      enhg reproduce all --data sets/ --runs 3
    """
    from experiments.reproduce import reproduce

    stages = Stages(quiet)
    files = reproduce(names, data, out, runs, lambda name: stages.stage(name, name))
    stages.say_rows(("written", "\n".join(str(file) for file in files)))


# --- the work that commands share ------------------------------------------------------------


def _read(
    stages: Stages,
    source: Path,
    key: str | None,
    size: tuple[int, int] | None,
    color: bool,
    least: int = 2,
) -> Samples:
    from enhg.io import InputError, read_samples

    with stages.stage("read", "reading") as progress:
        samples = read_samples(source, key=key, size=size, gray=not color, progress=progress)
        if len(samples.X) < least:
            raise InputError(f"{source}: holds one sample; at least two are needed")
    return samples


def _represent(
    stages: Stages, X: NDArray, error_weight: float | None = None, **options: Any
) -> ElasticNetHypergraph:
    note = "(long on the first run only, then cached)"
    with stages.stage("compile", "loading and compiling", note):
        import numpy as np

        from enhg.structures.elastic_net import ElasticNetHypergraph

        kind = np.float64 if X.dtype == np.float64 else np.float32
        ElasticNetHypergraph().fit(np.random.default_rng(0).random((20, 20)).astype(kind))
    with stages.stage("represent", "rebuilding every sample from others") as progress:
        structure = ElasticNetHypergraph(
            error_weight="auto" if error_weight is None else error_weight or None, **options
        )
        return structure.fit(X, progress=progress)


def _some_labels(y: NDArray, seed: int) -> NDArray:
    """Labels of a few samples of every class as text, empty for the others."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    given = np.full(len(y), "", dtype="U8")
    rows, _ = train_test_split(
        np.arange(len(y)), train_size=_DEMO_LABELED, stratify=y, random_state=seed
    )
    given[rows] = y[rows]
    return given


def _write(
    stages: Stages,
    folder: Path,
    samples: Samples,
    structure: ElasticNetHypergraph,
    model: HypergraphClustering | HypergraphClassifier,
    found: dict[str, Any],
    suggest: int | None,
    given: NDArray | None = None,
) -> tuple[dict[str, Any], list[tuple[str, str]], dict[str, str]]:
    """Write the results into the folder; what was found, the same in words, and the files."""
    import numpy as np

    from enhg import run
    from enhg.io import write_labels, write_table
    from enhg.io.models import save_model

    found = run.of_samples(samples) | run.of_structure(structure) | found
    rows = run.lines(found, samples.source.name)
    names = dict(_FILES)
    with stages.stage("write", "writing"):
        rebuilt = structure.representation_
        lengths = np.linalg.norm(rebuilt.samples, axis=1)
        errors = np.linalg.norm(rebuilt.residuals, axis=1) / np.where(lengths > 0, lengths, 1)
        columns: dict[str, Any] = {
            "outlier": _four_decimals(model.outlier_scores_),
            "foreign": _four_decimals(model.boundary_scores_),
            "error": _four_decimals(errors),
        }
        if given is not None:
            columns["given"] = _yes_or_no(given)
        labels = model.labels_ if given is None else model.transduction_
        write_labels(folder / "labels.csv", samples.names, labels, model.confidence_, columns)
        structure.graph_.save(folder / "hypergraph.npz")
        save_model(model, folder / "model.npz", image_shape=samples.image_shape)
    if suggest is not None:
        names["suggestions.csv"] = "the samples to label next, best first"
        with stages.stage("suggest", "choosing samples to label"):
            unlabeled = len(samples.X) if given is None else int((given == "").sum())
            if suggest > unlabeled:
                warnings.warn(
                    f"--suggest {suggest}: only {unlabeled} samples have no label", stacklevel=2
                )
            rows_to_label = model.suggest(min(suggest, unlabeled)).tolist() if unlabeled else []
            write_table(
                folder / "suggestions.csv", {"name": [samples.names[row] for row in rows_to_label]}
            )
    with stages.stage("report", "making the page"):
        _report(folder, stages, samples, model, structure, rows, given)
    return found, rows, names


def _say(
    stages: Stages,
    out: Path,
    found: dict[str, Any],
    rows: list[tuple[str, str]],
    names: dict[str, str],
) -> None:
    """The end of a run, once its results are in place."""
    from enhg import run

    stages.say_rows(*rows, run.files(out, names))
    stages.say_json(found | {"files": [str(out / name) for name in names]})


def _report(
    folder: Path,
    stages: Stages,
    samples: Samples,
    model: HypergraphClustering | HypergraphClassifier,
    structure: ElasticNetHypergraph,
    rows: list[tuple[str, str]],
    given: NDArray | None = None,
) -> None:
    from enhg.report import write_report

    write_report(
        folder / "report.html",
        samples,
        model,
        structure,
        stages=stages.times,
        warnings=stages.warnings,
        summary=rows,
        command=shlex.join(["enhg", *sys.argv[1:]]),
        given=given,
    )


def _four_decimals(values: NDArray) -> list[str]:
    return [f"{value:.4f}" for value in values]


def _yes_or_no(given: NDArray) -> list[str]:
    return ["yes" if label else "no" for label in given]
