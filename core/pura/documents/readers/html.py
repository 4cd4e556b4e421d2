"""HTML: the visible text of a page, as browsers copy it.

Block structure and white space follow the ``innerText`` algorithm of the HTML standard. The
parser emits events and builds no tree, so that deep nesting needs no memory. Nothing is loaded or
run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from html.parser import HTMLParser
from itertools import accumulate
from typing import Final

from pura.documents.encodings import DecodedText, decode
from pura.documents.extraction import ALTERNATIVE, Extract
from pura.documents.formats import ReadOptions
from pura.documents.readers.packages import metadata
from pura.documents.readers.quotes import announces
from pura.documents.readers.styles import Look, StyleRules, applies_to_screen
from pura.record.left_out import LeftOut, LeftOutKind
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
_WITHOUT_WORDS: Final = frozenset(["head", "title", "script", "style"])
"""Elements whose characters are never shown as text of the page."""
_FALLBACKS: Final = frozenset(
    [
        "template",
        "svg",
        "math",
        "object",
        "iframe",
        "canvas",
        "audio",
        "video",
        "noframes",
        "noembed",
        "map",
    ]
)
"""Elements with fallback text for content that cannot be shown, or with text of a drawing."""
_FIELDS: Final = frozenset(["select", "datalist", "button"])
"""Elements of forms."""
_HEAD: Final = frozenset(
    ["title", "meta", "link", "style", "script", "base", "noscript", "template"]
)
"""Elements that are allowed in the head; any other element begins the body."""
_QUOTING_CLASSES: Final = frozenset(
    ["gmail_quote", "gmail_quote_container", "yahoo_quoted", "protonmail_quote", "moz-cite-prefix"]
)
_QUOTING_REST: Final = frozenset(["divrplyfwdmsg", "appendonsend", "x_divrplyfwdmsg"])
"""Identifiers of the element with which Outlook begins the answered message, which extends to the
end of the page."""
_MOST_PIECES: Final = 200  # runs of text that are searched for the line before a quotation
_MAX_FRAMES: Final = 4  # levels of pages inside pages (``srcdoc``); deeper ones are left out
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
# Start tags that end an open element, for elements whose end tag may be omitted.
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
_SPACE: Final = re.compile(r"[ \t\n\f\r]+")


HIDDEN_PART: Final = "hidden text"
FIELDS_PART: Final = "form fields"


def read_html(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the visible text of a page, and its hidden text as a separate part."""
    declaration = _DECLARED.search(file_bytes[:4096])
    declared = (declaration[1] or declaration[2]).decode("ascii") if declaration else None
    decoded = decode(file_bytes, choice=options.encoding, declared=declared)
    page = read_page(decoded.text)
    main = Extract.of(
        decoded,
        page.text,
        transforms=page.transforms,
        left_out=page.left_out,
        quotations=page.quotations,
    )
    return [main, *page.extracts_apart(decoded), *metadata([page.title])]


@dataclass(frozen=True, kw_only=True)
class PageText:
    """The texts of a page, by where they are shown.

    Attributes:
        text: Visible text.
        quoted: Quoted messages, if the page is the body of a mail.
        hidden: Text that is hidden, or that may be shown later.
        fields: Text of buttons and selection lists.
        title: Title of the page.
        transforms: Transforms of the text.
        left_out: Content that was not read.
        quotations: Stretches of the text that the page marks as quotations.
    """

    text: str
    quoted: str
    hidden: str
    fields: str
    title: str
    transforms: tuple[Transform, ...]
    left_out: tuple[LeftOut, ...]
    quotations: tuple[tuple[int, int], ...] = ()

    def extracts_apart(self, decoded: DecodedText, prefix: str = "") -> list[Extract]:
        """Return hidden text and form fields as parts whose names begin with ``prefix``."""
        hidden_parts = (
            (HIDDEN_PART, LeftOutKind.HIDDEN_TEXT, self.hidden),
            (FIELDS_PART, LeftOutKind.FORM_FIELD, self.fields),
        )
        return [
            Extract.of(decoded, text, f"{prefix}{part}", role=ALTERNATIVE, kind=kind)
            for part, kind, text in hidden_parts
            if text.strip()
        ]

    def entries_apart(self) -> tuple[LeftOut, ...]:
        """Return hidden text and form fields as entries of left-out content."""
        hidden_texts = (
            (LeftOutKind.HIDDEN_TEXT, self.hidden),
            (LeftOutKind.FORM_FIELD, self.fields),
        )
        entries = [LeftOut.of_text(kind, text) for kind, text in hidden_texts if text.strip()]
        return (*self.left_out, *entries)


def read_page(source: str, *, mail: bool = False) -> PageText:
    """Return the words of a page.

    Args:
        source: The page's source.
        mail: The page is the body of a mail; the answered message is returned separately.
    """
    page = _PageParser(mail=mail)
    page.feed(source.removeprefix("\ufeff"))
    page.close()
    page.finish()
    transforms: tuple[Transform, ...] = ()
    if page.hidden:
        transforms = (Transform(name="hidden-removed", count=page.hidden),)
    text, quotations = page.flows[_SHOWN].laid_out()
    return PageText(
        text=text,
        quotations=quotations,
        quoted=page.flows[_QUOTED].text(),
        hidden=page.flows[_HIDDEN].text(),
        fields=page.flows[_FORM].text(),
        title=page.flows[_TITLE].text(),
        transforms=transforms,
        left_out=(LeftOut(kind=LeftOutKind.UNREADABLE, words=None),) if page.too_deep else (),
    )


class _Preformatted(str):
    """Text of ``<pre>``, whose spaces are significant."""

    __slots__ = ()


def _trim(pieces: list[str]) -> None:
    """Drop spaces before a line end, outside ``<pre>``."""
    if pieces and not isinstance(pieces[-1], _Preformatted):
        pieces[-1] = pieces[-1].rstrip(" ")


def _lead(run: str, pieces: list[str], *, fresh: bool) -> str:
    """Return a run without leading spaces that collapse with the text before it."""
    if isinstance(run, _Preformatted):
        # The first line end after <pre> is not part of it.
        return _Preformatted(run.removeprefix("\n")) if fresh else run
    if run == "\n":
        _trim(pieces)
        return run
    before = next((p for p in reversed(pieces) if p), "\n")
    return run.lstrip(" ") if fresh or before.endswith((" ", "\n", "\t")) else run


_SHOWN: Final = "shown"
_QUOTED: Final = "quoted"
_HIDDEN: Final = "hidden"
_FORM: Final = "form"
_TITLE: Final = "title"


class _Edge(Enum):
    """Beginning or end of a quotation element."""

    BEGIN = auto()
    END = auto()


class _Flow:
    """Text runs in reading order, and the line breaks that blocks require between them."""

    def __init__(self) -> None:
        # Text, how many line breaks are required here, or an edge of a quotation.
        self._items: list[str | int | _Edge] = []

    def add(self, run: str) -> None:
        """Append a run of text."""
        self._items.append(run)

    def require_break(self, count: int) -> None:
        """Require this many line breaks before the next text."""
        if not self._items or self._items[-1] != count:
            self._items.append(count)

    def mark_edge(self, edge: _Edge) -> None:
        """Record that a quotation begins or ends here."""
        self._items.append(edge)

    def last_line(self) -> str:
        """Return the last non-empty line so far, of at most :data:`_MOST_PIECES` runs."""
        pieces: list[str] = []
        for run in reversed(self._items):
            if isinstance(run, _Edge):
                continue
            is_break = isinstance(run, int) or run == "\n"
            if is_break and "".join(pieces).strip():
                break
            if not is_break:
                pieces.append(str(run))
            if len(pieces) > _MOST_PIECES:
                break
        return "".join(reversed(pieces)).strip()

    def text(self) -> str:
        """Return the text with collapsed spaces and the line breaks that blocks require."""
        return self.laid_out()[0]

    def laid_out(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the text and the stretches of its quotations."""
        pieces: list[str] = []
        edges: list[tuple[int, _Edge]] = []
        breaks = 0
        for run in self._items:
            if isinstance(run, _Edge):
                edges.append((len(pieces), run))
            elif isinstance(run, int):
                breaks = max(breaks, run)
            elif breaks and run.strip(" ") == "":
                continue
            else:
                if breaks and pieces:
                    _trim(pieces)
                    existing_breaks = (
                        2 if pieces[-1].endswith("\n\n") else pieces[-1].endswith("\n")
                    )
                    pieces.append("\n" * max(0, breaks - existing_breaks))
                pieces.append(_lead(run, pieces, fresh=breaks > 0))
                breaks = 0
        joined = "".join(pieces)
        text = joined.strip("\n").rstrip(" ")
        cut = len(joined) - len(joined.lstrip("\n"))
        ends = [0, *accumulate(map(len, pieces))]
        stretches: list[tuple[int, int]] = []
        opened: list[int] = []
        for piece_index, edge in edges:
            offset = min(max(0, ends[piece_index] - cut), len(text))
            if edge is _Edge.BEGIN:
                opened.append(offset)
            elif opened and (begin := opened.pop()) < offset and not opened:  # the outermost one
                stretches.append((begin, offset))
        return text, tuple(stretches)


@dataclass(frozen=True, kw_only=True)
class _Element:
    """An open element.

    Attributes:
        tag: Its name.
        look: Visibility of its text.
        flow: Name of the flow that collects its text; empty if it has none.
    """

    tag: str
    look: Look
    flow: str


_ROOT: Final = _Element(tag="", look=Look(), flow=_SHOWN)


class _PageParser(HTMLParser):
    """Collects the texts of a page in flows, by where they are shown.

    Args:
        mail: See :func:`read_page`.
        frames: Number of pages around this one.
    """

    def __init__(self, *, mail: bool = False, frames: int = 0) -> None:
        super().__init__(convert_charrefs=True)
        self.flows = {name: _Flow() for name in (_SHOWN, _QUOTED, _HIDDEN, _FORM, _TITLE)}
        self.hidden = 0
        self.too_deep = False
        self._mail = mail
        self._frames = frames
        self._quoting_rest = False
        self._open: list[_Element] = []
        self._counts: Counter[str] = Counter()
        self._pre = 0
        self._rules = StyleRules()
        self._sheet: list[str] | None = None
        self._cell = False

    @property
    def _inner(self) -> _Element:
        return self._open[-1] if self._open else _ROOT

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element; ends the ones that may not contain it."""
        self._imply_ends(tag)
        if self._inner.tag == "head" and tag not in _HEAD:
            self._pop()
        around, attributes = self._inner, dict(attrs)
        if tag == "br":
            self._add("\n")
        if tag == "hr":
            self._break(1, around.look)
        if tag == "input":
            self._take_field(attributes)
        if tag in _VOID:
            return
        element = self._element(tag, attributes, around)
        if tag == "style" and applies_to_screen(attributes.get("media") or ""):
            self._sheet = []
        hides = element.flow != around.flow and element.flow in ("", _HIDDEN, _FORM)
        self.hidden += hides and tag not in ("head", "title")
        self._open.append(element)
        self._counts[tag] += 1
        self._pre += tag in ("pre", "textarea")
        self._edge(tag, element.look)
        if tag == "blockquote" and element.flow == _SHOWN:
            self.flows[_SHOWN].mark_edge(_Edge.BEGIN)
        if tag in ("td", "th") and element.flow:
            if self._cell:
                self._add("\t")
            self._cell = True
        if tag == "iframe" and (source := attributes.get("srcdoc")):
            self._take_frame(source, around)

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
        """Collect text and style sheets."""
        if self._sheet is not None:
            self._sheet.append(data)
        else:
            self._add(_Preformatted(data) if self._pre else _SPACE.sub(" ", data))

    def finish(self) -> None:
        """Close all open elements; a browser also applies a style sheet without an end."""
        while self._open:
            self._pop()

    def _element(
        self, tag: str, attributes: Mapping[str, str | None], around: _Element
    ) -> _Element:
        style = self._rules.look(tag, attributes, around.look)
        if tag in _FALLBACKS and not (tag == "template" and "shadowrootmode" in attributes):
            style = style._replace(cut=True)
        self._quoting_rest |= self._mail and (attributes.get("id") or "").lower() in _QUOTING_REST
        if tag == "title" and around.tag not in _FALLBACKS:
            flow = _TITLE
        elif tag in _WITHOUT_WORDS or not around.flow:
            flow = ""
        elif not style.shown:
            flow = _HIDDEN
        elif tag in _FIELDS or around.flow == _FORM:
            flow = _FORM
        elif self._quoting_rest or around.flow == _QUOTED or self._quotes(tag, attributes):
            flow = _QUOTED
        else:
            flow = _SHOWN
        return _Element(tag=tag, look=style, flow=flow)

    def _quotes(self, tag: str, attributes: Mapping[str, str | None]) -> bool:
        """Return whether an element of a mail contains the message that the mail answers."""
        if not self._mail:
            return False
        if tag == "blockquote":
            is_cited = "cite" in attributes or (attributes.get("type") or "").lower() == "cite"
            return is_cited or announces(self.flows[_SHOWN].last_line())
        return not _QUOTING_CLASSES.isdisjoint((attributes.get("class") or "").lower().split())

    def _add(self, run: str) -> None:
        flow = self._inner.flow
        if self._quoting_rest and flow == _SHOWN:
            flow = _QUOTED
        if flow:
            self.flows[flow].add(run)

    def _take_field(self, attributes: Mapping[str, str | None]) -> None:
        """Collect the value of a single-line input field."""
        kind = (attributes.get("type") or "text").lower()
        typed = attributes.get("value")
        if typed and self._inner.flow and kind in ("text", "search", "button", "submit", "reset"):
            self.flows[_FORM].require_break(1)
            self.flows[_FORM].add(_SPACE.sub(" ", typed))
            self.flows[_FORM].require_break(1)

    def _take_frame(self, source: str, around: _Element) -> None:
        """Insert the page of a ``srcdoc`` attribute at the position of its frame."""
        if self._frames == _MAX_FRAMES:
            self.too_deep = True
            return
        page = _PageParser(mail=self._mail, frames=self._frames + 1)
        page.feed(source)
        page.close()
        page.finish()
        self.too_deep |= page.too_deep
        self.hidden += page.hidden
        for name, flow in page.flows.items():
            if text := flow.text():
                target = self.flows[around.flow if name == _SHOWN and around.flow else name]
                target.require_break(1)
                target.add(_Preformatted(text))
                target.require_break(1)

    def _edge(self, tag: str, style: Look) -> None:
        if tag in _PARAGRAPH:
            self._break(2, style)
        elif tag in _BLOCK or tag == "textarea":
            self._break(1, style)
        elif tag in _FIELDS or tag == "option":
            self.flows[_FORM].require_break(1)
        if tag == "tr":
            self._cell = False

    def _break(self, count: int, style: Look) -> None:
        for name, flow in self.flows.items():
            if name == _HIDDEN or not style.cut:
                flow.require_break(count)

    def _pop(self) -> str:
        element = self._open.pop()
        tag = element.tag
        self._counts[tag] -= 1
        self._pre -= tag in ("pre", "textarea")
        if tag == "style" and self._sheet is not None:
            self._rules.add("".join(self._sheet))
            self._sheet = None
        if tag == "blockquote" and element.flow == _SHOWN:
            self.flows[_SHOWN].mark_edge(_Edge.END)
        self._edge(tag, element.look)
        return tag

    def _imply_ends(self, tag: str) -> None:
        if tag in _CLOSES_P and self._inner.tag == "p":
            self._pop()
        ends = _ENDS.get(tag)
        # A few levels are enough: phrasing elements between an item and its successor.
        for depth in range(1, min(8, len(self._open)) + 1) if ends else ():
            inner = self._open[-depth].tag
            if inner in (ends or ()):
                for _ in range(depth):
                    self._pop()
                # A row also ends the cell's row.
                if tag == "tr" and inner in ("td", "th"):
                    self._imply_ends(tag)
                return
            if inner in _BARRIER:
                return
