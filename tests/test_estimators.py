"""The contracts of scikit-learn: its own checks, for structures and for learners over each."""

import pytest
from every_structure import STRUCTURES
from sklearn.utils.estimator_checks import parametrize_with_checks

from enhg import (
    HypergraphClassifier,
    HypergraphClustering,
)

# The methods of the paper, which are fast; those of the defaults are checked in tests/learning.
LEARNERS = [
    learner
    for structure in (kind() for kind in STRUCTURES)
    for learner in (
        HypergraphClustering(2, structure=structure, method="spectral", n_init=1, random_state=0),
        HypergraphClassifier(structure=structure, method="diffusion"),
    )
]
# These call `predict` of every classifier. A structure that cannot attach new samples has none, as
# of `SVC` there is no `predict_proba` without `probability=True`; all checks that ask for the
# method first are passed.
CALLS_PREDICT = (
    "check_classifier_data_not_an_array",
    "check_classifiers_classes",
    "check_classifiers_train",
    "check_supervised_y_2d",
)


def expected_failures(estimator):
    if not isinstance(estimator, HypergraphClassifier) or hasattr(estimator, "predict"):
        return {}
    return dict.fromkeys(CALLS_PREDICT, "there is no predict")


@pytest.mark.filterwarnings("ignore::UserWarning")  # of the samples of the checks
@parametrize_with_checks([kind() for kind in STRUCTURES])
def test_structures(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(LEARNERS, expected_failed_checks=expected_failures)
def test_learners(estimator, check):
    check(estimator)
