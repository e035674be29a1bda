"""Free memory of the machine."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

_PROC = Path("/proc")
_LEAST_BYTES = 256_000_000  # buffers of BLAS for two threads, and machine code that is loaded
_THREAD_BYTES = 256_000_000  # of the address space: stack, heap and buffers of BLAS of a thread
# Files of a control group with its limit and its usage, and what its statistics call the part of
# the usage that can be given up at once, in versions 2 and 1.
_FILES = {
    "cgroup2": ("memory.max", "memory.current", "inactive_file"),
    "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def free_memory() -> int:
    """Return the bytes available to this process without swapping.

    The available memory of the machine (Linux, Windows) or its physical memory (elsewhere), and no
    more than what is left of the limits of the process: those of its control group and of the
    groups that this is part of, and that of its address space.
    """
    left = [_group_memory(*group) for group in _groups()]
    return max(0, min(_machine_memory(), _address_space(), *left))


def require_memory() -> None:
    """Raise MemoryError if there is less memory than the libraries need.

    OpenBLAS, which has a thread for every core that the process may use, tries for ever to
    allocate its buffers where there is too little.
    """
    reserved = _LEAST_BYTES + _THREAD_BYTES * _usable_cores()
    if (left := _address_space()) < reserved:
        raise MemoryError(
            f"{left / 1e6:.0f} MB of the address space are left of {reserved / 1e6:.0f} MB at least"
        )
    if (free := free_memory()) < _LEAST_BYTES:
        raise MemoryError(f"{free / 1e6:.0f} MB are free of {_LEAST_BYTES / 1e6:.0f} MB at least")


def _usable_cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _groups() -> Iterator[tuple[Path, str]]:
    """The folders of the control groups of this process, and of those around them, by version."""
    own = {}
    for line in _lines(_PROC / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers or "memory" in controllers.split(","):
            own["cgroup" if controllers else "cgroup2"] = PurePosixPath(path)
    for line in _lines(_PROC / "self" / "mountinfo"):
        # number, parent, device, root, mount point, options, …, "-", type, source, options
        place, _, system = line.partition(" - ")
        kind, _, options = system.split(" ", 2)
        if kind not in own or (kind == "cgroup" and "memory" not in options.split(",")):
            continue
        root, mount = (PurePosixPath(_unescaped(word)) for word in place.split(" ")[3:5])
        # Seen from within a container, its own group may be the root of what is mounted.
        inside = own[kind].relative_to(root) if own[kind].is_relative_to(root) else PurePosixPath()
        for folder in (mount / inside, *(mount / inside).parents):
            if folder.is_relative_to(mount):
                yield Path(folder), kind


def _group_memory(folder: Path, kind: str) -> int:
    """Bytes left of the limit of a control group; the largest number without a limit."""
    limit, usage, inactive = _FILES[kind]
    try:
        left = int((folder / limit).read_text()) - int((folder / usage).read_text())
    except (OSError, ValueError):  # the root has no such files, and "max" is no limit
        return sys.maxsize
    for line in _lines(folder / "memory.stat"):
        name, _, value = line.partition(" ")
        if name == inactive:
            left += int(value)
    return left


def _address_space() -> int:
    """Bytes left of the limit on the address space; the largest number without a limit."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # absent on Windows

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            pages = int((_PROC / "self" / "statm").read_text().split()[0])
            return limit - pages * resource.getpagesize()
    return sys.maxsize


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []


def _unescaped(path: str) -> str:
    """A path of mountinfo, which has octal numbers in place of white space."""
    return path.encode().decode("unicode_escape")


def _machine_memory() -> int:
    if sys.platform == "win32":
        return _windows_memory()
    available = _meminfo_available()
    if available is not None:
        return available
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _meminfo_available() -> int | None:
    """Return MemAvailable of Linux in bytes, or None where there is no such entry."""
    for line in _lines(_PROC / "meminfo"):
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
