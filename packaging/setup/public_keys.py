"""Write resources/public-keys.json from the keys that stand in this project's own files.

Whatever can be read here is known to everybody, so none of it can be an organisation's key
(``pura.scheme.public_keys``). Taken are, in every text file of the tree,

* each run of exactly 64 hex digits, and each base64 text of 32 bytes: a digest that is printed here
  is no secret either, so nothing has to tell it from a key;
* the keys that Python code makes of constants, such as ``SecretKey(bytes(range(32)))``;
* the keys that the stores of keys below ``tests/data`` list.

Digests of packages stay out: they change with every update, and nobody takes them for a key. With
``--check`` nothing is written, and the exit code says whether the list is up to date.
"""

from __future__ import annotations

import ast
import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pura.scheme.keys import KEY_BYTES, fingerprint_of
from pura.scheme.public_keys import SCHEMA, pattern_secrets

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "resources" / "public-keys.json"
LEFT_OUT = ("packaging/setup/hashes.txt", "resources/public-keys.json")
MAX_BYTES = 4 << 20
"""Larger files are models, pictures and records without keys."""
_HEX = re.compile(rb"(?<![0-9A-Fa-f])[0-9A-Fa-f]{64}(?![0-9A-Fa-f])")
_BASE64 = re.compile(rb"(?<![\w+/-])[A-Za-z0-9+/_-]{43}=(?![\w+/=-])")
_MAKERS = {"SecretKey": bytes, "SecretKey.from_hex": bytes.fromhex}
"""Calls that make a key of their only argument, and what makes bytes of that."""
_MOST_BYTES = 4096
"""An expression whose value is longer is no key; it is not worked out."""


def tracked_files() -> Iterator[Path]:
    """Yield the files of the project that Git knows, without those that hold no keys."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if name not in LEFT_OUT and path.is_file() and path.stat().st_size <= MAX_BYTES:
            yield path


def keys_of_text(data: bytes) -> Iterator[bytes]:
    """Yield the 32 bytes of everything in a file that is written like a key."""
    for digits in _HEX.findall(data):
        yield bytes.fromhex(digits.decode())
    for letters in _BASE64.findall(data):
        yield base64.b64decode(letters.replace(b"-", b"+").replace(b"_", b"/"))


def constant(node: ast.expr) -> object:
    """Work out an expression of literals, ``bytes``, ``range`` and ``*``.

    Raises:
        ValueError: It holds something else, or is too long.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [constant(part) for part in parts]
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            first, times = constant(left), constant(right)
            repeated = isinstance(first, bytes | str | list) and isinstance(times, int)
            if repeated and len(first) * times <= _MOST_BYTES:  # type: ignore[arg-type, operator]
                return first * times  # type: ignore[operator]
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]):
            numbers = [constant(arg) for arg in args]
            if all(isinstance(n, int) and 0 <= n <= _MOST_BYTES for n in numbers):
                return list(range(*numbers))  # type: ignore[arg-type]
        case ast.Call(func=ast.Name(id="bytes"), args=[arg], keywords=[]):
            value = constant(arg)
            if not isinstance(value, int) or value <= _MOST_BYTES:
                return bytes(value)  # type: ignore[arg-type]
    raise ValueError


def keys_of_code(source: str) -> Iterator[bytes]:
    """Yield the keys that a Python file makes of constants."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or len(node.args) != 1:
            continue
        made = _MAKERS.get(ast.unparse(node.func).removeprefix("pura."))
        if made is None:
            continue
        try:
            secret = made(constant(node.args[0]))  # type: ignore[operator]
        except (ValueError, TypeError):
            continue
        if len(secret) == KEY_BYTES:
            yield secret


def fingerprints_of_store(data: bytes) -> Iterator[str]:
    """Yield the fingerprints of the keys that a store of the tests lists."""
    for entry in json.loads(data):
        yield entry["fingerprint"]


def collected() -> dict[str, str]:
    """Return the fingerprint of every key of the tree, with the first file that it stands in."""
    patterns = {fingerprint_of(secret) for secret in pattern_secrets()}
    found: dict[str, str] = {}
    for path in tracked_files():
        name, data = str(path.relative_to(ROOT)), path.read_bytes()
        if b"\0" in data:
            continue  # no text
        fingerprints = [fingerprint_of(secret) for secret in keys_of_text(data)]
        if path.suffix == ".py":
            fingerprints += map(fingerprint_of, keys_of_code(data.decode("utf-8")))
        if path.name == "keys.json":
            fingerprints += fingerprints_of_store(data)
        for fingerprint in fingerprints:
            if fingerprint not in patterns:
                found.setdefault(fingerprint, name)
    return dict(sorted(found.items()))


def main() -> None:
    """Write the list, or only say whether it is up to date."""
    text = json.dumps({"schema": SCHEMA, "keys": collected()}, indent=1) + "\n"
    same = LIST.exists() and LIST.read_text(encoding="utf-8") == text
    if not same and "--check" not in sys.argv:
        LIST.write_text(text, encoding="utf-8")
    if not same:
        print(f"{LIST.name} {'is outdated' if '--check' in sys.argv else 'written'}")
    raise SystemExit(not same and "--check" in sys.argv)


if __name__ == "__main__":
    main()
