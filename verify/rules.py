"""Rules of form that every statement of the register keeps; each function returns what breaks one, in sentences."""

import re
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter

from mipsim.referee import Statement


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
