"""Execute the notebooks and store their outputs: `python docs/_notebooks.py [NAME ...]`, all of them if none is given."""

import os
import re
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
QUIET = "from mipsim import _progress; _progress.ProgressLine._display = lambda *a: None"
"""A progress line says how fast a machine is, which is no result."""


def executed(path: Path) -> Any:
    """The notebook after all cells have run in a fresh kernel; without what depends on the time, the machine or a running widget.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell raises.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=300,
        store_widget_state=False,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    # A backend that the environment names would keep pictures out of the cells.
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    with client.setup_kernel(env=environment):
        assert client.kc is not None
        client.kc.execute(QUIET, silent=True)
        code = [(place, cell) for place, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        for number, (place, cell) in enumerate(code, 1):
            client.execute_cell(cell, place)
            cell.execution_count = number
            cell.outputs = [output for output in cell.outputs if not _is_live(output)]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def _is_live(output: Any) -> bool:
    """Whether the output is a widget, which is empty without its kernel."""
    return "application/vnd.jupyter.widget-view+json" in output.get("data", {})


def stated(notebook: Any) -> list[str]:
    """What each code cell prints or returns as text."""
    return [
        "".join(
            "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
            for output in cell.outputs
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def differs(first: str, second: str, relative: float = 1e-4, absolute: float = 1e-7) -> bool:
    """Whether two texts have different words, or numbers that differ by more than rounding on another processor can explain.

    Examples:
        >>> differs("gap 0.12345 probits", "gap 0.12346 probits"), differs("gap 0.1234", "gap 0.1235")
        (False, True)
    """
    if NUMBER.sub("#", first).split() != NUMBER.sub("#", second).split():
        return True
    numbers = ([float(word.replace(",", "")) for word in NUMBER.findall(text)] for text in (first, second))
    return any(abs(a - b) > absolute + relative * max(abs(a), abs(b)) for a, b in zip(*numbers, strict=True))


def main() -> None:
    """Store the outputs of the named notebooks."""
    import nbformat

    for path in [FOLDER / f"{name}.ipynb" for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(executed(path), path)
        print(path)


if __name__ == "__main__":
    main()
