from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura import documents
from pura.base.errors import InputError
from pura.documents import from_bytes, from_text, read_file


def refusal(data: bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        from_bytes(data, name="x.txt")
    assert caught.value.message
    return caught.value


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"plain", "plain", "utf-8"),
        ("Grüße, 世界 🙂".encode(), "Grüße, 世界 🙂", "utf-8"),
        (b"\xef\xbb\xbfmarked", "marked", "utf-8-sig"),
        ("zwei\r\nZeilen".encode("utf-16"), "zwei\r\nZeilen", "utf-16"),
        (b"caf\xe9 \x93quoted\x94", "café “quoted”", "windows-1252"),
    ],
)
def test_bytes_become_text_and_the_encoding_is_said(data: bytes, text: str, encoding: str) -> None:
    document = from_bytes(data, name="a.txt")
    assert document.text == text
    assert document.encoding == encoding
    assert document.sha256 == hashlib.sha256(data).hexdigest()
    assert document.size_bytes == len(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n\t ",
        b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)),
        b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + b"\x9c\x01\x02" * 50,
        b"some text\x00with a NUL",
        b"\xff\xfe\x00\xd8",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    ],
)
def test_what_is_not_a_text_is_refused_with_a_way_out(data: bytes) -> None:
    refusal(data)


def test_five_megabytes_are_refused_with_the_limit_named() -> None:
    error = refusal(b"word " * 1_000_000)
    assert "5,000,000" in error.message
    assert f"{documents.MAX_CHARACTERS:,}" in error.message


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(InputError, match="surrogates"):
        from_text("half \ud83d a character")


@given(st.binary(max_size=400))
def test_any_bytes_give_a_text_or_one_clear_error(data: bytes) -> None:
    try:
        text = from_bytes(data, name="any").text
    except InputError as error:
        text = error.hint
    assert text.strip()
    text.encode()


def test_folders_pipes_and_missing_files_are_refused(tmp_path: Path) -> None:
    if hasattr(os, "mkfifo"):  # elsewhere a pipe has no name in a folder
        os.mkfifo(tmp_path / "pipe")
    for name in ("", "missing.txt", "pipe", "bad\x00name"):
        with pytest.raises(InputError):
            read_file(tmp_path / name)
