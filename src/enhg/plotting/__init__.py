"""Plots of samples and results; the only package that imports matplotlib (extra `plot`).

Every `plot_…` function draws on the axes `ax`, by default on those of a new figure of pyplot, and
returns the axes.
"""

from enhg.plotting._drawing import new_figure
from enhg.plotting.curves import (
    plot_cluster_count,
    plot_coefficients,
    plot_comparison,
    plot_curves,
    plot_embedding,
    plot_path,
    plot_spectrum,
)
from enhg.plotting.images import (
    plot_clusters,
    plot_hyperedge,
    plot_image,
    plot_memberships,
    plot_reconstructions,
)
from enhg.plotting.matrices import plot_coefficient_matrix, plot_confusion, plot_incidence

__all__ = [
    "new_figure",
    "plot_cluster_count",
    "plot_clusters",
    "plot_coefficient_matrix",
    "plot_coefficients",
    "plot_comparison",
    "plot_confusion",
    "plot_curves",
    "plot_embedding",
    "plot_hyperedge",
    "plot_image",
    "plot_incidence",
    "plot_memberships",
    "plot_path",
    "plot_reconstructions",
    "plot_spectrum",
]
