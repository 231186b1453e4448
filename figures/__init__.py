"""The figures of the papers, drawn from named studies: `python -m figures`."""
