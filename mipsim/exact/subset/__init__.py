"""Exact success rates of the subset game: by enumeration, by linear programs, and of Laplace and shifted noise."""
