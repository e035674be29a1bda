"""Import of optional dependencies."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from enhg.exceptions import MissingDependencyError


def require(module: str, extra: str) -> Any:
    """Import a module of an optional extra.

    Parameters
    ----------
    module : str
        Full name of the module, for example ``"matplotlib.figure"``.
    extra : str
        The extra of this package that installs it.

    Returns
    -------
    module

    Raises
    ------
    MissingDependencyError
        When the module cannot be imported; the message names the extra.

    Examples
    --------
    >>> require("absent", "plot")
    Traceback (most recent call last):
        ...
    enhg.exceptions.MissingDependencyError: this needs absent; install it with: pip install ...
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f"this needs {package}; install it with: pip install 'enhg[{extra}]'", name=package
        ) from error
