"""Base class of immutable graphs and hypergraphs: equality, copies, files and the Laplacian."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import IO, Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from enhg._files import NotRegularError, open_regular
from enhg._npz import State, read_archive, write_archive
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
