"""What a release states in several places agrees."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

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
    """Those of the package and of every extra that is not for development."""
    script = ROOT / ".ci" / "oldest.py"
    if not script.is_file():
        pytest.skip("the sdist has no .ci")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    extras = PROJECT["optional-dependencies"]
    texts = {*PROJECT["dependencies"]}.union(
        *(
            extras[name]
            for name in extras.keys() - {"dev", "docs", "interchange", "quality", "bench"}
        )
    )
    expected = set()
    for requirement in map(Requirement, texts):
        if requirement.name != "enhg":
            [bound] = requirement.specifier
            expected.add(f"{requirement.name}=={bound.version}")
    assert set(done.stdout.split()) == expected
