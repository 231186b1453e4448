"""The lines behind a verdict: which functions of the project run while a statement is judged, in their order, and which of their lines."""

import pkgutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import mipsim

ROOT = Path(__file__).parents[1]


def traced(act: Callable[[], Any]) -> tuple[Any, list[tuple[str, str, int, str]]]:
    """What a call returns, and what ran: (file, function, how many lines, which), in the order in which the functions were first entered.

    What is defined inside a function counts as the function. Libraries are left out, and modules that are imported.
    """
    for module in pkgutil.walk_packages(mipsim.__path__, "mipsim."):  # else what imports run counts too
        if not module.name.endswith("__main__"):
            import_module(module.name)
    own = tuple(f"{ROOT / name}/" for name in ("mipsim", "verify", "sims"))
    seen: dict[tuple[str, str], tuple[set[int], set[int]]] = {}

    def enter(frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(own) or code.co_name == "<module>":
            return None
        name = code.co_qualname.partition(".<locals>")[0]
        ran, lines = seen.setdefault((code.co_filename, name), (set(), set()))
        lines.update(_lines(code))

        def step(frame: FrameType, event: str, argument: object) -> Any:
            ran.add(frame.f_lineno)
            return step

        return step(frame, event, argument)

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        result = act()
    finally:
        sys.settrace(before)
    return result, [
        (Path(file).relative_to(ROOT).as_posix(), name, len(ran), ranges(ran, lines))
        for (file, name), (ran, lines) in seen.items()
    ]


def _lines(code: CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line)
    for inner in filter(lambda item: isinstance(item, CodeType), code.co_consts):
        yield from _lines(inner)


def ranges(ran: set[int], lines: set[int]) -> str:
    """The lines that ran, in ranges that no other line of code interrupts.
    >>> ranges({3, 4, 7, 12}, {3, 4, 7, 9, 12})
    '3-7, 12'
    """
    groups = groupby(sorted(ran | lines), ran.__contains__)
    runs = [[*run] for inside, run in groups if inside]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
