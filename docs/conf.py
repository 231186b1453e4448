"""The documentation's build: `python -m sphinx -W --keep-going docs docs/_build`. No network is used."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

import mipsim  # noqa: E402

project = "mipsim"
release = version = mipsim.__version__
copyright = "the mipsim authors"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "_mathml",
    "_properties",
    "_public_names",
]
exclude_patterns = ["_build", "jupyter_execute", "paper"]
html_theme = "furo"
html_title = "mipsim"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
# Pages are executed each time: their output is that of this version. A test executes the notebooks and compares their stored outputs.
nb_execution_mode = "force"
nb_execution_excludepatterns = ["notebooks/*"]
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
# Findings open with headings of their own level; statements are named in them as they are.
# Fields of dataclasses share names such as alpha: what they refer to is in their own class.
suppress_warnings = ["myst.header", "ref.python"]
default_role = "code"


def _with_findings(app, name, source):
    """Add to the page of findings what the last run of `python -m verify` wrote, if there was a run."""
    written = ROOT / "results/verify/FINDINGS.md"
    if name == "findings-in-full" and written.is_file():
        source[0] += "\n" + written.read_text("utf-8").partition("\n")[2]


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", _with_findings)
