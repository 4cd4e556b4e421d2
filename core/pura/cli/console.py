"""Rich on the two outputs of the command; imported where something is laid out or coloured."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from pura.base.numerals import visible_lines


class SafeConsole(Console):
    """A console for words of which some are a stranger's: no markup, nothing that steers it.

    Args:
        stderr: Standard error instead of standard output.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, soft_wrap=True, markup=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Render, with every control character that is not the console's own made visible."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(visible_lines(segment.text), segment.style)
