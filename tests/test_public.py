import re
import subprocess
import sys
from pathlib import Path

import pytest

import enhg

ROOT = Path(__file__).parents[1]

# The names that issues promise.
PROMISED = [
    "GaussianGraph",
    "KNNHypergraph",
    "L1Graph",
    "L1Hypergraph",
    "LaplacianEigenmapGraph",
    "LowRankGraph",
    "SemanticCorrelationHypergraph",
    "SparseSubspaceGraph",
    "ElasticNetHypergraph",
    "Hypergraph",
    "HypergraphClassifier",
    "HypergraphClustering",
    "clustering_accuracy",
    "elastic_net_path",
    "normalized_mutual_information",
    "self_representation",
    "unlabeled_accuracy",
]


@pytest.mark.parametrize("name", PROMISED)
def test_promised_names(name):
    assert callable(getattr(enhg, name))
    assert getattr(enhg, name).__name__ == name
    assert name in enhg.__all__


def test_all_names_exist_and_are_listed():
    for name in enhg.__all__:
        assert getattr(enhg, name).__doc__
    assert set(enhg.__all__) <= set(dir(enhg))
    assert "__version__" in dir(enhg)


def test_star_import_gives_the_public_names():
    space: dict[str, object] = {}
    exec("from enhg import *", space)
    assert set(enhg.__all__) <= set(space)


def test_unknown_name():
    with pytest.raises(AttributeError, match="'enhg' has no attribute 'Hypograph'"):
        enhg.Hypograph  # noqa: B018
    with pytest.raises(ImportError, match="Hypograph"):
        from enhg import Hypograph  # noqa: F401


def in_a_fresh_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_import_alone_loads_nothing_heavy():
    loaded = in_a_fresh_python("import sys, enhg; print(*sys.modules)")
    assert "enhg" in loaded
    assert not {"sklearn", "numba", "matplotlib", "scipy", "numpy"} & set(loaded)


def test_listing_the_names_loads_nothing_heavy():
    loaded = in_a_fresh_python("import sys, enhg; dir(enhg); print(*sys.modules)")
    assert not {"sklearn", "numba", "matplotlib"} & set(loaded)


def test_clustering_never_loads_matplotlib():
    loaded = in_a_fresh_python(
        "import sys, enhg, numpy as np\n"
        "enhg.HypergraphClustering(2, random_state=0).fit(np.random.rand(20, 30))\n"
        "print(*sys.modules)"
    )
    assert "numba" in loaded
    assert "matplotlib" not in loaded


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
def test_what_pages_link_to_is_there(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if ":" not in link and not (page.parent / link).exists()]
    assert not missing
