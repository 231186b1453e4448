"""Colours that a panel draws in the same line style stay apart in grey print and for colour-blind readers."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from figures import azize_fig6, kaissis_fig1, kaissis_fig3, leemann_fig1, leemann_models, pages, style

LIGHTNESS, DISTANCE = 10.0, 14.0
"""Least differences in CIELAB: of L* in grey, and Euclidean for each reader. Two colours 2.3 apart are just distinguishable side by side."""

GROUPS = {
    "targets": (style.EASY, style.MEDIUM, style.HARD),
    "ordered": style.ORDERED,
    "worlds": (style.OUT, style.INSIDE),
    "reference points": azize_fig6.COLOURS,
    "sizes": leemann_fig1.COLOURS,
    "models": leemann_models.COLOURS,
    "dimensions": (kaissis_fig1.RELAXED, style.MEDIUM),
    "games": (kaissis_fig3.FORTH, kaissis_fig3.BACK),
    "bounds": (style.INK, kaissis_fig3.BOUND, style.FAINT),
}
READERS = {
    "trichromat": np.eye(3),
    "protanope": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranope": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanope": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
"""On linear RGB, at severity 1. Source: Machado, Oliveira & Fernandes (2009), table 1."""
_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str, reader: np.ndarray) -> np.ndarray:
    """L*, a*, b* of an sRGB colour as a reader sees it."""
    plain = np.array(to_rgb(colour))
    linear = np.where(plain <= 0.04045, plain / 12.92, ((plain + 0.055) / 1.055) ** 2.4)
    xyz = _TO_XYZ @ np.clip(reader @ linear, 0.0, 1.0) / _TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def too_near(colours: Sequence[str]) -> list[tuple[str, str, str]]:
    """(first colour, second colour, who confuses them)."""
    result = []
    for first, second in combinations(colours, 2):
        gaps = {name: lab(first, reader) - lab(second, reader) for name, reader in READERS.items()}
        result += [(first, second, name) for name, gap in gaps.items() if np.linalg.norm(gap) < DISTANCE]
        if abs(gaps["trichromat"][0]) < LIGHTNESS:
            result.append((first, second, "grey print"))
    return result


@pytest.mark.parametrize("name", GROUPS)
def test_colours_of_a_panel_stay_apart(name: str) -> None:
    assert not too_near(GROUPS[name])


@pytest.mark.parametrize(
    ("figure", "group"),
    [("azize_fig2", "targets"), ("azize_fig6", "reference points"), ("leemann_fig1", "sizes")],
)
def test_a_stored_picture_keeps_the_colours_of_thin_lines(figure: str, group: str) -> None:
    """Few colours make a small file; two curves that share a colour in it could not be distinguished."""
    seen = np.unique(
        np.asarray(Image.open(pages.STORED / f"{figure}.png").convert("RGB")).reshape(-1, 3), axis=0
    )
    off = [np.linalg.norm(seen - 255 * np.array(to_rgb(colour)), axis=1).min() for colour in GROUPS[group]]
    assert max(off) < 15


@pytest.mark.parametrize(
    ("colours", "reader"),
    [
        (("#9B2A7A", "#5B2A86"), "grey print"),
        (("#74B6C8", "#D830AD"), "deuteranope"),
        (("#8C472D", "#D04D51"), "protanope"),
        (("#06D08E", "#15F0DD"), "tritanope"),
    ],
)
def test_colours_that_a_reader_confuses_are_seen(colours: tuple[str, str], reader: str) -> None:
    """Each pair is a few per cent nearer than allowed, for a single reader."""
    assert [who for *_, who in too_near(colours)] == [reader]


def test_lightness_and_distance_are_those_of_cielab() -> None:
    assert lab("#FFFFFF", READERS["trichromat"]) == pytest.approx([100.0, 0.0, 0.0], abs=0.1)
    assert lab("#FF0000", READERS["trichromat"]) == pytest.approx([53.24, 80.09, 67.20], abs=0.1)
