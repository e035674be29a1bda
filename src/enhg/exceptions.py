"""Exceptions and warnings of the package."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from string import Formatter
from typing import Self


class InputError(ValueError):
    """Input that cannot be used: the message names the object, the requirement and the value.

    Parameters
    ----------
    message : str
        Line breaks become spaces: the message is one line.
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
        super().__init__(" ".join(message.splitlines()))
        self.parameter = parameter


class MissingDependencyError(ImportError):
    """A package of an optional extra is not installed."""


class Advised(str):
    """Message of a warning: what happened, and what can be changed about it.

    As a string it names parameters of the library. A program that has other names for them, such
    as options, phrases the message anew.

    Parameters
    ----------
    fact : str
        What happened, without the name of a parameter.
    *advice : str
        Ways to change it, of which one may suffice. A parameter is in braces: ``{gamma}``, or
        ``{structure__gamma}`` for gamma of the parameter structure, as in scikit-learn.

    Attributes
    ----------
    fact : str
    advice : tuple of str

    Examples
    --------
    >>> message = Advised("a sample is alone", "raise {gamma}", "lower {lam}", "remove it")
    >>> message
    'a sample is alone; raise gamma, lower lam, or remove it'
    >>> message.phrased({"gamma": "--gamma"}.get)
    'a sample is alone; raise --gamma or remove it'
    """

    fact: str
    advice: tuple[str, ...]

    def __new__(cls, fact: str, *advice: str) -> Self:
        message = super().__new__(cls, _phrase(fact, advice, _nested_name))
        message.fact, message.advice = fact, advice
        return message

    def __reduce__(self) -> tuple[type[Self], tuple[str, ...]]:
        return type(self), (self.fact, *self.advice)

    def phrased(self, name: Callable[[str], str | None]) -> str:
        """Return the message with other names of the parameters.

        Parameters
        ----------
        name : callable
            Gives the name of a parameter (gamma for ``{structure__gamma}``), or None if it cannot
            be changed: advice to change it is left out.
        """
        return _phrase(self.fact, self.advice, lambda nested: name(nested.split("__")[-1]))


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
