"""The server of a labeling session: what it answers, and to whom."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import numpy as np
import pytest
from digit_labels import N, act

from enhg.labeling.export import Exporter
from enhg.labeling.pictures import Pictures
from enhg.labeling.server import _respond, make_app

pytest.importorskip("httpx2", reason="needs httpx2")
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

TOKEN, PORT = "some-token", 8765
ORIGIN = f"http://127.0.0.1:{PORT}"


@pytest.fixture
def client(session, samples, tmp_path):
    app = make_app(
        session, Pictures(samples, tmp_path), Exporter(session, samples, tmp_path), TOKEN, PORT
    )
    return TestClient(app, base_url=ORIGIN)


def get(client, path, **options):
    return client.get(f"/{TOKEN}/{path}", **options)


def post(client, path, content, **headers):
    headers = {"origin": ORIGIN, **headers}
    return client.post(f"/{TOKEN}/{path}", json=content, headers=headers)


def name(*rows, label="a", key="k"):
    return {"key": key, "kind": "name", "rows": list(rows), "label": label}


def test_an_action_is_answered_with_the_new_state(client, session):
    answer = post(client, "act", name(1, 2))
    assert answer.status_code == 200
    assert answer.json()["classes"] == ["a"]
    assert list(np.flatnonzero(session.answers.labels == 0)) == [1, 2]
    assert get(client, "state", params={"since": 1}).status_code == 204
    assert get(client, "state", params={"since": 0}).json()["version"] == 1
    assert post(client, "act", name(1, 2)).json()["version"] == 1  # the same key


def test_what_the_page_needs(client, session):
    content = get(client, "content").json()
    assert sorted(row for cluster in content["clusters"] for row in cluster) == list(range(N))
    assert content["sizes"] == [[8, 8]] * N
    steps = get(client, "next").json()
    assert set(steps) == {
        "version", "questions", "alike", "hidden", "contradictions", "linked", "copies",
    }  # fmt: skip
    assert get(client, "").headers["content-type"].startswith("text/html")
    assert get(client, "static/tools.js").status_code == 200
    picture = get(client, "picture/3")
    assert picture.content.startswith(b"\x89PNG")
    assert get(client, "preview/3").status_code == 200


@pytest.mark.parametrize(
    "path", ["static/server.py", "static/..%2fserver.py", "static/%2e%2e/server.py", "picture/400",
             "picture/-1", "picture/x", "static/", "nothing", f"picture/{'9' * 5000}", "preview/²"],
)  # fmt: skip
def test_nothing_else_is_served(client, path):
    assert get(client, path).status_code == 404


@pytest.mark.parametrize("headers", [
    {"host": "evil.example"}, {"host": "127.0.0.1:1"}, {"host": f"127.0.0.1:{PORT}.evil"},
    {"origin": "http://evil.example"}, {"origin": "null"},
])  # fmt: skip
@pytest.mark.parametrize("path", ["", "state", "content", "picture/0"])
def test_other_pages_are_refused(client, headers, path):
    answer = get(client, path, headers=headers)
    assert answer.status_code == 403
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_websockets_are_refused(client):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(f"/{TOKEN}/state"):
        pass


def test_actions_of_other_pages_are_refused(client, session):
    for headers in ({"origin": "http://evil.example"}, {"origin": f"http://localhost:{PORT}"}):
        assert post(client, "act", name(0), **headers).status_code == 403
    without = client.post(f"/{TOKEN}/act", json=name(0))
    assert without.status_code == 403
    form = client.post(
        f"/{TOKEN}/act", content=json.dumps(name(0)),
        headers={"origin": ORIGIN, "content-type": "text/plain"},
    )  # fmt: skip
    assert form.status_code == 403
    assert session.version == 0


@pytest.mark.parametrize("token", ["", "some-toke", "some-token2", "SOME-TOKEN", "x"])
def test_the_token_is_needed(client, token):
    assert client.get(f"/{token}/state").status_code == 403
    assert client.get(f"/{token}").status_code == 403


def test_every_answer_forbids_foreign_content(client):
    """Those of the router too: of unknown paths and of other methods."""
    paths = ("", "state", "picture/0", "static/page.css", "picture/400", "nothing")
    answers = [get(client, path) for path in paths]
    answers += [client.get("/"), client.get("/other/state"), client.options(f"/{TOKEN}/state")]
    answers += [post(client, "state", {}), client.head(f"/{TOKEN}/")]
    assert {answer.status_code for answer in answers} == {200, 403, 404, 405}
    for headers in (answer.headers for answer in answers):
        assert "script-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("content", [[], {}, {"key": "k", "kind": "name", "rows": [N]}, "x"])
def test_wrong_actions_have_an_error_that_says_why(client, session, content):
    answer = post(client, "act", content)
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert session.version == 0


def test_what_is_not_json_or_too_long(client):
    headers = {"origin": ORIGIN, "content-type": "application/json"}
    for content in (b"{", b"\xff", b"[" + b"1," * 3_000_000):
        answer = client.post(f"/{TOKEN}/act", content=content, headers=headers)
        assert answer.status_code == 400


def test_requests_that_the_end_cuts_off():
    """As by Ctrl-C while a page waits; an exception would be printed with its traceback."""

    async def hang():
        yield b"{"
        await asyncio.sleep(60)

    async def cancelled():
        request = SimpleNamespace(method="POST", stream=hang)
        task = asyncio.create_task(_respond(None, request))
        await asyncio.sleep(0.05)
        task.cancel()
        return await task

    assert asyncio.run(cancelled()).status_code == 503


def test_export(client, session, tmp_path):
    act(session, "name", range(10), "a")
    first = post(client, "export", {}).json()
    assert first["files"] == ["labels.csv", "labels.jsonl", "answers.csv"]
    assert "two classes" in first["notes"][0]
    act(session, "name", range(10, 20), "b")
    answer = post(client, "export", {}).json()
    assert answer["files"] == ["labels.csv", "labels.jsonl", "answers.csv", "classifier.npz"]
    assert all((tmp_path / file).is_file() for file in answer["files"])
    assert "image files" in post(client, "export", {"folders": "links"}).json()["error"]


def test_hostile_names_are_only_text(client, session):
    bad = "</script><script>alert(1)</script>"
    post(client, "act", name(0, label=bad))
    assert get(client, "state").json()["classes"] == [bad]
    assert bad not in get(client, "").text
