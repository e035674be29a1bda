"""The charts at the top of the pages of results: rows of points, all in one style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import fmean
from textwrap import fill

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

Look = tuple[str, str, float, float]
"""Color, marker, size, and distance below the middle of the row, so that none hides another."""

# Colors for all kinds of color vision (Okabe and Ito, 2008), with a marker for each.
OURS: Look = ("#0072B2", "o", 62, -0.1)
OTHER: Look = ("#D55E00", "D", 42, 0.12)
REST: Look = ("#8f8f8f", "o", 20, 0.0)
LIMIT: Look = ("#000000", "|", 110, 0.0)
MARKED = {"other methods": REST, "best other method": OTHER, "enhg": OURS}

_WIDTH, _ROW_HEIGHT = 6.4, 0.42  # inches; text stays readable on a screen of 390 pixels
_FONT = 11.5
_LABEL_LETTERS = 20
_RIM = {"linewidths": 0.6, "edgecolors": "white"}
_STEPS = (0.0, 0.2, -0.2)  # below the middle, where a series has more than three points in a row


@dataclass(frozen=True)
class Panel:
    """The values of every series by the name of the row, and a vertical line."""

    rows: Mapping[str, Mapping[str, Sequence[float]]]
    line: float | None = None
    log: bool = False


@dataclass(frozen=True)
class Chart:
    """Panels by what their values are, side by side if their rows are the same, else stacked.

    Of the series, with their looks, those named later are drawn on top and named first.
    """

    panels: Mapping[str, Panel]
    looks: Mapping[str, Look]

    def write(self, file: Path) -> None:
        """Write an SVG file, equal for equal values with one version of matplotlib."""
        names = [list(panel.rows) for panel in self.panels.values()]
        beside = names[0] == names[-1]
        counts = [len(own) for own in names[: 1 if beside else None]]
        letters = len("".join(self.looks))
        columns = 4 if letters < 40 else 3 if letters < 60 else 2
        legend_lines = ceil(len(self.looks) / columns)
        height = _ROW_HEIGHT * sum(counts) + 0.6 * len(counts) + 0.3 * legend_lines
        n_rows, n_columns = (1, len(names)) if beside else (len(names), 1)
        with rc_context({"font.size": _FONT, "svg.hashsalt": file.stem}):
            figure = Figure(figsize=(_WIDTH, height), layout="constrained")
            axes = figure.subplots(
                n_rows, n_columns, squeeze=False, sharey=beside, height_ratios=counts
            )
            for ax, (title, panel) in zip(axes.ravel(), self.panels.items(), strict=True):
                self._draw(panel, ax)
                ax.set_xlabel(title)
            handles, series = axes[0, 0].get_legend_handles_labels()
            figure.legend(
                handles[::-1], series[::-1], loc="outside upper center", frameon=False,
                ncols=columns, handletextpad=0.1, columnspacing=1.2,
            )  # fmt: skip
            figure.savefig(file, format="svg", metadata={"Date": None})

    def _draw(self, panel: Panel, ax: Axes) -> None:
        for series, (color, marker, size, below) in self.looks.items():
            places = [
                (value, at + below + _STEPS[number % 3] * (len(row[series]) > 3))
                for at, row in enumerate(panel.rows.values())
                for number, value in enumerate(sorted(row.get(series, ())))
            ]
            ax.scatter(
                [value for value, _ in places], [place for _, place in places], s=size, c=color,
                marker=marker, label=series, **({"linewidths": 1.8} if marker == "|" else _RIM),
            )  # fmt: skip
        ax.set_yticks(range(len(panel.rows)), map(_broken, panel.rows))
        ax.set_ylim(len(panel.rows) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.set_xscale("log" if panel.log else "linear")
        if panel.log:
            low, high = ax.get_xlim()
            ax.xaxis.set_major_locator(LogLocator(subs=(1,) if high > 30 * low else (1, 2, 5)))
            ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter("{x:g}")
        if panel.line is not None:
            ax.axvline(panel.line, color="black", linewidth=1, zorder=0.9)
        ax.grid(color="#e3e3e3", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)


def marked(scores: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Return the mean scores of all methods as a row with the looks `MARKED`."""
    others = sorted(fmean(values) for method, values in scores.items() if method != "enhg")
    own = [fmean(scores["enhg"])]
    return {"other methods": others[:-1], "best other method": others[-1:], "enhg": own}


def _broken(name: str) -> str:
    """A long name in two lines."""
    at_comma = len(name) > _LABEL_LETTERS and ", " in name
    return name.replace(", ", ",\n", 1) if at_comma else fill(name, _LABEL_LETTERS)
