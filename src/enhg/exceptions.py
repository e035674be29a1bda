"""Exceptions and warnings of the package."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from string import Formatter
from typing import Self

from enhg._text import escaped

_MOST_ROWS = 3  # that a warning names
_MOST_LETTERS = 2000  # of a message; a value from a file can have any number


class InputError(ValueError):
    """Input that cannot be used: the message names the object, the requirement and the value.

    Parameters
    ----------
    message : str
        Line breaks become spaces, and other characters that a terminal would obey are escaped:
        names of files may hold any.
    parameter : str, optional
        The parameter of the called function to change.

    Attributes
    ----------
    parameter : str or None

    Examples
    --------
    >>> raise InputError("gamma must be positive, got -1", parameter="gamma")
    Traceback (most recent call last):
        ...
    enhg.exceptions.InputError: gamma must be positive, got -1
    """

    def __init__(self, message: str, *, parameter: str | None = None) -> None:
        super().__init__(_shortened(escaped(" ".join(message.splitlines()))))
        self.parameter = parameter


def _shortened(message: str) -> str:
    """A message that repeats at most a part of a long value."""
    if len(message) <= _MOST_LETTERS:
        return message
    half = _MOST_LETTERS // 2
    return f"{message[:half]} … {message[-half:]}"


class MissingDependencyError(ImportError):
    """A package of an optional extra is not installed."""


class Advised(str):
    """Message of a warning: what happened, and what can be changed about it.

    As a string it names parameters of the library and rows of the samples. A program that has other
    names for them, such as options and files, phrases the message anew.

    Parameters
    ----------
    fact : str
        What happened, without the name of a parameter.
    *advice : str
        Ways to change it, of which one may suffice. A parameter is in braces: ``{gamma}``, or
        ``{structure__gamma}`` for gamma of the parameter structure, as in scikit-learn.
    rows : sequence of int, optional
        The samples that the fact is about; the first three are named.

    Attributes
    ----------
    fact : str
    advice : tuple of str
    rows : tuple of int

    Examples
    --------
    >>> message = Advised("a sample is alone", "raise {gamma}", "lower {lam}", "remove it")
    >>> message
    'a sample is alone; raise gamma, lower lam, or remove it'
    >>> message.phrased({"gamma": "--gamma"}.get)
    'a sample is alone; raise --gamma or remove it'
    >>> message = Advised("some samples are alone", "remove them", rows=[0, 2])
    >>> message
    'some samples are alone: rows 0, 2; remove them'
    >>> message.phrased({}.get, ["a.jpg", "b.jpg", "c.jpg"])
    'some samples are alone: a.jpg, c.jpg; remove them'
    """

    fact: str
    advice: tuple[str, ...]
    rows: tuple[int, ...]

    def __new__(cls, fact: str, *advice: str, rows: Sequence[int] = ()) -> Self:
        about = fact + _listed(rows, ())
        message = super().__new__(cls, _phrase(about, advice, _nested_name))
        message.fact, message.advice, message.rows = fact, advice, tuple(rows)
        return message

    def __getnewargs_ex__(self) -> tuple[tuple[str, ...], dict[str, tuple[int, ...]]]:
        return (self.fact, *self.advice), {"rows": self.rows}

    def phrased(self, name: Callable[[str], str | None], samples: Sequence[str] = ()) -> str:
        """Return the message with other names of the parameters and of the samples.

        Parameters
        ----------
        name : callable
            Gives the name of a parameter (gamma for ``{structure__gamma}``), or None if it cannot
            be changed: advice to change it is left out.
        samples : sequence of str, optional
            The names of all samples; their rows by default.
        """
        about = self.fact + _listed(self.rows, samples)
        return _phrase(about, self.advice, lambda nested: name(nested.split("__")[-1]))


def _listed(rows: Sequence[int], samples: Sequence[str]) -> str:
    """The first few of some samples, by their names if these are known."""
    if not rows:
        return ""
    names = ", ".join(str(samples[row] if samples else row) for row in rows[:_MOST_ROWS])
    more = f" and {len(rows) - _MOST_ROWS} more" if len(rows) > _MOST_ROWS else ""
    kind = "" if samples else "row " if len(rows) == 1 else "rows "
    return f": {kind}{names}{more}"


def _phrase(fact: str, advice: tuple[str, ...], name: Callable[[str], str | None]) -> str:
    ways = []
    for text in advice:
        parameters = [field for _, field, _, _ in Formatter().parse(text) if field]
        names = {parameter: name(parameter) for parameter in parameters}
        if None not in names.values():
            ways.append(text.format_map(names))
    if not ways:
        return fact
    *first, last = ways
    return f"{fact}; {', '.join(first)}{',' * (len(first) > 1)}{' or ' * bool(first)}{last}"


def _nested_name(parameter: str) -> str:
    """Name of a nested parameter in words: gamma of structure."""
    return " of ".join(reversed(parameter.split("__")))


def warn_not_converged(message: str, *, stacklevel: int = 2) -> None:
    """Issue scikit-learn's ConvergenceWarning.

    Parameters
    ----------
    message : str
        The figure that was reached and what to change, as `Advised` where that is a parameter.
    stacklevel : int, default=2
        As in `warnings.warn`, counted from the caller.
    """
    from sklearn.exceptions import ConvergenceWarning  # here, so that `import enhg` stays light

    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel + 1)
