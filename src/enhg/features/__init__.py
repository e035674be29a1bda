"""Features of photographs."""

from enhg.features.cache import FeatureCache
from enhg.features.extraction import extract
from enhg.features.image_features import ImageFeatures

__all__ = ["FeatureCache", "ImageFeatures", "extract"]
