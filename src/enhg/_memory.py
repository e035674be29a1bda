"""Free memory of the machine."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
# Limit and usage of the memory of a container on Linux (control groups, versions 2 and 1).
_CGROUP_LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def free_memory() -> int:
    """Return the bytes available to this process without swapping.

    The available memory of the machine (Linux, Windows) or its physical memory (elsewhere), and no
    more than what is left of a container's limit.
    """
    free = _machine_memory()
    for limit, usage in _CGROUP_LIMITS:
        try:
            left = int(limit.read_text()) - int(usage.read_text())
        except (OSError, ValueError):  # no such group, or "max": no limit
            continue
        free = min(free, max(left, 0))
    return free


def _machine_memory() -> int:
    if sys.platform == "win32":
        return _windows_memory()
    available = _meminfo_available()
    if available is not None:
        return available
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _meminfo_available() -> int | None:
    """Return MemAvailable of Linux in bytes, or None where there is no such entry."""
    try:
        lines = _MEMINFO.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("dwLength", ctypes.c_uint32),
        ("dwMemoryLoad", ctypes.c_uint32),
        ("ullTotalPhys", ctypes.c_uint64),
        ("ullAvailPhys", ctypes.c_uint64),
        ("ullTotalPageFile", ctypes.c_uint64),
        ("ullAvailPageFile", ctypes.c_uint64),
        ("ullTotalVirtual", ctypes.c_uint64),
        ("ullAvailVirtual", ctypes.c_uint64),
        ("ullAvailExtendedVirtual", ctypes.c_uint64),
    )


def _windows_memory() -> int:
    status = _MemoryStatus(dwLength=ctypes.sizeof(_MemoryStatus))
    kernel32 = getattr(ctypes, "windll").kernel32  # noqa: B009 (absent on other systems)
    if not kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        raise OSError("GlobalMemoryStatusEx failed")
    return int(status.ullAvailPhys)
