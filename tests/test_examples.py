"""The scripts in examples/, which are the gallery, run without errors and warnings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_prints(script, tmp_path, request):
    environment = os.environ | {"MPLBACKEND": "Agg"}
    if "ENHG_DATA" in script.read_text(encoding="utf-8"):
        environment["ENHG_DATA"] = str(request.getfixturevalue("data_folder"))
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert done.stderr == ""
