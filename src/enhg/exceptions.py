"""Exceptions and warnings of the package."""

from __future__ import annotations

import warnings


class InputError(ValueError):
    """Input that cannot be used: the message names the object, the requirement and the value.

    Parameters
    ----------
    message : str
        Joined to one line.
    parameter : str, optional
        The parameter of the called function to change.
    """

    def __init__(self, message: str, *, parameter: str | None = None) -> None:
        super().__init__(" ".join(message.splitlines()))
        self.parameter = parameter


class MissingDependencyError(ImportError):
    """A package of an optional extra is not installed."""


def warn_not_converged(message: str, *, stacklevel: int = 2) -> None:
    """Issue scikit-learn's ConvergenceWarning (imported here so that `import enhg` stays light)."""
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel + 1)
