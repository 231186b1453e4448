"""What `import mipsim` offers; see there."""

from mipsim import _light, attacks, distributions, games, mechanisms, theory
from mipsim._light import *  # noqa: F403
from mipsim.attacks import *  # noqa: F403
from mipsim.distributions import *  # noqa: F403
from mipsim.engine.histogram import Histogram
from mipsim.engine.play import decide, play
from mipsim.engine.play_many import ManyHistogram, play_many, play_targets
from mipsim.engine.until import Until
from mipsim.games import *  # noqa: F403
from mipsim.mechanisms import *  # noqa: F403

__all__ = [
    "Histogram",
    "ManyHistogram",
    "Until",
    "decide",
    "play",
    "play_many",
    "play_targets",
    "theory",
]
__all__ += _light.__all__
__all__ += attacks.__all__
__all__ += distributions.__all__
__all__ += games.__all__
__all__ += mechanisms.__all__
__all__.sort()  # pyright: ignore[reportUnsupportedDunderAll]
