"""The reference of the command line, from what `enhg --help` prints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from typer.main import get_command

from enhg.cli.commands import app as program

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_OPTION = re.compile(r"(?<!\S)--?\w[\w-]*")
_MARKUP = re.compile(r"([*_<>\[\]|])")


def page() -> str:
    """A section for every command, with every argument and option, in Markdown."""
    group = get_command(program)
    context = group.context_class(group, info_name="enhg", **group.context_settings)
    sections = [_section(group, context)]
    for name, command in group.commands.items():
        inner = command.context_class(command, info_name=name, parent=context)
        sections.append(_section(command, inner))
    return "\n\n".join(sections) + "\n"


def _section(command, context) -> str:
    parts = [f"## {context.command_path}", f"```text\n{command.get_usage(context)}\n```"]
    for paragraph in command.help.split("\n\n"):
        is_table = paragraph.startswith("\b")  # its lines are not wrapped by --help
        parts.append(f"```text\n{paragraph[2:]}\n```" if is_table else _escaped(paragraph))
    parts.append(f"```{{program}} {context.command_path}\n```")
    for parameter in command.get_params(context):
        names, text = parameter.get_help_record(context)
        parts.append(f"```{{option}} {names}\n{_escaped(text)}\n```")
    return "\n\n".join(parts)


def _escaped(text: str) -> str:
    """Text of --help as Markdown, with the names of options as code."""
    parts = re.split(rf"({_OPTION.pattern})", text)
    return "".join(
        f"`{part}`" if at % 2 else _MARKUP.sub(r"\\\1", part) for at, part in enumerate(parts)
    )


def _append_page(app: Sphinx, docname: str, source: list[str]) -> None:
    if docname == "reference_cli":
        source[0] += "\n" + page()


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _append_page)
    return {"parallel_read_safe": True}
