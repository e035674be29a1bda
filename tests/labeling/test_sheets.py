"""Images that are named together."""

import numpy as np
from digit_labels import TRUTH, N, act

from enhg.labeling.content import next_steps, session_content
from enhg.labeling.sheets import CORE_SHARE, find_parts, sorted_clusters


def purity(groups):
    counts = [np.unique(TRUTH[groups == group], return_counts=True)[1] for group in set(groups)]
    return sum(count.max() for count in counts) / len(groups)


def test_clusters_begin_with_their_images_of_highest_confidence(clustering):
    clusters = sorted_clusters(clustering)
    assert sorted(np.concatenate(clusters)) == list(range(N))
    for cluster, rows in enumerate(clusters):
        assert (clustering.labels_[rows] == cluster).all()
        assert (np.diff(clustering.confidence_[rows]) <= 0).all()


def share_of_most(rows):
    return np.unique(TRUTH[rows], return_counts=True)[1].max() / len(rows)


def test_cores_are_purer_than_clusters(session, clustering):
    assert CORE_SHARE * N <= sum(map(len, session.cores)) < N
    whole = np.mean([share_of_most(rows) for rows in sorted_clusters(clustering)])
    assert np.mean([share_of_most(rows) for rows in session.cores]) > whole


def test_parts_are_purer_than_clusters(clustering):
    parts = find_parts(clustering.graph_)
    assert purity(parts) > purity(clustering.labels_)
    assert parts.max() + 1 > clustering.n_clusters_


def test_images_alike_are_open_and_of_one_part(session):
    row = session.snapshot.questions[0]
    alike = session.snapshot.alike(row)
    assert row not in alike
    assert alike
    act(session, "name", alike[:1], "a")
    assert session.snapshot.alike(row) == alike[1:]
    assert row in session.snapshot.alike(alike[1])


def test_the_page_knows_cores_and_images_alike(session):
    content, steps = session_content(session), next_steps(session)
    for cluster, size, core in zip(
        content["clusters"], content["cores"], session.cores, strict=True
    ):
        assert cluster[:size] == core
    assert steps["alike"] == [session.snapshot.alike(row) for row in steps["questions"]]
