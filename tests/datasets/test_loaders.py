from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from PIL import Image
from scipy.io import loadmat

from enhg.datasets import Dataset, load
from enhg.datasets.loaders import NAMES

LOCAL = {
    "yale-b": (2414, (32, 32), 38),
    "pie": (11554, (32, 32), 68),
    "usps": (9298, (16, 16), 10),
    "mnist": (70000, (28, 28), 10),
}


@pytest.fixture(scope="module")
def loaded(data_folder):
    """The local sets, each read once."""
    sets = {}

    def get(name):
        if name not in sets:
            sets[name] = load(name, data_folder)
        return sets[name]

    return get


def test_digits_need_no_files(monkeypatch):
    monkeypatch.delenv("ENHG_DATA", raising=False)
    digits = load("digits")
    assert digits.X.shape == (1797, 64)
    assert digits.X.dtype == np.float32
    assert digits.image_shape == (8, 8)
    assert set(digits.y) == set(range(10))


@pytest.mark.parametrize("name", LOCAL)
def test_shapes_and_labels(loaded, name):
    samples, image_shape, classes = LOCAL[name]
    data = loaded(name)
    assert data.X.shape == (samples, image_shape[0] * image_shape[1])
    assert data.image_shape == image_shape
    assert data.y.shape == (samples,)
    assert data.y.dtype.kind == "i"
    assert len(np.unique(data.y)) == classes
    assert data.X.std(axis=1).min() > 0


def test_images_per_class(loaded):
    """As the README of the data sets says."""
    yale = np.bincount(loaded("yale-b").y)[1:]
    assert set(np.delete(yale, range(10, 17))) == {64}
    assert yale[10:17].min() >= 59
    assert yale[10:17].max() <= 63
    pie = np.bincount(loaded("pie").y)[1:]
    assert pie[37] == 164
    assert set(np.delete(pie, 37)) == {170}


def test_yale_b_is_turned_from_columns_to_rows(loaded, data_folder):
    raw = loadmat(data_folder / "YaleB_32x32.mat")["features"]
    for i in (0, 1000, 2413):
        image = loaded("yale-b").X[i].reshape(32, 32)
        np.testing.assert_array_equal(image, raw[:, i].reshape(32, 32).T)


@pytest.mark.parametrize("name", ["yale-b", "pie"])
def test_faces_are_upright(loaded, name):
    """A face is like its mirror image and not like itself upside down."""
    face = loaded(name).X.mean(axis=0).reshape(32, 32)
    mirrored = np.corrcoef(face.ravel(), face[:, ::-1].ravel())[0, 1]
    upside_down = np.corrcoef(face.ravel(), face[::-1].ravel())[0, 1]
    assert mirrored > 0.8
    assert mirrored > upside_down + 0.2


@pytest.mark.parametrize("name", ["digits", "usps", "mnist"])
def test_ones_are_upright(request, name):
    digits = load(name) if name == "digits" else request.getfixturevalue("loaded")(name)
    one = digits.X[digits.y == 1].mean(axis=0).reshape(digits.image_shape)
    height, width = (
        np.sqrt(np.cov(np.arange(len(profile)), aweights=profile))
        for profile in (one.sum(axis=1), one.sum(axis=0))
    )
    assert height > 1.2 * width


def test_folder_from_the_environment(loaded, data_folder, monkeypatch):
    monkeypatch.setenv("ENHG_DATA", str(data_folder))
    np.testing.assert_array_equal(load("usps").X, loaded("usps").X)


# --- original images, and OpenML -------------------------------------------------------------


def test_extended_yale_b_from_its_original_images(loaded, tmp_path):
    """The images in the folders of their authors, with a background image per person."""
    faces = loaded("yale-b")
    for i, (pixels, person) in enumerate(zip(faces.X, faces.y, strict=True)):
        folder = tmp_path / "CroppedYale" / f"yaleB{person:02}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.reshape(32, 32)).save(folder / f"yaleB{person:02}_P00_{i:04}.pgm")
        (folder / f"yaleB{person:02}_P00_Ambient.pgm").write_bytes(b"P5 2 1 255 ab")
    data = load("yale-b", tmp_path)
    np.testing.assert_array_equal(data.X, faces.X)
    np.testing.assert_array_equal(data.y, faces.y)
    assert data.image_shape == (32, 32)


def test_images_that_are_not_the_set(tmp_path):
    for person in ("a", "b"):
        (tmp_path / "PIE" / person).mkdir(parents=True)
        Image.new("L", (64, 64), 5).save(tmp_path / "PIE" / person / "1.png")
    with pytest.raises(ValueError, match=r"PIE must be PIE, .*68 classes.*\(2, 1024\).*2 classes"):
        load("pie", tmp_path)


def openml(monkeypatch, X, y):
    requests = []

    def fetch(**choices):
        requests.append(choices["data_id"])
        return SimpleNamespace(data=X, target=y)

    monkeypatch.setattr("enhg.datasets.loaders.fetch_openml", fetch)
    return requests


def test_usps_from_openml(loaded, monkeypatch, tmp_path):
    """OpenML has pixels in [−1, 1] and the classes 1 to 10."""
    ours = loaded("usps")
    requests = openml(monkeypatch, 2.0 * ours.X - 1, (ours.y + 1).astype(str).astype(object))
    data = load("usps", tmp_path, download=True)
    assert requests == [41082]
    np.testing.assert_allclose(data.X, ours.X, atol=1e-6)
    np.testing.assert_array_equal(data.y, ours.y)


def test_mnist_from_openml(loaded, monkeypatch, tmp_path):
    ours = loaded("mnist")
    openml(monkeypatch, ours.X.astype(float), ours.y.astype(str).astype(object))
    data = load("mnist", tmp_path, download=True)
    assert data.X.dtype == np.uint8
    np.testing.assert_array_equal(data.X, ours.X)
    np.testing.assert_array_equal(data.y, ours.y)


def test_a_file_comes_before_a_download(loaded, monkeypatch, data_folder):
    requests = openml(monkeypatch, None, None)
    np.testing.assert_array_equal(load("usps", data_folder, download=True).X, loaded("usps").X)
    assert requests == []


def test_openml_out_of_reach_or_changed(monkeypatch, tmp_path):
    def fail(**choices):
        raise URLError("no route")

    monkeypatch.setattr("enhg.datasets.loaders.fetch_openml", fail)
    with pytest.raises(OSError, match=r"USPS could not be fetched from OpenML .*no route.*usps.h5"):
        load("usps", tmp_path, download=True)
    openml(monkeypatch, np.zeros((3, 256)), np.array(["1", "2", "3"], object))
    with pytest.raises(ValueError, match=r"OpenML's data set 41082 must be USPS.*\(3, 256\)"):
        load("usps", tmp_path, download=True)


def test_faces_are_not_downloaded(tmp_path):
    with pytest.raises(
        FileNotFoundError, match="Extended Yale B is not part of the package"
    ) as caught:
        load("yale-b", tmp_path, download=True)
    assert "OpenML" not in str(caught.value)


# --- errors ----------------------------------------------------------------------------------


def test_unknown_set():
    with pytest.raises(ValueError, match=r"name must be one of .*'yale-b'.*got 'yale'"):
        load("yale")
    assert set(NAMES) == {"digits", *LOCAL}


@pytest.mark.parametrize("name", LOCAL)
def test_no_folder(name, monkeypatch):
    monkeypatch.delenv("ENHG_DATA", raising=False)
    with pytest.raises(
        FileNotFoundError, match=r"is not part of the package: set folder.*ENHG_DATA"
    ):
        load(name)


@pytest.mark.parametrize("name", LOCAL)
def test_folder_without_the_file(name, tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"is not part of the package: .* must hold .* one folder per"
    ):
        load(name, tmp_path)


def test_another_file_of_the_same_name(tmp_path):
    np.savez(tmp_path / "PIE_32x32.npz", fea=np.ones((5, 1024), np.uint8), gnd=np.arange(5))
    with pytest.raises(ValueError, match=r"PIE_32x32.npz must be PIE, .*11554.*\(5, 1024\)"):
        load("pie", tmp_path)
    (tmp_path / "mnist_70k.npz").write_text("no archive")
    with pytest.raises(ValueError, match=r"mnist_70k.npz: cannot be read"):
        load("mnist", tmp_path)


# --- parts of a set --------------------------------------------------------------------------


SMALL = Dataset("small", np.arange(24.0).reshape(12, 2), np.repeat([3, 5, 9], [2, 4, 6]), (1, 2))


def test_first_classes():
    part = SMALL.first_classes(2)
    assert part.y.tolist() == [3, 3, 5, 5, 5, 5]
    np.testing.assert_array_equal(part.X, SMALL.X[:6])
    assert (part.name, part.image_shape) == ("small", (1, 2))


def test_sampled():
    part = SMALL.sampled(3, np.random.RandomState(0))
    assert part.y.tolist() == [3, 3, 5, 5, 5, 9, 9, 9]  # all of a class that has fewer
    rows = part.X[:, 0] / 2
    assert len(set(rows)) == 8
    np.testing.assert_array_equal(part.y, SMALL.y[rows.astype(int)])
    again = SMALL.sampled(3, np.random.RandomState(0))
    np.testing.assert_array_equal(again.X, part.X)
    draws = [tuple(SMALL.sampled(3, np.random.RandomState(s)).X[:, 0]) for s in range(10)]
    assert len(set(draws)) > 1
