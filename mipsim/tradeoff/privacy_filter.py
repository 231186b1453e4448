"""A budget of which every step may be chosen from all releases before: whether another step still fits."""

from __future__ import annotations

from fractions import Fraction

from mipsim._validation import member, number, whole
from mipsim.tradeoff.base import KNOWN, AbstractTradeOff
from mipsim.tradeoff.compose import MOST_STEPS


class PrivacyFilter:
    """A budget for steps that are chosen as the releases come, curve and number; `account` and `compose` need both before the first.

    Fully adaptive composition is not composition of the worst curve: here the curves themselves may depend on what was released.

    - `mu`: the steps are mu_i-GDP given all before, and the whole is mu-GDP where the sum of mu_i^2 is at most mu^2.
    - `rho`: the steps are rho_i-zCDP given all before, and the whole is rho-zCDP where the sum of rho_i is at most rho.

    What a step spends is the upper end of `least_mu` or `to_zcdp` of its curve; such sums are proven for these two alone.

    Args:
        mu: the budget in mu of Gaussian DP, in [1e-100, 1e100]; or
        rho: the budget in rho of zero-concentrated DP, in [1e-100, 1e100]. Exactly 1 of them.

    Attributes:
        spent: in mu^2, or in rho.

    Raises:
        ValueError: if both or none is given, or a number is outside its range.

    Source: Smith and Thakurta (2022), "Fully adaptive composition for Gaussian differential privacy"; Feldman and Zrnic (2021),
    "Individual privacy accounting via a Renyi filter", whose filter is taken at every order with the same rho.

    Examples:
        >>> import mipsim as mi
        >>> budget = mi.PrivacyFilter(mu=1.0)
        >>> [budget.step(mi.GaussianTradeOff(mu)) for mu in (0.6, 0.9, 0.8)]  # a step that does not fit is not spent
        [True, False, True]
        >>> budget.fits(mi.GaussianTradeOff(0.1))
        False
    """

    def __init__(self, *, mu: float | None = None, rho: float | None = None) -> None:
        if (mu is None) == (rho is None):
            raise ValueError(
                f"mu and rho are {'both missing' if mu is None else 'both given'}; give exactly 1 of them"
            )
        self.name, given = ("mu", mu) if rho is None else ("rho", rho)
        self.budget = number(self.name, given, 1e-100, 1e100)
        self._spent = Fraction(0)

    @property
    def spent(self) -> float:
        """The costs so far, added without rounding: no number of small steps is lost beside a large sum."""
        return float(self._spent)

    def cost(self, curve: AbstractTradeOff, copies: int = 1) -> float:
        """What `copies` steps of a curve spend, in mu^2 or rho: an upper bound, maybe infinite; raises ValueError where `to_zcdp` does.

        Examples:
            >>> import mipsim as mi
            >>> mi.PrivacyFilter(rho=1.0).cost(mi.GaussianTradeOff(0.5), 4)
            0.5
        """
        step = member("curve", curve, AbstractTradeOff, KNOWN)
        count = whole("copies", copies, 1, MOST_STEPS)
        if self.name == "mu":
            return count * step.least_mu_bounds()[1] ** 2
        return count * step.to_zcdp()[1]

    def fits(self, curve: AbstractTradeOff, copies: int = 1) -> bool:
        """Whether so many steps of a curve may be taken next; nothing is spent."""
        return self._has_room(self.cost(curve, copies))

    def step(self, curve: AbstractTradeOff, copies: int = 1) -> bool:
        """Whether so many steps of a curve may be taken next; if they may, they are spent, and must be taken or are lost."""
        cost = self.cost(curve, copies)
        if not self._has_room(cost):
            return False
        self._spent += Fraction(cost)
        return True

    def _has_room(self, cost: float) -> bool:
        """To the rounding of float64, in which 0.6^2 + 0.8^2 is 1."""
        most = self.budget**2 if self.name == "mu" else self.budget
        return cost <= most and float(self._spent + Fraction(cost)) <= most
