"""Arrays in a file that are not loaded yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from numpy.typing import NDArray

from enhg._files import check_size
from enhg._npz import check_text
from enhg.exceptions import InputError


@dataclass(frozen=True)
class Entry:
    """An array in a file that is not loaded yet.

    Attributes
    ----------
    shape : tuple of int
    kind : str
        NumPy's letter for the kind of its type.
    dtype : str
        Name of the type.
    read : callable
        Reads the array, whatever its size.
    itemsize : int, default=0
        Bytes of a value in memory.
    stored : int, default=0
        Bytes of the array in the file.
    extra : int, default=0
        Bytes of memory that reading needs besides the array.
    """

    shape: tuple[int, ...]
    kind: str
    dtype: str
    read: Callable[[], NDArray[Any]]
    itemsize: int = 0
    stored: int = 0
    extra: int = 0

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def is_vector(self) -> bool:
        """At most one axis is longer than 1 (MATLAB has no other vectors)."""
        return self.size == max(self.shape, default=1)

    def load(self, where: str) -> NDArray[Any]:
        """Read the array if it fits in memory; `where` is its name in the message of the error."""
        check_size(self.size * self.itemsize + self.extra, self.stored, where)
        array = self.read()
        try:
            check_text(array)
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
        return array


Entries = dict[str, Entry]
