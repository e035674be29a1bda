"""Text of any origin, such as names of files, for terminals and messages."""

from __future__ import annotations


def escaped(text: str) -> str:
    """Text without characters that a terminal would obey; these are as in ``\\x1b``.

    >>> escaped("\\x1b[31mred,  blue\\n")
    '\\\\x1b[31mred,  blue\\\\n'
    """
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text
    )


def printable(text: str) -> str:
    """Text in one line, without characters that a terminal would obey.

    >>> printable("two\\nlines, \\x1b[31mred")
    'two lines, \\\\x1b[31mred'
    """
    return escaped(" ".join(text.split()))
