"""Features of the images in a folder."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.utils.validation import check_is_fitted

from enhg.features._batches import computed
from enhg.features.cache import CachedImage, FeatureCache
from enhg.features.image_features import ImageFeatures
from enhg.io._base import Photos, Samples, Skipped
from enhg.io.images import ImageFolder, read_images, unreadable

# Images after which the cache is written: what an interrupted run loses.
_CACHE_STEP = 1024


def extract(
    listing: ImageFolder,
    features: ImageFeatures,
    *,
    cache: FeatureCache | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Samples:
    """Compute the features of the images in a folder.

    Images are read in threads while the network computes; a few batches are in memory.

    Parameters
    ----------
    listing : ImageFolder
        From `enhg.io.images.list_images`.
    features : ImageFeatures
        Fitted.
    cache : FeatureCache, optional
        Images in it are not computed again; new ones are added to it.
    n_jobs : int, optional
        Number of threads that read, negative numbers as in joblib; None for all cores.
    progress : callable, optional
        Called with (images done, images in total).

    Returns
    -------
    Samples
        One row of float32 per image that can be read, with its `photos`. The others are in
        `skipped`, after those of the listing.

    Raises
    ------
    InputError
        When no image can be read.
    """
    check_is_fitted(features)
    images: list[CachedImage | Skipped | None] = [None] * len(listing.files)
    if cache is not None:
        images = [*cache.lookup(listing.files, features.recipe())]
    _compute_missing(images, listing, features, cache, n_jobs, progress)
    kept = [(at, image) for at, image in enumerate(images) if isinstance(image, CachedImage)]
    skipped = [image for image in images if isinstance(image, Skipped)]
    if not kept:
        raise unreadable(listing.folder, skipped, 0)
    photos = Photos.collect([listing.files[at] for at, _ in kept], [image for _, image in kept])
    X = np.stack([image.features for _, image in kept])
    names = [listing.names[at] for at, _ in kept]
    all_skipped = (*listing.skipped, *skipped)
    return Samples(
        X, names, None, None, listing.folder, photos, all_skipped, listing.n_ignored,
        recipe=features.recipe(),
    )  # fmt: skip


def _compute_missing(
    images: list[CachedImage | Skipped | None],
    listing: ImageFolder,
    features: ImageFeatures,
    cache: FeatureCache | None,
    n_jobs: int | None,
    progress: Callable[[int, int], object] | None,
) -> None:
    """Replace None in `images`, in order; the cache is written every few images and at the end."""
    extractor = features.extractor_
    missing = [at for at, image in enumerate(images) if image is None]
    files = [listing.files[at] for at in missing]
    done = len(images) - len(missing)
    if progress is not None and done:
        progress(done, len(images))
    read = read_images(files, extractor.prepare, min_side=max(extractor.size), n_jobs=n_jobs)
    results = computed(read, extractor, features.batch_size)
    new: list[int] = []

    def keep() -> None:
        if cache is not None:
            kept = [image for at in new if isinstance(image := images[at], CachedImage)]
            cache.add([listing.files[at] for at in new], kept, features.recipe())
        new.clear()

    try:
        for at, result in zip(missing, results, strict=True):
            if isinstance(result, Skipped):
                images[at] = Skipped(listing.names[at], result.reason)
            else:
                image, vector = result
                images[at] = CachedImage(vector, image.thumbnail, image.digest, image.size)
                new.append(at)
            if len(new) == _CACHE_STEP:
                keep()
            done += 1
            if progress is not None:
                progress(done, len(images))
    finally:
        keep()
