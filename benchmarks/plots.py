"""Plots of the results: time, memory and stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

Record = dict[str, Any]

# A palette for all kinds of color vision (Okabe and Ito, 2008), with a marker per color.
_LOOKS = {
    "enhg": ("#0072B2", "o"),
    "EnSC (SPAMS)": ("#D55E00", "s"),
    "EnSC, tuned by us": ("#000000", "x"),
    "skglm": ("#009E73", "^"),
    "celer": ("#CC79A7", "v"),
    "SPAMS LARS": ("#E69F00", "D"),
    "scikit-learn": ("#56B4E9", "P"),
}
_STAGES = {
    "representation": "#0072B2",
    "hypergraph": "#E69F00",
    "eigenvectors": "#009E73",
    "partition": "#56B4E9",
    "refinement": "#D55E00",
    "other": "#999999",
}
_SERIES = {
    "growth": ("samples", "samples n"),
    "features": ("features", "features d"),
    "sparsity": ("nonzeros", "non-zeros per sample"),
}
_SIZE = (7.2, 4.4)


def draw(records: dict[str, list[Record]], folder: Path) -> dict[str, str]:
    """Draw the plots that there are results for; returns their file names by benchmark."""
    with plt.rc_context(
        {
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#e3e3e3",
            "axes.axisbelow": True,
            "legend.frameon": False,
        }
    ):
        drawn = {}
        for name, own in records.items():
            if name in _SERIES:
                ax = _times(own, *_SERIES[name])
            elif name == "memory":
                ax = _memory(own)
            elif name == "stages":
                whole = [one for one in records.get("full", []) if "stages" in one]
                ax = _stage_shares(own + whole)
            else:
                continue
            drawn[name] = f"{name}.png"
            ax.figure.savefig(folder / drawn[name], dpi=150, bbox_inches="tight")
            plt.close(ax.figure)
    return drawn


def _times(records: list[Record], key: str, label: str) -> Axes:
    """Seconds for all samples by solver; extrapolated figures are dashed."""
    _, ax = plt.subplots(figsize=_SIZE)
    across = [record[key] for record in records]
    lines = []
    for at, solver in enumerate(records[0]["solvers"]):
        color, marker = _LOOKS[solver["name"]]
        ours = at == 0
        lines += ax.plot(
            across,
            [record["solvers"][at]["seconds"] for record in records],
            color=color,
            marker=marker,
            linewidth=2.4 if ours else 1.4,
            linestyle="-" if ours else "--",
            label=solver["name"] if ours else f"{solver['name']}, extrapolated",
        )
    lines += ax.plot(
        across,
        [record["gram_seconds"] for record in records],
        color="black",
        linestyle=":",
        linewidth=1.8,
        label="Gram: one X @ X.T",
    )
    ax.set(xlabel=label, ylabel="seconds for all samples", xscale="log", yscale="log")
    if key == "nonzeros":
        _plain_ticks(ax.xaxis)
    else:
        _ticks_at(ax, across)
    _legend_beside(ax, lines, [line.get_ydata()[-1] for line in lines])
    return ax


def _memory(records: list[Record]) -> Axes:
    _, ax = plt.subplots(figsize=_SIZE)
    across = sorted({record["samples"] for record in records})
    for default, color, marker, label in (
        (True, "#0072B2", "o", "Gram matrix kept while it fits (default)"),
        (False, "#D55E00", "s", "Gram matrix never kept"),
    ):
        some = [one for one in records if (one["budget"] is None) == default]
        ax.plot(
            [one["samples"] for one in some],
            [one["peak_bytes"] / 1e9 for one in some],
            color=color,
            marker=marker,
            linewidth=2,
            label=label,
        )
    ax.plot(
        across,
        [n * n * 4 / 1e9 for n in across],
        color="black",
        linestyle=":",
        label="n² float32 numbers",
    )
    ax.set(xlabel="samples n", ylabel="peak resident memory, GB", xscale="log", yscale="log")
    _ticks_at(ax, across)
    _plain_ticks(ax.yaxis)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small")
    return ax


def _stage_shares(records: list[Record]) -> Axes:
    _, ax = plt.subplots(figsize=_SIZE)
    places = np.arange(len(records))
    start = np.zeros(len(records))
    for stage, color in _STAGES.items():
        share = np.array(
            [100 * one["stages"].get(stage, 0) / sum(one["stages"].values()) for one in records]
        )
        ax.barh(places, share, left=start, color=color, label=stage, height=0.65)
        for place, part, at in zip(places, share, start, strict=True):
            if part >= 6:
                dark = stage == "representation"
                ax.text(
                    at + part / 2,
                    place,
                    f"{part:.0f} %",
                    ha="center",
                    va="center",
                    color="white" if dark else "black",
                )
        start += share
    ax.set_yticks(places, [f"n = {one['samples']}\n{one['seconds']:.3g} s" for one in records])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set(xlabel="share of the whole clustering, %", xlim=(0, 100))
    ax.legend(ncols=len(_STAGES), loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return ax


def _ticks_at(ax: Axes, values: list[float]) -> None:
    """Ticks at the measurements, as plain numbers."""
    ax.set_xticks(values, [f"{value:.3g}" if value < 1000 else f"{value:.0f}" for value in values])
    ax.xaxis.set_minor_locator(NullLocator())


def _plain_ticks(axis: Axis) -> None:
    """Ticks 1, 2, 5, 10 and so on, as plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def _legend_beside(ax: Axes, lines: list, ends: list[float]) -> None:
    """Legend to the right of the plot, in the order of the ends of the lines."""
    order = np.argsort(ends)[::-1]
    ax.legend(handles=[lines[at] for at in order], loc="center left", bbox_to_anchor=(1.0, 0.5))
