"""The command `convert`."""

import json

import numpy as np
import pytest
import xgi
from scipy import sparse

from enhg import Graph, Hypergraph, HypergraphClustering, save_model

SMALL = Hypergraph([[1, 0], [1, 0.1], [0, 1]], weights=[0.3, 2])


@pytest.fixture
def saved(tmp_path):
    SMALL.save(tmp_path / "a.npz")
    return tmp_path / "a.npz"


@pytest.fixture(scope="session")
def clustered(tmp_path_factory, run):
    """The results of a run on three digits, as images of these names."""
    from PIL import Image
    from sklearn.datasets import load_digits

    folder = tmp_path_factory.mktemp("convert")
    (folder / "photos").mkdir()
    for i, image in enumerate(load_digits(n_class=3).images[:40].astype(np.uint8)):
        Image.fromarray(15 * image).save(folder / "photos" / f"{i}.png")
    result = run("cluster", folder / "photos", "-k", 3, "--features", "pixels", "--no-cache",
                 "-o", folder / "out")  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder / "out"


def test_round_trip(tmp_path, saved, run, read_valid_hif):
    result = run("convert", saved, tmp_path / "b.hif.json")
    assert result.exit_code == 0, result.output
    assert "Hypergraph(n_vertices=3, n_edges=2, memberships=4)" in result.stdout
    assert [record["node"] for record in read_valid_hif(tmp_path / "b.hif.json")["nodes"]] == [
        0, 1, 2,
    ]  # fmt: skip
    result = run("convert", tmp_path / "b.hif.json", tmp_path / "c.npz")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert Hypergraph.load(tmp_path / "c.npz") == SMALL


def test_graph(tmp_path, run):
    graph = Graph(sparse.csr_array([[0, 0.3, 0], [0.3, 0, 2], [0, 2, 0.1]]))
    graph.save(tmp_path / "a.npz")
    assert run("convert", tmp_path / "a.npz", tmp_path / "b.json", "-q").stdout == ""
    run("convert", tmp_path / "b.json", tmp_path / "c.npz")
    assert Graph.load(tmp_path / "c.npz") == graph


def test_model_has_names_and_labels(tmp_path, clustered, run, read_valid_hif, table):
    result = run("convert", clustered / "model.npz", tmp_path / "b.json")
    assert result.exit_code == 0, result.output
    nodes = read_valid_hif(tmp_path / "b.json")["nodes"]
    rows = table(clustered / "labels.csv")
    assert [(node["node"], str(node["attrs"]["label"])) for node in nodes] == [
        (row["name"], row["label"]) for row in rows
    ]
    hypergraph = Hypergraph.from_hif(tmp_path / "b.json")
    assert hypergraph == Hypergraph.load(clustered / "hypergraph.npz")
    assert set(xgi.read_hif(tmp_path / "b.json").nodes) == {row["name"] for row in rows}
    result = run("convert", tmp_path / "b.json", tmp_path / "c.npz")
    assert "what they are called is not kept" in result.stderr
    assert Hypergraph.load(tmp_path / "c.npz") == hypergraph


def test_names_that_are_not_distinct_are_attributes(tmp_path, islands, run, read_valid_hif):
    model = HypergraphClustering(2, random_state=0).fit(islands(2))
    save_model(model, tmp_path / "model.npz", names=["same"] * 16)
    result = run("convert", tmp_path / "model.npz", tmp_path / "b.json")
    assert result.exit_code == 0, result.output
    nodes = read_valid_hif(tmp_path / "b.json")["nodes"]
    assert [node["node"] for node in nodes] == list(range(16))
    assert [node["attrs"] for node in nodes] == [
        {"name": "same", "label": label} for label in model.labels_
    ]


def test_classes_are_labels(tmp_path, digits, some_labels, run, read_valid_hif):
    run("classify", digits, "--labels", some_labels, "-o", tmp_path / "out")
    result = run("convert", tmp_path / "out/model.npz", tmp_path / "b.json")
    assert result.exit_code == 0, result.output
    nodes = read_valid_hif(tmp_path / "b.json")["nodes"]
    assert {str(node["attrs"]["label"]) for node in nodes} == {"0", "1", "2"}


def test_empty_nodes_are_left_out_on_request(tmp_path, run, fails):
    content = {"incidences": [{"edge": 0, "node": "a"}], "nodes": [{"node": "alone"}]}
    (tmp_path / "a.json").write_text(json.dumps(content))
    for options, hypergraph in (((), [[0], [1]]), (("--drop-empty",), [[1]])):
        out = tmp_path / f"{len(options)}.npz"
        result = run("convert", tmp_path / "a.json", out, *options)
        assert result.exit_code == 0, result.output
        assert Hypergraph.load(out) == Hypergraph(hypergraph)


def test_out_is_replaced_on_request_only(tmp_path, saved, run, fails):
    out = tmp_path / "b.json"
    out.write_text("mine")
    assert "(option --overwrite)" in fails("convert", saved, out)
    assert out.read_text() == "mine"
    assert run("convert", saved, out, "--overwrite").exit_code == 0
    assert Hypergraph.from_hif(out) == SMALL


def test_bad_files(tmp_path, saved, fails, digits):
    before = sorted(tmp_path.iterdir())
    out = tmp_path / "b.json"
    assert "an .npz and a .json file" in fails("convert", saved, tmp_path / "b.txt")
    assert "an .npz and a .json file" in fails("convert", saved, tmp_path / "b.npz")
    assert "must be hypergraph.npz or model.npz" in fails("convert", digits, out)
    assert "no such file" in fails("convert", tmp_path / "absent.npz", out)
    assert "no such file" in fails("convert", tmp_path / "absent.json", tmp_path / "b.npz")
    assert "no such folder" in fails("convert", saved, tmp_path / "absent" / "b.json")
    assert sorted(tmp_path.iterdir()) == before


def test_damaged_files(tmp_path, saved, fails):
    damaged = tmp_path / "damaged.npz"
    damaged.write_bytes(saved.read_bytes()[:-40])
    assert "must be a Hypergraph file that this enhg can read" in fails(
        "convert", damaged, tmp_path / "b.json"
    )
    for text in ("", "{}", '{"incidences": [{', '{"metadata": {"enhg": []}, "incidences": []}'):
        (tmp_path / "damaged.json").write_text(text)
        line = fails("convert", tmp_path / "damaged.json", tmp_path / "b.npz")
        assert str(tmp_path / "damaged.json") in line
    assert not (tmp_path / "b.npz").exists()
    assert not (tmp_path / "b.json").exists()


def test_hypergraph_that_says_it_is_a_graph(tmp_path, fails):
    incidences = [{"edge": 0, "node": node} for node in range(3)]
    content = {"metadata": {"enhg": {"kind": "Graph"}}, "incidences": incidences}
    (tmp_path / "a.json").write_text(json.dumps(content))
    line = fails("convert", tmp_path / "a.json", tmp_path / "b.npz")
    assert "edges of a graph must have one or two vertices" in line
