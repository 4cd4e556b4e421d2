"""Make the files of this folder anew, with the version of the program that is installed.

Run it with version 0.1.0 only: what it wrote is kept because later versions have to read it.
Say ``python make.py FOLDER MODELS``: a folder that does not exist yet, and the one in which the
built-in model is installed. Everything goes through the command but the window's settings, which
it has no command for. README.md lists what comes out.
"""

import json
import os
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, pkcs12
from cryptography.x509.oid import NameOID

PASSPHRASE = "seven green bottles"
KEY = "8f1d2c3b4a59687706f5e4d3c2b1a09f8e7d6c5b4a392817f6e5d4c3b2a19081"
FIELDS = [
    {"name": "customer", "bits": 16, "kind": "integer"},
    {"name": "issued", "bits": 14, "kind": "date", "epoch": "2020-01-01", "unit": "day"},
    {"name": "release", "bits": 6, "kind": "version", "parts": [2, 4]},
]
REQUEST = {
    "number": "R-17",
    "case": "17",
    "classification": "internal",
    "final": True,
    "parties": {"organisation": "Example Desk", "customer": "City paper", "examiner": "A. Example"},
    "item": {"source": "by mail", "received": "2026-11-20", "custody": "A. Example"},
    "remark": "The text came as a file.",
}
SETTINGS = {
    "theme": "dark",
    "language": "de",
    "model": "smollm2-135m",
    "profile": "house",
    "text_size": 17,
    "columns": (240, 700, 360),
    "rows": (200, 260, 220),
    "recent": ("/home/example/letters/letter.txt",),
    "auditor": "A. Example",
    "case_text": "seal",
    "report_organisation": "Example Desk",
    "report_language": "en",
    "report_paper": "us-letter",
}
A, B = '--auditor "A. Example"', '--auditor "B. Muster"'


def pura(command: str) -> str:
    """Run the command in the current folder, with words as a shell takes them."""
    done = subprocess.run(
        [sys.executable, "-m", "pura.cli", *shlex.split(command)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"pura {command}: {done.stdout}{done.stderr}")
    return done.stdout


def certificate() -> None:
    """Write a certificate that signed the report and the head; its key is thrown away."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, "Example Desk"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example"),
        ]
    )
    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(17)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .add_extension(x509.KeyUsage(True, True, *[False] * 7), critical=True)
        .sign(key, hashes.SHA256())
    )
    lock = serialization.BestAvailableEncryption(PASSPHRASE.encode())
    Path("org.p12").write_bytes(
        pkcs12.serialize_key_and_certificates(b"desk", key, cert, None, lock)
    )
    Path("org.pem").write_bytes(cert.public_bytes(Encoding.PEM))


def audits(case: str) -> list[str]:
    """Return the audits of a case."""
    return [row["id"] for row in json.loads(pura(f"caselog show '{case}' --json"))["audits"]]


def setup() -> None:
    """Store keys, profiles, register and policy; write the texts."""
    Path("passphrase.txt").write_text(PASSPHRASE + "\n")
    Path("raw.key").write_text(KEY + "\n")
    pura("key import desk --file raw.key --in-file --note 'of the tests'")
    pura("key derive desk newsroom-2026 --in-file")
    pura("key export desk -o desk.purakey --passphrase-file passphrase.txt --yes")
    Path("fields.json").write_text(json.dumps(FIELDS))
    pura("profile new --fields fields.json --name house -o house.json")
    pura("profile new --bits 24 --code spc --name paper -o paper.json")
    Path("register.csv").write_text(
        "customer,issued,release,who,when,model\n"
        "417,2026-11-21,1.4,City paper,2026-11-21,smollm2-135m\n"
        "418,2026-11-22,1.4,=Harbour paper,2026-11-22,smollm2-135m\n"
    )
    pura("register import register.csv --profile house")
    pura("register export register-export.csv")
    policy = {"schema": "pura-policy/1", "name": "desk", "version": 3}
    policy |= {"organisation": "Example Desk", "draws": 99, "yearly_volume": 2000}
    Path("home/config/policy.json").write_text(json.dumps(policy))
    Path("prompt.txt").write_text("The city council met on Tuesday evening to discuss")
    common = "--key desk --prompt-file prompt.txt --seed 1"
    fields = "--field customer=417 --field issued=2026-11-21 --field release=1.4"
    pura(
        f"generate --profile house {common} --tokens 80 -o letter.txt {fields}"
        " --ids letter-ids.json"
    )
    pura(f"generate --profile paper {common} --tokens 60 -o note.txt --payload 0x8E41B0")


def findings() -> None:
    """Write records and one-line findings."""
    house = "verify letter.txt --profile house --json --key desk"
    Path("record.json").write_text(pura(f"{house} --full --register"))
    Path("summary.json").write_text(pura(f"{house} --key desk/newsroom-2026"))
    paper = "verify note.txt --profile paper --key desk --decoder paper --json --full"
    Path("record-paper.json").write_text(pura(f"{paper} --prompt-file prompt.txt"))


def cases() -> None:
    """Fill the case log, make a report of it, sign both, hand a case out."""
    letter = "verify letter.txt --profile house --key desk"
    lock = "--certificate org.p12 --passphrase-file passphrase.txt"
    pura(f"{letter} --save 'Letter 17' {A}")
    pura(f"{letter} --save 'Letter 17' {A} --prompt-file prompt.txt")
    note = f"verify note.txt --profile paper --key desk --save 'Letter 17' {A}"
    pura(f"{note} --keep-text seal --text-passphrase-file passphrase.txt")
    pura(f"{note} --keep-text leave-out")
    first, second, *_ = audits("Letter 17")
    review = f"--recomputed 'the evidence, from the record' {B}"
    pura(f"caselog review 'Letter 17' {first} --agree {review}")
    pura(f"caselog review 'Letter 17' {second} --disagree {review}")
    pura(f"caselog note 'Letter 17' 'Asked the sender for the file: “ja”, 17 €.' {A}")
    pura(f"caselog tag 'Letter 17' press überfällig {A}")
    pura(
        "caselog record item-received --case 'Letter 17' --handed 'Front desk' --taken 'A. Example'"
        f" --digest 'SHA-256 9f2c' --details 'sealed envelope' {A}"
    )
    Path("request.json").write_text(json.dumps(REQUEST))
    files = "--pdf report.pdf --html report.html --json-file report.json --tables tables"
    pura(
        f"report build --case 'Letter 17' --audit {first} --request request.json {files}"
        f" --recipient 'City paper' {A}"
    )
    certificate()
    pura(f"report sign report.pdf signed.pdf {lock} --log {A}")
    pura(f"{letter} --save 'Old inquiry' {A}")
    [old] = audits("Old inquiry")
    pura(f"caselog hold 'Old inquiry' --reason 'a court asked' {A}")
    pura(f"caselog release 'Old inquiry' --reason withdrawn {A}")
    pura(f"caselog erase 'Old inquiry' --audit {old} --reason 'asked for' --yes {A}")
    pura("caselog note 'Old inquiry' 'by someone who left' --auditor 'C. Left'")
    pura(f"caselog forget 'C. Left' --reason 'left the house' --yes {A}")
    pura(f"caselog close 'Old inquiry' {A}")
    key = json.loads(Path("record.json").read_text())["keys"][0]["fingerprint"]
    pura(f"caselog record key-leaked --key {key} --details 'laptop stolen' {A}")
    pura(f"caselog export 'Letter 17' letter-17.puracase {A}")
    pura(f"caselog sign-head {lock} {A}")
    pura(f"caselog verify --record {A}")


def settings() -> None:
    """Write the window's settings."""
    from pura_audit.settings import SettingsFile

    SettingsFile(Path("home/config").absolute()).update(**SETTINGS)


def main() -> None:
    """Make everything in a folder of its own."""
    folder, models = Path(sys.argv[1]), Path(sys.argv[2]).absolute()
    (folder / "home" / "data").mkdir(parents=True)
    os.chdir(folder)
    Path("passphrase.txt").write_text(PASSPHRASE + "\n")
    link = Path("home/data/models")
    link.symlink_to(models, target_is_directory=True)
    (Path("home") / "config").mkdir()
    os.environ["PURA_HOME"] = str(Path("home").absolute())
    os.environ["PURA_PASSPHRASE_FILE"] = str(Path("passphrase.txt").absolute())
    os.environ.pop("DBUS_SESSION_BUS_ADDRESS", None)
    for step in (setup, findings, cases, settings):
        step()
    link.unlink()
    for database in Path("home/data").glob("*.sqlite3"):
        with closing(sqlite3.connect(database)) as opened:  # the log that a reader left behind
            opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for name in ("raw.key", "fields.json", "request.json", "org.p12"):
        Path(name).unlink()


if __name__ == "__main__":
    main()
