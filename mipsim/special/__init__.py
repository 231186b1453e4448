"""Special functions that SciPy and JAX lack: the non-central chi-square and Student laws in their far tails."""

from typing import TYPE_CHECKING

from mipsim._lazily import lazily

__getattr__, __dir__ = lazily(__name__)

if TYPE_CHECKING:
    from mipsim.special._public import *  # noqa: F403
