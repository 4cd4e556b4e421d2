"""The logo of a report: PNG or SVG, bounded, and with nothing in it that leads elsewhere.

A report that is checked is made again with the logo inside it, so a logo may be anybody's.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pura.base.errors import InputError

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_LOGO: Final = 1 << 20
MAX_DOTS: Final = 8_000_000
MAX_SHAPES: Final = 20_000
_MAX_CHUNK: Final = 1 << 16  # of what is no picture: a profile of colours, words
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_SVG: Final = "http://www.w3.org/2000/svg"
_GRADIENTS: Final = frozenset({"linearGradient", "radialGradient"})
_DRAWN: Final = (
    "svg g defs symbol use title desc metadata style a path rect circle ellipse line polyline "
    "polygon text tspan stop clipPath"
)
_ELEMENTS: Final = _GRADIENTS | frozenset(_DRAWN.split())
"""What a logo is drawn with; pictures, filters, patterns, masks and scripts are not among it."""
_URL: Final = re.compile(r"url\(\s*[\"']?\s*([^\"')\s]*)", re.IGNORECASE)


def logo_format(data: bytes) -> str | None:
    """Tell PNG and SVG by their content; None for anything else."""
    if len(data) > MAX_LOGO:
        return None
    if data.startswith(_PNG):
        return "png"
    start = data[:2000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return "svg" if start.startswith((b"<svg", b"<?xml")) and b"<svg" in start else None


def check_logo(data: bytes) -> None:
    """Refuse what no report takes as its logo.

    Raises:
        InputError: It is neither PNG nor SVG, is too large when it is drawn, names something
            outside itself, or has parts that no logo needs.
    """
    match logo_format(data):
        case "png":
            _check_png(data)
        case "svg":
            _check_svg(data)
        case _:
            raise InputError("report.logo", code="report-logo")


def _check_png(data: bytes) -> None:
    if len(data) < 33 or data[12:16] != b"IHDR":
        raise InputError("report.logo", code="report-logo")
    width, height = struct.unpack(">II", data[16:24])
    if width * height > MAX_DOTS:
        raise _too_large()
    at = len(_PNG)
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if size > _MAX_CHUNK and kind != b"IDAT":
            raise _refused(kind.decode("ascii", "replace"))
        at += size + 12


def _check_svg(data: bytes) -> None:
    from lxml import etree

    if b"<!ENTITY" in data:
        raise _refused("ENTITY")
    parser = etree.XMLParser(
        encoding="utf-8",  # as the writer of the PDF reads it, whatever the file says
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        raise InputError("report.logo", code="report-logo") from None
    shapes = list(root.iter(f"{{{_SVG}}}*"))
    if root.tag != f"{{{_SVG}}}svg":
        raise InputError("report.logo", code="report-logo")
    for one in shapes:
        if _name(one) not in _ELEMENTS:
            raise _refused(_name(one))
    _check_references(root, shapes)


def _check_references(root: _Element, shapes: list[_Element]) -> None:
    """Refuse references that lead outside, and those that lead to others, which grow without end.

    Gradients refer to one another in a line, and draw nothing themselves.
    """
    named = {one.get("id", ""): one for one in shapes}
    pointing = {one: list(_references(one)) for one in root.iter()}
    drawn = len(shapes)
    sizes: dict[str, int] = {}
    for one, places in pointing.items():
        if one.tag in (f"{{{_SVG}}}{name}" for name in _GRADIENTS):
            continue
        for place in places:
            target = named.get(place)
            if target is None or _name(target) in _GRADIENTS:
                continue
            if place not in sizes:
                inside = list(target.iter())
                sizes[place] = len(inside)
                for part in inside:
                    if any(
                        name in named and _name(named[name]) not in _GRADIENTS
                        for name in pointing[part]
                    ):
                        raise _refused(f"#{place}")
            drawn += sizes[place]
            if drawn > MAX_SHAPES:
                raise _too_large()
    if drawn > MAX_SHAPES:
        raise _too_large()


def _references(one: _Element) -> Iterator[str]:
    """Yield the names that an element refers to.

    Raises:
        InputError: It refers to something outside the picture.
    """
    texts = [value for name, value in one.attrib.items() if "url" in value.lower()]
    styles = [one.get("style", "")]
    if one.tag == f"{{{_SVG}}}style":
        styles.append("".join(one.itertext()))
        texts += styles
        if "@import" in styles[-1].lower():
            raise _refused("@import")
        if "clip-path" in styles[-1].lower():  # whom it reaches is not followed
            raise _refused("clip-path")
    if any("\\" in words for words in styles):
        raise _refused("\\")
    places = [place for words in texts for place in _URL.findall(words)]
    if one.tag != f"{{{_SVG}}}a":
        places += [value for name, value in one.attrib.items() if name.split("}")[-1] == "href"]
    for place in places:
        if not place.startswith("#"):
            raise _refused(place[:40] or "url")
        yield place[1:]


def _name(one: _Element) -> str:
    return str(one.tag).split("}")[-1]


def _refused(part: str) -> InputError:
    return InputError("report.logo-part", part=part, code="report-logo")


def _too_large() -> InputError:
    return InputError("report.logo-drawn", dots=MAX_DOTS, shapes=MAX_SHAPES, code="report-logo")
