"""The switch of the cache of compiled code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
from enhg._numba import CACHE
from enhg.representation._kernels import solve
print(CACHE, solve.stats.cache_path is None)
"""


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "True False"), ("1", "True False"), ("", "True False"), ("0", "False True")],
)
def test_the_environment_variable_switches_the_cache(value, expected):
    environment = {name: text for name, text in os.environ.items() if name != "ENHG_NUMBA_CACHE"}
    if value is not None:
        environment["ENHG_NUMBA_CACHE"] = value
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[0] == expected


def test_without_the_cache_nothing_is_written(tmp_path):
    """With the cache a compiled kernel leaves files in the cache folder."""
    program = (
        "import numpy as np\n"
        "from enhg._numba import CACHE\n"
        "from numba import njit\n"
        "from enhg.structures._kernels import products_on_pattern\n"
        "i = np.zeros(1, np.int64); z = np.ones(1); p = np.array([0, 1])\n"
        "products_on_pattern(0, 1, p, i, z, 1, p, i, z)\n"
    )
    for value, files in (("0", False), ("1", True)):
        environment = os.environ | {"ENHG_NUMBA_CACHE": value, "NUMBA_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", program], env=environment, check=True)
        assert any(tmp_path.rglob("*.nbc")) == files
