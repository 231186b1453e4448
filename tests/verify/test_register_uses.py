"""What a statement rests on is named, and judged as it is printed."""

from dataclasses import replace

from mipsim import referee as rf
from verify.register import REGISTER
from verify.rules import broken_uses, contradicted


def numbers(name: str, factor: float, **more) -> rf.Statement:
    """A statement that x is at most `factor` x."""
    return rf.Statement(
        name=name, says="x is small", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0)},
        claimed=lambda x: factor * x, truth=lambda x: x, points=[{"x": 0.5}], **more,
    )  # fmt: skip


def planted(*statements: rf.Statement) -> list[str]:
    return broken_uses({item.name: item for item in statements})


HALF = numbers("half", 0.5)
WHOLE = HALF.corrected(claimed=lambda x: x, derivation="x is x.")


def test_the_register_uses_statements_as_they_are_printed():
    assert broken_uses(REGISTER) == []


def test_a_confirmed_statement_may_not_use_a_refuted_statement():
    stands = numbers("stands", 1.0, uses=("half",))
    assert str(rf.judge(stands, budget=0).verdict) == "CONFIRMED"
    (message,) = planted(HALF, WHOLE, stands)
    assert "stands uses half, which is refuted as printed" in message
    assert planted(HALF, WHOLE, replace(stands, uses=(WHOLE.name,))) == []
    # Judged as printed it is refuted, and has a correction.
    as_printed = numbers("as-printed", 0.5, uses=("half",))
    assert planted(HALF, WHOLE, as_printed, as_printed.corrected(claimed=lambda x: x)) == []


def test_why_a_defect_does_not_matter_is_a_function_that_is_called():
    safe = numbers("safe", 1.0, uses=("half",), unreached={"half": lambda x: x < 0.6})
    assert planted(HALF, WHOLE, safe) == []
    (message,) = planted(HALF, WHOLE, replace(safe, unreached={"half": lambda x: x < 0.4}))
    assert "whose defect reaches it at {'x': 0.5}" in message


def test_a_correction_uses_no_refuted_statement():
    other = numbers("other", 0.5)
    (message,) = planted(HALF, WHOLE, other, other.corrected(claimed=lambda x: x, uses=("half",)))
    assert "other-corrected corrects a statement and uses half" in message


def test_what_words_name_is_used_and_there_and_in_no_circle():
    (message,) = planted(HALF, numbers("says-so", 1.0, derivation="By half-corrected."), WHOLE)
    assert "says-so names half-corrected and does not use it" in message
    (message,) = planted(numbers("lost", 1.0, uses=("nowhere",)))
    assert "lost uses nowhere" in message
    (message,) = planted(numbers("a", 1.0, uses=("b",)), numbers("b", 1.0, uses=("a",)))
    assert "use each other" in message


def test_corollary_5_1_of_leemann_is_judged_with_the_printed_k():
    """With the centred K alone it would stand, and break the rule."""
    assert "leemann-cor-5.1" in contradicted(REGISTER)
    centred = replace(
        REGISTER["leemann-cor-5.1-corrected"], name="leemann-cor-5.1", corrects="", uses=("leemann-thm-5.1",)
    )
    others = {name: item for name, item in REGISTER.items() if not name.startswith("leemann-cor-5.1")}
    assert any(
        "leemann-cor-5.1 uses leemann-thm-5.1" in message
        for message in broken_uses(others | {centred.name: centred})
    )
