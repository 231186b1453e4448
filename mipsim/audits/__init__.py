"""Audits of scores that any attack has made: lower bounds on what leaks, and promised guarantees held against them."""

from typing import TYPE_CHECKING

from mipsim._lazily import lazily

__getattr__, __dir__ = lazily(__name__)

if TYPE_CHECKING:
    from mipsim.audits._public import *  # noqa: F403
