"""Reading of a JSON object in blocks."""

import io
import json
from itertools import chain

import pytest

from enhg import _json_stream
from enhg._json_stream import JsonStream
from enhg.exceptions import InputError


def read(text, on_block=lambda: None):
    stream = JsonStream(io.StringIO(text), on_block)
    content = {key: list(stream.records()) for key in stream.object_keys()}
    stream.require_end()
    return content


RECORDS = [{"name": "}, {", "attrs": {"a": [{"b": 1}, {"c": "]"}]}}] * 40


@pytest.mark.parametrize("block", [1, 10, 100, 1000, 10_000])
def test_records_are_those_of_the_standard_library(monkeypatch, block):
    monkeypatch.setattr(_json_stream, "_BLOCK", block)
    batches = read(json.dumps({"a": RECORDS, "b": [], "c": RECORDS[:1]}))
    assert {key: list(chain(*parts)) for key, parts in batches.items()} == {
        "a": RECORDS, "b": [], "c": RECORDS[:1],
    }  # fmt: skip


def test_records_come_in_batches(monkeypatch):
    monkeypatch.setattr(_json_stream, "_BLOCK", 1000)
    records = [{"i": i} for i in range(1000)]
    batches = read(json.dumps({"a": records}))["a"]
    assert list(chain(*batches)) == records
    assert 5 < len(batches) < 100
    assert max(map(len, batches)) < 300


def test_blocks_are_counted(monkeypatch):
    monkeypatch.setattr(_json_stream, "_BLOCK", 10)
    calls = []
    read(" " * 95 + '{"a": []}', lambda: calls.append(1))
    assert len(calls) == 11


def test_long_value_is_decoded_in_linear_time(monkeypatch):
    """What is read doubles, so that the text is decoded a few times only."""
    monkeypatch.setattr(_json_stream, "_BLOCK", 10)
    calls = []
    text = json.dumps({"a": [{"text": "x" * 100_000}]})
    assert read(text, lambda: calls.append(1))["a"] == [[{"text": "x" * 100_000}]]
    assert len(calls) < 30


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected a key in quotation marks, got the end of it"),
        ('{"a": [}', "expected an object, got '}' at character 7"),
        ('{"a": []', "expected , or }, got the end of it"),
        ('{"a": [{"b": 1}', "expected , or ], got the end of it"),
        ('{"a": [{"b": tru}]}', r"not JSON at character 13 \(Expecting value\)"),
    ],
)
def test_errors_name_the_place(text, message):
    with pytest.raises(InputError, match=message):
        read(text)
