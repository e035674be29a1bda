"""Files in the Hypergraph Interchange Format (HIF), written and read in blocks.

A HIF file is a JSON object. ``incidences``, a list of records with ``edge``, ``node`` and an
optional ``weight``, is required; ``nodes`` and ``edges`` are lists of records, ``network-type`` is
a word and ``metadata`` an object. The keys come in any order.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import TextIOWrapper
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._atomic import atomic_file
from enhg._files import NotRegularError, open_regular
from enhg._incidences import NamedIncidence, check_names, shown
from enhg._json_stream import JsonStream, Record
from enhg._label_arrays import is_unknown
from enhg._npz import json_value
from enhg._progress import Progress, Report, reporting
from enhg._version import __version__
from enhg.exceptions import InputError

_BLOCK = 100_000  # records that are written at a time
_RECORD_KEYS = {
    "nodes": {"node", "weight", "attrs"},
    "edges": {"edge", "weight", "attrs"},
    "incidences": {"edge", "node", "weight", "direction", "attrs"},
}
_KEYS = ("network-type", "metadata", *_RECORD_KEYS)


# --- writing ------------------------------------------------------------------------------------


def write_hif(
    path: str | os.PathLike[str],
    incidence: sparse.csr_array,
    weights: NDArray[np.float64],
    kind: str,
    *,
    vertex_names: Sequence[str | int] | None,
    edge_names: Sequence[str | int] | None,
    vertex_attributes: Mapping[str, Sequence[Any]] | None,
    metadata: Mapping[str, Any] | None,
    overwrite: bool,
    progress: Progress,
) -> None:
    """Write H, w and names to a file: the whole file or, on failure, nothing.

    The parameters are those of `Hypergraph.to_hif`; `kind`, the class that was written, is kept in
    the metadata.
    """
    target = Path(path)
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} already exists; pass overwrite=True to replace it")
    vertices = _encoded_names(vertex_names, "vertex_names", incidence.shape[0])
    edges = _encoded_names(edge_names, "edge_names", incidence.shape[1])
    attributes = _encoded_attributes(vertex_attributes, len(vertices))
    head = _encoded_metadata(metadata or {}, kind)
    with (
        reporting(progress, "writing") as report,
        atomic_file(target) as part,
        open(part, "w", encoding="ascii", newline="\n") as stream,
    ):
        stream.write(f'{{"network-type": "undirected",\n"metadata": {head},\n"nodes": ')
        _write_list(stream, _node_blocks(vertices, attributes))
        stream.write(',\n"edges": ')
        _write_list(stream, _edge_blocks(edges, weights))
        stream.write(',\n"incidences": ')
        _write_list(stream, _incidence_blocks(incidence, vertices, edges, report))
        stream.write("}\n")
        stream.flush()
        os.fsync(stream.fileno())


def _encoded_names(names: Sequence[str | int] | None, parameter: str, count: int) -> list[str]:
    """Names as JSON; the numbers from 0 by default."""
    checked = check_names(names, parameter, count)
    for name in checked:
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise InputError(
                f"{parameter} must be text or integers, got {shown(name)}", parameter=parameter
            )
    with _encoding(parameter, "text or integers that JSON can hold"):
        return list(map(json.dumps, checked))


@contextmanager
def _encoding(parameter: str, requirement: str) -> Iterator[None]:
    """Context in which a parameter is written as JSON."""
    try:
        yield
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{parameter} must be {requirement}, got one of which json says: {error}",
            parameter=parameter,
        ) from error


def _encoded_attributes(attributes: Mapping[str, Sequence[Any]] | None, count: int) -> list[str]:
    """The attributes of every vertex as a JSON object; an empty list if there are none."""
    if attributes is None:
        return []
    if not hasattr(attributes, "items") or not all(
        isinstance(name, str) and _is_sequence(values) for name, values in attributes.items()
    ):
        raise InputError(
            f"vertex_attributes must be a mapping from names to sequences, got {shown(attributes)}",
            parameter="vertex_attributes",
        )
    for name, values in attributes.items():
        if len(values) != count:
            raise InputError(
                f"vertex_attributes must have a value for each of {count} vertices, got "
                f"{len(values)} of {name!r}",
                parameter="vertex_attributes",
            )
    columns = [[_json_or_null(name, value) for value in attributes[name]] for name in attributes]
    rows = [dict(zip(attributes, row, strict=True)) for row in zip(*columns, strict=True)]
    with _encoding("vertex_attributes", "numbers and words that JSON can hold"):
        return [json.dumps(row, allow_nan=False) for row in rows]


def _is_sequence(values: object) -> bool:
    """Whether values are in an order: a list, an array or a column of a table."""
    if isinstance(values, str | bytes | Mapping | Set):
        return False
    return isinstance(values, Sized) and getattr(values, "ndim", 1) > 0


def _json_or_null(name: str, value: object) -> Any:
    """A value as JSON has it; null for a missing one, and for a number that is not finite."""
    if np.isscalar(value) or not isinstance(value, Sized):
        value = None if is_unknown(value) else value
    plain = json_value(f"vertex_attributes of {name!r}", value)
    return None if isinstance(plain, float) and not np.isfinite(plain) else plain


def _encoded_metadata(metadata: Mapping[str, Any], kind: str) -> str:
    own = {"kind": kind, "version": __version__}
    with _encoding("metadata", "a dictionary of JSON values"):
        return json.dumps({**metadata, "enhg": own}, allow_nan=False)


def _write_list(stream: Any, blocks: Iterable[list[str]]) -> None:
    stream.write("[")
    separator = "\n"
    for block in blocks:
        stream.write(separator)
        stream.write(",\n".join(block))
        separator = ",\n"
    stream.write("\n]")


def _node_blocks(vertices: list[str], attributes: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(vertices), _BLOCK):
        names = vertices[start : start + _BLOCK]
        if attributes:
            pairs = zip(names, attributes[start : start + _BLOCK], strict=True)
            yield [f'{{"node": {name}, "attrs": {values}}}' for name, values in pairs]
        else:
            yield [f'{{"node": {name}}}' for name in names]


def _edge_blocks(edges: list[str], weights: NDArray[np.float64]) -> Iterator[list[str]]:
    for start in range(0, len(edges), _BLOCK):
        stop = start + _BLOCK
        pairs = zip(edges[start:stop], weights[start:stop].tolist(), strict=True)
        yield [f'{{"edge": {name}, "weight": {weight!r}}}' for name, weight in pairs]


def _incidence_blocks(
    incidence: sparse.csr_array, vertices: list[str], edges: list[str], report: Report
) -> Iterator[list[str]]:
    # Readers take 1 for granted where all weights are left out; HyperNetX not where only some are.
    hard = bool((incidence.data == 1).all())
    for start in range(0, incidence.nnz, _BLOCK):
        report(start, incidence.nnz)
        stop = min(start + _BLOCK, incidence.nnz)
        rows = np.searchsorted(incidence.indptr, np.arange(start, stop), side="right") - 1
        records = zip(
            incidence.indices[start:stop].tolist(),
            rows.tolist(),
            incidence.data[start:stop].tolist(),
            strict=True,
        )
        yield [
            f'{{"edge": {edges[e]}, "node": {vertices[v]}}}'
            if hard
            else f'{{"edge": {edges[e]}, "node": {vertices[v]}, "weight": {h!r}}}'
            for e, v, h in records
        ]
    report(incidence.nnz, incidence.nnz)


# --- reading ------------------------------------------------------------------------------------


def read_hif(
    path: str | os.PathLike[str], *, drop_empty: bool, progress: Progress
) -> tuple[NamedIncidence, dict[str, Any]]:
    """Return H, w and names of a file, and its metadata; raise InputError with the reason."""
    try:
        with _opened(path) as stream, reporting(progress, "reading") as report:
            total = os.fstat(stream.fileno()).st_size
            text = JsonStream(stream, lambda: report(stream.buffer.tell(), total))
            content = _Content()
            content.read(text)
            named = content.collected().without_empty(drop_empty)
            if not named.vertex_names:
                raise InputError("a hypergraph must have a node, got none")
            return named, content.metadata
    except (InputError, UnicodeDecodeError) as error:
        own = error.parameter if isinstance(error, InputError) else None
        raise InputError(
            f"{os.fspath(path)} must be a HIF file that a Hypergraph can hold: {error}",
            parameter=own or "path",
        ) from error


def _opened(path: str | os.PathLike[str]) -> Any:
    """The text of a regular file."""
    try:
        return TextIOWrapper(open_regular(path), encoding="utf-8-sig")
    except NotRegularError as error:
        raise InputError(f"got {error.kind}") from error
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise InputError(f"got {'no such file' if missing else error.strerror}") from error


@dataclass
class _Names:
    """Names in the order in which they appear, and those of the list `nodes` or `edges`."""

    key: str
    places: defaultdict[str | int, int] = field(default_factory=defaultdict)
    listed: list[NDArray[np.int32]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.places.default_factory = self.places.__len__  # a new name gets the next place

    def find(self, records: list[Record]) -> NDArray[np.int32]:
        """Places of the names of some records."""
        try:
            names = list(map(itemgetter(self.key), records))
        except (KeyError, TypeError, IndexError) as error:
            raise InputError(f"every record must be an object with {self.key!r}") from error
        if not set(map(type, names)) <= {int, str}:
            names = [self._checked(name) for name in names]
        return np.fromiter(map(self.places.__getitem__, names), np.int32, len(names))

    def _checked(self, name: Any) -> str | int:
        if isinstance(name, float) and name.is_integer():
            return int(name)
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise InputError(f"{self.key!r} must be text or an integer, got {shown(name)}")
        return name

    def order(self) -> tuple[list[str | int], NDArray[np.int32], NDArray[np.int32]]:
        """Names with the listed ones first, the new place of each place, and those listed."""
        names = list(self.places)
        listed = _joined(self.listed, np.int32)
        order = np.array(list(dict.fromkeys([*listed.tolist(), *range(len(names))])), np.int32)
        moved = np.empty(len(names), np.int32)
        moved[order] = np.arange(len(names), dtype=np.int32)
        return [names[place] for place in order.tolist()], moved, moved[listed]


@dataclass
class _Content:
    """What was read of a file: arrays of places and numbers, no records."""

    metadata: dict[str, Any] = field(default_factory=dict)
    nodes: _Names = field(default_factory=lambda: _Names("node"))
    edges: _Names = field(default_factory=lambda: _Names("edge"))
    edge_weights: list[NDArray[np.float64]] = field(default_factory=list)
    members: list[NDArray[np.int32]] = field(default_factory=list)
    hyperedges: list[NDArray[np.int32]] = field(default_factory=list)
    memberships: list[NDArray[np.float64]] = field(default_factory=list)

    def read(self, text: JsonStream) -> None:
        keys = set()
        for key in text.object_keys():
            if key in keys or key not in _KEYS:
                allowed = ", ".join(_KEYS)
                raise InputError(f"keys must be among {allowed}, each once, got {shown(key)}")
            keys.add(key)
            self._read_value(text, key)
        text.require_end()
        if "incidences" not in keys:
            raise InputError("'incidences' is missing")

    def _read_value(self, text: JsonStream, key: str) -> None:
        if key == "network-type":
            kind = text.value()
            if kind not in ("undirected", "asc"):
                raise InputError(f"network-type must be undirected or asc, got {shown(kind)}")
        elif key == "metadata":
            metadata = text.value()
            if not isinstance(metadata, dict):
                raise InputError(f"metadata must be an object, got {shown(metadata)}")
            self.metadata = metadata
        else:
            add = {"nodes": self._add_nodes, "edges": self._add_edges}.get(key, self._add)
            for records in text.records():
                add(records)
                if unknown := set().union(*records) - _RECORD_KEYS[key]:
                    allowed = ", ".join(sorted(_RECORD_KEYS[key]))
                    raise InputError(
                        f"keys in {key} must be among {allowed}, got {shown(min(unknown))}"
                    )

    def _add_nodes(self, records: list[Record]) -> None:
        self.nodes.listed.append(self.nodes.find(records))

    def _add_edges(self, records: list[Record]) -> None:
        self.edges.listed.append(self.edges.find(records))
        self.edge_weights.append(_numbers([_edge_weight(record) for record in records]))

    def _add(self, records: list[Record]) -> None:
        self.members.append(self.nodes.find(records))
        self.hyperedges.append(self.edges.find(records))
        self.memberships.append(_numbers([record.get("weight", 1.0) for record in records]))
        if any("direction" in record for record in records):
            raise InputError("incidences must have no direction: a Hypergraph has none")

    def collected(self) -> NamedIncidence:
        vertex_names, vertex_places, _ = self.nodes.order()
        edge_names, edge_places, listed = self.edges.order()
        weights, given = np.ones(len(edge_names)), _joined(self.edge_weights, np.float64)
        weights[listed] = given
        for i in np.flatnonzero(weights[listed] != given)[:1]:
            raise InputError(
                f"an edge must have one weight, got {given[i]} and {weights[listed[i]]} of "
                f"{shown(edge_names[listed[i]])}"
            )
        return NamedIncidence.collect(
            vertex_places[_joined(self.members, np.int32)],
            edge_places[_joined(self.hyperedges, np.int32)],
            _joined(self.memberships, np.float64),
            weights,
            vertex_names,
            edge_names,
        )


def _edge_weight(record: Record) -> Any:
    """w(e) of a record: `weight`, or the attribute of that name, which xgi writes."""
    if "weight" in record:
        return record["weight"]
    attributes = record.get("attrs")
    weight = attributes.get("weight") if isinstance(attributes, dict) else None
    return 1.0 if weight is None else weight


def _numbers(values: list[Any]) -> NDArray[np.float64]:
    if not set(map(type, values)) <= {int, float}:
        wrong = next(value for value in values if type(value) not in (int, float))
        raise InputError(f"'weight' must be a number, got {shown(wrong)}")
    try:
        return np.array(values, np.float64)
    except OverflowError as error:
        raise InputError("'weight' must be a finite number, got a larger integer") from error


def _joined(parts: list[NDArray], dtype: Any) -> NDArray:
    """The parts as one array; the list is emptied, so that they are in memory once more at most."""
    whole = np.concatenate([np.empty(0, dtype), *parts])
    parts.clear()
    return whole
