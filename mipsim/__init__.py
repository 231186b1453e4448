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

from __future__ import annotations

from mipsim._version import __version__ as __version__

TYPE_CHECKING = False  # without `typing`, which takes a third of the time until a command hears Ctrl-C
if TYPE_CHECKING:
    from typing import Any

    from mipsim._public import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A public name, or a package, when it is requested: a command answers `--help` before JAX is imported.

    Not by `lazy_loader`, whose list holds every name again, and which takes four times as long to import as this file.
    """
    from importlib.util import find_spec

    from mipsim._signals import imported

    if name == "__all__":
        return list(imported("mipsim._public").__all__)
    if not name.startswith("_"):
        if find_spec(f"mipsim.{name}") is not None:  # no public name is called like a file of the package
            return imported(f"mipsim.{name}")
        for module in ("_light", "_public"):
            public = imported(f"mipsim.{module}")
            if name in public.__all__:
                return globals().setdefault(name, getattr(public, name))
    raise AttributeError(f"module 'mipsim' has no attribute {name!r}")


def __dir__() -> list[str]:
    from importlib import import_module
    from pkgutil import iter_modules

    return sorted(
        {
            *__getattr__("__all__"),
            *(item.name for item in iter_modules(import_module(__name__).__path__) if item.ispkg),
        }
    )
