"""The engine: plays games by the million and counts their scores."""

from mipsim.engine.describe import describe
from mipsim.engine.histogram import Histogram
from mipsim.engine.play import decide, play
from mipsim.engine.until import Until

__all__ = ["Histogram", "Until", "decide", "describe", "play"]
