"""Import of optional dependencies."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from enhg.exceptions import MissingDependencyError

# By the loader of Linux, and by Python.
_LACK_OF_MEMORY = ("failed to map segment", "annot allocate memory", "can't start new thread")


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
    MemoryError
        When there is too little memory for it.

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
        if lacks_memory(error):
            raise MemoryError(f"{package} cannot be loaded") from error
        raise MissingDependencyError(
            f"this needs {package}; install it with: pip install 'enhg[{extra}]'", name=package
        ) from error


def lacks_memory(error: ImportError | RuntimeError) -> bool:
    """Whether a compiled module could not be loaded, or a thread not started, without memory."""
    return any(text in str(error) for text in _LACK_OF_MEMORY)
