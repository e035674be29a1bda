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
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import enhg
from enhg.cli import conversion, demonstration, labeling, reading, steps, summary
from enhg.cli.interruption import say_results_are_complete, set_outcome
from enhg.cli.options import (
    Alpha,
    CheckpointFolder,
    Clusters,
    Color,
    ContactSheets,
    Dask,
    ErrorWeight,
    Features,
    Folders,
    Gamma,
    Images,
    Input,
    Jobs,
    Json,
    Key,
    Labels,
    LabelsFromFolders,
    Lam,
    Members,
    MemoryBudget,
    Method,
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
    Suggest,
    Verbose,
)
from enhg.cli.reading import Network, Reading, cache_folder
from enhg.cli.terminal import Stages, errors_in_one_line, options_of, wrapped
from enhg.exceptions import InputError

_DEMO_FILES = {
    "report.html": "the clusters and what to check, as a page",
    "thumbnails": "the pictures of the page",
    "photos": "the photographs",
    "folders": "copies of them, a folder for each cluster",
    "contact-sheets": "a picture of each cluster",
    "duplicates.csv": "copies and near-copies",
    "clusters.png": "every cluster, most confident first",
    "embedding.png": "the digits as points; the spectrum",
    "confusion.png": "clusters and predicted classes against true classes",
    "hyperedges.png": "members and reconstructions of five digits",
    "labels.csv": "results of every image",
    "hypergraph.npz": "for enhg.Hypergraph.load",
}


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        """Run a command; an error of usage is broken between words."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            text = wrapped(f"Error: {error.format_message()}", sys.stderr)
            error.format_message = lambda: text.removeprefix("Error: ")  # type: ignore[method-assign]
            raise


app = typer.Typer(
    name="enhg",
    cls=_Commands,
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
    """Sort images: into clusters without labels, or into classes from a few labels.

    Every image is compared with the others and linked to the few that together resemble it most.
    Groups of closely linked images become the clusters.

    Start with:  enhg demo, or enhg demo --photos
    """


@app.command()
@errors_in_one_line
def cluster(
    context: typer.Context,
    source: Input,
    out: Out,
    n_clusters: Clusters = "auto",
    features: Features = "auto",
    images: Images = None,
    folders: Folders = None,
    contact_sheets: ContactSheets = False,
    suggest: Suggest = None,
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
    gamma: Gamma = 10,
    lam: Lam = 5,
    threshold: Members = None,
    preprocessing: Preprocessing = "auto",
    error_weight: ErrorWeight = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    memory_budget: MemoryBudget = None,
    checkpoint: CheckpointFolder = None,
    dask: Dask = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Sort images into clusters, without labels.

    INPUT is a folder of images, or a file with one row per sample. OUT receives

    \b
      report.html     a page with the clusters, a map, and images to check
      labels.csv      one row per image: name; label, 0 to K-1; confidence from 0
                      (between two clusters) to 1; outlier, how unusual it is,
                      from 0 to 1; boundary, the share of its links that leave
                      the cluster; residual, the part of it that the similar
                      images do not explain
      duplicates.csv  groups of copies and near-copies, if there are any
      skipped.csv     images that could not be read, if there are any
      model.npz       for enhg predict, and enhg.load_model
      hypergraph.npz  the hypergraph, for enhg.Hypergraph.load
      thumbnails      small images, for the page and for enhg predict

    True labels in a file are used only for the score at the end.

    \b
    Examples:
      enhg cluster photos/ -o result
      enhg cluster photos/ -k 5 -o result --folders links
      enhg cluster embeddings.npy -k 38 -o result --images photos/
    """
    stages = Stages(quiet, as_json, options_of(cluster))
    network = Network(model, model_size, model_mean, model_std, model_output)
    cache = cache_folder(out, no_cache)
    wanted = Reading(source, key, size, color, features, network, images, strict, cache, jobs)
    outputs = steps.Outputs(suggest, folders, contact_sheets)
    with steps.results(stages, wanted, outputs, out, overwrite, checkpoint, dask) as (
        folder,
        parts,
    ):
        reading.list_folder(stages, wanted)
        reading.check_clusters(wanted, n_clusters)
        samples = reading.read(stages, wanted)
        reading.check_clusters(wanted, n_clusters, samples)
        structure = steps.fit_structure(
            stages, samples.X, threshold, error_weight, wanted.cache, parts, gamma=gamma, lam=lam,
            preprocessing=preprocessing, memory_budget=memory_budget, n_jobs=jobs,
        )  # fmt: skip
        learner, run = steps.cluster(
            stages, samples, structure, n_clusters, random_state=seed, checkpoint=parts
        )
        run = steps.write(stages, folder, out, run, samples, learner, outputs)
        files = _written(folder)
    steps.print_results(stages, context, run, files)


@app.command()
@errors_in_one_line
def classify(
    context: typer.Context,
    source: Input,
    out: Out,
    labels: Labels = None,
    labels_from_folders: LabelsFromFolders = False,
    features: Features = "auto",
    images: Images = None,
    folders: Folders = None,
    contact_sheets: ContactSheets = False,
    suggest: Suggest = None,
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
    method: Method = "auto",
    alpha: Alpha = 0.98,
    gamma: Gamma = 10,
    lam: Lam = 5,
    threshold: Members = None,
    preprocessing: Preprocessing = "auto",
    error_weight: ErrorWeight = None,
    jobs: Jobs = None,
    memory_budget: MemoryBudget = None,
    checkpoint: CheckpointFolder = None,
    dask: Dask = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Sort images into classes, from the labels of a few.

    INPUT is a folder of images, or a file with one row per sample. Some of them have labels, of
    two classes or more: in FILE, or by the sub-folders that they are in. OUT receives

    \b
      report.html     a page with the classes, a map, and images to check
      labels.csv      one row per image: name; label; confidence; outlier,
                      boundary and residual, see enhg cluster --help; given, yes
                      where the label was given. Images that no label reaches
                      have an empty label and confidence 0
      duplicates.csv  groups of copies and near-copies, if there are any
      skipped.csv     images that could not be read, if there are any
      model.npz       for enhg predict, and enhg.load_model
      hypergraph.npz  the hypergraph, for enhg.Hypergraph.load
      thumbnails      small images, for the page and for enhg predict

    True labels in a file are used only for the score at the end.

    \b
    Examples:
      enhg classify photos/ --labels some.csv -o result
      enhg classify photos/ --labels-from-folders -o result --folders copies
      enhg classify faces.mat --labels some.npy -o result
    """
    if labels is None and not labels_from_folders:
        raise typer.BadParameter("give --labels FILE, or --labels-from-folders")
    stages = Stages(quiet, as_json, options_of(classify))
    network = Network(model, model_size, model_mean, model_std, model_output)
    cache = cache_folder(out, no_cache)
    wanted = Reading(
        source, key, size, color, features, network, images, strict, cache, jobs, labels=labels
    )
    outputs = steps.Outputs(suggest, folders, contact_sheets)
    with steps.results(stages, wanted, outputs, out, overwrite, checkpoint, dask) as (
        folder,
        parts,
    ):
        reading.list_folder(stages, wanted)
        with stages.warnings_shown():
            match = reading.open_given(wanted, labels, labels_from_folders)
        samples = reading.read(stages, wanted)
        with stages.warnings_shown():
            given = match(samples)
        structure = steps.fit_structure(
            stages, samples.X, threshold, error_weight, wanted.cache, parts, gamma=gamma, lam=lam,
            preprocessing=preprocessing, memory_budget=memory_budget, n_jobs=jobs,
        )  # fmt: skip
        learner, run = steps.classify(
            stages, samples, structure, given, method=method, alpha=alpha, checkpoint=parts
        )
        run = steps.write(stages, folder, out, run, samples, learner, outputs)
        files = _written(folder)
    steps.print_results(stages, context, run, files)


@app.command()
@errors_in_one_line
def predict(
    context: typer.Context,
    model_file: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="model.npz of enhg cluster or classify, classifier.npz of label."
        ),
    ],
    source: Input,
    out: Out,
    images: Images = None,
    folders: Folders = None,
    contact_sheets: ContactSheets = False,
    strict: Strict = False,
    no_cache: NoCache = False,
    key: Key = None,
    jobs: Jobs = None,
    checkpoint: CheckpointFolder = None,
    dask: Dask = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Assign new images to the clusters or classes of a model.

    Each is compared with the images of MODEL, which are not sorted again. The images of a folder
    get the features, or the size and colors, of those of MODEL. OUT receives

    \b
      report.html  a page with the images of every cluster or class, and for
                   each image the similar ones of MODEL
      labels.csv   one row per image: name; label; confidence; outlier, how
                   unusual it is, from 0 to 1. No label (-1 for a cluster) and
                   confidence 0 for an image that resembles none of MODEL
      duplicates.csv, skipped.csv, thumbnails as for enhg cluster

    True labels in a file are used only for the score at the end.

    \b
    Examples:
      enhg predict result/model.npz new-photos/ -o assigned
      enhg predict result/model.npz more.npy -o assigned --json
    """
    stages = Stages(quiet, as_json, options_of(predict))
    wanted = Reading(
        source, key, images=images, strict=strict, cache=cache_folder(out, no_cache), jobs=jobs
    )
    outputs = steps.Outputs(None, folders, contact_sheets)
    with steps.results(stages, wanted, outputs, out, overwrite, checkpoint, dask) as (
        folder,
        parts,
    ):
        with stages.stage("load", "loading the model"):
            from enhg.io.models import read_model
            from enhg.run import add_duplicates, record_prediction

            saved = read_model(model_file)
        samples = reading.read_alike(stages, wanted, saved)
        if samples.X.shape[1] != saved.model.n_features_in_:
            raise InputError(
                f"{source}: samples must have the {saved.model.n_features_in_} features of "
                f"{model_file}, got {samples.X.shape[1]}"
            )
        reading.check_feature_names(samples, saved)
        with stages.stage("represent", "comparing every image") as progress:
            prediction = saved.model.predict_with_scores(
                samples.X, progress=progress, checkpoint=parts
            )
        run = record_prediction(samples, saved.model, prediction)
        with stages.stage("write", "writing"):
            run = add_duplicates(run, samples, None)
            steps.write_results(folder, run, samples, outputs)
        steps.write_report(stages, folder, out, run, samples, saved, summary.rows(run))
        files = _written(folder)
    steps.print_results(stages, context, run, files)


app.command()(labeling.label)
app.command()(conversion.convert)


@app.command("features")
@errors_in_one_line
def write_features(
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="Folder of images.")],
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE", help="The .npz file to write.")
    ],
    features: Features = "network",
    model: ModelFile = None,
    model_size: ModelSize = None,
    model_mean: ModelMean = None,
    model_std: ModelStd = None,
    model_output: ModelOutput = None,
    strict: Strict = False,
    no_cache: NoCache = False,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the features of a folder of images to a file.

    FILE receives the arrays X (one row of features per image), names, and recipe, which says how
    the features were made. enhg cluster and enhg classify read it. Images that could not be read,
    if there are any, are listed beside it with the reasons: features.skipped.csv for features.npz.

    \b
    Examples:
      enhg features photos/ -o features.npz
      enhg features photos/ -o dinov2.npz --model dinov2.onnx --model-size 224x224
    """
    stages = Stages(quiet, options=options_of(write_features))
    network = Network(model, model_size, model_mean, model_std, model_output)
    wanted = Reading(
        source, features=features, network=network, strict=strict,
        cache=cache_folder(out, no_cache), jobs=jobs,
    )  # fmt: skip
    wanted.check()
    reading.check_file(out, overwrite)
    set_outcome(steps.kept_progress(None, wanted.cache))
    samples = reading.read_features(stages, wanted)
    reading.write_features(out, samples)
    say_results_are_complete()
    files = {out.name: "the features", reading.skipped_file(out).name: steps.FILES["skipped.csv"]}
    files_row = summary.files_row(out.parent, _written(out.parent, files))
    with stages.warnings_shown():  # of what is imported
        rows = summary.feature_rows(samples)
    words = ["enhg", "cluster", str(out), "--images", str(source), "-o", str(out.with_suffix(""))]
    stages.print_rows(*rows, files_row, ("next", f"cluster the images: {shlex.join(words)}"))


@app.command()
@errors_in_one_line
def demo(
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="OUT", help="Folder for the results.")
    ] = Path("enhg-demo"),
    photos: Annotated[
        bool,
        typer.Option(
            "--photos",
            help="Photographs, which need the extra photos, in place of digits, which need plot.",
        ),
    ] = False,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Cluster and classify handwritten digits, or photographs.

    The 1797 digits are part of scikit-learn, the 192 photographs of scikit-learn and scikit-image;
    nothing is downloaded. They are clustered without labels, then classified from 5 % of the labels
    (of photographs, two of every class); both results are scored against the true labels. OUT
    receives a page, pictures and the labels.

    \b
    Examples:
      enhg demo
      enhg demo --photos -o photo-demo
    """
    from enhg.io import output_folder

    stages = Stages(quiet, options=options_of(demo))
    with output_folder(out, overwrite) as folder:
        sort = demonstration.sort_photos if photos else demonstration.sort_digits
        rows = sort(stages, folder, seed)
        files = _written(folder, _DEMO_FILES)
    say_results_are_complete()
    hint = f"open {out / 'report.html'}; for other images: enhg cluster --help"
    stages.print_rows(*rows, summary.files_row(out, files), ("next", hint))


def _written(folder: Path, files: dict[str, str] = steps.FILES) -> dict[str, str]:
    """The files of a run that were written, with their descriptions."""
    return {name: text for name, text in files.items() if (folder / name).exists()}
