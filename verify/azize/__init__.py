"""The claims of Azize & Basu (2025) about the mean: one module a theorem or a group of statements."""
