"""Labels of some of the samples."""

from __future__ import annotations

import unicodedata
import warnings

import numpy as np
import pytest

from enhg import InputError
from enhg.io import read_samples
from enhg.io.labels import label_texts, labels_from_folders, open_labels, read_labels

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
        "id,name,label\nimg2,img1.png,a\ncats/img3,x.y,b\n",
        "index,label,Path\nimg2,a,img1.png\ncats/img3,b,x.y\n",
        "image,id,filename,label\nimg2,3,img1.png,a\ncats/img3,4,x.y,b\n",
        "id,label\nimg1.png,a\nx.y,b\n",
    ],
)
def test_labels_by_name(tmp_path, text, write_csv):
    labels = read_labels(write_csv(tmp_path, text), NAMES)
    assert labels.tolist() == ["a", "", "", "", "b"]
    assert labels.dtype.kind == "U"


def test_names_without_folder_or_extension(tmp_path, refuses, write_csv):
    path = write_csv(tmp_path, "cats/img3,c\ndogs\\img3.jpg,d\n")
    assert read_labels(path, NAMES).tolist() == ["", "", "c", "d", ""]
    path = write_csv(tmp_path, "img3,c\nimg1,d\n")
    assert read_labels(path, NAMES[:3]).tolist() == ["d", "", "c"]
    for name in ("img3.jpg", "img3"):
        path = write_csv(tmp_path, f"{name},c\nx.y,d\n")
        refuses(lambda path=path: read_labels(path, NAMES), "cats/img3.jpg", "dogs/img3.jpg")
    # Another folder is another file.
    path = write_csv(tmp_path, "birds/img3.jpg,c\nx.y,d\n")
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
        np.array([3.0, np.nan, np.nan, -1, 4]),
        np.array([3.0, np.nan, -1, np.nan, 4], dtype=np.float16),
    ],
)
def test_labels_from_npy(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    assert read_labels(tmp_path / "a.npy", NAMES).tolist() == ["3", "", "", "", "4"]


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (np.array([1e20, 2e20]), ["1e+20", "2e+20"]),
        (np.array([2.0**62, -(2.0**62)]), [str(2**62), str(-(2**62))]),
        (np.array([2**64 - 1, 1], np.uint64), [str(2**64 - 1), "1"]),
        (np.array([2**63, 1], np.uint64), [str(2**63), "1"]),
        (np.array([2**60, 2**60 + 1]), [str(2**60), str(2**60 + 1)]),
        (np.array([1.0, np.inf]), ["1.0", "inf"]),
        (np.array([0.5, np.nan]), ["0.5", ""]),
        (np.array([], dtype=np.float64), []),
    ],
)
def test_large_and_broken_numbers_stay_apart(array, texts):
    assert label_texts(array) == texts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["at least two classes, got no label"]),
        (",\n,\n", ["at least two classes, got no label"]),
        ("img1.png,a\nimg2.png,a\n", ["at least two classes, got only 'a'"]),
        ("img1.png,+1\nimg2.png,-1\n", ["got only '1'; -1 means unlabeled"]),
        ("file,person\nimg1.png,a\n", ["at least two classes, got only 'a'"]),
        ("a\nb\n", ["name and label, got 2 rows"]),
        ("a\nb\na\nb\na\nb\n", ["got 6 rows"]),
        ("?\n\n-1\nnan\n\n", ["got no label"]),
        ("name,label\n", ["got no label"]),
        ("img1.png,?\nimg2.png,\n", ["got no label"]),
        (
            "imp1.png,a\nimg2.png,b\n",
            ["among those of the input, got 'imp1.png'", "did you mean 'img1.png'?"],
        ),
        ("q,a\nr,b\ns,a\nt,a\n", ["'q', 'r', 's' and 1 more", "the first name is 'img1.png'"]),
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
        (np.zeros((5, 5)), "got 25 labels of shape 5×5"),
        (np.full(5, -1), "got no label"),
        (np.full(5, np.nan), "got no label"),
        (np.zeros(5, complex), "complex"),
    ]:
        np.save(path, array)
        refuses(lambda: read_labels(path, NAMES), str(path), part)
    np.save(path, np.arange(5))
    refuses(lambda: read_labels(cut(path, 0.9), NAMES), str(path), "cannot be read")
    for name in ("a.xlsx", "labels"):
        refuses(lambda name=name: open_labels(tmp_path / name), name, ".csv, .tsv, .txt or .npy")
    refuses(lambda: open_labels(tmp_path / "absent.csv"), "absent.csv: no such file")


def test_the_same_label_twice_is_no_fault(tmp_path, write_csv):
    path = write_csv(tmp_path, "img1,a\nimg1.png,a\nimg1,\nimg2,b\n")
    assert read_labels(path, NAMES)[0] == "a"


def test_labels_must_occur_in_the_truth(tmp_path, refuses, write_csv):
    path = write_csv(tmp_path, "img1,1\nimg2,2\n")
    some = np.array([1.0, 2, np.nan, 2, 3])
    for truth in ([1, 2, 1, 2, 3], np.array([1.0, 2, 1, 2, 3]), list("12123"), some):
        assert read_labels(path, NAMES, truth=truth).tolist() == ["1", "2", "", "", ""]
    refuses(
        lambda: read_labels(path, NAMES, truth=[1, 1, 1, 3, 3]),
        "among the true labels of the input, got '2'",
    )


@pytest.mark.parametrize(
    ("truth", "cells"),
    [
        (["1.0", "2.0"], ["1.0", "2.0"]),
        (["1", "2"], ["1.0", "2.0"]),
        ([1, 2], ["01", "02"]),
        (["01", "02"], ["1", "2"]),
        ([1, 2, 2.5], ["1", "2"]),
    ],
)
def test_labels_are_spelled_as_the_truth(tmp_path, truth, cells, write_csv):
    path = write_csv(tmp_path, f"name,label\na,{cells[0]}\nb,{cells[1]}\n")
    names, truth = list("abc")[: len(truth)], np.array(truth)
    assert read_labels(path, names, truth).tolist()[:2] == label_texts(truth)[:2]


def test_labels_of_one_number_are_not_confused(tmp_path, refuses, write_csv):
    path = write_csv(tmp_path, "name,label\na,1\nb,2\n")
    refuses(lambda: read_labels(path, list("abc"), np.array(["01", "1.0", "2"])), "got '1'")


def test_names_and_labels_in_one_cell_are_refused(tmp_path, refuses, write_csv):
    path = write_csv(tmp_path, "b.png cat\na.png dog\n")
    refuses(lambda: read_labels(path, ["x/a.png", "x/b.png"]), "got names and labels in one cell")
    refuses(lambda: read_labels(path, ["a.png", "b.png", "c.png"]), "separated by commas")
    path = write_csv(tmp_path, "2 rooms\n1 room\n2 rooms\n")
    assert read_labels(path, ["0", "1", "2"]).tolist() == ["2 rooms", "1 room", "2 rooms"]


def test_large_numbers_that_differ_are_different_classes(tmp_path, refuses, write_csv):
    large, larger = "9007199254740992", "9007199254740993"  # equal in float64
    path = write_csv(tmp_path, f"name,label\na,{large}\nb,{larger}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_labels(path, ["a", "b"]).tolist() == [large, larger]
    path = write_csv(tmp_path, f"name,label\na,{large}\nb,7\n")
    refuses(lambda: read_labels(path, ["a", "b"], np.array([larger, "7"])), f"got '{large}'")


@pytest.mark.parametrize("cells", [["1.10", "2.0"], ["3", "3.5"]])
def test_fractions_are_kept_as_they_are_written(tmp_path, cells, write_csv):
    path = write_csv(tmp_path, f"name,label\na,{cells[0]}\nb,{cells[1]}\n")
    assert read_labels(path, ["a", "b"]).tolist() == cells


@pytest.mark.parametrize("cells", [["1", "2"], ["1.0", "2.0"], ["01", "02"], ["1e20", "2e20"]])
def test_labels_are_read_as_those_of_tables_are(tmp_path, cells, write_csv):
    rows = [f"{i},{i},{cells[i % 2]}\n" for i in range(4)]
    samples = read_samples(write_csv(tmp_path, "name,f,label\n" + "".join(rows)))
    path = write_csv(tmp_path, f"name,label\n0,{cells[0]}\n1,{cells[1]}\n2,\n")
    labels = read_labels(path, samples.names, samples.labels).tolist()
    assert labels[:2] == label_texts(samples.labels)[:2]
    assert labels[2:] == ["", ""]
    path = write_csv(tmp_path, f"label\n{cells[0]}\n{cells[1]}\n\n\n")
    assert read_labels(path, samples.names, samples.labels).tolist() == labels


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".TSV"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("head", [["name", "label"], []])
def test_kinds_of_text(tmp_path, suffix, encoding, delimiter, head):
    rows = [*([head] if head else []), ["img1.png", "Bäume"], ["x.y", "木"], ["img2.png", ""]]
    path = tmp_path / f"labels{suffix}"
    path.write_text("\r\n".join(map(delimiter.join, rows)), encoding=encoding, newline="")
    assert read_labels(path, NAMES).tolist() == ["Bäume", "", "", "", "木"]


@pytest.mark.parametrize(
    ("content", "row", "text"),
    [
        (b"name,label\nimg1.png,b\nimg2.png,M\xfcnchen\n", 3, "München"),
        (b"name,gr\xf6\xdfe,label\nimg1.png,3,b\nimg2.png,4,c\n", 1, "größe"),
        (b"name,label,remark\nimg1.png,b,\x80\nimg2.png,c,\n", 2, "€"),
        (b"a\nb\n\xe4\n\n\n", 3, "ä"),
    ],
)
def test_text_that_is_not_utf8_is_refused(tmp_path, refuses, content, row, text):
    path = tmp_path / "labels.csv"
    path.write_bytes(content)
    parts = (f"row {row}: must be UTF-8, got b'", f"in Windows-1252 '{text}'", "save the file as")
    refuses(lambda: open_labels(path), str(path), *parts)


def test_unknown_names_that_are_not_utf8(tmp_path, refuses):
    path = tmp_path / "labels.csv"
    path.write_bytes(b"name,label\nimg1.png,a\nGeb\xe4ude.png,b\n")
    given = open_labels(path)
    refuses(lambda: given.match(["img1.png", "Gebäude.png"]), "row 3: must be UTF-8", "Gebäude")


def test_names_of_files_that_are_not_utf8(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes("name,label\ncaf\udce9.png,ä\nimg.png,b\n".encode(errors="surrogateescape"))
    assert read_labels(path, ["img.png", "caf\udce9.png"]).tolist() == ["b", "ä"]


def test_big_endian_unicode_text(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_bytes("\ufeffimg1\tä\r\nimg2\tb\r\n".encode("utf-16-be"))
    assert read_labels(path, NAMES).tolist() == ["ä", "b", "", "", ""]


def test_a_cut_unicode_text_is_refused(tmp_path, refuses):
    path = tmp_path / "labels.txt"
    path.write_bytes("img1\ta\nimg2\tb\n".encode("utf-16")[:-1])
    refuses(lambda: open_labels(path), str(path), "cannot be read")


def test_relative_paths(tmp_path, write_csv):
    """A relative path is that of one image, also where another folder holds the same name."""
    names = ["1.jpg", "a/1.jpg", "a/b/1.jpg", "c/1.jpg", "c/1.png"]
    for prefix, slash in (("", "/"), ("./", "/"), (".\\", "\\")):
        rows = [prefix + name.replace("/", slash) for name in names]
        text = "".join(f"{name},{label}\n" for name, label in zip(rows, "vwxyz", strict=True))
        assert "".join(read_labels(write_csv(tmp_path, text), names)) == "vwxyz"
    text = "1,v\na/1,w\na/b/1,x\n"
    assert "".join(read_labels(write_csv(tmp_path, text), names[:3])) == "vwx"


def test_names_in_another_unicode_form(tmp_path, write_csv):
    """Some systems hold file names decomposed, while people type them composed."""
    names = [unicodedata.normalize("NFD", name) for name in ("Bäume/é.jpg", "ö.jpg")]
    assert names[1] != "ö.jpg"
    path = write_csv(tmp_path, "Bäume/é.jpg,a\nö,b\n", encoding="utf-8")
    assert read_labels(path, names).tolist() == ["a", "b"]


def test_names_with_spaces_and_equal_names(tmp_path, refuses, write_csv):
    assert read_labels(write_csv(tmp_path, " a,x\na,y\n"), [" a", "a"]).tolist() == ["x", "y"]
    path = write_csv(tmp_path, "a,x\nb,y\n")
    refuses(lambda: read_labels(path, ["a", "b", "a"]), "got 'a', which matches 'a', 'a'")


def test_faults_are_noticed_before_samples_are_read(tmp_path, refuses, write_csv):
    for text, part in [
        ("a,b,c\nd,e,f\n", "got 3 columns"),
        ("img1.png,a\nimg2.png\n", "row 2 must have the 2 cells"),
        ("name,label\nimg1,a\nimg2,a\n", "two classes, got only 'a'"),
        ("label\n?\n", "two classes, got no label"),
    ]:
        path = write_csv(tmp_path, text)
        refuses(lambda path=path: open_labels(path), str(path), part)


@pytest.mark.parametrize(
    ("labels", "pairs"),
    [
        (["buildings", "Buildings", "sea"], ["'Buildings' and 'buildings'"]),
        (["sea side", "seaside"], ["'sea side' and 'seaside'"]),
        (["caf\u00e9", "cafe\u0301"], ["'cafe\u0301' and 'caf\u00e9'"]),
        (["a", "A", "b", "B"], ["'A' and 'a'", "'B' and 'b'"]),
        (["01", "1", "2"], ["'01' and '1'"]),
    ],
)
def test_classes_that_look_alike(tmp_path, labels, pairs):
    names = [f"{i}.jpg" for i in range(len(labels))]
    path = tmp_path / "a.csv"
    rows = "".join(f"{name},{label}\n" for name, label in zip(names, labels, strict=True))
    path.write_text(rows, encoding="utf-8")
    np.save(tmp_path / "a.npy", np.array(labels))
    for source in (path, tmp_path / "a.npy"):
        with pytest.warns(UserWarning, match="different classes") as caught:
            assert read_labels(source, names).tolist() == labels
        assert len(caught) == 1
        for pair in pairs:
            assert pair in str(caught[0].message)
    folders = [f"{label}/1.jpg" for label in labels]
    with pytest.warns(UserWarning, match="different classes") as caught:
        assert labels_from_folders([*folders, "2.jpg"]).tolist() == [*labels, ""]
    assert len(caught) == 1


def test_different_classes_give_no_warning(tmp_path, write_csv):
    path = write_csv(tmp_path, "name,label\nimg1, sea \nimg2,sea\nx.y,See\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_labels(path, NAMES).tolist() == ["sea", "sea", "", "", "See"]


def test_labels_from_folders(refuses):
    names = ["1.jpg", "a b/1.jpg", "c/d/1.jpg", "c/e/1.jpg", "Unlabeled/a/1.jpg", "?/1.jpg"]
    assert labels_from_folders(names).tolist() == ["", "a b", "c", "c", "", "?"]
    for few in (["1.jpg"], ["a/1.jpg", "a/2.jpg", "1.jpg"], ["unlabeled/1.jpg", "a/1.jpg"], []):
        refuses(lambda few=few: labels_from_folders(few), "at least two sub-folders")
    with pytest.warns(UserWarning, match="none is left to be labeled"):
        assert labels_from_folders(["a/1.jpg", "b/1.jpg"]).tolist() == ["a", "b"]


@pytest.mark.parametrize("name", ["nan", "NaN", "-1", "-1.0", "?", " ", " nan "])
def test_the_name_of_a_folder_is_a_label(name):
    assert labels_from_folders([f"{name}/1.jpg", "a/1.jpg", "2.jpg"]).tolist() == [name, "a", ""]


def test_labels_of_images_that_were_skipped(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("a.jpg,x\nb.jpg,y\nbad.jpg,y\nalso/worse,\n")
    names, skipped = ["a.jpg", "b.jpg", "bad.png"], ["bad.jpg", "also/worse.jpg"]
    with pytest.warns(UserWarning, match="could not be read are left out: 'bad.jpg'$"):
        labels = open_labels(path).match(names, skipped=skipped)
    assert labels.tolist() == ["x", "y", ""]
    with pytest.raises(InputError, match="got 'also/worse'"):
        open_labels(path).match(names, skipped=skipped[:1])


@pytest.mark.parametrize(
    "heads", ["name,x,y,label", "name,class,target,labels", "label,name,class,y"]
)
def test_the_clearest_heading_of_labels(tmp_path, heads, write_csv):
    named = {"name": ["img1.png", "x.y"], "label": ["a", "b"], "labels": ["a", "b"]}
    columns = [named.get(head, ["10", "20"]) for head in heads.split(",")]
    text = "\n".join([heads, *(",".join(row) for row in zip(*columns, strict=True))])
    assert read_labels(write_csv(tmp_path, text), NAMES).tolist() == ["a", "", "", "", "b"]


def test_two_columns_of_labels(tmp_path, refuses, write_csv):
    path = write_csv(tmp_path, "name,class,Target\nimg1.png,a,1\nx.y,b,2\n")
    refuses(lambda: read_labels(path, NAMES), "one column of labels, got class, Target")


def test_a_heading_is_no_label(tmp_path, refuses, write_csv):
    path = write_csv(tmp_path, "label\na\nb\na\nb\n")
    refuses(lambda: read_labels(path, NAMES), "one row for each of 5 samples", "got 4 rows")
    path = write_csv(tmp_path, "class\nclass\n\nstudent\nstudent\n")
    assert read_labels(path, NAMES).tolist() == ["class", "class", "", "student", "student"]


def test_labels_of_other_folders(tmp_path, write_csv):
    path = write_csv(tmp_path, "train/img1.png,a\ntest/img2.png,b\n")
    with pytest.warns(UserWarning, match="lists several .* 'train/img1.png', 'test/img2.png'"):
        assert read_labels(path, NAMES).tolist() == ["a", "b", "", "", ""]


@pytest.mark.parametrize(
    "text",
    [
        "train/img1.png,a\ntrain/cats/img3.jpg,b\n",
        "/home/u/Train/img1.png,a\n../train/cats/img3.jpg,b\n",
        "train\\img1.png,a\ncats/img3.jpg,b\ntest/img2.png,\n",
    ],
)
def test_one_folder_in_several_ways(tmp_path, text, write_csv, recwarn):
    assert read_labels(write_csv(tmp_path, text), NAMES).tolist() == ["a", "", "b", "", ""]
    assert not recwarn


def test_missing_labels_of_other_programs(tmp_path, write_csv):
    path = write_csv(tmp_path, "a\nNA\n<NA>\nb\nna\n")
    assert read_labels(path, NAMES).tolist() == ["a", "", "", "b", ""]
