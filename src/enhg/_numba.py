"""Settings of the compiled code."""

from __future__ import annotations

import os

# Numba keeps machine code on disk between processes unless ENHG_NUMBA_CACHE=0, for installations
# whose cache folder cannot be written to and for work on the kernels themselves.
CACHE: bool = os.environ.get("ENHG_NUMBA_CACHE", "1") != "0"
