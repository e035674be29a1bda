"""Names of samples in tables, which may lack leading folders or the extension of an image."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from pathlib import PurePosixPath

from enhg.io._texts import composed
from enhg.io.images import IMAGE_SUFFIXES


class NameFinder:
    """Samples by path, else by file name; each with, else without the extension of an image."""

    def __init__(self, names: Sequence[str]) -> None:
        self._exact: dict[str, list[int]] = defaultdict(list)
        for i, name in enumerate(names):
            self._exact[name].append(i)
        self._parts = [PurePosixPath(composed(name)).parts for name in names]
        self._tables: dict[tuple[bool, int], dict[tuple[str, ...], list[int]]] = {}

    def find(self, name: str) -> list[int]:
        """Every sample that `name` matches, in the first of these ways in which any does."""
        if name in self._exact:
            return self._exact[name]
        parts = _parsed(name).parts
        ways = ((False, parts), (True, parts), (True, _bare(parts)))
        for is_bare, wanted in ways:
            if matches := self._table(is_bare, 0).get(wanted):
                return matches
        for is_bare, wanted in ways:
            if matches := self._ending_alike(is_bare, wanted):
                return matches
        return []

    def outside(self, i: int, name: str) -> str:
        """The last folder of `name` that the sample i, which it matches, is not in, in lower case.

        Of this folder there is one, however its own place is written.
        """
        if name in self._exact:
            return ""
        parts = _parsed(name).parts
        count = len(parts) - len(self._parts[i])
        return parts[count - 1].casefold() if count > 0 else ""

    def _ending_alike(self, is_bare: bool, parts: tuple[str, ...]) -> list[int]:
        """Samples whose path ends with these parts, or is the end of them."""
        longer = self._table(is_bare, len(parts)).get(parts, []) if parts else []
        whole = self._table(is_bare, 0)
        shorter = (whole.get(parts[-k:], []) for k in range(1, len(parts)))
        return sorted(chain(longer, *shorter))

    def _table(self, is_bare: bool, depth: int) -> dict[tuple[str, ...], list[int]]:
        """Samples by the last `depth` parts of their paths, by all parts if it is 0."""
        if (is_bare, depth) not in self._tables:
            table = self._tables[is_bare, depth] = defaultdict(list)
            for i, parts in enumerate(self._parts):
                if len(parts) >= depth:
                    table[(_bare(parts) if is_bare else parts)[-depth:]].append(i)
        return self._tables[is_bare, depth]


def begin_with_names(labels: Sequence[str], names: Sequence[str]) -> bool:
    """Whether each label begins with the name of another sample, and a space.

    >>> begin_with_names(["b cat", "a dog"], ["a", "b"]), begin_with_names(["cat"], ["a"])
    (True, False)
    """
    starts = {label.rpartition(" ")[0].strip() for label in labels}
    if "" in starts or len(starts) < len(labels):
        return False
    finder = NameFinder(names)
    return bool(starts) and all(map(finder.find, starts))


def _parsed(name: str) -> PurePosixPath:
    return PurePosixPath(composed(name.strip()).replace("\\", "/"))


def _bare(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Parts of a path without the extension of an image."""
    return (*parts[:-1], _stem(parts[-1])) if parts else parts


def _stem(name: str) -> str:
    path = PurePosixPath(name)
    return path.stem if path.suffix.lower() in IMAGE_SUFFIXES else name
