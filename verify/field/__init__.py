"""Theorems beyond the four papers: statements, the laws that decide them, and second routes."""
