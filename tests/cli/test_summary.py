"""The record of a run in words and as JSON."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from enhg.cli import summary
from enhg.cli.terminal import Stages
from enhg.duplicates import DuplicateGroup
from enhg.io._base import Skipped
from enhg.run import (
    Estimate,
    Group,
    InputFigures,
    Run,
    SampleColumns,
    Scores,
    Spreading,
    StructureFigures,
)

COLUMNS = SampleColumns(
    names=["a", "b", "c"],
    labels=np.array([0, 1, 1]),
    confidence=np.array([0.9, 0.05, 0.7]),
    outlier_scores=np.array([0.1, 0.2, 0.9]),
    low_confidence=np.array([False, True, False]),
    is_outlier=np.array([False, False, True]),
)
CLUSTERED = Run(
    kind="cluster",
    grouping="cluster",
    input=InputFigures(3, 64, (8, 8), "some/digits.npz"),
    samples=COLUMNS,
    groups=(Group("0", 1), Group("1", 2)),
    median_confidence=0.7,
    structure=StructureFigures("zero_mean", 1.5, np.inf, 3, 1, 3),
    estimate=Estimate(2, 3, True),
    scores=Scores(3, ac=1.0, nmi=0.5),
    stages=(("read", 0.12345),),
    warnings=("careful",),
)


def test_summary_of_a_clustering():
    rows = dict(summary.rows(CLUSTERED))
    assert rows == {
        "images": "3 of 8×8, from some/digits.npz",
        "clusters": "2 (estimated; next peak 3)\n0: 1, 1: 2 images",
        "confidence": "half of the images at least 70%; "
        "check the one of lowest confidence first (5%)",
        "unusual": "1 image unlike all others",
        "score": "AC 1.000, NMI 0.500 against the labels in digits.npz",
    }
    assert summary.details_rows(CLUSTERED) == [
        (
            "details",
            "preprocessing zero_mean; 1.5 non-zero coefficients per sample on average, "
            "largest certificate inf\n3 hyperedges, 1 component",
        )
    ]
    part = replace(CLUSTERED, scores=Scores(2, ac=1.0, nmi=1.0))
    score = dict(summary.rows(part))["score"]
    assert score == "AC 1.000, NMI 1.000 on the 2 labeled images, against the labels in digits.npz"


def test_summary_of_a_folder():
    skipped = tuple(Skipped(f"{i}\x1b[2J.jpg", "empty file") for i in range(12))
    figures = InputFigures(
        3, 1280, None, "photos", "features of a network, as requested", skipped, 2, True
    )
    duplicates = (DuplicateGroup((0, 2), (True, False), (1.0, 0.9)),)
    run = replace(CLUSTERED, input=figures, duplicates=duplicates)
    rows = dict(summary.rows(run))
    assert rows["images"].splitlines() == [
        "3, from photos",
        "compared by features of a network, as requested",
        "12 images could not be read; 2 files are no image",
    ]
    names = rows["skipped"].splitlines()
    assert names == [*(rf"{i}\x1b[2J.jpg (empty file)" for i in range(10)), "and 2 more"]
    assert rows["copies"] == "2 images in 1 group of copies or near-copies"
    figures = summary.to_json(run, [])
    assert figures["compared_by"] == "features of a network, as requested"
    assert (figures["skipped"], figures["ignored"]) == (12, 2)
    assert figures["duplicates"] == [["a", "c"]]


def test_summary_where_all_have_the_same_confidence():
    clear = replace(COLUMNS, low_confidence=np.zeros(3, bool), is_outlier=np.zeros(3, bool))
    rows = dict(summary.rows(replace(CLUSTERED, samples=clear)))
    assert rows["confidence"] == "all 70%"
    assert "unusual" not in rows


def test_summary_of_several_to_check_and_of_no_prediction():
    several = replace(COLUMNS, low_confidence=np.array([False, True, True]))
    rows = dict(summary.rows(replace(CLUSTERED, samples=several)))
    assert "check the 2 of lowest confidence first (70% or less)" in rows["confidence"]
    rows = dict(summary.rows(replace(CLUSTERED, median_confidence=np.nan)))
    assert rows["confidence"] == "no label was predicted"


@pytest.mark.parametrize(
    ("median", "threshold", "text"),
    [
        (0.9999, 0.998, "over 99%; check the 2 of lowest confidence first (below 100%)"),
        (1.0, 0.4, "100%; check the 2 of lowest confidence first (40% or less)"),
        (0.004, 0.001, "under 1%; check the 2 of lowest confidence first (under 1%)"),
    ],
)
def test_percentages_are_not_rounded_to_all_or_nothing(median, threshold, text):
    confidence = np.array([median, threshold / 2, threshold])
    columns = replace(COLUMNS, confidence=confidence, low_confidence=np.array([False, True, True]))
    run = replace(CLUSTERED, samples=columns, median_confidence=median)
    assert dict(summary.rows(run))["confidence"].startswith(f"half of the images {text}")


def test_nearly_all_labels_are_not_all():
    figures = replace(CLUSTERED.input, n_samples=10_000)
    spreading = Spreading({"poisson": 1.0}, 9999, 0)
    run = replace(CLUSTERED, grouping="class", input=figures, spreading=spreading)
    assert dict(summary.rows(run))["classes"].startswith("2, from 9999 labels (over 99.9%)\n")


def test_summary_of_an_estimate_that_is_not_reliable():
    run = replace(CLUSTERED, estimate=Estimate(2, 3, False))
    assert dict(summary.rows(run))["clusters"].startswith(
        "2 (estimated, not reliable; next peak 3)"
    )
    alone = replace(CLUSTERED, estimate=Estimate(1, 1, False))  # no other number was scored
    assert "(estimated, not reliable)\n" in dict(summary.rows(alone))["clusters"]


def test_summary_of_equal_samples():
    run = replace(CLUSTERED, estimate=Estimate(1, 1, True), groups=(Group("0", 3),))
    assert dict(summary.rows(run))["clusters"] == "1, since no two of the 3 images differ"


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        ([("sea", 2), ("street", 0)], "sea: 2, street: 0 images"),
        ([(str(i), 1) for i in range(11)], "1 image each"),
        ([(str(i), (i + 5) % 11) for i in range(11)], "from 6: 0 to 5: 10 images"),
        ([("two\nlines\x1b[31m", 3)], "two lines\\x1b[31m: 3 images"),
        ([("a" * 31, 3), ("b" * 30, 4)], f"{'a' * 29}…: 3, {'b' * 30}: 4 images"),
    ],
)
def test_names_and_sizes_of_groups(groups, text):
    run = replace(CLUSTERED, groups=tuple(Group(*group) for group in groups))
    for kind in ("cluster", "predict"):
        lines = dict(summary.rows(replace(run, kind=kind)))["clusters"].splitlines()
        assert lines[1:] == [text]


@pytest.mark.parametrize(
    ("disputed", "text"),
    [
        (1, "1 given label that contradicts similar images; kept"),
        (2, "2 given labels that contradict similar images; kept"),
    ],
)
def test_summary_of_a_classification(disputed, text):
    run = replace(
        CLUSTERED,
        kind="classify",
        grouping="class",
        spreading=Spreading({"poisson": 1.0}, 2, disputed),
        n_unreached=1,
        scores=Scores(1, accuracy=0.25),
    )
    rows = dict(summary.rows(run))
    assert rows["classes"] == "2, from 2 labels (66.7%)\n0: 1, 1: 2 images"
    assert summary.details_rows(run)[0][1].endswith("; Poisson learning")
    assert rows["disputed"] == text
    assert rows["unreached"] == "1 image without a label"
    score = "accuracy 0.250 on the 1 unlabeled image, against the labels in digits.npz"
    assert rows["score"] == score


def test_summary_of_a_classification_by_several_methods():
    weights = {"diffusion": 0.25, "discriminant": 0.75}
    spreading = Spreading(weights, 2, 0)
    run = replace(CLUSTERED, kind="classify", grouping="class", spreading=spreading)
    [(_, details)] = summary.details_rows(run)
    assert details.endswith("; diffusion of linear discriminants (75%), diffusion (25%)")
    assert summary.to_json(run, [])["method_weights"] == weights


def test_summary_of_a_prediction():
    vectors = InputFigures(3, 64, None, "x.npy")
    run = replace(
        CLUSTERED, kind="predict", input=vectors, structure=None, estimate=None, scores=None
    )
    rows = dict(summary.rows(run))
    assert rows["samples"] == "3 of 64 features, from x.npy"
    assert rows["clusters"] == "2\n0: 1, 1: 2 samples"
    assert summary.details_rows(run) == []
    assert not {"score", "disputed", "unreached"} & set(rows)


def test_a_threshold_of_zero_is_not_or_less():
    columns = replace(COLUMNS, confidence=np.zeros(3), low_confidence=np.ones(3, bool))
    text = dict(summary.rows(replace(CLUSTERED, samples=columns)))["confidence"]
    assert "check the 3 of lowest confidence first (0%)" in text


def test_summary_of_an_approximation():
    structure = StructureFigures("zero_mean", 1.5, 5e-5, 3, 1, 3, median_violation=0.312)
    run = replace(CLUSTERED, structure=structure)
    assert (
        "largest certificate 5.0e-05 over the candidates; over all samples about 0.3, as only "
        "similar samples are compared"
    ) in summary.details_rows(run)[0][1]
    assert summary.to_json(run, [])["median_violation"] == 0.312


def test_json(capsys):
    files = [str(Path("out", "labels.csv"))]
    Stages(quiet=False, as_json=True).print_json(summary.to_json(CLUSTERED, files))
    figures = json.loads(capsys.readouterr().out)
    assert figures == {
        "command": "cluster", "samples": 3, "features": 64, "image_shape": [8, 8],
        "source": "some/digits.npz", "compared_by": None, "skipped": 0, "ignored": 0,
        "duplicates": [], "clusters": 2, "sizes": {"0": 1, "1": 2},
        "low_confidence": 1, "outliers": 1, "unreached": 0, "preprocessing": "zero_mean",
        "mean_support": 1.5, "certificate": None,  # JSON has no infinity
        "median_violation": None,
        "hyperedges": 3, "components": 1, "largest_component": 3,
        "estimate": {"n_clusters": 2, "runner_up": 3, "reliable": True}, "ac": 1.0, "nmi": 0.5,
        "scored": 3, "files": files, "seconds": {"read": 0.123}, "warnings": ["careful"],
    }  # fmt: skip


def test_json_of_a_classification_with_suggestions():
    run = replace(
        CLUSTERED,
        grouping="class",
        spreading=Spreading({"diffusion": 1.0}, 2, 1),
        scores=Scores(1, accuracy=0.25),
        suggestions=("b",),
    )
    figures = summary.to_json(run, [])
    assert (figures["classes"], figures["accuracy"], figures["scored"]) == (2, 0.25, 1)
    assert figures["method_weights"] == {"diffusion": 1.0}
    assert (figures["given"], figures["disputed"]) == (2, 1)
    assert figures["suggestions"] == ["b"]
    assert "ac" not in figures


def test_every_field_of_the_json_is_documented():
    spreading, scores = (
        Spreading({"diffusion": 1.0}, 2, 1),
        Scores(1, ac=1.0, accuracy=0.25, nmi=0.5),
    )
    run = replace(CLUSTERED, spreading=spreading, scores=scores, suggestions=("b",))
    page = Path(__file__).parents[2] / "docs" / "guide" / "folder.md"
    section = (
        page.read_text(encoding="utf-8").partition("## Results as JSON")[2].partition("## ")[0]
    )
    documented = re.findall("`(.+?)`", "".join(re.findall(r"^(\|.*?\|)", section, re.MULTILINE)))
    assert set(documented) == {*summary.to_json(run, []), "classes"}
