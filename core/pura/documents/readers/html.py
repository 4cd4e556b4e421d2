"""HTML: the text that a reader of the page sees, in the way browsers copy it.

Block structure and white space follow the ``innerText`` algorithm of the HTML standard. The
parser gives events and builds no tree, so that depth costs nothing. Nothing is loaded or run.
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
"""Elements whose characters are not words for a reader of the page."""
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
"""Elements whose words are seen where something else cannot be, or belong to a drawing."""
_FIELDS: Final = frozenset(["select", "datalist", "button"])
"""Elements whose words are those of a form."""
_HEAD: Final = frozenset(
    ["title", "meta", "link", "style", "script", "base", "noscript", "template"]
)
"""Elements that may stand in the head; any other one begins the body."""
_QUOTING_CLASSES: Final = frozenset(
    ["gmail_quote", "gmail_quote_container", "yahoo_quoted", "protonmail_quote", "moz-cite-prefix"]
)
_QUOTING_REST: Final = frozenset(["divrplyfwdmsg", "appendonsend", "x_divrplyfwdmsg"])
"""Identifiers by which Outlook marks where the message that is answered begins; it goes on to the
end of the page."""
_MOST_PIECES: Final = 200  # runs of text that are looked through for the line before a quotation
_MAX_FRAMES: Final = 4  # pages inside pages (``srcdoc``); what lies deeper is said to be left out
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
_SPACE: Final = re.compile(r"[ \t\n\f\r]+")


HIDDEN_PART: Final = "hidden text"
FIELDS_PART: Final = "form fields"


def read_html(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the visible text of a page, and what the page hides as a part of its own."""
    found = _DECLARED.search(data[:4096])
    declared = (found[1] or found[2]).decode("ascii") if found else None
    decoded = decode(data, chosen=options.encoding, declared=declared)
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
    """The words of a page, by where a reader meets them.

    Attributes:
        text: What the page shows.
        quoted: The messages that it answers, where the page is that of a mail.
        hidden: What it does not show, or what it may show later.
        fields: Words of buttons and lists of choices.
        title: What browsers show above the page.
        transforms: What was done to the text.
        left_out: What was not read at all.
        quotations: Stretches of the text that the page calls quotations.
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
        """Return the words beside the shown text as parts whose names begin with ``prefix``."""
        apart = (
            (HIDDEN_PART, LeftOutKind.HIDDEN_TEXT, self.hidden),
            (FIELDS_PART, LeftOutKind.FORM_FIELD, self.fields),
        )
        return [
            Extract.of(decoded, text, f"{prefix}{part}", role=ALTERNATIVE, kind=kind)
            for part, kind, text in apart
            if text.strip()
        ]

    def entries_apart(self) -> tuple[LeftOut, ...]:
        """Return the same as entries that no part takes."""
        apart = ((LeftOutKind.HIDDEN_TEXT, self.hidden), (LeftOutKind.FORM_FIELD, self.fields))
        entries = [LeftOut.of_text(kind, text) for kind, text in apart if text.strip()]
        return (*self.left_out, *entries)


def read_page(source: str, *, mail: bool = False) -> PageText:
    """Return the words of a page.

    Args:
        source: The page's source.
        mail: It is the body of a mail, in which the message that it answers is kept apart.
    """
    page = _Page(mail=mail)
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


_SHOWN: Final = "shown"
_QUOTED: Final = "quoted"
_HIDDEN: Final = "hidden"
_FORM: Final = "form"
_TITLE: Final = "title"


class _Edge(Enum):
    """Where an element for quotations begins or ends."""

    BEGIN = auto()
    END = auto()


class _Flow:
    """Text runs in reading order, and the line breaks that blocks require between them."""

    def __init__(self) -> None:
        # Text, how many line breaks are required here, or an edge of a quotation.
        self._items: list[str | int | _Edge] = []

    def add(self, item: str) -> None:
        """Take a run of text."""
        self._items.append(item)

    def require_break(self, count: int) -> None:
        """Require line breaks where text goes on."""
        if not self._items or self._items[-1] != count:
            self._items.append(count)

    def mark_edge(self, edge: _Edge) -> None:
        """Note that a quotation begins or ends here."""
        self._items.append(edge)

    def last_line(self) -> str:
        """Return the last line of text so far that is not empty, at most so much as matters."""
        pieces: list[str] = []
        for item in reversed(self._items):
            if isinstance(item, _Edge):
                continue
            is_break = isinstance(item, int) or item == "\n"
            if is_break and "".join(pieces).strip():
                break
            if not is_break:
                pieces.append(str(item))
            if len(pieces) > _MOST_PIECES:
                break
        return "".join(reversed(pieces)).strip()

    def text(self) -> str:
        """Return the text with collapsed spaces and the line breaks that blocks require."""
        return self.laid_out()[0]

    def laid_out(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the text, and where quotations stand in it."""
        pieces: list[str] = []
        edges: list[tuple[int, _Edge]] = []
        breaks = 0
        for item in self._items:
            if isinstance(item, _Edge):
                edges.append((len(pieces), item))
            elif isinstance(item, int):
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
        whole = "".join(pieces)
        text = whole.strip("\n").rstrip(" ")
        cut = len(whole) - len(whole.lstrip("\n"))
        ends = [0, *accumulate(map(len, pieces))]
        stretches: list[tuple[int, int]] = []
        opened: list[int] = []
        for place, edge in edges:
            at = min(max(0, ends[place] - cut), len(text))
            if edge is _Edge.BEGIN:
                opened.append(at)
            elif opened and (begin := opened.pop()) < at and not opened:  # the outermost one
                stretches.append((begin, at))
        return text, tuple(stretches)


@dataclass(frozen=True, kw_only=True)
class _Element:
    """An open element.

    Attributes:
        tag: Its name.
        look: Whether its text is shown.
        flow: Where its words go; empty where it has none.
    """

    tag: str
    look: Look
    flow: str


_ROOT: Final = _Element(tag="", look=Look(), flow=_SHOWN)


class _Page(HTMLParser):
    """Collects the words of a page by where a reader meets them.

    Args:
        mail: See :func:`read_page`.
        frames: In so many pages this one stands.
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
        """Keep words; collect style sheets."""
        if self._sheet is not None:
            self._sheet.append(data)
        else:
            self._add(_Kept(data) if self._pre else _SPACE.sub(" ", data))

    def finish(self) -> None:
        """Take what a style sheet without an end says, as a browser does."""
        while self._open:
            self._pop()

    def _element(
        self, tag: str, attributes: Mapping[str, str | None], around: _Element
    ) -> _Element:
        look = self._rules.look(tag, attributes, around.look)
        if tag in _FALLBACKS and not (tag == "template" and "shadowrootmode" in attributes):
            look = look._replace(cut=True)
        self._quoting_rest |= self._mail and (attributes.get("id") or "").lower() in _QUOTING_REST
        if tag == "title" and around.tag not in _FALLBACKS:
            flow = _TITLE
        elif tag in _WITHOUT_WORDS or not around.flow:
            flow = ""
        elif not look.shown:
            flow = _HIDDEN
        elif tag in _FIELDS or around.flow == _FORM:
            flow = _FORM
        elif self._quoting_rest or around.flow == _QUOTED or self._quotes(tag, attributes):
            flow = _QUOTED
        else:
            flow = _SHOWN
        return _Element(tag=tag, look=look, flow=flow)

    def _quotes(self, tag: str, attributes: Mapping[str, str | None]) -> bool:
        """Whether an element of a mail holds the message that the mail answers."""
        if not self._mail:
            return False
        if tag == "blockquote":
            is_cited = "cite" in attributes or (attributes.get("type") or "").lower() == "cite"
            return is_cited or announces(self.flows[_SHOWN].last_line())
        return not _QUOTING_CLASSES.isdisjoint((attributes.get("class") or "").lower().split())

    def _add(self, item: str) -> None:
        flow = self._inner.flow
        if self._quoting_rest and flow == _SHOWN:
            flow = _QUOTED
        if flow:
            self.flows[flow].add(item)

    def _take_field(self, attributes: Mapping[str, str | None]) -> None:
        """Take what was typed into a field of one line."""
        kind = (attributes.get("type") or "text").lower()
        value = attributes.get("value")
        if value and self._inner.flow and kind in ("text", "search", "button", "submit", "reset"):
            self.flows[_FORM].require_break(1)
            self.flows[_FORM].add(_SPACE.sub(" ", value))
            self.flows[_FORM].require_break(1)

    def _take_frame(self, source: str, around: _Element) -> None:
        """Take a page that stands in an attribute, where its frame stands."""
        if self._frames == _MAX_FRAMES:
            self.too_deep = True
            return
        page = _Page(mail=self._mail, frames=self._frames + 1)
        page.feed(source)
        page.close()
        page.finish()
        self.too_deep |= page.too_deep
        self.hidden += page.hidden
        for name, flow in page.flows.items():
            if text := flow.text():
                there = self.flows[around.flow if name == _SHOWN and around.flow else name]
                there.require_break(1)
                there.add(_Kept(text))
                there.require_break(1)

    def _edge(self, tag: str, look: Look) -> None:
        if tag in _PARAGRAPH:
            self._break(2, look)
        elif tag in _BLOCK or tag == "textarea":
            self._break(1, look)
        elif tag in _FIELDS or tag == "option":
            self.flows[_FORM].require_break(1)
        if tag == "tr":
            self._cell = False

    def _break(self, count: int, look: Look) -> None:
        for name, flow in self.flows.items():
            if name == _HIDDEN or not look.cut:
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
