"""Advice that several warnings give."""

MORE_MEMBERS = "link every sample to more others ({structure__hyperedges__threshold})"
