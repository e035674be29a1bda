"""Texts that differ only in how they are written."""

from __future__ import annotations

import unicodedata


def composed(text: str) -> str:
    """Text whose letters and accents are one character each where Unicode has one.

    >>> composed("e\u0301") == "\u00e9"
    True
    """
    return unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """Text without differences of case and Unicode form.

    >>> folded("CAFE\u0301") == folded("caf\u00e9")
    True
    """
    return composed(composed(text).casefold())
