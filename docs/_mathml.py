"""Formulas as MathML, which every browser draws by itself: nothing is loaded from anywhere."""

from typing import Any

from docutils import nodes

from mipsim.referee.mathml import converted


def inline(writer: Any, node: Any) -> None:
    """Write a formula within a line."""
    writer.body.append(converted(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: Any) -> None:
    """Write a formula on lines of its own."""
    writer.body.append(f"<p>{converted(node.astext(), block=True)}</p>")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
