"""Free memory by platform, with files and calls of the operating system replaced."""

from __future__ import annotations

import ctypes
import os
from types import SimpleNamespace

import pytest

from enhg import _memory


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Replace the files of the system; returns a function that writes one of them."""
    names = ("meminfo", "limit", "usage", "old_limit", "old_usage")
    paths = {name: tmp_path / name for name in names}
    monkeypatch.setattr(_memory, "_MEMINFO", paths["meminfo"])
    monkeypatch.setattr(
        _memory,
        "_CGROUP_LIMITS",
        ((paths["limit"], paths["usage"]), (paths["old_limit"], paths["old_usage"])),
    )

    def write(**texts):
        for name, text in texts.items():
            paths[name].write_text(str(text))

    return write


def test_the_machine_has_memory_within_its_size():
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < _memory.free_memory() <= total


def test_available_memory_of_linux(files):
    files(meminfo="MemTotal:       2000 kB\nMemFree:  10 kB\nMemAvailable:    1500 kB\n")
    assert _memory.free_memory() == 1500 * 1024


@pytest.mark.parametrize("meminfo", [None, "MemTotal:       2000 kB\n"])
def test_physical_memory_where_linux_states_none(files, meminfo):
    if meminfo:
        files(meminfo=meminfo)
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert _memory.free_memory() == total


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"limit": "1000000\n", "usage": "400000\n"}, 600_000),
        ({"old_limit": 900_000, "old_usage": 100_000}, 800_000),
        ({"limit": "max\n", "usage": 400_000}, 1500 * 1024),
        ({"limit": 1_000_000}, 1500 * 1024),
        ({"limit": 1000, "usage": 2000}, 0),
        ({"limit": 10**12, "usage": 0}, 1500 * 1024),
        ({"limit": 10**6, "usage": 0, "old_limit": 500, "old_usage": 100}, 400),
    ],
    ids=str,
)
def test_limits_of_containers(files, texts, expected):
    files(meminfo="MemAvailable: 1500 kB\n", **texts)
    assert _memory.free_memory() == expected


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
