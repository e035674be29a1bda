"""Text from outside, such as names of files, made fit to be shown."""

from __future__ import annotations

import re

# Control characters besides tab and newline, marks that change the direction of text, and
# surrogates, which stand for the bytes of a name that is not valid Unicode.
_NOT_SHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def shown(text: str) -> str:
    """The text with a replacement character for every character that cannot be shown as it is.

    >>> shown("photo-\\u202egpj.exe") == "photo-\\ufffdgpj.exe"
    True
    """
    return _NOT_SHOWN.sub("\ufffd", text)
