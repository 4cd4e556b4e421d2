"""``pura model fitness``: how good a proxy a model is for a profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pura.cli.common import (
    DeviceOption,
    DtypeOption,
    KeyFile,
    KeyName,
    ProfileOption,
    environment,
    find_key,
    load_profile,
    number,
)
from pura.cli.terminal import RowsInto, language, out, say, write_row
from pura.measure.usual import PROXY_TEXTS, TOKENS

if TYPE_CHECKING:
    from pura.measure.fitness.measure import ProxyFitness
    from pura.measure.fitness.statistics import Estimate


def fitness(
    name: Annotated[str, typer.Argument(help="The model to measure: a stored name or a folder.")],
    profile: ProfileOption,
    key: KeyName = None,
    key_file: KeyFile = None,
    samples: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON Lines with text and payload; else texts are made."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The generating model, where it is here.")
    ] = None,
    texts: Annotated[int, number(PROXY_TEXTS, "How many texts to make.")] = PROXY_TEXTS.usual,
    tokens: Annotated[int, number(TOKENS, "Length of a made text.")] = TOKENS.usual,
    seed: Annotated[int, typer.Option(min=0, help="Of the made texts.")] = 1,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    _rows: RowsInto = None,
) -> None:
    """Measure how well a model reads the marks of a profile, on texts with known payloads."""
    from pura.cli.progress import bars
    from pura.usecases.models import measure_fitness

    at = environment(device, dtype)
    shared, one = (
        load_profile(at, profile),
        find_key(at, key, key_file, "command.one-key"),
    )
    try:
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
    finally:
        at.session_keys.wipe()
    if as_json:
        write_row(found.to_dict(), "fitness")
    else:
        _print(found)


def _print(found: ProxyFitness) -> None:
    from pura.measure.fitness.statistics import LEAST
    from pura.measure.fitness.words import plain_sentence

    rows = [
        (say("fitness.texts"), str(len(found.results))),
        (say("fitness.reach"), _percent(found.found)),
        (say("fitness.whole"), _percent(found.matched)),
        (say("fitness.bits"), _percent(found.bits_right)),
        (say("fitness.mean"), _plain(found.evidence, 1)),
        (say("fitness.mean-100"), _plain(found.evidence_per_100, 2)),
    ]
    if found.kl_bits is not None:
        rows.append((say("fitness.kl", source=found.source or ""), _plain(found.kl_bits, 3)))
    width = max(len(title) for title, _ in rows)
    for title, value in rows:
        out.print(f"{title:<{width}}  {value}")
    out.print(plain_sentence(found, language()))
    out.print(say("fitness.rule", least=LEAST))


def _percent(value: Estimate) -> str:
    scaled = [None if v is None else 100 * v for v in (value.value, value.low, value.high)]
    return _interval(scaled, 0, " %")


def _plain(value: Estimate, digits: int) -> str:
    return _interval([value.value, value.low, value.high], digits, "")


def _interval(numbers: list[float | None], digits: int, unit: str) -> str:
    middle, low, high = numbers
    words = f"{middle:.{digits}f}{unit}"
    if low is None or high is None:
        return words
    return say(
        "fitness.interval",
        middle=words,
        low=f"{low:.{digits}f}",
        high=f"{high:.{digits}f}{unit}",
    )
