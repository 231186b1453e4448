"""Judging: from the points of a statement to its verdict, by exact laws or by games."""
