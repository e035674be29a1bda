"""What a release states in several places agrees."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml

import enhg

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def newest_entry():
    """Version and date of the newest release in the changelog."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.search(r"^## (\d\S*) - (\d{4}-\d\d-\d\d)$", text, re.MULTILINE).groups()


def supported():
    """Versions of Python that the classifiers name."""
    pattern = re.compile(r"Programming Language :: Python :: (3\.\d+)")
    return [match[1] for text in PROJECT["classifiers"] if (match := pattern.fullmatch(text))]


def test_version_and_date():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    stated = (str(citation["version"]), str(citation["date-released"]))
    assert newest_entry() == stated
    assert stated[0] == enhg.__version__


@pytest.fixture(scope="module")
def workflow():
    path = ROOT / ".github" / "workflows" / "ci.yml"
    if not path.is_file():
        pytest.skip("the sdist has no workflow")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_oldest_python():
    assert PROJECT["requires-python"] == f">={supported()[0]}"


def test_workflow_runs_ci_for_every_supported_python(workflow):
    job = workflow["jobs"]["ci"]
    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    matrix = {(row["python"], row["dependencies"]) for row in job["strategy"]["matrix"]["include"]}
    oldest = supported()[0]
    assert matrix == {(version, "newest") for version in supported()} | {(oldest, "oldest")}
    assert workflow["permissions"] == {"contents": "read"}


def test_oldest_versions_are_the_lower_bounds():
    """Every requirement of the installed package that is no tool of development is listed."""
    script = ROOT / ".ci" / "oldest.py"
    if not script.is_file():
        pytest.skip("the sdist has no .ci")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    users = [
        text
        for text in requires("enhg")
        if not re.search(r"extra == .(dev|docs|interchange|quality|bench)", text)
    ]
    bounds = {re.split(r" *;", text)[0].replace(">=", "==") for text in users}
    assert set(done.stdout.split()) == {text for text in bounds if not text.startswith("enhg[")}
