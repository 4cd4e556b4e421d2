"""Make the texts and files with manifests of ``manifests/``, by other makers' libraries.

Run in an environment of its own with c2patxt 0.2.0, c2pa-text 3.0, c2pa-text-binding 0.3 and
c2pa-python 0.38, since c2patxt pins an older cryptography; ``LETTER.pdf`` is a PDF of the first
sample text, as any program prints it::

    python tests/data/make_manifests.py LETTER.pdf

c2patxt takes no assertions of one's own, and wraps A.8 only: its parts are put together here, for
packed documents as well, of which c2pa-python 0.38 hashes other bytes than C2PA 2.4, A.6 says; it
signs the PDF. The keys are drawn anew and thrown away, so that the files differ each time; tests
know them by name.
"""

import datetime as dt
import hashlib
import io
import json
import sys
import uuid
import zipfile
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import escape

import c2pa
import c2pa_text
import c2pa_text_binding
from c2patxt import C2PA_CLAIM_SIGNING_EKU, Disclosure, ModelType, Signer, manifest
from c2patxt._cose import _prepare_signed_claim, _serialize_signed_claim
from c2patxt._fixpoint import solve
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

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
        purposes = [C2PA_CLAIM_SIGNING_EKU, ExtendedKeyUsageOID.EMAIL_PROTECTION]
        made = made.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
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


def prepared(signer, value, text, binding, padding=0):
    """Return what makes a manifest store of its hard binding, and of how it is padded.

    Args:
        signer: Who signs.
        value: Of the soft binding; empty leaves both soft bindings out.
        text: Whose fingerprint it holds.
        binding: Gives the hard binding for an assumed length.
        padding: Characters that make it longer.
    """
    disclosure = Disclosure(
        media_type="text/plain", model_type=ModelType.GENERIC, model_name="x" * padding or None
    )
    more = bindings(value, text) if value else []
    name, instance = uuid.uuid4(), f"xmp:iid:{uuid.uuid4()}"

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

        usual = manifest.Claim, manifest._hash_data_assertion
        manifest.Claim, manifest._hash_data_assertion = Claim, lambda *_, **__: binding(length)
        try:
            ready = manifest._prepare_manifest(
                disclosure=disclosure,
                digest=b"",
                exclusion_start=0,
                exclusion_length=0,
                instance_id=instance,
                when=WHEN,
                generator_name="c2patxt",
            )
        finally:
            manifest.Claim, manifest._hash_data_assertion = usual
        object.__setattr__(ready, "assertion_boxes", (*ready.assertion_boxes, *made))
        signed = _prepare_signed_claim(signer, ready.claim_bytes)
        return lambda pad: manifest._serialize_prepared_manifest(
            ready, signature=_serialize_signed_claim(signed, pad=pad), manifest_uuid=name
        )

    return prepare


def wrapped(head, tail, wrap, signer, value, text, padding=0):
    """Return head, wrapper and tail; all but the wrapper is what is signed."""
    digest, start = hashlib.sha256((head + tail).encode()).digest(), len(head.encode())

    def binding(length):
        payload = {
            "exclusions": [{"start": start, "length": length}],
            "alg": "sha256",
            "hash": digest,
            "pad": b"",
        }
        return manifest.Assertion(label="c2pa.hash.data", payload=payload)

    prepare = prepared(signer, value, text, binding, padding)

    def of(length):
        store = prepare(length)
        return lambda pad: wrap(store(pad))

    wrapper, _ = solve(of)
    return head + wrapper + tail


def packed(parts, signer, value, text):
    """Return a packed document; its parts and its directory are what is signed (A.6)."""
    inside = "META-INF/content_credential.c2pa"

    def archive(store):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as file:
            for name, content in {**parts, inside: store}.items():
                file.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content)
        return data.getvalue(), file.infolist(), file.start_dir

    def binding(length):
        data, entries, directory = archive(bytes(length))
        begins = [one.header_offset for one in entries]
        uris = [
            {"uri": quote(one.filename), "hash": hashlib.sha256(data[begin:end]).digest()}
            for one, begin, end in zip(entries, begins, [*begins[1:], directory], strict=True)
            if one.filename != inside
        ]
        # All of the directory but the check sum of the manifest, which cannot know it.
        own = data.index(inside.encode(), directory) - 46 + 16
        rest = hashlib.sha256(data[directory:own] + data[own + 4 :]).digest()
        payload = {"uris": uris, "alg": "sha256", "zip_central_directory_hash": rest}
        return manifest.Assertion(label="c2pa.hash.collection.data", payload=payload)

    prepare = prepared(signer, value, text, binding)
    length = len(prepare(0)(0))
    return archive(prepare(length)(0))[0]


def letters(text):
    """Return the parts of packed documents of the text."""
    lines = [escape(line) for line in text.split("\n") if line.strip()]
    office = "http://schemas.openxmlformats.org"
    types = (
        f'<Types xmlns="{office}/package/2006/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'wordprocessingml.document.main+xml"/></Types>'
    )
    relations = (
        f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r1" Type='
        f'"{office}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
        "</Relationships>"
    )
    word = "".join(f'<w:p><w:r><w:t xml:space="preserve">{x}</w:t></w:r></w:p>' for x in lines)
    odf = "urn:oasis:names:tc:opendocument:xmlns"
    paragraphs = "".join(f"<p>{line}</p>" for line in lines)
    return {
        "agrees.docx": {
            "[Content_Types].xml": types,
            "_rels/.rels": relations,
            "word/document.xml": f'<w:document xmlns:w="{office}/wordprocessingml/2006/main">'
            f"<w:body>{word}</w:body></w:document>",
        },
        "agrees.odt": {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f'<office:document-content xmlns:office="{odf}:office:1.0" '
            f'xmlns:text="{odf}:text:1.0"><office:body><office:text>'
            + "".join(f"<text:p>{line}</text:p>" for line in lines)
            + "</office:text></office:body></office:document-content>",
        },
        "agrees.epub": {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container version="1.0" xmlns="urn:oasis:names:tc:'
            'opendocument:xmlns:container"><rootfiles><rootfile full-path="book/content.opf" '
            'media-type="application/oebps-package+xml"/></rootfiles></container>',
            "book/content.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
            '<manifest><item id="a" href="one.xhtml" media-type="application/xhtml+xml"/>'
            '</manifest><spine><itemref idref="a"/></spine></package>',
            "book/one.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>One</title>'
            f"</head><body>{paragraphs}</body></html>",
        },
    }


def printed(letter, key, leaf):
    """Return a PDF that c2pa-python signed."""
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    info = c2pa.C2paSignerInfo(b"ed25519", leaf.public_bytes(Encoding.PEM), private, None)
    created = {
        "action": "c2pa.created",
        "when": WHEN.isoformat(),
        "digitalSourceType": manifest.DIGITAL_SOURCE_TYPE_TRAINED,
    }
    named = {"alg": ALG, "blocks": [{"scope": {}, "value": VALUES["agrees"]}]}
    said = {
        "assertions": [
            {"label": "c2pa.actions.v2", "data": {"actions": [created]}},
            {"label": "c2pa.soft-binding", "data": named},
        ]
    }
    # It verifies what it signed, by its own list of trust.
    c2pa.load_settings(json.dumps({"verify": {"verify_after_sign": False}}))
    out = io.BytesIO()
    signer = c2pa.Signer.from_info(info)
    c2pa.Builder(said).sign(signer, "application/pdf", io.BytesIO(letter), out)
    return out.getvalue()


def armour(store):
    """Return a block of A.9 with its line end."""
    uri = c2pa_text.encode_data_uri(store)
    return c2pa_text.build_manifest_block(uri, "<!--", "-->") + "\n"


def main():
    """Write all files."""
    OUT.mkdir(exist_ok=True)
    root_key, key = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    root = certificate("Example Press root", root_key)
    leaf = certificate("Example Press signing", key, root, root_key)
    signer = Signer(private_key=key, certificates=(leaf,))
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
    for name, parts in letters(text).items():
        (OUT / name).write_bytes(packed(parts, signer, VALUES["agrees"], text))
    (OUT / "agrees.pdf").write_bytes(printed(Path(sys.argv[1]).read_bytes(), key, leaf))


if __name__ == "__main__":
    main()
