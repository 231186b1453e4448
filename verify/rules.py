"""Rules of form that every statement of the register keeps; each function returns what breaks one, in sentences."""

import re
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter

from mipsim.referee import Quote, Statement
from verify.register import paper_of
from verify.sentences import whole


def root_of(statement: Statement) -> str:
    """The printed statement that a statement is or corrects."""
    return statement.corrects or statement.name


def contradicted(register: Mapping[str, Statement]) -> set[str]:
    """The statements that are refuted as printed, as far as the register knows without judging: those that are corrected.

    Examples:
        >>> contradicted({})
        set()
    """
    return {item.corrects for item in register.values() if item.corrects}


def broken_uses(register: Mapping[str, Statement]) -> list[str]:
    """What is wrong with the statements that others rest on.

    A statement uses statements of the register, in no circle, among them all that its words or its derivation name. Where a
    used statement is refuted as printed, a correction may not use it; a printed statement is refuted too, or its `unreached`
    holds at each of its points.

    Args:
        register: name -> statement.

    Examples:
        >>> broken_uses({})
        []
    """
    refuted, result = contradicted(register), []
    for item in register.values():
        for name in item.uses:
            if name not in register or name == item.name:
                result.append(f"{item.name} uses {name}, which is no other statement of the register")
            elif name in refuted:
                result += _unmet(item, name, refuted)
        for name in sorted(_named(item, register) - {*item.uses}):
            result.append(f"{item.name} names {name} and does not use it")
    try:
        TopologicalSorter({item.name: item.uses for item in register.values()}).prepare()
    except CycleError as error:
        result.append(f"these use each other: {', '.join(error.args[1])}")
    return result


def _unmet(item: Statement, name: str, refuted: Collection[str]) -> list[str]:
    if item.corrects:
        return [f"{item.name} corrects a statement and uses {name}, which is refuted as printed"]
    if name not in item.unreached:
        wanted = f"{item.name} uses {name}, which is refuted as printed: it is judged with it as printed"
        return (
            []
            if item.name in refuted
            else [f"{wanted}, or says in `unreached` why the defect does not matter"]
        )
    return [
        f"{item.name} uses {name}, whose defect reaches it at {dict(point.at)}"
        for point in item.points
        if not item.call(name, point.at)
    ]


def _named(item: Statement, register: Mapping[str, Statement]) -> set[str]:
    """The statements that words and derivation name, but for its own and those of the same correction."""
    found = set(re.findall(r"[a-z]+-[\w.-]*[\w]", f"{item.says} {item.derivation}"))
    return {name for name in found & set(register) if root_of(register[name]) != root_of(item)}


def broken_quotes(register: Mapping[str, Statement], texts: Mapping[str, str]) -> list[str]:
    """What is wrong with the quotations: each is one or more whole sentences of its paper, and says what it leaves to whom.

    Args:
        register: name -> statement.
        texts: first word of the names of a paper's statements -> its text; quotations of other papers are not looked at.

    Examples:
        >>> broken_quotes({}, {})
        []
    """
    result = [line for item in register.values() for line in _unjudged(item, register)]
    seen: set[tuple[str, Quote]] = set()
    for item in register.values():
        paper = paper_of(item.name)
        if item.quote is None or paper not in texts:
            continue
        for quote in (item.quote, *(item.slip or ()), *item.restricted_by):
            if (paper, quote) not in seen and (why := whole(texts[paper], quote.text)):
                result.append(f"a quotation of {item.name} {why}")
            seen.add((paper, quote))
    return result


def _unjudged(item: Statement, register: Mapping[str, Statement]) -> list[str]:
    result = []
    for words, reason in item.not_judged.items():
        judges = reason.removeprefix("by ").split(", ") if reason.startswith("by ") else []
        for name in judges:
            other = register.get(name)
            if other is None or other.corrects or other.quote is None or words not in other.quote.text:
                result.append(f"{item.name} leaves {words!r} to {name}, which quotes no such words")
            elif words in other.not_judged:
                result.append(f"{item.name} and {name} leave {words!r} to others")
        if not judges and len(reason) < 20:
            result.append(f"{item.name} does not judge {words!r} and gives no reason: {reason!r}")
    return result
