"""The page docs/photos.md, from the stored scores on folders of photographs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from experiments import charts
from experiments.copies import CHANGES, DIFFERENT, OWN, SAMPLE
from experiments.paths import TEMPLATES
from experiments.photos import FEATURES, NETWORK, RUNS
from experiments.quality import OURS
from experiments.tabular import filled, markdown, mean_cells, read_records

Record = dict[str, str]


def page(file: Path, copies_file: Path) -> str:
    """Return the page from the file of scores and that of counts of copies."""
    rows, copies = read_records(file), read_records(copies_file)
    folders = list(dict.fromkeys(row["folder"] for row in rows))
    return filled(
        TEMPLATES / "photos.md",
        runs=RUNS,
        features=_feature_table(rows, folders),
        clustering=_method_table(rows, folders, "clustering", "", ("ac", "nmi")),
        few=_method_table(rows, folders, "classification", "5 per class", ("accuracy",)),
        tenth=_method_table(rows, folders, "classification", "10%", ("accuracy",)),
        counts=_count_table(rows, folders),
        sample=SAMPLE,
        precision=_precision_table(copies),
        recall=_recall_table(copies),
    )


def chart(file: Path) -> charts.Chart:
    """Return AC and NMI by folder and features, those of all methods on the network's."""
    rows = [row for row in read_records(file) if row["task"] == "clustering"]
    panels = {}
    for score in ("ac", "nmi"):
        places: dict[str, dict[str, list[float]]] = {}
        for folder, features in product(dict.fromkeys(row["folder"] for row in rows), FEATURES):
            own = [row for row in rows if (row["folder"], row["features"]) == (folder, features)]
            scores = {row["method"]: _scores(own, score, method=row["method"]) for row in own}
            places[f"{folder}, {features.replace('hog', 'HOG')}"] = charts.marked(scores)
        panels[f"clustering: {score.upper()}"] = charts.Panel(places)
    return charts.Chart(panels, charts.MARKED)


def _scores(rows: list[Record], score: str, **fixed: str) -> list[float]:
    chosen = [row for row in rows if all(row[name] == value for name, value in fixed.items())]
    return [float(row[score]) for row in chosen if row[score] != ""]


def _feature_table(rows: list[Record], folders: list[str]) -> str:
    """AC / NMI of the default by folder and features, and the seconds that the features take."""
    lines = []
    for folder in folders:
        texts = []
        for features in FEATURES:
            fixed = {"folder": folder, "features": features, "task": "clustering", "method": OURS}
            texts.append(
                " / ".join(
                    mean_cells([_scores(rows, s, **fixed)], mark_best=False)[0]
                    for s in ("ac", "nmi")
                )
            )
        lines.append([folder, *texts])
    return markdown(["folder", *FEATURES], lines).strip()


def _method_table(
    rows: list[Record], folders: list[str], task: str, labels: str, scores: tuple[str, ...]
) -> str:
    """Mean ± standard deviation of every method on features of the network; the best is bold."""
    shown = [
        row
        for row in rows
        if row["task"] == task and row["features"] == NETWORK and row["labels"] == labels
    ]
    methods = list(dict.fromkeys(row["method"] for row in shown))
    lines = []
    for folder in folders:
        for score in scores:
            columns = [_scores(shown, score, folder=folder, method=name) for name in methods]
            name = {"ac": "AC", "nmi": "NMI"}.get(score, score)
            lines.append([folder, name, *mean_cells(columns)])
    return markdown(["folder", "", *methods], lines).strip()


def _count_table(rows: list[Record], folders: list[str]) -> str:
    lines = []
    for folder in folders:
        counts = [row for row in rows if row["folder"] == folder and row["task"] == "count"]
        estimates = ", ".join(
            row["estimate"] + (" (reliable)" if row["reliable"] == "yes" else "") for row in counts
        )
        lines.append([folder, counts[0]["classes"], estimates])
    return markdown(["folder", "classes", "estimated clusters"], lines).strip()


def _by_folder(rows: list[Record]) -> dict[str, dict[str, Record]]:
    """The rows by folder and kind of pairs."""
    folders: dict[str, dict[str, Record]] = {}
    for row in rows:
        folders.setdefault(row["folder"], {})[row["pairs"]] = row
    return folders


def _precision_table(rows: list[Record]) -> str:
    lines = []
    for folder, kinds in _by_folder(rows).items():
        wrong = int(kinds[DIFFERENT]["reported"])
        right = sum(int(kinds[change]["reported"]) for change in CHANGES)
        own = kinds[OWN]["reported"] if OWN in kinds else ""
        lines.append([
            folder, kinds[DIFFERENT]["images"], str(right), str(wrong),
            f"{right / max(right + wrong, 1):.3f}", own,
        ])  # fmt: skip
    header = ["folder", "images", "copies", "different", "precision", "own near-copies"]
    return markdown(header, lines).strip()


def _recall_table(rows: list[Record]) -> str:
    """Share of the made copies that are in the group of their image, by folder and change."""
    folders = _by_folder(rows)
    lines = [
        [change]
        + [
            f"{int(kinds[change]['reported']) / int(kinds[change]['number']):.2f}"
            for kinds in folders.values()
        ]
        for change in CHANGES
    ]
    return markdown(["change", *folders], lines).strip()
