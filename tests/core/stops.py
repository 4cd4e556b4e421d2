"""What stops work that asks whether it may go on."""

from collections.abc import Callable

from pura.base.errors import Cancelled


def stop() -> None:
    """Stop at once."""
    raise Cancelled


def stop_after(calls: int) -> Callable[[], None]:
    """Return what lets work go on so many times, and stops it then."""
    left = iter(range(calls))

    def checkpoint() -> None:
        if next(left, None) is None:
            raise Cancelled

    return checkpoint
