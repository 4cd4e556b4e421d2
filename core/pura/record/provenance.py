"""The second layer: signed manifests in or beside a text, and whether they agree with the mark.

They are reported beside the finding and are never part of the evidence.
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
"""Reasons why a manifest is invalid or was not checked; each ends a key of the findings."""
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
"""Largest distance of fingerprints, in bits of 256, at which a manifest belongs to the text.

Edited, justified and badly scanned texts stay below 26, shuffling all words gave 54, and unrelated
texts differ in about 100 (``com.writerslogic.text-fingerprint.1``)."""


@dataclass(frozen=True, kw_only=True)
class ManifestFacts:
    """A signed manifest that came with a text.

    Attributes:
        form: How it is embedded: ``a7`` in a web page, ``a8`` in invisible characters, ``a9`` in a
            comment or front matter (C2PA 2.4, Annex A), or the format of the file.
        state: ``valid``: unchanged, from a signer on the user's list; ``untrusted``: unchanged,
            from another signer; ``invalid``; ``not-checked``.
        why: The reason, one of :data:`WHY`; empty if the manifest is unchanged.
        signer: Name in the certificate; empty if unknown.
        signed_at: Time of signing by the time stamp or, without one, by the signer; may be empty.
        manifest: Identifier of the manifest.
        reference: Address of the manifest, if the text only names it; it is not fetched.
        values: Values of its soft bindings, as :func:`pura.provenance.binding.binding_value`
            writes them.
        soft_binding: Whether these name an identified payload of the text's marks: ``agrees``,
            ``differs``, or ``absent`` if there is nothing to compare. It also differs if the
            manifest was made for another text.
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
        """Whether the manifest was made for another text."""
        distance = self.fingerprint_distance
        return distance is not None and distance > MOST_APART

    @property
    def said(self) -> tuple[Sentence, ...]:
        """The sentences that describe the manifest."""
        values: dict[str, Value] = {"form": f"manifest.form-{self.form}"}
        if self.reference:
            values["where"] = self.reference
        elif self.state != UNCHECKED and self.why != "damaged":
            values["signer"] = self.signer or "–"
        key = f"manifest.{self.state}-{self.why}" if self.why else f"manifest.{self.state}"
        sentence = Sentence(key=key, values=values)
        if not self.signed_at:
            return (sentence,)
        return sentence, Sentence(key="manifest.date", values={"date": self.signed_at})


def layers_of(manifests: Sequence[ManifestFacts], bindings: Sequence[str], *, marked: bool) -> str:
    """Return the relation between mark and manifests; empty if there is nothing to compare.

    Args:
        manifests: Manifests of the text.
        bindings: Values that name the identified payloads of its marks.
        marked: Whether a mark was found.
    """
    if not manifests:
        return MARK_ONLY if bindings else ""
    bindings_found = {manifest.soft_binding for manifest in manifests}
    if DIFFERS in bindings_found:
        return BOTH_DIFFER
    if AGREES in bindings_found:
        return BOTH_AGREE
    return UNNAMED if marked else MANIFEST_ONLY


def layers_said(
    manifests: Sequence[ManifestFacts], bindings: Sequence[str], *, marked: bool
) -> tuple[Sentence, ...]:
    """Return the sentences on each manifest, then on their relation to the mark."""
    case = layers_of(manifests, bindings, marked=marked)
    if not case:
        return ()
    sentences = tuple(sentence for manifest in manifests for sentence in manifest.said)
    if case == BOTH_DIFFER and any(manifest.elsewhere for manifest in manifests):
        distance = max(manifest.fingerprint_distance or 0 for manifest in manifests)
        return (*sentences, Sentence(key="layers.differ-text", values={"n": distance}))
    if case == MARK_ONLY:
        return (
            *sentences,
            Sentence(key="layers.mark-only", values={"value": ", ".join(bindings[:3])}),
        )
    return (*sentences, Sentence(key=f"layers.{case}"))
