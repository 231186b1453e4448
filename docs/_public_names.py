"""The pages of the reference: a page for each public package, with every name that it lists, written before each build."""

import contextlib
import importlib
import re
import sys
from pathlib import Path
from typing import Any

TOP = "mipsim"
"""The page of what `import mipsim` offers and no package lists."""
PACKAGES = (
    TOP,
    "distributions", "mechanisms", "games", "attacks", "engine", "exact", "tradeoff", "bands", "audits", "referee",
    "theory", "nn", "data", "special",
)  # fmt: skip
"""In the order in which a reader meets them."""
FOLDER = Path(__file__).parent / "reference"


def names_of(package: str) -> dict[str, list[str]]:
    """Module -> its public names: those of the package, and of the modules that it lists.

    Examples:
        >>> names_of("exact")
        {'mipsim.exact': ['AbstractScoreLaw', 'ExactTradeOff', 'exact_law']}
    """
    if package == TOP:
        listed = {
            name
            for single in PACKAGES
            if single != TOP
            for names in names_of(single).values()
            for name in names
        }
        top = importlib.import_module(TOP)
        rest = [name for name in top.__all__ if name not in listed and not name.startswith("_")]
        return {TOP: [name for name in rest if callable(getattr(top, name))]}
    module = importlib.import_module(f"mipsim.{package}")
    own, places = [], {}
    for name in module.__all__:
        value = getattr(module, name)
        if type(value).__name__ == "module":
            public = [
                single for single, thing in vars(value).items() if _is_public(single, thing, value.__name__)
            ]
            places[value.__name__] = public
        else:
            own.append(name)
    return ({f"mipsim.{package}": own} if own else {}) | places


def _is_public(name: str, value: Any, module: str) -> bool:
    return not name.startswith("_") and callable(value) and getattr(value, "__module__", "") == module


def escaped(line: str) -> str:
    r"""A line of a docstring with |x| as it is written: reStructuredText takes it for a name otherwise.

    Examples:
        >>> print(escaped("the modulus |z| of `a | b`"))
        the modulus \|z\| of `a | b`
    """
    if line.lstrip().startswith((">>>", "...")):
        return line
    ended = re.sub(r"(?<!`)(`[^`]+`)(?=\w)", r"\1\\ ", line)  # the s of `Point`s
    return re.sub(r"(`[^`]*`)|\|", lambda match: match[1] or r"\|", ended)


def _below(name: str) -> list[str]:
    """What is written below a constant in the module of its package that defines it."""
    from sphinx.errors import PycodeError  # here, since a test reads this file where Sphinx is not installed
    from sphinx.pycode import ModuleAnalyzer

    package, _, own = name.rpartition(".")
    for module in [key for key in sys.modules if key.startswith(f"{package}.")]:
        with contextlib.suppress(PycodeError):  # compiled
            if text := ModuleAnalyzer.for_module(module).find_attr_docs().get(("", own)):
                return text
    raise ValueError(f"{name} has no docstring: write one below its definition")


def escape_all(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Do it to every docstring. That of a constant is not its type's."""
    lines[:] = map(escaped, _below(name) if what == "data" else lines)


def _about(module: str) -> str:
    """The first words of a module."""
    return (importlib.import_module(module).__doc__ or "").strip().partition("\n\n")[0]


def page(package: str, met: list[Any]) -> str:
    """The text of a package's page; `met` gathers what has a place in the index."""
    title = TOP if package == TOP else f"mipsim.{package}"
    parts = [f"# {title}", _about(title)]
    for module, names in names_of(package).items():
        if module != title:
            parts += [f"## {module}", _about(module)]
        for name in names:
            value = getattr(importlib.import_module(module), name)
            kind = (
                "autoclass" if isinstance(value, type) else "autofunction" if callable(value) else "autodata"
            )
            again = (
                "\n   :no-index:" if value in met else ""
            )  # a name that two packages offer is listed in both
            met.append(value)
            parts.append(f"```{{eval-rst}}\n.. {kind}:: {module}.{name}{again}\n```")
    return "\n\n".join(parts) + "\n"


def write(app: Any) -> None:
    """Write all pages, and leave those alone that have not changed."""
    FOLDER.mkdir(exist_ok=True)
    met: list[Any] = []
    for package in PACKAGES:
        file, text = FOLDER / f"{package}.md", page(package, met)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("builder-inited", write)
    app.connect("autodoc-process-docstring", escape_all, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
