"""Public names, their documentation and the cost of importing them."""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import enhg

ROOT = Path(__file__).parents[1]

PUBLIC = {
    "ClusterCount", "ElasticNetHypergraph", "ElasticNetPath", "GaussianGraph", "Graph",
    "HyperedgeRule", "Hypergraph", "HypergraphClassifier", "HypergraphClustering", "InputError",
    "KNNHypergraph", "L1Graph", "L1Hypergraph", "LaplacianEigenmapGraph", "LowRankGraph",
    "LowRankRepresentation", "Representation", "SemanticCorrelationHypergraph",
    "SparseSubspaceGraph", "clustering_accuracy", "count_clusters", "elastic_net_path",
    "load_model", "low_rank_representation", "save_model", "self_representation",
}  # fmt: skip
PACKAGES = (
    "preprocessing", "plotting", "datasets", "features", "interchange", "io", "modularity",
)  # fmt: skip
# Results: their attributes are documented in place of parameters.
RESULTS = {"ClusterCount", "ElasticNetPath", "LowRankRepresentation", "Representation", "Dataset",
           "NamedHypergraph", "Samples"}  # fmt: skip


def exported():
    """Every public object with the module that exports it."""
    modules = ["enhg", *(f"enhg.{package}" for package in PACKAGES)]
    return [
        (module, name) for module in modules for name in importlib.import_module(module).__all__
    ]


def documented(doc, section):
    """Names in a numpydoc section."""
    lines = inspect.cleandoc(doc or "").splitlines()
    try:
        start = next(
            at for at, line in enumerate(lines[:-1])
            if line == section and set(lines[at + 1]) == {"-"}
        )  # fmt: skip
    except StopIteration:
        return []
    names = []
    for at in range(start + 2, len(lines)):
        if at + 1 < len(lines) and lines[at] and set(lines[at + 1]) == {"-"}:
            break
        if lines[at] and not lines[at].startswith(" "):
            head = lines[at].partition(" : ")[0]
            names += [name.strip(" *") for name in head.split(",") if name.strip()]
    return names


def test_public_names():
    assert set(enhg.__all__) == PUBLIC
    assert enhg.__all__ == sorted(enhg.__all__)
    assert PUBLIC | {"__version__"} <= set(dir(enhg))


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_are_the_objects_of_their_modules(name):
    module = importlib.import_module(enhg._MODULES[name])
    assert getattr(enhg, name) is getattr(module, name)
    assert getattr(enhg, name).__module__.startswith("enhg.")


def test_star_import_gives_the_public_names():
    space: dict[str, object] = {}
    exec("from enhg import *", space)
    assert {name for name in space if not name.startswith("_")} == PUBLIC


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_export_only_their_own_names(package):
    module = importlib.import_module(f"enhg.{package}")
    assert len(module.__all__) == len(set(module.__all__))
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__module__.startswith((f"enhg.{package}", "enhg.exceptions")), name


@pytest.mark.parametrize(("module", "name"), exported())
def test_every_parameter_is_documented(module, name):
    """Parameters in the docstring are those of the signature, in its order."""
    value = getattr(importlib.import_module(module), name)
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        assert isinstance(value, tuple)  # a constant
        return
    assert value.__doc__
    parameters = [
        parameter.name
        for parameter in inspect.signature(value).parameters.values()
        if parameter.name not in ("self", "y")
    ]
    if name in RESULTS:
        fields = [field for field in parameters if not field.startswith("_")]
        assert set(fields) <= set(documented(value.__doc__, "Attributes"))
    else:
        names = [name for name in documented(value.__doc__, "Parameters") if name != "y"]
        assert names == parameters


def test_unknown_name():
    with pytest.raises(AttributeError, match="'enhg' has no attribute 'Hypograph'"):
        enhg.Hypograph  # noqa: B018
    with pytest.raises(ImportError, match="Hypograph"):
        from enhg import Hypograph  # noqa: F401


def in_a_new_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_import_alone_imports_no_heavy_library():
    modules = in_a_new_process("import sys, enhg; dir(enhg); print(*sys.modules)")
    assert "enhg" in modules
    assert not {"sklearn", "numba", "matplotlib", "scipy", "numpy"} & set(modules)


def test_clustering_imports_no_optional_library():
    modules = in_a_new_process(
        "import sys, enhg, numpy as np\n"
        "enhg.HypergraphClustering(2, random_state=0).fit(np.random.rand(20, 30))\n"
        "print(*sys.modules)"
    )
    assert "numba" in modules
    # scikit-learn and Numba may import rich and psutil by themselves.
    assert not {"matplotlib", "PIL", "h5py", "typer"} & set(modules)


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/guide").glob("*.md")]


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_linked_files_exist(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if ":" not in link and not (page.parent / link).exists()]
    assert missing == []
