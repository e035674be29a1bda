"""Features of images in batches, computed while the next images are read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from enhg.io._base import Skipped
from enhg.io.images import ReadImage

Image = ReadImage[NDArray[Any]]
Vector = NDArray[np.float32]

# Batches that wait or are computed: one each, so that the network never waits for a batch.
_IN_FLIGHT = 2
MOST_BATCHES = _IN_FLIGHT + 2  # in memory: also the one that is read, and the copy of one computed


class Extractor(Protocol):
    """What computes features."""

    def features(self, batch: list[NDArray[Any]]) -> NDArray[np.float32]:
        """Return one row per prepared image."""


def computed(
    images: Iterable[Image | Skipped], extractor: Extractor, batch_size: int
) -> Iterator[Image | Skipped]:
    """Yield each image with its features as value, or `Skipped` as it came, in order.

    The values of `images` are what `Extractor.features` takes.
    The batches are computed in a thread of their own: `images` goes on being read meanwhile. A few
    batches are in memory, however many images there are.
    """
    pending: deque[tuple[list[Image | Skipped], Future[Iterable[Vector]]]] = deque()
    group: list[Image | Skipped] = []
    batch: list[NDArray[Any]] = []
    with ThreadPoolExecutor(1) as runner:
        try:
            for image in images:
                group.append(image)
                if not isinstance(image, Skipped):
                    batch.append(image.value)
                if len(batch) == batch_size:
                    pending.append((group, runner.submit(_features, extractor, batch)))
                    group, batch = [], []
                while pending and (len(pending) > _IN_FLIGHT or pending[0][1].done()):
                    yield from _finished(*pending.popleft())
            pending.append((group, runner.submit(_features, extractor, batch)))
            while pending:
                yield from _finished(*pending.popleft())
        finally:
            runner.shutdown(cancel_futures=True)


def _features(extractor: Extractor, batch: list[NDArray[Any]]) -> Iterable[Vector]:
    return extractor.features(batch) if batch else ()


def _finished(
    group: list[Image | Skipped], future: Future[Iterable[Vector]]
) -> Iterator[Image | Skipped]:
    rows = iter(future.result())
    for image in group:
        yield image if isinstance(image, Skipped) else replace(image, value=next(rows))
