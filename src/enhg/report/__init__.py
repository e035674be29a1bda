"""The report: one HTML page of what a run found, which needs nothing but a browser."""

from enhg.report._page import write_report

__all__ = ["write_report"]
