"""Word packages made by hand, for what writers on PyPI cannot make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.core.documents.test_hostile_corpus import archived

OPC = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    f'xmlns:r="{OFFICE}" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
)
MAIN_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part beside the body, to which the body has the relation ``rN``, N counted from one.

    Attributes:
        name: Its name below ``word/``.
        relation: The last word of the relation's type.
        content: Its XML, or its bytes.
        content_type: What the package calls it.
    """

    name: str
    relation: str
    content: str | bytes
    content_type: str = "application/xml"


def story(root: str, content: str) -> str:
    """Return the XML of a part of a Word document."""
    return f"<w:{root} {NAMESPACES}>{content}</w:{root}>"


def paragraph(text: str, properties: str = "") -> str:
    """Return a paragraph; ``properties`` are those of its run."""
    return (
        f'<w:p><w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'
    )


def word_package(body: str, parts: Sequence[Part] = (), **more: str | bytes) -> bytes:
    """Return a Word document with a body, parts that it refers to, and further entries."""
    relations = "".join(
        f'<Relationship Id="r{number}" Type="{OFFICE}/{part.relation}" Target="{part.name}"/>'
        for number, part in enumerate(parts, 1)
    )
    types = "".join(
        f'<Override PartName="/word/{part.name}" ContentType="{part.content_type}"/>'
        for part in parts
    )
    return archived(
        {
            "[Content_Types].xml": f'<Types xmlns="{OPC}/content-types"><Override PartName='
            f'"/word/document.xml" ContentType="{MAIN_TYPE}"/>{types}</Types>',
            "_rels/.rels": f'<Relationships xmlns="{OPC}/relationships"><Relationship Id="r" '
            f'Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
            f'<Relationship Id="p" Type="{OPC}/relationships/metadata/core-properties" '
            'Target="docProps/core.xml"/></Relationships>',
            "word/document.xml": story("document", f"<w:body>{body}</w:body>"),
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{OPC}/relationships">'
            f"{relations}</Relationships>",
            **{f"word/{part.name}": part.content for part in parts},
            **more,
        }
    )
