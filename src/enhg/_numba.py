"""Switch for Numba's cache of compiled functions."""

from __future__ import annotations

import os

# ENHG_NUMBA_CACHE=0 compiles anew in every process, for read-only or shared installations.
CACHE = os.environ.get("ENHG_NUMBA_CACHE") != "0"
