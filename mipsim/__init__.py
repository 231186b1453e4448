"""mipsim: membership-inference games by the million, and honest verdicts on privacy theorems.

Arguments are checked before any work: an argument that does not meet its entry under `Args` raises ValueError, in a sentence that
names it. `Raises` says what else can go wrong. Every name that a family exports is exported here too, so that a new member needs no
line in this file.

Examples:
    >>> import mipsim as mi
    >>> data = mi.Bernoulli([0.3, 0.6])
    >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=data.easiest_target())
    >>> attack = mi.CovarianceScore(data, n=10, target=game.target)
    >>> mi.play(game, attack, games=1000, progress=False).out.sum().item()
    1000
"""

from mipsim import _methods as _methods
from mipsim._lazily import lazily
from mipsim._version import __version__ as __version__

TYPE_CHECKING = False  # without `typing`, which takes a third of the time until a command hears Ctrl-C
__getattr__, __dir__ = lazily(__name__, "_light")

if TYPE_CHECKING:
    from mipsim._public import *  # noqa: F403
