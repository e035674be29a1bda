"""Names of samples in tables, which may lack leading folders or the extension of an image."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from enhg.io._texts import composed
from enhg.io.images import IMAGE_SUFFIXES


class NameFinder:
    """Samples by path, else by file name; each with, else without the extension of an image."""

    def __init__(self, names: Sequence[str]) -> None:
        self._exact: dict[str, list[int]] = defaultdict(list)
        self._paths = [PurePosixPath(composed(name)) for name in names]
        self._tables: tuple[dict[str, list[int]], ...] = tuple(defaultdict(list) for _ in range(4))
        for i, path in enumerate(self._paths):
            self._exact[names[i]].append(i)
            for table, key in zip(self._tables, _keys(path), strict=True):
                table[key].append(i)

    def find(self, name: str) -> list[int]:
        """Every sample that `name` matches, in the first of these ways in which any does."""
        if name in self._exact:
            return self._exact[name]
        path = _parsed(name)
        whole, bare, base, stem = _keys(path)
        for table, key in zip(
            [self._tables[k] for k in (0, 1, 1, 2, 3, 3)],
            (whole, whole, bare, base, base, stem),
            strict=True,
        ):
            matches = [i for i in table.get(key, []) if self._folders_agree(i, path)]
            if matches:
                return matches
        return []

    def outside(self, i: int, name: str) -> str:
        """The last folder of `name` that the sample i, which it matches, is not in, in lower case.

        Of this folder there is one, however its own place is written.
        """
        if name in self._exact:
            return ""
        folders = _parsed(name).parts[:-1]
        count = len(folders) + 1 - len(self._paths[i].parts)
        return folders[count - 1].casefold() if count > 0 else ""

    def _folders_agree(self, i: int, path: PurePosixPath) -> bool:
        """Whether the folders of one path end with those of the other."""
        ours, theirs = self._paths[i].parts[-2::-1], path.parts[-2::-1]
        return all(a == b for a, b in zip(ours, theirs, strict=False))


def _parsed(name: str) -> PurePosixPath:
    return PurePosixPath(composed(name.strip()).replace("\\", "/"))


def _keys(path: PurePosixPath) -> tuple[str, str, str, str]:
    """Path, path without extension, file name, file name without extension."""
    return str(path), str(path.parent / _stem(path.name)), path.name, _stem(path.name)


def _stem(name: str) -> str:
    path = PurePosixPath(name)
    return path.stem if path.suffix.lower() in IMAGE_SUFFIXES else name
