"""Signing a marked text: the smallest writer of a whole C2PA manifest (specification 2.4).

A manifest is boxes in boxes (JUMBF, ISO/IEC 19566-5): assertions, the claim that holds their
hashes, and the claim's signature (COSE, RFC 9052). In the text it is a run of variation selectors
at the end (Annex A.8) or a comment (A.9); the hash of the text leaves out the bytes of that run or
comment. How many these are stands in what is signed, so the signature's padding, which is not
signed, brings the manifest to that length.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import struct
import unicodedata
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from pura.base.errors import InputError, SigningError
from pura.base.identity import Identity, is_stamp_error, time_stamper_at
from pura.provenance.binding import FINGERPRINT, binding_value, text_fingerprint
from pura.provenance.reading import wrappers
from pura.version import __version__

if TYPE_CHECKING:
    from cryptography import x509
    from pyhanko.sign.timestamps import TimeStamper

_log = logging.getLogger(__name__)

MAX_TEXT_BYTES: Final = 2 << 20
WRAPPER: Final = "a8"
COMMENT: Final = "a9"
DETACHED: Final = "none"
FORMS: Final = (WRAPPER, COMMENT, DETACHED)
SOURCE: Final = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
HASH: Final = "c2pa.hash.data"
_NEEDED: Final = ("cbor2", "c2pa_text", "c2pa_text_binding")
_NAME: Final = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
_COMMENTED: Final = (".md", ".markdown")
# What only means something in front: front matter, a byte order mark.
_FIRST: Final = ("---", "+++", "\ufeff")
_PURPOSES: Final = frozenset(
    {
        "1.3.6.1.4.1.62558.2.1",  # C2PA's own
        "1.3.6.1.5.5.7.3.4",  # e-mail
        "1.3.6.1.5.5.7.3.36",  # documents
    }
)
_ALG, _X5CHAIN, _SIGN1 = 1, 33, 18
_CURVES: Final = {
    "secp256r1": (-7, "SHA256"),
    "secp384r1": (-35, "SHA384"),
    "secp521r1": (-36, "SHA512"),
}
_PS256, _EDDSA = -37, -8
_UUID_END: Final = bytes.fromhex("00110010800000aa00389b71")
_REQUESTABLE: Final = b"\x03"
_GENERATOR: Final = {"name": "PURA Audit", "version": __version__, "specVersion": "2.4.0"}
_HEAD: Final = 8  # bytes of a box: length and kind
_BYTE: Final = 8
# A selector takes 3 or 4 bytes, so padding with zeros, of 3 each, reaches one length in three; a
# second one, and one of 24 bytes and more, whose own length takes a byte, reach the others.
_SLACK: Final = 140
_PADDINGS: Final = tuple(
    padding
    for count in range(24, _SLACK)
    for padding in (
        {"pad": count},
        {"pad2": count},
        {"pad": count // 2, "pad2": count - count // 2},
    )
)
_TRIAL: Final = 1 << 13  # an exclusion's length, for a trial
_TRIES: Final = 32


@dataclass(frozen=True, kw_only=True)
class SignedText:
    """A text and its manifest.

    Attributes:
        text: With the manifest, where it is embedded; else as it was.
        manifest: The manifest's identifier, ``urn:c2pa:…``.
        store: The manifest store, as it is kept beside a text (``.c2pa``).
    """

    text: str
    manifest: str
    store: bytes = field(repr=False)


def form_of(name: str) -> str:
    """Return how a manifest is embedded in a file of this name, where nobody says how.

    Where a format has comments it stands in one, else it is a run of variation selectors.
    """
    return COMMENT if PurePath(name).suffix.lower() in _COMMENTED else WRAPPER


def fresh_manifest() -> str:
    """Draw an identifier: a mark is issued with it before there is a text to sign."""
    return f"urn:c2pa:{uuid.uuid4()}"


def assertions(
    text: str, payload: str, profile: str, algorithm: str, *, now: datetime
) -> dict[str, Any]:
    """Return what a manifest says of a marked text, except for the hash of its bytes.

    Args:
        text: The text, without a manifest.
        payload: What its mark carries, characters 0 and 1.
        profile: The profile's fingerprint.
        algorithm: The mark's name in C2PA's list of algorithms, e.g. ``org.example.pura.1``.
        now: When it was made, with a zone.

    Raises:
        PuraError: The extra is not installed, the name or the payload has another form, the text is
            too long or cannot be written as UTF-8.
    """
    _check_name(algorithm)
    _encoded(text)
    when = now.replace(microsecond=0)
    value = binding_value(payload, profile)
    return {
        "c2pa.actions.v2": {
            "actions": [
                {"action": "c2pa.created", "when": when, "digitalSourceType": SOURCE},
                {"action": "c2pa.watermarked.bound", "when": when},
            ]
        },
        "c2pa.soft-binding": _soft_binding(algorithm, value),
        "c2pa.soft-binding__1": _soft_binding(FINGERPRINT, text_fingerprint(text)),
    }


def definition(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return assertions as other signers take them, in JSON: they number and pad themselves."""
    rows = [
        {"label": label.partition("__")[0], "data": _plain(data)} for label, data in said.items()
    ]
    return {"assertions": rows}


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {name: _plain(one) for name, one in value.items() if name != "pad"}
        case list():
            return [_plain(one) for one in value]
        case datetime():
            return value.isoformat()
    return value


def check_ready(identity: Identity, soft_binding: str) -> None:
    """Refuse before there is a text what would be refused after it.

    Args:
        identity: Who will sign.
        soft_binding: The mark's name in C2PA's list of algorithms.

    Raises:
        PuraError: The extra is not installed, the name has another form, or the certificate is not
            fit for manifests.
    """
    _check_name(soft_binding)
    _chain(identity)
    _signing(identity)


def _check_name(soft_binding: str) -> None:
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        names = ", ".join(missing)
        raise InputError("extra.missing", name=names, extra="pura-audit[provenance]", code="usage")
    if not _NAME.fullmatch(soft_binding):
        raise InputError("manifest.name", name=soft_binding, code="usage")


def sign_text(
    text: str,
    identity: Identity,
    said: Mapping[str, Any],
    *,
    form: str = WRAPPER,
    manifest: str | None = None,
    time_stamper: TimeStamper | None = None,
) -> SignedText:
    """Sign a text.

    Args:
        text: The text; it stays as it is, byte for byte.
        identity: Who signs.
        said: See :func:`assertions`.
        form: One of :data:`FORMS`.
        manifest: Its identifier, as :func:`fresh_manifest` draws one; None: a fresh one.
        time_stamper: Says when it was signed, over the network; asked once more for the length.

    Raises:
        InputError: The text has a manifest, is too long, or cannot be written as UTF-8.
        SigningError: The certificate is not fit for manifests, or nobody gave a time stamp.
    """
    import c2pa_text

    data = _encoded(text)
    if wrappers(text) or c2pa_text.BEGIN_DELIMITER in text:
        raise InputError("manifest.there", code="usage")
    signer = _Signer(identity, said, manifest or fresh_manifest(), time_stamper)
    if form == DETACHED:
        return SignedText(text=text, manifest=signer.manifest, store=signer.sign(_bound(data))({}))
    wrapping = _Wrapping.of(text, form)
    start = 0 if wrapping.first else len(data)
    covered = unicodedata.normalize("NFC", text).encode() if form == WRAPPER else data
    trial = signer.sign(_bound(covered, start, _TRIAL), trial=True)({})
    least = wrapping.size(trial) + _SLACK
    for length in range(least, least + _TRIES):
        padded = signer.sign(_bound(covered, start, length))
        for padding in _PADDINGS:
            store = padded(padding)
            if wrapping.size(store) == length:
                piece = wrapping.write(store)
                whole = piece + text if wrapping.first else text + piece
                return SignedText(text=whole, manifest=signer.manifest, store=store)
    raise ArithmeticError(least)  # pragma: no cover


def sign_manifest(
    text: str,
    identity: Identity,
    *,
    payload: str,
    profile: str,
    soft_binding: str,
    form: str = WRAPPER,
    manifest: str | None = None,
    timestamp: str | None = None,
) -> SignedText:
    """Sign a text for its mark, at this moment.

    Args:
        text: The text.
        identity: Who signs.
        payload: What the mark carries, characters 0 and 1.
        profile: The profile's fingerprint.
        soft_binding: The mark's name in C2PA's list of algorithms.
        form: One of :data:`FORMS`.
        manifest: See :func:`sign_text`.
        timestamp: Address of a time-stamp authority (RFC 3161); None signs without the network.

    Raises:
        PuraError: See :func:`assertions` and :func:`sign_text`.
    """
    said = assertions(text, payload, profile, soft_binding, now=datetime.now(UTC))
    stamper = None if timestamp is None else time_stamper_at(timestamp)
    signed = sign_text(text, identity, said, form=form, manifest=manifest, time_stamper=stamper)
    _log.info("a manifest was signed: form %s, time stamp: %s", form, stamper is not None)
    return signed


@dataclass(frozen=True, kw_only=True)
class _Wrapping:
    """How a manifest stands in a text.

    Attributes:
        first: It stands before the text, not after it.
        write: Writes a manifest as a piece of text.
        size: Returns the bytes of that piece in UTF-8. Dozens of lengths are tried for a text, so
            it does not write the piece where its size follows from the bytes.
    """

    first: bool
    write: Callable[[bytes], str]
    size: Callable[[bytes], int]

    @classmethod
    def of(cls, text: str, form: str) -> _Wrapping:
        """Return how a manifest stands in this text, in one of :data:`FORMS`."""
        import c2pa_text

        if form == WRAPPER:
            return cls(first=False, write=c2pa_text.encode_wrapper, size=_wrapper_size)
        first = not text.startswith(_FIRST)

        def comment(store: bytes) -> str:
            reference = c2pa_text.encode_data_uri(store)
            block = c2pa_text.build_manifest_block(reference, "<!--", "-->")
            return f"{block}\n" if first else f"\n{block}"

        return cls(first=first, write=comment, size=lambda store: len(comment(store).encode()))


def _wrapper_size(store: bytes) -> int:
    """Return the bytes in UTF-8 of a manifest that is written as variation selectors."""
    import c2pa_text

    header = struct.pack("!8sBI", c2pa_text.MAGIC, c2pa_text.VERSION, len(store))
    content = header + store
    # The sixteen selectors of the first block take three bytes, all others four; so does the
    # character in front of them.
    return 3 + 3 * len(content) + len(content.translate(None, bytes(range(16))))


def _encoded(text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise InputError("input.surrogates") from None
    if len(data) > MAX_TEXT_BYTES:
        raise InputError("manifest.long", count=len(data), mebibytes=MAX_TEXT_BYTES >> 20)
    return data


def _soft_binding(algorithm: str, value: str) -> dict[str, Any]:
    return {"alg": algorithm, "blocks": [{"scope": {}, "value": value}], "pad": b""}


def _bound(covered: bytes, start: int = 0, length: int = 0) -> dict[str, Any]:
    """Return the assertion that binds a manifest to the bytes of its text."""
    hashed = {"alg": "sha256", "hash": hashlib.sha256(covered).digest(), "pad": b""}
    return hashed | ({"exclusions": [{"start": start, "length": length}]} if length else {})


class _Signer:
    """Signs one manifest, as often as it takes to find its length.

    Args:
        identity: Who signs.
        said: Assertions by their labels.
        manifest: The manifest's identifier.
        time_stamper: Who stamps the time; None: nobody.
    """

    def __init__(
        self,
        identity: Identity,
        said: Mapping[str, Any],
        manifest: str,
        time_stamper: TimeStamper | None,
    ) -> None:
        self.manifest = manifest
        self._instance = f"xmp:iid:{uuid.uuid4()}"
        self._said = said
        self._time_stamper = time_stamper
        self._algorithm, self._raw_signature = _signing(identity)
        chain = _chain(identity)
        credential = chain[0] if len(chain) == 1 else chain
        self._protected = _cbor({_ALG: self._algorithm, _X5CHAIN: credential})

    def sign(
        self, bound: Mapping[str, Any], *, trial: bool = False
    ) -> Callable[[Mapping[str, int]], bytes]:
        """Sign; returns what makes the manifest store with so many bytes of padding.

        Args:
            bound: The assertion that binds the manifest to its text.
            trial: For its length only: the authority's time stamp may be an old one.
        """
        boxes = {
            label: _cbor_box(b"cbor", label, _cbor(value))
            for label, value in {**self._said, HASH: bound}.items()
        }
        claim = _cbor(
            {
                "instanceID": self._instance,
                "claim_generator_info": _GENERATOR,
                "signature": "self#jumbf=c2pa.signature",
                "created_assertions": [
                    {
                        "url": f"self#jumbf=c2pa.assertions/{label}",
                        "hash": hashlib.sha256(box[_HEAD:]).digest(),
                    }
                    for label, box in boxes.items()
                ],
                "alg": "sha256",
            }
        )
        signature = self._raw_signature(_cbor(["Signature1", self._protected, b"", claim]))
        stamp = self._stamp(signature, trial)

        def store(padding: Mapping[str, int]) -> bytes:
            import cbor2

            zeros = {name: bytes(count) for name, count in padding.items()}
            parts = [self._protected, stamp | zeros, None, signature]
            signed = _cbor(cbor2.CBORTag(_SIGN1, parts))
            manifest = _superbox(
                b"c2ma",
                self.manifest,
                _superbox(b"c2as", "c2pa.assertions", *boxes.values()),
                _cbor_box(b"c2cl", "c2pa.claim.v2", claim),
                _cbor_box(b"c2cs", "c2pa.signature", signed),
            )
            return _superbox(b"c2pa", "c2pa", manifest)

        return store

    def _stamp(self, signature: bytes, trial: bool) -> dict[str, Any]:
        """Return the header with a time stamp of a signature; empty where none is asked for."""
        if self._time_stamper is None:
            return {}
        stamped = _cbor(["CounterSignature", self._protected, b"", _cbor(signature)])
        digest = hashlib.sha256(stamped).digest()
        try:
            if trial:
                asked = self._time_stamper.async_dummy_response("sha256")
            else:
                asked = self._time_stamper.async_timestamp(digest, "sha256")
            token = asyncio.run(asked).dump()
        except Exception as error:
            if is_stamp_error(error):
                kind = type(error).__name__
                raise SigningError("signing.no-time", kind=kind, code="signing-tsa") from None
            raise
        return {"sigTst2": {"tstTokens": [{"val": token}]}}


def _signing(identity: Identity) -> tuple[int, Callable[[bytes], bytes]]:
    """Return how an identity signs: COSE's number of the algorithm, and what signs bytes."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    key = load_der_private_key(identity.key_der, None)
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return _EDDSA, key.sign
    if isinstance(key, rsa.RSAPrivateKey):
        salted = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
        return _PS256, lambda data: key.sign(data, salted, hashes.SHA256())
    curve = key.curve.name if isinstance(key, ec.EllipticCurvePrivateKey) else ""
    if not isinstance(key, ec.EllipticCurvePrivateKey) or curve not in _CURVES:
        raise SigningError("manifest.curve", key=identity.certificate.key, code="manifest-curve")
    number, hashed = _CURVES[curve]
    size = -(-key.key_size // _BYTE)

    def both(data: bytes) -> bytes:
        pair = decode_dss_signature(key.sign(data, ec.ECDSA(getattr(hashes, hashed)())))
        return b"".join(part.to_bytes(size, "big") for part in pair)

    return number, both


def _chain(identity: Identity) -> list[bytes]:
    """Return the certificates from the signer's up to the one below its root, DER.

    Raises:
        SigningError: The signer's is not one that C2PA lets sign.
    """
    from cryptography import x509

    first = x509.load_der_x509_certificate(identity.cert_der)
    others = [x509.load_der_x509_certificate(der) for der in identity.chain_der]
    _fit(first, identity.certificate.subject)
    found = [first]
    while above := [
        one
        for one in others
        if one.subject == found[-1].issuer and one.subject != one.issuer and one not in found
    ]:
        found.append(above[0])
    by_der = dict(zip(others, identity.chain_der, strict=True)) | {first: identity.cert_der}
    return [by_der[one] for one in found]


def _fit(certificate: x509.Certificate, subject: str) -> None:
    """Refuse a certificate that C2PA lets sign no manifest."""
    from cryptography import x509

    said = {one.oid: one.value for one in certificate.extensions}
    basic: Any = said.get(x509.BasicConstraints.oid)
    usage: Any = said.get(x509.KeyUsage.oid)
    purposes: Any = said.get(x509.ExtendedKeyUsage.oid, ())
    if (basic and basic.ca) or (usage and usage.key_cert_sign):
        raise SigningError("manifest.authority", subject=subject, code="manifest-authority")
    if not usage or not usage.digital_signature:
        raise SigningError("signing.usage", code="signing-usage")
    if not _PURPOSES & {one.dotted_string for one in purposes}:
        raise SigningError("manifest.purpose", subject=subject, code="manifest-purpose")


def _cbor(value: Any) -> bytes:
    import cbor2

    return cbor2.dumps(value, canonical=True)


def _box(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", _HEAD + len(data), kind) + data


def _superbox(kind: bytes, label: str, *boxes: bytes) -> bytes:
    described = kind + _UUID_END + _REQUESTABLE + label.encode() + b"\0"
    return _box(b"jumb", _box(b"jumd", described) + b"".join(boxes))


def _cbor_box(kind: bytes, label: str, data: bytes) -> bytes:
    return _superbox(kind, label, _box(b"cbor", data))
