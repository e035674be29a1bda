"""Files of named arrays (.npz) that know what they are: whole or not at all, nothing executed."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from enhg._atomic import atomic_file


def write_archive(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    state: Mapping[str, Any],
    *,
    overwrite: bool,
) -> None:
    """Write the arrays with the mark of their kind; an existing file only if told so."""
    target = Path(path)
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} already exists; pass overwrite=True to replace it")
    with atomic_file(target) as part, open(part, "xb") as stream:
        np.savez(stream, format=kind, version=version, **_flat(state))
        stream.flush()
        os.fsync(stream.fileno())


def read_archive(stream: IO[bytes], kind: str, version: int) -> dict[str, NDArray]:
    """The arrays of a file that `write_archive` wrote, or an error that says what is wrong."""
    # NumPy reads as far as an array's header says, which can be short of the checksum.
    with zipfile.ZipFile(stream) as members:
        # Nothing of ours is compressed: what is could be any number of times as large in memory.
        if any(member.compress_type != zipfile.ZIP_STORED for member in members.infolist()):
            raise ValueError("received a compressed archive")
        damaged = members.testzip()
    if damaged is not None:
        raise ValueError(f"received a damaged {damaged}")
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as archive:
        if "format" not in archive or str(archive["format"]) != kind:
            raise ValueError(f"received an archive without the mark {kind!r}")
        if archive["version"] != version:
            raise ValueError(
                f"received format version {archive['version']} and this enhg reads version "
                f"{version}: a newer enhg may have written it"
            )
        flat = {name: archive[name] for name in archive.files if name not in ("format", "version")}
    return _nested(flat)


def _flat(state, prefix=""):
    out, plain = {}, {}
    for k, v in state.items():
        if isinstance(v, dict):
            out |= _flat(v, f"{prefix}{k}/")
        elif isinstance(v, np.ndarray):
            out[prefix + k] = v
        else:
            plain[k] = v
    if "json" not in plain:
        out[prefix + "json"] = np.array(json.dumps(plain))
    return out


def _nested(flat):
    state = {}
    for name, value in flat.items():
        *path, leaf = name.split("/")
        place = state
        for part in path:
            place = place.setdefault(part, {})
        if leaf == "json":
            place |= json.loads(str(value))
        else:
            place[leaf] = value
    return state
