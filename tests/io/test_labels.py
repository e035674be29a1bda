"""Labels of some of the samples."""

from __future__ import annotations

import numpy as np
import pytest

from enhg.io import read_labels

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
def test_labels_by_name(tmp_path, text, write_csv):
    labels = read_labels(write_csv(tmp_path, text), NAMES)
    assert labels.tolist() == ["a", "", "", "", "b"]
    assert labels.dtype.kind == "U"


def test_names_without_folder_or_extension(tmp_path, refuses, write_csv):
    path = write_csv(tmp_path, "cats/img3,c\ndogs\\img3.jpg,d\n")
    assert read_labels(path, NAMES).tolist() == ["", "", "c", "d", ""]
    assert read_labels(write_csv(tmp_path, "img3,c\n"), NAMES[:3]).tolist() == ["", "", "c"]
    for name in ("img3.jpg", "img3"):
        path = write_csv(tmp_path, f"{name},c\n")
        refuses(lambda path=path: read_labels(path, NAMES), "cats/img3.jpg", "dogs/img3.jpg")
    # Another folder is another file.
    path = write_csv(tmp_path, "birds/img3.jpg,c\n")
    refuses(lambda: read_labels(path, NAMES), "among those of the input, got 'birds/img3.jpg'")


@pytest.mark.parametrize(
    "text",
    ["a\n\n\n\nb\n", "label\na\n-1\nnan\n?\nb\n", "a\n?\n?\n?\nb\n\n\n", "y\na\n\n\n\nb\n"],
)
def test_labels_in_order(tmp_path, text, write_csv):
    assert read_labels(write_csv(tmp_path, text), NAMES).tolist() == ["a", "", "", "", "b"]


def test_yes_or_no_labels(tmp_path, refuses, write_csv):
    path = write_csv(tmp_path, "y\nn\ny\nn\ny\n")
    assert read_labels(path, NAMES).tolist() == ["y", "n", "y", "n", "y"]
    path = write_csv(tmp_path, "img1,y\nimg2,n\n")
    assert read_labels(path, NAMES).tolist() == ["y", "n", "", "", ""]
    refuses(lambda: read_labels(write_csv(tmp_path, "imgX,y\nimg2,n\n"), NAMES), "got 'imgX'")


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
        ("", ["each of 5 samples", "got 0 rows"]),
        ("a\nb\n", ["name and label, got 2 rows"]),
        ("a\nb\na\nb\na\nb\n", ["got 6 rows"]),
        ("?\n\n-1\nnan\n\n", ["got no label"]),
        ("name,label\n", ["got no label"]),
        ("img1.png,?\nimg2.png,\n", ["got no label"]),
        (
            "imp1.png,a\nimg2.png,b\n",
            ["among those of the input, got 'imp1.png'", "did you mean 'img1.png'?"],
        ),
        ("q,a\nr,a\ns,a\nt,a\n", ["'q', 'r', 's' and 1 more", "the first name is 'img1.png'"]),
        ("img1.png,a\nimg1.png,b\n", ["one label, got 'a' and 'b' for img1.png"]),
        ("img1.png,a\nimg1,b\n", ["one label, got 'a' and 'b' for img1.png"]),
        ("a,b,c\nd,e,f\n", ["headed 'name' and 'label', got 3 columns"]),
        ("img1.png,a\nimg2.png\n", ["row 2 must have the 2 cells of the first row, got 1"]),
    ],
)
def test_label_faults(tmp_path, text, parts, refuses, write_csv):
    path = write_csv(tmp_path, text)
    refuses(lambda: read_labels(path, NAMES), str(path), *parts)


def test_label_array_faults(tmp_path, refuses, cut):
    path = tmp_path / "a.npy"
    for array, part in [
        (np.arange(4), "got 4 labels"),
        (np.zeros((5, 5)), "got 25 labels"),
        (np.full(5, -1), "got no label"),
        (np.full(5, np.nan), "got no label"),
        (np.zeros(5, complex), "complex"),
    ]:
        np.save(path, array)
        refuses(lambda: read_labels(path, NAMES), str(path), part)
    np.save(path, np.arange(5))
    refuses(lambda: read_labels(cut(path, 0.9), NAMES), str(path), "cannot be read")
    refuses(lambda: read_labels(tmp_path / "a.txt", NAMES), "a.txt", ".csv or .npy")


def test_the_same_label_twice_is_no_fault(tmp_path, write_csv):
    path = write_csv(tmp_path, "img1,a\nimg1.png,a\nimg1,\n")
    assert read_labels(path, NAMES)[0] == "a"


def test_labels_must_occur_in_the_truth(tmp_path, refuses, write_csv):
    path = write_csv(tmp_path, "img1,1\nimg2,2\n")
    for truth in ([1, 2, 1, 2, 3], np.array([1.0, 2, 1, 2, 3]), list("12123")):
        assert read_labels(path, NAMES, truth=truth).tolist() == ["1", "2", "", "", ""]
    refuses(
        lambda: read_labels(path, NAMES, truth=[1, 1, 1, 3, 3]),
        "among the true labels of the input, got '2'",
    )
