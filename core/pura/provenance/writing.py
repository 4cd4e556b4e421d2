"""Signing a marked text: a minimal writer of a C2PA manifest (specification 2.4).

A manifest consists of nested boxes (JUMBF, ISO/IEC 19566-5): assertions, the claim with their
hashes, and the claim's signature (COSE, RFC 9052). In the text it is a run of variation selectors
at the end (Annex A.8) or a comment (A.9); the hash of the text excludes the bytes of that run or
comment. Their number is part of the signed data, so the unsigned padding of the signature brings
the manifest to that length.
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
# Beginnings that must stay first: front matter, a byte order mark.
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
# A selector takes 3 or 4 bytes, so padding with zeros, 3 bytes each, reaches one length in three. A
# second padding, and one above 23 bytes, with an extra length byte, reach the others.
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
_TRIAL: Final = 1 << 13  # length of the exclusion in a trial signature
_TRIES: Final = 32  # lengths of the manifest that are tried


@dataclass(frozen=True, kw_only=True)
class SignedText:
    """A text and its manifest.

    Attributes:
        text: The text, with the manifest if that is embedded.
        manifest: Identifier of the manifest, ``urn:c2pa:…``.
        store: The manifest store, in the form of a separate file (``.c2pa``).
    """

    text: str
    manifest: str
    store: bytes = field(repr=False)


def form_of(name: str) -> str:
    """Return how a manifest is embedded by default in a file of this name.

    It is a comment if the format has comments, otherwise a run of variation selectors.
    """
    return COMMENT if PurePath(name).suffix.lower() in _COMMENTED else WRAPPER


def fresh_manifest() -> str:
    """Draw an identifier, with which a mark is issued before there is a text to sign."""
    return f"urn:c2pa:{uuid.uuid4()}"


def assertions(
    text: str, payload: str, profile: str, algorithm: str, *, now: datetime
) -> dict[str, Any]:
    """Return the assertions of a manifest about a marked text, except for the hash of its bytes.

    Args:
        text: The text, without a manifest.
        payload: Payload of its mark, characters 0 and 1.
        profile: Fingerprint of the profile.
        algorithm: Name of the mark in C2PA's list of algorithms, e.g. ``org.example.pura.1``.
        now: Time at which the text was made, with a time zone.

    Raises:
        PuraError: The extra is not installed, the name or the payload is invalid, or the text is
            too long or cannot be written as UTF-8.
    """
    _check_name(algorithm)
    _encoded(text)
    created = now.replace(microsecond=0)
    value = binding_value(payload, profile)
    return {
        "c2pa.actions.v2": {
            "actions": [
                {"action": "c2pa.created", "when": created, "digitalSourceType": SOURCE},
                {"action": "c2pa.watermarked.bound", "when": created},
            ]
        },
        "c2pa.soft-binding": _soft_binding(algorithm, value),
        "c2pa.soft-binding__1": _soft_binding(FINGERPRINT, text_fingerprint(text)),
    }


def definition(labelled: Mapping[str, Any]) -> dict[str, Any]:
    """Return assertions as JSON for other signers, which number and pad them by themselves."""
    rows = [
        {"label": label.partition("__")[0], "data": _plain(assertion)}
        for label, assertion in labelled.items()
    ]
    return {"assertions": rows}


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {name: _plain(inner) for name, inner in value.items() if name != "pad"}
        case list():
            return [_plain(inner) for inner in value]
        case datetime():
            return value.isoformat()
    return value


def check_ready(identity: Identity, soft_binding: str) -> None:
    """Refuse settings that signing would refuse, before a text is written.

    Args:
        identity: Certificate and key of the signer.
        soft_binding: Name of the mark in C2PA's list of algorithms.

    Raises:
        PuraError: The extra is not installed, the name is invalid, or the certificate is not
            allowed to sign manifests.
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
    assertion_data: Mapping[str, Any],
    *,
    form: str = WRAPPER,
    manifest: str | None = None,
    time_stamper: TimeStamper | None = None,
) -> SignedText:
    """Sign a text.

    Args:
        text: The text; its own bytes do not change.
        identity: Certificate and key of the signer.
        assertion_data: Assertions by their labels; see :func:`assertions`.
        form: One of :data:`FORMS`.
        manifest: Identifier from :func:`fresh_manifest`; None draws a new one.
        time_stamper: Stamps the time over the network; called an extra time to learn the length.

    Raises:
        InputError: The text has a manifest, is too long, or cannot be written as UTF-8.
        SigningError: The certificate may not sign manifests, or no time stamp was given.
    """
    import c2pa_text

    encoded = _encoded(text)
    if wrappers(text) or c2pa_text.BEGIN_DELIMITER in text:
        raise InputError("manifest.there", code="usage")
    signer = _Signer(identity, assertion_data, manifest or fresh_manifest(), time_stamper)
    if form == DETACHED:
        return SignedText(
            text=text, manifest=signer.manifest, store=signer.sign(_bound(encoded))({})
        )
    wrapping = _Wrapping.of(text, form)
    start = 0 if wrapping.first else len(encoded)
    covered = unicodedata.normalize("NFC", text).encode() if form == WRAPPER else encoded
    trial = signer.sign(_bound(covered, start, _TRIAL), trial=True)({})
    shortest = wrapping.size(trial) + _SLACK
    for length in range(shortest, shortest + _TRIES):
        padded = signer.sign(_bound(covered, start, length))
        for padding in _PADDINGS:
            store = padded(padding)
            if wrapping.size(store) == length:
                piece = wrapping.write(store)
                signed = piece + text if wrapping.first else text + piece
                return SignedText(text=signed, manifest=signer.manifest, store=store)
    raise ArithmeticError(shortest)  # pragma: no cover


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
        identity: Certificate and key of the signer.
        payload: Payload of the mark, characters 0 and 1.
        profile: Fingerprint of the profile.
        soft_binding: Name of the mark in C2PA's list of algorithms.
        form: One of :data:`FORMS`.
        manifest: See :func:`sign_text`.
        timestamp: Address of a time-stamp authority (RFC 3161); None signs without the network.

    Raises:
        PuraError: See :func:`assertions` and :func:`sign_text`.
    """
    assertion_data = assertions(text, payload, profile, soft_binding, now=datetime.now(UTC))
    stamper = None if timestamp is None else time_stamper_at(timestamp)
    signed = sign_text(
        text, identity, assertion_data, form=form, manifest=manifest, time_stamper=stamper
    )
    _log.info("a manifest was signed: form %s, time stamp: %s", form, stamper is not None)
    return signed


@dataclass(frozen=True, kw_only=True)
class _Wrapping:
    """How a manifest is embedded in a text.

    Attributes:
        first: Whether it precedes the text instead of following it.
        write: Writes a manifest as a piece of text.
        size: Returns the bytes of that piece in UTF-8, without writing it where possible, since
            dozens of lengths are tried for a text.
    """

    first: bool
    write: Callable[[bytes], str]
    size: Callable[[bytes], int]

    @classmethod
    def of(cls, text: str, form: str) -> _Wrapping:
        """Return how a manifest is embedded in this text, in one of :data:`FORMS`."""
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
    wrapped = header + store
    # The sixteen selectors of the first block take three bytes, all others four; so does the
    # character in front of them.
    return 3 + 3 * len(wrapped) + len(wrapped.translate(None, bytes(range(16))))


def _encoded(text: str) -> bytes:
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        raise InputError("input.surrogates") from None
    if len(encoded) > MAX_TEXT_BYTES:
        raise InputError("manifest.long", count=len(encoded), mebibytes=MAX_TEXT_BYTES >> 20)
    return encoded


def _soft_binding(algorithm: str, value: str) -> dict[str, Any]:
    return {"alg": algorithm, "blocks": [{"scope": {}, "value": value}], "pad": b""}


def _bound(covered: bytes, start: int = 0, length: int = 0) -> dict[str, Any]:
    """Return the assertion that binds a manifest to the bytes of its text."""
    hashed = {"alg": "sha256", "hash": hashlib.sha256(covered).digest(), "pad": b""}
    return hashed | ({"exclusions": [{"start": start, "length": length}]} if length else {})


class _Signer:
    """Signs one manifest, repeatedly until its length is right.

    Args:
        identity: Certificate and key of the signer.
        assertion_data: Assertions by their labels.
        manifest: Identifier of the manifest.
        time_stamper: Stamps the time; None for no time stamp.
    """

    def __init__(
        self,
        identity: Identity,
        assertion_data: Mapping[str, Any],
        manifest: str,
        time_stamper: TimeStamper | None,
    ) -> None:
        self.manifest = manifest
        self._instance = f"xmp:iid:{uuid.uuid4()}"
        self._assertion_data = assertion_data
        self._time_stamper = time_stamper
        self._algorithm, self._raw_signature = _signing(identity)
        chain = _chain(identity)
        credential = chain[0] if len(chain) == 1 else chain
        self._protected = _cbor({_ALG: self._algorithm, _X5CHAIN: credential})

    def sign(
        self, bound: Mapping[str, Any], *, trial: bool = False
    ) -> Callable[[Mapping[str, int]], bytes]:
        """Sign, and return a function that makes the manifest store with given bytes of padding.

        Args:
            bound: The assertion that binds the manifest to its text.
            trial: Whether only the length matters, so that the time stamp may be a dummy.
        """
        boxes = {
            label: _cbor_box(b"cbor", label, _cbor(value))
            for label, value in {**self._assertion_data, HASH: bound}.items()
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
        """Return the header with a time stamp of a signature; empty without a time stamper."""
        if self._time_stamper is None:
            return {}
        stamped = _cbor(["CounterSignature", self._protected, b"", _cbor(signature)])
        digest = hashlib.sha256(stamped).digest()
        try:
            if trial:
                request = self._time_stamper.async_dummy_response("sha256")
            else:
                request = self._time_stamper.async_timestamp(digest, "sha256")
            token = asyncio.run(request).dump()
        except Exception as error:
            if is_stamp_error(error):
                kind = type(error).__name__
                raise SigningError("signing.no-time", kind=kind, code="signing-tsa") from None
            raise
        return {"sigTst2": {"tstTokens": [{"val": token}]}}


def _signing(identity: Identity) -> tuple[int, Callable[[bytes], bytes]]:
    """Return COSE's number of an identity's algorithm, and a function that signs bytes."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    key = load_der_private_key(identity.key_der, None)
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return _EDDSA, key.sign
    if isinstance(key, rsa.RSAPrivateKey):
        salted = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
        return _PS256, lambda message: key.sign(message, salted, hashes.SHA256())
    curve = key.curve.name if isinstance(key, ec.EllipticCurvePrivateKey) else ""
    if not isinstance(key, ec.EllipticCurvePrivateKey) or curve not in _CURVES:
        raise SigningError("manifest.curve", key=identity.certificate.key, code="manifest-curve")
    number, hashed = _CURVES[curve]
    size = -(-key.key_size // _BYTE)

    def sign_ecdsa(message: bytes) -> bytes:
        pair = decode_dss_signature(key.sign(message, ec.ECDSA(getattr(hashes, hashed)())))
        return b"".join(part.to_bytes(size, "big") for part in pair)

    return number, sign_ecdsa


def _chain(identity: Identity) -> list[bytes]:
    """Return the certificates from the signer's up to the one below its root, DER.

    Raises:
        SigningError: C2PA does not allow the signer's certificate.
    """
    from cryptography import x509

    first = x509.load_der_x509_certificate(identity.cert_der)
    intermediates = [x509.load_der_x509_certificate(der) for der in identity.chain_der]
    _fit(first, identity.certificate.subject)
    chain = [first]
    while above := [
        certificate
        for certificate in intermediates
        if certificate.subject == chain[-1].issuer
        and certificate.subject != certificate.issuer
        and certificate not in chain
    ]:
        chain.append(above[0])
    by_der = dict(zip(intermediates, identity.chain_der, strict=True)) | {first: identity.cert_der}
    return [by_der[certificate] for certificate in chain]


def _fit(certificate: x509.Certificate, subject: str) -> None:
    """Refuse a certificate that C2PA does not allow to sign manifests."""
    from cryptography import x509

    extensions = {extension.oid: extension.value for extension in certificate.extensions}
    basic: Any = extensions.get(x509.BasicConstraints.oid)
    usage: Any = extensions.get(x509.KeyUsage.oid)
    purposes: Any = extensions.get(x509.ExtendedKeyUsage.oid, ())
    if (basic and basic.ca) or (usage and usage.key_cert_sign):
        raise SigningError("manifest.authority", subject=subject, code="manifest-authority")
    if not usage or not usage.digital_signature:
        raise SigningError("signing.usage", code="signing-usage")
    if not _PURPOSES & {purpose.dotted_string for purpose in purposes}:
        raise SigningError("manifest.purpose", subject=subject, code="manifest-purpose")


def _cbor(value: Any) -> bytes:
    import cbor2

    return cbor2.dumps(value, canonical=True)


def _box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", _HEAD + len(body), kind) + body


def _superbox(kind: bytes, label: str, *boxes: bytes) -> bytes:
    described = kind + _UUID_END + _REQUESTABLE + label.encode() + b"\0"
    return _box(b"jumb", _box(b"jumd", described) + b"".join(boxes))


def _cbor_box(kind: bytes, label: str, body: bytes) -> bytes:
    return _superbox(kind, label, _box(b"cbor", body))
