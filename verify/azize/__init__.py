"""Azize & Basu (2025), "Some targets are harder to identify than others": statements, the laws that decide them, and second routes."""
