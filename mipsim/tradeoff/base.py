"""What every trade-off function provides."""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import wraps
from html import escape
from typing import Any, dataclass_transform

import numpy as np
import wadler_lindig as wl

from mipsim._budget import noted
from mipsim._frozen import Frozen
from mipsim._printed import html_table, shown
from mipsim._signals import importing
from mipsim._validation import is_float64, member, number, real_array
from mipsim.tradeoff import conversions
from mipsim.tradeoff.bounds import EPS, TINY, CurveBounds, Vertices, lowered, probit_of_log, raised
from mipsim.tradeoff.comparison import ExactComparison
from mipsim.tradeoff.display import DisplayedCurve
from mipsim.tradeoff.partition import Partition, supremum
from mipsim.tradeoff.sure_mass import SureMass

SHOWN_FPRS = np.unique(
    np.concatenate([[0.0, 1.0], np.geomspace(1e-6, 1e-2, 17), np.linspace(0.01, 0.99, 99)])
)
"""Where `to_dict` and `to_dataframe` tell a curve that is known everywhere."""

LONGEST_REPR = 160
"""Two lines of a terminal; what is longer is cut."""


def rates(name: str, value: object) -> np.ndarray:
    """Return `value` as a float64 array of error rates, or say which entry is outside [0, 1].
    >>> rates("alpha", [0, 0.5]).tolist()
    [0.0, 0.5]
    """
    array = real_array(name, value)
    bad = (array < 0.0) | (array > 1.0)
    if bad.any():
        raise ValueError(f"{name} is {array[bad].flat[0]:g}; it must lie in [0, 1]")
    return array


def scalar(value: Any) -> Any:
    """Turn a real zero-dimensional array of any library into a float; leave everything else, such as a mask, as it is."""
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and type(value) is not np.ndarray):
        return value
    array = np.asarray(value)
    real = array.ndim == 0 and array.dtype.kind in "iuf" and is_float64(array.item())
    return float(array) if real else value


def floats(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The method, which answers a scalar with a Python float and an array, of no dimensions too, with an array."""

    @wraps(method)
    def as_given(self: Any, *args: Any, **named: Any) -> Any:
        result = method(self, *args, **named)
        given = args[0] if args else next(iter(named.values()), None)
        return result if isinstance(given, np.ndarray) else scalar(result)

    return as_given


def answered(argument: object, bounds: tuple[Any, Any]) -> tuple[Any, Any]:
    """Floats if the argument was a number, else arrays."""
    low, high = bounds
    return (low, high) if isinstance(argument, np.ndarray) else (scalar(low), scalar(high))


def within(name: str, low: float, high: float = math.inf, **how: Any) -> Any:
    """A field that holds a float within [low, high], or says that it is none; `how` may hold a `default`, `repr`, and arguments of `number`.
    >>> class Half(Frozen):
    ...     share: float = within("share", 0.0, 0.5)
    >>> Half(1)
    Traceback (most recent call last):
    ...
    ValueError: share is 1.0; it must be a finite number in [0, 0.5]
    """
    default = {key: how.pop(key) for key in ("default", "repr") if key in how}

    def checked(value: object) -> float:
        return number(name, scalar(value), low, high, **how)

    return field(metadata={"converter": checked}, **default)


KNOWN = "a trade-off function known by a formula or an exact law"
"""What an argument must be that a played curve, which is known up to its band only, cannot stand for."""


def inner_curve(name: str) -> Any:
    """A field that holds a trade-off function, or says that it is none.
    >>> class Same(Frozen):
    ...     base: "AbstractTradeOff" = inner_curve("base")
    >>> Same(0.5)
    Traceback (most recent call last):
    ...
    ValueError: base is float; it must be a trade-off function known by a formula or an exact law
    """
    return field(metadata={"converter": lambda value: member(name, value, AbstractTradeOff, KNOWN)})


def checked_curves(curves: Sequence[object]) -> None:
    """Raise ValueError where there is no curve, or an entry that is no trade-off function."""
    if not len(curves):
        raise ValueError("curves is empty; it must hold at least 1 trade-off function")
    for curve in curves:
        member("an entry of curves", curve, AbstractTradeOff, KNOWN)


def plain_rates(log_low: np.ndarray, log_high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rates in [0, 1] from bounds of their logarithms, rounded outwards; exact at 0 and at 1.
    >>> low, high = plain_rates(np.array([-np.inf, -1.0]), np.array([0.0, -1.0]))
    >>> print(low[0], high[0], low[1] < np.exp(-1.0) < high[1])
    0.0 1.0 True
    """
    with np.errstate(under="ignore"):
        low, high = np.exp(log_low), np.exp(log_high)
    low = np.where(
        (log_low == 0.0) | np.isneginf(log_low), low, np.maximum(low * (1.0 - 4.0 * EPS) - TINY, 0.0)
    )
    high = np.where(np.isneginf(log_high), 0.0, np.minimum(high * (1.0 + 4.0 * EPS) + TINY, 1.0))
    return low, high


@dataclass_transform(eq_default=False, field_specifiers=(field, within, inner_curve))
class AbstractTradeOff(Frozen, DisplayedCurve):
    """A trade-off function f(alpha) = smallest FNR at the FPR alpha, known between proven bounds.

    A member implements `enclosure`, and by `is_convex` says whether it is convex. Everything else follows. A plain number
    is the safe end of its bounds: never less leakage than the truth. `epsilon_bounds` and the like give both ends.

    A number gets a float for an answer, an array an array of its shape.

    Source: Dong, Roth and Su (2022), "Gaussian differential privacy", definition 2.1.

    Examples:
        >>> from mipsim.tradeoff import CurveBounds
        >>> class Blind(AbstractTradeOff):
        ...     def is_convex(self):
        ...         return True
        ...
        ...     def enclosure(self, log_fpr):
        ...         return CurveBounds.of_log_tpr(log_fpr, log_fpr)
        >>> print(np.round(Blind().beta([0.0, 0.25]), 12), Blind().advantage() < 1e-9)
        [1.   0.75] True
    """

    @abstractmethod
    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        """Proven bounds of both error rates at natural logarithms of FPRs.

        Args:
            log_fpr: float64 in [-inf, 0], any shape. Near 0 it is -(1 - FPR), so that neither end loses digits.

        Returns:
            Bounds of that shape that contain the truth, rounding of the evaluation included; NaN only where the truth
            is undefined.
        """

    def is_convex(self) -> bool:
        """Whether the curve is convex, as that of a best attack is; False unless it is known.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).is_convex()
            True
        """
        return False

    def vertices(self) -> Vertices | None:
        """The points between which the curve is linear, if it is a polygon; else None.

        Examples:
            >>> from mipsim.tradeoff import ApproxDPTradeOff
            >>> np.exp(ApproxDPTradeOff(0.0, 0.5).vertices().log_fpr_low).round(6).tolist()
            [0.0, 0.25, 0.5]
        """
        return None

    def largest_loss_bounds(self) -> tuple[float, float]:
        """Bounds of the largest privacy loss, the logarithm of the ROC curve's slope at FPR 0; (0, inf) if nothing is known.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).largest_loss_bounds()
            (inf, inf)
        """
        return 0.0, math.inf

    def inverse_loss_bounds(self) -> tuple[float, float]:
        """Bounds of the largest privacy loss of the inverse, from the slope of the ROC curve at FPR 1; (0, inf) if nothing is known.

        Examples:
            >>> from mipsim.tradeoff import FoldedLaplaceTradeOff
            >>> FoldedLaplaceTradeOff(1.0).inverse_loss_bounds()
            (1.0, 1.0)
        """
        turned = self.inverse()
        if getattr(turned, "inner", None) is self:  # the inverse would ask back
            return 0.0, math.inf
        return self.largest_loss_bounds() if turned is self else turned.largest_loss_bounds()

    def _sure_mass(self, *, inside: bool = True) -> SureMass:
        """Bounds of the probability of outputs that only the world "in" has, the TPR at FPR 0; or of those of "out"."""
        curve = self if inside else self.inverse()
        if curve.largest_loss_bounds()[1] < math.inf:
            return 0.0, 0.0
        start = curve.enclosure(np.array([-np.inf]))
        low, high = plain_rates(start.log_tpr_low, start.log_tpr_high)
        return float(np.nan_to_num(low[0])), float(np.nan_to_num(high[0], nan=1.0))

    def _alone(self) -> "AbstractTradeOff":
        """The curve for a single question, whose parts may share what they compute; the next begins anew."""
        return self

    def mu_ceiling(self) -> float:
        """A mu for which the curve is surely mu-GDP; inf if none is known without a search.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).mu_ceiling()
            1.0
        """
        return math.inf

    def _supremum(self, objective: Any, queries: int, enough: Any) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the supremum of an objective over the curve; see `mipsim.tradeoff.partition.supremum`."""
        return supremum(self, objective, queries, enough)

    def _is_smooth(self) -> bool:
        """Whether its polygon is of second order in the distance of its points, so that few make it narrow."""
        return self.is_convex()

    def _partition(self) -> Partition:
        """Points of the curve, and a polygon around it; see `mipsim.tradeoff.partition.Partition`."""
        return Partition(self)

    def rates_at(self, fpr: np.ndarray) -> CurveBounds:
        """Bounds of both error rates at plain FPRs: float64 in [0, 1], any shape.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).rates_at(np.array([0.0])).log_fnr_low.tolist()
            [0.0]
        """
        with np.errstate(divide="ignore"):
            log_fpr = np.log(fpr)
        ends = np.stack([lowered(log_fpr, 2.0), raised(log_fpr, 2.0)])
        # At FPR 1 both ends are 0: just below it the FNR is so small that refining it takes most of the time.
        result = self.enclosure(np.where(log_fpr == 0.0, 0.0, ends))
        first, last = (CurveBounds(*(end[i] for end in result)) for i in (0, 1))
        bounds = CurveBounds(last.log_fnr_low, first.log_fnr_high, first.log_tpr_low, last.log_tpr_high)
        noted("the logarithm of a TPR", (bounds.log_tpr_low, bounds.log_tpr_high))
        return bounds.where(log_fpr < 0.0, last)

    def beta(self, alpha: object) -> Any:
        """The least that the FNR can be at the FPR `alpha` (any shape, in [0, 1])."""
        return self.beta_bounds(alpha)[0]

    def beta_bounds(self, alpha: object) -> tuple[Any, Any]:
        """(lower, upper) bound of the FNR at the FPR `alpha` (any shape, in [0, 1]).

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> low, high = GaussianTradeOff(1.0).beta_bounds(0.05)
            >>> round(low, 6), 0.0 < high - low < 1e-14
            (0.740489, True)
        """
        bounds = self.rates_at(rates("alpha", alpha))
        return answered(alpha, plain_rates(bounds.log_fnr_low, bounds.log_fnr_high))

    def tpr_at(self, fpr: object) -> Any:
        """The most that the TPR 1 - f(fpr) can be at the FPR `fpr` (any shape, in [0, 1]), accurate where it is small."""
        return self.tpr_bounds(fpr)[1]

    def tpr_bounds(self, fpr: object) -> tuple[Any, Any]:
        """(lower, upper) bound of the TPR at the FPR `fpr` (any shape, in [0, 1]).

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> low, high = GaussianTradeOff(1.0).tpr_bounds(1e-9)
            >>> round(high, 12), 0.0 < high - low < 1e-19
            (2.8993e-07, True)
        """
        wanted = rates("fpr", fpr)
        bounds = self.rates_at(wanted)
        low, high = plain_rates(bounds.log_tpr_low, bounds.log_tpr_high)
        if (start := wanted == 0.0).any():
            low, high = (
                np.where(start, sure, end) for sure, end in zip(self._sure_mass(), (low, high), strict=True)
            )
        return answered(fpr, (low, high))

    def probit_beta(self, alpha: object) -> Any:
        """Phi^-1 of `beta(alpha)`, taken from the smaller of FNR and TPR; -inf where the FNR is 0 and inf where it is 1.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> round(float(GaussianTradeOff(1.0).probit_beta(1e-12)), 6)
            6.034484
        """
        return self.probit_beta_bounds(alpha)[0]

    def probit_beta_bounds(self, alpha: object) -> tuple[Any, Any]:
        """(lower, upper) bound of Phi^-1 of the FNR at the FPR `alpha`, each taken from the smaller of FNR and TPR.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> low, high = GaussianTradeOff(1.0).probit_beta_bounds(1e-12)
            >>> 0.0 < high - low < 1e-12
            True
        """
        bounds = self.rates_at(rates("alpha", alpha))
        low, high = (
            np.where(log_fnr <= math.log(0.5), probit_of_log(log_fnr), -probit_of_log(log_tpr))
            for log_fnr, log_tpr in (
                (bounds.log_fnr_low, bounds.log_tpr_high),
                (bounds.log_fnr_high, bounds.log_tpr_low),
            )
        )
        return (low, high) if isinstance(alpha, np.ndarray) else (scalar(low), scalar(high))

    def advantage(self) -> float:
        """The largest TPR - FPR, max over a of 1 - a - f(a): the total variation between the two worlds of a best attack.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> round(GaussianTradeOff(1.0).advantage(), 6)  # 2 Phi(1/2) - 1
            0.382925
        """
        return self.advantage_bounds()[1]

    def advantage_bounds(self) -> tuple[float, float]:
        """(lower, upper) bound of the advantage.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> low, high = GaussianTradeOff(1.0).advantage_bounds()
            >>> 0.0 <= high - low < 1e-9
            True
        """
        return self.delta_bounds(0.0)

    def delta(self, epsilon: object) -> Any:
        """The least delta for which the curve is (epsilon, delta)-DP in the direction out -> in.

        delta(epsilon) = max(0, sup_a 1 - e^epsilon a - f(a)), the convex conjugate of the curve.

        Args:
            epsilon: any shape, each finite and >= 0.

        Source: Dong, Roth and Su, proposition 2.12.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).delta(np.array([1.0, 4.0])).round(8).tolist()
            [0.12693674, 4.712e-05]
        """
        return self.delta_bounds(epsilon)[1]

    def delta_bounds(self, epsilon: object) -> tuple[Any, Any]:
        """(lower, upper) bound of `delta(epsilon)`.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> low, high = GaussianTradeOff(1.0).delta_bounds(1.0)
            >>> round(low, 8), round(high, 8)
            (0.12693674, 0.12693674)
        """
        low, high = plain_rates(*map(np.asarray, self.log_delta_bounds(epsilon)))
        return answered(epsilon, (np.maximum(low, self._sure_mass()[0]), high))

    def log_delta_bounds(self, epsilon: object) -> tuple[Any, Any]:
        """(lower, upper) bound of log delta(epsilon), for deltas below float64's least too; -inf where delta is 0.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> [round(bound, 3) for bound in GaussianTradeOff(1.0).log_delta_bounds(100.0)]
            [-4960.255, -4960.255]
        """
        eps = real_array("epsilon", scalar(epsilon))
        for value in eps.ravel():
            number("epsilon", float(value), 0.0)
        return answered(epsilon, self._log_delta(eps))

    def _log_delta(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of log delta for checked epsilons; a member with a closed form has its own."""
        return conversions.log_delta(self, epsilon)

    def _log_delta_of_inverse(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The same of the inverse, where a closed form is known."""
        return None

    def epsilon(self, delta: object = None, *, log_delta: object = None) -> Any:
        """The least epsilon >= 0 for which the curve is (epsilon, delta)-DP in the direction out -> in; inf if none.

        Args:
            delta: any shape, each in [0, 1].
            log_delta: its natural logarithm instead, for deltas below float64's least.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).epsilon(np.array([1e-5, 0.0])).round(6).tolist()
            [4.377178, inf]
        """
        return self.epsilon_bounds(delta, log_delta=log_delta)[1]

    def epsilon_bounds(self, delta: object = None, *, log_delta: object = None) -> tuple[Any, Any]:
        """(lower, upper) bound of `epsilon(delta)`.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> [round(bound, 6) for bound in GaussianTradeOff(1.0).epsilon_bounds(log_delta=-5000.0)]
            [100.398573, 100.398573]
        """
        if (delta is None) == (log_delta is None):
            raise ValueError("delta and log_delta are both given or both missing; give exactly one")
        if log_delta is None:
            wanted = rates("delta", delta)
            sure = wanted < self._sure_mass()[0]
            with np.errstate(divide="ignore"):
                logs = np.log(np.where(sure, 1.0, wanted))  # there it is infinite, and no search is needed
            low, high = self._epsilon(np.stack([raised(logs, 2.0), lowered(logs, 2.0)]))
            return answered(delta, (np.where(sure, np.inf, low[0]), np.where(sure, np.inf, high[1])))
        logs = real_array("log_delta", scalar(log_delta), finite=False)
        if not (logs <= 0.0).all():
            raise ValueError(f"log_delta holds {logs[~(logs <= 0.0)].flat[0]:g}; it must be at most 0")
        return answered(log_delta, self._epsilon(logs))

    def _epsilon(self, log_delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return conversions.epsilon(self, log_delta)

    def eta(self) -> float:
        """The largest probability of guessing the world right, both equally likely, is 1/2 + eta: advantage / 2.

        Examples:
            >>> from mipsim.tradeoff import ApproxDPTradeOff
            >>> round(ApproxDPTradeOff(1.0, 0.1).eta(), 6)  # delta + (1 - delta) / (1 + e^-1) - 1/2
            0.257953
        """
        return self.eta_bounds()[1]

    def eta_bounds(self) -> tuple[float, float]:
        """(lower, upper) bound of `eta()`.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> [round(bound, 6) for bound in GaussianTradeOff(1.0).eta_bounds()]
            [0.191462, 0.191462]
        """
        low, high = self.advantage_bounds()
        return 0.5 * low, 0.5 * high

    def bayes_risk(self, prior: object) -> Any:
        """The least probability of a wrong guess when the record is a member with probability `prior`.

        min over a of prior f(a) + (1 - prior) a.

        Args:
            prior: P(in), any shape, each in [0, 1].

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).bayes_risk(np.array([0.1, 0.5])).round(6).tolist()
            [0.098664, 0.308538]
        """
        return self.bayes_risk_bounds(prior)[0]

    def bayes_risk_bounds(self, prior: object) -> tuple[Any, Any]:
        """(lower, upper) bound of `bayes_risk(prior)`.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> low, high = GaussianTradeOff(40.0).bayes_risk_bounds(0.5)
            >>> print(f"{low:.6g} {high:.6g}")
            2.75362e-89 2.75362e-89
        """
        return answered(prior, conversions.bayes_risk(self, rates("prior", prior)))

    def auc(self) -> float:
        """The area under the ROC curve, 1 - integral of f, to 1e-9 where the curve is convex.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> round(GaussianTradeOff(1.0).auc(), 6)  # Phi(1 / sqrt(2))
            0.76025
        """
        return self.auc_bounds()[1]

    def auc_bounds(self) -> tuple[float, float]:
        """(lower, upper) bound of `auc()`.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> low, high = GaussianTradeOff(1.0).auc_bounds()
            >>> 0.0 <= high - low < 2e-9
            True
        """
        return conversions.auc(self)

    def least_mu(self) -> float:
        """The least mu with G_mu <= f: the curve is mu-GDP from there on; inf if it is for none.

        Examples:
            >>> from mipsim.tradeoff import ApproxDPTradeOff
            >>> round(ApproxDPTradeOff(1.0).least_mu(), 6)  # 2 Phi^-1(e / (1 + e))
            1.232035
        """
        return self.least_mu_bounds()[1]

    def least_mu_bounds(self) -> tuple[float, float]:
        """(lower, upper) bound of `least_mu()`.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).least_mu_bounds()
            (1.0, 1.0)
        """
        if self._sure_mass()[0] > 0.0:  # a TPR above 0 at FPR 0
            return np.inf, np.inf
        return conversions.least_mu(self)

    def to_rdp(self, orders: object) -> tuple[Any, Any]:
        """(lower, upper) bound of the Renyi divergence of "in" from "out" at orders > 1, any shape; of two directions, the worse.

        Gaussian and Laplace shifts, their Poisson and fixed-size samples, polygons and compositions of these have narrow bounds, others
        an infinite upper bound unless their losses are bounded. The conversions lose: `epsilon` of the curve is less than that of these.

        Source: Mironov (2017), "Renyi differential privacy"; van Erven and Harremoes (2014), theorems 3, 9 and 28.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff, dpsgd
            >>> GaussianTradeOff(0.5).to_rdp(8.0)
            (1.0, 1.0)
            >>> low, high = dpsgd(1.0, 0.01, 1000).to_rdp([2.0, 4.0])
            >>> np.round(low, 4).tolist(), np.round(high, 4).tolist()
            ([0.1718, 0.3632], [0.1718, 0.3632])
        """
        from mipsim.tradeoff.renyi import renyi

        return answered(orders, renyi(self, orders))

    def to_zcdp(self) -> tuple[float, float]:
        """(lower, upper) bound of the least rho for which the curve is rho-zCDP: the supremum of D_a / a over the orders a > 1.

        Raises:
            ValueError: if no finite rho is proven, and it is not known to be infinite.

        Source: Bun and Steinke (2016), "Concentrated differential privacy", definition 1.1.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff, LaplaceTradeOff
            >>> GaussianTradeOff(0.5).to_zcdp()
            (0.125, 0.125)
            >>> low, high = LaplaceTradeOff(1.0).to_zcdp()  # below 1/2, that of all 1-DP
            >>> 0.36 < low <= high < 0.4
            True
        """
        from mipsim.tradeoff.renyi import zcdp

        return zcdp(self)

    def compare(
        self, claim: "AbstractTradeOff", tolerance: float | None = None, *, kind: str = "equality"
    ) -> ExactComparison:
        """Compare this curve, as the truth, with a claimed curve, without games.

        For the exact curve of an attack the verdict is about that attack. It allows for the width of both
        curves' bounds, and says INCONCLUSIVE where that is too large.

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
        with importing():
            from mipsim.referee.judging.compare_exact import compare_exact
        return compare_exact(self, claim, tolerance, kind)

    def inverse(self) -> "AbstractTradeOff":
        """f^-1(x) = inf{t : f(t) <= x}, the curve with the worlds exchanged; a symmetric curve returns itself.

        Examples:
            >>> from mipsim.tradeoff import FoldedLaplaceTradeOff
            >>> FoldedLaplaceTradeOff(1.0).inverse()
            InverseFoldedLaplaceTradeOff(mu=1.0)
        """
        from mipsim.tradeoff.inverse import InverseTradeOff

        return InverseTradeOff(self)

    def symmetrized(self) -> "AbstractTradeOff":
        """The largest symmetric convex function below f and f^-1, the convex hull of min(f, f^-1).

        It stands for the worse of two directions, the target added or removed, and `compose` keeps these apart: of any two
        neighbours all parts have the same direction, so that the worse of both is taken of the whole.

        Examples:
            >>> from mipsim.tradeoff import FoldedLaplaceTradeOff
            >>> j = FoldedLaplaceTradeOff(1.0)
            >>> float(j.symmetrized().delta(0.3)) == max(float(j.delta(0.3)), float(j.inverse().delta(0.3)))
            True
        """
        from mipsim.tradeoff.convex_hull import symmetrized

        return symmetrized(self)

    def _one_way(self) -> "AbstractTradeOff | None":
        """Of a curve that is `symmetrized` the curve that it was made of; None for others."""
        return None

    def convexified(self) -> "AbstractTradeOff":
        """The convex hull of the curve, for the curve of an attack that is not the best attack; else the curve itself.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).convexified()
            GaussianTradeOff(mu=1.0)
        """
        from mipsim.tradeoff.convex_hull import convexified

        return convexified(self)

    def subsampled(self, sampling_rate: float) -> "AbstractTradeOff":
        """C_p(f), the symmetrised p f + (1 - p) Id: the target takes part with probability p = `sampling_rate` in [0, 1].

        `compose` keeps its two directions apart, as Poisson sampling does where the target is added or removed. Theorem 4.2
        is of samples of a fixed size, a record of which is replaced, where each step may have the worse direction: such steps
        are `dpsgd(..., neighbours="replace", sampling="fixed_size")`, and in general `convex_hull(f_p, f_p.inverse())`.

        Source: Dong, Roth and Su (2022), definition 4.1 and theorem 4.2.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> round(float(GaussianTradeOff(1.0).subsampled(0.5).beta(0.5)), 6)
            0.308538
        """
        from mipsim.tradeoff.convex_hull import subsampled

        return subsampled(self, sampling_rate)

    def __repr__(self) -> str:
        words = " ".join(wl.pformat(self, width=10**6).split())
        return words if len(words) <= LONGEST_REPR else f"{words[: LONGEST_REPR - 5]} ...)"

    def _columns(self) -> dict[str, np.ndarray]:
        (low, high), (least, most) = self.beta_bounds(SHOWN_FPRS), self.tpr_bounds(SHOWN_FPRS)
        return {"alpha": SHOWN_FPRS, "beta": low, "beta_high": high, "tpr_low": least, "tpr": most}

    def _facts(self) -> dict[str, Any]:
        return {"curve": repr(self)}

    def _repr_html_(self) -> str:
        from mipsim.bands.drawing import picture

        tpr = ", ".join(f"{shown(self.tpr_bounds(a))} at FPR {a:g}" for a in (0.1, 0.01, 0.001))
        rows = {
            "TPR": tpr,
            "advantage": shown(self.advantage_bounds()),
            "epsilon at delta 1e-5": shown(self.epsilon_bounds(1e-5)),
        }
        return f"<div><b>{escape(repr(self))}</b>{html_table(rows.items())}{picture(self, 'trade-off curve')}</div>"
