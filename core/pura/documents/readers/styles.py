"""Style sheets of a page, to determine which elements are hidden on a screen.

This implements as much of the cascade (CSS Cascading and Inheritance, Level 4) as is needed to
decide whether an element is visible: the properties that can hide text, rules whose selector names
an element by type, classes and identifier, inline declarations, ``!important``, specificity and
order. Rules with other selectors are ignored: text that only such a rule hides is read as visible,
so that nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING: Final = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_DELIMITER: Final = re.compile(r"[{};]")
_COMPOUND: Final = re.compile(r"(?:\*|[a-zA-Z][\w-]*)?(?:[.#][\w-]+)*")
_NAME: Final = re.compile(r"[.#][\w-]+")
_OTHER_MEDIA: Final = re.compile(
    r"(?<!not )\b(?:print|speech|aural|braille|embossed|handheld|projection|tty|tv)\b"
)
# Conditions that a usual wide screen does not meet: upper limits, preferences of the user (dark
# colours, less motion), and devices without a pointer.
_OTHER_SCREENS: Final = re.compile(
    r"\bmax-|<|\bprefers-|orientation\s*:\s*portrait|hover\s*:\s*none|\bnot\s+(?:all|screen)\b"
)
_LENGTH: Final = re.compile(
    r"[+-]?(\d*\.?\d+)(?:e[+-]?\d+)?(px|pt|pc|cm|mm|in|q|rem|vw|vh|vmin|vmax)?"
)
_FONT_SIZE: Final = re.compile(r"(?<![\w.#-])(\d*\.?\d+)(px|pt|pc|cm|mm|in|q|rem|vw|vh)\b")
_RELATIVE_SIZES: Final = ("em", "ex", "ch", "%", "larger", "smaller", "inherit", "unset")
_MAX_SHEET: Final = 1_000_000  # characters of a style sheet that are read
_MAX_RULES: Final = 20_000  # rules of a page that are applied, to limit the time

INITIAL_HIDDEN: Final = "hidden"
"""Attribute for which browsers set ``display: none``; any rule of the page overrides this."""


class Look(NamedTuple):
    """The properties of an element that decide whether its text is visible.

    Attributes:
        cut: ``display: none``, of the element or around it; nothing inside can be visible.
        faded: ``opacity: 0``, of the element or around it. Scripts often fade it in later.
        invisible: ``visibility: hidden``, which inner elements can override.
        sizeless: ``font-size: 0``, which inner elements can override.
    """

    cut: bool = False
    faded: bool = False
    invisible: bool = False
    sizeless: bool = False

    @property
    def shown(self) -> bool:
        """Whether text of the element is visible on a screen."""
        return not any(self)


class _Declared(NamedTuple):
    """A declared value of a property, with the criteria for its precedence."""

    important: bool
    specificity: tuple[int, int, int]
    order: int
    value: str


_Declarations = dict[str, _Declared]


def applies_to_screen(media: str) -> bool:
    """Return whether rules under a media query apply to a wide screen."""
    queries = [query.strip().lower() for query in media.split(",")]
    if not any(queries):
        return True
    return any(
        not _OTHER_MEDIA.search(query) and not _OTHER_SCREENS.search(query)
        for query in queries
        if query
    )


class StyleRules:
    """The rules of a page's style sheets that may hide text."""

    def __init__(self) -> None:
        self._rules: dict[str, dict[tuple[str, frozenset[str]], _Declarations]] = {}
        self._count = 0
        self._order = 0

    def add(self, sheet: str) -> None:
        """Add a style sheet; later rules override earlier ones."""
        for selectors, body in _style_rules(sheet[:_MAX_SHEET]):
            declared = list(_declarations(body))
            if not declared:
                continue
            for selector in selectors.split(","):
                self._add_rule(selector.strip(), declared)

    def _add_rule(self, selector: str, declared: list[tuple[str, str, bool]]) -> None:
        if not selector or not _COMPOUND.fullmatch(selector):
            return
        names = _NAME.findall(selector)
        tag = selector[: len(selector) - sum(map(len, names))].lower().replace("*", "")
        identifiers = sum(name.startswith("#") for name in names)
        specificity = (identifiers, len(names) - identifiers, int(bool(tag)))
        # Stored under the most selective name of the selector.
        key = max(names, key=lambda name: (name.startswith("#"), len(name))) if names else tag
        by_compound = self._rules.setdefault(key, {})
        compound = (tag, frozenset(names))
        if compound not in by_compound:
            if self._count == _MAX_RULES:
                return
            self._count += 1
        merged = by_compound.setdefault(compound, {})
        for name, value, important in declared:
            self._order += 1
            _declare(merged, name, _Declared(important, specificity, self._order, value))

    def look(self, tag: str, attributes: Mapping[str, str | None], around: Look) -> Look:
        """Return the look of an element.

        Args:
            tag: Name of the element in lower case.
            attributes: Attributes of the element.
            around: The look of the enclosing element.
        """
        holding: _Declarations = {}
        if self._rules:
            names = {f".{name}" for name in (attributes.get("class") or "").split()}
            if identifier := attributes.get("id"):
                names.add(f"#{identifier}")
            for key in (*names, tag, ""):
                for (wanted_tag, required_names), declared in self._rules.get(key, {}).items():
                    if wanted_tag in ("", tag) and required_names <= names:
                        for name, candidate in declared.items():
                            _declare(holding, name, candidate)
        if style := attributes.get("style"):
            for number, (name, value, important) in enumerate(_declarations(style)):
                # An inline declaration takes precedence over every selector.
                inline = _Declared(important, (1 << 30, 0, 0), number, value)
                _declare(holding, name, inline)
        values = {name: declaration.value for name, declaration in holding.items()}
        display = values.get("display", "none" if INITIAL_HIDDEN in attributes else "")
        return Look(
            cut=around.cut or display == "none",
            faded=around.faded or _is_zero(values.get("opacity", "")),
            invisible=_invisible(values.get("visibility", ""), around.invisible),
            sizeless=_sizeless(values.get("font-size", ""), around.sizeless),
        )


def _declare(declarations: _Declarations, name: str, declared: _Declared) -> None:
    if name not in declarations or declarations[name][:3] <= declared[:3]:
        declarations[name] = declared


def _style_rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield selectors and declarations of the rules that apply to a wide screen."""
    sheet = _STRING.sub("''", _COMMENT.sub(" ", sheet))
    applying = [True]
    position = 0
    while delimiter := _DELIMITER.search(sheet, position):
        prelude = sheet[position : delimiter.start()].strip()
        position = delimiter.end()
        if delimiter[0] == "}":
            if len(applying) > 1:
                applying.pop()
        elif delimiter[0] == "{" and prelude.startswith("@"):
            name, _, condition = prelude[1:].partition(" ")
            # Frames of animations, fonts and pages name no elements.
            grouping = name.lower() in ("media", "supports", "layer")
            met = name.lower() != "media" or applies_to_screen(condition)
            applying.append(applying[-1] and grouping and met)
        elif delimiter[0] == "{":
            end = sheet.find("}", position)
            end = len(sheet) if end < 0 else end
            if applying[-1]:
                yield prelude, sheet[position:end]
            position = end + 1


def _declarations(body: str) -> Iterator[tuple[str, str, bool]]:
    """Yield name, value and importance of the declarations that can hide or show text."""
    for declaration in body.split(";"):
        name, colon, value = declaration.partition(":")
        name, value = name.strip().lower(), value.strip().lower()
        important = value.endswith("important") and "!" in value
        if important:
            value = value.rpartition("!")[0].strip()
        if not colon or not value:
            continue
        if name in ("display", "visibility", "opacity", "font-size"):
            yield name, value, important
        elif name == "font" and (size := _FONT_SIZE.search(value)):
            yield "font-size", size[0], important


def _is_zero(value: str) -> bool:
    number = _LENGTH.fullmatch(value.removesuffix("%"))
    return number is not None and float(number[1]) == 0


def _invisible(value: str, around: bool) -> bool:
    if value in ("hidden", "collapse"):
        return True
    return around and value not in ("visible", "initial")


def _sizeless(value: str, around: bool) -> bool:
    if _is_zero(value):
        return True
    relative = not value or value.endswith(_RELATIVE_SIZES)
    return around and relative
