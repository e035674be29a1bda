"""Arrays in a file that are not loaded yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Entry:
    """An array in a file that is not loaded yet.

    `kind` is NumPy's letter for the kind of its type, `dtype` the name of the type.
    """

    shape: tuple[int, ...]
    kind: str
    dtype: str
    load: Callable[[], NDArray[Any]]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def is_vector(self) -> bool:
        """At most one axis is longer than 1 (MATLAB has no other vectors)."""
        return self.size == max(self.shape, default=1)


Entries = dict[str, Entry]
