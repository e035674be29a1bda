"""Base class of immutable graphs and hypergraphs: equality, copies, files and the Laplacian."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import IO, Any, ClassVar, Literal, NoReturn, Self, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from enhg._files import NotRegularError, open_regular, require_path
from enhg._hif import read_hif, write_hif
from enhg._npz import State, read_archive, write_archive
from enhg._progress import Progress
from enhg._protocol import GraphLike
from enhg._validation import symmetric_operator
from enhg.exceptions import InputError


class ImmutableGraph(GraphLike):
    """A graph or hypergraph whose attributes cannot be set and whose arrays are read-only.

    It is defined by its state: two are equal if their states are, and files, copies and pickles
    hold it. Subclasses set their attributes by ``vars(self).update`` in ``__init__``.
    """

    _file_kind: ClassVar[str]
    _file_version: ClassVar[int] = 1

    @abstractmethod
    def to_state(self) -> State:
        """Return the arrays that define the object."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: State) -> Self:
        """Make the object from its state; raise InputError if the state is not one."""

    @property
    def laplacian(self) -> LinearOperator:
        """L = I − Θ, the normalized Laplacian, as a symmetric operator.

        For a hypergraph, Tr(Fᵀ L F) is the regularizer Ω(F) = ½ Σ_e Σ_{u,v} w(e) h(u, e) h(v, e) /
        δ(e) · ‖f(u)/√d(u) − f(v)/√d(v)‖² of the paper, over ordered pairs (u, v).
        """
        theta = self.theta
        return symmetric_operator(self.n_vertices, lambda x: x - theta @ x)

    def laplacian_dense(self) -> NDArray[np.float64]:
        """Return L = I − Θ as an array of shape (n_vertices, n_vertices), for small n."""
        return np.eye(self.n_vertices) - self.theta_dense()

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the object to an ``.npz`` file: the whole file or, on failure, nothing.

        Parameters
        ----------
        path : str or path
            Used as given; no suffix is added.
        overwrite : bool, default=False
            Replace an existing file; otherwise it is kept and FileExistsError raised.
        """
        write_archive(
            path, self._file_kind, self._file_version, self.to_state(), overwrite=overwrite
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that `save` wrote; raise InputError with the reason for any other path.

        Examples
        --------
        >>> import tempfile
        >>> from enhg import Hypergraph
        >>> hypergraph = Hypergraph([[1, 0], [1, 0.5], [0, 1]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     hypergraph.save(f"{folder}/small.npz")
        ...     Hypergraph.load(f"{folder}/small.npz") == hypergraph
        True
        """
        require_path(path)
        with _opened(path, f"{os.fspath(path)} must be a {cls.__name__} file") as stream:
            try:
                return cls.from_state(read_archive(stream, cls._file_kind, cls._file_version))
            except Exception as error:  # arbitrary bytes make the readers raise almost anything
                reason = str(error) or type(error).__name__
                raise InputError(
                    f"{os.fspath(path)} must be a {cls.__name__} file that this enhg can read: "
                    f"{reason}",
                    parameter="path",
                ) from error

    @abstractmethod
    def to_incidence(self) -> tuple[sparse.csr_array, NDArray[np.float64]]:
        """Return the memberships of vertices in edges, vertices × edges, and the edges' weights."""

    @classmethod
    @abstractmethod
    def from_incidence(cls, incidence: sparse.csr_array, weights: NDArray[np.float64]) -> Self:
        """Make the object from memberships of vertices in edges, and the edges' weights."""

    def to_hif(
        self,
        path: str | os.PathLike[str],
        *,
        vertex_names: Sequence[str | int] | None = None,
        edge_names: Sequence[str | int] | None = None,
        vertex_attributes: Mapping[str, Sequence[Any]] | None = None,
        metadata: Mapping[str, Any] | None = None,
        overwrite: bool = False,
        progress: Progress = None,
    ) -> None:
        """Write a file in the Hypergraph Interchange Format (HIF): the whole file or nothing.

        The weight of an incidence is the membership, and left out if all are 1; the weight of an
        edge is w(e), and a(u, v) for a `Graph`. Numbers are read back exactly.

        Parameters
        ----------
        path : str or path
            Used as given; no suffix is added. Names of such files end in ``.json``.
        vertex_names, edge_names : sequence of str or int, optional
            Distinct names of the vertices, such as those of the samples, and of the edges; 0, 1, …
            by default.
        vertex_attributes : mapping of str to sequence, optional
            Numbers or words for every vertex, such as labels, under their names. A number that is
            not finite becomes null.
        metadata : mapping of str to JSON values, optional
            Of the file as a whole. The entry "enhg" is the class and the version that wrote it.
        overwrite : bool, default=False
            Replace an existing file; otherwise it is kept and FileExistsError raised.
        progress : bool or callable, optional
            True shows a bar on standard error; a callable is called with the numbers of incidences
            written and in total.

        Examples
        --------
        >>> import tempfile
        >>> from enhg import Hypergraph
        >>> hypergraph = Hypergraph([[1, 0], [1, 0.5], [0, 1]], weights=[2, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     hypergraph.to_hif(f"{folder}/small.hif.json", vertex_names=["a", "b", "c"])
        ...     Hypergraph.from_hif(f"{folder}/small.hif.json") == hypergraph
        True
        """
        incidence, weights = self.to_incidence()
        write_hif(
            path, incidence, weights, type(self).__name__, vertex_names=vertex_names,
            edge_names=edge_names, vertex_attributes=vertex_attributes, metadata=metadata,
            overwrite=overwrite, progress=progress,
        )  # fmt: skip

    @overload
    @classmethod
    def from_hif(
        cls,
        path: str | os.PathLike[str],
        *,
        drop_empty: bool = ...,
        return_names: Literal[False] = ...,
        progress: Progress = ...,
    ) -> Self: ...

    @overload
    @classmethod
    def from_hif(
        cls,
        path: str | os.PathLike[str],
        *,
        drop_empty: bool = ...,
        return_names: Literal[True],
        progress: Progress = ...,
    ) -> tuple[Self, list[str | int], list[str | int]]: ...

    @classmethod
    def from_hif(
        cls,
        path: str | os.PathLike[str],
        *,
        drop_empty: bool = False,
        return_names: bool = False,
        progress: Progress = None,
    ) -> Self | tuple[Self, list[str | int], list[str | int]]:
        """Read a file in the Hypergraph Interchange Format (HIF) of any program.

        Vertices are in the order of ``nodes``, then in that of their first incidence; likewise
        edges. Weights that are left out are 1. Attributes, and weights of nodes, are not read,
        except ``weight`` among those of an edge that has no other weight, which is where xgi writes
        it. Records that are repeated count once. Edges without a vertex are left out, with a
        warning unless `drop_empty` is set.

        Parameters
        ----------
        path : str or path
            A file on disk, UTF-8.
        drop_empty : bool, default=False
            Leave out isolated vertices as well, and do not warn.
        return_names : bool, default=False
            Return the names of vertices and edges as well.
        progress : bool or callable, optional
            True shows a bar on standard error; a callable is called with the numbers of bytes read
            and in total.

        Returns
        -------
        graph : Hypergraph, or Graph if called on that class
        vertex_names, edge_names : list of str and int
            Only if `return_names` is set.

        Raises
        ------
        InputError
            If the file is not HIF, is directed, has no vertex, negative weights, or two weights
            for one incidence or edge; for a Graph, also if an edge has more than two vertices, a
            membership is not 1 or a vertex is in no edge.

        Examples
        --------
        >>> import tempfile
        >>> from enhg import Hypergraph
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open(f"{folder}/small.json", "w") as file:
        ...         _ = file.write('{"incidences": [{"edge": "e", "node": 7}]}')
        ...     Hypergraph.from_hif(f"{folder}/small.json", return_names=True)
        (Hypergraph(n_vertices=1, n_edges=1, memberships=1), [7], ['e'])
        """
        content, _ = read_hif(path, drop_empty=drop_empty, progress=progress)
        try:
            graph = cls.from_incidence(content.incidence, content.weights)
        except InputError as error:
            raise InputError(f"{os.fspath(path)}: {error}", parameter="path") from error
        return (graph, content.vertex_names, content.edge_names) if return_names else graph

    def __setattr__(self, name: str, value: object) -> NoReturn:
        kind = type(self).__name__
        raise AttributeError(f"a {kind} is immutable; cannot set its attribute {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        kind = type(self).__name__
        raise AttributeError(f"a {kind} is immutable; cannot delete its attribute {name!r}")

    def __reduce__(self) -> tuple[Any, tuple[State]]:
        # Through __init__, because unpickled NumPy arrays are no longer read-only.
        return type(self).from_state, (self.to_state(),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ImmutableGraph) or other._file_kind != self._file_kind:
            return NotImplemented
        own, others = self.to_state(), other.to_state()
        return all(_equal(own[name], others[name]) for name in own)

    __hash__ = None  # type: ignore[assignment]


def _opened(path: str | os.PathLike[str], requirement: str) -> IO[bytes]:
    try:
        return open_regular(path)
    except NotRegularError as error:
        raise InputError(f"{requirement}, got {error.kind}", parameter="path") from error
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"{requirement}, got {reason}", parameter="path") from error


def read_only(matrix: Any) -> Any:
    """Mark an array, or the arrays of a CSR array, read-only; return it."""
    parts = (matrix.data, matrix.indices, matrix.indptr) if sparse.issparse(matrix) else (matrix,)
    for array in parts:
        array.setflags(write=False)
    return matrix


def _equal(one: Any, other: Any) -> bool:
    if sparse.issparse(one) != sparse.issparse(other) or one.shape != other.shape:
        return False
    if sparse.issparse(one):
        return (one != other).nnz == 0
    return np.array_equal(one, other)
