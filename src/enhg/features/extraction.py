"""Features of the images in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path

from sklearn.utils.validation import check_is_fitted

from enhg.features._batches import MOST_BATCHES, Image, computed
from enhg.features.image_features import ImageFeatures
from enhg.io._base import Samples, Skipped
from enhg.io.feature_cache import FeatureCache
from enhg.io.image_samples import (
    SORTING,
    OnUnreadable,
    Purpose,
    check_memory,
    read_image_samples,
)
from enhg.io.images import ImageFolder, read_images

_BYTES_PER_PIXEL = 12  # of an image that is prepared for a network: three channels as float32


def extract(
    listing: ImageFolder,
    features: ImageFeatures,
    *,
    cache: FeatureCache | None = None,
    on_unreadable: OnUnreadable = "skip",
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    purpose: Purpose = SORTING,
) -> Samples:
    """Compute the features of the images in a folder.

    Images are read in threads while the network computes; a few batches are in memory.

    Parameters
    ----------
    listing : ImageFolder
        From `enhg.io.images.list_images`.
    features : ImageFeatures
        Fitted.
    cache : enhg.io.FeatureCache, optional
        Images in it are not computed again; new ones are added to it.
    on_unreadable : {"skip", "raise"}, default="skip"
        As in `enhg.io.read_samples`.
    n_jobs : int, optional
        Number of threads that read, negative numbers as in joblib; None for all cores.
    progress : callable, optional
        Called with (images done, images in total).
    purpose : Purpose, default=SORTING
        As in `enhg.io.read_samples`.

    Returns
    -------
    Samples
        One row of float32 per image that can be read, with its `photos`. The others are in
        `skipped`.

    Raises
    ------
    InputError
        When no image can be read, or one cannot and `on_unreadable` is "raise", or when the
        purpose of the images needs more than the free memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from enhg.demo import make_photos
    >>> from enhg.features import ImageFeatures
    >>> from enhg.io.images import list_images
    >>> folder = Path(tempfile.mkdtemp()) / "photos"
    >>> kinds = make_photos(folder, seed=0)
    >>> extract(list_images(folder), ImageFeatures("hog").fit()).X.shape
    (192, 1892)
    """
    check_is_fitted(features)
    extractor = features.extractor_
    check_memory(
        listing,
        extractor.n_features,
        f"{extractor.n_features} features",
        "use fewer images: sort a part of them, and predict the others by its model in parts",
        purpose=purpose,
        in_flight=MOST_BATCHES * features.batch_size * _BYTES_PER_PIXEL * prod(extractor.size),
    )

    def read(files: Sequence[Path]) -> Iterator[Image | Skipped]:
        images = read_images(files, extractor.prepare, min_side=max(extractor.size), n_jobs=n_jobs)
        return computed(images, extractor, features.batch_size)

    recipe = features.recipe()
    samples = read_image_samples(
        listing, read, recipe, extractor.n_features, cache=cache, on_unreadable=on_unreadable,
        progress=progress,
    )  # fmt: skip
    return replace(samples, recipe=recipe)
