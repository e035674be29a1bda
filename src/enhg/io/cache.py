"""Fitted structures kept on disk, so that another run on the same samples need not solve again."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from numpy.typing import NDArray
from sklearn.base import clone

from enhg._checkpoint import CheckpointLike, digest
from enhg._files import open_regular
from enhg._npz import read_archive, saved_parameters, write_archive
from enhg._progress import Progress
from enhg._version import __version__
from enhg.structures.elastic_net import ElasticNetHypergraph

_FORMAT, _VERSION = "enhg.Structure", 2
_KEPT = 8  # structures in a folder; the one that was not used for the longest time is removed


def fit_cached(
    structure: ElasticNetHypergraph,
    X: NDArray,
    folder: Path | None,
    progress: Progress = None,
    checkpoint: CheckpointLike = None,
) -> tuple[ElasticNetHypergraph, bool]:
    """Fit a structure, or read an equal one that was fitted to the same samples before.

    A file that is damaged, or that cannot be read or written, is as if it were not there.

    Parameters
    ----------
    structure : ElasticNetHypergraph
        Its parameters; its preprocessing is a name.
    X : ndarray of shape (n_samples, n_features)
        Finite numbers.
    folder : Path or None
        The folder of the fitted structures, made if it does not exist; None to fit always.
    progress : bool or callable, optional
        As in `ElasticNetHypergraph.fit`.
    checkpoint : path, optional
        As in `ElasticNetHypergraph.fit`.

    Returns
    -------
    (ElasticNetHypergraph, bool)
        The fitted structure, and whether it was read.
    """
    if folder is None:
        return structure.fit(X, progress=progress, checkpoint=checkpoint), False
    file = folder / f"structure-{_fingerprint(structure, X)}.npz"
    with suppress(Exception):  # on arbitrary bytes the readers raise almost any exception
        with open_regular(file) as stream:
            stored = ElasticNetHypergraph.from_state(read_archive(stream, _FORMAT, _VERSION))
        stored.set_params(n_jobs=structure.n_jobs, memory_budget=structure.memory_budget)
        with suppress(OSError):  # of another user
            file.touch()
        return stored, True
    structure.fit(X, progress=progress, checkpoint=checkpoint)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)  # one that could not be read
        write_archive(file, _FORMAT, _VERSION, structure.to_state(), overwrite=False)
        _remove_oldest(folder)
    return structure, False


def _fingerprint(structure: ElasticNetHypergraph, X: NDArray) -> str:
    """Hash of samples, parameters and version."""
    plain = saved_parameters(clone(structure).set_params(hyperedges=None))
    rule = None if structure.hyperedges is None else structure.hyperedges.to_state()
    header = [__version__, _VERSION, plain, rule, digest(X)]
    return sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()[:32]


def _remove_oldest(folder: Path) -> None:
    files = sorted(folder.glob("structure-*.npz"), key=lambda file: file.stat().st_mtime_ns)
    for file in files[:-_KEPT]:
        file.unlink()
