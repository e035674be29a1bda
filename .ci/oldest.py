"""The oldest supported version of every dependency, as constraints for pip.

    python .ci/oldest.py > constraints.txt

pyproject.toml is the only place for lower bounds: `numpy>=1.26` becomes `numpy==1.26`. The
dependencies of the package and of the extra `all` are listed; those of `dev`, `docs`, `quality`
and `bench`, which users do not need, and of `interchange`, of which any package may be missing, are
not.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

REQUIREMENT = re.compile(r"(?P<name>[\w-]+)(\[(?P<extras>[\w,-]+)\])?([>=]=(?P<version>[\d.]+))?")


def requirements(project: dict, texts: list[str]) -> Iterator[tuple[str, str]]:
    """Name and lower bound of every requirement, with those of the extras that it names."""
    for text in texts:
        match = REQUIREMENT.fullmatch(text)
        if match and match["name"] == project["name"]:
            for extra in match["extras"].split(","):
                yield from requirements(project, project["optional-dependencies"][extra])
        elif match and match["version"]:
            yield match["name"], match["version"]
        else:
            raise SystemExit(f"a requirement must be name>=version or name==version, got {text!r}")


def read_constraints(pyproject: Path) -> list[str]:
    """Lines `name==version`, in the order of pyproject.toml and each once."""
    with pyproject.open("rb") as file:
        project = tomllib.load(file)["project"]
    texts = [*project["dependencies"], f"{project['name']}[all]"]
    bounds: dict[str, str] = {}
    for name, version in requirements(project, texts):
        if bounds.setdefault(name, version) != version:
            raise SystemExit(f"{name} must have one lower bound, got {bounds[name]} and {version}")
    return [f"{name}=={version}" for name, version in bounds.items()]


if __name__ == "__main__":
    print("\n".join(read_constraints(Path(__file__).parents[1] / "pyproject.toml")))
