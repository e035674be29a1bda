"""Machine code on disk: the switch, and folders that are damaged, full or cannot be written to."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import subprocess
import sys
from errno import EACCES
from pathlib import Path

import numba
import pytest

import enhg
from enhg import _numba

PROGRAM = """
import numpy as np
from enhg.structures._kernels import products_on_pattern as kernel
i = np.zeros(1, np.int64); z = np.full(1, 3.0); p = np.array([0, 1]); out = np.zeros(1)
kernel(0, 1, p, i, z, 1, p, i, out)
print(kernel.is_kept, out[0])
print(sum(kernel.dispatcher.stats.cache_hits.values()))
"""
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH, _PR_CAPBSET_DROP = 1, 2, 24


def run(folder, **options):
    """Run the program in a process of its own, with the cache in a folder.

    Returns
    -------
    (bool, int, list of str)
        Whether machine code is kept, how often it was read, and the warnings.
    """
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)} | options.pop("environment", {})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True,
        check=False, **options,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    kept, product, hits = done.stdout.split()
    assert float(product) == 9
    return kept == "True", int(hits), [x for x in done.stderr.splitlines() if "Warning" in x]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The cache of a process that ended properly, to be copied."""
    folder = tmp_path_factory.mktemp("numba")
    assert run(folder) == (True, 0, [])
    assert run(folder) == (True, 1, [])
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*.*")}


@pytest.fixture
def cache(tmp_path, filled):
    for name, content in filled.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    return tmp_path


@pytest.mark.parametrize(("value", "kept"), [("", True), ("0", False)])
def test_the_environment_variable_switches_the_cache(tmp_path, value, kept):
    assert run(tmp_path, environment={"ENHG_NUMBA_CACHE": value}) == (kept, 0, [])
    assert any(tmp_path.rglob("*.nbc")) == kept


def flip(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(
    ("kind", "damage"), [("nbi", lambda c: c[:-20]), ("nbc", lambda c: b""), ("nbc", flip)]
)
def test_a_damaged_file_is_named_and_replaced(cache, kind, damage):
    (file,) = cache.rglob(f"*.{kind}")
    file.write_bytes(damage(file.read_bytes()))
    kept, hits, (warning,) = run(cache)
    assert (kept, hits) == (True, 0)
    assert f"{file.parent}: machine code there was damaged and is compiled again" in warning
    assert run(cache) == (True, 1, [])


@pytest.mark.parametrize("kind", ["nbc", "nbi.*.sha256"])
def test_a_file_that_is_missing_is_made_again(cache, kind):
    """As after a process that was killed between two files, also those of this package."""
    (file,) = cache.rglob(f"*.{kind}")
    file.unlink()
    assert run(cache) == (True, 0, [])
    assert run(cache) == (True, 1, [])


def test_files_of_another_version_of_numba_are_removed(cache):
    """Of two processes that start at once, one would read them by the index of the other."""
    names = {file.name for file in cache.rglob("*.nb?")}
    for digest in cache.rglob("*.sha256"):
        digest.rename(digest.with_name(digest.name.replace(numba.__version__, "0.1.2")))
    assert run(cache) == (True, 0, [])
    assert {file.name for file in cache.rglob("*.nb?")} == names
    assert len(list(cache.rglob("*.sha256"))) == len(names)
    assert not list(cache.rglob("*0.1.2*"))
    assert run(cache) == (True, 1, [])


def test_unfinished_files_of_killed_processes_are_removed(cache):
    (file,) = cache.rglob("*.nbc")
    old, young = (file.with_name(f"{file.name}.tmp.{name}") for name in ("old", "young"))
    for part in (old, young):
        part.write_bytes(b"some")
    os.utime(old, (0, 0))
    assert run(cache) == (True, 1, [])
    assert young.exists()
    assert not old.exists()


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def test_a_full_disk_ends_no_run(tmp_path):
    kept, hits, (warning,) = run(tmp_path, preexec_fn=limit_files)
    assert (kept, hits) == (True, 0)
    assert "machine code cannot be kept there" in warning
    assert "(File too large)" in warning
    assert str(tmp_path) in warning
    assert run(tmp_path) == (True, 0, [])


def obey_permissions():
    """Give up the right of root to write everywhere, in a process that is about to start."""
    libc = ctypes.CDLL(None)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


@pytest.fixture
def read_only(tmp_path):
    """Options of a process that can write neither beside the package nor to its home."""
    if sys.platform != "linux":
        pytest.skip("permissions of root are given up by a call of Linux")
    shutil.copytree(
        Path(enhg.__file__).parent, tmp_path / "lib" / "enhg",
        ignore=shutil.ignore_patterns("__pycache__"),
    )  # fmt: skip
    home = tmp_path / "home"
    home.mkdir()
    folders = [home, *(path for path in (tmp_path / "lib").rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield {
        "preexec_fn": obey_permissions,
        "environment": {"HOME": str(home), "PYTHONPATH": str(tmp_path / "lib")},
    }
    for folder in folders:
        folder.chmod(0o755)


def test_without_a_folder_that_can_be_written_to(read_only):
    """Neither that of the variable, nor beside the module, nor at home; or home is missing."""
    home = Path(read_only["environment"]["HOME"])
    for name in ("", "missing"):
        read_only["environment"] |= {
            "HOME": str(home / name), "XDG_CACHE_HOME": str(home / name / ".cache"),
        }  # fmt: skip
        kept, hits, (warning,) = run(Path("/proc/none"), **read_only)
        assert (kept, hits) == (False, 0)
        assert "/proc/none: machine code cannot be kept there" in warning
        assert "set NUMBA_CACHE_DIR" in warning


def test_a_damaged_file_that_cannot_be_removed(cache, monkeypatch):
    """Numba tries to write to a folder before it is used, so it must become so afterwards."""
    (file,) = cache.rglob("*.nbc")
    file.write_bytes(b"")
    monkeypatch.setattr(_numba, "_warned", [])
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.warns(UserWarning, match="machine code cannot be kept there.*damaged"):
        assert not _numba._Folder(file.parent).is_usable


def refuse(*_, **__):
    raise PermissionError(EACCES, os.strerror(EACCES))


def test_without_compilation():
    done = subprocess.run(
        [sys.executable, "-c", "from enhg import HypergraphClustering"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "InputError: NUMBA_DISABLE_JIT must be 0 or unset, got 1" in done.stderr
