"""Faults in formulas and trade-off functions that the default tests must catch, and what a fault is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One planted fault.

    Attributes:
        name: short and unique; what is wrong.
        file: the file, from the root of the checkout.
        old: text that stands in the file exactly once.
        new: what it becomes.
        caught_by: tests of the default run, of which at least one must fail.
    """

    name: str
    file: str
    old: str
    new: str
    caught_by: tuple[str, ...]


_AZIZE, _LEEMANN = "tests/theory/test_azize_formulas.py", "tests/theory/test_leemann.py"
_KAISSIS, _IZZO = "tests/theory/test_kaissis_formulas.py", "tests/theory/test_izzo.py"

FORMULAS: tuple[Fault, ...] = (
    # Formulas of the papers.
    Fault(
        "leakage without the division by n",
        "mipsim/theory/azize.py",
        "return float(np.sum(difference**2 / (covariance + noise)) / n)",
        "return float(np.sum(difference**2 / (covariance + noise)) / (n - 1))",
        (_AZIZE,),
    ),
    Fault(
        "noise enters the leakage by its deviation, not its variance",
        "mipsim/theory/azize.py",
        "noise = np.broadcast_to(np.asarray(record_deviation, dtype=np.float64), difference.shape) ** 2",
        "noise = np.broadcast_to(np.asarray(record_deviation, dtype=np.float64), difference.shape)",
        (_AZIZE,),
    ),
    Fault(
        "advantage with sqrt(m) in place of sqrt(m) / 2",
        "mipsim/theory/azize.py",
        'half = 0.5 * np.sqrt(number("leakage", leakage, 0.0))',
        'half = 0.55 * np.sqrt(number("leakage", leakage, 0.0))',
        (_AZIZE,),
    ),
    Fault(
        "sub-sampled mean leaks rho m in place of m / rho",
        "mipsim/theory/azize.py",
        'mean_tradeoff(number("leakage", leakage, 0.0) / share), share)',
        'mean_tradeoff(number("leakage", leakage, 0.0) * share), share)',
        (_AZIZE,),
    ),
    Fault(
        "a sign in delta(eps) of GDP",
        "mipsim/theory/azize.py",
        "return ndtr(-eps / s + s / 2) - np.exp(eps + log_ndtr(-eps / s - s / 2))",
        "return ndtr(-eps / s + s / 2) - np.exp(eps + log_ndtr(-eps / s + s / 2))",
        (_AZIZE,),
    ),
    Fault(
        "noisy step: tau n / C not squared",
        "mipsim/theory/leemann.py",
        "return n + (tau * n / clip) ** 2",
        "return n + tau * n / clip",
        (_LEEMANN,),
    ),
    Fault(
        "mu_step with 2 n - 2 in place of 2 n - 1",
        "mipsim/theory/leemann.py",
        "return (d + (2 * rows - 1) * k) /",
        "return (d + (2 * rows - 2) * k) /",
        (_LEEMANN,),
    ),
    Fault(
        "theorem 5.1 with n K in both worlds",
        "mipsim/theory/leemann.py",
        "NoncentralChiSquareTradeOff(d, rows * k, (rows - 1) * k,",
        "NoncentralChiSquareTradeOff(d, rows * k, rows * k,",
        (_LEEMANN,),
    ),
    Fault(
        "composition of steps by k in place of sqrt k",
        "mipsim/theory/leemann.py",
        'number("step", step, 0.0) * math.sqrt(whole("steps", steps, 1))',
        'number("step", step, 0.0) * whole("steps", steps, 1)',
        ("mipsim/theory/leemann.py",),
    ),
    Fault(
        "replacement costs as much as addition",
        "mipsim/theory/leemann.py",
        "return (2.0 if replace else 1.0) * clip",
        "return (1.0 if replace else 1.0) * clip",
        (_LEEMANN,),
    ),
    Fault(
        "noncentrality mu in place of mu squared",
        "mipsim/theory/kaissis.py",
        'NoncentralChiSquareTradeOff(d, 0.0, number("mu", mu, 0.0) ** 2)',
        'NoncentralChiSquareTradeOff(d, 0.0, number("mu", mu, 0.0))',
        (_KAISSIS,),
    ),
    Fault(
        "two-sided test with one tail twice",
        "mipsim/theory/kaissis.py",
        "return np.asarray(ndtr(cut - self.mu) - ndtr(-cut - self.mu))",
        "return np.asarray(ndtr(cut - self.mu) - ndtr(-cut + self.mu))",
        (_KAISSIS,),
    ),
    Fault(
        "averaging: sum of squares in place of the square of the sum",
        "mipsim/theory/kaissis.py",
        "return float(shift.sum() ** 2 / (sigma**2).sum())",
        "return float((shift**2).sum() / (sigma**2).sum())",
        (_KAISSIS,),
    ),
    Fault(
        "eta of (eps, delta) without 1 - delta",
        "mipsim/theory/izzo.py",
        "return float(0.5 * (d + (1.0 - d) * np.tanh(0.5 * e)))",
        "return float(0.5 * (d + np.tanh(0.5 * e)))",
        (_IZZO,),
    ),
    Fault(
        "epsilon of eta off by a factor",
        "mipsim/theory/izzo.py",
        "return float(2.0 * np.arctanh(2.0 *",
        "return float(2.0 * np.arctanh(1.9 *",
        (_IZZO,),
    ),
    # Trade-off functions.
    Fault(
        "Gaussian curve with the sign of mu turned",
        "mipsim/tradeoff/gaussian.py",
        'return np.asarray(ndtr(-ndtri(rates("alpha", alpha)) - self.mu))',
        'return np.asarray(ndtr(-ndtri(rates("alpha", alpha)) + self.mu))',
        ("tests/tradeoff/test_gaussian_tradeoff.py",),
    ),
    Fault(
        "sub-sampling with the shares swapped",
        "mipsim/tradeoff/mixture.py",
        "return np.asarray(p * self.inner.beta(a) + (1.0 - p) * (1.0 - a))",
        "return np.asarray((1.0 - p) * self.inner.beta(a) + p * (1.0 - a))",
        ("tests/tradeoff/test_mixture_tradeoff.py",),
    ),
    Fault(
        "Gaussian composition by the count in place of its root",
        "mipsim/tradeoff/compose.py",
        "return GaussianTradeOff(curve.mu * count**0.5)",
        "return GaussianTradeOff(curve.mu * count**0.51)",
        ("tests/tradeoff/test_compose.py",),
    ),
    Fault(
        "non-central chi-square: scales of the worlds swapped",
        "mipsim/tradeoff/noncentral_chi_square.py",
        "return at * (self.out_scale / self.in_scale)",
        "return at * (self.in_scale / self.out_scale)",
        ("tests/tradeoff/test_noncentral_chi_square_tradeoff.py", _LEEMANN),
    ),
    Fault(
        "folded Laplace with sinh for cosh",
        "mipsim/tradeoff/laplace.py",
        "a * np.cosh(self.mu), 1.0 - self.beta(a))",
        "a * np.sinh(self.mu), 1.0 - self.beta(a))",
        ("tests/tradeoff/test_laplace_tradeoff.py", _KAISSIS, "tests/tradeoff/test_tradeoff_contract.py"),
    ),
)
