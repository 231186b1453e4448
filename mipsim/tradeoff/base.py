"""What every trade-off function provides."""

import inspect
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import wraps
from html import escape
from typing import TYPE_CHECKING, Any

import equinox as eqx
import numpy as np
from scipy.special import ndtri

from mipsim import _chained
from mipsim._html_table import html_table
from mipsim._validation import by_our_names, number, real_array, refuse_other_names
from mipsim.tradeoff.shown import Shown

LARGEST_EXPONENT = 700.0
"""e^x overflows float64 from x = 710 on."""

SHOWN_FPRS = np.unique(
    np.concatenate([[0.0, 1.0], np.geomspace(1e-6, 1e-2, 17), np.linspace(0.01, 0.99, 99)])
)
"""Where `to_dict` and `to_dataframe` tell a curve that is known everywhere."""

LONGEST_REPR = 160
"""Two lines of a terminal; what is longer is cut."""


def rates(name: str, value: object) -> np.ndarray:
    """Return `value` as a float64 array of error rates, or say which entry is outside [0, 1].

    Examples:
        >>> rates("alpha", [0, 0.5]).tolist()
        [0.0, 0.5]
    """
    array = real_array(name, value)
    bad = (array < 0.0) | (array > 1.0)
    if bad.any():
        raise ValueError(f"{name} is {array[bad].flat[0]:g}; it must lie in [0, 1]")
    return array


def scalar(value: Any) -> Any:
    """Turn a real zero-dimensional array of any library into a float; leave everything else as it is."""
    array = np.asarray(value)
    return float(array) if array.ndim == 0 and array.dtype.kind in "iuf" else value


SCALARS = (
    "beta",
    "tpr_at",
    "probit_beta",
    "delta",
    "epsilon",
    "bayes_risk",
    "beta_bracket",
    "delta_bounds",
    "score_at",
)
"""What is asked at numbers, and answers a scalar with a float, or with one for each bound."""


def floats(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The method, which answers a scalar with a Python float and an array, of no dimensions too, with an array."""

    @wraps(method)
    def answered(self: Any, *args: Any, **named: Any) -> Any:
        found = method(self, *args, **named)
        asked = args[0] if args else next(iter(named.values()), None)
        if isinstance(asked, np.ndarray):
            return found
        return tuple(map(scalar, found)) if isinstance(found, tuple) else scalar(found)

    return answered


def within(name: str, low: float, high: float = math.inf, **how: Any) -> Any:
    """A field that holds a float within [low, high], or says that it is none; `how` is for `equinox.field` and `number`.

    Examples:
        >>> class Half(eqx.Module):
        ...     share: float = within("share", 0.0, 0.5)
        >>> Half(1)
        Traceback (most recent call last):
        ...
        ValueError: share is 1.0; it must be a finite number in [0, 0.5]
    """
    default = {"default": how.pop("default")} if "default" in how else {}
    return eqx.field(converter=lambda value: number(name, scalar(value), low, high, **how), **default)


KNOWN = "a trade-off function known by a formula or an exact law"
"""What an argument must be that a played curve, which is known up to its band only, cannot stand for."""


def inner_curve(name: str) -> Any:
    """A field that holds a trade-off function, or says that it is none.

    Examples:
        >>> class Same(eqx.Module):
        ...     base: "AbstractTradeOff" = inner_curve("base")
        >>> Same(0.5)
        Traceback (most recent call last):
        ...
        ValueError: base is float; it must be a trade-off function known by a formula or an exact law
    """

    def checked(value: object) -> AbstractTradeOff:
        if not isinstance(value, AbstractTradeOff):
            raise ValueError(f"{name} is {type(value).__name__}; it must be {KNOWN}")
        return value

    return eqx.field(converter=checked)


def checked_curves(curves: Sequence[object]) -> None:
    """Raise ValueError where there is no curve, or one that is no trade-off function."""
    if not len(curves):
        raise ValueError("curves is empty; it must hold at least one trade-off function")
    for curve in curves:
        if not isinstance(curve, AbstractTradeOff):
            raise ValueError(f"curves holds {type(curve).__name__}; every entry must be {KNOWN}")


class AbstractTradeOff(eqx.Module, Shown):
    """A trade-off function f(alpha) = smallest beta: convex, non-increasing, f(a) <= 1 - a.

    The larger it is, the more private.

    Asked at a scalar, a curve answers with a float; asked at an array, with an array of its shape.

    A member gives the curve twice, as f and as 1 - f: at an FPR of 1e-12 the number 1 - f(alpha) is far
    below the rounding of f(alpha), and the probit of the curve needs whichever of the two is small.

    Source: Dong, Roth and Su (2022), "Gaussian differential privacy", definition 2.1.

    Examples:
        >>> class Blind(AbstractTradeOff):
        ...     def beta(self, alpha):
        ...         return 1.0 - rates("alpha", alpha)
        ...
        ...     def tpr_at(self, fpr):
        ...         return rates("fpr", fpr)
        >>> print(Blind().beta([0.0, 0.25]), Blind().advantage())
        [1.   0.75] 0.0
    """

    if not TYPE_CHECKING:  # a type checker reads the fields

        def __new__(cls, *args: Any, **named: Any) -> Any:
            if named:
                refuse_other_names(cls.__name__, inspect.signature(cls).parameters, named)
            return super().__new__(cls)

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        for name in SCALARS:
            if name in cls.__dict__:
                setattr(cls, name, floats(cls.__dict__[name]))

    @abstractmethod
    def beta(self, alpha: object) -> np.ndarray:
        """FNR at the FPR `alpha` (any shape, in [0, 1]); float64, same shape."""

    @abstractmethod
    def tpr_at(self, fpr: object) -> np.ndarray:
        """TPR 1 - f(fpr) at the FPR `fpr` (any shape, in [0, 1]), accurate where it is small; same shape."""

    @floats
    def probit_beta(self, alpha: object) -> np.ndarray:
        """Phi^-1(f(alpha)), taken from the smaller of f and 1 - f; -inf where f is 0 and inf where f is 1.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> round(float(GaussianTradeOff(1.0).probit_beta(1e-12)), 6)
            6.034484
        """
        fnr, tpr = self.beta(alpha), self.tpr_at(alpha)
        return np.where(fnr <= 0.5, ndtri(fnr), -ndtri(tpr))

    def advantage(self) -> float:
        """The largest TPR - FPR, max over a of 1 - a - f(a): the total variation between the two worlds.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> round(GaussianTradeOff(1.0).advantage(), 6)  # 2 Phi(1/2) - 1
            0.382925
        """
        return float(self.delta(0.0))

    @floats
    def delta(self, epsilon: object) -> np.ndarray:
        """The least delta for which the curve is (epsilon, delta)-DP in the direction out -> in.

        delta(epsilon) = max(0, sup_a 1 - e^epsilon a - f(a)), the convex conjugate of the curve.

        Args:
            epsilon: any shape, each finite and >= 0.

        Source: Dong, Roth and Su, proposition 2.12.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).delta([1.0, 4.0]).round(8).tolist()
            [0.12693674, 4.712e-05]
        """
        eps = real_array("epsilon", scalar(epsilon))
        for value in eps.ravel():
            number("epsilon", float(value), 0.0)
        return _chained.hockey_stick(self, eps)

    @floats
    def epsilon(self, delta: object) -> np.ndarray:
        """The least epsilon >= 0 for which the curve is (epsilon, delta)-DP in the direction out -> in; inf if none.

        Args:
            delta: any shape, each in [0, 1].

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).epsilon([1e-5, 0.0]).round(6).tolist()
            [4.377178, inf]
        """
        return _chained.epsilon(self, delta)

    def eta(self) -> float:
        """The largest probability of guessing the world right, both equally likely, is 1/2 + eta: advantage / 2.

        Examples:
            >>> from mipsim.tradeoff import ApproxDPTradeOff
            >>> round(ApproxDPTradeOff(1.0, 0.1).eta(), 6)  # delta + (1 - delta) / (1 + e^-1) - 1/2
            0.257953
        """
        return 0.5 * self.advantage()

    @floats
    def bayes_risk(self, prior: object) -> np.ndarray:
        """The least probability of a wrong guess when the record is a member with probability `prior`.

        min over a of prior f(a) + (1 - prior) a.

        Args:
            prior: P(in), any shape, each in [0, 1].

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).bayes_risk([0.1, 0.5]).round(6).tolist()
            [0.098664, 0.308538]
        """
        return _chained.bayes_risk(self, prior)

    def auc(self) -> float:
        """The area under the ROC curve, 1 - integral of f, to 1e-9.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> round(GaussianTradeOff(1.0).auc(), 6)  # Phi(1 / sqrt(2))
            0.76025
        """
        return _chained.auc(self)

    def least_mu(self) -> float:
        """The least mu with G_mu <= f: the curve is mu-GDP from there on; inf if it is for none.

        Examples:
            >>> from mipsim.tradeoff import ApproxDPTradeOff
            >>> round(ApproxDPTradeOff(1.0).least_mu(), 6)  # 2 Phi^-1(e / (1 + e))
            1.232035
        """
        return _chained.least_mu(self)

    def mu_and_regret(self) -> tuple[float, float]:
        """`least_mu()`, and what reporting it gives away: inf{k >= 0 : f(a + k) - k <= G_mu(a) for all a}.

        The regret is 0 for a Gaussian curve; with an infinite mu, G_mu is the curve 0.

        Source: Gomez et al. (2026), "Gaussian DP for reporting differential privacy guarantees in machine learning".

        Examples:
            >>> from mipsim.tradeoff import LaplaceTradeOff
            >>> [round(value, 4) for value in LaplaceTradeOff(1.0).mu_and_regret()]
            [1.0301, 0.037]
        """
        return _chained.mu_and_regret(self)

    def compare(
        self, claim: "AbstractTradeOff", tolerance: float | None = None, *, kind: str = "equality"
    ) -> "_chained.ExactComparison":
        """Hold the curve, as what is true, against a claimed one, without games.

        For the exact curve of an attack the verdict is about that attack. It allows for the error that the curve states
        (`beta_bracket`), and says INCONCLUSIVE where that is too large.

        Args:
            claim: the claimed trade-off function.
            tolerance: of an equality, in probits, > 0; by default the smaller of 0.02 and 2% of the claim's mu. Bounds have none.
            kind: "equality", "upper_bound_on_power" (no attacker is stronger than claimed) or "ordering" (no weaker).

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff, LaplaceTradeOff
            >>> LaplaceTradeOff(1.0).compare(GaussianTradeOff(1.1), kind="upper_bound_on_power")
            ExactComparison(CONFIRMED as an upper bound on power: GaussianTradeOff(mu=1.1))
            >>> GaussianTradeOff(1.0).compare(GaussianTradeOff(1.03)).verdict
            'REFUTED'
        """
        return _chained.compare_exact(self, claim, tolerance, kind)

    def inverse(self) -> "AbstractTradeOff":
        """f^-1(x) = inf{t : f(t) <= x}, the curve with the worlds exchanged; a symmetric curve returns itself.

        Examples:
            >>> from mipsim.tradeoff import FoldedLaplaceTradeOff
            >>> FoldedLaplaceTradeOff(1.0).inverse()
            InverseFoldedLaplaceTradeOff(mu=1.0)
        """
        return _chained.inverse(self)

    def symmetrized(self) -> "AbstractTradeOff":
        """The largest symmetric convex function below f and f^-1, the convex hull of min(f, f^-1).

        Examples:
            >>> from mipsim.tradeoff import FoldedLaplaceTradeOff
            >>> j = FoldedLaplaceTradeOff(1.0)
            >>> float(j.symmetrized().delta(0.3)) == max(float(j.delta(0.3)), float(j.inverse().delta(0.3)))
            True
        """
        return _chained.symmetrized(self)

    def convexified(self) -> "AbstractTradeOff":
        """The convex hull of the curve, for the curve of an attack that is not the best one; else the curve itself.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).convexified()
            GaussianTradeOff(mu=1.0)
        """
        return _chained.convexified(self)

    @by_our_names
    def subsampled(self, sampling_rate: float) -> "AbstractTradeOff":
        """C_p(f), the symmetrised p f + (1 - p) Id: the target takes part with probability p = `sampling_rate` in [0, 1].

        Source: Dong, Roth and Su (2022), definition 4.1 and theorem 4.2.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> round(float(GaussianTradeOff(1.0).subsampled(0.5).beta(0.5)), 6)
            0.308538
        """
        return _chained.subsampled(self, sampling_rate)

    def __repr__(self) -> str:
        words = " ".join(eqx.tree_pformat(self, width=10**6).split())
        return words if len(words) <= LONGEST_REPR else f"{words[: LONGEST_REPR - 5]} ...)"

    def _columns(self) -> dict[str, np.ndarray]:
        return {"alpha": SHOWN_FPRS, "beta": self.beta(SHOWN_FPRS), "tpr": self.tpr_at(SHOWN_FPRS)}

    def _facts(self) -> dict[str, Any]:
        return {"curve": repr(self)}

    def _repr_html_(self) -> str:
        tpr = ", ".join(f"{float(self.tpr_at(a)):.4g} at FPR {a:g}" for a in (0.1, 0.01, 0.001))
        rows = {
            "TPR": tpr,
            "advantage": f"{self.advantage():.4g}",
            "epsilon at delta 1e-5": f"{float(self.epsilon(1e-5)):.4g}",
        }
        picture = _chained.picture(self, "trade-off curve")
        return f"<div><b>{escape(repr(self))}</b>{html_table(rows.items())}{picture}</div>"
