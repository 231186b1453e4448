"""Sliders that move an exact curve and a claim, for the notebooks beside this file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

import ipywidgets as widgets
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imsave

RATES = np.geomspace(1e-4, 1.0, 60)


class Plot:
    """Both curves on logarithmic axes; a move redraws no more than the lines and the legend.
    `label`: of the claim.
    """

    def __init__(self, label: str) -> None:
        self._canvas = FigureCanvasAgg(Figure(figsize=(4.8, 3.4), dpi=80, layout="tight"))
        self._axes = axes = self._canvas.figure.subplots()
        (self._solid,) = axes.loglog(RATES, RATES, label="exact curve")
        (self._dashed,) = axes.loglog(RATES, RATES, "--", label=label)
        self._marker = axes.axvline(1e-3, color="grey", linewidth=0.6)
        axes.set(
            xlabel="false positive rate", ylabel="true positive rate", xlim=(1e-4, 1.0), ylim=(1e-4, 1.2)
        )
        self._moving = (self._marker, self._solid, self._dashed, axes.legend(loc="lower right"))
        for artist in self._moving:
            artist.set_animated(True)
        self._canvas.draw()
        self._frame = self._canvas.copy_from_bbox(
            self._canvas.figure.bbox
        )  # axes and their labels, which stay

    def png(self, exact: Any, claim: Any, fpr: float) -> bytes:
        """The picture of an exact and of a claimed curve, with a line at a false positive rate."""
        self._solid.set_ydata(exact.tpr_bounds(RATES)[1])
        self._dashed.set_ydata(1.0 - claim.beta(RATES))
        self._marker.set_xdata([fpr, fpr])
        self._canvas.restore_region(self._frame)
        for artist in self._moving:
            self._axes.draw_artist(artist)
        file = BytesIO()
        imsave(file, self._canvas.buffer_rgba(), pil_kwargs={"compress_level": 1})
        return file.getvalue()


def choose(name: str, options: list[Any], value: Any) -> Any:
    """A slider over numbers, buttons over words."""
    if isinstance(value, str):
        return widgets.ToggleButtons(description=name, options=options, value=value)
    return widgets.SelectionSlider(
        description=name, options=options, value=value, continuous_update=False, readout=True
    )


class Panel:
    """Sliders beside the picture and the words that they give; `box` shows them.
    `plot`: the picture; `answer`: settings -> (exact curve, claimed curve, verdict); `summary`: these and the false positive rate -> words;
    `controls`: the name of each setting -> its slider.
    """

    def __init__(
        self,
        plot: Plot,
        answer: Callable[..., tuple[Any, Any, Any]],
        summary: Callable[..., str],
        controls: Mapping[str, Any],
    ) -> None:
        self._plot, self._answer, self._summary = plot, answer, summary
        self.controls, self.at = controls, choose("FPR", [1e-4, 1e-3, 1e-2, 1e-1], 1e-3)
        self.shown, self.words = widgets.Image(format="png"), widgets.HTML()
        everything = (*controls.values(), self.at)
        for control in everything:
            control.observe(self._move, "value")
        self._move()
        self.box = widgets.HBox([widgets.VBox(everything), widgets.VBox([self.shown, self.words])])

    def _move(self, _change: object = None) -> None:
        try:
            seen = self._answer(**{name: control.value for name, control in self.controls.items()})
            self.shown.value = self._plot.png(*seen[:2], self.at.value)
            text = self._summary(*seen, self.at.value)
        except ValueError as error:  # no curve with errors below 1e-3, for instance
            text = str(error)
        self.words.value = f"<pre>{text}</pre>"
