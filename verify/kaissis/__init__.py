"""Kaissis et al. (2023), "Optimal privacy guarantees for a relaxed threat model": statements, the laws that decide them, and second routes."""
