"""Exceptions and warnings of the package."""

from __future__ import annotations

import warnings


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


def warn_not_converged(message: str, *, stacklevel: int = 2) -> None:
    """Issue scikit-learn's ConvergenceWarning.

    Parameters
    ----------
    message : str
        The figure that was reached and what to change.
    stacklevel : int, default=2
        As in `warnings.warn`, counted from the caller.
    """
    from sklearn.exceptions import ConvergenceWarning  # here, so that `import enhg` stays light

    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel + 1)
