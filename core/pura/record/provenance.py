"""The other layer: what a signed manifest in or beside a text says, and whether the mark agrees.

It is stated beside the finding and is never part of the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pura.words.sentences import Sentence, Value

VALID: Final = "valid"
INVALID: Final = "invalid"
UNTRUSTED: Final = "untrusted"
UNCHECKED: Final = "not-checked"
STATES: Final = (VALID, INVALID, UNTRUSTED, UNCHECKED)
WHY: Final = {
    INVALID: ("changed", "broken", "damaged", "several"),
    UNCHECKED: ("extra", "reference", "limit", "stopped"),
}
"""Why a manifest is invalid, or was not checked: the end of a key of the findings."""
AGREES: Final = "agrees"
DIFFERS: Final = "differs"
ABSENT: Final = "absent"
BINDINGS: Final = (AGREES, DIFFERS, ABSENT)
BOTH_AGREE: Final = "agree"
BOTH_DIFFER: Final = "differ"
MANIFEST_ONLY: Final = "manifest-only"
MARK_ONLY: Final = "mark-only"
UNNAMED: Final = "not-compared"
FORMS: Final = ("a7", "a8", "a9", "docx", "odt", "epub", "xlsx", "pptx", "pdf")
MOST_APART: Final = 64
"""Bits of the text's fingerprint, of 256, beyond which a manifest was made for another text.

Edited, justified and badly scanned texts stay below 26, all words shuffled gave 54, and other
texts differ in about 100 (``com.writerslogic.text-fingerprint.1``)."""


@dataclass(frozen=True, kw_only=True)
class ManifestFacts:
    """A signed manifest that came with a text.

    Attributes:
        form: How it was there: ``a7`` in a web page, ``a8`` in characters that show nothing, ``a9``
            in a comment or front matter (C2PA 2.4, Annex A), or the format of the file.
        state: ``valid``: untouched, by a signer whom the user's list names; ``untrusted``:
            untouched, by somebody else; ``invalid``; ``not-checked``.
        why: Of :data:`WHY`; empty where it is untouched.
        signer: Name in the certificate; empty where it is not known.
        signed_at: When, as the time stamp says, or else the signer; empty where nobody does.
        manifest: Identifier of the manifest.
        reference: Where it is, if the text only names it; nothing is fetched.
        values: What its soft bindings name, as :func:`pura.provenance.binding.binding_value` writes
            it.
        soft_binding: Whether these name an identified payload of the text's marks: ``agrees``,
            ``differs``, or ``absent`` where there is nothing to compare. It differs as well where
            the manifest was made for another text.
        fingerprint_distance: Bits, of 256, in which the fingerprint of the text differs from the
            one in the manifest; None without one.
    """

    form: str
    state: str
    why: str = ""
    signer: str = ""
    signed_at: str = ""
    manifest: str = ""
    reference: str = ""
    values: tuple[str, ...] = ()
    soft_binding: str = ABSENT
    fingerprint_distance: int | None = None

    @property
    def elsewhere(self) -> bool:
        """It was made for another text."""
        apart = self.fingerprint_distance
        return apart is not None and apart > MOST_APART

    @property
    def said(self) -> tuple[Sentence, ...]:
        """What is said of it."""
        values: dict[str, Value] = {"form": f"manifest.form-{self.form}"}
        if self.reference:
            values["where"] = self.reference
        elif self.state != UNCHECKED and self.why != "damaged":
            values["signer"] = self.signer or "–"
        key = f"manifest.{self.state}-{self.why}" if self.why else f"manifest.{self.state}"
        said = Sentence(key=key, values=values)
        if not self.signed_at:
            return (said,)
        return said, Sentence(key="manifest.date", values={"date": self.signed_at})


def layers_of(manifests: Sequence[ManifestFacts], bindings: Sequence[str], *, marked: bool) -> str:
    """Return how mark and manifest stand to each other; empty where there is neither to name.

    Args:
        manifests: Those that came with the text.
        bindings: Values that name the identified payloads of its marks.
        marked: A mark was found.
    """
    if not manifests:
        return MARK_ONLY if bindings else ""
    found = {one.soft_binding for one in manifests}
    if DIFFERS in found:
        return BOTH_DIFFER
    if AGREES in found:
        return BOTH_AGREE
    return UNNAMED if marked else MANIFEST_ONLY


def layers_said(
    manifests: Sequence[ManifestFacts], bindings: Sequence[str], *, marked: bool
) -> tuple[Sentence, ...]:
    """Return what is said of manifests: each, then how they and the mark stand to each other."""
    case = layers_of(manifests, bindings, marked=marked)
    if not case:
        return ()
    said = tuple(sentence for one in manifests for sentence in one.said)
    if case == BOTH_DIFFER and any(one.elsewhere for one in manifests):
        apart = max(one.fingerprint_distance or 0 for one in manifests)
        return (*said, Sentence(key="layers.differ-text", values={"n": apart}))
    if case == MARK_ONLY:
        return (*said, Sentence(key="layers.mark-only", values={"value": ", ".join(bindings[:3])}))
    return (*said, Sentence(key=f"layers.{case}"))
