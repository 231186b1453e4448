"""The figures of the papers, plotted from named studies: `python -m figures`."""
