"""Import of optional dependencies."""

from __future__ import annotations

import shlex
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
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
        When the module cannot be imported; the message has a command that installs the extra.
    MemoryError
        When there is too little memory for it.

    Examples
    --------
    >>> require("absent", "plot")
    Traceback (most recent call last):
        ...
    enhg.exceptions.MissingDependencyError: this needs absent (extra plot); install ...
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        if lacks_memory(error):
            raise MemoryError(f"{package} cannot be loaded") from error
        raise missing(package, extra) from error


def missing(package: str, extra: str) -> MissingDependencyError:
    """The error about a package of an extra that is not installed."""
    return MissingDependencyError(
        f"this needs {package} (extra {extra}); install it with: {install_command(extra)}",
        name=package,
    )


def install_command(extra: str) -> str:
    """A command that installs the packages of an extra, wherever this package came from.

    It names the packages: that this one is in an index is not known.
    """
    try:
        requirements = requires("enhg") or []
    except PackageNotFoundError:  # imported from a checkout, where nothing was installed
        return f"pip install '.[{extra}]'"
    parts = (requirement.split("; ") for requirement in requirements)
    packages = [name for name, *when in parts if when == [f"extra == '{extra}'"]]
    return shlex.join(["pip", "install", *packages])


def lacks_memory(error: ImportError | RuntimeError) -> bool:
    """Whether a compiled module could not be loaded, or a thread not started, without memory."""
    return any(text in str(error) for text in _LACK_OF_MEMORY)
