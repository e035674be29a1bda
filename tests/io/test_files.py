"""Reading samples and labels, writing results: every format, every refusal."""

from __future__ import annotations

import io
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
from PIL import Image

from enhg.io import (
    InputError,
    output_folder,
    read_labels,
    read_samples,
    write_labels,
)
from enhg.io.images import IMAGE_SUFFIXES, natural_key

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(6, 4))
PIXELS = RNG.integers(0, 256, size=(6, 5, 3), dtype=np.uint8)
TRUTH = np.array([1, 1, 2, 2, 3, 3])


def refuses(action, *parts):
    """Run `action`; it must raise an InputError of one line that contains all `parts`."""
    with pytest.raises(InputError) as caught:
        action()
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message
    return message


def save_image(path, array, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path, **options)
    return path


def cut(path, keep=0.6):
    """Truncate a file."""
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    return path


class Bomb:
    """Unpickling this makes a file: the proof that a payload ran."""

    def __init__(self, witness):
        self.witness = witness

    def __reduce__(self):
        return (os.mkdir, (str(self.witness),))


# --- folders of images ---------------------------------------------------------------------


def test_folder_of_images(tmp_path):
    for i in (10, 2, 1):
        save_image(tmp_path / f"img{i}.png", PIXELS[i % 6])
    save_image(tmp_path / "sub" / "deep" / "a.bmp", PIXELS[0])
    save_image(tmp_path / ".hidden.png", PIXELS[0])
    save_image(tmp_path / ".cache" / "b.png", PIXELS[0])
    (tmp_path / "notes.txt").write_text("not an image")
    calls = []
    samples = read_samples(tmp_path, progress=lambda done, total: calls.append((done, total)))
    # A name is compared folder by folder: "img…" sorts before "sub".
    assert samples.names == ["img1.png", "img2.png", "img10.png", "sub/deep/a.bmp"]
    assert samples.X.dtype == np.uint8
    np.testing.assert_array_equal(samples.X, PIXELS[[1, 2, 4, 0]].reshape(4, -1))
    assert samples.image_shape == (5, 3)
    assert samples.labels is None
    assert samples.source == tmp_path
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_natural_order():
    names = ["b10/a2", "b2/a10", "b2/a9", "A1", "a01", "a1x", "7", "10"]
    ordered = sorted(names, key=natural_key)
    assert ordered == ["7", "10", "A1", "a01", "a1x", "b2/a9", "b2/a10", "b10/a2"]


@pytest.mark.parametrize("suffix", [*sorted(IMAGE_SUFFIXES - {".pbm"}), ".PNG"])
def test_every_image_format(tmp_path, suffix):
    array = np.full((8, 6), 100, dtype=np.uint8)
    Image.fromarray(array).convert("RGB" if suffix == ".ppm" else "L").save(tmp_path / f"a{suffix}")
    samples = read_samples(tmp_path)
    assert samples.image_shape == (8, 6)
    np.testing.assert_allclose(samples.X.astype(float), 100, atol=3)


def test_bitmap_is_black_and_white(tmp_path):
    Image.fromarray(np.eye(4, dtype=bool)).save(tmp_path / "a.pbm")
    np.testing.assert_array_equal(read_samples(tmp_path).X, 255 * np.eye(4).reshape(1, -1))


def test_color(tmp_path):
    rgb = RNG.integers(0, 256, size=(4, 3, 3), dtype=np.uint8)
    save_image(tmp_path / "a.png", rgb)
    samples = read_samples(tmp_path, gray=False)
    assert samples.image_shape == (4, 3, 3)
    np.testing.assert_array_equal(samples.X[0], rgb.ravel())
    assert read_samples(tmp_path).image_shape == (4, 3)


def test_transparency_is_shown_on_white(tmp_path):
    rgba = np.zeros((2, 2, 4), dtype=np.uint8)
    rgba[0, 0, 3] = 255  # one opaque black pixel among invisible black ones
    save_image(tmp_path / "a.png", rgba)
    np.testing.assert_array_equal(read_samples(tmp_path).X, [[0, 255, 255, 255]])


@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_exif_orientation(tmp_path, suffix):
    array = np.zeros((8, 16), dtype=np.uint8)
    array[:, 8:] = 255  # right half white
    exif = Image.Exif()
    exif[0x0112] = 6  # the viewer turns it clockwise: the white half comes to the bottom
    save_image(tmp_path / f"a.{suffix}", array, exif=exif)
    samples = read_samples(tmp_path)
    assert samples.image_shape == (16, 8)
    upright = samples.X.reshape(16, 8)
    assert upright[:7].max() < 30
    assert upright[9:].min() > 225


DEEP = np.array([[0, 65535, 30000], [100, 257, 514]], dtype=np.uint16)


@pytest.mark.parametrize("suffix", ["png", "tif", "pgm"])
@pytest.mark.parametrize("gray", [True, False])
def test_sixteen_bits_keep_their_detail(tmp_path, suffix, gray):
    if suffix == "pgm":
        (tmp_path / "a.pgm").write_bytes(b"P5 3 2 65535\n" + DEEP.astype(">u2").tobytes())
    else:
        save_image(tmp_path / f"a.{suffix}", DEEP)
    samples = read_samples(tmp_path, gray=gray)
    assert samples.X.dtype == np.float32
    pixels = samples.X.reshape(2, 3) if gray else samples.X.reshape(2, 3, 3)[..., 1]
    np.testing.assert_allclose(pixels, DEEP / 257, rtol=1e-6)


def test_big_endian_sixteen_bits(tmp_path):
    image = Image.frombytes("I;16B", (3, 2), DEEP.astype(">u2").tobytes())
    image.save(tmp_path / "a.tif")
    np.testing.assert_allclose(read_samples(tmp_path).X[0], DEEP.ravel() / 257, rtol=1e-6)


def test_eight_and_sixteen_bits_share_a_scale(tmp_path):
    save_image(tmp_path / "a.png", np.full((2, 2), 255, dtype=np.uint8))
    save_image(tmp_path / "b.png", np.full((2, 2), 65535, dtype=np.uint16))
    np.testing.assert_array_equal(read_samples(tmp_path).X, np.full((2, 4), 255, np.float32))


def test_float_images_keep_their_values(tmp_path):
    values = np.array([[-1.5, 0.25], [1000, 3]], dtype=np.float32)
    save_image(tmp_path / "a.tif", values)
    np.testing.assert_array_equal(read_samples(tmp_path).X[0], values.ravel())
    values[0, 0] = np.nan
    save_image(tmp_path / "b.tif", values)
    refuses(lambda: read_samples(tmp_path), "1 of 8 values", "row 1", "b.tif")


def test_sizes_must_agree(tmp_path):
    save_image(tmp_path / "a.png", np.zeros((4, 5), np.uint8))
    save_image(tmp_path / "b.png", np.zeros((6, 7), np.uint8))
    refuses(lambda: read_samples(tmp_path), "a.png is 4×5", "b.png is 6×7", "--size 32x32")
    samples = read_samples(tmp_path, size=(3, 2))
    assert samples.X.shape == (2, 6)
    assert samples.image_shape == (3, 2)


def test_resizing_is_antialiased(tmp_path):
    stripes = np.zeros((64, 64), dtype=np.uint8)
    stripes[:, ::2] = 255
    save_image(tmp_path / "a.png", stripes)
    small = read_samples(tmp_path, size=(8, 8)).X
    assert np.abs(small.astype(float) - 127.5).max() < 15  # picking pixels would give 0 or 255
    save_image(tmp_path / "a.png", stripes.astype(np.uint16) * 257)
    np.testing.assert_allclose(read_samples(tmp_path, size=(8, 8)).X, small, atol=1)


def test_broken_images_are_collected(tmp_path):
    noise = RNG.integers(0, 256, size=(40, 40), dtype=np.uint8)
    save_image(tmp_path / "a.png", noise)
    cut(save_image(tmp_path / "b.png", noise))
    message = refuses(lambda: read_samples(tmp_path), str(tmp_path), "1 image cannot be read")
    assert "b.png" in message
    cut(save_image(tmp_path / "c.jpg", noise))
    (tmp_path / "d.png").write_text("no image at all")
    (tmp_path / "e.gif").write_bytes(b"")
    refuses(lambda: read_samples(tmp_path), "4 images cannot be read, first: b.png")
    (tmp_path / "b.png").unlink()
    (tmp_path / "c.jpg").unlink()
    refuses(lambda: read_samples(tmp_path), "first: d.png (not an image)")


def test_folder_without_images(tmp_path):
    (tmp_path / "readme.txt").write_text("nothing here")
    refuses(lambda: read_samples(tmp_path), str(tmp_path), "no images", "png")


def test_huge_image(tmp_path, monkeypatch):
    save_image(tmp_path / "a.png", np.zeros((40, 40), np.uint8))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    refuses(lambda: read_samples(tmp_path), "a.png (too large")


# --- array files ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("uint8", "uint8"),
        ("float32", "float32"),
        (">f4", "float32"),
        ("float16", "float32"),
        ("bool", "uint8"),
        ("float64", "float64"),
        (">f8", "float64"),
        ("int16", "float64"),
        ("uint16", "float64"),
        ("int64", "float64"),
    ],
)
def test_npy_types(tmp_path, given, kept):
    array = RNG.integers(0, 2, size=(5, 3)).astype(given)
    np.save(tmp_path / "a.npy", array)
    samples = read_samples(str(tmp_path / "a.npy"))
    assert samples.X.dtype == np.dtype(kept)
    assert samples.X.dtype.isnative
    np.testing.assert_array_equal(samples.X, array.astype(float))
    assert samples.names == ["0", "1", "2", "3", "4"]
    assert samples.image_shape is None
    assert samples.labels is None


@pytest.mark.parametrize(
    ("shape", "image_shape"),
    [((6, 16), None), ((6, 5, 3), (5, 3)), ((6, 5, 3, 3), (5, 3, 3)), ((6, 5, 3, 1), (5, 3))],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_shapes(tmp_path, shape, image_shape, order):
    array = RNG.normal(size=shape)
    np.save(tmp_path / "a.npy", np.asarray(array, order=order))
    samples = read_samples(tmp_path / "a.npy")
    np.testing.assert_array_equal(samples.X, array.reshape(6, -1))
    assert samples.X.flags.c_contiguous
    assert samples.image_shape == image_shape


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.zeros(5), "1 dimension;"),
        (np.float64(3), "0 dimensions"),
        (np.zeros((2, 2, 2, 2, 2)), "5 dimensions"),
        (np.zeros((0, 5)), "empty"),
        (np.zeros((5, 0)), "empty"),
        (np.zeros((2, 2), complex), "complex128"),
        (np.array([["a", "b"]]), "<U1"),
        (np.zeros(3, dtype=[("a", int)]), "holds"),
    ],
)
def test_npy_that_is_no_samples(tmp_path, array, part):
    np.save(tmp_path / "a.npy", array)
    refuses(lambda: read_samples(tmp_path / "a.npy"), str(tmp_path / "a.npy"), part)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_must_be_finite(tmp_path, value, dtype):
    array = TABLE.astype(dtype)
    array[4, 1] = array[2, 3] = value
    np.save(tmp_path / "a.npy", array)
    refuses(lambda: read_samples(tmp_path / "a.npy"), "a.npy", "2 of 24 values", "first in row 2;")


def test_large_finite_values_pass(tmp_path):
    np.save(tmp_path / "a.npy", np.full((3, 3), 1e308))
    assert read_samples(tmp_path / "a.npy").X.max() == 1e308


def write_mat73(path, arrays):
    """What MATLAB's ``save -v7.3`` writes: HDF5 behind a text header, axes reversed."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            file[name] = np.asarray(array).T
            file[name].attrs["MATLAB_class"] = np.bytes_(b"double")
        file["title"] = np.array([[70, 97], [70, 97], [70, 97]], dtype=np.uint16)
        file["title"].attrs["MATLAB_class"] = np.bytes_(b"char")
        file["#refs#/a"] = np.zeros((3, 3))
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def write_h5(path, arrays):
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array


WRITERS = {
    "npz": lambda path, arrays: np.savez(path, **arrays),
    "zipped.npz": lambda path, arrays: np.savez_compressed(path, **arrays),
    "v5.mat": lambda path, arrays: scipy.io.savemat(path, arrays),
    "zipped.mat": lambda path, arrays: scipy.io.savemat(path, arrays, do_compression=True),
    "v4.mat": lambda path, arrays: scipy.io.savemat(path, arrays, format="4"),
    "v73.mat": write_mat73,
    "h5": write_h5,
    "hdf5": write_h5,
}


@pytest.fixture(params=WRITERS)
def container(request, tmp_path):
    """A function that writes arrays into a file of each format and returns its path."""

    def write(**arrays):
        path = tmp_path / f"data.{request.param}"
        WRITERS[request.param](path, arrays)
        return path

    return write


@pytest.mark.parametrize("name", ["X", "x", "data", "fea", "features", "images", "embeddings"])
def test_well_known_names(container, name):
    path = container(**{name: TABLE, "other": np.ones((9, 9)), "gnd": TRUTH})
    samples = read_samples(path)
    np.testing.assert_array_equal(samples.X, TABLE)
    np.testing.assert_array_equal(samples.labels, TRUTH)
    assert samples.labels.dtype == np.int64
    assert samples.names == [str(i) for i in range(6)]
    assert samples.source == path


@pytest.mark.parametrize("name", ["y", "Y", "labels", "Label", "label", "gnd", "target", "targets"])
def test_label_names(container, name):
    np.testing.assert_array_equal(
        read_samples(container(**{"X": TABLE, name: TRUTH.astype(float)})).labels, TRUTH
    )


def test_labels_of_another_length_are_not_the_truth(container):
    samples = read_samples(container(X=TABLE, y=np.arange(5), target=TRUTH))
    np.testing.assert_array_equal(samples.labels, TRUTH)
    assert read_samples(container(X=TABLE, y=np.arange(5))).labels is None


def test_the_only_table_is_taken(container):
    samples = read_samples(container(faces=TABLE, sigma=np.ones((1, 1)), gnd=TRUTH))
    np.testing.assert_array_equal(samples.X, TABLE)


def test_key(container):
    path = container(a=TABLE, b=2 * TABLE, y=TRUTH)
    message = refuses(lambda: read_samples(path), str(path), "--key")
    assert "a (6×4 " in message
    assert "b (6×4 " in message
    samples = read_samples(path, key="b")
    np.testing.assert_array_equal(samples.X, 2 * TABLE)
    np.testing.assert_array_equal(samples.labels, TRUTH)
    refuses(lambda: read_samples(path, key="c"), "no array c", "a (6×4")


def test_one_column_a_sample(container):
    samples = read_samples(container(features=TABLE.T, Label=TRUTH[None]))
    np.testing.assert_array_equal(samples.X, TABLE)
    np.testing.assert_array_equal(samples.labels, TRUTH)
    assert samples.X.flags.c_contiguous


def test_a_square_table_keeps_its_rows(container):
    samples = read_samples(container(X=TABLE[:4], y=TRUTH[:4]))
    np.testing.assert_array_equal(samples.X, TABLE[:4])


def test_images_along_the_last_axis(tmp_path):
    path = tmp_path / "svhn.mat"
    scipy.io.savemat(path, {"X": np.moveaxis(PIXELS, 0, -1), "y": TRUTH[:, None]})
    samples = read_samples(path)
    np.testing.assert_array_equal(samples.X, PIXELS.reshape(6, -1))
    assert samples.image_shape == (5, 3)
    assert samples.X.dtype == np.uint8


def test_three_dimensions_in_a_container(tmp_path):
    np.savez(tmp_path / "a.npz", images=PIXELS)
    assert read_samples(tmp_path / "a.npz").image_shape == (5, 3)


def test_text_labels(tmp_path):
    np.savez(tmp_path / "a.npz", X=TABLE, y=np.array(list("aabbcc")))
    assert read_samples(tmp_path / "a.npz").labels.tolist() == list("aabbcc")


def test_groups_are_joined_train_first(tmp_path):
    arrays = {}
    for i, group in enumerate(["extra", "test", "train"]):
        arrays[f"{group}/data"] = np.full((2, 3), i, dtype=np.float32)
        arrays[f"{group}/target"] = [i, i]
    write_h5(tmp_path / "a.h5", arrays)
    samples = read_samples(tmp_path / "a.h5")
    assert samples.X[:, 0].tolist() == [2, 2, 0, 0, 1, 1]
    assert samples.labels.tolist() == [2, 2, 0, 0, 1, 1]
    assert samples.names == list("012345")
    assert samples.X.dtype == np.float32
    for key in ("test/data", "/test/data"):
        one = read_samples(tmp_path / "a.h5", key=key)
        assert one.X.tolist() == [[1, 1, 1], [1, 1, 1]]
        assert one.labels.tolist() == [1, 1]


def test_groups_that_differ_are_not_joined(tmp_path):
    write_h5(tmp_path / "a.h5", {"train/data": TABLE, "test/data": TABLE[:, :3]})
    refuses(lambda: read_samples(tmp_path / "a.h5"), "6×4", "6×3", "--key train/data")
    write_h5(tmp_path / "b.h5", {"train/data": TABLE, "train/y": TRUTH, "test/data": TABLE})
    refuses(lambda: read_samples(tmp_path / "b.h5"), "train/data", "--key")


def test_the_top_level_goes_before_groups(tmp_path):
    write_h5(tmp_path / "a.h5", {"X": TABLE, "model/weights": np.ones((3, 3))})
    np.testing.assert_array_equal(read_samples(tmp_path / "a.h5").X, TABLE)


def test_links_to_other_files_are_not_followed(tmp_path):
    write_h5(tmp_path / "secret.h5", {"data": TABLE})
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["other"] = h5py.ExternalLink("secret.h5", "/data")
    refuses(lambda: read_samples(tmp_path / "a.h5"), "no arrays")
    refuses(lambda: read_samples(tmp_path / "a.h5", key="other"), "no array other")


def test_containers_without_samples(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"s": {"f": 1}, "c": np.array([[1, "a"]], dtype=object)})
    refuses(lambda: read_samples(tmp_path / "a.mat"), "s (1×1 struct)", "c (1×2 cell)")
    refuses(lambda: read_samples(tmp_path / "a.mat", key="c"), "objects (cell)")
    scipy.io.savemat(tmp_path / "b.mat", {"X": TABLE + 1j})
    refuses(lambda: read_samples(tmp_path / "b.mat"), "complex")
    scipy.io.savemat(tmp_path / "c.mat", {})
    refuses(lambda: read_samples(tmp_path / "c.mat"), "no arrays")
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["words"] = ["a", "b"]
        file["nothing"] = h5py.Empty("f")
    refuses(lambda: read_samples(tmp_path / "d.h5"), "words (2 object)", "nothing")
    np.savez(tmp_path / "e.npz", X=np.zeros((0, 3)), y=[])
    refuses(lambda: read_samples(tmp_path / "e.npz"), "array X", "empty")
    np.savez(tmp_path / "f.npz", X=np.zeros(3), y=np.zeros(3))
    refuses(lambda: read_samples(tmp_path / "f.npz"), "X (3 float64)")
    refuses(lambda: read_samples(tmp_path / "f.npz", key="X"), "array X has 1 dimension;")


def test_key_where_there_is_nothing_to_choose(tmp_path):
    np.save(tmp_path / "a.npy", TABLE)
    refuses(lambda: read_samples(tmp_path / "a.npy", key="X"), "--key")
    refuses(lambda: read_samples(tmp_path, key="X"), "--key")
    refuses(lambda: read_samples(tmp_path / "a.npy", size=(3, 3)), "--size")
    refuses(lambda: read_samples(tmp_path, size=(0, 3)), "--size 0x3")


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.mat", "zipped.mat", "a.h5", "v73.mat"])
@pytest.mark.parametrize("keep", [0, 0.01, 0.3, 0.6, 0.95])
def test_truncated_files(tmp_path, name, keep):
    path = tmp_path / name
    arrays = {"X": RNG.normal(size=(60, 40)), "y": np.arange(60)}
    if name == "a.npy":
        np.save(path, arrays["X"])
    else:
        WRITERS.get(name, WRITERS.get(path.suffix[1:], WRITERS["v5.mat"]))(path, arrays)
    read_samples(path)
    refuses(lambda: read_samples(cut(path, keep)), str(path))


@pytest.mark.parametrize("suffix", ["npy", "npz", "mat", "h5", "hdf5", "csv"])
def test_files_of_something_else(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    for content in (b"", b"hello\nworld\n", bytes(range(256)) * 8):
        path.write_bytes(content)
        refuses(lambda: read_samples(path), str(path))


def test_npz_with_a_flipped_bit(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=TABLE)
    content = bytearray(path.read_bytes())
    content[content.index(TABLE.tobytes()) + 9] ^= 1
    path.write_bytes(bytes(content))
    refuses(lambda: read_samples(path), str(path), "CRC")


def test_pickles_are_refused_and_never_run(tmp_path):
    witness = tmp_path / "it-ran"
    bomb = np.array([[Bomb(witness)]], dtype=object)
    np.save(tmp_path / "a.npy", bomb, allow_pickle=True)
    np.savez(tmp_path / "a.npz", X=bomb)
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(Bomb(witness)))
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(Bomb(witness)))
    for name in ("a.npy", "a.npz"):
        refuses(lambda name=name: read_samples(tmp_path / name), name, "objects", "never loaded")
    for name in ("raw.npy", "raw.npz"):
        refuses(lambda name=name: read_samples(tmp_path / name), name)
    refuses(lambda: read_labels(tmp_path / "a.npy", ["a"]), "a.npy", "object")
    refuses(lambda: read_labels(tmp_path / "raw.npy", ["a"]), "raw.npy")
    assert not witness.exists()
    np.load(tmp_path / "a.npy", allow_pickle=True)  # the payload is a live one
    assert witness.exists()


def test_an_object_array_nobody_asks_for_does_no_harm(tmp_path):
    witness = tmp_path / "it-ran"
    info = np.array([Bomb(witness)], dtype=object)
    np.savez(tmp_path / "a.npz", X=TABLE, y=TRUTH, info=info)
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npz").X, TABLE)
    np.savez(tmp_path / "b.npz", X=info[None], weights=TABLE)
    refuses(lambda: read_samples(tmp_path / "b.npz"), "array X holds objects")
    assert not witness.exists()


def test_memory_error_is_told(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**7)}
    )
    (tmp_path / "a.npy").write_bytes(header.getvalue())
    refuses(lambda: read_samples(tmp_path / "a.npy"), "a.npy", "does not fit in memory")


# --- tables --------------------------------------------------------------------------------


def table(tmp_path, text, **options):
    path = tmp_path / "a.csv"
    path.write_text(text, **options)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_csv_layouts(tmp_path, delimiter, header, named):
    lines = [["x1", "x2"]] if header else []
    lines += [["1", "2.5"], ["-3e2", " 4"]]
    if named:
        heads = (["photo"] if header else []) + ["a b.png", "c.png"]
        lines = [[head, *line] for head, line in zip(heads, lines, strict=True)]
    samples = read_samples(table(tmp_path, "\n".join(map(delimiter.join, lines))))
    assert samples.X.tolist() == [[1, 2.5], [-300, 4]]
    assert samples.X.dtype == np.float64
    assert samples.names == (["a b.png", "c.png"] if named else ["0", "1"])
    assert samples.labels is None
    assert samples.image_shape is None


@pytest.mark.parametrize("head", ["label", "class", "Target", "y"])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_csv_labels(tmp_path, head, place):
    rows = [["name", "f", "g"], ["a", "1", "2"], ["b", "3", "4"]]
    for row, cell in zip(rows, [head, "7", "8"], strict=True):
        row.insert(place, cell)
    samples = read_samples(table(tmp_path, "\n".join(map(",".join, rows))))
    assert samples.X.tolist() == [[1, 2], [3, 4]]
    assert samples.names == ["a", "b"]
    assert samples.labels.tolist() == [7, 8]
    assert samples.labels.dtype == np.int64


def test_csv_text_labels_and_number_features(tmp_path):
    samples = read_samples(table(tmp_path, "f,g,class\n1,2,cat\n3,4,dog\n"))
    assert samples.labels.tolist() == ["cat", "dog"]
    assert samples.X.tolist() == [[1, 2], [3, 4]]


def test_csv_as_pandas_writes_it(tmp_path):
    samples = read_samples(table(tmp_path, ",0,1\n0,1.5,2\n1,3,4\n"))
    assert samples.X.tolist() == [[1.5, 2], [3, 4]]
    assert samples.names == ["0", "1"]
    samples = read_samples(table(tmp_path, ",f,g\n5,1.5,2\n6,3,4\n"))
    assert samples.X.tolist() == [[1.5, 2], [3, 4]]
    assert samples.names == ["5", "6"]


def test_csv_details(tmp_path):
    assert read_samples(table(tmp_path, "1\n2\n\n3\n")).X.tolist() == [[1], [2], [3]]
    assert read_samples(table(tmp_path, "f\n1\n2\n")).X.tolist() == [[1], [2]]
    assert read_samples(table(tmp_path, "a,1,2\n")).names == ["a"]
    text = '"a, b",1,2\n"c ""d""",3,4\n'
    assert read_samples(table(tmp_path, text)).names == ["a, b", 'c "d"']
    bom = read_samples(table(tmp_path, "name,f\nä,1\n", encoding="utf-8-sig"))
    assert bom.names == ["ä"]
    assert read_samples(table(tmp_path, "name,f\r\na,1\r\n")).X.tolist() == [[1]]
    # Python would read 1_2 as the number 12.
    assert read_samples(table(tmp_path, "1_2,5\n1_3,6\n")).names == ["1_2", "1_3"]
    assert read_samples(table(tmp_path, "id,f\n7,1\n8,2\n")).names == ["7", "8"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["empty"]),
        ("\n\n", ["empty"]),
        ("name,f,g\n", ["no rows"]),
        ("f,g\n1,2\n3,\n", ["row 3", "column g", "empty"]),
        ("1,2\n3,x\n", ["row 2", "column 2", "'x'"]),
        ("f,g\n1,2\nx,4\n", ["row 3", "column f", "'x'"]),
        ("x,2\n3,4\n", ["row 1", "column 1", "'x'"]),
        ("1,,3\n4,5,6\n", ["row 1", "column 2", "empty"]),
        (",2,3\n4,5,6\n", ["row 1", "column 1", "empty"]),
        ("1,x,3\n4,5,6\n", ["row 1", "column 2", "'x'"]),
        ("5.1,3.5,setosa\n4.9,3,setosa\n", ["row 1", "column 3", "setosa", "label"]),
        ("1;2\n1,5;2\n", ["row 2", "column 1", "'1,5'"]),
        ("1,2\n3,4,5\n", ["row 2", "3 cells", "first row 2"]),
        ("1;2;3\n4;5\n", ["row 2", "2 cells"]),
        ("a\nb\n", ["no column of numbers"]),
        ("label\n1\n2\n", ["no column of numbers"]),
        ("f,label,class\n1,2,3\n", ["more than one column of labels", "label, class"]),
        ("1,2\n3,nan\n", ["1 of 4 values", "row 1"]),
        ("a,2\nb,inf\n", ["1 of 2 values", "row 1 (b)"]),
        ("1,1_0\n2,3\n", ["row 1", "column 2", "'1_0'"]),
    ],
)
def test_csv_faults(tmp_path, text, parts):
    path = table(tmp_path, text)
    refuses(lambda: read_samples(path), str(path), *parts)


# --- paths ---------------------------------------------------------------------------------


def test_paths_that_are_no_input(tmp_path):
    refuses(lambda: read_samples(tmp_path / "none.npy"), "none.npy", "no such file")
    refuses(lambda: read_samples(tmp_path / "none"), "no such file")
    refuses(lambda: read_labels(tmp_path / "none.csv", ["a"]), "none.csv", "no such file")
    for name in ("a.xyz", "a.pkl", "a.joblib", "a.png", "a"):
        (tmp_path / name).write_text("?")
        refuses(lambda name=name: read_samples(tmp_path / name), name, "unknown kind", ".npy")


@pytest.mark.parametrize("suffix", ["npy", "npz", "mat", "h5", "csv"])
def test_no_permission(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"a.{suffix}"
    path.write_text("1,2\n")

    def forbidden(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)  # the tests may run as root, who may do all
    refuses(lambda: read_samples(path), str(path), "no permission")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_no_permission_for_real(tmp_path):
    for suffix in ("npy", "h5", "csv"):
        path = tmp_path / f"a.{suffix}"
        path.touch(mode=0o000)
        refuses(lambda path=path: read_samples(path), str(path), "no permission")


def test_unreadable_subfolder(tmp_path, monkeypatch):
    def walk(folder, onerror):
        onerror(PermissionError(13, "Permission denied"))
        yield from ()

    monkeypatch.setattr(os, "walk", walk)
    refuses(lambda: read_samples(tmp_path), str(tmp_path), "no permission")


def test_messages_are_one_line(tmp_path):
    refuses(lambda: read_samples(tmp_path / "two\nlines.npy"), "two lines.npy")


def test_import_is_light():
    code = "import sys, enhg.io; print([m for m in ('PIL.Image', 'h5py', 'scipy.io') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


# --- labels --------------------------------------------------------------------------------

NAMES = ["img1.png", "img2.png", "cats/img3.jpg", "dogs/img3.jpg", "x.y"]


@pytest.mark.parametrize(
    "text",
    [
        "img1.png,a\nx.y,b\n",
        "name,label\nimg1.png,a\nx.y,b\n",
        "file;person\nimg1.png;a\nx.y;b\n",
        "photo\tlabel\nimg1.png\ta\n\nx.y\tb\n",
        "confidence,label,name\n1.0,a,img1.png\n0.5,b,x.y\n",
        "img1,a\nx.y,b\nimg2,\ncats/img3,?\n",
        "./img1.png,a\n/home/me/img1.png,a\nx.y,b\nimg2.png,NaN\n",
        " img1.png , a \nx.y,b\nimg2.jpg,-1\n",
    ],
)
def test_labels_by_name(tmp_path, text):
    labels = read_labels(table(tmp_path, text), NAMES)
    assert labels.tolist() == ["a", "", "", "", "b"]
    assert labels.dtype.kind == "U"


def test_names_without_folder_or_extension(tmp_path):
    path = table(tmp_path, "cats/img3,c\ndogs\\img3.jpg,d\n")
    assert read_labels(path, NAMES).tolist() == ["", "", "c", "d", ""]
    assert read_labels(table(tmp_path, "img3,c\n"), NAMES[:3]).tolist() == ["", "", "c"]
    for name in ("img3.jpg", "img3"):
        path = table(tmp_path, f"{name},c\n")
        refuses(lambda path=path: read_labels(path, NAMES), "cats/img3.jpg", "dogs/img3.jpg")
    # Another folder is another file.
    path = table(tmp_path, "birds/img3.jpg,c\n")
    refuses(lambda: read_labels(path, NAMES), "birds/img3.jpg", "not among")


@pytest.mark.parametrize(
    "text",
    ["a\n\n\n\nb\n", "label\na\n-1\nnan\n?\nb\n", "a\n?\n?\n?\nb\n\n\n", "y\na\n\n\n\nb\n"],
)
def test_labels_in_order(tmp_path, text):
    assert read_labels(table(tmp_path, text), NAMES).tolist() == ["a", "", "", "", "b"]


def test_yes_or_no_labels(tmp_path):
    path = table(tmp_path, "y\nn\ny\nn\ny\n")
    assert read_labels(path, NAMES).tolist() == ["y", "n", "y", "n", "y"]
    path = table(tmp_path, "img1,y\nimg2,n\n")
    assert read_labels(path, NAMES).tolist() == ["y", "n", "", "", ""]
    refuses(lambda: read_labels(table(tmp_path, "imgX,y\nimg2,n\n"), NAMES), "'imgX' not among")


@pytest.mark.parametrize(
    "array",
    [
        np.array([3, -1, -1, -1, 4]),
        np.array([[3], [-1], [-1], [-1], [4]], dtype=np.int8),
        np.array([3.0, -1, -1, -1, 4]),
        np.array(["3", "", "", "-1", "4"]),
    ],
)
def test_labels_from_npy(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    assert read_labels(tmp_path / "a.npy", NAMES).tolist() == ["3", "", "", "", "4"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["0 rows for 5 samples"]),
        ("a\nb\n", ["2 rows for 5 samples", "name and label"]),
        ("a\nb\na\nb\na\nb\n", ["6 rows for 5 samples"]),
        ("?\n\n-1\nnan\n\n", ["no label"]),
        ("name,label\n", ["no label"]),
        ("img1.png,?\nimg2.png,\n", ["no label"]),
        ("imp1.png,a\nimg2.png,b\n", ["'imp1.png' not among", "did you mean 'img1.png'?"]),
        ("q,a\nr,a\ns,a\nt,a\n", ["'q', 'r', 's' and 1 more", "a name there is 'img1.png'"]),
        ("img1.png,a\nimg1.png,b\n", ["img1.png has two labels, 'a' and 'b'"]),
        ("img1.png,a\nimg1,b\n", ["img1.png has two labels"]),
        ("a,b,c\nd,e,f\n", ["3 columns", "'name' and 'label'"]),
        ("img1.png,a\nimg2.png\n", ["row 2 has 1 cells"]),
    ],
)
def test_label_faults(tmp_path, text, parts):
    path = table(tmp_path, text)
    refuses(lambda: read_labels(path, NAMES), str(path), *parts)


def test_label_array_faults(tmp_path):
    path = tmp_path / "a.npy"
    for array, part in [
        (np.arange(4), "4 labels"),
        (np.zeros((5, 5)), "25 labels"),
        (np.full(5, -1), "no label"),
        (np.full(5, np.nan), "no label"),
        (np.zeros(5, complex), "complex"),
    ]:
        np.save(path, array)
        refuses(lambda: read_labels(path, NAMES), str(path), part)
    np.save(path, np.arange(5))
    refuses(lambda: read_labels(cut(path, 0.9), NAMES), str(path), "cannot be read")
    refuses(lambda: read_labels(tmp_path / "a.txt", NAMES), "a.txt", ".csv or .npy")


def test_the_same_label_twice_is_no_fault(tmp_path):
    path = table(tmp_path, "img1,a\nimg1.png,a\nimg1,\n")
    assert read_labels(path, NAMES)[0] == "a"


def test_labels_must_occur_in_the_truth(tmp_path):
    path = table(tmp_path, "img1,1\nimg2,2\n")
    for truth in ([1, 2, 1, 2, 3], np.array([1.0, 2, 1, 2, 3]), list("12123")):
        assert read_labels(path, NAMES, truth=truth).tolist() == ["1", "2", "", "", ""]
    refuses(lambda: read_labels(path, NAMES, truth=[1, 1, 1, 3, 3]), "'2' not among the true")


# --- results -------------------------------------------------------------------------------


def test_write_labels(tmp_path):
    path = tmp_path / "new" / "folder" / "labels.csv"
    write_labels(
        path,
        ["a.png", "b, c.png"],
        np.array([0, 1]),
        np.array([0.123456, 1]),
        columns={"group": ["x", "y"], "degree": np.array([1.5, 2])},
    )
    assert path.read_text() == (
        'name,label,confidence,group,degree\na.png,0,0.1235,x,1.5\n"b, c.png",1,1.0000,y,2.0\n'
    )
    assert [p.name for p in path.parent.iterdir()] == ["labels.csv"]


def test_labels_round_trip(tmp_path):
    labels = ["cat", "", "dog", "ä;ö", 'q"']
    names = [*NAMES[:4], "bad\udcff.png"]  # a file name that is not UTF-8
    write_labels(tmp_path / "a.csv", names, labels, np.ones(5))
    assert read_labels(tmp_path / "a.csv", names).tolist() == labels


def test_csv_samples_round_trip(tmp_path):
    columns = {f"f{i}": column for i, column in enumerate(TABLE.T)}
    write_labels(tmp_path / "a.csv", list("abcdef"), TRUTH, np.ones(6), columns)
    samples = read_samples(tmp_path / "a.csv")
    np.testing.assert_array_equal(samples.X[:, 1:], TABLE)
    np.testing.assert_array_equal(samples.labels, TRUTH)
    assert samples.names == list("abcdef")


def test_write_labels_is_whole_or_nothing(tmp_path):
    path = tmp_path / "labels.csv"
    write_labels(path, ["a"], ["x"], [1.0])
    before = path.read_text()

    class Unprintable:
        def __str__(self):
            raise KeyboardInterrupt

    bad = np.array([Unprintable()], dtype=object)
    with pytest.raises(KeyboardInterrupt):
        write_labels(path, ["a"], ["y"], [1.0], columns={"z": bad})
    assert path.read_text() == before
    assert os.listdir(tmp_path) == ["labels.csv"]


def test_write_labels_faults(tmp_path):
    with pytest.raises(ValueError, match=re.escape("'label': 1")):
        write_labels(tmp_path / "a.csv", ["a", "b"], [1], [1.0, 1.0])
    with pytest.raises(ValueError, match="column label is written already"):
        write_labels(tmp_path / "a.csv", ["a"], [1], [1.0], columns={"label": [1]})
    (tmp_path / "file").write_text("")
    refuses(
        lambda: write_labels(tmp_path / "file" / "a.csv", ["a"], [1], [1.0]),
        "a.csv",
        "cannot be written",
    )
    assert os.listdir(tmp_path) == ["file"]


def contents(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()
    }


def test_output_folder(tmp_path):
    target = tmp_path / "deep" / "er" / "out"
    with output_folder(target) as folder:
        assert folder.parent == target.parent
        (folder / "plots").mkdir()
        (folder / "plots" / "a.txt").write_text("plot")
        (folder / "b.txt").write_text("text")
        assert not target.exists()
    assert contents(tmp_path / "deep") == {"er/out/plots/a.txt": "plot", "er/out/b.txt": "text"}
    mode = (tmp_path / "plain").mkdir() or (tmp_path / "plain").stat().st_mode
    assert target.stat().st_mode == mode  # and not the 0700 of tempfile


def test_output_into_an_empty_folder(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    inode = target.stat().st_ino
    with output_folder(target) as folder:
        (folder / "a").write_text("1")
        (folder / "empty").mkdir()
    assert target.stat().st_ino == inode  # a shell that stands in it stays there
    assert contents(tmp_path) == {"out/a": "1"}
    assert sorted(os.listdir(target)) == ["a", "empty"]


def enter(path, **options):
    with output_folder(path, **options):
        pytest.fail("must be refused before any computing")


def test_output_folder_refuses_on_entry(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("keep")
    refuses(lambda: enter(tmp_path / "out"), "out", "not empty", "--overwrite")
    refuses(lambda: enter(tmp_path / "out" / "mine"), "is a file")
    refuses(lambda: enter(tmp_path / "out" / "mine", overwrite=True), "is a file")
    refuses(lambda: enter(tmp_path / "out" / "mine" / "below"), "cannot be written")
    assert contents(tmp_path) == {"out/mine": "keep"}
    assert os.listdir(tmp_path / "out") == ["mine"]


def test_overwriting_replaces_only_the_same_names(tmp_path):
    target = tmp_path / "out"
    (target / "plots").mkdir(parents=True)
    (target / "a").write_text("old")
    (target / "mine").write_text("keep")
    (target / "plots" / "mine").write_text("keep")
    with output_folder(target, overwrite=True) as folder:
        (folder / "a").write_text("new")
        (folder / "plots").mkdir()
        (folder / "plots" / "b").write_text("new")
        assert (target / "a").read_text() == "old"
    assert contents(tmp_path) == {
        "out/a": "new",
        "out/mine": "keep",
        "out/plots/mine": "keep",
        "out/plots/b": "new",
    }
    assert sorted(os.listdir(target)) == ["a", "mine", "plots"]


def write_and_raise(path, error, **options):
    with output_folder(path, **options) as folder:
        (folder / "a").write_text("half")
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_failure_leaves_nothing(tmp_path, error):
    with pytest.raises(error):
        write_and_raise(tmp_path / "deep" / "er" / "out", error)
    assert os.listdir(tmp_path) == []
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("old")
    with pytest.raises(error):
        write_and_raise(tmp_path / "out", error, overwrite=True)
    assert contents(tmp_path) == {"out/a": "old"}
    assert os.listdir(tmp_path / "out") == ["a"]


def write_while_another_does(path, **options):
    with output_folder(path, **options) as folder:
        (folder / "a").write_text("ours")
        path.mkdir(exist_ok=True)
        (path / "a").write_text("theirs")


def test_results_that_cannot_be_moved_are_kept(tmp_path):
    target = tmp_path / "out"
    message = refuses(lambda: write_while_another_does(target), "meanwhile", "find them in")
    assert (target / "a").read_text() == "theirs"
    assert (Path(message.split("find them in ")[1]) / "a").read_text() == "ours"


def test_a_file_never_replaces_a_folder(tmp_path):
    target = tmp_path / "out"
    (target / "a").mkdir(parents=True)
    (target / "a" / "mine").write_text("keep")

    def clash():
        with output_folder(target, overwrite=True) as folder:
            (folder / "a").write_text("new")
            (folder / "0").write_text("new")

    refuses(clash, "a file on one side and a folder on the other")
    assert (target / "a" / "mine").read_text() == "keep"
    assert not (target / "0").exists()


# --- real data -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape", "dtype", "classes"),
    [
        ("YaleB_32x32.mat", (2414, 1024), np.uint8, np.arange(1, 39)),
        ("PIE_32x32.npz", (11554, 1024), np.uint8, np.arange(1, 69)),
        ("usps.h5", (9298, 256), np.float32, np.arange(10)),
        ("mnist_70k.npz", (70000, 784), np.uint8, np.arange(10)),
    ],
)
def test_real_data(name, shape, dtype, classes):
    shared = Path(__file__).parents[3] / "shared" / "data"
    path = Path(os.environ.get("ENHG_DATA", shared)) / name
    if not path.exists():
        pytest.skip(f"{name} is not here; set ENHG_DATA to the folder that holds it")
    samples = read_samples(path)
    assert samples.X.shape == shape
    assert samples.X.dtype == dtype
    assert samples.labels.shape == shape[:1]
    np.testing.assert_array_equal(np.unique(samples.labels), classes)
    assert samples.image_shape is None
    if name == "usps.h5":
        with h5py.File(path) as file:
            np.testing.assert_array_equal(samples.X[:7291], file["train/data"][()])
            np.testing.assert_array_equal(samples.labels[7291:], file["test/target"][()])
    if name == "YaleB_32x32.mat":  # rows of one subject look alike, columns of pixels would not
        np.testing.assert_array_equal(samples.X, scipy.io.loadmat(path)["features"].T)
