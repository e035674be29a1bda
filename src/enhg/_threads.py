"""Functions called in several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from joblib import Parallel, delayed

_S = TypeVar("_S")
_T = TypeVar("_T")


def map_in_threads(function: Callable[[_S], _T], items: Iterable[_S]) -> list[_T]:
    """function(item) of all items, in the threads of joblib; of a single one without them."""
    listed = list(items)
    n_jobs = -1 if len(listed) > 1 else 1
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(function)(x) for x in listed))
