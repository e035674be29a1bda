"""Samples that both learners share with their structure."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator

from enhg import (
    ElasticNetHypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    KNNHypergraph,
)
from enhg.exceptions import InputError

X, Y = load_digits(n_class=3, return_X_y=True)
X, NEW, Y = X[:100], X[100:120], Y[:100]
GIVEN = np.where(np.arange(len(X)) % 5 == 0, Y, -1)
LEARNERS = {
    "clustering": lambda structure: HypergraphClustering(3, structure=structure, random_state=0),
    "classifier": lambda structure: HypergraphClassifier(structure=structure),
}


@pytest.fixture(params=LEARNERS)
def learner(request):
    return LEARNERS[request.param]


def test_samples_that_provide_dlpack_only(learner, only_dlpack):
    model, plain = learner(None).fit(only_dlpack(X), GIVEN), learner(None).fit(X, GIVEN)
    assert model.n_features_in_ == 64
    np.testing.assert_array_equal(model.predict(only_dlpack(NEW)), plain.predict(NEW))
    with pytest.raises(InputError, match="X must have the 64 features of fit, got 3"):
        model.predict(only_dlpack(NEW[:, :3].copy()))


@pytest.mark.parametrize("structure", [ElasticNetHypergraph, KNNHypergraph])
def test_frozen_structure_of_other_samples(learner, structure):
    frozen = FrozenEstimator(structure().fit(X))
    for others in (X[::-1], X + (np.arange(100) == 7)[:, np.newaxis]):
        with pytest.raises(InputError, match="structure must be fitted to the samples X") as caught:
            learner(frozen).fit(others, GIVEN)
        assert caught.value.parameter == "structure"


def test_frozen_structure_of_the_same_samples_in_another_precision(learner):
    tenths = X / 10
    for given, others in ((X, X.astype(np.uint8)), (tenths, np.float32(tenths))):
        for fitted, used in ((given, others), (others, given)):
            learner(FrozenEstimator(KNNHypergraph().fit(fitted))).fit(used, GIVEN)


def test_samples_of_a_copied_model_are_read_only(learner):
    model = learner(None).fit(X, GIVEN)
    again = type(model).from_state(model.to_state())
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), again):
        assert not copied.structure_.samples_.flags.writeable
