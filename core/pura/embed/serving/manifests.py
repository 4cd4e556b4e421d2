"""Both layers in one go: the manifest of an answer that the gateway had marked.

The payload and the manifest's identifier are drawn before, and are in one row of the log; the
manifest is made when the text has ended, since it is bound to all of it. It is kept as a file of
its own in any case, written before the end of the answer leaves; with ``"embed": "a8"`` it is also
the end of the text, of a streamed one in its last piece.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pura.base.errors import SigningError, os_error_as
from pura.base.files import make_private, read_bounded, write_atomic
from pura.base.identity import MAX_FILE_BYTES, Identity, check_time, load_identity
from pura.embed.serving.private_files import refuse_readable, refuse_writable
from pura.provenance.writing import DETACHED, WRAPPER, check_ready, sign_manifest
from pura.register.rows import Issue


@dataclass(frozen=True, kw_only=True)
class Signing:
    """How answers are signed.

    Attributes:
        identity: Who signs.
        soft_binding: The mark's name in C2PA's list of algorithms.
        form: ``a8``, at the end of the text; or ``none``, beside it only.
        folder: Where manifests are kept.
        timestamp: Address of a time-stamp authority (RFC 3161); None: the network is not used.
        profile: Fingerprint of the profile that answers are marked with.
    """

    identity: Identity
    soft_binding: str
    form: str
    folder: Path
    timestamp: str | None
    profile: str

    @classmethod
    def load(cls, data: Mapping[str, Any], folder: Path, profile: str) -> Signing:
        """Read the part ``manifest`` of a policy; the files that it names lie beside it.

        Raises:
            PuraError: A file cannot be read, or the certificate is not fit for manifests.
            ValueError: It is no such part.
        """
        known = {"certificate", "key", "passphrase_file", "soft_binding", "embed", "folder"}
        form = data.get("embed", DETACHED)
        if set(data) - known - {"timestamp"} or form not in (WRAPPER, DETACHED):
            raise ValueError(form)

        def read(name: str) -> bytes | None:
            file_name = data.get(name)
            if file_name is None:
                return None
            path = folder / str(file_name)
            # A certificate alone is public; nobody else may put another one in its place.
            (refuse_writable if name == "certificate" else refuse_readable)(path)
            return read_bounded(path, MAX_FILE_BYTES, SigningError)

        words = (read("passphrase_file") or b"").splitlines()
        found = cls(
            identity=load_identity(
                read("certificate") or b"",
                words[0] if words else None,
                now=datetime.now(UTC),
                key=read("key"),
            ),
            soft_binding=str(data["soft_binding"]),
            form=form,
            folder=folder / str(data["folder"]),
            timestamp=data.get("timestamp"),
            profile=profile,
        )
        check_ready(found.identity, found.soft_binding)
        make_private(found.folder)
        return found

    def sign(self, text: str, issue: Issue) -> str:
        """Sign a text; returns it as it is answered, once its manifest is on disk.

        Raises:
            PuraError: It cannot be signed, or the manifest cannot be written.
        """
        check_time(self.identity.certificate, datetime.now(UTC))
        made = sign_manifest(
            text,
            self.identity,
            payload=issue.payload.text,
            profile=self.profile,
            soft_binding=self.soft_binding,
            form=self.form,
            manifest=issue.manifest,
            timestamp=self.timestamp,
        )
        path = self.folder / f"{issue.manifest.rpartition(':')[2]}.c2pa"
        with os_error_as(SigningError, "file.write", name=path.name):
            write_atomic(path, made.store, private=True)
        return made.text


class Signer:
    """Signs one answer when its text has ended.

    Args:
        signing: How.
        manifest: Identifier of the manifest, drawn before there is a text.
        row: Returns the row of the answer's payload, once it was drawn.
    """

    def __init__(self, signing: Signing, manifest: str, row: Callable[[], Issue]) -> None:
        self.manifest = manifest
        self._signing, self._row, self._text = signing, row, ""

    async def piece(self, text: str | None, *, last: bool) -> str | None:
        """Return a piece as it is sent: as it is, and the last one with what comes after it.

        Raises:
            PuraError: See :meth:`Signing.sign`.
        """
        self._text += text or ""
        if not last or not self._text:
            return text
        signed = await asyncio.to_thread(self._signing.sign, self._text, self._row())
        return (text or "") + signed[len(self._text) :]
