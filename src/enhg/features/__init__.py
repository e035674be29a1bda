"""Features of photographs."""

from enhg.features.extraction import extract
from enhg.features.image_features import ImageFeatures

__all__ = ["ImageFeatures", "extract"]
