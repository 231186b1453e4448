"""A small register with a statement of each verdict, a statement whose functions fail, and texts that must be escaped."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import mipsim as mi
from mipsim import referee as rf
from verify.statement import Statement

NASTY = "<script>alert(\"x\")</script> & 'quoted' <b>bold</b>"


def known(x: float, law: str) -> rf.Number:
    """A number that is open at the far end: the law is known badly there."""
    return rf.Number(x, error=0.5 if x > 0.9 else 0.0, detail=NASTY, route="exact law")


def failing(x: float, law: str) -> float:
    raise RuntimeError(f"counts are truncated {NASTY}")


def statement(name: str, truth=known, claimed=lambda x: 1.0, **more) -> Statement:
    given = {
        "says": f"For every x: power -> Φ(z + √m*), {NASTY}",
        "source": "theorem 1",
        "kind": rf.Bound(unit="power"),
        "domain": {"x": rf.Real(0.0, 0.8), "law": rf.Choice("Bernoulli", NASTY)},
        "points": ({"x": 0.5, "law": NASTY},),
    }
    return Statement(name=name, truth=truth, claimed=claimed, **(given | more))


def registered(*statements: Statement) -> dict[str, Statement]:
    return {item.name: item for item in statements}


TRUE = statement("azize-true")
FALSE = statement(
    "azize-false",
    claimed=lambda x: 0.6,
    domain={"x": rf.Real(0.0, 0.8), "law": rf.Choice("Bernoulli", NASTY)},
    points=(
        rf.Point({"x": 0.1, "law": "Bernoulli"}, name="holds"),
        rf.Point({"x": 0.75, "law": NASTY}, name="breaks"),
    ),
    quote=rf.Quote(f"It holds {NASTY}.", "p. 4"),
    not_judged={NASTY: "its tags are of no matter"},
    second_route=lambda x: rf.Replication(x, x, x, "x", "by hand"),
)
CORRECTED = FALSE.corrected(
    says="For x at most 0.6.", domain={"x": rf.Real(0.0, 0.6)}, derivation=f"Because {NASTY}"
)
OPEN = statement("izzo-open", domain={"x": rf.Real(0.91, 1.0), "law": rf.Fixed("Bernoulli")}, points=())
CURVE = statement(
    "izzo-curve",
    kind=rf.Equality(),
    domain={"mu": rf.Real(0.5, 2.0)},
    points=({"mu": 1.0},),
    claimed=lambda mu: mi.GaussianTradeOff(mu),
    truth=lambda mu: mi.GaussianTradeOff(mu * (1.0 + 0.001 * np.sin(mu))),
)
BROKEN = statement("kaissis-broken", truth=failing)


@pytest.fixture
def make() -> Callable[..., Statement]:
    return statement


@pytest.fixture(scope="session")
def sound() -> Mapping[str, Statement]:
    """Statements that can all be judged."""
    return registered(TRUE, FALSE, CORRECTED, OPEN, CURVE)


@pytest.fixture(scope="session")
def broken(sound: Mapping[str, Statement]) -> Mapping[str, Statement]:
    """The sound statements after a statement whose functions fail."""
    return registered(BROKEN, *sound.values())
