"""Runs of the program and inputs for them."""

import csv
import json
import re

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from enhg.cli.commands import app

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = X[:90].astype(np.uint8), Y[:90]


@pytest.fixture(scope="session")
def run():
    """Run the program on the arguments given."""
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="session")
def fails(run):
    """Run; the program must end with the code and one line on standard error, which is returned."""

    def invoke(*words, code=1):
        result = run(*words)
        assert result.exit_code == code, result.output
        assert isinstance(result.exception, SystemExit)
        assert result.stderr.count("\n") == 1
        return result.stderr

    return invoke


@pytest.fixture(scope="session")
def table():
    """Rows of a .csv file as dictionaries."""

    def read(path):
        with open(path, newline="", encoding="utf-8-sig") as stream:
            return list(csv.DictReader(stream))

    return read


@pytest.fixture
def digits(tmp_path):
    """Ninety digits of three classes with their true labels."""
    np.savez(tmp_path / "digits.npz", X=X.reshape(-1, 8, 8), y=Y)
    return tmp_path / "digits.npz"


@pytest.fixture
def some_labels(tmp_path):
    """The true labels of every tenth of them."""
    path = tmp_path / "some.csv"
    path.write_text("name,label\n" + "".join(f"{i},{Y[i]}\n" for i in range(0, 90, 10)))
    return path


@pytest.fixture
def photos(tmp_path):
    """The digits as a folder of images."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for i, image in enumerate(X.reshape(-1, 8, 8)):
        Image.fromarray(16 * image.clip(0, 15)).save(folder / f"{i}.png")
    return folder


@pytest.fixture(scope="session")
def islands():
    """Make samples in groups that are orthogonal to each other, of zero mean."""

    def make(count, members=8):
        rng = np.random.default_rng(0)
        rows = np.zeros((count, members, count, 20))
        for i in range(count):
            half = rng.integers(1, 9, size=(members, 10))
            rows[i, :, i] = np.hstack([half, -half])
        return rows.reshape(count * members, -1)

    return make


@pytest.fixture(scope="session", autouse=True)
def _network_folder(tmp_path_factory):
    """The network of photographs is made once per run, in a folder of the run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENHG_CACHE", str(tmp_path_factory.mktemp("network")))
        yield


@pytest.fixture(scope="session")
def paint():
    """Make a color picture of one of three patterns, of a size of its own."""

    def make(kind, seed):
        rng = np.random.default_rng([kind, seed])
        height, width = rng.integers(40, 70, 2)
        y, x = np.mgrid[:height, :width] / rng.uniform(3, 5) + rng.uniform(0, 6)
        pattern = (np.sin(x), np.sin(y), np.sign(np.sin(x / 2) * np.sin(y / 2)))[kind]
        colors = 128 + 60 * pattern[..., None] + 40 * np.eye(3)[kind]
        noisy = colors + rng.normal(0, 12, colors.shape)
        return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))

    return make


@pytest.fixture
def pictures(tmp_path, paint):
    """A folder of twelve color JPEG images of different sizes: a0.jpg to a3.jpg, b0.jpg, …"""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for kind, letter in enumerate("abc"):
        for i in range(4):
            paint(kind, i).save(folder / f"{letter}{i}.jpg", quality=95)
    return folder


@pytest.fixture(scope="session")
def page_data():
    """The data inside a page."""

    def read(path):
        text = path.read_text(encoding="utf-8")
        return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])

    return read


@pytest.fixture
def unread(monkeypatch):
    """Reading an image fails the test."""

    def refuse(*_, **__):
        pytest.fail("an image was read")

    for name in ("read_image", "read_header"):
        monkeypatch.setattr(f"enhg.io.images.{name}", refuse)
