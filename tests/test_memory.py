"""Free memory by platform, with files and calls of the operating system replaced."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from enhg import _memory

MACHINE = 1500 * 1024


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Replace the files of the system; returns a function that writes some of them."""
    monkeypatch.setattr(_memory, "_PROC", tmp_path / "proc")

    def write(texts):
        for name, text in texts.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(str(text).replace("ROOT", str(tmp_path)))

    return write


def test_the_machine_has_memory_within_its_size():
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < _memory.free_memory() <= total


@pytest.mark.skipif(not os.path.exists("/proc/self/cgroup"), reason="needs control groups of Linux")
def test_the_group_of_this_process_exists():
    """Its own folder, whose list of processes has this one, comes first."""
    folders = [folder for folder, _ in _memory._groups()]
    lists = [folder / "cgroup.procs" for folder in folders if (folder / "cgroup.procs").exists()]
    if not lists:
        pytest.skip("no control groups are mounted")
    assert str(os.getpid()) in lists[0].read_text().split()


def test_available_memory_of_linux(files):
    files({"proc/meminfo": "MemTotal:  2000 kB\nMemFree:  10 kB\nMemAvailable:    1500 kB\n"})
    assert _memory.free_memory() == MACHINE


@pytest.mark.parametrize("meminfo", [None, "MemTotal:       2000 kB\n"])
def test_physical_memory_where_linux_states_none(files, meminfo):
    if meminfo:
        files({"proc/meminfo": meminfo})
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert _memory.free_memory() == total


def limits(folder, limit, usage, inactive=0):
    """The files of a group of version 2."""
    return {
        f"cgroup/{folder}memory.max": limit,
        f"cgroup/{folder}memory.current": usage,
        f"cgroup/{folder}memory.stat": f"anon 5\ninactive_file {inactive}\nactive_file 7\n",
    }


def old_limits(folder, limit, usage, inactive=0):
    """The files of a group of version 1."""
    return {
        f"memory/{folder}memory.limit_in_bytes": limit,
        f"memory/{folder}memory.usage_in_bytes": usage,
        f"memory/{folder}memory.stat": f"cache 5\ntotal_inactive_file {inactive}\n",
    }


NEW = "31 23 0:28 / ROOT/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
OLD = (
    "32 31 0:29 / ROOT/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / ROOT/memory rw,relatime - cgroup cgroup rw,memory\n"
)


@pytest.mark.parametrize(
    ("group", "mounts", "texts", "expected"),
    [
        ("0::/\n", NEW, limits("", 10**6, 4 * 10**5), 600_000),
        ("0::/a/b\n", NEW, limits("a/b/", 10**6, 4 * 10**5), 600_000),
        ("0::/a/b\n", NEW, limits("a/b/", 10**6, 9 * 10**5, 3 * 10**5), 400_000),
        ("0::/a/b\n", NEW, limits("a/b/", "max", 4) | limits("a/", 900, 100), 800),
        ("0::/a/b\n", NEW, limits("a/b/", 700, 100) | limits("a/", 900, 100), 600),
        ("0::/a/b\n", NEW, limits("a/other/", 700, 100), MACHINE),
        ("0::/a/b\n", NEW, limits("a/b/", 1000, 2000), 0),
        ("0::/a/b\n", NEW, limits("a/b/", 10**12, 0), MACHINE),
        ("4:memory:/a\n2:cpu,cpuacct:/b\n0::/\n", OLD, old_limits("a/", 900, 100, 50), 850),
        ("4:memory:/a\n0::/\n", OLD + NEW, old_limits("", 700, 100) | limits("", 500, 0), 500),
        ("4:memory:/a\n", OLD, old_limits("b/", 700, 100), MACHINE),
        # A container sees its own group as the root of what is mounted.
        ("0::/docker/1/x\n", NEW.replace(" / ", " /docker/1 "), limits("x/", 900, 0), 900),
        ("0::/docker/1\n", NEW.replace(" / ", " /docker/1 "), limits("", 900, 0), 900),
        ("0::/elsewhere\n", NEW.replace(" / ", " /docker/1 "), limits("", 900, 0), 900),
    ],
    ids=str,
)  # fmt: skip
def test_limits_of_control_groups(files, group, mounts, texts, expected):
    files({"proc/meminfo": "MemAvailable: 1500 kB\n"})
    assert _memory.free_memory() == MACHINE
    files({"proc/self/cgroup": group, "proc/self/mountinfo": mounts, **texts})
    assert _memory.free_memory() == expected


def test_limit_of_the_address_space():
    """In a process of its own, which cannot raise its limit again."""
    program = (
        "import resource; from enhg._memory import free_memory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**28, 2**28)); print(free_memory())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert 0 < int(done.stdout) < 2**28


@pytest.mark.skipif(sys.platform != "linux", reason="needs the cores of a process of Linux")
@pytest.mark.parametrize(("cores", "enough"), [(1, True), (2, False)])
def test_memory_is_required_for_the_cores_that_the_process_may_use(monkeypatch, cores, enough):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)))
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(_memory, "_address_space", lambda: 600_000_000)
    if enough:
        _memory.require_memory()
    else:
        with pytest.raises(MemoryError, match="600 MB of the address space are left of 768 MB"):
            _memory.require_memory()


@pytest.fixture
def windows(files, monkeypatch):
    """Replace the Windows API; returns its settings."""
    api = SimpleNamespace(available=123_456, succeeds=1)

    def fill(reference):
        status = reference._obj
        assert status.dwLength == 64  # the size the API requires
        status.ullTotalPhys = 10 * api.available
        status.ullAvailPhys = api.available
        return api.succeeds

    kernel32 = SimpleNamespace(GlobalMemoryStatusEx=fill)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel32), raising=False)
    monkeypatch.setattr(_memory.sys, "platform", "win32")
    return api


def test_available_memory_of_windows(windows):
    assert _memory.free_memory() == 123_456


def test_failure_of_the_windows_api_is_an_error(windows):
    windows.succeeds = 0
    with pytest.raises(OSError, match="GlobalMemoryStatusEx"):
        _memory.free_memory()
