"""The command that converts files of hypergraphs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from enhg.cli.interruption import say_results_are_complete
from enhg.cli.options import Quiet
from enhg.cli.reading import check_new_file
from enhg.cli.terminal import Stages, errors_in_one_line, options_of
from enhg.exceptions import InputError

if TYPE_CHECKING:
    from enhg.graph import Graph
    from enhg.hypergraph import Hypergraph

_OWN, _HIF = ".npz", ".json"


class _Content(NamedTuple):
    """A hypergraph or graph, the names of its vertices if they are known, and their attributes."""

    graph: Hypergraph | Graph
    names: list[Any] | None = None
    attributes: dict[str, list[Any]] | None = None


@errors_in_one_line
def convert(
    source: Annotated[
        Path,
        typer.Argument(metavar="IN", help="hypergraph.npz, model.npz, or a HIF file (.json)."),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The .json or .npz file to write.")],
    drop_empty: Annotated[
        bool,
        typer.Option(
            "--drop-empty",
            help="Leave out vertices in no hyperedge, and hyperedges without vertices.",
        ),
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT.")] = False,
    quiet: Quiet = False,
) -> None:
    """Convert a hypergraph to a HIF file, or back.

    HIF, the Hypergraph Interchange Format, is a JSON format that xgi, HyperNetX and other programs
    read and write. The suffixes of IN and OUT say what they are: .npz for files of enhg, .json for
    HIF.

    \b
      hypergraph.npz  the hypergraph of a run; vertices are numbered
      model.npz       the hypergraph of a run; vertices have the names of the
                      images, and their clusters or classes as attribute "label"

    An .npz file holds numbers only: names and attributes of a HIF file are not kept. Files of
    enhg.Graph are converted in the same way.

    \b
    Examples:
      enhg convert result/model.npz result.hif.json
      enhg convert network.json hypergraph.npz --drop-empty
    """
    stages = Stages(quiet, options=options_of(convert))
    kinds = (source.suffix.lower(), out.suffix.lower())
    if kinds not in ((_OWN, _HIF), (_HIF, _OWN)):
        raise InputError(
            f"IN and OUT must be an {_OWN} and a {_HIF} file, in either order, got {source} and "
            f"{out}"
        )
    check_new_file(out, overwrite)
    with stages.stage("read", "reading") as progress:
        content = _read_own(source) if kinds[0] == _OWN else _read_hif(source, drop_empty, progress)
    with stages.stage("write", "writing") as progress:
        if kinds[1] == _OWN:
            content.graph.save(out, overwrite=overwrite)
        else:
            content.graph.to_hif(
                out, vertex_names=content.names, vertex_attributes=content.attributes,
                overwrite=overwrite, progress=progress,
            )  # fmt: skip
    say_results_are_complete()
    stages.print_rows(("contents", repr(content.graph)), ("file", str(out)))


def _read_own(path: Path) -> _Content:
    """What a file of `Hypergraph.save`, `Graph.save` or `save_model` holds."""
    from enhg._npz import OtherKindError
    from enhg.graph import Graph
    from enhg.hypergraph import Hypergraph

    for read in (Hypergraph.load, Graph.load, _read_model):
        try:
            content = read(path)
        except InputError as error:
            if not isinstance(error.__cause__, OtherKindError):
                raise
        else:
            return content if isinstance(content, _Content) else _Content(content)
    raise InputError(f"{path}: must be hypergraph.npz or model.npz of a run, or of enhg.Graph.save")


def _read_model(path: Path) -> _Content:
    from enhg.io.models import read_model
    from enhg.learning.clustering import HypergraphClustering

    saved = read_model(path)
    model = saved.model
    clustered = isinstance(model, HypergraphClustering)
    attributes = {"label": list(model.labels_ if clustered else model.transduction_)}
    graph = cast("Hypergraph | Graph", model.graph_)  # which are all that a model is saved with
    if saved.names is not None and len(set(saved.names)) < len(saved.names):
        return _Content(graph, None, {"name": saved.names, **attributes})
    return _Content(graph, saved.names, attributes)


def _read_hif(path: Path, drop_empty: bool, progress: Any) -> _Content:
    from enhg._hif import read_hif
    from enhg.graph import Graph
    from enhg.hypergraph import Hypergraph

    named, metadata = read_hif(path, drop_empty=drop_empty, progress=progress)
    if named.vertex_names != list(range(len(named.vertex_names))):
        warnings.warn(
            f"{path}: vertices are numbered in its order; what they are called is not kept",
            stacklevel=2,
        )
    writer = metadata.get("enhg")
    is_graph = isinstance(writer, dict) and writer.get("kind") == Graph.__name__
    kind = Graph if is_graph else Hypergraph
    try:
        return _Content(kind.from_incidence(named.incidence, named.weights))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
