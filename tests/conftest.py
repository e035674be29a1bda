"""Settings and data that all tests share."""

import json
import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchmarks.browser import PROGRAMS, chromium

# In the background of a shell, or under nohup, these are ignored, also by what the tests start.
for _name, _handler in {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}.items():
    with suppress(AttributeError, ValueError):  # of Windows, of a thread
        if signal.getsignal(getattr(signal, _name)) == signal.SIG_IGN:
            signal.signal(getattr(signal, _name), _handler)


@pytest.fixture(scope="session", autouse=True)
def _one_thread_in_libraries():
    """The arrays are small: on a busy machine threads of BLAS and OpenMP wait for each other."""
    with threadpool_limits(limits=1):
        yield


@pytest.fixture(scope="session")
def data_folder():
    """Folder of the real image sets: ENHG_DATA, or a folder beside the project."""
    named = os.environ.get("ENHG_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no image sets in {folder}; set ENHG_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def union_of_subspaces():
    """Make samples of random independent subspaces."""

    def make(seed, n_subspaces=4, per_subspace=30, dimension=3, n_features=50):
        rng = np.random.default_rng(seed)
        bases = rng.normal(size=(n_subspaces, dimension, n_features))
        X = np.vstack([rng.normal(size=(per_subspace, dimension)) @ basis for basis in bases])
        y = np.repeat(np.arange(n_subspaces), per_subspace)
        order = rng.permutation(len(y))
        return X[order], y[order]

    return make


@pytest.fixture(scope="session")
def only_dlpack():
    """A class of arrays."""

    class OnlyDLPack:
        """An array of which nothing but the protocol is known."""

        def __init__(self, array):
            self._array = array

        def __dlpack__(self, **options):
            return self._array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

    return OnlyDLPack


@pytest.fixture(scope="session")
def hif_schema():
    """The rules of the Hypergraph Interchange Format, 0.1.0, as a JSON Schema.

    Stricter than the published one in that records, too, have no other keys.
    """
    name, record = {"type": ["string", "integer"]}, {"type": "object"}
    common = {"weight": {"type": "number"}, "attrs": record}

    def records(required, **properties):
        allowed = {**common, **properties, **dict.fromkeys(required, name)}
        rules = {"properties": allowed, "required": required, "additionalProperties": False}
        return {"type": "array", "items": {**record, **rules}}

    return {
        "type": "object",
        "properties": {
            "network-type": {"enum": ["undirected", "directed", "asc"]},
            "metadata": record,
            "incidences": records(["edge", "node"], direction={"enum": ["head", "tail"]}),
            "nodes": records(["node"]),
            "edges": records(["edge"]),
        },
        "required": ["incidences"],
        "additionalProperties": False,
    }


@pytest.fixture(scope="session")
def read_valid_hif(hif_schema):
    """Read a file that obeys the rules of HIF, by the standard library."""
    from jsonschema import Draft202012Validator

    def read(path):
        def refuse(constant):
            raise AssertionError(f"{constant} is not JSON")

        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
        Draft202012Validator(hif_schema).validate(content)
        return content

    return read


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window."""
    pytest.importorskip("selenium", reason="selenium is not installed")
    if not all(map(shutil.which, PROGRAMS)):
        pytest.skip(f"{' and '.join(PROGRAMS)} are not installed")
    with chromium() as driver:
        yield driver


@pytest.fixture(scope="session")
def press():
    """Press keys, given by their names in selenium."""

    def send(browser, *keys):
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        ActionChains(browser).send_keys(*(getattr(Keys, key) for key in keys)).perform()

    return send
