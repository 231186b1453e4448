"""The engine: plays games by the million and counts their scores."""

from mipsim.engine.histogram import Histogram
from mipsim.engine.manifest import describe
from mipsim.engine.play import play

__all__ = ["Histogram", "describe", "play"]
