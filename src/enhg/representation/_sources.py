"""Samples in files that a worker opens in place of receiving them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from enhg._checkpoint import digest
from enhg._validation import sample_dtype, zarr_folder
from enhg.exceptions import InputError

_ZARR_METADATA = {2: ".zarray", 3: "zarr.json"}  # by format


@dataclass(frozen=True)
class MappedFile:
    """An array in a file that is memory-mapped.

    Attributes
    ----------
    path : str
    dtype : str
    shape : tuple of int
    offset, size, modified : int
        The offset of the array, the bytes of the file and when it was written.
    """

    path: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    size: int
    modified: int

    @classmethod
    def from_array(cls, array: NDArray) -> Self | None:
        """The file of an array that is memory-mapped as a whole, else None."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        # Changes of a map of mode "c" are in memory alone.
        if not isinstance(owner, np.memmap) or owner.filename is None or owner.mode == "c":
            return None
        same = owner.ctypes.data == array.ctypes.data and owner.nbytes == array.nbytes
        if not (same and array.flags.c_contiguous and owner.dtype == array.dtype):
            return None
        path = os.path.abspath(owner.filename)
        status = os.stat(path)
        return cls(
            path, array.dtype.str, array.shape, owner.offset, status.st_size, status.st_mtime_ns
        )

    def is_visible(self) -> bool:
        """Whether this process sees the same file."""
        try:
            status = os.stat(self.path)
        except OSError:
            return False
        return (status.st_size, status.st_mtime_ns) == (self.size, self.modified)

    def open(self) -> NDArray:
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape)


@dataclass(frozen=True)
class ZarrFolder:
    """An array in a Zarr folder, read as samples.

    Attributes
    ----------
    name : str
        The name of the samples, for messages.
    path : str
    zarr_format : {2, 3}
    metadata : bytes
        The file that describes the array.
    dtype : str
        The type of the samples.
    fingerprint : str
        The digest of the samples. Zarr reads a chunk that is missing as zeros, without an error.
    """

    name: str
    path: str
    zarr_format: Literal[2, 3]
    metadata: bytes
    dtype: str
    fingerprint: str

    @classmethod
    def read(cls, array: Any, name: str) -> tuple[NDArray, Self] | None:
        """The samples and the folder of an array of Zarr; None if it is not in a folder."""
        folder = zarr_folder(array)
        if folder is None:
            return None
        version = array.metadata.zarr_format
        metadata = (folder / _ZARR_METADATA[version]).read_bytes()
        samples = np.ascontiguousarray(array[...], dtype=sample_dtype(array.dtype))
        return samples, cls(
            name, str(folder), version, metadata, samples.dtype.str, digest(samples)
        )

    def is_visible(self) -> bool:
        """Whether this process sees an array of the same description, and can read it."""
        try:
            metadata = (Path(self.path) / _ZARR_METADATA[self.zarr_format]).read_bytes()
        except OSError:
            return False
        return metadata == self.metadata and find_spec("zarr") is not None

    def open(self) -> NDArray:
        """Read the samples.

        Raises
        ------
        InputError
            If they are no longer those that were read first.
        """
        if self.is_visible():  # before anything is decoded
            import zarr

            stored = zarr.open_array(store=self.path, mode="r", zarr_format=self.zarr_format)
            samples = np.ascontiguousarray(stored[...], dtype=self.dtype)
            if digest(samples) == self.fingerprint:
                return samples
        raise InputError(
            f"{self.name} must stay as it is until all samples are represented, got a Zarr array "
            f"that was changed or removed, {self.path}",
            parameter=self.name,
        )
