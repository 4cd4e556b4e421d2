"""Find the files that ship with the program, in a checkout, a wheel or a frozen build."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_TREE = _PACKAGE.parent.parent
# A wheel and a frozen build carry one folder inside the package; in a checkout the files stand in
# resources/, and the test vectors and sample texts, which ship too, in tests/data/.
_PLACES = (_PACKAGE / "_resources", _TREE / "resources", _TREE / "tests" / "data")


def resource(*parts: str) -> Path:
    """Return the path of a shipped file or folder.

    Args:
        *parts: Path below ``resources/``, one part each.

    Raises:
        FileNotFoundError: The file is not part of this installation.
    """
    # The pages of the user guide stand in docs/ of a checkout, like tests/data/ not in resources/.
    places = (*_PLACES, _TREE) if parts[:1] == ("docs",) else _PLACES
    for place in places:
        path = place.joinpath(*parts)
        if path.exists():
            return path
    raise FileNotFoundError("/".join(("resources", *parts)))
