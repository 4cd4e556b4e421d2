"""Make the texts with manifests of ``manifests/``, by another maker's library.

Run in an environment of its own with c2patxt 0.2.0, c2pa-text 3.0 and c2pa-text-binding 0.3, since
c2patxt pins an older cryptography::

    python tests/data/make_manifests.py

c2patxt takes no assertions of one's own, and wraps A.8 only: its parts are put together here. The
keys are drawn anew and thrown away, so that the files differ each time; tests know them by name.
"""

import datetime as dt
import hashlib
import json
import uuid
from pathlib import Path

import c2pa_text
import c2pa_text_binding
from c2patxt import C2PA_CLAIM_SIGNING_EKU, Disclosure, ModelType, Signer, manifest
from c2patxt._cose import _prepare_signed_claim, _serialize_signed_claim
from c2patxt._fixpoint import solve
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

DATA = Path(__file__).resolve().parent
OUT = DATA / "manifests"
WHEN = dt.datetime(2026, 11, 26, 9, 30, tzinfo=dt.UTC)
ALG = "org.example.pura.1"
# By hand, as pura.provenance.binding writes it: profile 93c29377, 36 bits, the payload.
VALUES = {"agrees": "k8KTdyQHMkz5CA==", "differs": "k8KTdyQGMkz5CA=="}
USAGE = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
    *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)


def certificate(name, key, issuer=None, issuer_key=None):
    """Return a root, or what it signs."""
    own = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example Press"),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )
    root = issuer is None
    uses = {"key_cert_sign", "crl_sign"} if root else {"digital_signature"}
    signs = key if root else issuer_key
    made = (
        x509.CertificateBuilder()
        .subject_name(own)
        .issuer_name(own if root else issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
        .not_valid_after(dt.datetime(2076, 1, 1, tzinfo=dt.UTC))
        .add_extension(x509.BasicConstraints(ca=root, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(**{use: use in uses for use in USAGE}), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signs.public_key()), critical=False
        )
    )
    if not root:
        made = made.add_extension(x509.ExtendedKeyUsage([C2PA_CLAIM_SIGNING_EKU]), critical=False)
    return made.sign(signs, None)


def bindings(value, text):
    """Return the assertions that name a mark, and the text's fingerprint."""
    named = {"alg": ALG, "blocks": [{"scope": {}, "value": value}], "pad": b""}
    own = c2pa_text_binding.text_fingerprint(text)
    fingerprint = {
        "alg": "com.writerslogic.text-fingerprint.1",
        "blocks": [{"scope": {}, "value": own}],
        "pad": b"",
    }
    return [
        manifest.Assertion(label="c2pa.soft-binding", payload=named),
        manifest.Assertion(label="c2pa.soft-binding__1", payload=fingerprint),
    ]


def wrapped(head, tail, wrap, signer, value, text, padding=0):
    """Return head, wrapper and tail; all but the wrapper is what is signed."""
    digest = hashlib.sha256((head + tail).encode()).digest()
    disclosure = Disclosure(
        media_type="text/plain", model_type=ModelType.GENERIC, model_name="x" * padding or None
    )
    more = bindings(value, text) if value else []
    name = uuid.uuid4()
    instance = f"xmp:iid:{uuid.uuid4()}"

    def prepare(length):
        # The one place at which a list of assertions can be made longer.
        made = []

        class Claim(manifest.Claim):
            def __post_init__(self):
                boxes = [one.to_box() for one in more]
                made.extend(boxes)
                uris = [
                    manifest.hashed_uri(
                        box, f"{manifest.ASSERTION_URI_PREFIX}{one.label}", "sha256"
                    )
                    for one, box in zip(more, boxes, strict=True)
                ]
                object.__setattr__(self, "created_assertions", (*self.created_assertions, *uris))
                super().__post_init__()

        plain, manifest.Claim = manifest.Claim, Claim
        try:
            prepared = manifest._prepare_manifest(
                disclosure=disclosure,
                digest=digest,
                exclusion_start=len(head.encode()),
                exclusion_length=length,
                instance_id=instance,
                when=WHEN,
                generator_name="c2patxt",
            )
        finally:
            manifest.Claim = plain
        object.__setattr__(prepared, "assertion_boxes", (*prepared.assertion_boxes, *made))
        signed = _prepare_signed_claim(signer, prepared.claim_bytes)

        def build(pad):
            signature = _serialize_signed_claim(signed, pad=pad)
            return wrap(
                manifest._serialize_prepared_manifest(
                    prepared, signature=signature, manifest_uuid=name
                )
            )

        return build

    wrapper, _ = solve(prepare)
    return head + wrapper + tail


def armour(store):
    """Return a block of A.9 with its line end."""
    uri = c2pa_text.encode_data_uri(store)
    return c2pa_text.build_manifest_block(uri, "<!--", "-->") + "\n"


def main():
    """Write all files."""
    OUT.mkdir(exist_ok=True)
    root_key, key = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    root = certificate("Example Press root", root_key)
    signer = Signer(
        private_key=key,
        certificates=(certificate("Example Press signing", key, root, root_key),),
    )
    (OUT / "trust.pem").write_bytes(root.public_bytes(Encoding.PEM))
    text = json.loads((DATA / "samples/marked-tbcc.json").read_text("utf-8"))["texts"][0]["text"]
    plain = json.loads((DATA / "samples/plain.json").read_text("utf-8"))["texts"][0]["text"]
    a8 = c2pa_text.encode_wrapper
    page = "<html><head><title>Letter</title>{}</head><body><p>" + text + "</p></body></html>"
    before, behind = page.split("{}")
    files = {
        "agrees.txt": wrapped(text, "", a8, signer, VALUES["agrees"], text),
        "differs.txt": wrapped(text, "", a8, signer, VALUES["differs"], text),
        "elsewhere.txt": wrapped(text, "", a8, signer, VALUES["agrees"], plain),
        "unnamed.txt": wrapped(text, "", a8, signer, "", text),
        "alone.txt": wrapped(plain, "", a8, signer, "", plain),
        "large.txt": wrapped(text, "", a8, signer, VALUES["agrees"], text, padding=6000),
        "agrees.md": wrapped("", text, armour, signer, VALUES["agrees"], text),
        "agrees.html": wrapped(
            before, behind, c2pa_text.build_html_script, signer, VALUES["agrees"], text
        ),
    }
    for name, whole in files.items():
        (OUT / name).write_bytes(whole.encode())


if __name__ == "__main__":
    main()
