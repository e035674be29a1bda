"""How much memory there is to use."""

from __future__ import annotations

from pathlib import Path

import psutil

# Where Linux keeps what a container may use and uses (control groups, version 2 and 1).
_LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)


def free_memory() -> int:
    """Bytes that can be used without taking them from others: the machine's, or the container's
    if that has fewer."""
    free = psutil.virtual_memory().available
    for limit, used in _LIMITS:
        try:
            free = min(free, max(int(Path(limit).read_text()) - int(Path(used).read_text()), 0))
        except (OSError, ValueError):  # no such group, or "max": no limit
            continue
    return free
