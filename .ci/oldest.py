"""Print the oldest supported version of every dependency, as constraints for pip.

pyproject.toml is the only place for lower bounds: `numpy>=1.26` becomes `numpy==1.26`. The
dependencies of the package and of the extras that `all` collects are printed; those of `dev`,
`quality` and `bench`, which users do not need, are not.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?:\[(?P<extras>[\w,-]+)\])?(?:(?P<bound>>=|==)(?P<version>[\w.]+))?"
)


def constraints(project: dict) -> list[str]:
    """Lines `name==version`, in the order of pyproject.toml and each once."""
    lines: dict[str, str] = {}

    def add(requirements: list[str]) -> None:
        for text in requirements:
            match = REQUIREMENT.fullmatch(text)
            if match is None:
                raise ValueError(
                    f"a requirement must be name>=version or name==version, got {text!r}"
                )
            if match["name"] == project["name"]:
                for extra in match["extras"].split(","):
                    add(project["optional-dependencies"][extra])
            elif match["version"] is None:
                raise ValueError(f"a requirement must have a lower bound, got {text!r}")
            elif lines.setdefault(match["name"], match["version"]) != match["version"]:
                raise ValueError(f"{match['name']} must have one lower bound, got two")

    add(project["dependencies"])
    add(project["optional-dependencies"]["all"])
    return [f"{name}=={version}" for name, version in lines.items()]


if __name__ == "__main__":
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    with pyproject.open("rb") as file:
        sys.stdout.writelines(f"{line}\n" for line in constraints(tomllib.load(file)["project"]))
