"""The engine: plays games by the million and counts their scores."""

from mipsim.engine.describe import describe
from mipsim.engine.histogram import Histogram
from mipsim.engine.play import play

__all__ = ["Histogram", "describe", "play"]
