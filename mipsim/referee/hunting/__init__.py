"""Hunting: the search for a point where a statement breaks."""
