"""Benchmark of the page on which a person labels images."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import uvicorn

from benchmarks import measure
from benchmarks.browser import chromium
from benchmarks.outcomes import Options, Outcome, Record, at_most
from benchmarks.problems import labeled_images
from enhg import HypergraphClustering
from enhg.io import Samples
from enhg.labeling.actions import Action
from enhg.labeling.export import Exporter
from enhg.labeling.pictures import Pictures
from enhg.labeling.server import make_app
from enhg.labeling.serving import open_port
from enhg.labeling.session import LabelingSession
from enhg.learning.diffusion import ROUGH_TOL, diffuse

_IMAGES, _GIVEN = 10_000, 10  # and labels of every class before the first answer
_TURNS, _TOKEN = 20, "benchmark"
_SECONDS = 0.2
_VIEWS = ("questions", "clusters", "predictions", "map", "progress")
# From the call that a key makes to the second frame after the page has taken the new state: the
# first of these may have been under way already.
_GIVE = """
const [row, label, done] = arguments, began = performance.now();
const end = () => done((performance.now() - began) / 1000);
session.act({ kind: "name", rows: [row], label, origin: "selection" })
  .then(() => requestAnimationFrame(() => requestAnimationFrame(end)));
"""


def answer(options: Options) -> Outcome:
    """One answer of `enhg label` at the server and on the screen: the first 10 000 MNIST images"""
    (count,) = options.sizes(_IMAGES)
    X, y = (part[:count] for part in labeled_images("mnist", options.data))
    model = HypergraphClustering(10, random_state=0).fit(X)
    samples = Samples(X, [str(row) for row in range(count)], (28, 28), None, Path("mnist"))
    Y = np.zeros((count, 10))
    with TemporaryDirectory() as home, _served(model, samples, Path(home)) as (session, address):
        for code in range(10):
            rows = np.flatnonzero(y == code)[:_GIVEN]
            Y[rows, code] = 1
            session.act(Action(f"{code}", "name", tuple(rows.tolist()), f"{code}"))
        rows = iter(np.flatnonzero(Y.sum(axis=1) == 0).tolist())

        def give() -> None:
            row = next(rows)
            _act(
                address, {"key": f"row {row}", "kind": "name", "rows": [row], "label": str(y[row])}
            )

        works = {
            "answer": give,
            "diffusion": lambda: diffuse(model.graph_.theta, Y, 0.98, tol=ROUGH_TOL),
        }
        seconds = measure.best_of_each(works, _TURNS)
        unnamed = ((row, str(y[row])) for row in rows)
        shown = _on_screen(f"{address}/{_TOKEN}/", unnamed)
    return _outcome(count, seconds, shown)


def _outcome(count: int, seconds: dict[str, float], shown: dict[str, float]) -> Outcome:
    times = seconds | {f"on the screen, {view}": value for view, value in shown.items()}
    records: list[Record] = [
        {"samples": count, "program": name, "program_seconds": value}
        for name, value in times.items()
    ]
    ratio, slowest = seconds["answer"] / seconds["diffusion"], max(shown.values())
    targets = [
        at_most("an answer at the server", ratio, 1, "× one diffusion of all classes"),
        at_most("an answer on the screen", 1000 * slowest, 1000 * _SECONDS, "ms"),
    ]
    return Outcome(records, targets)


def _on_screen(address: str, answers: Iterator[tuple[int, str]]) -> dict[str, float]:
    """The median seconds from an answer until it is drawn in a browser, by the view shown."""
    with chromium() as browser:
        browser.set_script_timeout(60)
        medians = {}
        for view in _VIEWS:
            browser.get("about:blank")  # another view of the same page would not load it again
            browser.get(f"{address}#{view}")
            _wait(
                browser,
                "return content !== null && state.version >= 0 && steps.version === state.version",
            )
            turns = []
            for _ in range(_TURNS):
                turns.append(browser.execute_async_script(_GIVE, *next(answers)))
                _wait(browser, "return steps.version === state.version && !session.sending")
            medians[view] = float(np.median(turns))
    return medians


def _wait(browser: Any, condition: str) -> None:
    end = time.monotonic() + 60
    while not browser.execute_script(condition):
        if time.monotonic() > end:
            raise TimeoutError(condition)
        time.sleep(0.02)


@contextmanager
def _served(
    model: HypergraphClustering, samples: Samples, folder: Path
) -> Iterator[tuple[LabelingSession, str]]:
    """A session, and the address of its server in a thread."""
    session = LabelingSession(model, samples.names, folder)
    with open_port(0) as listening:
        port = listening.getsockname()[1]
        exporter = Exporter(session, samples, folder)
        app = make_app(session, Pictures(samples, folder), exporter, _TOKEN, port)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield session, f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join()
    session.close()


def _act(address: str, action: dict[str, object]) -> object:
    headers = {"Origin": address, "Content-Type": "application/json"}
    request = Request(f"{address}/{_TOKEN}/act", json.dumps(action).encode(), headers)
    with urlopen(request) as reply:
        return json.load(reply)
