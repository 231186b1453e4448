"""From the points of a statement to its verdict, by exact distributions or by games."""
