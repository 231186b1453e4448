"""The program in a report: the second route of a statement at a counterexample, with all that it calls, for an author who trusts no code of this library.

It needs NumPy and SciPy alone: `verify.by_hand` stands in for what the referee's second routes return.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from mipsim.referee import Outcome, Statement, Verdict
from mipsim.referee.outcome import titled_examples
from mipsim.referee.result import PointResult

BY_HAND = "verify.by_hand"
_REPLACED = {"mipsim.referee", "mipsim.referee.replication"}
_OWN = ("mipsim", "sims", "verify")
NOT_ALONE = ("leemann-alg-1-real",)
"""Statements whose second route needs gradients of networks, and so the library."""


def with_program(outcome: Outcome) -> Outcome:
    """An outcome whose statement has the program of the counterexample that a report shows first, if it is refuted."""
    statement = outcome.statement
    if outcome.verdict is not Verdict.REFUTED or statement.corrects:
        return outcome
    program = program_of(statement, titled_examples(outcome)[0][1])
    return replace(outcome, statement=replace(statement, snippet=program))


def program_of(statement: Statement, point: PointResult) -> str:
    """The program; "" where no second route has seen the point.
    `statement`: that is refuted; `point`: a counterexample, judged.
    """
    route, seen = statement.second_route, point.second_route
    ours = getattr(route, "__module__", "").startswith("verify.") and statement.name not in NOT_ALONE
    if not ours or route is None or seen is None or not seen.excludes:
        return ""
    at = {name: point.parameters[name] for name in statement.free}
    asks = statement._asks["second_route"]
    given = ", ".join(f"{name}={value!r}" for name, value in at.items() if asks is None or name in asks)
    methods: set[str] | None = None
    while (collected := _Collected(methods, route, seen.what)).attributes != methods:
        methods = collected.attributes  # methods of classes that nothing calls are left out
    name = collected.name
    measured = ""
    if match := re.fullmatch(r"power at FPR (\S+)", seen.what):
        measured = f"seen = seen.power({match[1]}) if isinstance(seen, Draws) else seen\n"
    elif seen.what.endswith("of an event"):
        measured = "seen = seen.event()\n"
    words = textwrap.fill(f"{statement.source}: {' '.join(statement.says.split())}", 100)
    return (
        f'r"""{words}"""\n\n{collected.text()}\n\n\nseen = {name}({given})\n{measured}'
        f"stated = {seen.claim!r}\n"
        'print(f"{seen.what}: {seen.value:.6g} in [{seen.low:.6g}, {seen.high:.6g}]; the statement says {stated:.6g} ({seen.how}).")\n'
        f"assert {'stated < seen.low' if seen.one_sided else 'not seen.low <= stated <= seen.high'}\n"
    )


@cache
def _module(name: str) -> tuple[list[str], ast.Module, dict[str, ast.stmt]]:
    """(lines, tree, name -> what defines it) of a module."""
    text = inspect.getsource(import_module(name))
    tree, defined = ast.parse(text), dict[str, ast.stmt]()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined[node.name] = node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = [*node.targets] if isinstance(node, ast.Assign) else [node.target]
            defined |= {
                item.id: node for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)
            }
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            defined |= {(item.asname or item.name): node for item in node.names}
    return text.splitlines(), tree, defined


def _run(node: ast.AST, methods: set[str] | None) -> Iterator[ast.AST]:
    """The parts of code that are evaluated when it runs: no annotations, and of a class no other methods than these."""
    yield node
    for field, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            left_out = isinstance(node, ast.ClassDef) and _is_left_out(item, methods)
            if isinstance(item, ast.AST) and field not in ("annotation", "returns") and not left_out:
                yield from _run(item, methods)


def _is_left_out(item: object, methods: set[str] | None) -> bool:
    return (
        methods is not None
        and isinstance(item, ast.FunctionDef)
        and item.name[:2] != "__"
        and item.name not in methods
    )


class _Collected:
    """Code of modules that a function needs, each definition after those that it needs."""

    def __init__(self, methods: set[str] | None, route: Callable[..., Any], what: str) -> None:
        self.imports: set[str] = set()
        self.parts: dict[str, tuple[str, str]] = {}  # name -> (module, text)
        self.left_out: set[str] = set()  # what is of the library: no program that is shown comes to it
        self.methods, self.attributes = methods, {"power" if what.startswith("power") else "event"}
        self.name = self._add_function(route)
        if what.startswith("power"):
            self.add(BY_HAND, "Draws")

    def _add_function(self, route: Callable[..., Any]) -> str:
        """Add a function, and return its name; a nested function or a lambda with the values that it closes over."""
        module, name = route.__module__, route.__name__
        lines, tree, defined = _module(module)
        if name in defined:
            return self.add(module, name)
        code = route.__code__
        for free, cell in zip(code.co_freevars, route.__closure__ or (), strict=True):
            self.parts[free] = module, f"{free} = {cell.cell_contents!r}"
        (node, *_) = (
            item
            for item in ast.walk(tree)
            if isinstance(item, (ast.Lambda, ast.FunctionDef)) and item.lineno == code.co_firstlineno
        )
        self._add_needs(module, node, set(code.co_freevars))
        text = textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
        if isinstance(node, ast.Lambda):
            name, text = "route", f"route = ({ast.get_source_segment(chr(10).join(lines), node)})"
        self.parts[name] = module, text
        return name

    def _add_needs(self, module: str, node: ast.AST, known: set[str]) -> None:
        for item in _run(node, self.methods):
            if isinstance(item, ast.Attribute):
                self.attributes.add(item.attr)
            elif isinstance(item, ast.Name) and item.id not in known and item.id in _module(module)[2]:
                self.add(module, item.id)

    def add(self, module: str, name: str) -> str:
        """Add what a name of a module is, and return the name."""
        module = BY_HAND if module in _REPLACED else module
        lines, _, defined = _module(module)
        if name not in defined:  # a module, or what a package hands on
            self.left_out.add(name)
            return name
        node = defined[name]
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            (alias,) = (item for item in node.names if (item.asname or item.name) == name)
            source = node.module or "" if isinstance(node, ast.ImportFrom) else alias.name
            if source.partition(".")[0] not in _OWN and source != "__future__":
                single = (
                    ast.ImportFrom(source, [alias], 0)
                    if isinstance(node, ast.ImportFrom)
                    else ast.Import([alias])
                )
                self.imports.add(ast.unparse(single))
                return name
            if source in _REPLACED or source.startswith(("verify.", "sims.")):
                return self.add(source, name)
            self.left_out.add(name)
            return name
        if name in self.parts:
            if self.parts[name][0] != module:
                raise ValueError(
                    f"{name} is of {module} and of {self.parts[name][0]}; a program needs a name for each"
                )
            return name
        first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
        self.parts[name] = module, ""
        self._add_needs(module, node, {name})
        del self.parts[name]  # after what it needs
        text = lines[first - 1 : node.end_lineno]
        for item in reversed(node.body if isinstance(node, ast.ClassDef) else []):
            if _is_left_out(item, self.methods):
                start = min([item.lineno, *(single.lineno for single in item.decorator_list)]) - first  # pyright: ignore
                del text[start - 1 : (item.end_lineno or 0) - first + 1]  # with the empty line before
        self.parts[name] = module, "\n".join(text)
        return name

    def text(self) -> str:
        """The code."""
        left = (
            f"# Of the library, and not needed here: {', '.join(sorted(self.left_out))}."
            if self.left_out
            else ""
        )
        head = "\n".join(["from __future__ import annotations", "", *sorted(self.imports), left]).rstrip()
        # Names that are assigned together have the same text.
        return "\n\n\n".join([head, *dict.fromkeys(text for _, text in self.parts.values())])
