"""From a file that matplotlib wrote to an `<svg>` element that can stand in a page beside others."""

import re
from collections.abc import Mapping
from html import escape


def inline(text: str, colours: Mapping[str, str], description: str, name: str) -> str:
    """Return what matplotlib wrote as a small element in the page's colours that clashes with no other.
    `text`: an SVG document by matplotlib; `colours`: CSS variable -> the colour that stands for it in `text`;
    `description`: what a screen reader reads; `name`: prefix of every id.

    >>> file = '<?xml?><svg viewBox="0 0 9 9"><path style="fill: #010203"/></svg>'
    >>> inline(file, {"ink": "#010203"}, "dot", "a").removeprefix('<svg viewBox="0 0 9 9" ')
    'role="img" aria-label="dot" class="plot"><path style="fill: var(--ink)"/></svg>'
    """
    body = text[text.index("<svg") :].strip()
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    # A style element would leak into the whole page, which has the same rule for plots alone.
    body = re.sub(r"<defs>\s*<style.*?</defs>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", body)
    body = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{name}-\1"', body)
    # Tenths of a point are finer than any screen; matplotlib writes millionths.
    # Only inside the tags: the labels between them are numbers too.
    body = re.sub(r"<[^>]+>", lambda tag: _rounded(tag[0]), body)
    body = re.sub(r"font: ([\d.]+px) [^;\"]+", r"font-size: \1", body)
    body = re.sub(r" font-family: [^;\"]+;", "", body)
    body = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", body)
    body = _with_shared_style(body)
    body = _without_empty_groups(body)
    for role, colour in colours.items():
        body = body.replace(colour, f"var(--{role})")
    body = re.sub(r"\s*\n\s*", " ", body)
    opening = re.match(r"<svg[^>]*>", body)
    if opening is None:
        raise RuntimeError("matplotlib wrote no <svg> element")
    box = re.search(r'viewBox="[^"]+"', opening[0])
    # The page gives the width; the box keeps the proportions.
    head = f'<svg {box[0] if box else ""} role="img" aria-label="{escape(description)}" class="plot">'
    return head + body[opening.end() :]


def _rounded(tag: str) -> str:
    return re.sub(r"\d+\.\d{2,}", lambda match: f"{float(match[0]):.1f}", tag)


def _with_shared_style(body: str) -> str:
    """Move the style that a run of markers repeats to the group around them."""
    run = re.compile(r'(?:<use (?:[^>]*?) style="([^"]*)"/>\s*)(?:<use (?:[^>]*?) style="\1"/>\s*)+')

    def shared(match: re.Match[str]) -> str:
        style = f' style="{match[1]}"'
        return f"<g{style}>{match[0].replace(style, '')}</g>"

    return run.sub(shared, body)


def _without_empty_groups(body: str) -> str:
    """Drop the ids that nothing refers to and the groups that hold nothing (ticks without labels)."""
    used = set(re.findall(r"#([\w.-]+)", body))
    body = re.sub(r' id="([^"]+)"', lambda match: match[0] if match[1] in used else "", body)
    while True:
        less = re.sub(r"<g>\s*</g>|<g/>", "", body)
        if less == body:
            return body
        body = less
