"""Faults that the default tests must catch: each is one line of the code made wrong, and the tests that say so."""

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
_FAULTS = "tests/faults/test_storage.py"
_TABLE, _RUNS = "tests/engine/test_table_kernel.py", "tests/engine/test_stored_counts.py"

FAULTS: tuple[Fault, ...] = (
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
        "noise = np.broadcast_to(np.asarray(gamma, dtype=np.float64), difference.shape) ** 2",
        "noise = np.broadcast_to(np.asarray(gamma, dtype=np.float64), difference.shape)",
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
        "return np.asarray(self.rho * self.inner.beta(a) + (1.0 - self.rho) * (1.0 - a))",
        "return np.asarray((1.0 - self.rho) * self.inner.beta(a) + self.rho * (1.0 - a))",
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
    # Data, mechanisms and games.
    Fault(
        "Bernoulli records with p rounded to 8 bits",
        "mipsim/distributions/bernoulli.py",
        "xp.round(self.p * 2.0**32)",
        "xp.round(self.p * 2.0**5) * 2.0**27",
        ("tests/distributions/test_samplers.py",),
    ),
    Fault(
        "the sum of Gaussian records with n for sqrt n",
        "mipsim/distributions/gaussian.py",
        "return jnp.sqrt(n) * step + n * data.location",
        "return jnp.sqrt(n - 1) * step + n * data.location",
        ("tests/distributions/test_samplers.py",),
    ),
    Fault(
        "likelihood ratio of Bernoulli sums with n for n - s",
        "mipsim/distributions/bernoulli.py",
        "zeros = jnp.maximum(n - total, 0.0) / (n * (1 - data.p))",
        "zeros = jnp.maximum(n - total, 0.0) / ((n - 1) * (1 - data.p))",
        ("tests/distributions/test_sum_ratio.py",),
    ),
    Fault(
        "noise on the mean not divided by sqrt n",
        "mipsim/mechanisms/noise.py",
        "return jax.random.normal(key, shape, dtype) * self.gamma / jnp.sqrt(n)",
        "return jax.random.normal(key, shape, dtype) * self.gamma / jnp.sqrt(n - 1)",
        ("tests/mechanisms/test_mechanisms.py", _RUNS),
    ),
    Fault(
        "the second of two noises dropped from the form",
        "mipsim/forms/release.py",
        "variance=np.asarray(inner.variance + gamma**2 / n))",
        "variance=np.asarray(gamma**2 / n))",
        (
            "tests/engine/test_fidelities_agree.py",
            "tests/engine/test_clipped_games.py",
            "tests/exact/test_error_bound.py",
        ),
    ),
    Fault(
        "a sub-sample that always holds the target",
        "mipsim/mechanisms/subsample.py",
        "among = jnp.logical_and(member, jax.random.randint(key_coin, (), 0, n) < kept)",
        "among = jnp.logical_and(member, jax.random.randint(key_coin, (), 0, n) <= kept)",
        ("tests/games/test_games_by_enumeration.py", "tests/mechanisms/test_mechanisms.py"),
    ),
    Fault(
        "clipping by the square of the norm",
        "mipsim/mechanisms/sgd_step.py",
        "mean = jnp.where(norm > self.clip, self.clip / norm, 1.0) @ records / n",
        "mean = jnp.where(norm > self.clip, self.clip / norm**2, 1.0) @ records / n",
        ("tests/mechanisms/test_sgd_step.py",),
    ),
    Fault(
        "the target enters in the out world too",
        "mipsim/games/fixed_target.py",
        "records = jnp.where(member, records.at[place].set(self.target), records)",
        "records = jnp.where(member | (place == 0), records.at[place].set(self.target), records)",
        ("tests/games/test_games_by_enumeration.py",),
    ),
    Fault(
        "a random target that is always the first row",
        "mipsim/games/random_target.py",
        "target = jnp.where(member, records[place], self.data.sample(key_fresh, 1)[0])",
        "target = jnp.where(member, records[place], records[0])",
        ("tests/games/test_games_by_enumeration.py",),
    ),
    # Samplers of the engine.
    Fault(
        "worlds swapped where a side is drawn",
        "mipsim/engine/samplers/base.py",
        "return jnp.where(uniform(long_word(high, low)) < self.inclusion, draws.world, 0)",
        "return jnp.where(uniform(long_word(high, low)) < self.inclusion, 0, draws.world)",
        (_RUNS, "tests/engine/test_fidelities_agree.py"),
    ),
    Fault(
        "projected normal with k rows in both worlds",
        "mipsim/engine/samplers/normal.py",
        "sd=jnp.sqrt(jnp.array([k, k - 1.0]) * line.row_variance / float(k) ** 2 + line.noise),",
        "sd=jnp.sqrt(jnp.array([k, k]) * line.row_variance / float(k) ** 2 + line.noise),",
        (_RUNS, "tests/engine/test_fidelities_agree.py"),
    ),
    Fault(
        "table of k rows in both worlds",
        "mipsim/engine/samplers/table_builder.py",
        "binomial_table(mean.rows, p, bits), binomial_table(mean.rows - 1, p, bits)",
        "binomial_table(mean.rows, p, bits), binomial_table(mean.rows, p, bits)",
        (_RUNS, _TABLE),
    ),
    Fault(
        "a bin that holds its lower edge",
        "mipsim/engine/edge_grid.py",
        'get(mode="promise_in_bounds") < known',
        'get(mode="promise_in_bounds") <= known',
        ("tests/engine/test_edge_grid.py",),
    ),
    Fault(
        "the first game of a block counted twice",
        "mipsim/engine/counting.py",
        "(i >= 0) & (index >= start) & (index < stop)",
        "(i >= 0) & (index >= start) & (index <= stop)",
        ("tests/engine/test_play.py", _RUNS),
    ),
    Fault(
        "a digest that is not compared",
        "mipsim/engine/checkpoint.py",
        "if digest is not None and digest != _digest(read, manifest):",
        "if False:",
        (_FAULTS,),
    ),
    Fault(
        "an older run writes fewer games over more",
        "mipsim/engine/run.py",
        "return _same_run(path, counts.manifest, found) >= counts.games",
        "return _same_run(path, counts.manifest, found) > 10 * counts.games",
        (_FAULTS,),
    ),
    Fault(
        "thresholds that keep the rounding of the pilot's scores",
        "mipsim/engine/pilot.py",
        "return _rounded(edges, values)",
        "return edges",
        ("tests/engine/test_pilot.py",),
    ),
    Fault(
        "one stream for the pilot and the games",
        "mipsim/engine/counting.py",
        "GAMES, PILOT = 0, 1",
        "GAMES, PILOT = 0, 0",
        ("tests/engine/test_play.py",),
    ),
    Fault(
        "a pilot of the run's own seed",
        "mipsim/engine/run.py",
        "Counter(sampler, [np.zeros(1)] * len(columns), 0, PILOT)",
        "Counter(sampler, [np.zeros(1)] * len(columns), self.seed, PILOT)",
        ("tests/engine/test_scores_with_atoms.py",),
    ),
    Fault(
        "two traces of a user's function are not compared",
        "mipsim/_pure.py",
        "if list(_facts(first)) != list(_facts(second)):",
        "if False:",
        ("tests/engine/test_own_functions.py",),
    ),
    Fault(
        "box and Muller with a radius too small",
        "mipsim/engine/random/counter.py",
        "radius = jnp.sqrt(-2.0 * jnp.log(uniform(first)))",
        "radius = jnp.sqrt(-1.98 * jnp.log(uniform(first)))",
        ("tests/engine/test_words.py",),
    ),
    Fault(
        "chi-square shape off by a third",
        "mipsim/engine/random/counter.py",
        "shape = degrees / 2 - 1 / 3",
        "shape = degrees / 2 - 1 / 4",
        ("tests/engine/test_words.py",),
    ),
    # Exact laws.
    Fault(
        "the second of two Laplace noises dropped from the exact law",
        "mipsim/forms/release.py",
        "noises=(*inner.noises, noise)",
        "noises=(noise,)",
        ("tests/exact/test_error_bound.py",),
    ),
    Fault(
        "half of Fejer's kernel in the bracket",
        "mipsim/exact/selberg.py",
        "at_cut = mass / (2.0 * degree + 2.0)",
        "at_cut = mass / (4.0 * degree + 4.0)",
        ("tests/exact/test_bracket.py",),
    ),
    Fault(
        "the randomised test mixes its two thresholds the wrong way",
        "mipsim/exact/exact_tradeoff.py",
        "(1.0 - part) * first + part * second, first)",
        "part * first + (1.0 - part) * second, first)",
        ("tests/exact/test_exact_law.py", "tests/exact/test_exact_games.py"),
    ),
    # Bands and judges.
    Fault(
        "Clopper-Pearson without the union over thresholds",
        "mipsim/bands/clopper_pearson.py",
        'side = 0.5 * risk / whole("thresholds", thresholds, 1)',
        'side = 0.5 * risk * whole("thresholds", thresholds, 1) ** 0',
        ("tests/bands/test_clopper_pearson.py", "tests/bands/test_curve_band.py"),
    ),
    Fault(
        "a test that never says in refutes a curve that begins below 1",
        "mipsim/bands/gap_interval.py",
        "np.where(zero_allowed, np.maximum(ends[1], 0.0), ends[1])",
        "np.where(zero_allowed, np.maximum(ends[1], -np.inf), ends[1])",
        ("tests/bands/test_gap_interval.py",),
    ),
    Fault(
        "the interval beside a verdict is that of another threshold",
        "mipsim/bands/comparison_base.py",
        "return int(np.argmax(outside))",
        "return int(np.argmin(outside))",
        ("tests/bands/test_compare.py",),
    ),
    Fault(
        "tolerance of equalities five times too large",
        "mipsim/bands/equality_tolerance.py",
        "LARGEST, SHARE = 0.02, 0.02",
        "LARGEST, SHARE = 0.1, 0.1",
        ("tests/bands/test_compare.py", "mipsim/bands/equality_tolerance.py"),
    ),
    Fault(
        "a slow approach may not go on",
        "mipsim/referee/limits.py",
        "REACH = 10.0",
        "REACH = 0.0",
        ("tests/referee/test_limits.py",),
    ),
    Fault(
        "a bound with a tolerance",
        "mipsim/referee/exact_judges.py",
        "if value - error > rounding:",
        "if value - error > rounding + 0.02:",
        ("tests/referee/test_exact_judges.py",),
    ),
    Fault(
        "an unproven error decides",
        "mipsim/referee/exact_judges.py",
        "value, error = size.high, _proven(size.high, error) + size.error",
        "value, error = size.high, _proven(size.high, error)",
        ("tests/referee/test_exact_judges.py",),
    ),
    Fault(
        "one confirmed point confirms the statement",
        "mipsim/referee/outcome.py",
        "all(verdict is Verdict.CONFIRMED for verdict in verdicts)",
        "any(verdict is Verdict.CONFIRMED for verdict in verdicts)",
        ("tests/referee/test_judge.py::test_one_refuted_point_refutes_and_all_confirm",),
    ),
    # Rare games.
    Fault(
        "a tilted game accepted one time too often",
        "mipsim/rare/linear_score.py",
        "theta * fixed + rows * one + 0.5 * theta**2 * self._noise,",
        "theta * fixed + rows * one + 0.45 * theta**2 * self._noise,",
        ("tests/rare/test_rare_diagnostics.py", "tests/rare/test_play_rare.py"),
    ),
)
