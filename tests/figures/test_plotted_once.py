"""A picture is shown once, wherever in a cell it is made: by a real kernel, as Jupyter runs it."""

from importlib.util import find_spec

import pytest

MISSING = [name for name in ("nbclient", "nbformat", "ipykernel") if find_spec(name) is None]
CELLS = (
    "import mipsim as mi\nimport matplotlib.pyplot as plt\n%matplotlib inline",
    "mi.plot(mi.GaussianTradeOff(1.0))",
    "mi.GaussianTradeOff(1.0).plot(log=True)",
    "mi.GaussianTradeOff(1.0)",
    "mi.GaussianTradeOff(1.0).plot();",  # as matplotlib's own are written
    "for mu in (1.0, 2.0):\n    mi.GaussianTradeOff(mu).plot()",
    "figure = mi.GaussianTradeOff(1.0).plot()\nfigure",
    "figure",  # requested once more
    "plt.plot([0, 1]), plt.figure(), plt.plot([1, 0])",  # the control: two open figures, both shown
)


@pytest.mark.evidence
@pytest.mark.skipif(
    bool(MISSING), reason=f"{', '.join(MISSING)} of the extra `notebook` and the group `docs` are not here"
)
def test_a_picture_is_plotted_once(tmp_path):
    import nbformat
    from nbclient import NotebookClient

    new = nbformat.v4
    notebook = new.new_notebook(cells=[new.new_code_cell(source) for source in CELLS])
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [
        sum("image/png" in item.get("data", {}) for item in cell["outputs"]) for cell in notebook["cells"]
    ]
    assert pictures == [0, 1, 1, 0, 1, 2, 1, 1, 2]
    shown = notebook["cells"][3]["outputs"]
    assert [single["output_type"] for single in shown] == ["execute_result"]
    assert "text/html" in shown[0]["data"]
