"""HTML: the text that a reader of the page sees, in the way browsers copy it.

Block structure and white space follow the ``innerText`` algorithm of the HTML standard. The
parser gives events and builds no tree, so that depth costs nothing. Nothing is loaded or run.
"""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from typing import Final

from pura.documents.encodings import decode
from pura.documents.extraction import Extract
from pura.documents.formats import ReadOptions
from pura.record.transforms import Transform

_DECLARED: Final = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})|"
    rb"<\?xml[^>]{0,100}encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})",
    re.IGNORECASE,
)
_VOID: Final = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    ]
)
_UNSEEN: Final = frozenset(
    [
        "script",
        "style",
        "template",
        "noscript",
        "head",
        "title",
        "svg",
        "math",
        "object",
        "iframe",
        "canvas",
        "audio",
        "video",
        "select",
        "datalist",
        "textarea",
        "button",
        "noframes",
        "noembed",
        "map",
    ]
)
_PARAGRAPH: Final = frozenset(
    [
        "p",
        "blockquote",
        "ul",
        "ol",
        "dl",
        "figure",
        "table",
        "pre",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    ]
)
_BLOCK: Final = frozenset(
    [
        "address",
        "article",
        "aside",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dt",
        "fieldset",
        "figcaption",
        "footer",
        "form",
        "header",
        "hgroup",
        "html",
        "hr",
        "legend",
        "li",
        "main",
        "nav",
        "section",
        "summary",
        "tbody",
        "tfoot",
        "thead",
        "tr",
    ]
)
# Elements whose end may be left out, and what opening ends them.
_ENDS: Final = {
    "li": {"li"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "tr": {"tr", "td", "th"},
    "td": {"td", "th"},
    "th": {"td", "th"},
    "option": {"option"},
    "body": {"head"},
}
_CLOSES_P: Final = _PARAGRAPH | _BLOCK
_BARRIER: Final = frozenset({"table", "ul", "ol", "dl", "td", "th"})
_HIDING: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|font-size\s*:\s*0(?![.\d]*[1-9])|"
    r"opacity\s*:\s*0(?![.\d]*[1-9])",
    re.IGNORECASE,
)
_RULE: Final = re.compile(r"([^{}]{1,300})\{([^{}]{0,2000})\}")
_SIMPLE: Final = re.compile(r"^[.#]?[\w-]{1,100}$")
_SPACE: Final = re.compile(r"[ \t\n\f\r]+")


def read_html(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the visible text of a page."""
    found = _DECLARED.search(data[:4096])
    declared = (found[1] or found[2]).decode("ascii") if found else None
    decoded = decode(data, chosen=options.encoding, declared=declared)
    text, transforms = visible(decoded.text)
    return [Extract.of(decoded, text, transforms=transforms)]


def visible(source: str) -> tuple[str, tuple[Transform, ...]]:
    """Return the text that a page shows, and what was dropped.

    Args:
        source: The page's source.
    """
    page = _Page()
    page.feed(source.removeprefix("\ufeff"))
    page.close()
    transforms = []
    if page.hidden:
        transforms.append(Transform(name="hidden-removed", count=page.hidden))
    return page.text(), tuple(transforms)


class _Kept(str):
    """Text of ``<pre>``, whose spaces mean something."""

    __slots__ = ()


def _trim(pieces: list[str]) -> None:
    """Drop spaces before a line end, outside ``<pre>``."""
    if pieces and not isinstance(pieces[-1], _Kept):
        pieces[-1] = pieces[-1].rstrip(" ")


def _lead(item: str, pieces: list[str], *, fresh: bool) -> str:
    """Return a run without the spaces that collapse with what stands before it."""
    if isinstance(item, _Kept):
        # The first line end after <pre> is not part of it.
        return _Kept(item.removeprefix("\n")) if fresh else item
    if item == "\n":
        _trim(pieces)
        return item
    before = next((p for p in reversed(pieces) if p), "\n")
    return item.lstrip(" ") if fresh or before.endswith((" ", "\n", "\t")) else item


class _Page(HTMLParser):
    """Collects text runs and required line breaks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.hidden = 0
        self._open: list[tuple[str, bool]] = []  # tag, and whether it is the root of a hidden part
        self._counts: Counter[str] = Counter()
        self._unseen = 0
        self._pre = 0
        self._out: list[str | int] = []  # text, or how many line breaks are required here
        self._rules: set[str] = set()
        self._style = False
        self._cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element; ends the ones that may not contain it."""
        self._imply_ends(tag)
        if tag == "br" and not self._unseen:
            self._out.append("\n")
        if tag == "hr":
            self._break(1)
        if tag in _VOID:
            return
        hides = tag in _UNSEEN or self._is_hidden(tag, dict(attrs))
        self._style = tag == "style"
        self._open.append((tag, hides))
        self._counts[tag] += 1
        if hides:
            # The head's own children are no findings.
            self.hidden += not self._unseen and tag not in ("head", "title")
            self._unseen += 1
        self._pre += tag == "pre"
        self._edge(tag)
        if tag in ("td", "th") and not self._unseen:
            if self._cell:
                self._out.append("\t")
            self._cell = True

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Treat ``<p/>`` as browsers do: the slash means nothing."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those inside it that were left open."""
        if tag == "br":
            self.handle_starttag("br", [])
        if not self._counts[tag]:
            return
        while self._open:
            if self._pop() == tag:
                return

    def handle_data(self, data: str) -> None:
        """Keep visible text; learn from style sheets which simple selectors hide."""
        if self._style:
            self._learn(data)
        elif not self._unseen:
            if self._pre:
                self._out.append(_Kept(data))
            else:
                self._out.append(_SPACE.sub(" ", data))

    def text(self) -> str:
        """Return the text with collapsed spaces and the line breaks that blocks require."""
        pieces: list[str] = []
        breaks = 0
        for item in self._out:
            if isinstance(item, int):
                breaks = max(breaks, item)
            elif breaks and item.strip(" ") == "":
                continue
            else:
                if breaks and pieces:
                    _trim(pieces)
                    there = 2 if pieces[-1].endswith("\n\n") else pieces[-1].endswith("\n")
                    pieces.append("\n" * max(0, breaks - there))
                pieces.append(_lead(item, pieces, fresh=breaks > 0))
                breaks = 0
        return "".join(pieces).strip("\n").rstrip(" ")

    def _edge(self, tag: str) -> None:
        if tag in _PARAGRAPH:
            self._break(2)
        elif tag in _BLOCK:
            self._break(1)
        if tag == "tr":
            self._cell = False

    def _break(self, count: int) -> None:
        if not self._unseen:
            self._out.append(count)

    def _pop(self) -> str:
        tag, hides = self._open.pop()
        self._counts[tag] -= 1
        self._unseen -= hides
        self._pre -= tag == "pre"
        self._style = False
        self._edge(tag)
        return tag

    def _imply_ends(self, tag: str) -> None:
        if tag in _CLOSES_P and self._open and self._open[-1][0] == "p":
            self._pop()
        ends = _ENDS.get(tag)
        # A few levels are enough: phrasing elements between an item and its successor.
        for depth in range(1, min(8, len(self._open)) + 1) if ends else ():
            inner = self._open[-depth][0]
            if inner in (ends or ()):
                for _ in range(depth):
                    self._pop()
                # A row also ends the cell's row.
                if tag == "tr" and inner in ("td", "th"):
                    self._imply_ends(tag)
                return
            if inner in _BARRIER:
                return

    def _is_hidden(self, tag: str, attrs: dict[str, str | None]) -> bool:
        if "hidden" in attrs or (attrs.get("aria-hidden") or "").lower() == "true":
            return True
        if _HIDING.search(attrs.get("style") or ""):
            return True
        if not self._rules:
            return False
        names = {tag, f"#{attrs.get('id') or ''}"}
        names |= {f".{name}" for name in (attrs.get("class") or "").split()}
        return bool(self._rules & names)

    def _learn(self, sheet: str) -> None:
        for selectors, body in _RULE.findall(sheet[:200_000]):
            if _HIDING.search(body):
                for selector in selectors.split(","):
                    if _SIMPLE.match(selector.strip()):
                        self._rules.add(selector.strip())
