"""The comparison of the defaults with other settings."""

from experiments import defaults
from experiments.cells import Cells
from experiments.protocol import Draw


def test_the_page_orders_settings_by_their_mean(small, one_process, tmp_path, monkeypatch):
    monkeypatch.setattr(defaults, "_DRAWS", {"few": Draw("usps", 3, 20)})
    monkeypatch.setattr(defaults, "settings", lambda: [{"structure": {"gamma": 1.1}}, {}])
    cells = Cells(tmp_path / "cells.csv")
    defaults.measure(tmp_path, cells, None)
    *_, header, _, first, second = defaults.page(cells).splitlines()
    assert header == "| changed from the defaults | mean | few |"
    means = [float(line.split(" | ")[1]) for line in (first, second)]
    assert means[0] >= means[1]
    assert "**none: the defaults**" in first + second
    assert "`gamma=1.1`" in first + second


def test_every_setting_is_stored():
    cells = Cells.load(defaults.ARCHIVE)
    jobs = [
        job
        for setting in defaults.settings()
        for draw in defaults._DRAWS.values()
        for job in defaults.jobs(setting, draw)
    ]
    assert len(jobs) == 46 * 5 * 3
    assert all(cells.missing(job) is None for job in jobs)
