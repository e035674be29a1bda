"""The comparison of the defaults with other settings."""

import numpy as np
from scipy import sparse

from enhg import HyperedgeRule, HypergraphClassifier, HypergraphClustering
from experiments import defaults
from experiments.cells import Cells
from experiments.methods import METHODS
from experiments.protocol import Draw


def test_the_page_orders_settings_by_their_mean(small, one_process, tmp_path, monkeypatch):
    monkeypatch.setattr(defaults, "_DRAWS", {"few": Draw("usps", 3, 20)})
    settings = [{"structure": {"gamma": 1.1}}, {}, *defaults.COMPARED.values()]
    monkeypatch.setattr(defaults, "settings", lambda: settings)
    cells = Cells(tmp_path / "cells.csv")
    defaults.measure(tmp_path, cells, None)
    text = defaults.page(cells)
    header, _, *lines = [line for line in text.splitlines() if line.startswith("|")]
    assert header == "| changed from the defaults | mean | few |"
    means = [float(line.split(" | ")[1]) for line in lines]
    assert means == sorted(means, reverse=True)
    assert len(lines) == len(settings)
    assert "**none: the defaults** `gamma=10.0, lam=5.0, " in text
    assert "| `gamma=1.1` |" in text
    assert "| `hyperedges=HyperedgeRule(threshold=7)` |" in text
    assert '| `preprocessing="zero_mean"` |' in text


def test_the_defaults_are_shown_as_they_are():
    own = METHODS["ENHG"].structure()
    rule = HyperedgeRule(threshold=HyperedgeRule().thresholds)
    arguments = f"dict({defaults._default_arguments()})"
    shown = eval(arguments, {"HyperedgeRule": HyperedgeRule})
    assert shown.pop("hyperedges").get_params() == rule.get_params()
    values = own.get_params() | HypergraphClustering().get_params()
    values |= HypergraphClassifier().get_params()
    assert shown.items() <= values.items()
    Z = sparse.random_array((15, 15), density=0.9, random_state=0, format="csr")
    Z.setdiag(0)
    given, default = (r.build(Z).incidence.toarray() for r in (rule, HyperedgeRule()))
    np.testing.assert_array_equal(given, default)


def test_every_setting_is_stored():
    cells = Cells.load(defaults.ARCHIVE)
    jobs = [
        job
        for setting in defaults.settings()
        for draw in defaults._DRAWS.values()
        for job in defaults.jobs(setting, draw)
    ]
    assert len(jobs) == 45 * 5 * 3
    assert all(cells.missing(job) is None for job in jobs)
