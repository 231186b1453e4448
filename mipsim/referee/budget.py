"""How long a hunt may last: a time, or a number of probes."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, field

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass
class Budget:
    """A clock, or a counter.

    Attributes:
        text: as it was asked for.
        seconds: on the clock; inf where probes are counted.
        probes: how many; inf where the clock counts.
        used: probes that were made.
        began: on the clock.
        earlier: seconds that an earlier run spent on the probes which this one need not make again.
    """

    text: str
    seconds: float
    probes: float
    used: int = 0
    began: float = field(default_factory=time.perf_counter)
    earlier: float = 0.0

    @property
    def spent(self) -> float:
        """Seconds, those of the run that this one goes on from included."""
        return time.perf_counter() - self.began + self.earlier

    @property
    def used_up(self) -> float:
        """What was used of it, 1 and more when it is gone."""
        return max(self.used / self.probes, self.spent / self.seconds)


def budget_of(value: object) -> Budget:
    """Read a budget.

    Args:
        value: seconds, or text such as "45s", "2m", "1.5h" or "500 probes".

    Raises:
        ValueError: if it is 0, negative, or no budget.

    Examples:
        >>> budget_of("2m").seconds, budget_of("500 probes").probes, budget_of(1.5).text
        (120.0, 500.0, '1.5s')
        >>> budget_of("0s")
        Traceback (most recent call last):
            ...
        ValueError: budget is '0s'; it must be seconds > 0, or text such as '45s', '2m' or '500 probes'
    """
    wrong = ValueError(
        f"budget is {value!r}; it must be seconds > 0, or text such as '45s', '2m' or '500 probes'"
    )
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise wrong
    text = value if isinstance(value, str) else f"{value:g}s"
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*(s|m|min|h|probes?|)\s*", text)
    try:
        amount = float(found[1]) if found else 0.0
    except ValueError:
        raise wrong from None
    if found is None or not 0.0 < amount < math.inf:
        raise wrong
    if found[2].startswith("probe"):
        return Budget(text.strip(), math.inf, max(1.0, float(int(amount))))
    return Budget(text.strip(), amount * _UNITS[found[2]], math.inf)
