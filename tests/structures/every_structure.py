"""The structures, for tests of what holds for each of them."""

import enhg
from enhg.structures._base import Structure

_public = (getattr(enhg, name) for name in enhg.__all__)
STRUCTURES = [kind for kind in _public if isinstance(kind, type) and issubclass(kind, Structure)]
assert len(STRUCTURES) == 9  # those of the paper
