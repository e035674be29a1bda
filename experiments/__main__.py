"""The command line of the experiments: `python -m experiments COMMAND`, in the repository."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from enhg import InputError
from enhg.cli.terminal import Stages, errors_in_one_line

app = typer.Typer(
    help="Make the paper's tables and figures again, and the pages in docs/ that rest on them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # [quality] is the name of an extra
)

Data = Annotated[
    Path,
    typer.Option(
        metavar="DIR", envvar="ENHG_DATA", help="Folder of the data sets.", show_envvar=True
    ),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print only warnings and errors.")]


@contextmanager
def _continuing_later(advice: str) -> Iterator[None]:
    """End an interrupted command with one line that says how to continue it."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"interrupted: {advice}", err=True)
        raise typer.Exit(130) from None


def _require_known(parameter: str, names: list[str] | None, allowed: Collection[str]) -> None:
    unknown = [name for name in names or () if name not in allowed]
    if unknown:
        raise InputError(f"{parameter} must be among {'; '.join(allowed)}, got {unknown[0]!r}")


@app.command()
@errors_in_one_line
@_continuing_later("finished scores are kept in cells.csv; run the same command to continue")
def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="table1 table2 table3 table4 figure-paths figure-coefficients figure-affinity "
            "figure-robustness figure-recovery figure-lambda figure-gamma claims, or all.",
        ),
    ],
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--out", metavar="OUT", help="Folder: new, empty, or of a run to continue."
        ),
    ] = Path("reproduction"),
    runs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs to average; the paper has ten.")
    ] = 10,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETTING",
            help="default, shared, tuned or paper: settings of the tables; can be repeated. "
            "All by default.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Make the paper's tables and figures again, with its own numbers beside them.

    claims are the analyses behind the discussion in docs/reproduction.md.

    DIR holds YaleB_32x32.mat, PIE_32x32.npz and usps.h5. OUT receives CSV, Markdown and PNG
    files, and cells.csv, where the scores of every run are kept as soon as it is finished: an
    interrupted command continues from there. All cores are used.

    \b
    Examples:
      python -m experiments reproduce table1 --data sets/ -o reproduction
      python -m experiments reproduce all --data sets/ --runs 3
      python -m experiments reproduce table1 table2 --data sets/ --setting paper
    """
    from experiments.reproduce import reproduce

    stages = Stages(quiet)
    files = reproduce(names, data, out, runs, lambda name: stages.stage(name, name), setting or ())
    if not quiet:
        typer.echo("\n".join(str(file) for file in files))


@app.command()
@errors_in_one_line
@_continuing_later("finished scores are kept; run the same command to continue")
def search(
    data: Data,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="extended paper; both by default."),
    ] = None,
    cells: Annotated[
        Path, typer.Option(metavar="FILE", help="Scores of single runs, kept to continue from.")
    ] = Path("search-cells.csv"),
    quiet: Quiet = False,
) -> None:
    """Search the parameters of every structure: extended with extensions, paper without.

    Writes experiments/results/search.csv.gz and search-paper.csv.gz, the mean scores of every
    setting, and experiments/settings.json, the settings chosen from them.
    """
    from experiments.cells import Cells
    from experiments.search import search, select

    searches = select(names or ())
    if not cells.parent.is_dir():
        raise InputError(f"--cells must be in a folder that exists, got {cells}")
    with Stages(quiet).stage("search", "settings") as progress:
        search(data, Cells(cells), progress, searches)


@app.command()
@errors_in_one_line
@_continuing_later("finished measurements are stored; name those that are missing to continue")
def practice(
    data: Data,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="new-samples cluster-count outliers suggestions; all by default.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Measure the extensions; store the scores and write docs/practice.md."""
    from experiments import practice
    from experiments.pages import write_pages

    _require_known("names", names, practice.MEASUREMENTS)
    stages = Stages(quiet)
    for name in names or practice.MEASUREMENTS:
        with stages.stage(name, name) as progress:
            practice.measure(name, data, progress)
    write_pages()


@app.command()
@errors_in_one_line
@_continuing_later("finished scores are kept; run the same command to continue")
def quality(
    data: Data,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PART]...",
            help="settings variations preprocessing clustering classification uneven count; "
            "all by default.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="SET", help="One data set; can be repeated. All by default."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, max=3, metavar="N", help="Runs to average.")] = 3,
    quiet: Quiet = False,
) -> None:
    """Compare the defaults with other libraries; store the scores and write docs/quality.md.

    DIR holds the files of all data sets of the page. umap-learn, leidenalg, python-igraph and
    graphlearning are needed: pip install '.[quality]'. Scores are stored in
    experiments/results/quality.csv.gz as they are computed; remove that file to measure anew. The
    page is written when the scores of all parts and data sets are there.

    \b
    Examples:
      python -m experiments quality --data sets/
      python -m experiments quality clustering --only COIL-20 --runs 1 --data sets/
    """
    from experiments import baselines, quality
    from experiments.pages import write_pages

    _require_known("parts", names, quality.PARTS)
    _require_known("only", only, quality.KINDS)
    baselines.require_all()
    wanted = quality.pieces(names or quality.PARTS, only or quality.KINDS, runs)
    with Stages(quiet).stage("quality", "pieces") as progress:
        quality.measure(data, wanted, progress)
    if quality.is_complete():
        write_pages()
    elif not quiet:
        typer.echo("docs/quality.md is not written: parts or data sets have no scores yet")


@app.command()
@errors_in_one_line
def photos(data: Data, quiet: Quiet = False) -> None:
    """Compare features and methods on folders of photographs; write docs/photos.md.

    DIR/photos holds the folders, each with one sub-folder for each class. The extras photos and
    quality are needed: pip install '.[photos,quality]'.
    """
    from experiments import baselines, photos
    from experiments.pages import write_pages

    baselines.require_all()
    with Stages(quiet).stage("photos", "folders") as progress:
        photos.measure(data, progress)
    write_pages()


@app.command()
@errors_in_one_line
def copies(data: Data, quiet: Quiet = False) -> None:
    """Count which made copies of images are found in nine folders; write docs/photos.md.

    DIR holds photos/scenes, photos/flowers, photos/hand-signs, YaleB_32x32.mat, PIE_32x32.npz,
    orl_32x32.npz and coil20_32x32.npz.
    """
    from experiments import copies
    from experiments.pages import write_pages

    with Stages(quiet).stage("copies", "folders") as progress:
        copies.measure(data, progress)
    write_pages()


@app.command()
@errors_in_one_line
@_continuing_later("finished runs are stored; run the same command to continue")
def labeling(
    data: Data,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="SET", help="One data set; can be repeated. All by default."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Runs to average.")] = 3,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="CSV file of the numbers; that of docs/labeling.md by default."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Count the actions of a simulated person in enhg label; write docs/labeling.md.

    Numbers are stored as they are computed; remove the file to measure anew. The page is written
    from experiments/results/labeling.csv, and not with another FILE.

    \b
    Examples:
      python -m experiments labeling --data sets/
      python -m experiments labeling --only digits --runs 1 --output digits.csv --data sets/
    """
    from experiments import labeling, labeling_page
    from experiments.pages import write_pages

    _require_known("only", only, labeling.DATASETS)
    file = output or labeling.FILE
    with Stages(quiet).stage("labeling", "data sets and runs") as progress:
        labeling.measure(data, only or labeling.DATASETS, runs, file, progress)
    if output is None:
        write_pages()
    if not quiet:
        typer.echo(labeling_page.summary(file))


@app.command()
@errors_in_one_line
def report(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="[OUT]", help="Folder of a run of reproduce, to be stored first."),
    ] = None,
) -> None:
    """Write the pages of docs/ that are made from stored results.

    The summaries of a run are stored in experiments/results/reproduction, its pictures in
    docs/reproduction. What the run does not have, such as other settings of its tables, is kept.
    """
    from experiments.pages import store, write_pages

    if run is not None:
        store(run)
    for file in write_pages():
        typer.echo(file)


if __name__ == "__main__":
    app()
