"""The program `enhg`: words to calls, no numerics.

Exit codes: 0 done; 1 the input or an option is wrong, or the run failed for a cause that the user
can mend, said in one line; 2 usage; 130 interrupted. Anything else is a bug and shows where.

NumPy, scikit-learn, Numba and matplotlib take seconds to load, so they are imported where they
are used: `--help` and mistyped options answer at once.
"""

from __future__ import annotations

import io
import re
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

import enhg
from enhg._terminal import Stages, errors_in_one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from enhg.files import Samples
    from enhg.graphs.elastic_net import ElasticNetHypergraph
    from enhg.learning.classification import HypergraphClassifier
    from enhg.learning.clustering import HypergraphClustering

NORMALIZATIONS = ("auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none")
_DOUBTFUL = 0.1  # confidence above an even guess below which a sample counts as doubtful
_MOST_SIZES = 10  # clusters up to which every size is told
_DEMO_LABELLED = 0.05
_DEMO_FILES = {
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


# --- the options ---------------------------------------------------------------------------


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"enhg {enhg.__version__}")
        raise typer.Exit


def _parse_size(text: str) -> tuple[int, int]:
    height, cross, width = text.lower().replace("×", "x").partition("x")
    if not (cross and height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        raise typer.BadParameter(f"{text!r} is not HEIGHTxWIDTH in pixels, such as 32x32")
    return int(height), int(width)


def _parse_bytes(text: str) -> int:
    amount = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)\s*([KMGT]?)(I?)B?", text.strip().upper())
    size = 0
    if amount:
        number, prefix, binary = amount.groups()
        size = int(float(number) * (1024 if binary else 1000) ** " KMGT".index(prefix or " "))
    if size < 1:
        raise typer.BadParameter(f"{text!r} is not an amount of memory, such as 500MB or 2GB")
    return size


def _positive(value: float) -> float:
    if not 0 < value < float("inf"):
        raise typer.BadParameter(f"{value:g} is not a positive number")
    return value


def _positive_zero_or_none(value: float | None) -> float | None:
    return _positive(value) if value else value


def _one_of_the_normalizations(value: str) -> str:
    if value not in NORMALIZATIONS:
        raise typer.BadParameter(f"{value!r} is none of {', '.join(NORMALIZATIONS)}")
    return value


def _open_fraction(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"{value:g} does not lie between 0 and 1")
    return value


# A test holds the defaults of --gamma, --lam, --level and --alpha equal to the library's.
Input = Annotated[
    Path,
    typer.Argument(metavar="INPUT", help="Folder of images, or .npy .npz .mat .h5 .csv file."),
]
Out = Annotated[
    Path,
    typer.Option("-o", "--out", metavar="OUT", help="Folder for the results: new, or empty."),
]
Key = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Array of a .npz, .mat or .h5 file that holds the samples."),
]
Size = Annotated[
    tuple | None,
    typer.Option(
        parser=_parse_size, metavar="HxW", help="Resize the images of a folder, as in 32x32."
    ),
]
Color = Annotated[
    bool, typer.Option("--color", help="Keep the colours of a folder's images, not only gray.")
]
Gamma = Annotated[
    float,
    typer.Option(
        callback=_positive,
        metavar="X",
        help="Weight of the error, above 1: the higher, the closer samples are rebuilt.",
    ),
]
Lam = Annotated[
    float,
    typer.Option(
        min=0,
        metavar="X",
        help="Weight of the ridge: the higher, the more similar samples share their part.",
    ),
]
Level = Annotated[
    int, typer.Option(min=1, metavar="N", help="Rebuilders of a sample that join its hyperedge.")
]
ErrorWeight = Annotated[
    float | None,
    typer.Option(
        callback=_positive_zero_or_none,
        metavar="X",
        help="Let single pixels be wrong, at this price, as in shadows; 0 for never. If not "
        "given, 0.5 for faces and the like, whose samples are whitened, and 0 for others.",
    ),
]
Normalize = Annotated[
    str,
    typer.Option(
        callback=_one_of_the_normalizations,
        metavar="HOW",
        help="What is done to the samples first: whiten (faces), smooth (digits), zero_mean, "
        "unit, lift (points in few dimensions), none, or auto, which chooses.",
    ),
]
Jobs = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Threads; all cores if not given.")
]
Memory = Annotated[
    int | None,
    typer.Option(
        parser=_parse_bytes,
        metavar="SIZE",
        help="Memory for rebuilding, besides samples and result, as in 2GB; half of what is free "
        "if not given.",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="The same seed, the same result.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files of the same names in OUT.")
]
Quiet = Annotated[
    bool, typer.Option("-q", "--quiet", help="Print nothing but warnings and errors.")
]


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
    n_clusters: Annotated[
        int, typer.Option("-k", "--clusters", min=1, metavar="K", help="How many clusters to make.")
    ],
    out: Out,
    key: Key = None,
    size: Size = None,
    color: Color = False,
    gamma: Gamma = 10,
    lam: Lam = 5,
    level: Level = 10,
    normalize: Normalize = "auto",
    error_weight: ErrorWeight = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    memory: Memory = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Sort images into K clusters, without any labels.

    INPUT is a folder of images (of one size, or see --size) or a file of numbers with one row a
    sample. OUT receives

    \b
      labels.csv      name,label,confidence: one row an input, labels 0 to K-1,
                      confidence from 0 (between two clusters) to 1
      hypergraph.npz  for enhg.Hypergraph.load

    True labels that the file holds are used for nothing but the score printed at the end.

    \b
    Examples:
      enhg cluster photos/ -k 10 -o result --size 32x32
      enhg cluster faces.mat -k 38 -o result --key fea
    """
    from enhg.files import InputError, output_folder, write_labels

    stages = Stages(quiet)
    with output_folder(out, overwrite) as folder:
        samples = _read(stages, source, key, size, color)
        if n_clusters > len(samples.X):
            raise InputError(f"-k {n_clusters}: {source} holds only {len(samples.X)} samples")
        structure = _represent(
            stages,
            samples.X,
            gamma=gamma,
            lam=lam,
            level=level,
            normalize=normalize,
            error_weight=error_weight,
            memory=memory,
            n_jobs=jobs,
        )
        from enhg.learning.clustering import HypergraphClustering

        with stages.stage("cluster", "clustering"):
            model = HypergraphClustering(n_clusters, graph=structure.graph_, random_state=seed).fit(
                samples.X
            )
        with stages.stage("write", "writing"):
            write_labels(folder / "labels.csv", samples.names, model.labels_, model.confidence_)
            structure.graph_.save(folder / "hypergraph.npz")
    stages.say_rows(
        ("samples", _about_samples(samples)),
        *_about_structure(structure),
        *_about_clusters(model),
        *_score_of_clusters(model, samples.labels, source.name),
        ("written", f"{out / 'labels.csv'}\n{out / 'hypergraph.npz'}"),
    )


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
    alpha: Annotated[
        float,
        typer.Option(
            callback=_open_fraction,
            metavar="X",
            help="Between 0 and 1: the nearer to 1, the further labels reach.",
        ),
    ] = 0.98,
    gamma: Gamma = 10,
    lam: Lam = 5,
    level: Level = 10,
    normalize: Normalize = "auto",
    error_weight: ErrorWeight = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Has no effect: nothing here is random.")
    ] = 0,
    jobs: Jobs = None,
    memory: Memory = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Label all images from the labels of a few.

    INPUT is a folder of images (of one size, or see --size) or a file of numbers with one row a
    sample; FILE labels some of them, of two classes or more. OUT receives

    \b
      labels.csv      name,label,confidence,given: one row an input; given is yes
                      where FILE holds the label. No label and confidence 0 where
                      no label reaches
      hypergraph.npz  for enhg.Hypergraph.load

    True labels that INPUT holds are used for nothing but the score printed at the end.

    \b
    Examples:
      enhg classify photos/ --labels some.csv -o result --size 32x32
      enhg classify faces.mat --labels some.npy -o result
    """
    from enhg.files import InputError, output_folder, read_labels, write_labels

    stages = Stages(quiet)
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
            level=level,
            normalize=normalize,
            error_weight=error_weight,
            memory=memory,
            n_jobs=jobs,
        )
        from enhg.learning.classification import HypergraphClassifier

        with stages.stage("classify", "spreading labels"):
            model = HypergraphClassifier(graph=structure.graph_, alpha=alpha)
            model.fit(samples.X, given)
        with stages.stage("write", "writing"):
            write_labels(
                folder / "labels.csv", samples.names, model.transduction_, model.confidence_,
                {"given": _yes_or_no(given)},
            )  # fmt: skip
            structure.graph_.save(folder / "hypergraph.npz")
    stages.say_rows(
        ("samples", _about_samples(samples)),
        *_about_structure(structure),
        *_about_classes(model, given),
        *_score_of_classes(model, given, samples.labels, source.name),
        ("written", f"{out / 'labels.csv'}\n{out / 'hypergraph.npz'}"),
    )


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
    then labelled from 5 % of the labels; both are scored against the truth. OUT receives four
    pictures to look at, the labels and the hypergraph.

    \b
    Examples:
      enhg demo
      enhg demo -o somewhere/else --seed 1
    """
    from enhg.files import output_folder, write_labels

    stages = Stages(quiet)
    with output_folder(out, overwrite) as folder:
        with stages.stage("load", "loading"):
            from enhg.datasets import load
            from enhg.learning.classification import HypergraphClassifier
            from enhg.learning.clustering import HypergraphClustering
            from enhg.plotting import save_pictures

            data = load("digits")
            given = _some_labels(data.y, seed)
        structure = _represent(stages, data.X)
        graph = structure.graph_
        with stages.stage("cluster", "clustering"):
            clusters = HypergraphClustering(10, graph=graph, random_state=seed).fit(data.X)
        with stages.stage("classify", "spreading labels"):
            classes = HypergraphClassifier(graph=graph).fit(data.X, given)
        with stages.stage("draw", "drawing"):
            images = data.X.reshape(-1, *data.image_shape)
            save_pictures(folder, images, data.y, structure, clusters, classes)
        with stages.stage("write", "writing"):
            write_labels(
                folder / "labels.csv", [str(row) for row in range(len(data.y))],
                clusters.labels_, clusters.confidence_,
                {"classified": classes.transduction_, "given": _yes_or_no(given), "truth": data.y},
            )  # fmt: skip
            graph.save(folder / "hypergraph.npz")
    stages.say_rows(
        ("samples", f"{len(data.X)} handwritten digits of 8×8 pixels"),
        *_about_structure(structure),
        *_about_clusters(clusters),
        *_score_of_clusters(clusters, data.y, data.name),
        *_about_classes(classes, given),
        *_score_of_classes(classes, given, data.y, data.name),
        (
            "written",
            "\n".join(f"{out / f'{name:<16}'}{what}" for name, what in _DEMO_FILES.items()),
        ),
        ("next", "your own images: enhg cluster --help"),
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
    from enhg.experiments.reproduce import reproduce

    stages = Stages(quiet)
    files = reproduce(names, data, out, runs, lambda name: stages.stage(name, name))
    stages.say_rows(("written", "\n".join(str(file) for file in files)))


# --- the work that commands share ------------------------------------------------------------


def _read(
    stages: Stages, source: Path, key: str | None, size: tuple[int, int] | None, color: bool
) -> Samples:
    from enhg.files import InputError, read_samples

    with stages.stage("read", "reading") as progress:
        samples = read_samples(source, key=key, size=size, gray=not color, progress=progress)
        if len(samples.X) < 2:
            raise InputError(f"{source}: holds one sample; at least two are needed")
    return samples


def _represent(
    stages: Stages, X: NDArray, error_weight: float | None = None, **options: Any
) -> ElasticNetHypergraph:
    note = "(long on the first run only, then cached)"
    with stages.stage("compile", "loading and compiling", note):
        import numpy as np

        from enhg.graphs.elastic_net import ElasticNetHypergraph

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
        np.arange(len(y)), train_size=_DEMO_LABELLED, stratify=y, random_state=seed
    )
    given[rows] = y[rows]
    return given


# --- what is said ----------------------------------------------------------------------------


_Rows = list[tuple[str, str]]


def _about_samples(samples: Samples) -> str:
    count, features = samples.X.shape
    if samples.image_shape is None:
        return f"{count}, of {features} values, from {samples.source}"
    return f"{count} images of {'×'.join(map(str, samples.image_shape))}, from {samples.source}"


def _about_structure(structure: ElasticNetHypergraph) -> _Rows:
    rebuilt, graph = structure.representation_, structure.graph_
    count, _ = graph.connected_components()
    return [
        (
            "rebuilt",
            f"from {rebuilt.coefficients.nnz / graph.n_vertices:.1f} others each on average; "
            f"worst certificate {rebuilt.certificate.max():.1e}",
        ),
        ("hypergraph", f"{graph.n_edges} hyperedges, {_count(count, 'component')}"),
    ]


def _about_clusters(model: HypergraphClustering) -> _Rows:
    sizes = Counter(model.labels_.tolist())
    text = ", ".join(str(sizes[label]) for label in range(model.n_clusters))
    if model.n_clusters > _MOST_SIZES:
        text = f"{min(sizes.values())} to {max(sizes.values())}"
    doubtful = int((model.confidence_ < _DOUBTFUL).sum())
    return [
        ("clusters", f"{model.n_clusters}, of {text} samples"),
        ("doubtful", f"{_count(doubtful, 'sample')} of a confidence below {_DOUBTFUL}"),
    ]


def _about_classes(model: HypergraphClassifier, given: NDArray) -> _Rows:
    bound = 1 / len(model.classes_) + _DOUBTFUL
    reached = ~model.unreached_
    doubtful = int((model.confidence_[reached] < bound).sum())
    labels = _count(int((given != "").sum()), "label")
    rows = [
        ("classes", f"{len(model.classes_)}, from {labels} ({(given != '').mean():.1%})"),
        ("doubtful", f"{_count(doubtful, 'sample')} of a confidence below {bound:.2f}"),
    ]
    if not reached.all():
        rows.append(("unreached", f"{_count(int((~reached).sum()), 'sample')}, left without label"))
    return rows


def _score_of_clusters(model: HypergraphClustering, truth: NDArray | None, where: str) -> _Rows:
    from enhg.metrics import clustering_accuracy, normalized_mutual_information

    labels, known = _known(truth, model.labels_)
    if not known.any():
        return []
    ac = clustering_accuracy(labels[known], model.labels_[known])
    nmi = normalized_mutual_information(labels[known], model.labels_[known])
    return [("score", f"AC {ac:.3f}, NMI {nmi:.3f} against the labels in {where}")]


def _score_of_classes(
    model: HypergraphClassifier, given: NDArray, truth: NDArray | None, where: str
) -> _Rows:
    from enhg.metrics import unlabelled_accuracy

    labels, known = _known(truth, given)
    scored = known & (given == "")
    if not scored.any():
        return []
    accuracy = unlabelled_accuracy(labels, model.transduction_, ~scored)
    return [
        (
            "score",
            f"accuracy {accuracy:.3f} on the {scored.sum()} unlabelled, "
            f"against the labels in {where}",
        )
    ]


def _known(truth: NDArray | None, like: NDArray) -> tuple[NDArray, NDArray]:
    """The true labels as text, and where they are known."""
    import numpy as np

    from enhg.files import label_texts

    labels = np.full(len(like), "") if truth is None else np.array(label_texts(truth))
    return labels, labels != ""


def _yes_or_no(given: NDArray) -> list[str]:
    return ["yes" if label else "no" for label in given]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
