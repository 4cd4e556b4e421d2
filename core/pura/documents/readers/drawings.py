"""Text in drawings of Office documents: diagrams (SmartArt) and charts.

Word, Excel and PowerPoint all store them as separate parts next to the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pura.documents.extraction import Extract
from pura.documents.readers.blocks import TextBlock, extract_apart
from pura.documents.readers.embedded import ole_extracts
from pura.documents.readers.packages import Package, local_name, named
from pura.record.left_out import LeftOutKind

_DIAGRAMS: Final = ("diagramData",)
_CHARTS: Final = ("chart", "chartEx")
_STRINGS: Final = frozenset({"strCache", "strLit", "strDim"})
"""Elements of a chart with the text of its series and categories; numbers are elsewhere."""
_PACKED, _OLE = "package", "oleObject"
_EMBEDDINGS: Final = "/embeddings/"


def drawing_texts(root: Any) -> Iterator[str]:
    """Yield the paragraphs of DrawingML below an element; they are not in the body text."""
    for paragraph in named(root, "p"):
        if text := "".join(run.text or "" for run in paragraph.iter() if local_name(run) == "t"):
            yield text


def _chart_texts(root: Any) -> Iterator[str]:
    for element in root.iter():
        name = local_name(element)
        if name == "p":
            yield from drawing_texts(element)
        elif name in _STRINGS:
            for point in element.iter():
                if local_name(point) in ("v", "pt") and (point.text or "").strip():
                    yield point.text


def texts_of_drawings(package: Package, names: Sequence[str]) -> list[Extract]:
    """Return the texts of the diagrams and charts that some parts of a package refer to.

    Args:
        package: The document.
        names: Parts whose drawings are read: the body, slides, drawings of sheets.
    """
    diagrams = _related(package, names, *_DIAGRAMS)
    charts = _related(package, names, *_CHARTS)
    paragraphs = [text for name in diagrams for text in drawing_texts(package.xml(name))]
    labels = [text for name in charts for text in _chart_texts(package.xml(name))]
    return [
        *extract_apart(
            [TextBlock(text=text) for text in paragraphs], "diagrams", LeftOutKind.DIAGRAM
        ),
        *extract_apart(
            [TextBlock(text=text, tight=True) for text in labels], "charts", LeftOutKind.DIAGRAM
        ),
    ]


def embedded_documents(package: Package, names: Sequence[str]) -> list[Extract]:
    """Return the texts of the documents that some parts of a package embed.

    Args:
        package: The document.
        names: Parts whose embedded documents are read. Those of their charts are read too, and so
            are files in the folder of embedded documents that no part refers to.
    """
    holders = [*names, *_related(package, names, *_CHARTS)]
    packed, ole_objects = _related(package, holders, _PACKED), _related(package, holders, _OLE)
    stray = [name for name in package.names if _EMBEDDINGS in f"/{name.lower()}"]
    extracts: list[Extract] = []
    for name in dict.fromkeys([*packed, *ole_objects, *stray]):
        extracts += ole_extracts(package.read(name), name)
    return extracts


def _related(package: Package, names: Sequence[str], *kinds: str) -> list[str]:
    targets = (target for name in names for target in package.related_as(name, *kinds))
    return list(dict.fromkeys(targets))
