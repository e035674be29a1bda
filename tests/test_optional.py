"""The package without its optional dependencies."""

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import enhg
from enhg._optional import require
from enhg.exceptions import MissingDependencyError

BLOCKED = (
    "PIL", "matplotlib", "h5py", "typer", "rich", "psutil", "onnx", "onnxruntime", "skimage",
    "pillow_heif", "pyarrow", "zarr", "xgi", "hypernetx", "networkx", "igraph",
)  # fmt: skip
PREAMBLE = f"""
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
import numpy as np
from sklearn.datasets import load_digits
import enhg
from enhg.exceptions import MissingDependencyError

X, y = load_digits(n_class=3, return_X_y=True)
X, y = X[:120], y[:120]
"""


def run(code, folder):
    """Run code in a process in which the optional modules cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", PREAMBLE + code], cwd=folder, capture_output=True, text=True
    )


def test_core(tmp_path):
    done = run(
        """
from enhg.io import read_samples
model = enhg.HypergraphClustering(3, random_state=0).fit(X[:90])
enhg.save_model(model, "model.npz")
loaded = enhg.load_model("model.npz")
assert (loaded.predict(X[90:]) == model.predict(X[90:])).all()
labels = np.where(np.arange(90) < 20, y[:90], -1)
classifier = enhg.HypergraphClassifier().fit(X[:90], labels)
assert classifier.score(X[90:], y[90:]) > 0.9
np.savez("samples.npz", X=X, y=y)
assert read_samples("samples.npz").X.shape == X.shape
from scipy.io import savemat
savemat("samples.mat", {"X": X, "y": y})
assert read_samples("samples.mat").labels.tolist() == y.tolist()
import enhg.plotting, enhg.datasets, enhg.run
from enhg.interchange import from_scipy, to_scipy
assert from_scipy(*to_scipy(model.graph_)).hypergraph == model.graph_
model.graph_.to_hif("hypergraph.json")
assert enhg.Hypergraph.from_hif("hypergraph.json") == model.graph_
print("done")
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


FEATURES = {
    "a folder of images": ("images", "from enhg.io import read_samples; read_samples('.')"),
    "an HDF5 file": ("hdf5", "from enhg.io import read_samples; read_samples('a.h5')"),
    "a MATLAB 7.3 file": ("hdf5", "from enhg.io import read_samples; read_samples('b.mat')"),
    "a Parquet file": ("large", "from enhg.io import read_samples; read_samples('c.parquet')"),
    "a Zarr folder": ("large", "from enhg.io import read_samples; read_samples('d.zarr')"),
    "a plot": ("plot", "from enhg.plotting import plot_spectrum; plot_spectrum([1, 0.5])"),
    "a figure": ("plot", "from enhg.plotting import new_figure; new_figure(1, 1, (2, 2))"),
    "xgi": ("interchange", "from enhg.interchange import from_xgi; from_xgi(None)"),
    "HyperNetX": ("interchange", "from enhg.interchange import from_hypernetx as f; f(None)"),
    "NetworkX": ("interchange", "from enhg.interchange import from_networkx as f; f(None)"),
    "igraph": ("interchange", "from enhg.interchange import from_igraph as f; f(None)"),
    "a progress bar": ("cli", "enhg.HypergraphClustering(3, verbose=True).fit(X)"),
    "a report": (
        "images",
        "from pathlib import Path\n"
        "from enhg.io import Samples\n"
        "from enhg.report import write_report\n"
        "from enhg.run import record_clustering\n"
        "samples = Samples(X, [str(i) for i in range(len(X))], (8, 8), y, Path('digits'))\n"
        "model = enhg.HypergraphClustering(3, random_state=0).fit(X)\n"
        "run = record_clustering(samples, model)\n"
        "write_report(Path('r.html'), run, samples, model, summary=[], command='')",
    ),
}


EXTRAS = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8"))[
    "project"
]["optional-dependencies"]


def requirements(extra):
    """What an extra installs, also by other extras."""
    inner = [re.fullmatch(r"enhg\[(.+)\]", text) for text in EXTRAS[extra]]
    others = [requirements(name) for match in inner if match for name in match[1].split(",")]
    return set(EXTRAS[extra]).difference(match[0] for match in inner if match).union(*others)


def test_the_extra_of_the_guide_to_labeling_reads_photographs():
    assert requirements("label") >= requirements("cli") | requirements("photos")


@pytest.mark.parametrize(("extra", "code"), FEATURES.values(), ids=FEATURES.keys())
def test_features_name_their_extra_and_its_packages(tmp_path, extra, code):
    signature = b"\x89HDF\r\n\x1a\n"
    (tmp_path / "a.h5").write_bytes(signature)
    (tmp_path / "b.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + signature)
    (tmp_path / "c.parquet").touch()
    (tmp_path / "d.zarr").mkdir()
    files = sorted(tmp_path.iterdir())
    done = run(code, tmp_path)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("enhg.exceptions.MissingDependencyError: this needs ")
    assert f" (extra {extra}); install it with: " in last
    command = shlex.split(last.partition("install it with: ")[2])
    assert command[:2] == ["pip", "install"]
    assert set(command[2:]) == requirements(extra)
    assert sorted(tmp_path.iterdir()) == files


def test_program(tmp_path):
    done = run("sys.argv = ['enhg', '--help']; from enhg.cli import main; main()", tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert "(extra cli); install it with: pip install " in done.stderr


# --- where optional modules are imported -----------------------------------------------------

SOURCE = Path(enhg.__file__).parent
PLACES = {
    "matplotlib": {"plotting/_drawing.py"},
    "h5py": {"io/_hdf5.py"},
    "PIL": {
        "demo.py", "duplicates.py", "features/_pixels.py", "io/_decoding.py", "io/contact.py",
        "labeling/pictures.py", "report/_pictures.py",
    },
    "onnx": {"features/_efficientnet.py", "features/_network.py"},
    "onnxruntime": {"features/_network.py"},
    "skimage": {"features/_hog.py"},
    "pillow_heif": {"io/_decoding.py"},
    "pyarrow": {"io/parquet.py"},
    "zarr": {"io/_zarr.py", "representation/_sources.py"},
    "xgi": {"interchange.py"},
    "hypernetx": {"interchange.py"},
    "networkx": {"interchange.py"},
    "igraph": {"interchange.py"},
    "rich": {"_progress.py", "cli/__init__.py"},
    "typer": {
        "cli/__init__.py", "cli/commands.py", "cli/conversion.py", "cli/labeling.py",
        "cli/options.py", "cli/terminal.py",
    },
    "psutil": set(),
}  # fmt: skip


def imported(tree):
    """Modules that a file imports at run time, by statements or by names given to `require`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "require",
            "_matplotlib",
        ):
            yield from (part.value for part in ast.walk(node.args[0]) if is_text(part))
        elif isinstance(node, ast.For) and getattr(node.target, "id", "") == "module":
            yield from (part.value for part in ast.walk(node.iter) if is_text(part))
        yield from imported(node)


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_optional_modules_are_imported_in_one_place_per_package():
    places = {module: set() for module in BLOCKED}
    for path in SOURCE.rglob("*.py"):
        for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
            if (module := name.partition(".")[0]) in places:
                places[module].add(path.relative_to(SOURCE).as_posix())
    assert places == PLACES


def test_a_library_for_which_there_is_too_little_memory(monkeypatch):
    def load(module):
        raise ImportError(f"{module}.so: {reason}")

    monkeypatch.setattr("enhg._optional.import_module", load)
    reason = "failed to map segment from shared object"
    with pytest.raises(MemoryError, match="PIL cannot be loaded"):
        require("PIL.Image", "images")
    reason = "undefined symbol"
    with pytest.raises(MissingDependencyError, match=r"pip install 'pillow"):
        require("PIL.Image", "images")
