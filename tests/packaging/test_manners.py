"""What importing the library may do to its importer, and what every public name says of itself."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
import types
from functools import cached_property
from pathlib import Path

import equinox as eqx

import mipsim
from mipsim._family import AbstractMember

METHODS = (types.FunctionType, property, cached_property, classmethod, staticmethod)
IMPORT = """
import sys, os
import jax
before = dict(jax.config.values)
environment = dict(os.environ)
import mipsim
after = dict(jax.config.values)
changed = {k: (before.get(k), v) for k, v in after.items() if k in before and before[k] != v}
assert not changed, changed
assert dict(os.environ) == environment
heavy = {"matplotlib", "flax", "optax", "rich", "IPython"} & set(sys.modules)
assert not heavy, heavy
above = {"sims", "verify", "figures"} & set(sys.modules)
assert not above, above
"""


def test_importing_changes_nothing_and_prints_nothing(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr == ""


AUDIT = """
import sys
import mipsim as mi
result = mi.audit(list(range(200)), [0, 1] * 100, design="independent", runs=200, claim="mu=1", confidence=0.9)
assert "INCONCLUSIVE" in str(result), result
assert isinstance(result.claim, mi.GaussianTradeOff)
print(sorted({"jax", "equinox", "matplotlib", "rich", "click", "scipy.stats"} & set(sys.modules)))
"""


def test_an_audit_imports_no_jax_and_nothing_else_that_is_slow(root: Path) -> None:
    done = subprocess.run([sys.executable, "-c", AUDIT], cwd=root, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def public_names() -> dict[str, object]:
    named = ((name, getattr(mipsim, name)) for name in mipsim.__all__)
    return {name: value for name, value in named if not isinstance(value, types.ModuleType)}


def test_the_public_names_are_declared() -> None:
    assert list(mipsim.__all__) == sorted(set(mipsim.__all__))
    for family in (mipsim.distributions, mipsim.mechanisms, mipsim.games, mipsim.attacks, mipsim.tradeoff):
        assert set(family.__all__) <= set(mipsim.__all__)
    assert {"Bernoulli", "FixedTarget", "CovarianceScore", "play", "GaussianTradeOff"} <= set(public_names())
    assert callable(mipsim.theory.azize.leakage_score)


def test_every_public_name_explains_itself() -> None:
    """A docstring for each; an example for each that a user can call (an abstract base has none)."""
    silent, unshown = [], []
    for name, value in public_names().items():
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        text = value.__doc__ or ""
        if not text.strip() or text.startswith(
            f"{name}("
        ):  # a dataclass without a docstring is given its signature
            silent.append(name)
        elif not name.startswith("Abstract") and ">>>" not in text:
            unshown.append(name)
    assert silent == []
    assert unshown == []


def test_every_public_method_explains_itself_or_is_explained_where_it_is_declared() -> None:
    silent = [
        f"{module.name}.{kind.__name__}.{name}"
        for module in pkgutil.walk_packages(mipsim.__path__, "mipsim.")
        if not module.name.endswith("__main__")
        for kind in vars(importlib.import_module(module.name)).values()
        if inspect.isclass(kind) and kind.__module__ == module.name and not kind.__name__.startswith("_")
        for name, value in vars(kind).items()
        if not name.startswith("_")
        and isinstance(value, METHODS)
        and not any((vars(base)[name].__doc__ or "").strip() for base in kind.__mro__ if name in vars(base))
    ]
    assert silent == []


def test_abstract_or_final() -> None:
    """A concrete class is never a base: tweaks are wrappers."""
    concrete = {
        v for v in public_names().values() if inspect.isclass(v) and not v.__name__.startswith("Abstract")
    }
    wrong = [
        (c.__name__, base.__name__)
        for c in concrete
        for base in c.__mro__[1:]
        if base in concrete
        or (
            issubclass(base, eqx.Module)
            and base not in (eqx.Module, AbstractMember)  # the root of the families asks for nothing itself
            and not inspect.isabstract(base)
        )
    ]
    assert wrong == []
