"""Plots a trade-off curve and converts it to data and tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PRINTED_FPRS = (0.001, 0.01, 0.1)
"""At which `print` shows the TPR of an exact or a played curve."""


class DisplayedCurve(ABC):
    """What exact, claimed and played curves have in common for readers: `plot`, `to_dict` and `to_dataframe`."""

    @abstractmethod
    def _columns(self) -> dict[str, np.ndarray]:
        """The curve as columns of the same length."""

    @abstractmethod
    def _facts(self) -> dict[str, Any]:
        """What is to be stated once of the curve: plain numbers and text."""

    @overload
    def plot(
        self, claim: Any = None, *, log: bool | None = None, scale: str | None = None, ax: None = None
    ) -> Figure: ...

    @overload
    def plot(
        self, claim: Any = None, *, log: bool | None = None, scale: str | None = None, ax: Axes
    ) -> Axes: ...

    def plot(
        self, claim: Any = None, *, log: bool | None = None, scale: str | None = None, ax: Axes | None = None
    ) -> Figure | Axes:
        """Draw the curve, with its band if it was played, and a claimed curve dashed; returns the new figure, or `ax`.
        `claim`: a claimed trade-off function, or None; `log`, `scale`, `ax`: as in `mipsim.plot`, which lays any number of curves over
        each other.

        >>> import mipsim as mi
        >>> figure = mi.LaplaceTradeOff(1.0).plot(mi.GaussianTradeOff(1.0))
        >>> [ax.get_xscale() for ax in figure.axes]
        ['linear', 'log']
        """
        from mipsim.bands.drawing import plot, with_claim

        return plot(with_claim(self, claim), log=log, scale=scale, ax=ax)  # pyright: ignore[reportArgumentType]

    def to_dict(self) -> dict[str, Any]:
        """The curve as plain data, for JSON: what it is, and lists of the same length.
        >>> import mipsim as mi
        >>> data = mi.GaussianTradeOff(1.0).to_dict()
        >>> data["curve"], [round(data[name][-2], 6) for name in ("alpha", "beta", "tpr")]
        ('GaussianTradeOff(mu=1.0)', [0.99, 0.00044, 0.99956])
        """
        return {
            **self._facts(),
            **{name: np.asarray(column).tolist() for name, column in self._columns().items()},
        }

    def to_dataframe(self) -> Any:
        """The lists of `to_dict` as a pandas DataFrame, a row for each rate; with the scalars in its `attrs`.
        Raises ModuleNotFoundError if pandas is not installed.
        """
        try:
            import pandas  # pyright: ignore[reportMissingImports]
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "to_dataframe needs pandas, which is not installed; `python3 -m pip install pandas`, or take to_dict()"
            ) from None
        frame = pandas.DataFrame(self._columns())
        frame.attrs = self._facts()  # pyright: ignore[reportAttributeAccessIssue]
        return frame
