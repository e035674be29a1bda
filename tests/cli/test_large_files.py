"""Input in files of many samples: the same clusters from .npy, .parquet and .zarr."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zarr
from sklearn.datasets import load_digits


def test_the_same_clusters_from_every_kind_of_file(run, tmp_path):
    X = load_digits(n_class=3).data[:90].astype(np.float32)
    np.save(tmp_path / "a.npy", X)
    pq.write_table(pa.table({"embedding": X.tolist()}).cast(
        pa.schema({"embedding": pa.list_(pa.float32())})), tmp_path / "a.parquet")  # fmt: skip
    zarr.create_array(tmp_path / "a.zarr", data=X, chunks=(20, 64))
    tables = []
    for kind in ("npy", "parquet", "zarr"):
        out = tmp_path / kind
        result = run("cluster", tmp_path / f"a.{kind}", "-k", 3, "-o", out)
        assert result.exit_code == 0, result.output
        tables.append((out / "labels.csv").read_bytes())
    assert tables[0] == tables[1] == tables[2]


def test_a_zarr_folder_is_no_folder_of_images(run, tmp_path):
    (tmp_path / "a.zarr").mkdir()
    result = run("cluster", tmp_path / "a.zarr", "-k", 3, "-o", tmp_path / "out")
    assert result.exit_code != 0
    assert "must be a Zarr array or group" in result.stderr
    assert not (tmp_path / "out").exists()
