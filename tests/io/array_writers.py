"""Writers of array files, by suffix."""

from __future__ import annotations

import h5py
import numpy as np
import scipy.io


def write_mat73(path, arrays):
    """What MATLAB's ``save -v7.3`` writes: HDF5 behind a text header, axes reversed."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            file[name] = np.asarray(array).T
            file[name].attrs["MATLAB_class"] = np.bytes_(b"double")
        file["title"] = np.array([[70, 97], [70, 97], [70, 97]], dtype=np.uint16)
        file["title"].attrs["MATLAB_class"] = np.bytes_(b"char")
        file["#refs#/a"] = np.zeros((3, 3))
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def write_h5(path, arrays):
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array


WRITERS = {
    "npz": lambda path, arrays: np.savez(path, **arrays),
    "zipped.npz": lambda path, arrays: np.savez_compressed(path, **arrays),
    "v5.mat": lambda path, arrays: scipy.io.savemat(path, arrays),
    "zipped.mat": lambda path, arrays: scipy.io.savemat(path, arrays, do_compression=True),
    "v4.mat": lambda path, arrays: scipy.io.savemat(path, arrays, format="4"),
    "v73.mat": write_mat73,
    "h5": write_h5,
    "hdf5": write_h5,
}
