"""Chromium without a window, for pages as people see them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

PROGRAMS = ("chromium", "chromedriver")
_FLAGS = (
    "headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run",
    "disable-background-networking", "disable-component-update", "disable-sync",
    "force-prefers-reduced-motion",
)  # fmt: skip


@contextmanager
def chromium(*flags: str) -> Iterator[Any]:
    """A browser of selenium with a profile of its own, which makes no requests by itself.

    Parameters
    ----------
    *flags : str
        More flags of Chromium, without dashes.

    Raises
    ------
    FileNotFoundError
        Where chromium or chromedriver are not installed.
    """
    from selenium import webdriver

    program, driver = (shutil.which(name) for name in PROGRAMS)
    if program is None or driver is None:
        raise FileNotFoundError(f"needs {' and '.join(PROGRAMS)}, which are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*_FLAGS, *flags, f"user-data-dir={profile}"):
            options.add_argument(f"--{flag}")
        browser = webdriver.Chrome(options, webdriver.ChromeService(driver))
        try:
            yield browser
        finally:
            browser.quit()
