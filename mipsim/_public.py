"""What `import mipsim` offers; see there."""

from mipsim import attacks, distributions, games, mechanisms, theory, tradeoff
from mipsim._compiled import compilation_cache
from mipsim._version import __version__
from mipsim.attacks import *  # noqa: F403
from mipsim.audits import Audit, audit
from mipsim.bands import Comparison, EmpiricalTradeOff, RareTradeOff
from mipsim.bands.drawing import plot
from mipsim.distributions import *  # noqa: F403
from mipsim.engine.histogram import Histogram
from mipsim.engine.many import ManyHistogram, play_many, play_targets
from mipsim.engine.play import play
from mipsim.games import *  # noqa: F403
from mipsim.mechanisms import *  # noqa: F403
from mipsim.rare import play_rare
from mipsim.tradeoff import *  # noqa: F403

__all__ = [
    "Audit",
    "Comparison",
    "EmpiricalTradeOff",
    "Histogram",
    "ManyHistogram",
    "RareTradeOff",
    "__version__",
    "audit",
    "compilation_cache",
    "play",
    "play_many",
    "play_rare",
    "play_targets",
    "plot",
    "theory",
]
__all__ += attacks.__all__
__all__ += distributions.__all__
__all__ += games.__all__
__all__ += mechanisms.__all__
__all__ += tradeoff.__all__
__all__.sort()  # pyright: ignore[reportUnsupportedDunderAll]
