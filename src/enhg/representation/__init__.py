"""X → Z: the robust matrix elastic net (paper, III.A)."""
