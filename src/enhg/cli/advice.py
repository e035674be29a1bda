"""What can be done next with the results of a run: commands to copy."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from enhg.cli.summary import Row, noun

if TYPE_CHECKING:
    import typer
    from typer.core import TyperGroup

    from enhg.run import Run


def next_rows(context: typer.Context, run: Run) -> list[Row]:
    """The line of the two most useful things that can be done, with the commands that do them."""
    out, nouns = Path(context.params["out"]), f"{noun(run)}s"
    steps: list[tuple[str, str]] = []
    if run.kind == "cluster" and nouns == "images":
        label = _command(context, "label", out=f"{out}-labels", overwrite=False)
        steps.append(("name and correct the clusters", label))
    texts: list[str] = []
    changed: dict[str, Any] = {"overwrite": True}
    if run.estimate is not None and (k := run.estimate.runner_up) != run.estimate.n_clusters:
        texts.append(f"{k} clusters")
        changed = {"n_clusters": k, "out": f"{out}-{k}", "overwrite": False, "checkpoint": None}
    if run.kind != "classify" and run.input.has_photos and not context.params["folders"]:
        texts.append(f"a folder for each {run.grouping}")
        changed["folders"] = "links"
    if texts:
        steps.append((", ".join(texts), _command(context, run.kind, **changed)))
    if run.kind != "cluster" and run.samples.low_confidence.any():
        steps.append((f"check the {nouns} of lowest confidence", f"open {out / 'report.html'}"))
    if run.kind != "predict":
        words = ["enhg", "predict", str(out / "model.npz"), "NEW", "-o", "NEW-labels"]
        steps.append((f"assign new {nouns}", shlex.join(words)))
    # A command with signs that no terminal shows could not be copied.
    lines = [f"{text}: {command}" for text, command in steps if command.isprintable()][:2]
    return [("next", "\n".join(lines))] if lines else []


def _command(context: typer.Context, name: str, **changed: Any) -> str:
    """The line of a command with all that was given to this one and that it takes, too."""
    assert context.parent is not None
    command = cast("TyperGroup", context.parent.command).commands[name]
    given = {
        name: value
        for name, value in context.params.items()
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    } | changed
    words = ["enhg", name]
    for parameter in command.params:
        value = given.get(parameter.name)
        if value is None or value is False:
            continue
        if parameter.param_type_name == "option":
            words.append(parameter.opts[0])
        if isinstance(value, tuple):  # a size, or numbers for three colors
            value = ("x" if isinstance(value[0], int) else ",").join(map(str, value))
        if value is not True:
            word = str(value)
            is_no_option = parameter.param_type_name == "argument" and word.startswith("-")
            words.append(f"./{word}" if is_no_option else word)
    return shlex.join(words)
