"""Build the wheel and the sdist, check them, and run them outside the checkout.

    python .ci/package.py            # with the newest versions of the dependencies
    python .ci/package.py --oldest   # with the oldest supported ones, of .ci/oldest.py

1. The sdist is built, and the wheel from it, into dist/; their metadata, the README as a page of
   the package index, CITATION.cff and the files of .github are validated; their files are
   compared with the checkout's.
2. The wheel alone is installed into an empty environment: the library runs, and what needs an
   extra says which.
3. The wheel is installed with all extras, and the README's commands and examples, the typed
   program of a user and tests of the sdist run.

Everything but dist/ is in a temporary folder, which is removed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from oldest import read_constraints

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
TOOLS = ("build>=1.2", "twine>=6.1", "check-jsonschema>=0.39")
# Schemas that check-jsonschema contains, and the files that must follow them.
SCHEMAS = {
    "citation-file-format": "CITATION.cff",
    "github-workflows": ".github/workflows/*.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[bf]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
}
TEST_TOOLS = ("pytest>=8", "mypy>=1.11", "hypothesis>=6.100")
WITHOUT_EXTRAS = ("tests/test_optional.py",)
WITH_EXTRAS = (
    "README.md",
    "tests/typing",
    "tests/test_hypergraph.py",
    "tests/io/test_inflation.py",
    "tests/io/test_large_files.py",
    "tests/representation/test_threads.py",
)
ENVIRONMENT = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print the seconds that a step takes: by the clock, and of processors."""
    start, used = time.perf_counter(), processor_seconds()
    yield
    seconds, used = time.perf_counter() - start, processor_seconds() - used
    print(f"{seconds:6.1f} s ({used:.1f} s of processors)  {name}", flush=True)


def processor_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def run(*words: str | Path, cwd: Path) -> None:
    done = subprocess.run(words, cwd=cwd, env=ENVIRONMENT)
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(map(str, words))}")


def new_environment(folder: Path) -> Path:
    """Make an empty environment; return its Python."""
    venv.create(folder, with_pip=True, symlinks=True)
    return folder / "bin" / "python"


def install(python: Path, *requirements: str) -> None:
    run(
        python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements,
        cwd=python.parent,
    )  # fmt: skip


def files(folder: Path) -> set[str]:
    """Files below a folder of the checkout, without those that git ignores, such as the site."""
    # In a container the checkout may belong to another user, which git refuses otherwise.
    words = ("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others")
    listed = subprocess.check_output((*words, "--exclude-standard"), cwd=folder, text=True)
    return set(listed.split("\0")) - {""}


def build(temporary: Path) -> tuple[Path, Path]:
    """Build and validate; return the wheel and the folder of the unpacked sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    tools = new_environment(temporary / "tools")
    install(tools, *TOOLS)
    run(tools, "-m", "build", "--outdir", DIST, ROOT, cwd=temporary)
    run(tools, "-m", "twine", "check", "--strict", *DIST.iterdir(), cwd=temporary)
    for schema, pattern in SCHEMAS.items():
        check = (tools, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}")
        run(*check, *ROOT.glob(pattern), cwd=temporary)
    [wheel], [sdist] = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(temporary, filter="data")
    return wheel, temporary / sdist.name.removesuffix(".tar.gz")


def check_files(wheel: Path, sdist: Path) -> None:
    """The wheel has every file of the package and no other; the sdist all that its tests need."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = {f"enhg/{name}" for name in files(ROOT / "src" / "enhg")}
    metadata = {name.partition("/")[2] for name in names - package if ".dist-info/" in name}
    other = {name for name in names - package if ".dist-info/" not in name}
    if missing := package - names:
        raise SystemExit(f"not in the wheel: {sorted(missing)}")
    if other or "enhg/py.typed" not in names:
        raise SystemExit(f"the wheel must have the package and py.typed only, got {sorted(other)}")
    if not {"METADATA", "entry_points.txt", "licenses/LICENSE"} <= metadata:
        raise SystemExit(f"the wheel must have the license and the program, got {metadata}")
    for folder in ("src", "tests", "docs", "examples", "experiments", "benchmarks"):
        if missing := {
            name for name in files(ROOT / folder) if not (sdist / folder / name).exists()
        }:
            raise SystemExit(f"not in the sdist: {folder}: {sorted(missing)}")


def run_tests(python: Path, sdist: Path, tests: tuple[str, ...]) -> None:
    """Run tests of the sdist with the installed package."""
    where = "import enhg, sys; sys.exit(not enhg.__file__.startswith(sys.prefix))"
    run(python, "-c", where, cwd=sdist)
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, cwd=sdist)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--oldest", action="store_true", help="the oldest supported dependencies")
    oldest = parser.parse_args().oldest
    with tempfile.TemporaryDirectory(prefix="enhg-package-") as name:
        temporary = Path(name)
        with step("wheel and sdist are built and validated"):
            wheel, sdist = build(temporary)
            check_files(wheel, sdist)
        constraints = temporary / "constraints.txt"
        constraints.write_text("\n".join(read_constraints(ROOT / "pyproject.toml")))
        limits = ("--constraint", str(constraints)) if oldest else ()
        python = new_environment(temporary / "environment")
        with step("the wheel is installed without extras"):
            install(python, *limits, str(wheel), "pytest>=8")
        with step("the library runs without extras"):
            run_tests(python, sdist, WITHOUT_EXTRAS)
        with step("the wheel is installed with all extras"):
            install(python, *limits, f"{wheel}[all]", *TEST_TOOLS)
        with step("the README's commands run"):
            (temporary / "commands").mkdir()
            readme = ROOT / ".ci" / "readme.py"
            run(python, readme, sdist / "README.md", cwd=temporary / "commands")
        with step("the README's examples, the typed program and tests of the sdist run"):
            run_tests(python, sdist, WITH_EXTRAS)
    print(f"dist/ holds {', '.join(sorted(path.name for path in DIST.iterdir()))}")


if __name__ == "__main__":
    main()
