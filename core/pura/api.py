"""What ``import pura`` offers to programs; stable between versions.

Everything here goes the way of the command: the user's folders, the stored policy, the twelve steps
of an audit. Nothing of it reaches for the network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, cast

from pura.base.arguments import argument_error, check_argument, truth_error
from pura.base.errors import InputError, ProfileError, PuraError, SigningError
from pura.base.paths import Paths, user_paths
from pura.detect.options import AuditText
from pura.detect.verdict.policy import Policy
from pura.documents import Document, ReadOptions, endings, from_text, read_file
from pura.embed.generate import Generated
from pura.keys import KeyRef, Secret, load_key, passphrase_bytes
from pura.model import libraries
from pura.model.folder import InstalledModel
from pura.model.load import LanguageModel
from pura.provenance.writing import SignedText
from pura.record.audit import Audit
from pura.scheme import Payload, Profile, SecretKey, pack, parse_payload
from pura.usecases.audit_choices import Choices
from pura.usecases.audits import Prepared, Setup, prepared, stored_setup
from pura.usecases.choices import EPOCHS, WEIGH, refuse_other_rules, together, trusted
from pura.usecases.environment import Environment
from pura.usecases.keys import marking_key, open_identity
from pura.usecases.profiles import find_profile

libraries.prepare()  # before torch is imported: nothing of it goes to the network

Text = str | Path
"""A text, or as a ``Path`` a file of any format that the command reads.

A string is always the text itself. One that is the name of a file is refused: whoever passes it
means the file.
"""
File = str | Path
"""A file, by its path or its name."""
_LONGEST_NAME: Final = 4096  # of a file
Keys = SecretKey | str | Sequence[SecretKey | str]
"""A key, the name of a stored one, or several of them."""
Decoder = Literal["exact", "paper"]
"""Which payload is reported: that of the exact decoder, or of the published method."""
DeviceName = Literal["auto", "cpu", "cuda", "mps"]
"""Where a model computes."""
DtypeName = Literal["float32", "bfloat16", "float16"]
"""Numbers that a model computes with."""
EmbedForm = Literal["a8", "a9", "none"]
"""How a manifest goes with its text."""
LeftOutRule = Literal["quotations", "references"]
"""What a rule leaves out of the examined text."""
_NO_TABLES: Final = "iterrows", "iter_rows"
"""Methods of data frames (pandas, polars), by which one is told from a column of it."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """What became of one of many texts; either ``audit`` or ``error`` is set.

    Attributes:
        id: The caller's own.
        audit: The record.
        error: Why there is none.
    """

    id: object
    audit: Audit | None = None
    error: PuraError | None = None

    @property
    def found(self) -> bool:
        """Whether a mark was found."""
        return self.audit is not None and self.audit.found

    def to_row(self) -> dict[str, Any]:
        """Return one flat row, e.g. of a data frame; an error is a row as well."""
        if self.audit is not None:
            return {"id": self.id, **self.audit.to_row(), "error": None, "message": None}
        if self.error is None:
            return {"id": self.id, "error": None, "message": None}
        return {"id": self.id, "error": self.error.code, "message": str(self.error)}

    def __repr__(self) -> str:
        outcome = repr(self.audit) if self.error is None else f"error {self.error.code}"
        return f"<Result {self.id!r}: {outcome}>"

    def _repr_html_(self) -> str:
        """Show the findings in a notebook."""
        from html import escape

        from pura.record.card import card_html

        if self.audit is not None:
            return card_html(self.audit.finding, self.audit.text, self.audit.tokens)
        return f"<p>{escape(repr(self.id))}: {escape(str(self.error))}</p>"

    def __bool__(self) -> NoReturn:
        """Refuse: whether there is a result, and whether a mark was found, are two things.

        Raises:
            ArgumentError: Names what says which.
        """
        raise truth_error("Result")


def load(
    model: str | Path | None = None,
    *,
    device: DeviceName = "auto",
    dtype: DtypeName = "float32",
) -> LanguageModel:
    """Load a model, to be used for many texts.

    Args:
        model: Name of an installed one, a local folder or GGUF file; None takes the only one that
            is installed.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        dtype: ``float32``; ``bfloat16`` or ``float16`` on a GPU.

    Raises:
        PuraError: There is none, several, or it is unsafe or damaged; the device is not there.

    Examples:
        As a program says it::

            model = pura.load("smollm2-135m")
    """
    check_argument("model", model, (str, Path, type(None)), "model")
    environment = Environment(paths=user_paths(), device=device, dtype=dtype)
    return environment.model(None if model is None else str(model))


def verify(
    text: Text,
    *,
    setup: str | Setup | None = None,
    key: Keys = (),
    profile: Profile | Text | None = None,
    model: LanguageModel | Text | None = None,
    name: str = "pasted text",
    prompt: str | Sequence[str] | None = None,
    decoder: Decoder = "exact",
    epochs: str = EPOCHS,
    also: Sequence[Profile | Text] = (),
    weigh: bool = WEIGH,
    policy: Policy | File | None = None,
    register: bool = False,
    ids: Sequence[int] | None = None,
    trust: File | None = None,
    leave_out: Sequence[LeftOutRule] = (),
    questions: File | bool = False,
) -> Audit:
    """Audit one text: does it carry a mark of these keys, and which payload?

    Args:
        text: The text; a :class:`~pathlib.Path` is a file that is read. A string that is the name
            of a file is refused.
        setup: Name of a stored set-up, or a :class:`Setup`, instead of key, profile and model;
            those that are passed as well replace its parts.
        key: A key, the name of a stored one, or several; the evidence is the mean over them. None
            for a mark by others takes the key that its profile is sealed under.
        profile: A profile, or its file or stored name.
        model: A loaded model; its name or path; None takes the one that the profile names, else
            the only one that is installed. It stays loaded for the next call.
        name: How the record calls a text that is no file.
        prompt: The prompt, if it is known; or several candidates, over which the mean is taken.
        decoder: ``exact``, or ``paper`` (the published method).
        epochs: ``FROM..TO``: try the keys of these days, weeks or months, derived from each key;
            empty does what the profile says, ``none`` takes the keys as they are.
        also: Profiles of marks by others that are tried as well; the evidence is the mean.
        weigh: Let the model read the text for marks by others too, which sharpens Gumbel-max.
        policy: A policy, or its file, instead of the stored one.
        register: Ask the register of issued payloads.
        ids: The text's token ids, where the generator saved them; read beside the text.
        trust: File with the certificates (PEM) whose signed manifests are trusted, instead of the
            stored ones.
        leave_out: Leave ``quotations``, lists of ``references``, or both out of the examined text,
            besides what policy and set-up say.
        questions: Also read the text after the stored questions that it may answer: those of the
            user's question store, or of another file.

    Raises:
        PuraError: The text cannot be read or audited; key, profile or model are not there; an
            argument has a wrong type, which is a :class:`TypeError` as well.

    Examples:
        As a program says it::

            audit = pura.verify(Path("letter.docx"), setup="newsroom")
            audit.found, audit.payload.bits
    """
    check_argument("text", text, (str, Path), "text")
    check_argument("name", name, str, "words")
    saved = _ids(ids)
    asked = _prompts(prompt)
    options = _choices(decoder, epochs, weigh, policy, register, trust, leave_out, questions)
    with _prepared(setup, key, profile, model, also, options) as ready:
        document = _document(text, name, options.trust or "")
        found = ready.audit(AuditText(document=document, prompts=asked, ids=saved))
    if found.error is not None:
        raise found.error
    return found.audit


def verify_many(
    texts: Iterable[Text] | Iterable[tuple[object, Text]] | Mapping[Any, Text],
    *,
    setup: str | Setup | None = None,
    key: Keys = (),
    profile: Profile | Text | None = None,
    model: LanguageModel | Text | None = None,
    decoder: Decoder = "exact",
    epochs: str = EPOCHS,
    progress: bool = False,
    also: Sequence[Profile | Text] = (),
    weigh: bool = WEIGH,
    policy: Policy | File | None = None,
    register: bool = False,
    trust: File | None = None,
    leave_out: Sequence[LeftOutRule] = (),
    questions: File | bool = False,
) -> Iterator[Result]:
    """Audit texts as they are asked for, some of them side by side; none is held longer.

    Args:
        texts: Texts or files; or pairs of an identifier of your own and such a text; or a mapping
            of them, or one column of a table (a pandas Series keeps its index). Without
            identifiers they are counted from 0.
        setup: As for :func:`verify`, and so are the others.
        key: See there.
        profile: See there.
        model: See there.
        decoder: See there.
        epochs: See there.
        also: See there.
        weigh: See there.
        policy: See there.
        register: See there.
        trust: See there.
        leave_out: See there.
        questions: See there.
        progress: Show a bar (tqdm), in a notebook as well.

    Yields:
        One result a text; one that cannot be audited is a result with an error.

    Raises:
        PuraError: An argument has a wrong type, at once: a single text and a whole table are no
            lists of texts. Key, profile or model are not there, before the first text.

    Examples:
        As a program says it::

            for result in pura.verify_many(table["text"], setup="newsroom"):
                print(result.id, result.found)
    """
    check_argument("progress", progress, bool, "flag")
    pairs, count = _pairs(texts)
    options = _choices(decoder, epochs, weigh, policy, register, trust, leave_out, questions)
    lent = _prepared(setup, key, profile, model, also, options)
    stream = _results(pairs, lent, options.trust or "")
    return _counted(stream, count) if progress else stream


def to_pandas(results: Iterable[Result | Audit]) -> Any:
    """Return results as a data frame of pandas: a row each, under the identifiers as its index.

    Args:
        results: What :func:`verify_many` yields, or audits.

    Raises:
        PuraError: pandas is not installed, or something else was passed.

    Examples:
        As a program says it::

            findings = pura.to_pandas(pura.verify_many(df["text"], setup="newsroom"))
            df.join(findings)
    """
    try:
        import pandas as pd
    except ImportError:
        raise InputError(
            "extra.missing", name="pandas", extra="pura-audit[notebook]", code="usage"
        ) from None
    if isinstance(results, str | bytes | Mapping) or not isinstance(results, Iterable):
        raise argument_error("results", results, "results")
    index, rows = [], []
    for number, entry in enumerate(results):
        if not isinstance(entry, Result | Audit):
            raise argument_error("results", entry, "results")
        row = entry.to_row()
        index.append(row.pop("id", number))
        rows.append(row)
    return pd.DataFrame(rows, index=pd.Index(index, name="id"))


def installed_model(name: str | Path) -> InstalledModel | LanguageModel:
    """Return what is known of a model by its name, without loading it where it is installed.

    Args:
        name: Of an installed one; or a local folder or GGUF file, which is loaded.

    Raises:
        PuraError: There is none.
    """
    at = _environment(user_paths())
    known = any(model.name == str(name) for model in at.models.list())
    return at.installed(str(name)) if known or not Path(name).exists() else at.model(str(name))


def read_key(path: File, passphrase: str | None = None) -> SecretKey:
    """Read a key from a file in any of its forms; see :meth:`SecretKey.load`."""
    check_argument("path", path, (str, Path), "file")
    check_argument("passphrase", passphrase, (str, type(None)), "words")
    ask = None if passphrase is None else lambda: passphrase_bytes(passphrase)
    return load_key(Path(path), ask).key


def _results(
    pairs: Iterable[tuple[object, Text]],
    lent: AbstractContextManager[Prepared],
    trust: str,
) -> Iterator[Result]:
    def items() -> Iterator[tuple[object, AuditText | PuraError]]:
        for own, text in pairs:
            yield own, ready.contained(partial(_audit_text, text, str(own), trust))

    with lent as ready:
        for own, found in ready.stream(items()):
            error = found if isinstance(found, PuraError) else found.error
            audit = None if isinstance(found, PuraError) or error is not None else found.audit
            yield Result(id=own, audit=audit, error=error)


def mark(
    prompt: str,
    *,
    payload: Payload | str | Mapping[str, object],
    key: SecretKey | str,
    profile: Profile | Text,
    model: LanguageModel | Text | None = None,
    tokens: int = 200,
    seed: int | None = None,
    outside_limits: bool = False,
) -> Generated:
    """Write a marked text with a local model.

    Args:
        prompt: What the text goes on from.
        payload: Bits as 0 and 1, ``0x…``, or a value for every field of the profile.
        key: A key, or the name of a stored one; where the profile says that keys are those of a
            day, a week or a month, the one that they come from.
        profile: As for :func:`verify`.
        model: As for :func:`verify`.
        tokens: Length of the text.
        seed: Of the ordinary randomness; None: fresh.
        outside_limits: Take a payload outside the limits of the profile, too.

    Raises:
        PuraError: Payload and profile do not fit, limits included; key, profile or model are not
            there; an argument has a wrong type, which is a :class:`TypeError` as well.

    Examples:
        As a program says it::

            made = pura.mark(
                "The council met", payload="0x2A5", key="newsroom", profile="house"
            )
            print(made.text)
    """
    check_argument("prompt", prompt, str, "words")
    check_argument("tokens", tokens, int, "number")
    check_argument("seed", seed, (int, type(None)), "number-or-none")
    check_argument("outside_limits", outside_limits, bool, "flag")
    check_argument("key", key, (SecretKey, str), "key", code="key-type")
    from pura.embed import generate
    from pura.usecases.marking import refuse_outside

    shared = _profile(profile)
    carried = _payload(payload, shared)
    if not outside_limits:
        refuse_outside(carried, shared)
    at, (ref, *_) = _keys(key)
    with at.opened_keys([marking_key(at, ref, shared)]) as [(secret, _)]:
        return generate(
            _model(model, shared),
            prompt,
            carried,
            secret,
            shared,
            tokens=tokens,
            seed=seed,
            ignore_eos=True,
        )


def sign_manifest(
    text: Text,
    *,
    payload: Payload | str | Mapping[str, object],
    profile: Profile | Text,
    soft_binding: str,
    certificate: File,
    private_key: File | None = None,
    passphrase: str | None = None,
    embed: EmbedForm | None = None,
    timestamp: str | None = None,
) -> SignedText:
    """Sign a manifest (C2PA) that names the same issue as the mark of a text.

    Args:
        text: A text or a file of one, in UTF-8.
        payload: What its mark carries; as for :func:`mark`.
        profile: As for :func:`verify`.
        soft_binding: The mark's name in C2PA's list of algorithms, like ``org.example.pura.1``.
        certificate: PKCS#12; with ``private_key`` the certificates, PEM.
        private_key: The certificate's key, PEM.
        passphrase: Of the certificate or its key.
        embed: ``a8`` for variation selectors at the end, ``a9`` for a comment of Markdown, ``none``
            for a manifest beside the text; None: ``a9`` for a file of Markdown, else ``a8``.
        timestamp: Address of a time-stamp authority (RFC 3161); this uses the network.

    Raises:
        PuraError: The text has a manifest, is too long or not UTF-8; payload and profile do not
            fit; the certificate is not fit for manifests; nobody gave a time stamp; an argument
            has a wrong type, which is a :class:`TypeError` as well.

    Examples:
        As a program says it::

            signed = pura.sign_manifest(
                Path("letter.txt"),
                payload="0x2A5",
                profile="house",
                soft_binding="org.example.pura.1",
                certificate=Path("desk.p12"),
                passphrase="four words in a row",
            )
    """
    from pura.provenance import writing
    from pura.usecases.manifests import read_signable

    check_argument("text", text, (str, Path), "text")
    check_argument("certificate", certificate, (str, Path), "file")
    check_argument("private_key", private_key, (str, Path, type(None)), "file")
    check_argument("soft_binding", soft_binding, str, "words")
    check_argument("passphrase", passphrase, (str, type(None)), "words")
    check_argument("timestamp", timestamp, (str, type(None)), "words")
    shared = _profile(profile)
    carried = _payload(payload, shared).text
    secret = None if passphrase is None else Secret(bytearray(passphrase.encode()))
    return writing.sign_manifest(
        read_signable(text) if isinstance(text, Path) else text,
        open_identity(
            Path(certificate),
            secret,
            SigningError,
            None if private_key is None else Path(private_key),
        ),
        payload=carried,
        profile=shared.fingerprint,
        soft_binding=soft_binding,
        form=embed or writing.form_of(text.name if isinstance(text, Path) else ""),
        timestamp=timestamp,
    )


def _choices(
    decoder: str,
    epochs: str,
    weigh: bool,
    policy: Policy | File | None,
    register: bool,
    trust: File | None,
    leave_out: Sequence[str],
    questions: File | bool,
) -> Choices:
    check_argument("decoder", decoder, str, "words")
    check_argument("epochs", epochs, str, "words")
    check_argument("weigh", weigh, bool, "flag")
    check_argument("register", register, bool, "flag")
    check_argument("policy", policy, (Policy, str, Path, type(None)), "policy")
    check_argument("trust", trust, (str, Path, type(None)), "file")
    check_argument("questions", questions, (bool, str, Path), "file")
    check_argument("leave_out", leave_out, (list, tuple, set, frozenset), "rules")
    for rule in leave_out:
        check_argument("leave_out", rule, str, "rules")
    refuse_other_rules(leave_out)
    return Choices(
        decoder=decoder,
        epochs=epochs,
        weigh=weigh,
        policy=Path(policy) if isinstance(policy, str) else policy,
        ask_register=register,
        trust=trusted(user_paths(), None if trust is None else Path(trust)),
        leave_out=tuple(leave_out),
        questions=Path(questions) if isinstance(questions, str) else questions,
    )


def _prepared(
    setup: str | Setup | None,
    key: Keys,
    profile: Profile | Text | None,
    model: LanguageModel | Text | None,
    also: Sequence[Profile | Text],
    options: Choices,
) -> AbstractContextManager[Prepared]:
    """Lend what texts are audited with: a stored set-up, or parts that are named separately."""
    check_argument("setup", setup, (str, Setup, type(None)), "setup")
    check_argument("model", model, (LanguageModel, str, Path, type(None)), "model")
    check_argument("also", also, (list, tuple), "profiles")
    at, refs = _keys(key)
    shared = None if profile is None else _profile(profile)
    if isinstance(setup, Setup):
        used = replace(setup, keys=tuple(refs) or setup.keys, profile=shared or setup.profile)
    elif setup is not None:
        used = stored_setup(at, setup, profile=shared, keys=refs, other_model=model is not None)
    elif shared is not None:
        used = Setup(keys=tuple(refs), profile=shared)
    else:
        raise ProfileError("face.setup", code="usage")
    if isinstance(model, str | Path):
        used = replace(used, model=str(model))
    elif model is not None:
        at = replace(at, lent_model=model)
    for other in also:
        check_argument("also", other, (Profile, str, Path), "profiles")
    further = tuple(_profile(other) for other in also)
    chosen = {choice.name: getattr(options, choice.name) for choice in fields(Choices)}
    chosen["leave_out"] = together(used.leave_out, options.leave_out)
    chosen["questions"] = options.questions or used.questions
    return prepared(at, replace(used, also=further, **chosen))


def _keys(key: Keys) -> tuple[Environment, list[KeyRef]]:
    """Name keys, and the environment that has them; the caller's own stay the caller's."""
    listed: list[Any] = list(key) if isinstance(key, list | tuple | set) else [key]
    for entry in listed:
        check_argument("key", entry, (SecretKey, str), "key", code="key-type")
    lent = {entry.fingerprint: entry for entry in listed if isinstance(entry, SecretKey)}
    at = replace(_environment(user_paths()), lent_keys=lent)
    named = [at.stored_key(entry) for entry in listed if isinstance(entry, str)]
    return at, [*(KeyRef(fingerprint=fingerprint) for fingerprint in lent), *named]


def _pairs(texts: Any) -> tuple[Iterable[tuple[object, Text]], int | None]:
    """Return texts under their identifiers, and how many there are, where that is known.

    Raises:
        ArgumentError: It is a single text, a whole table, or nothing that can be gone through.
    """
    single = isinstance(texts, str | bytes | bytearray | Path)
    table = any(hasattr(texts, method) for method in _NO_TABLES)
    if single or table or not isinstance(texts, Iterable):
        raise argument_error("texts", texts, "texts")
    count = len(texts) if isinstance(texts, Sized) else None
    # A Series of pandas is no Mapping, and goes through its values; its index would be lost.
    if isinstance(texts, Mapping) or (hasattr(texts, "items") and hasattr(texts, "index")):
        return cast("Any", texts).items(), count
    return _numbered(texts), count


def _numbered(texts: Iterable[Any]) -> Iterator[tuple[object, Text]]:
    for number, entry in enumerate(texts):
        yield entry if isinstance(entry, tuple) and len(entry) == 2 else (number, entry)


def _counted(stream: Iterator[Result], count: int | None) -> Iterator[Result]:
    """Show a bar while results come."""
    from tqdm.auto import tqdm

    yield from tqdm(stream, total=count, unit="text")


def _audit_text(text: Text, name: str, trust: str) -> AuditText:
    return AuditText(document=_document(text, name, trust))


def _document(text: Text, name: str, trust: str) -> Document:
    if isinstance(text, Path):
        return read_file(text, ReadOptions(trust=trust))
    if not isinstance(text, str):
        raise InputError("batch.not-text", code="input-field")
    if _is_file_name(text):
        raise InputError("face.file-name", code="usage")
    return from_text(text, name=name)


def _is_file_name(text: str) -> bool:
    """Whether a text is one word with the ending of a file, or the name of a file that is there."""
    if not text or len(text) > _LONGEST_NAME or "\n" in text:
        return False
    if len(text.split()) == 1 and text.lower().endswith(endings()):
        return True
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _prompts(prompt: str | Sequence[str] | None) -> tuple[str, ...]:
    if prompt is None:
        return ()
    check_argument("prompt", prompt, (str, list, tuple), "prompt")
    for candidate in (prompt,) if isinstance(prompt, str) else prompt:
        check_argument("prompt", candidate, str, "prompt")
    return tuple(dict.fromkeys((prompt,) if isinstance(prompt, str) else prompt))


def _ids(ids: Sequence[int] | None) -> tuple[int, ...] | None:
    if ids is None:
        return None
    listed = ids.tolist() if hasattr(ids, "tolist") else ids  # an array, or a tensor
    check_argument("ids", listed, (list, tuple), "ids")
    for token in listed:
        check_argument("ids", token, int, "ids")
    return tuple(listed)


def _profile(profile: Profile | Text) -> Profile:
    check_argument("profile", profile, (Profile, str, Path), "profile")
    if isinstance(profile, Profile):
        return profile
    return Profile.load(find_profile(_environment(user_paths()), str(profile)))


def _model(model: LanguageModel | Text | None, profile: Profile) -> LanguageModel:
    check_argument("model", model, (LanguageModel, str, Path, type(None)), "model")
    if model is None or isinstance(model, str | Path):
        name = None if model is None else str(model)
        return _environment(user_paths()).model(name, profile=profile)
    return model


def _payload(payload: Payload | str | Mapping[str, object], profile: Profile) -> Payload:
    check_argument("payload", payload, (Payload, str, Mapping), "payload")
    if isinstance(payload, Payload):
        return payload
    if isinstance(payload, str):
        return parse_payload(payload, profile.payload_bits)
    return pack(profile.fields, payload)


@cache
def _environment(paths: Paths) -> Environment:
    return Environment(paths=paths)
