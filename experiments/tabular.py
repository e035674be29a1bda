"""Tables as CSV files, plain or compressed, and as Markdown."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from statistics import fmean, stdev
from typing import Any


def write_csv(file: Path, header: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table, replacing the file.

    A name ending in `.gz` is compressed, without a time stamp: equal tables give equal files.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(rows)
    content = text.getvalue().encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content, mtime=0) if file.suffix == ".gz" else content)


def write_records(file: Path, header: Sequence[str], records: Iterable[dict[str, Any]]) -> None:
    """Write records as CSV: floats with five digits, nothing where a record has no entry."""
    write_csv(file, header, ([_text(row.get(name, "")) for name in header] for row in records))


def _text(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def read_csv(file: Path) -> tuple[list[str], list[list[str]]]:
    """Read the header and the rows of a table."""
    content = file.read_bytes()
    if file.suffix == ".gz":
        content = gzip.decompress(content)
    header, *rows = csv.reader(io.StringIO(content.decode(), newline=""))
    return header, rows


def read_records(file: Path) -> list[dict[str, str]]:
    """Read the rows of a table as dictionaries from column names to texts."""
    header, rows = read_csv(file)
    return [dict(zip(header, row, strict=True)) for row in rows]


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(_escaped, line))} |\n" for line in lines)


MARK = re.compile(r"\{\{([a-z0-9_-]+)(?:: ([^}]+))?\}\}")
"""A mark of a template: the name of its piece and, where this is folded, the line to unfold it."""


def folded(summary: str, text: str) -> str:
    """Return a text of which only one line is shown until it is unfolded."""
    return f"<details><summary>{summary}</summary>\n\n{text.strip()}\n\n</details>"


def filled(template: Path, **pieces: object) -> str:
    """Return the text of a template with pieces in the places of their marks."""

    def piece(mark: re.Match[str]) -> str:
        text = str(pieces[mark[1]]).strip()
        return folded(mark[2], text) if mark[2] else text

    return MARK.sub(piece, template.read_text(encoding="utf-8"))


def mean_cells(columns: Iterable[Sequence[float]], *, mark_best: bool = True) -> list[str]:
    """Write mean ± standard deviation of each column, the largest mean in bold.

    Parameters
    ----------
    columns : iterable of sequences of float
        The deviation of a single number is left out; no number gives an empty cell.
    mark_best : bool, default=True
        Bold means are those equal to the largest to two decimals.

    Returns
    -------
    list of str
    """
    columns = list(columns)
    means = [fmean(values) if values else -inf for values in columns]
    best = round(max(means), 2) if mark_best else inf
    cells = []
    for mean, values in zip(means, columns, strict=True):
        text = f"**{mean:.2f}**" if round(mean, 2) == best else f"{mean:.2f}"
        deviation = f" ± {stdev(values):.2f}" if len(values) > 1 else ""
        cells.append(text + deviation if values else "")
    return cells


def signed(number: float) -> str:
    """Write a difference with its sign, to three decimals."""
    return f"{number:+.3f}".replace("-", "−") if abs(number) >= 5e-4 else "0.000"


def enumerated(texts: Sequence[str]) -> str:
    """Join texts as in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
