"""Samples from tables."""

from __future__ import annotations

import numpy as np
import pytest

from enhg.io import read_samples


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_csv_layouts(tmp_path, delimiter, header, named, write_csv):
    lines = [["x1", "x2"]] if header else []
    lines += [["1", "2.5"], ["-3e2", " 4"]]
    if named:
        heads = (["photo"] if header else []) + ["a b.png", "c.png"]
        lines = [[head, *line] for head, line in zip(heads, lines, strict=True)]
    samples = read_samples(write_csv(tmp_path, "\n".join(map(delimiter.join, lines))))
    assert samples.X.tolist() == [[1, 2.5], [-300, 4]]
    assert samples.X.dtype == np.float64
    assert samples.names == (["a b.png", "c.png"] if named else ["0", "1"])
    assert samples.labels is None
    assert samples.image_shape is None


@pytest.mark.parametrize("head", ["label", "class", "Target", "y"])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_csv_labels(tmp_path, head, place, write_csv):
    rows = [["name", "f", "g"], ["a", "1", "2"], ["b", "3", "4"]]
    for row, cell in zip(rows, [head, "7", "8"], strict=True):
        row.insert(place, cell)
    samples = read_samples(write_csv(tmp_path, "\n".join(map(",".join, rows))))
    assert samples.X.tolist() == [[1, 2], [3, 4]]
    assert samples.names == ["a", "b"]
    assert samples.labels.tolist() == [7, 8]
    assert samples.labels.dtype == np.int64


def test_csv_text_labels_and_number_features(tmp_path, write_csv):
    samples = read_samples(write_csv(tmp_path, "f,g,class\n1,2,cat\n3,4,dog\n"))
    assert samples.labels.tolist() == ["cat", "dog"]
    assert samples.X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["1.0", "2.0"], [1, 2]),
        (["1.0", ""], ["1", ""]),
        (["1", ""], ["1", ""]),
        (["1.0", "nan"], ["1", ""]),
        (["9007199254740992", "9007199254740993"], ["9007199254740992", "9007199254740993"]),
        (["12345678901234567890", "12345678901234567891"],) * 2,
        (["1e20", "2e20"], ["1e20", "2e20"]),
        (["01", "02"], ["01", "02"]),
        (["01", "1"], ["01", "1"]),
        (["1", "1.0"], [1, 1]),
        (["+1", "-1"], [1, -1]),
        (["1.10", "2"], ["1.10", "2"]),
        (["1.5", ""], ["1.5", ""]),
    ],
)
def test_csv_labels_that_are_numbers(tmp_path, cells, labels, write_csv):
    text = "".join(f"1,{cell}\n" for cell in cells)
    assert read_samples(write_csv(tmp_path, f"f,label\n{text}")).labels.tolist() == labels


def test_csv_as_pandas_writes_it(tmp_path, write_csv):
    samples = read_samples(write_csv(tmp_path, ",0,1\n0,1.5,2\n1,3,4\n"))
    assert samples.X.tolist() == [[1.5, 2], [3, 4]]
    assert samples.names == ["0", "1"]
    samples = read_samples(write_csv(tmp_path, ",f,g\n5,1.5,2\n6,3,4\n"))
    assert samples.X.tolist() == [[1.5, 2], [3, 4]]
    assert samples.names == ["5", "6"]


def test_csv_details(tmp_path, write_csv):
    assert read_samples(write_csv(tmp_path, "1\n2\n\n3\n")).X.tolist() == [[1], [2], [3]]
    assert read_samples(write_csv(tmp_path, "f\n1\n2\n")).X.tolist() == [[1], [2]]
    assert read_samples(write_csv(tmp_path, "a,1,2\n")).names == ["a"]
    text = '"a, b",1,2\n"c ""d""",3,4\n'
    assert read_samples(write_csv(tmp_path, text)).names == ["a, b", 'c "d"']
    bom = read_samples(write_csv(tmp_path, "name,f\nä,1\n", encoding="utf-8-sig"))
    assert bom.names == ["ä"]
    assert read_samples(write_csv(tmp_path, "name,f\r\na,1\r\n")).X.tolist() == [[1]]
    # Python would read 1_2 as the number 12.
    assert read_samples(write_csv(tmp_path, "1_2,5\n1_3,6\n")).names == ["1_2", "1_3"]
    assert read_samples(write_csv(tmp_path, "id,f\n7,1\n8,2\n")).names == ["7", "8"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["at least one sample, got no rows"]),
        ("\n\n", ["got no rows"]),
        ("name,f,g\n", ["got only headings"]),
        ("f,g\n1,2\n3,\n", ["row 3", "column g", "empty"]),
        ("1,2\n3,x\n", ["row 2", "column 2", "'x'"]),
        ("f,g\n1,2\nx,4\n", ["row 3", "column f", "'x'"]),
        ("x,2\n3,4\n", ["row 1", "column 1", "'x'"]),
        ("1,,3\n4,5,6\n", ["row 1", "column 2", "empty"]),
        (",2,3\n4,5,6\n", ["row 1", "column 1", "empty"]),
        ("1,x,3\n4,5,6\n", ["row 1", "column 2", "'x'"]),
        ("5.1,3.5,setosa\n4.9,3,setosa\n", ["row 1", "column 3", "setosa", "label"]),
        ("1;2\n1,5;2\n", ["row 2", "column 1", "'1,5'"]),
        ("f;g\n1,5;2\n2,5;3\n", ["row 2", "column f", "'1,5'", "decimal mark must be a point"]),
        ("f;g\n1,5;2,5\n2,5;3,5\n", ["row 1", "'g'", "decimal mark must be a point"]),
        ("1,2\n3,4,5\n", ["row 2 must have the 2 cells of the first row, got 3"]),
        ("1;2;3\n4;5\n", ["row 2 must have the 3 cells of the first row, got 2"]),
        ("a\nb\n", ["must have a column of numbers"]),
        ("label\n1\n2\n", ["must have a column of numbers"]),
        ("f,label,class\n1,2,3\n", ["at most one column of labels, got label, class"]),
        ("1,2\n3,nan\n", ["1 of 4 values", "row 1"]),
        ("a,2\nb,inf\n", ["1 of 2 values", "row 1 (b)"]),
        ("1,1_0\n2,3\n", ["row 1", "column 2", "'1_0'"]),
    ],
)
def test_csv_faults(tmp_path, text, parts, refuses, write_csv):
    path = write_csv(tmp_path, text)
    refuses(lambda: read_samples(path), str(path), *parts)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_tab_separated_files(tmp_path, encoding, refuses):
    path = tmp_path / "a.tsv"
    path.write_text("name\tf\tlabel\nBäume, 1\t1.5\ta\n木\t2\tb\n", encoding=encoding)
    samples = read_samples(path)
    assert samples.names == ["Bäume, 1", "木"]
    assert samples.X.tolist() == [[1.5], [2]]
    assert samples.labels.tolist() == ["a", "b"]
    refuses(lambda: read_samples(path, key="X"), "key must be None", parameter="key")


@pytest.mark.parametrize(
    ("content", "row"),
    [(b"name,f,label\na,1,M\xfcnchen\n", 2), (b"name,h\xf6he,label\na,1,b\n", 1)],
)
def test_labels_and_headings_that_are_not_utf8_are_refused(tmp_path, content, row, refuses):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    refuses(lambda: read_samples(path), f"{path}: row {row}: must be UTF-8, got b'")
    path.write_bytes(b"name,f,label\ncaf\xe9.jpg,1,b\n")
    assert read_samples(path).names == ["caf\udce9.jpg"]


def test_the_separator_is_seen_beside_names_of_many_lines(tmp_path, write_csv):
    rows = "".join(f'"a;b;\n;{i}",{i}\n' for i in range(30))
    samples = read_samples(write_csv(tmp_path, f"name,f\n{rows}"))
    assert samples.X.tolist() == [[i] for i in range(30)]
    assert samples.names[3] == "a;b;\n;3"


@pytest.mark.parametrize(
    "text", ["12," * 400_000 + "12", "1,2\n" * 1_200_000], ids=["wide", "long"]
)
def test_tables_that_do_not_fit_in_memory(tmp_path, monkeypatch, refuses, text):
    """Their numbers take more memory than their text."""
    path = tmp_path / "a.csv"
    path.write_text(text)
    monkeypatch.setattr("enhg._files.free_memory", lambda: 32_000_000)
    monkeypatch.setattr("enhg.io.tables.csv.reader", None)  # it is not read
    refuses(lambda: read_samples(path), "does not fit in memory")


def test_csv_of_two_rows_of_headings(tmp_path, refuses, write_csv):
    path = write_csv(tmp_path, ",a,a,b\n,1,2,1\n0,0.5,0.25,7\n1,0.75,0.5,8\n")
    refuses(
        lambda: read_samples(path), str(path), "row 2 must have a name", "second row of headings"
    )


@pytest.mark.parametrize("text", ["name,f,id\na,5,1\nb,6,2\n", ",Unnamed: 0,f\na,5,1\nb,6,2\n"])
def test_csv_features_that_may_number_the_samples(tmp_path, text, write_csv):
    with pytest.warns(UserWarning, match="used as features: (id|Unnamed: 0); what only numbers"):
        assert read_samples(write_csv(tmp_path, text)).X.shape == (2, 2)


def test_csv_of_row_numbers_that_pandas_has_read_back(tmp_path, write_csv):
    samples = read_samples(write_csv(tmp_path, "Unnamed: 0,f,g,h\n8,5,2.5,4\n9,1,7,3\n"))
    assert samples.X.tolist() == [[5, 2.5, 4], [1, 7, 3]]
    assert samples.names == ["8", "9"]


def test_points_have_no_labels(tmp_path, write_csv):
    with pytest.warns(UserWarning, match="both coordinates are used as features"):
        samples = read_samples(write_csv(tmp_path, "x,y\n1,2\n3,4\n"))
    assert samples.X.tolist() == [[1, 2], [3, 4]]
    assert samples.labels is None
    samples = read_samples(write_csv(tmp_path, "x,y,class\n1,2,a\n3,4,b\n"))
    assert samples.X.tolist() == [[1, 2], [3, 4]]
    assert samples.labels.tolist() == ["a", "b"]
    for heads in ("X,y", "x,x2,y"):
        cells = range(heads.count(",") + 1)
        rows = [heads, *(",".join(str(i + j * j) for i in cells) for j in range(3))]
        assert read_samples(write_csv(tmp_path, "\n".join(rows))).labels is not None


def test_csv_features_are_headed(tmp_path, write_csv):
    samples = read_samples(write_csv(tmp_path, "name,f, ,label\na,1,2,5\nb,3,4,6\n"))
    assert samples.feature_names == ("f", "")
    assert read_samples(write_csv(tmp_path, "1,2\n3,4\n")).feature_names is None


def test_csv_whose_columns_pandas_has_headed(tmp_path, write_csv):
    samples = read_samples(write_csv(tmp_path, "Unnamed: 0,Unnamed: 1,label\n1,2.5,a\n3,4,b\n"))
    assert samples.X.tolist() == [[1, 2.5], [3, 4]]
    assert samples.names == ["0", "1"]


@pytest.mark.parametrize(
    "text",
    [
        'name,f,label\nrose,1,x\n"lily,5,x\niris,7,y\n"aster,11,y\nfern,13,x\n',
        'name,f,label\nrose,1,x\n"lily,5,x\niris,7,y\n',
    ],
)
def test_an_open_quotation_mark_swallows_no_rows(tmp_path, text, refuses, write_csv):
    path = write_csv(tmp_path, text)
    refuses(lambda: read_samples(path), f"{path}: line 3: ", "quotation mark")


def test_an_open_quotation_mark_is_named_by_its_line(tmp_path, refuses, write_csv):
    rows = [f"a{i},{i},x\n" for i in range(20_000)]
    rows[100] = f'"{rows[100]}'
    path = write_csv(tmp_path, "name,f,label\n" + "".join(rows))
    refuses(lambda: read_samples(path), f"{path}: line 102: ", "quotation mark")


@pytest.mark.parametrize("n_features", [2, 6000])
def test_numbers_beside_spaces(tmp_path, n_features, refuses):
    """As numpy.savetxt writes them by default."""
    np.savetxt(tmp_path / "a.csv", np.ones((3, n_features)))
    refuses(lambda: read_samples(tmp_path / "a.csv"), "separated by commas, semicolons or tabs")


def test_quoted_cells(tmp_path, write_csv):
    text = '"name","f",label\n"a ""b"", c",1,"x"\n5" pipe,"2","two\nlines"\n'
    samples = read_samples(write_csv(tmp_path, text))
    assert samples.names == ['a "b", c', '5" pipe']
    assert samples.labels.tolist() == ["x", "two\nlines"]
    assert samples.X.tolist() == [[1], [2]]
