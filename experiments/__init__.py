"""Experiments of the paper's section V, the search for settings, and the pages made from them."""
