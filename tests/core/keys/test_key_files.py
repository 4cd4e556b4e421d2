import base64
import ctypes
import datetime as dt
import json
import re
import struct
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.base.errors import KeyFormatError
from pura.keys import KeyFile, KeyRole, load_key, parse_key, passphrase_bytes, write_key_file
from pura.keys.epochs import derive_key, epoch_key, epochs, latest
from pura.keys.sealed import MAX_FILE, Cost, read_key_file, seal, unseal
from pura.scheme import SecretKey

WORDS = "four words in a row"
KEY = SecretKey(bytes(range(32)))
VECTOR = json.loads(
    (Path(__file__).parents[2] / "data" / "custody.json").read_text(encoding="utf-8")
)


def fixed(size: int) -> bytes:
    return bytes(range(100, 100 + size))


def made(**changes: object) -> bytes:
    content = KeyFile(
        key=KEY,
        name="Häuser",
        created="2026-11-21T00:00:00+00:00",
        note="n",
        role=KeyRole.DERIVED,
        master="0" * 16,
        deployment="newsroom",
    )
    return write_key_file(content, passphrase_bytes(WORDS), random=fixed)


def opened(data: bytes, words: str = WORDS) -> KeyFile:
    return read_key_file(data, passphrase_bytes(words))


def code_of(data: bytes, words: str = WORDS) -> str:
    with pytest.raises(KeyFormatError) as caught:
        opened(data, words)
    assert KEY.to_hex() not in str(caught.value)
    return caught.value.code


def bare(data: bytes) -> bytearray:
    return bytearray(base64.b64decode(b"".join(data.split(b"\n")[1:-2])))


def armoured(data: bytes, *, mend: bool = True) -> bytes:
    if mend:
        data = bytes(data[:-8]) + sha256(data[:-8]).digest()[:8]
    return b"\n".join(
        (b"-----BEGIN PURA KEY FILE-----", base64.b64encode(data), b"-----END PURA KEY FILE-----")
    )


def test_a_key_comes_back_with_all_that_is_known_of_it():
    found = opened(made())
    assert found.key == KEY
    assert (found.name, found.note, found.role) == ("Häuser", "n", KeyRole.DERIVED)
    assert (found.master, found.deployment) == ("0" * 16, "newsroom")
    assert not found.verifier


def test_the_bytes_are_those_of_the_documentation():
    """The vector in tests/data/custody.json was written once and is not made by this test."""
    sealed = VECTOR["sealed"]
    text = write_key_file(
        KeyFile(key=SecretKey.from_hex(sealed["key"]), name=sealed["name"]),
        passphrase_bytes(sealed["passphrase"]),
        cost=Cost(log2_n=sealed["log2_n"]),
        random=lambda size: bytes.fromhex(sealed["salt"] if size == 16 else sealed["nonce"]),
    )
    assert text.decode().splitlines() == sealed["file"]


def test_the_bytes_can_be_opened_by_hand():
    """The page's description alone is enough: hashlib and AES-GCM, none of our code."""
    import hashlib
    import hmac

    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    data = bytes(bare(made()))
    magic, version, kdf, log2_n, r, p, salt, nonce, size = struct.unpack(
        "<7sBBBBB16s12sH", data[:42]
    )
    assert (magic, version, kdf, size) == (b"PURAKEY", 1, 1, len(data) - 82)
    keys = hashlib.scrypt(
        WORDS.encode(), salt=salt, n=1 << log2_n, r=r, p=p, dklen=64, maxmem=1 << 26
    )
    assert data[42:58] == hmac.digest(keys[32:], data[:42], "sha256")[:16]
    plain = AESGCM(keys[:32]).decrypt(nonce, data[58:-8], data[:58])
    assert plain[:33] == b"\x01" + bytes(range(32))
    assert json.loads(plain[33:])["name"] == "Häuser"
    assert data[-8:] == hashlib.sha256(data[:-8]).digest()[:8]


def test_a_wrong_passphrase_is_told_from_a_damaged_file():
    data = made()
    assert code_of(data, "four words in a Row") == "key-file-passphrase"
    whole = bare(data)
    for place in range(len(whole)):
        broken = bytearray(whole)
        broken[place] ^= 1
        # Whatever byte an accident changes, and whatever passphrase is given.
        assert code_of(armoured(broken, mend=False)) == "key-file-damaged"
        assert code_of(armoured(broken, mend=False), "x") == "key-file-damaged"


def test_a_file_that_was_changed_on_purpose_is_never_opened():
    whole = bare(made())
    codes = set()
    for place in [*range(0, 58, 3), 60, len(whole) - 12]:
        broken = bytearray(whole)
        broken[place] ^= 1
        codes.add(code_of(armoured(broken)))
    assert codes <= {"key-file-damaged", "key-file-passphrase", "key-file-version", "key-file-cost"}
    behind = bytearray(whole)
    behind[60] ^= 1  # the ciphertext: the passphrase is right, so this is no typing error
    assert code_of(armoured(behind)) == "key-file-damaged"


@pytest.mark.parametrize(
    ("place", "value"), [(9, 13), (9, 19), (9, 255), (10, 0), (10, 255), (11, 0), (11, 5)]
)
def test_a_file_may_not_ask_for_all_memory(monkeypatch, place, value):
    from pura.keys import sealed

    def never(*_: object) -> bytearray:
        raise AssertionError("the derivation was begun")

    whole = bare(made())
    whole[place] = value
    monkeypatch.setattr(sealed, "_stretch", never)
    assert code_of(armoured(whole)) == "key-file-cost"


def test_other_versions_and_cut_files_have_their_words():
    whole = bare(made())
    for place, code in ((7, "key-file-version"), (8, "key-file-version"), (0, "key-file-damaged")):
        other = bytearray(whole)
        other[place] = 9
        assert code_of(armoured(other)) == code
    text = made()
    for cut in (0, 10, 40, len(text) // 2, len(text) - 20):
        assert code_of(text[:cut]) == "key-file-damaged"
    assert code_of(text + b" " * MAX_FILE) == "key-file-damaged"
    lines = text.replace(b"\n", b"\r\n")
    assert opened(b"\n\n" + lines).key == KEY, "a mail program may change line ends"


@settings(max_examples=60)
@given(st.binary(max_size=400), st.booleans())
def test_no_bytes_make_it_stumble(noise, dressed):
    data = armoured(noise) if dressed else noise
    with pytest.raises(KeyFormatError):
        parse_key(data + b"!", lambda: passphrase_bytes(WORDS))


def test_a_content_that_is_not_ours_is_said():
    for content in (
        b"",
        b"\x01",
        b"\x07" + bytes(32) + b"{}",
        b"\x01" + bytes(32) + b"[]",
        b"\x01" + bytes(32) + b'{"role":"king"}',
        b"\x01" + bytes(32) + b'{"name":"a\\nb"}',
    ):
        data = seal(bytearray(content), passphrase_bytes(WORDS))
        assert bytes(unseal(data, passphrase_bytes(WORDS))) == content
        assert code_of(data) == "key-file-version"


def test_keyboards_do_not_matter():
    composed, apart = "Über die Brücke geh'n", "U\u0308ber die Bru\u0308cke geh'n"
    data = write_key_file(KeyFile(key=KEY), passphrase_bytes(composed))
    assert opened(data, apart).key == KEY


@pytest.mark.parametrize("form", ["hex", "HEX", "base64", "url", "bare", "lines"])
def test_the_written_forms_of_a_key(form, tmp_path):
    key = SecretKey(bytes([255, 239, 190] + [251] * 29))
    text = {
        "hex": key.to_hex(),
        "HEX": key.to_hex().upper(),
        "base64": base64.b64encode(key.copy_secret()).decode(),
        "url": base64.urlsafe_b64encode(key.copy_secret()).decode(),
        "bare": base64.b64encode(key.copy_secret()).decode().rstrip("="),
        "lines": f"\r\n  {key.to_hex()}\n",
    }[form]
    (tmp_path / "key").write_bytes(text.encode())
    assert load_key(tmp_path / "key").key == key


@pytest.mark.parametrize("text", ["", "00", "zz" * 32, "!" * 44, "A" * 44, "A" * 42, "ä" * 64])
def test_what_is_no_key_is_refused_without_being_repeated(text):
    with pytest.raises(KeyFormatError) as caught:
        parse_key(text.encode())
    assert not text or text not in str(caught.value)


def test_an_encrypted_file_needs_a_passphrase_and_a_missing_one_is_said(tmp_path):
    with pytest.raises(KeyFormatError, check=lambda e: e.code == "key-file-passphrase"):
        parse_key(made())
    with pytest.raises(KeyFormatError, match="cannot be read"):
        load_key(tmp_path / "missing")


def test_deployment_keys_are_those_of_the_documentation():
    for row in VECTOR["derived"]:
        with SecretKey.from_hex(row["master"]) as master:
            key = derive_key(master, row["label"])
        assert key.to_hex() == row["key"]
        assert key.fingerprint == row["fingerprint"]


def test_deployment_keys_follow_rfc_5869_by_hand():
    import hmac

    label = "newsroom-2026"
    prk = hmac.digest(b"PURA-1 deployment key", bytes(range(32)), "sha256")
    assert (
        derive_key(KEY, label).to_hex()
        == hmac.digest(prk, label.encode() + b"\x01", "sha256").hex()
    )
    assert derive_key(KEY, " u\u0308 ") == derive_key(KEY, "ü")
    for label in ("", "a\nb", "x" * 81):
        with pytest.raises(KeyFormatError):
            derive_key(KEY, label)


def test_epoch_keys_follow_rfc_5869_by_hand_and_are_those_of_the_documentation():
    import hmac

    prk = hmac.digest(b"PURA-1 epoch key", bytes(range(32)), "sha256")
    root = Path(__file__).parents[3]
    page = (root / "docs" / "reference" / "key-formats.md").read_text(encoding="utf-8")
    for epoch in ("2026-11-22", "2026-W47", "2026-11"):
        key = epoch_key(KEY, epoch).to_hex()
        assert key == hmac.digest(prk, epoch.encode() + b"\x01", "sha256").hex()
        assert f"| `{epoch}` | `{key}` |" in page
        assert key != derive_key(KEY, epoch).to_hex()
    assert epoch_key(SecretKey(b"\xff" * 32), "2027-01-01").to_hex() in page


def test_a_range_of_epochs_holds_both_ends_over_the_turn_of_a_year():
    assert epochs("2026-11") == ("2026-11",)
    assert latest("day", 1, dt.date(2027, 1, 1)) == "2027-01-01..2027-01-01"
    assert latest("month", 3, dt.date(2027, 1, 31)) == "2026-11..2027-01"
    assert latest("week", 3, dt.date(2027, 1, 3)) == "2026-W51..2026-W53"
    assert epochs("2026-11..2027-01") == ("2026-11", "2026-12", "2027-01")
    assert epochs("2026-W52..2027-W01") == ("2026-W52", "2026-W53", "2027-W01")
    assert epochs("2028-02-28..2028-03-01") == ("2028-02-28", "2028-02-29", "2028-03-01")
    wrong = (
        "",
        "2026-13",
        "2027-W53",
        "2026-02-30",
        "22.11.2026",
        "2026-11-22..",
        "2026-11..2026-W50",
    )
    for span in (*wrong, "2026-12..2026-11", "2020-01-01..2026-01-01", "2026-11-22..2026-11-23..1"):
        with pytest.raises(KeyFormatError):
            epochs(span)


def flags_of(buffer: memoryview) -> set[str]:
    """Return what the kernel says of the pages of a buffer (VmFlags, man 5 proc)."""
    address, here = ctypes.addressof(ctypes.c_char.from_buffer(buffer)), False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if area := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            here = int(area[1], 16) <= address < int(area[2], 16)
        elif here and line.startswith("VmFlags:"):
            return set(line.split()[1:])
    return set()


def test_a_key_is_overwritten_when_its_block_ends():
    with SecretKey.generate() as key:
        inside = key._bytes.view
        assert inside is not None
        assert any(inside)
        if sys.platform == "linux":
            assert {"lo", "dd"} <= flags_of(inside), "locked into memory, and left out of dumps"
    assert not any(inside)
    with pytest.raises(KeyFormatError, match="wiped"):
        key.copy_secret()
