"""Files that are no HIF, or that a hypergraph cannot hold: refused, with the reason."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enhg import Hypergraph, _json_stream
from enhg.exceptions import InputError

SMALL = Hypergraph([[1, 0], [1, 0.5], [0, 1]], weights=[2, 0.1])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.hif.json"


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


ONE = '{"edge": 1, "node": 2}'
REFUSED = {
    "empty": ("", "expected {, got the end of it"),
    "list": ("[]", "expected {, got '\\['"),
    "no incidences": ("{}", "'incidences' is missing"),
    "nothing in it": ('{"incidences": []}', "must have a node"),
    "another key": ('{"incidences": [], "colors": []}', "keys must be among .* got 'colors'"),
    "twice": ('{"incidences": [], "incidences": []}', "each once, got 'incidences'"),
    "key without marks": ("{incidences: []}", "expected a key in quotation marks, got 'i'"),
    "no colon": ('{"incidences" []}', "expected :, got"),
    "object": ('{"incidences": {}}', "expected \\[, got '{'"),
    "trailing comma": ('{"incidences": [' + ONE + ",]}", "expected an object, got ']'"),
    "trailing text": ('{"incidences": [' + ONE + "]} 1", "expected the end of the file, got '1'"),
    "no comma": ('{"incidences": [' + ONE + ONE + "]}", "expected , or ], got '{'"),
    "number": ('{"incidences": [1]}', "expected an object, got '1'"),
    "text": ('{"incidences": ["edge"]}', "expected an object"),
    "weight of text": (
        '{"edges": [{"edge": 1, "attrs": {"weight": "2"}}], "incidences": [' + ONE + "]}",
        "'weight' must be a number, got '2'",
    ),
    "no node": ('{"incidences": [{"edge": 1}]}', "must be an object with 'node'"),
    "no edge": ('{"incidences": [{"node": 1}]}', "must be an object with 'edge'"),
    "null": ('{"incidences": [{"edge": 1, "node": null}]}', "'node' must be text or an integer"),
    "boolean": ('{"incidences": [{"edge": true, "node": 1}]}', "'edge' must be .* got True"),
    "half": ('{"incidences": [{"edge": 0.5, "node": 1}]}', "'edge' must be .* got 0.5"),
    "unhashable": ('{"incidences": [{"edge": [], "node": 1}]}', "'edge' must be .* got \\[\\]"),
    "infinite name": ('{"incidences": [{"edge": 1e999, "node": 1}]}', "'edge' must be .* inf"),
    "weight": ('{"incidences": [{"edge": 1, "node": 1, "weight": "1"}]}', "'weight' must be a num"),
    "true weight": ('{"incidences": [{"edge": 1, "node": 1, "weight": true}]}', "got True"),
    "negative": ('{"incidences": [{"edge": 1, "node": 1, "weight": -1}]}', "non-negative"),
    "infinite": ('{"incidences": [{"edge": 1, "node": 1, "weight": 1e999}]}', "finite"),
    "NaN": ('{"incidences": [{"edge": 1, "node": 1, "weight": NaN}]}', "finite, got NaN"),
    "large": ('{"incidences": [{"edge": 1, "node": 1, "weight": 1%s}]}' % ("0" * 400), "finite"),
    "digits": ('{"incidences": [{"edge": 1%s, "node": 1}]}' % ("0" * 5000), "cannot be read"),
    "directed": ('{"network-type": "directed", "incidences": []}', "must be undirected or asc"),
    "type": ('{"network-type": {}, "incidences": []}', "network-type must be undirected or asc"),
    "direction": ('{"incidences": [{"edge": 1, "node": 1, "direction": "head"}]}', "no direction"),
    "metadata": ('{"metadata": [], "incidences": []}', "expected an object or a text, got '\\['"),
    "metadata text": ('{"metadata": "a", "incidences": []}', "metadata must be an object"),
    "same incidence": (
        '{"incidences": [' + ONE + ', {"edge": 1, "weight": 3, "node": 2}]}',
        "an incidence must have one weight, got 1.0 and 3.0 of 2 in hyperedge 1",
    ),
    "same edge": (
        '{"edges": [{"edge": 1, "weight": 2}, {"edge": 1}], "incidences": [' + ONE + "]}",
        "an edge must have one weight, got 2.0 and 1.0 of 1",
    ),
    "only an edge": ('{"incidences": [], "edges": [{"edge": 3}]}', "must have a node"),
    "key of an incidence": (
        '{"incidences": [' + ONE + ', {"edge": 1, "node": 3, "role": "PI"}]}',
        "keys in incidences must be among attrs, direction, edge, node, weight, got 'role'",
    ),
    "key of an edge": ('{"incidences": [], "edges": [{"edge": 2, "test": []}]}', "edges .*'test'"),
    "key of a node": ('{"incidences": [], "nodes": [{"node": 2, "test": []}]}', "nodes .* 'test'"),
    "direction first": (
        '{"incidences": [{"direction": "tail", "edge": 1, "node": 1}], "network-type": "directed"}',
        "incidences must have no direction",
    ),
    "zero weight": (
        '{"edges": [{"edge": 1, "weight": 0}], "incidences": [' + ONE + "]}",
        "weights must be finite and positive",
    ),
    "edge weight": ('{"edges": [{"edge": 1, "weight": []}], "incidences": []}', "must be a number"),
    "control character": ('{"incidences": [{"edge": "\n", "node": 1}]}', "not JSON at char"),
    "escape": ('{"incidences": [{"edge": "\\x", "node": 1}]}', "not JSON at character"),
    "encoding": (b'{"incidences": [{"edge": "\xff", "node": 1}]}', "can't decode byte 0xff"),
    "binary": (bytes(range(128)), "expected {, got"),
    "nested objects": ('{"metadata": ' + '{"a":' * 10**5, "nested deeply"),
    "nested lists": ('{"incidences": [{"edge": ' + "[" * 10**5, "nested deeply"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(path, text, message):
    with pytest.raises(InputError, match=message) as caught:
        Hypergraph.from_hif(write(path, text))
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 500


def test_every_truncation_is_refused(path, monkeypatch):
    SMALL.to_hif(path, vertex_names=["a}", "b,{", "]"])
    whole = path.read_bytes().rstrip()
    for block in (50, 1 << 20):
        monkeypatch.setattr(_json_stream, "_BLOCK", block)
        for length in range(len(whole)):
            with pytest.raises(InputError):
                Hypergraph.from_hif(write(path, whole[:length]))


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_changed_bytes_are_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("hif") / "a.json"
    SMALL.to_hif(path, vertex_names=["a", "b", 3], metadata={"x": [1]})
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.sampled_from(b'{}[]",:0e-.\\ tn\xff\x00'))
    try:
        Hypergraph.from_hif(write(path, bytes(content)))
    except InputError:
        return
    json.loads(content.decode("utf-8-sig"))  # what is read is JSON


def test_value_without_end_is_refused_early(path, monkeypatch):
    monkeypatch.setattr(_json_stream, "_BLOCK", 1000)
    monkeypatch.setattr(_json_stream, "_LARGEST_VALUE", 10_000)
    write(path, '{"incidences": [{"edge": "' + "a" * 10**6)
    read = []
    with pytest.raises(InputError, match="a value must have at most 10000 characters"):
        Hypergraph.from_hif(path, progress=lambda done, total: read.append(done))
    assert read[-1] < 100_000


def test_places_that_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for place, reason in (
        (tmp_path, "got a folder"),
        (tmp_path / "pipe.json", "got a FIFO"),
        ("/dev/zero", "got a device"),
        (tmp_path / "absent.json", "got no such file"),
    ):
        with pytest.raises(InputError, match=reason):
            Hypergraph.from_hif(place)
