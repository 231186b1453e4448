"""The notebooks are stored as a fresh kernel leaves them, and sliders show the library's numbers."""

import importlib
import json
import re
from pathlib import Path
from typing import Any

import jax
import pytest

import mipsim as mi

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.fixture
def nbformat() -> Any:
    """Imported where a notebook is read: it takes seconds."""
    return pytest.importorskip("nbformat", reason="the group `dev` is not here")


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that executes notebooks."""
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("_notebooks")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_opens_with_outputs_of_a_whole_run(path: Path, nbformat: Any) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = notebook.cells
    assert cells[0].source.startswith("# ")
    assert "To try next" in cells[-1].source
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in code[0].outputs), "no picture at the top"
    assert outputs
    assert not {output.output_type for output in outputs} & {"error"}
    assert "widgets" not in notebook.metadata, "its state is of a kernel that has ended"
    assert path.stat().st_size < 250_000
    assert f"\n{path.stem}\n" in (DOCS / "notebooks/index.md").read_text("utf-8")


@pytest.mark.evidence
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_those_of_a_run(path: Path, running: Any, nbformat: Any) -> None:
    stored = nbformat.read(path, as_version=4)
    fresh = running.executed(path)
    for before, now in zip(running.stated(stored), running.stated(fresh), strict=True):
        assert not running.differs(before, now), (before, now)
    pictures = [
        sum(
            "image/png" in output.get("data", {}) for cell in item.cells for output in cell.get("outputs", ())
        )
        for item in (stored, fresh)
    ]
    assert pictures[0] == pictures[1]


def test_other_numbers_and_other_words_are_seen(running: Any) -> None:
    text = "TPR at FPR 0.001: 0.0200741 (proven to 2e-10)\nformula: REFUTED, 1,000 games"
    assert not running.differs(text, text.replace("2e-10", "3e-10"))
    for old, new in (("0.0200741", "0.0202741"), ("REFUTED", "CONFIRMED"), ("1,000", "1,001")):
        assert running.differs(text, text.replace(old, new)), new


def _scope(name: str) -> dict[str, Any]:
    """The names of an interactive notebook after all of its cells."""
    scope: dict[str, Any] = {"__name__": name}
    for cell in json.loads((DOCS / f"notebooks/{name}.ipynb").read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), name, "exec"), scope)
    return scope


@pytest.mark.evidence
def test_a_move_shows_the_exact_curve_and_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a move of a slider costs, without a clock: no compilation, no new figure, and of the false positive rate no new curve."""
    pytest.importorskip("ipywidgets")
    monkeypatch.syspath_prepend(str(DOCS / "notebooks"))
    from jax import monitoring
    from matplotlib.figure import Figure

    scope = _scope("explore_dpsgd")
    done: list[str] = []
    monitoring.register_event_duration_secs_listener(lambda event, *_, **__: done.append(event))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a move draws a figure anew")

    monkeypatch.setattr(Figure, "__init__", refuse)
    monkeypatch.setattr(Figure, "draw", refuse)
    for control in scope["panel"].controls.values():
        first = control.value
        for value in (control.options[0], control.options[-1], first):
            control.value = value
    assert not [event for event in done if "compile" in event]
    curves = scope["answer"].cache_info().misses
    for value in scope["panel"].at.options:
        scope["panel"].at.value = value
    assert scope["answer"].cache_info().misses == curves
    jax.jit(lambda x: x + 1.0)(1.0)
    assert [event for event in done if "compile" in event], "a compilation would be seen"
    for sigma, q, steps, fpr in ((2.0, 0.01, 300, 1e-2), (0.8, 0.05, 100, 1e-3)):
        for name, value in {"sigma": sigma, "q": q, "steps": steps}.items():
            scope["panel"].controls[name].value = value
        scope["panel"].at.value = fpr
        low, high = mi.account(sigma, q, steps, fpr=[fpr]).numbers[f"TPR at FPR {fpr:g}"]
        shown = re.search(r"TPR at FPR [\d.e-]+: ([\d.e-]+)", words := scope["panel"].words.value)
        assert shown is not None
        assert low * (1 - 1e-5) <= float(shown[1]) <= high * (1 + 1e-3), "of the upper bound, 0.1% wide"
        assert re.findall("[A-Z]{7,}", words)[-1] == "REFUTED"
