"""Certificates: the checker accepts what is proven, nothing that lies beyond it, and nothing malformed."""

import copy
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import ctx
from scipy.stats import chi2, ncx2, norm

import mipsim as mi
from mipsim import check
from mipsim.referee import Verdict
from mipsim.referee.command import main
from verify.certificates.statements import certificate_of
from verify.judge import Setting, judge
from verify.register import REGISTER

RNG = np.random.default_rng(0)
MEMBER = np.repeat([0, 1], 200)
COINS = RNG.random(200) < 0.5
DATA = mi.Bernoulli([0.3, 0.45, 0.6])
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=6, target=[1.0, 0.0, 1.0])
MANY = mi.Bernoulli(np.linspace(0.3, 0.6, 40))
LINEAR = mi.FixedTarget(mi.EmpiricalMean(), MANY, n=30, target=MANY.easiest_target())
QUESTIONS = {
    "a Gaussian shift": lambda: mi.GaussianTradeOff(1.3),
    "a Laplace shift": lambda: mi.LaplaceTradeOff(0.7),
    "a promise": lambda: mi.ApproxDPTradeOff(0.5, 0.01),
    "a sampled step": lambda: mi.dpsgd(1.1, 0.1),
    "steps": lambda: mi.dpsgd(1.0, 0.3, 12, neighbours="add"),
    "Laplace steps": lambda: mi.compose(mi.MixtureTradeOff(mi.LaplaceTradeOff(1.0), 0.3), copies=5),
    "unlike steps": lambda: mi.compose(
        mi.dpsgd(1.0, 0.2, neighbours="remove"), mi.LaplaceTradeOff(0.5), copies=[4, 3]
    ),
    "a group": lambda: mi.dpsgd(2.0, 0.1, 6, neighbours="remove", group=2),
    "an account": lambda: mi.account(1.0, 0.1, 10, epsilon=0.5, fpr=0.01),
    "a likelihood ratio": lambda: (GAME, mi.LikelihoodRatio(GAME.mechanism, DATA, 6)),
    "a linear score": lambda: (LINEAR, mi.CovarianceScore(LINEAR.data, 30)),
    "independent scores": lambda: mi.audit(
        RNG.normal(size=400) + MEMBER, MEMBER, design="independent", runs=400
    ),
    "a single run": lambda: mi.audit(RNG.normal(size=200) + 4.0 * COINS, COINS, design="one-run"),
}
"""Kind of question -> an example, of which a certificate exists."""


@pytest.fixture(autouse=True)
def _same_precision():
    before = ctx.prec
    yield
    ctx.prec = before


def narrower(claim):
    """Claims of which an end lies 1e-9 within what is proven, or both ends beside the number."""
    for end, sign in (("low", 1.0), ("high", -1.0)):
        if claim[end] is not None and (value := float.fromhex(claim[end])):
            yield claim | {end: (value + sign * 1e-9 * abs(value)).hex()}
            yield claim | {"low": (2.0 * value).hex(), "high": (3.0 * value).hex()}


def perturbed(certificate):
    """How many perturbed claims there are, and which of them the checker accepts; those of the certificate must be accepted."""
    results = []
    for ends, claim in zip(check.computed(certificate), certificate["claims"], strict=True):
        assert check.proves(ends, claim)
        results += [check.proves(ends, changed) for changed in narrower(claim)]
    return len(results), sum(results)


def certified(question, path, width=0.1):
    return json.loads(mi.certify(question, path, width=width).read_text())


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_proven_is_accepted_and_nothing_beyond(question, tmp_path):
    tried, accepted = perturbed(certified(QUESTIONS[question](), tmp_path / "certificate.json"))
    assert tried >= 4
    assert accepted == 0


def random_question(rng):
    """A curve of a kind that has certificates."""
    noise, rate, copies = rng.uniform(0.5, 3.0), rng.uniform(0.01, 0.9), int(rng.integers(1, 9))
    way = str(rng.choice(["add", "remove", "add_or_remove"]))
    kinds = [
        lambda: mi.GaussianTradeOff(1.0 / noise),
        lambda: mi.LaplaceTradeOff(1.0 / noise),
        lambda: mi.ApproxDPTradeOff(1.0 / noise, 0.1 * rate),
        lambda: mi.dpsgd(noise, rate, neighbours=way),
        lambda: mi.MixtureTradeOff(mi.LaplaceTradeOff(1.0 / noise), rate).inverse(),
        lambda: mi.dpsgd(noise, rate, copies, neighbours=way),
        lambda: mi.compose(mi.MixtureTradeOff(mi.LaplaceTradeOff(1.0 / noise), rate), copies=copies),
    ]
    return kinds[int(rng.choice(len(kinds), p=[0.25, 0.25, 0.15, 0.15, 0.16, 0.02, 0.02]))]()


def no_perturbed_claim_is_accepted(count, folder):
    tried = accepted = 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        at = {
            "delta": 10.0 ** rng.uniform(-6.0, -1.0),
            "epsilon": rng.uniform(0.0, 1.5),
            "fpr": rng.uniform(0.01, 0.9),
        }
        path = mi.certify(random_question(rng), folder / "certificate.json", width=0.1, **at)
        some, wrong = perturbed(json.loads(path.read_text()))
        tried, accepted = tried + some, accepted + wrong
    assert tried > count
    assert accepted == 0


@pytest.mark.evidence
def test_no_perturbed_claim_of_random_questions_is_accepted(tmp_path):
    no_perturbed_claim_is_accepted(300, tmp_path)


@pytest.mark.slow
def test_no_perturbed_claim_of_many_random_questions_is_accepted(tmp_path):
    no_perturbed_claim_is_accepted(10_000, tmp_path)


def test_laws_of_scores_are_products_of_polynomials():
    """Of 3 coins against 2 coins and a sure head, with P(3 heads) = 1/8 and 1/4."""
    coin = ["1/2", "1/2"]
    score = {"kind": "score", "in": [[coin, 2], [["0/1", "1/1"], 1]], "out": [[coin, 3]]}
    claims = [
        {"quantity": "tpr", "at": "1/8", "low": "1/4", "high": "1/4"},
        {"quantity": "advantage", "at": 0, "low": "1/4", "high": "1/4"},
        {"quantity": "tpr", "at": "1/2", "low": "3/4", "high": "3/4"},
    ]
    certificate = {"certificate": "mipsim 1", "question": score, "bits": 128, "claims": claims}
    assert [
        check.proves(ends, claim) for ends, claim in zip(check.computed(certificate), claims, strict=True)
    ] == [True] * 3
    claims[2] |= {"high": "7499/10000"}
    assert not check.proves(check.computed(certificate)[2], claims[2])


@pytest.mark.evidence
def test_rates_of_a_weighted_sum_hold_those_of_a_product_of_polynomials():
    """Of 40 coins with whole weights in 30 records, whose sums have an exact law on a lattice; a law 1% off is outside."""
    rng, n, size = np.random.default_rng(0), 30, 1 << 19
    weights, target = rng.integers(-400, 400, 40), rng.integers(0, 2, 40)
    coins = rng.integers(16, 48, 40) / 64
    out, inside = np.ones(size // 2 + 1, complex), np.ones(size // 2 + 1, complex)
    circle = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    for weight, coin, bit in zip(weights, coins, target, strict=True):
        known = 1.0 - coin + coin * circle**weight
        out, inside = out * known**n, inside * known ** (n - 1) * circle ** (weight * bit)
    laws = [np.roll(np.fft.irfft(each, size), size // 2) for each in (inside, out)]
    thresholds = np.linspace(-30_000, 30_000, 30).round() + 0.5
    coordinates = [[int(w), str(Fraction(p)), int(z)] for w, p, z in zip(weights, coins, target, strict=True)]
    grid = {"thresholds": [x.hex() for x in thresholds], "tilt": "1/4000", "period": 200_000, "blur": 14}
    ctx.prec = 128
    question = {"kind": "weighted", "n": n, "coordinates": coordinates}
    rates = check.Weighted(question, grid).rates[1:-1]
    seen = 0
    for x, pair in zip(thresholds[::-1], rates, strict=True):
        first = math.ceil(x) + size // 2
        for ball, law in zip(pair, laws, strict=True):
            low, high, known = float(ball.lower()), float(ball.upper()), float(law[first:].sum())
            assert low - 1e-12 <= known <= high + 1e-12
            assert high - low <= 0.05 * known + 1e-9
            seen += not low - 1e-12 <= 1.05 * known <= high + 1e-12
    assert seen > 20


def test_sums_that_are_equal_as_floats_differ():
    first = ["399999999999999999999999999999/" + str(10**30), "1/" + str(10**30), "1/2", "1/10"]
    second = ["49999999999999999998/" + str(10**20), "1/" + str(10**20), "1/" + str(10**20), "1/2"]
    score = {"kind": "score", "in": [[first, 1]], "out": [[second, 1]]}
    claim = {"quantity": "tpr", "at": "1/2", "low": "59/100", "high": "61/100"}
    certificate = {"certificate": "mipsim 1", "question": score, "bits": 256, "claims": [claim]}
    (ends,) = check.computed(certificate)
    assert not check.proves(ends, claim)
    assert check.proves(ends, claim | {"low": "9/100", "high": "11/100"})


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({}, {"quantity": "epsilon", "at": "0x1p-1080", "low": "0x1p8", "high": None}),
        ({"in": [["0x1p-1080", 1]]}, {"quantity": "delta", "at": 0, "low": 0, "high": 0}),
        ({}, {"quantity": "delta", "at": 0, "low": "0x0.61e00000000000000001p0", "high": "0x0.61ep0"}),
    ],
)
def test_no_text_of_a_number_is_rounded(change, claim):
    """Numbers that no float has are read in full: what only their floats make true is not accepted."""
    part = {"noise": "gaussian", "in": [[1, 1]], "out": [[0, 1]], "copies": 1} | change
    question = {"kind": "composition", "parts": [part], "neighbours": "remove"}
    certificate = {"certificate": "mipsim 1", "question": question, "bits": 128, "claims": [claim]}
    assert not check.proves(check.computed(certificate)[0], claim)


def test_masses_below_all_floats_are_merged():
    frame = check.Frame(Fraction(1, 1024), [-4000, 4000], 2, Fraction(1, 10**40), above=False)
    least = check.arb(2) ** -1074
    assert len(frame.merged([(2.5 * least, 7.5 * least)])) == 1


STEPS = {
    "certificate": "mipsim 1",
    "question": {
        "kind": "composition",
        "parts": [{"noise": "gaussian", "in": [[0, "1/2"], [1, "1/2"]], "out": [[0, 1]], "copies": 4}],
        "neighbours": "remove",
    },
    "bits": 128,
    "grid": {"step": "1/32", "window": [-200, 200], "parts": 2, "grids": 1, "tail": "1/1000000000"},
    "claims": [{"quantity": "delta", "at": 1, "low": 0, "high": 1}],
}
WRONG = {  # where -> what is put there
    "grid.step": (0, "-1/32", "1/1000000000", 10**6, "nan", 0.03, None),
    "grid.window": ([200, -200], [0, 0], [-(10**9), 10**9], [-200], "all"),
    "grid.parts": (0, 17, 1.5, True),
    "grid.grids": (0, 99, -1),
    "grid.tail": (0, "-1/2", "inf"),
    "grid": (None, [], {"step": 1}),
    "bits": (1, 10**9, 8192, -128, "128"),
    "certificate": ("mipsim 2", 1, None),
    "claims": ([], {}, [{}], None, [{"quantity": "delta", "at": 1, "low": 0}]),
    "claims.0.quantity": ("sigma", None, ["delta"], "at_least"),
    "claims.0.at": ("nan", "inf", -1, 1e400, "1/0", "0x", True, 10**6, "1_0", " 1 / 2 ", "٣"),
    "claims.0.low": ("nan", None, "1/0", 0.0),
    "claims.0.high": ("nan", "-1/0", [], 1.0),
    "claims.0.stated": ([], [0], ["nan", 1], 5),
    "question": (None, [], "composition"),
    "question.kind": ("guesses", "score", "counts", "tail", [], None),
    "question.neighbours": ("both", None, ["add"]),
    "question.parts": ([], None, [{}], [5]),
    "question.parts.0.copies": (0, -4, 10**12, 1.5, "4"),
    "question.parts.0.noise": ("cauchy", None),
    "question.parts.0.in": (
        [],
        [[0, "1/2"]],
        [[0, "-1/2"], [1, "3/2"]],
        [[0, "nan"], [1, 1]],
        [[0]],
        [[-1, 1]],
        [[0, "1/2"], [0, "1/2"]],
    ),
    "question.parts.0.out": ([[2, 1]], [[0, 0], [1, 1]], "none"),
    "question.parts.0": (
        {"dp": [1, 2], "copies": 1},
        {"dp": [-1, 0], "copies": 1},
        {"in": [[["1/2", "1/3"], 1]], "out": [[[1], 1]], "copies": 1},
    ),
}


SUM = {
    "certificate": "mipsim 1",
    "question": {"kind": "weighted", "n": 30, "coordinates": [[k + 7, "1/3", k % 2] for k in range(30)]},
    "bits": 128,
    "grid": {"thresholds": [5000, 6500, 8000], "tilt": "1/350", "period": 17_500, "blur": 4},
    "claims": [{"quantity": "tpr", "at": "1/2", "low": 0, "high": 1}],
}
NEVER = {  # of which the "out" scores are all below the "in" scores
    **SUM,
    "grid": SUM["grid"] | {"blur": 40},
    "question": {
        "kind": "weighted",
        "n": 30,
        "coordinates": [[20_001, 0, 1], *([k + 7, "1/3", 0] for k in range(30))],
    },
    "claims": [{"quantity": "tpr", "at": 0, "low": 0, "high": 0}],
}
WRONG_SUM = {
    "question.n": (1, 0, -3, "30", 10**9),
    "question.coordinates": (
        [],
        [[1, "1/3"]],
        [[1, "4/3", 0]],
        [[1, "1/3", 2]],
        [["nan", "1/3", 0]],
        [[0, "1/3", 0]],
    ),
    "grid.thresholds": ([], [8000, 5000], "all"),
    "grid.tilt": (0, "-1/350", None),
    "grid.period": (0, -5, "inf"),
    "grid.blur": (0, -4, "1/1000000000"),
    "grid": (None, [], {"thresholds": [1]}),
}


def with_wrong(place, value, certificate=STEPS):
    changed: Any = copy.deepcopy(certificate)
    *path, last = (int(key) if key.isdigit() else key for key in place.split("."))
    inner = changed
    for key in path:
        inner = inner[key]
    inner[last] = value
    return changed


@pytest.mark.parametrize(
    ("certificate", "place", "values"),
    [(known, *row) for known, table in ((STEPS, WRONG), (SUM, WRONG_SUM)) for row in table.items()],
)
def test_malformed_certificates_are_never_accepted(certificate, place, values, tmp_path, capsys):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate))
    assert check.main([str(path)]) == 0
    capsys.readouterr()
    for value in values:
        path.write_text(json.dumps(with_wrong(place, value, certificate)))
        assert check.main([str(path)]) == 2, value
        assert capsys.readouterr().out.count("\n") == 1, value


@pytest.mark.evidence
def test_scores_that_never_come_without_the_target_are_not_left_out(tmp_path, capsys):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(NEVER))
    assert check.main([str(path)]) == 1
    assert capsys.readouterr().out.endswith("REJECTED\n")


def test_files_that_hold_no_certificate_are_never_accepted(tmp_path, capsys):
    path = tmp_path / "certificate.json"
    assert check.main([str(path)]) == check.main([]) == 2
    steps = json.dumps(STEPS)
    twice = steps[:-1] + ', "bits": 64}'
    for text in ("", "{", "[" * 10_000, "null", "NaN", '{"certificate": "mipsim 1"}', steps[:-5], twice):
        path.write_text(text)
        assert check.main([str(path)]) == 2, text
    path.write_text(json.dumps(STEPS))
    assert check.main([str(path)]) == 0
    capsys.readouterr()


def test_a_stated_number_that_is_wrong_is_rejected(tmp_path, capsys):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(with_wrong("claims.0.stated", ["99/100", 1])))
    assert check.main([str(path)]) == 1
    assert capsys.readouterr().out.endswith("REJECTED\n")


def test_commands_write_and_check_certificates(tmp_path, capsys):
    path = str(tmp_path / "certificate.json")
    assert main(["account", "--noise-multiplier", "2", "--steps", "16", "--certificate", path]) == 0
    assert main(["check", path]) == 0
    scores = tmp_path / "scores.csv"
    scores.write_text("score,member\n" + "\n".join(f"{RNG.normal() + inside},{inside}" for inside in MEMBER))
    assert (
        main(["audit", str(scores), "--design", "independent", "--runs", "400", "--certificate", path]) == 0
    )
    assert main(["check", path]) == 0
    assert capsys.readouterr().out.count("ACCEPTED") == 2


STATEMENTS = {  # name -> its verdict: of numbers and of curves, formulas, finite laws, compositions
    "field-gaussian": "REFUTED",
    "field-bounded-range": "CONFIRMED",
    "field-best-of-fixed": "REFUTED",
    "izzo-thm-8": "REFUTED",
    "izzo-thm-9": "CONFIRMED",
    "leemann-thm-4.2": "REFUTED",
    "kaissis-lemma-4-largest": "CONFIRMED",
    "kaissis-lemma-8": "REFUTED",
}


def judged(name):
    """Some points of a statement, and the certificate of what decides there; "" where there is none."""
    statement = REGISTER[name]
    lead = [point for point in statement.points if point.setting == "lead"] or statement.points
    outcome = judge(statement, Setting("quick", 0.999, 0, 1e-9), at=lead[:8])
    return outcome, certificate_of(outcome)


def nothing_moved_is_accepted(outcome, text):
    """The certificate is accepted, its numbers decide as its verdict does, and no claim or truth that is moved by 1e-9 is accepted."""
    certificate = json.loads(text)
    ends = check.computed(certificate)
    assert certificate["about"]["verdict"] == str(outcome.verdict)
    assert perturbed(certificate)[1] == 0
    for place, claim in enumerate(certificate["claims"]):
        low, high = (float.fromhex(claim[end]) for end in ("low", "high"))
        if claim["quantity"] == "excess":
            above, below = low, -math.inf if outcome.statement.kind.one_sided else -high
            if outcome.verdict is Verdict.CONFIRMED:
                above, below = high, -math.inf if outcome.statement.kind.one_sided else -low
            decided = max(above, below) - certificate["about"]["tolerance"]
            assert decided > 0.0 if outcome.verdict is Verdict.REFUTED else decided <= 1e-6
        elif place < 2 and 0.0 < high - low < 5e-10 * abs(high):
            moved = copy.deepcopy(certificate)
            case = moved["question"]["cases"][claim["at"]]
            case[claim["quantity"]] = ["*", case[claim["quantity"]], "1000000001/1000000000"]
            assert not check.proves(check.computed(moved)[place], claim)
    return len(ends)


@pytest.mark.parametrize(("name", "verdict"), STATEMENTS.items())
def test_certificates_of_statements_are_accepted_and_no_moved_claim_or_truth(name, verdict, tmp_path):
    outcome, text = judged(name)
    assert str(outcome.verdict) == verdict
    path = tmp_path / "certificate.json"
    path.write_text(text)
    assert check.main([str(path)]) == 0
    nothing_moved_is_accepted(outcome, text)


@pytest.mark.evidence
def test_a_third_of_the_register_has_certificates_and_no_moved_one_is_accepted():
    made = [(outcome, text) for outcome, text in map(judged, REGISTER) if text]
    assert all(nothing_moved_is_accepted(*each) for each in made)
    assert len(made) >= 60


CASE = {"n": 3, "claim": ["*", "n", "1/2"], "truth": ["choose", "n", 1]}
BROKEN = {  # a case that no program may evaluate
    "an unknown name": {"claim": "m"},
    "a later name": {"claim": "p", "p": 1},
    "an unknown operation": {"claim": ["eval", 1]},
    "too many arguments": {"claim": ["sqrt", 1, 2]},
    "no arguments": {"claim": ["max"]},
    "an infinite number": {"claim": ["/", 1, 0]},
    "no number": {"claim": ["log", -1]},
    "a share of a count": {"truth": ["choose", "1/2", 1]},
    "a difference of three": {"claim": ["-", 1, 2, 3]},
    "no degrees": {"truth": ["chi-square", 1, 0]},
    "a negative non-centrality": {"truth": ["chi-square", 3, 2, -5]},
    "a quantile of many degrees": {"truth": ["chi-square^-1", "1/2", str(10**300)]},
    "a quantile next to 1": {"truth": ["chi-square^-1", f"{2**200 - 1}/{2**200}", 3]},
    "a text": {"claim": "1 + 1"},
    "a reserved name": {"excess": 1},
    "no truth": {"truth": None},
    "a list": {"claim": [[1]]},
    "an empty list": {"claim": []},
}


@pytest.mark.parametrize("why", BROKEN)
def test_broken_cases_are_never_accepted(why, tmp_path, capsys):
    claim = {"quantity": "claim", "at": 0, "low": "3/2", "high": "3/2"}
    certificate = {"certificate": "mipsim 1", "bits": 128, "claims": [claim]}
    path = tmp_path / "certificate.json"
    for change, status in ({}, 0), (BROKEN[why], 2):
        question = {"kind": "cases", "cases": [CASE | change]}
        path.write_text(json.dumps(certificate | {"question": question}))
        assert check.main([str(path)]) == status


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("chi-square", (9.5, 4), float(chi2.cdf(9.5, 4))),
        ("chi-square", (1300, 3, 1400), float(ncx2.cdf(1300, 3, 1400))),
        ("chi-square", (40, 30, 0.01), float(ncx2.cdf(40, 30, 0.01))),
        ("chi-square^-1", (0.01, 3, 7), float(ncx2.ppf(0.01, 3, 7))),
        ("Phi^-1", (0.3,), float(norm.ppf(0.3))),
        ("^", (2, 0.5), math.sqrt(2.0)),
    ],
)
def test_operations_have_the_values_of_scipy(name, arguments, value):
    ctx.prec = 128
    result = check.OPERATIONS[name](*(check.ball(Fraction(x)) for x in arguments))
    assert math.isclose(float(result), value, rel_tol=1e-9)
    assert float(result.rad()) < 1e-12


EVEN = mi.Bernoulli([0.5] * 30)


def linear(data, n, target):
    return mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=target), mi.CovarianceScore(data, n)


@pytest.mark.parametrize(
    "question",
    [
        mi.FoldedLaplaceTradeOff(1.0),
        (GAME, GAME),
        (GAME,),
        mi.PiecewiseLinearTradeOff,
        linear(MANY, 30, np.full(40, 0.5)),
        linear(EVEN, 20, np.ones(30)),
        linear(mi.Bernoulli([0.3]), 2, [1.0]),
    ],
)
def test_a_question_without_certificate_is_refused_in_a_sentence(question, tmp_path):
    with pytest.raises(ValueError, match=r"^question "):
        mi.certify(question, tmp_path / "certificate.json")


def test_ends_hold_the_numbers_of_other_programs():
    """Closed forms of a Gaussian and of a Laplace shift."""
    normal, laplace = (
        check.Smooth(
            noise, [(check.Fraction(1), check.Fraction(1))], [(check.Fraction(0), check.Fraction(1))]
        )
        for noise in ("gaussian", "laplace")
    )
    x = check.arb(1.5)
    assert math.isclose(
        float(normal.curve(x)), float(mi.GaussianTradeOff(1.0).delta(math.log(1.5))), rel_tol=1e-12
    )
    assert math.isclose(float(laplace.curve(x)), 1.0 - math.exp((math.log(1.5) - 1.0) / 2.0), rel_tol=1e-12)
