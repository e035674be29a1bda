"""The order of the examples in the gallery."""

from __future__ import annotations

FIRST = (
    "digits", "faces", "embeddings", "few_labels", "new_images", "outliers", "cluster_count", "hif",
)  # fmt: skip


class GalleryOrder:
    """Sort key of scripts: those that a reader wants first, then the others by name."""

    def __init__(self, folder: str) -> None:
        del folder  # given by sphinx-gallery, which makes one for every folder

    def __call__(self, script: str) -> tuple[int, str]:
        name = script.removeprefix("plot_").removesuffix(".py")
        return (FIRST.index(name) if name in FIRST else len(FIRST), name)

    def __repr__(self) -> str:
        return type(self).__name__  # part of what Sphinx compares between two builds
