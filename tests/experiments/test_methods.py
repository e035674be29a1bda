"""The structures of the tables and their grids."""

import json

import pytest

from experiments.methods import METHODS
from experiments.paths import SETTINGS


@pytest.mark.parametrize("method", METHODS)
def test_every_setting_of_a_grid_can_be_built(method):
    settings = METHODS[method].settings()
    assert len(settings) == 18
    for setting in settings:
        parameters = METHODS[method].build(setting).get_params()
        prefixed = {name.removeprefix("hyperedges__"): parameters[name] for name in parameters}
        assert prefixed.items() >= setting.items()


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
        assert len(settings) == 7
        for setting in settings.values():
            assert setting["structure"] in METHODS[method].settings()
