"""The map of the samples."""

import numpy as np

from enhg.report._layout import lay_out


def test_map_keeps_neighbors_together():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(6), 50)
    points = rng.normal(size=(6, 10))[group] * 5 + rng.normal(size=(300, 10))
    place = lay_out(points)
    assert place.shape == (300, 2)
    assert place.min() >= 0
    assert place.max() <= 1
    nearest = ((place[:, None] - place[None]) ** 2).sum(axis=2)
    np.fill_diagonal(nearest, np.inf)
    assert (group[nearest.argmin(axis=1)] == group).mean() > 0.95
