"""The report of a run: one HTML page that needs nothing but a browser."""

from enhg.report._page import write_report

__all__ = ["write_report"]
