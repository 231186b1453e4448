"""Markup in whatever a statement, a file or a curve says of itself: it is read on the page, and does nothing there."""

import base64
import hashlib
import re
from dataclasses import fields, replace
from html.parser import HTMLParser

import numpy as np
import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim.referee import mathml
from mipsim.referee.reporting.audit_page import report_audit
from mipsim.referee.reporting.page import FOLDER, environment, page
from mipsim.referee.result import PointResult
from tests.faults.hostile_files import hidden

G = mi.GaussianTradeOff
HOSTILE = """'"--></code></p></style></script></svg><script>alert(1)</script><img src=x onerror="alert(2)"><a href="javascript:alert(3)">&lt;$x"""
PIECES = [
    "<", ">", "</", "/>", "&", "&lt;", "&#60;", "&#x3c;", "'", '"', "`", "=", "<!--", "-->", "<![CDATA[", "]]>", "<?xml", "\x00", "\x0b",
    "<script>", "</script>", "<style>", "</style>", "<svg onload=x>", "</svg>", "<math>", "</math>", "<mtext>", "<img src=x onerror=x>",
    "</p>", "</section>", "</code>", "</title>", "<iframe srcdoc=x>", "<a href=javascript:x>", "<base href=//x>", "<meta http-equiv=refresh>",
    "$", "$$", "\\text{", "\\mbox{", "\\href{javascript:x}{", "\\class{x}{", "\\style{x:y}{", "\\unicode{x3c}", "{", "}", "\\", "^", "_",
    "\\color{red}{", "\\fbox{", "\\operatorname{", "\\frac", "\\begin{matrix}", "\\end{matrix}", "\\newcommand{\\x}{\\x\\x}", "\\x", "x", " ", "\n",
]  # fmt: skip
"""Of which hostile words are put together."""
TAGS = mathml.ELEMENTS | {
    "a", "b", "blockquote", "body", "br", "cite", "circle", "clippath", "code", "dd", "defs", "details",
    "div", "dl", "dt", "figcaption", "figure", "footer", "g", "h1", "h2", "h3", "head", "header", "html",
    "img", "li", "main", "meta", "p", "path", "pre", "rect", "script", "section", "small", "span", "strong",
    "style", "summary", "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "tspan", "ul",
    "use",
}  # fmt: skip
"""What a page is made of."""
ATTRIBUTES = mathml.ATTRIBUTES | {
    "alt", "aria-label", "aria-labelledby", "charset", "class", "clip-path", "colspan", "content", "d",
    "data-defect", "data-group", "data-key", "data-text", "data-verdict", "dx", "dy", "href", "http-equiv",
    "id", "lang", "name", "role", "scope", "src", "style", "tabindex", "transform", "viewbox", "x",
    "xlink:href", "xmlns", "y",
}  # fmt: skip


class Markup(HTMLParser):
    """The tags of a page with their attributes, its scripts and styles, and its policy."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.links: list[str] = []
        self.policy = self._in = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        result = dict(attrs)
        self.tags.append((tag, tuple(sorted(result))))
        self.links += [str(result[key]) for key in ("href", "xlink:href", "src") if key in result]
        if result.get("http-equiv") == "Content-Security-Policy":
            self.policy = result["content"] or ""
        self._in = tag if tag in self.raw else ""
        if self._in:
            self.raw[tag].append("")

    def handle_endtag(self, tag):
        self._in = ""

    def handle_data(self, data):
        if self._in:
            self.raw[self._in][-1] += data


def harmless(text: str) -> Markup:
    result = Markup(text)
    assert {tag for tag, _ in result.tags} <= TAGS
    assert {name for _, names in result.tags for name in names} <= ATTRIBUTES
    assert all(re.match(r"#|https://|data:image/(png|svg\+xml);base64,", link) for link in result.links)
    return result


def guarded(text: str) -> Markup:
    """A whole page: a policy that names its own script and style by their digests, before anything else that counts."""
    result = harmless(text)
    assert [tag for tag, _ in result.tags[:4]] == ["html", "head", "meta", "meta"]
    rules = dict(rule.strip().split(" ", 1) for rule in result.policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for kind, rule in (("script", "script-src"), ("style", "style-src")):
        digests = [
            f"'sha256-{base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()}'"
            for own in result.raw[kind]
        ]
        assert rules[rule] == (" ".join(digests) or "'none'")
    return result


def worded(words: str) -> rf.Statement:
    """A statement with these words wherever it takes any."""

    def broken(x: float, choice: str) -> float:
        if x > 1.5:
            raise ValueError(words)
        return x

    quote = rf.Quote(words, words)
    return rf.Statement(
        name="worded", says=f"{words} and $\\text{{{words.replace('$', '')}}}$ {words}", source=words, kind=rf.Bound(unit=words),
        domain={"x": rf.Real(0.0, 2.0, meaning=words), "choice": rf.Choice(words, f"other {words}", meaning=words), "reading": rf.Choice(words, f"another {words}"), "fixed": rf.Fixed(words)},
        claimed=lambda: rf.Number(0.5, unit=words), truth=broken,
        points=[rf.Point({"x": 1.0, "choice": words, "reading": words, "fixed": words}, name=words, setting=words)],
        quote=quote, restricted_by=(quote, quote), slip=(quote, quote),
        derivation=f"{words}\n{words} $\\mbox{{{words.replace('$', '')}}}$. (i) {words}",
        second_route=lambda: rf.Replication(1.0, 1.0, 1.0, words, words, claim=0.0), corrects=words, instead=words, formula=f"\\text{{{words.replace('$', '').replace('{', '')}}}", snippet=words, fails=words, restored_by=(words, lambda: True),
    )  # fmt: skip


def all_worded(outcome: rf.Outcome, words: str) -> rf.Outcome:
    """What came of judging with these words wherever it holds any: of routes and details only the code's own are known."""
    report = {item.name: words for item in fields(PointResult) if str(item.type) == "str"}
    return replace(outcome, judged=tuple(replace(single, **report) for single in outcome.judged), how=words)


def test_every_word_of_a_statement_is_tried():
    words = [
        item.name
        for item in fields(rf.Statement)
        if item.init
        and re.search(r"\bstr\b|Quote", str(item.type))
        and not str(item.type).startswith("Mapping[str, Callable")  # names alone
    ]
    built = worded(HOSTILE)
    for name in words:
        if name != "name":  # which is refused below
            assert "<script>" in repr(getattr(built, name)) or callable(getattr(built, name)), name


def test_no_template_takes_markup_from_what_it_is_given():
    """What is trusted is marked where it is made, in Python; see `page`."""
    assert environment().autoescape is True
    assert environment().from_string("{{ words }}").render(words="<b>") == "&lt;b&gt;"
    templates = list(FOLDER.glob("*.html"))
    assert len(templates) > 3
    for item in templates:
        assert not re.search(r"\bsafe\b|autoescape|Markup|\bon\w+=", item.read_text("utf-8")), item.name


@pytest.mark.parametrize("judged", [True, False], ids=["judge", "hunt"])
def test_a_page_with_markup_in_every_word_has_the_elements_of_a_page_without(judged, tmp_path):
    def written(words: str) -> tuple[str, str]:
        statement = worded(words)
        twin = replace(statement, name="twin", corrects="worded", derivation=words)
        result = [
            all_worded(
                rf.judge(item, budget=0) if judged else rf.hunt(item, "64 probes", progress=False), words
            )
            for item in (statement, twin)
        ]
        shown = page(
            result, title=words, lead=words, facts={words: words}, note=words, data=words,
            commands=lambda outcome, point: words, groups=lambda group: words,
            links={words: (words, f"javascript:{words}"), f"{words} at": (words, f"https://{words}")},
        )  # fmt: skip
        guarded(rf.report(result, tmp_path / "report").read_text("utf-8"))
        return shown, "".join(single._repr_html_() for single in result)

    hostile, plain = written(HOSTILE), written("x" * len(HOSTILE))
    assert "alert(2)" in hostile[0]
    assert guarded(hostile[0]).tags == guarded(plain[0]).tags
    assert harmless(hostile[1]).tags == harmless(plain[1]).tags


def test_an_audit_of_a_file_with_markup_in_its_name(tmp_path):
    member = np.tile([0, 1], 300)
    shown = {}
    for name in ("<img src=x onerror=alert(1)>&.csv", "plain.csv"):
        lines = [f"{score},{world}" for score, world in enumerate(member)]
        (tmp_path / name).write_text("\n".join(["score,member", *lines]))
        result = mi.audit(tmp_path / name, design="independent", runs=600, confidence=0.9)
        shown[name] = guarded(report_audit(result, tmp_path / "report").read_text("utf-8")).tags
    hostile, plain = shown.values()
    assert hostile == plain


@pytest.mark.evidence
@pytest.mark.parametrize("long", [False, True])
def test_views_of_a_notebook_hold_what_a_curve_says_as_words(long):
    class Own(G):
        def __repr__(self) -> str:
            return rf"<script>$\foo{{$ \bar$ {HOSTILE}" if long else "<script>$\\foo{$ & $\\bar\x1b$"

    histogram = mi.Histogram(
        np.array([0.5]), np.array([5, 5]), np.array([5, 5]), {"game": HOSTILE, "attack": HOSTILE, "seed": HOSTILE}
    )  # fmt: skip
    member = np.tile([0, 1], 300)
    scores = np.random.default_rng(0).normal(size=600) + member
    audit = mi.audit(scores, member, design="independent", runs=600, claim=Own(1.0), confidence=0.9)
    assert "<img" in audit._repr_html_()
    harmless(audit._repr_html_())
    for shown in (Own(1.0), histogram):
        html = shown._repr_html_()
        assert "&lt;script&gt;" in html
        harmless(html)


@pytest.mark.parametrize(
    "latex",
    [
        r"\href{javascript:alert(1)}{<script>x</script>}", r"\href{https://a.example}{x}", r"\style{background:url(//a.example)}{x}",
        r"\class{note}{x}", r"\color{red;}{x}", r"\color{url(//a)}{x}", "{" * 100_000, "x\x1b[31m", "\0", r"\text", "^", "\ud800",
    ],
)  # fmt: skip
def test_what_is_more_than_a_formula_is_shown_as_it_was_written(latex):
    shown = mathml.to_mathml(latex)
    assert shown.startswith("<code>")
    assert [tag for tag, _ in Markup(shown).tags] == ["code"]
    with pytest.raises(ValueError, match=r"^formula ") as text:
        mathml.converted(latex)
    assert len(str(text.value)) <= 200


@pytest.mark.parametrize(
    "begin", ["", "[x]: https://a.example ", "# ", "- ", "* ", "+ ", "1. ", "12) ", "> ", "```js ", "~~~ ", "\x1b[2J\x9b\u202e", "\udcff"]
)  # fmt: skip
def test_markdown_of_findings_holds_words_and_no_markup(begin):
    """In every word of a refuted statement, without the blocks of code; raw words, the control, are markup. No control characters either."""
    from markdown_it import MarkdownIt

    from verify.report.findings import findings
    from verify.statement import Statement

    hostile = f"{HOSTILE} {begin} ``` $\\text{{<script>alert(4)</script>}}$ [x](javascript:alert(5))"
    statement = Statement(
        name="refuted", says=hostile, source="x", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0, meaning=hostile), "c": rf.Choice(hostile, "b", meaning=hostile)},
        claimed=lambda x: x, truth=lambda x: x + 1.0, formula=f"\\text{{{HOSTILE}}}", derivation=hostile, snippet=hostile,
        not_judged={hostile: hostile}, uses=(hostile,),
        quote=rf.Quote(hostile, hostile), restricted_by=(rf.Quote(hostile, hostile), rf.Quote(begin, "words")),
        slip=(rf.Quote(begin + hostile, "[x] ![x]"), rf.Quote(begin, begin)),
    )  # fmt: skip
    text = findings([rf.judge(statement, progress=False, budget=0)], "quick")

    def tags(markdown: str) -> set[str]:
        return {tag for tag, _ in Markup(MarkdownIt("commonmark").render(markdown)).tags}

    assert {"script", "img"} <= tags(hostile)
    assert not hidden(text)
    assert tags(text) <= {
        "h1",
        "h2",
        "h3",
        "p",
        "em",
        "strong",
        "blockquote",
        "code",
        "pre",
        "details",
        "summary",
        "br",
    }
