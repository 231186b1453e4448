"""Trade-off curves in arithmetic of 60 digits, which share no code with the package.

A rate is a pair (rate, 1 - rate), so that neither end loses its digits. A curve maps the pair of an FPR to (FNR, TPR). Two transforms of
the log-likelihood ratio L go with it, E_out(e^L - e^s)_+ = `hockey(s)` and E_out(e^s - e^L)_+ = `put(s)`: the first is delta at epsilon = s,
e^s times the second at -s that of the curve with the worlds exchanged.
"""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportOperatorIssue=false
# pyright: reportIncompatibleMethodOverride=false, reportCallIssue=false, reportIncompatibleVariableOverride=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, cmp_to_key
from itertools import accumulate, pairwise

from mpmath import MPContext

mp = MPContext()  # of its own: nobody else's digits change, nor do these
mp.dps = 60
mpf = mp.mpf
Rate = tuple[mpf, mpf]


def rate(a: object) -> Rate:
    """The pair of a rate that is given exactly."""
    return mpf(a), 1 - mpf(a)


def from_logit(u: mpf) -> Rate:
    e = mp.exp(-abs(u))
    small, large = e / (1 + e), 1 / (1 + e)
    return (small, large) if u < 0 else (large, small)


def minimum(objective: Callable[[mpf], mpf], low: object, high: object, rounds: int = 170) -> mpf:
    """The least value of a function that falls and then rises, by golden section; never below the least value."""
    low, high, ratio = mpf(low), mpf(high), (mp.sqrt(5) - 1) / 2
    x, y = high - ratio * (high - low), low + ratio * (high - low)
    at_x, at_y = objective(x), objective(y)
    best = min(objective(low), objective(high), at_x, at_y)
    for _ in range(rounds):
        if at_x < at_y:
            high, y, at_y = y, x, at_x
            at_x = objective(x := high - ratio * (high - low))
        else:
            low, x, at_x = x, y, at_y
            at_y = objective(y := low + ratio * (high - low))
        best = min(best, at_x, at_y)
    return best


def threshold(reached: Callable[[mpf], bool], low: object, high: object, rounds: int = 210) -> mpf:
    """Where a statement that is false below and true above turns true."""
    low, high = mpf(low), mpf(high)
    for _ in range(rounds):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


class Truth:
    """A curve; a member defines `curve`, or both of `hockey` and `put` (then it is convex)."""

    slack = mpf("1e-25")
    """Relative error of the values, of the smaller of a rate and its complement."""
    rounding = mpf(10) ** -50
    """Absolute error of a value that is a difference of rates."""
    reach = 2500
    """Searches for rates and slopes end at e^-3000 and e^3000: rates below e^-reach and slopes above e^reach are not known."""

    def curve(self, fpr: Rate) -> Rate:
        """(FNR, TPR), from the conjugate."""
        a, c = fpr
        if a == 0 or c == 0:
            return (mpf(0), mpf(1)) if c == 0 else (1 - (t := self.hockey(mpf(4000))), t)
        tpr = minimum(lambda s: self.hockey(s) + mp.exp(s) * a, -3000, 3000)
        if tpr < 0.5:
            return 1 - tpr, tpr
        # e^s is far beyond 60 digits where the FPR is rare and yet nearly all are caught
        with mp.extradps(1300 if a < mpf("1e-20") else 0):
            fnr = -minimum(lambda s: self.put(s) - mp.exp(s) * c, -3000, 3000)
        return +fnr, 1 - fnr

    def hockey(self, s: mpf) -> mpf:
        """sup over tests of TPR - e^s FPR."""
        return -minimum(lambda u: mp.exp(s) * (r := from_logit(u))[0] - self.curve(r)[1], -3000, 3000)

    def put(self, s: mpf) -> mpf:
        """sup over tests of e^s (1 - FPR) - FNR."""
        return -minimum(lambda u: self.curve(r := from_logit(u))[0] - mp.exp(s) * r[1], -3000, 3000)

    @cached_property
    def reversed(self) -> Truth:
        return Reversed(self)

    def risk(self, prior: mpf) -> mpf:
        """min over tests of prior FNR + (1 - prior) FPR."""
        if prior in (0, 1):
            return mpf(0)
        s = mp.log1p(-prior) - mp.log(prior)
        with mp.extradps(60):
            return +(prior * (1 - self.hockey(s)) if s >= 0 else (1 - prior) - prior * self.put(s))

    least_mu_is_exact = False

    def least_mu(self) -> mpf:
        """Greatest shift of probits that a search over FPRs from 1e-26 on finds: a lower bound of the supremum."""
        if self.curve(rate(0))[1] > 0:
            return mp.inf

        def reach(u: mpf) -> mpf:
            (a, c), (b, t) = (r := from_logit(u)), self.curve(r)
            return probit((c, a)) - probit((b, t)) if b > 0 and t > 0 else (-mp.inf if b > 0 else mp.inf)

        grid = [mpf(u) / 2 for u in range(-120, 121)]
        at = max(range(len(grid)), key=lambda i: (reach(grid[i]), -i))
        best = reach(grid[at])
        near = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        return best if mp.isinf(best) else max(0, -minimum(lambda u: -reach(u), *near, 90))


def normal(x: mpf) -> Rate:
    """(Phi(x), Phi(-x))."""
    if abs(x) > 1e6:  # the series of Laplace; its terms fall by 1e-12 each
        z, series, term = abs(x), mpf(1), mpf(1)
        for k in range(1, 80):
            term *= -(2 * k - 1) / z**2
            series += term
        tail = mp.exp(-z * z / 2) / (z * mp.sqrt(2 * mp.pi)) * series
        return (1 - tail, tail) if x > 0 else (tail, 1 - tail)
    r = mp.sqrt(2)
    return mp.erfc(-x / r) / 2, mp.erfc(x / r) / 2


def probit(p: Rate) -> mpf:
    """Phi^-1, by Newton's steps in the logarithm of the smaller tail."""
    a, c = p
    if a == 0 or c == 0:
        return -mp.inf if a == 0 else mp.inf
    small = min(a, c)
    w = mp.log(small)
    x = (
        -mp.sqrt(2) * mp.sqrt(max(-w - mp.log(2 * mp.sqrt(mp.pi * max(-w, 1))), mpf("1e-3")))
        if small < 0.4
        else (small - mpf(1) / 2) * 2.5
    )
    for _ in range(60):
        tail, density = normal(x)[0], mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)
        step = (mp.log(tail) - w) * tail / density
        x -= step
        if abs(step) < mpf("1e-50") * (1 + abs(x)):
            break
    return x if a <= c else -x


class Reversed(Truth):
    """The worlds exchanged."""

    def __init__(self, inner: Truth) -> None:
        self.inner, self.slack, self.rounding = inner, inner.slack, inner.rounding

    def curve(self, fpr: Rate) -> Rate:
        x, y = fpr
        if y == 0:
            return mpf(0), mpf(1)
        fnr, tpr = self.inner.curve(rate(0))
        if (fnr if x <= y else 1 - tpr) <= x and tpr >= y:
            return mpf(0), mpf(1)
        if x == 0:  # inf of the FPRs at which f is 0
            u = threshold(lambda u: self.inner.curve(from_logit(u))[0] <= 0, -3000, 3000)
            return from_logit(u) if u < 2999 else (mpf(1), mpf(0))

        def reached(u: mpf) -> bool:
            b, t = self.inner.curve(from_logit(u))
            return b <= x if x <= y else t >= y

        return from_logit(threshold(reached, -3000, 3000))

    def hockey(self, s: mpf) -> mpf:
        return mp.exp(s) * self.inner.put(-s)

    def put(self, s: mpf) -> mpf:
        return mp.exp(s) * self.inner.hockey(-s)

    @property
    def reversed(self) -> Truth:
        return self.inner


class Symmetric(Truth):
    """A curve that is its own inverse; a member defines `curve` and `hockey`."""

    def put(self, s: mpf) -> mpf:
        return mp.exp(s) * self.hockey(-s)

    @property
    def reversed(self) -> Truth:
        return self


class Gaussian(Symmetric):
    """N(0, 1) against N(mu, 1)."""

    reach = 1e6

    def __init__(self, mu: object) -> None:
        self.mu = mpf(mu)

    def curve(self, fpr: Rate) -> Rate:
        a, c = fpr
        if a == 0 or c == 0:
            return (mpf(1), mpf(0)) if a == 0 else (mpf(0), mpf(1))
        tpr, fnr = normal(probit(fpr) + self.mu)
        return fnr, tpr

    def hockey(self, s: mpf) -> mpf:
        if self.mu == 0:
            return max(mpf(0), -mp.expm1(s))
        with mp.extradps(60 + max(0, int(-1.2 * mp.log10(self.mu)))):
            z = s / self.mu
            return +(normal(self.mu / 2 - z)[0] - mp.exp(s) * normal(-self.mu / 2 - z)[0])

    def risk(self, prior: mpf) -> mpf:
        if prior in (0, 1) or self.mu == 0:
            return min(prior, 1 - prior)
        z = (mp.log1p(-prior) - mp.log(prior)) / self.mu
        return prior * normal(z - self.mu / 2)[0] + (1 - prior) * normal(-z - self.mu / 2)[0]

    least_mu_is_exact = True

    def least_mu(self) -> mpf:
        return self.mu


class Mixtures(Truth):
    """Two mixtures of N(shift, 1), each as {shift: weight}, where the loss rises with the outcome."""

    def __init__(self, out: dict, inside: dict) -> None:
        self.sides = [{mpf(shift): mpf(weight) for shift, weight in side.items()} for side in (out, inside)]

    def _tails(self, y: mpf) -> list[Rate]:
        """(P(outcome > y), P(outcome <= y)) in both worlds."""
        rows = [[(w, normal(s - y)) for s, w in side.items()] for side in self.sides]
        return [tuple(mp.fsum(w * tail[k] for w, tail in row) for k in (0, 1)) for row in rows]

    def curve(self, fpr: Rate) -> Rate:
        a, c = fpr
        if a == 0 or c == 0:
            return (mpf(1), mpf(0)) if a == 0 else (mpf(0), mpf(1))
        at, shifts = -probit(fpr), list(self.sides[0])
        ends = at + min(shifts) - 1, at + max(shifts) + 1
        k = 0 if a <= c else 1
        y = threshold(lambda y: (self._tails(y)[0][k] <= fpr[k]) == (k == 0), *ends)
        tpr, fnr = self._tails(y)[1]
        return fnr, tpr


class Laplace(Symmetric):
    """Scale 1, shifted by mu: the loss |x| - |x - mu| has atoms at both ends."""

    def __init__(self, mu: object) -> None:
        self.mu = mpf(mu)

    def curve(self, fpr: Rate) -> Rate:
        (a, c), e = fpr, mp.exp(-self.mu)
        if 2 * a < e:
            return 1 - a / e, a / e
        fnr = e / (4 * a) if a <= c else e * c
        return fnr, 1 - fnr

    def hockey(self, s: mpf) -> mpf:
        if abs(s) >= self.mu:
            return max(mpf(0), -mp.expm1(s))
        return -mp.expm1((s - self.mu) / 2)


class Magnitude(Truth):
    """|N(0, 1)| against |N(mu, 1)|: the loss rises with the magnitude, e^L = e^(-mu^2 / 2) cosh(mu x)."""

    def __init__(self, mu: object) -> None:
        self.mu = mpf(mu)

    def curve(self, fpr: Rate) -> Rate:
        a, c = fpr
        if a == 0 or c == 0:
            return (mpf(1), mpf(0)) if a == 0 else (mpf(0), mpf(1))
        with mp.extradps(20 + int(-mp.log10(min(a, c))) if a > c else 20):
            x = -probit((a / 2, 1 - a / 2)) if a <= c else mp.erfinv(c) * mp.sqrt(2)
            tpr = normal(self.mu - x)[0] + normal(-self.mu - x)[0]
            low, high = normal(x - self.mu), normal(-x - self.mu)
            return +(low[0] - high[0]), +tpr

    def _at(self, s: mpf) -> mpf | None:
        """The magnitude of loss s."""
        cosh = mp.exp(s + self.mu**2 / 2)
        return mp.acosh(cosh) / self.mu if cosh > 1 else None

    def hockey(self, s: mpf) -> mpf:
        if (x := self._at(s)) is None:
            return -mp.expm1(s)
        with mp.extradps(60):
            return +(normal(self.mu - x)[0] + normal(-self.mu - x)[0] - 2 * mp.exp(s) * normal(-x)[0])

    def put(self, s: mpf) -> mpf:
        if (x := self._at(s)) is None:
            return mpf(0)
        with mp.extradps(60):
            return +(
                mp.exp(s) * (normal(x)[0] - normal(-x)[0]) - normal(x - self.mu)[0] + normal(-x - self.mu)[0]
            )

    least_mu_is_exact = True

    def least_mu(self) -> mpf:
        return self.mu


class FoldedLaplace(Truth):
    """|Laplace(0)| against |Laplace(mu)|, scale 1."""

    def __init__(self, mu: object) -> None:
        self.mu = mpf(mu)

    def curve(self, fpr: Rate) -> Rate:
        (a, c), e = fpr, mp.exp(-self.mu)
        if a <= e:
            return 1 - a * mp.cosh(self.mu), a * mp.cosh(self.mu)
        fnr = e * c * (1 + a) / (2 * a)
        return fnr, 1 - fnr

    def hockey(self, s: mpf) -> mpf:
        """The slope is cosh(mu) up to e^-mu, and e^-mu (1 + a^-2) / 2 beyond."""
        square = 2 * mp.exp(s + self.mu) - 1
        if square <= 1:
            return -mp.expm1(s)
        if s >= mp.log(mp.cosh(self.mu)):
            return mpf(0)
        a = 1 / mp.sqrt(square)
        return self.curve((a, 1 - a))[1] - mp.exp(s) * a

    def put(self, s: mpf) -> mpf:
        with mp.extradps(60):
            return +(self.hockey(s) + mp.expm1(s))


class Mixed(Truth):
    """p f + (1 - p) Id."""

    def __init__(self, inner: Truth, p: object) -> None:
        self.inner, self.p, self.slack = inner, mpf(p), inner.slack

    def curve(self, fpr: Rate) -> Rate:
        b, t = self.inner.curve(fpr)
        return self.p * b + (1 - self.p) * fpr[1], self.p * t + (1 - self.p) * fpr[0]

    def _inner_slope(self, s: mpf) -> mpf | None:
        left = mp.expm1(s) + self.p
        return mp.log(left / self.p) if left > 0 else None

    def hockey(self, s: mpf) -> mpf:
        inner = self._inner_slope(s) if self.p else None
        return max(mpf(0), -mp.expm1(s)) if inner is None else self.p * self.inner.hockey(inner)

    def put(self, s: mpf) -> mpf:
        inner = self._inner_slope(s) if self.p else None
        return max(mpf(0), mp.expm1(s)) if inner is None else self.p * self.inner.put(inner)


class Hull(Truth):
    """The greatest convex curve below several convex ones."""

    def __init__(self, *curves: Truth) -> None:
        self.curves, self.slack = curves, max(c.slack for c in curves)

    def hockey(self, s: mpf) -> mpf:
        return max(c.hockey(s) for c in self.curves)

    def put(self, s: mpf) -> mpf:
        return max(c.put(s) for c in self.curves)


class Split(Truth):
    """The target is known: sum of w f_i at a single threshold of the likelihood ratio."""

    def __init__(self, curves: Sequence[Truth], weights: Sequence[object]) -> None:
        self.parts = [(mpf(w), c) for w, c in zip(weights, curves, strict=True)]
        self.slack = max(c.slack for c in curves)

    def hockey(self, s: mpf) -> mpf:
        return mp.fsum(w * c.hockey(s) for w, c in self.parts)

    def put(self, s: mpf) -> mpf:
        return mp.fsum(w * c.put(s) for w, c in self.parts)


class Atoms(Truth):
    """A walk from (FPR, FNR) = (0, 1) to (1, 0) whose steps are masses (out, in); any order, so need not be convex."""

    reach = 1e6

    def __init__(self, masses: Sequence[tuple[object, object]]) -> None:
        self.masses = [(mpf(o), mpf(i)) for o, i in masses if o or i]
        zero = [mpf(0)]
        self.fpr = [*zero, *accumulate(o for o, _ in self.masses)]
        self.tpr = [*zero, *accumulate(i for _, i in self.masses)]
        self.tnr = [*zero, *accumulate(o for o, _ in reversed(self.masses))][::-1]
        self.fnr = [*zero, *accumulate(i for _, i in reversed(self.masses))][::-1]

    @classmethod
    def optimal(cls, masses: Sequence[tuple[object, object]]) -> Atoms:
        """By falling likelihood ratio: the Neyman-Pearson curve of the pair."""
        return cls(sorted(masses, key=lambda m: mp.inf if m[0] == 0 else mpf(m[1]) / mpf(m[0]), reverse=True))

    @classmethod
    def through(cls, alpha: Sequence[object], beta: Sequence[object]) -> Atoms:
        """The polygon through corners, from alpha = 0 to 1."""
        a, b = [mpf(0), *map(mpf, alpha)], [mpf(1), *map(mpf, beta)]
        return cls([(a[k + 1] - a[k], b[k] - b[k + 1]) for k in range(len(a) - 1)])

    @property
    def corners(self) -> list[tuple[Rate, Rate]]:
        """((FPR, 1 - FPR), (FNR, TPR))."""
        return [((a, c), (b, t)) for a, c, b, t in zip(self.fpr, self.tnr, self.fnr, self.tpr, strict=True)]

    def curve(self, fpr: Rate, *, from_left: bool = False) -> Rate:
        """(FNR, TPR), `from_left`: their limits at rising FPRs."""
        a, c = fpr
        if from_left and a == 0:
            return mpf(1), mpf(0)
        low, high = 0, len(self.masses)
        while low < high:  # the first corner of FPR >= a, or the last of several at a
            middle = (low + high) // 2
            at, left = self.fpr[middle + 1], self.tnr[middle + 1]
            beyond = (at > a if a <= c else left < c) or (from_left and (at == a if a <= c else left == c))
            low, high = (low, middle) if beyond else (middle + 1, high)
        if low == len(self.masses):
            return mpf(0), mpf(1)
        o, i = self.masses[low]
        done = (a - self.fpr[low] if a <= c else self.tnr[low] - c) / o
        left = (self.fpr[low + 1] - a if a <= c else c - self.tnr[low + 1]) / o
        return self.fnr[low + 1] + left * i, self.tpr[low] + done * i

    def hockey(self, s: mpf) -> mpf:
        e = mp.exp(s)
        return max(t - e * a for a, t in zip(self.fpr, self.tpr, strict=True))

    def put(self, s: mpf) -> mpf:
        e = mp.exp(s)
        return max(e * c - b for c, b in zip(self.tnr, self.fnr, strict=True))

    def risk(self, prior: mpf) -> mpf:
        return min(prior * b + (1 - prior) * a for a, b in zip(self.fpr, self.fnr, strict=True))

    @cached_property
    def reversed(self) -> Atoms:
        return Atoms([(i, o) for o, i in reversed(self.masses)])

    def mixed(self, p: object) -> Atoms:
        p = mpf(p)
        return Atoms([(o, p * i + (1 - p) * o) for o, i in self.masses])

    def hull(self, *others: Atoms) -> Atoms:
        """The greatest convex curve below it and the others."""
        points = [(a, t, c, b) for each in (self, *others) for (a, c), (b, t) in each.corners]
        points.sort(key=cmp_to_key(lambda p, q: int(mp.sign(rise(q, p, 0, 2)) or mp.sign(rise(p, q, 1, 3)))))
        retained: list[tuple[mpf, mpf, mpf, mpf]] = []
        for point in points:
            if retained and (rise(retained[-1], point, 0, 2) <= 0 or rise(retained[-1], point, 1, 3) <= 0):
                continue
            while len(retained) > 1 and _turns_up(retained[-2], retained[-1], point):
                retained.pop()
            retained.append(point)
        steps = [(mpf(0), retained[0][1])]
        steps += [(rise(p, q, 0, 2), rise(p, q, 1, 3)) for p, q in pairwise(retained)]
        return Atoms([*steps, (retained[-1][2], mpf(0))])

    def symmetrized(self) -> Atoms:
        return self.hull(self.reversed)

    def times(self, other: Atoms) -> Atoms:
        """The product of two experiments."""
        return Atoms.optimal([(o * p, i * q) for o, i in self.masses for p, q in other.masses])

    def auc(self) -> mpf:
        """1 - integral of f."""
        return mp.fsum(o * (t + i / 2) for (o, i), t in zip(self.masses, self.tpr, strict=False))

    least_mu_is_exact = True

    def least_mu(self) -> mpf:
        """A chord lies above the Gaussian curve where its ends do, so corners are enough."""
        if self.tpr[-1] and any(t > 0 and a == 0 for a, t in zip(self.fpr, self.tpr, strict=True)):
            return mp.inf
        if any(b == 0 and c > 0 for c, b in zip(self.tnr, self.fnr, strict=True)):
            return mp.inf
        inner = [(a, b) for a, b in self.corners if a[0] > 0 and a[1] > 0 and b[0] > 0 and b[1] > 0]
        return max([mpf(0), *(probit(a[::-1]) - probit(b) for a, b in inner)])


class Times(Truth):
    """The product of a finite experiment and a Gaussian shift."""

    def __init__(self, atoms: Atoms, mu: object) -> None:
        self.atoms, self.mu = atoms.masses, mpf(mu)
        self.parts = [(o, i, mp.log(i / o)) for o, i in self.atoms if o and i]
        self.only = [mp.fsum(m[world] for m in self.atoms if not m[1 - world]) for world in (0, 1)]

    def at(self, t: mpf) -> tuple[Rate, Rate]:
        """((FPR, 1 - FPR), (FNR, TPR)) of the test that the loss is above t."""
        rates = [[mpf(0), self.only[0]], [mpf(0), self.only[1]]]
        for *masses, loss in self.parts:
            for world, (mass, way) in enumerate(zip(masses, (1, -1), strict=True)):
                below, above = normal((t - loss) / self.mu + way * self.mu / 2)
                ends = (above, below) if world == 0 else (below, above)
                rates[world] = [end + mass * x for end, x in zip(rates[world], ends, strict=True)]
        return tuple(rates[0]), tuple(rates[1])

    def curve(self, fpr: Rate) -> Rate:
        a, c = fpr
        if a == 0 or c <= self.only[0]:
            return (mpf(0), mpf(1)) if a else (mp.fsum(i for _, i, _ in self.parts), self.only[1])
        t = threshold(lambda t: self.at(t)[0][0] <= a if a <= c else self.at(t)[0][1] >= c, -300, 300)
        return self.at(t)[1]

    def hockey(self, s: mpf) -> mpf:
        other = Gaussian(self.mu)
        return self.only[1] + mp.fsum(i * other.hockey(s - loss) for _, i, loss in self.parts)

    def put(self, s: mpf) -> mpf:
        other = Gaussian(self.mu)
        return mp.exp(s) * self.only[0] + mp.fsum(i * other.put(s - loss) for _, i, loss in self.parts)

    @property
    def reversed(self) -> Truth:
        return Times(Atoms([(i, o) for o, i in self.atoms]), self.mu)


def rise(p: tuple[mpf, ...], q: tuple[mpf, ...], small: int, large: int) -> mpf:
    """From p to q of a rate, by whichever of it and its complement is small."""
    low = p[small] + q[small] <= p[large] + q[large]
    return q[small] - p[small] if low else p[large] - q[large]


def _turns_up(p: tuple[mpf, ...], q: tuple[mpf, ...], r: tuple[mpf, ...]) -> bool:
    return rise(p, q, 1, 3) * rise(q, r, 0, 2) <= rise(q, r, 1, 3) * rise(p, q, 0, 2)


def response(epsilon: object, delta: object = 0) -> Atoms:
    """(epsilon, delta)-DP at its worst: four outcomes."""
    e, d = mp.exp(mpf(epsilon)), mpf(delta)
    return Atoms(
        [
            (0, d),
            ((1 - d) / (1 + e), (1 - d) * e / (1 + e)),
            ((1 - d) * e / (1 + e), (1 - d) / (1 + e)),
            (d, 0),
        ]
    )


def guarantees(epsilon: object, delta: object, copies: int) -> Atoms:
    """`copies` products of (epsilon, delta)-DP at its worst: any of the sure masses, or a binomial sum."""
    total = copies * mp.log1p(-mpf(delta)) if delta < 1 else -mp.inf
    (o, i), *_ = response(epsilon).masses
    rest = [(mp.exp(total) * a, mp.exp(total) * b) for a, b in power_of_pair(o, i, copies).masses]
    return Atoms([(0, -mp.expm1(total)), *rest, (-mp.expm1(total), 0)])


def power_of_pair(out: mpf, inside: mpf, steps: int) -> Atoms:
    """`steps` products of a pair of coins: P(head) = `out` and `inside` in the two worlds; binomial."""
    rows = []
    for p in (out, inside):
        ratio, mass = p / (1 - p), mp.exp(steps * mp.log1p(-p))
        row = [mass]
        for k in range(steps):
            mass *= ratio * (steps - k) / (k + 1)
            row.append(mass)
        rows.append(row)
    masses = list(zip(*rows, strict=True))
    return Atoms(masses[::-1] if inside > out else masses)
