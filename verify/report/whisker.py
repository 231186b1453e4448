"""A gap with its interval against the tolerance, as a picture the size of a word."""

import math

from verify.claim import RegimeResult

WIDTH, HEIGHT = 132, 18
REACH = 2.5  # the picture ends at this many tolerances on either side of zero


def whisker(result: RegimeResult) -> str:
    """Draw the interval on an axis whose shaded middle is +- tolerance; what lies outside ends in an arrow.

    Args:
        result: the regime; where its tolerance is zero or not finite nothing is drawn.

    Returns:
        An `<svg>` element, or "" where there is nothing to draw.

    Examples:
        >>> from verify.claim import Verdict
        >>> regime = RegimeResult({}, Verdict.CONFIRMED, 10, 0.01, (0.0, 0.02), 0.02, 0.01, tolerance=0.05)
        >>> whisker(regime).startswith("<svg")
        True
    """
    low, high = result.interval
    tolerance = result.tolerance or 0.0
    if not 0 < tolerance < math.inf or math.isnan(result.gap) or math.isnan(low) or math.isnan(high):
        return ""
    reach = REACH * tolerance

    def place(value: float) -> float:
        inside = min(max(value, -reach), reach)
        return round(WIDTH / 2 + inside / reach * (WIDTH / 2 - 5), 1)

    middle = HEIGHT / 2
    parts = [
        f'<rect x="{place(-tolerance)}" y="1" width="{place(tolerance) - place(-tolerance):.1f}" '
        f'height="{HEIGHT - 2}" class="tolerance"/>',
        f'<line x1="{place(0)}" x2="{place(0)}" y1="1" y2="{HEIGHT - 1}" class="zero"/>',
        f'<line x1="{place(low)}" x2="{place(high)}" y1="{middle}" y2="{middle}" class="interval"/>',
    ]
    for end in (low, high):
        x = place(end)
        if abs(end) > reach:
            # The arrow points off the picture, on whichever side the end of the interval lies.
            back = x - 4 if end > 0 else x + 4
            parts.append(f'<path d="M{back},{middle - 4}L{x},{middle}L{back},{middle + 4}" class="end"/>')
        else:
            parts.append(f'<path d="M{x},{middle - 4}V{middle + 4}" class="end"/>')
    if abs(result.gap) <= reach:
        parts.append(f'<circle cx="{place(result.gap)}" cy="{middle}" r="3" class="gap"/>')
    kind = result.verdict.lower()
    head = f'<svg class="whisker {kind}" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">'
    return f"{head}{''.join(parts)}</svg>"
