"""The structures of the tables and their grids."""

import json

import pytest

from experiments.methods import METHODS
from experiments.paths import SETTINGS
from experiments.protocol import to_json


@pytest.mark.parametrize("options", ["extended", "paper"])
@pytest.mark.parametrize("method", METHODS)
def test_every_setting_of_a_grid_can_be_built(method, options):
    settings = METHODS[method].settings(options)
    assert len(settings) == 18
    assert len({to_json(setting) for setting in settings}) == 18
    for setting in settings:
        parameters = METHODS[method].build(setting).get_params()
        prefixed = {name.removeprefix("hyperedges__"): parameters[name] for name in parameters}
        assert prefixed.items() >= setting.items()


@pytest.mark.parametrize("method", METHODS)
def test_settings_of_the_paper_have_no_extensions(method):
    for setting in METHODS[method].settings("paper"):
        structure = METHODS[method].build(setting)
        assert structure.preprocessing == "zero_mean"
        if method in ("KNN-HG", "l1-hypergraph", "ENHG"):
            assert setting["membership"] == "binary"
        if method in ("SCHG", "l1-hypergraph", "ENHG"):
            assert structure.error_weight is None
        if method in ("l1-hypergraph", "ENHG"):
            assert structure.loss == "norm"
            assert structure.hyperedges.weighting == "product"
            assert structure.hyperedges.selection != "top"
            assert not structure.hyperedges.symmetrize


def test_numbers_that_the_paper_states_are_tried():
    def has(method, **parameters):
        settings = METHODS[method].settings("paper")
        return any(setting.items() >= parameters.items() for setting in settings)

    assert has("ENHG", lam=0.01, selection="mean", threshold=1)
    assert has("l1-hypergraph", selection="mean", threshold=1)
    assert has("KNN-HG", n_neighbors=8)
    assert has("SCHG", n_members=5)


def test_parameters_of_the_rule_are_passed_to_it():
    structure = METHODS["ENHG"].build({"gamma": 3, "threshold": 5, "membership": "binary"})
    rule = structure.hyperedges
    assert (structure.gamma, rule.threshold, rule.membership) == (3, 5, "binary")
    assert METHODS["ENHG"].build({"gamma": 3}).hyperedges is None
    assert METHODS["KNN-HG"].build({"membership": "soft"}).membership == "soft"


def test_parameters_are_written_in_python():
    parameters = {"gamma": 3, "threshold": 5, "preprocessing": "unit", "error_weight": None}
    assert METHODS["ENHG"].arguments(parameters) == (
        'gamma=3, preprocessing="unit", error_weight=None, hyperedges=HyperedgeRule(threshold=5)'
    )
    assert METHODS["KNN-HG"].arguments({"membership": "soft"}) == 'membership="soft"'


def test_structures_have_one_thread():
    assert METHODS["ENHG"].build({}).n_jobs == 1


def test_settings_in_the_repository_belong_to_the_grids():
    chosen = json.loads(SETTINGS.read_text())
    assert set(chosen) == set(METHODS)
    for method, settings in chosen.items():
        assert len(settings) == 8
        for name, setting in settings.items():
            options = "paper" if name == "paper" else "extended"
            assert setting["structure"] in METHODS[method].settings(options)
