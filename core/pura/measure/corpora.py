"""Texts for measurements: openings, cells, and external corpora.

The paper uses C4, Essays and OpenGen. The tool ships nothing copyrighted, so these replace them:

* ``manual`` – prose of the Python manual, which every Python carries (for C4, texts of the web);
* ``openings`` – our own first sentences of letters, news, stories and advice (for Essays);
* ``notes`` – prose from the documentation of installed libraries (for OpenGen's reference prose);
* ``code`` – functions of Python's own library; ``german`` – our own German openings; ``tasks`` –
  our own instructions, for a chat template.

A file may be named instead: lines of plain text, JSON lines or Parquet with a column ``prompt`` or
``text``. With the library ``datasets`` and a network, ``hub:NAME`` loads a data set from the hub.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np

from pura.base.errors import InputError
from pura.base.files import read_bounded
from pura.measure.attacks.base import split_sentences
from pura.scheme import Payload, Profile, SecretKey, default_blocks

STUDY: Final[tuple[str, ...]] = (
    "The harbour authority announced on Monday that the old ferry terminal will",
    "Three weeks after the flood, the families of the lower valley are still",
    "The finance committee has published its report on the new tram line, and",
    "According to the mayor, the library will stay open on Sundays because",
    "A fire broke out early this morning in a warehouse near the railway station.",
    "The strike of the airport staff enters its second week, and passengers",
    "Voters in the northern districts will decide next month whether",
    "The museum has recovered a painting that was stolen forty years ago from",
    "Police are looking for witnesses after a lorry overturned on the coastal road",
    "The company reported lower profits for the third quarter, mainly because of",
    "Dear Ms. Okafor, thank you for your letter of 12 March about the delivery of",
    "Dear neighbours, as some of you have noticed, the roof of our building",
    "Dear colleagues, starting in June we will change the way we book meeting rooms.",
    "To whom it may concern: I worked with Daniel for six years at the clinic, and",
    "Hi Marta, I am sorry that I missed your birthday. The train from Porto",
    "I am writing to complain about the washing machine that I bought from you in",
    "Before you assemble the shelf, lay out all parts on a soft surface and",
    "To replace the filter of the pump, first switch off the power and",
    "If the printer does not answer, check whether the cable",
    "The backup runs every night at two o'clock. When it fails, the operator",
    "This chapter explains how to measure the moisture of a wall without",
    "Sharpening a kitchen knife is easier than most people think. Hold the blade",
    "The lighthouse keeper had not spoken to anyone for eleven days when",
    "Nobody in the village remembered who had planted the walnut tree, but",
    "Elena counted the coins again and put them back into the tin. Outside,",
    "The captain folded the map, looked at the two boys and said",
    "On the last night of the fair the magician lost his rabbit.",
    "My aunt kept her letters in a biscuit box under the stairs, and",
    "The train stopped in the middle of the fields, and for a long time nothing",
    "He had promised his daughter a dog, but the creature in the basket",
    "The robot swept the empty platform every morning as if",
    "When the snow melted, we found the path to the mill again and",
    "Bees find their way back to the hive by means of",
    "The rings of Saturn consist of countless pieces of ice and rock that",
    "Vaccines teach the immune system to recognise",
    "Over the past two decades, glaciers in the Alps have lost",
    "Sleep is not a single state. During the night the brain passes through",
    "In a new study, volunteers who walked for half an hour a day",
    "The experiment was repeated with water from four different lakes, and the",
    "Lead was used in paint for centuries before physicians understood that",
    "Soil is more than crumbled rock; a handful of it contains",
    "The telescope recorded a short flash of light that astronomers",
    "The tenant shall keep the premises in good repair and",
    "The court held that the seller had not informed the buyer in time, since",
    "Under the new regulation, employers must record",
    "This agreement ends when either party gives notice in writing, provided that",
    "The right of way was first granted in 1874, when the owner of the farm",
    "The second half began with a surprise: the goalkeeper",
    "After a slow start to the season, the young cyclist has",
    "The chess tournament was decided in the last round, when",
    "She trained for the crossing of the channel in a cold lake, where",
    "For the soup, cut the leeks into thin rings and",
    "A good curry begins with the spices. Heat the oil slowly and",
    "My father made his pancakes with buttermilk, and the secret was",
    "The market in the old town opens at six, and by eight the best cheese",
    "Bread dough that rises overnight in the refrigerator develops",
    "The road from the airport to the capital leads through",
    "If you have only one day in the city, begin at the river and",
    "We reached the mountain hut just before the storm. The host",
    "The night bus across the desert takes fourteen hours, but",
    "Learning an instrument as an adult takes patience. Most beginners",
    "Before you sign a loan, compare the offers of several banks and",
    "Parents often ask how much time children should spend with",
    "A garden in the shade needs not be dull. Ferns, hostas and",
    "The interview went well, yet the question about my salary",
    "Small companies rarely plan for the day on which their founder",
    "The history of the bicycle begins with a bad harvest, because",
    "The guild of the bakers was one of the oldest in the town and",
    "When the canal was opened, coal from the hills could",
    "The composer wrote the quartet in a single summer, while",
    "Critics disagreed about the film: some praised its patience, others",
    "The exhibition shows photographs from the years after the war, among them",
)

LEARNING: Final[tuple[str, ...]] = (
    "The water company has asked its customers to save water until",
    "A bridge that was closed for repairs in spring will not open before",
    "The national team travels to the tournament without its captain, who",
    "Farmers in the plain expect a poor harvest this year because",
    "The new hospital wing was opened on Friday by",
    "Two hikers were rescued from the cliffs last night after",
    "The union and the bus company have agreed on",
    "Prices for used cars have fallen for the fourth month, as",
    "Dear Mr. Lindqvist, we have received your application for the post of",
    "Dear Grandma, the school trip was wonderful. We saw",
    "Dear team, the server will be moved on Saturday, so please",
    "I would like to return the boots that I ordered on",
    "Remove the four screws at the back of the case and",
    "Store the adhesive in a cool place. Once the tube is open,",
    "To reset the thermostat, press both buttons until",
    "The form has five pages. On the first page, enter",
    "The old woman who sold chestnuts at the gate knew",
    "It was the third time that the telephone rang and nobody",
    "Under the floor of the attic, the carpenter discovered",
    "The fox waited until the lights of the farm",
    "Two brothers inherited a vineyard, and neither of them",
    "Tomas opened the door of the greenhouse and saw that",
    "The heart of a blue whale is as large as",
    "Enzymes are proteins that speed up",
    "Geologists have found traces of an ancient river below",
    "The migration of the cranes depends on the wind and",
    "Many bacteria protect themselves from antibiotics by",
    "The first computers filled whole rooms, and programming them",
    "The insurer may refuse payment if the insured person",
    "A trademark protects a sign that customers",
    "The judge asked the witness to describe",
    "In the final, the favourite lost the first set and",
    "The marathon leads through all five districts, starting at",
    "Rinse the lentils and let them simmer with",
    "The best way to roast a chicken is",
    "Our hotel stood on a hill above the fishing port, and",
    "The island can be reached only by boat, and in winter",
    "If you want to stop biting your nails, begin by",
    "A good supervisor listens before",
    "The cathedral was built over three centuries, and its towers",
)

GERMAN: Final[tuple[str, ...]] = (
    "Der Gemeinderat hat am Dienstag beschlossen, dass die alte Mühle",
    "Sehr geehrte Frau Brandt, vielen Dank für Ihr Schreiben vom 3. Mai, in dem",
    "Als die Fähre endlich anlegte, stand auf der Mole nur noch",
    "Ein guter Sauerteig braucht vor allem Zeit. Man rührt",
    "Die Mieterin ist verpflichtet, Schäden an der Wohnung",
    "Nach drei Tagen Regen war der Weg zur Hütte",
    "In der zweiten Halbzeit kam die Mannschaft besser ins Spiel, weil",
    "Fledermäuse finden sich im Dunkeln zurecht, indem sie",
    "Wer zum ersten Mal ein Instrument lernt, sollte",
    "Liebe Kolleginnen und Kollegen, ab Juli ändern sich",
    "Das Museum zeigt in diesem Winter Zeichnungen, die",
    "Um den Filter zu wechseln, schalten Sie das Gerät aus und",
)
"""Openings in a second language."""

TASKS: Final[tuple[str, ...]] = (
    "Explain to a new colleague how our team should hand over work before a holiday.",
    "Write a short letter to a landlord about a heating that does not work.",
    "Describe a walk through a harbour town in the early morning.",
    "What should somebody consider before buying a used bicycle?",
    "Write the beginning of a story in which a lighthouse is sold.",
    "Explain how a vaccine works to a twelve-year-old.",
    "Give advice to a person who starts to work from home.",
    "Write a report on a meeting at which a new tram line was discussed.",
    "How do I keep herbs alive on a kitchen window?",
    "Describe how a small bakery plans its day.",
    "Write a complaint about a parcel that came too late and damaged.",
    "Explain why glaciers matter to the rivers below them.",
)
"""Instructions, for models with a chat template."""


SEED: Final = 20_261_121
TOKENS: Final = 200


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A group of texts that are generated with the same settings.

    Attributes:
        name: Name of the cell; name and seed determine all of its random numbers.
        code: ``spc``, ``tbcc``; "" for texts without a mark.
        payload_bits: ``L_m``; 0 without a mark.
        texts: Number of texts.
        tokens: Length of each text, in tokens.
        learning: Whether the texts begin with the prompts for learning instead of the study's.
    """

    name: str
    code: str
    payload_bits: int
    texts: int = 64
    tokens: int = TOKENS
    learning: bool = False

    def prompts(self) -> list[str]:
        """Return a prompt for each text, spread over the genres."""
        pool = LEARNING if self.learning else STUDY
        return [
            pool[(i * len(pool) // min(self.texts, len(pool))) % len(pool)]
            for i in range(self.texts)
        ]

    def profile(self, vocab_size: int) -> Profile:
        """Return the profile of the cell's texts."""
        if self.code == "tbcc":
            return Profile(payload_bits=self.payload_bits, code="tbcc", vocab_size=vocab_size)
        bits = self.payload_bits or 36
        return Profile(payload_bits=bits, blocks=default_blocks(bits), vocab_size=vocab_size)

    def key(self, number: int, seed: int = SEED) -> SecretKey:
        """Return the key of one text, which is not secret: anyone can derive it."""
        return SecretKey(self._bytes("key", number, seed))

    def payload(self, number: int, seed: int = SEED) -> Payload:
        """Return the payload of one text, uniform over all payloads of the length."""
        bits = self.generator("payload", number, seed).integers(0, 2, self.payload_bits)
        return Payload.from_bits(bits)

    def generator(self, purpose: str, number: int, seed: int = SEED) -> np.random.Generator:
        """Return the randomness of one text for one purpose."""
        return np.random.default_rng(int.from_bytes(self._bytes(purpose, number, seed), "little"))

    def _bytes(self, purpose: str, number: int, seed: int) -> bytes:
        label = f"{seed}/{self.name}/{purpose}/{number}"
        return blake2b(label.encode(), digest_size=32).digest()


def _marked(code: str, bits: int) -> Cell:
    return Cell(name=f"{code}-{bits}", code=code, payload_bits=bits)


MAIN: Final = (_marked("tbcc", 36), _marked("spc", 36))
"""Read under every attack and by every verifier."""

CLEAN: Final = tuple(
    _marked(code, bits)
    for code, bits in [
        *(("spc", b) for b in (12, 18, 24, 30)),
        *((c, b) for b in (64, 96, 128) for c in ("tbcc", "spc")),
    ]
)
"""Other payload lengths."""

LEARN: Final = Cell(name="learn", code="tbcc", payload_bits=36, texts=80, learning=True)
PLAIN: Final = Cell(name="plain", code="", payload_bits=0, texts=32, tokens=400)
PASSAGE: Final = Cell(name="passage", code="tbcc", payload_bits=36, texts=32, tokens=150)
POWER: Final = Cell(name="power", code="tbcc", payload_bits=36, texts=128)
"""More texts of the default code, for the power table alone."""

CELLS: Final = {c.name: c for c in (LEARN, *MAIN, PASSAGE, PLAIN, *CLEAN, POWER)}
"""All cells, in the order in which they are generated."""


MAX_FILE: Final = 64 << 20
# A paragraph is prose from 40 words on, and with at most 2 % of unusual characters.
_LEAST_WORDS: Final = 40
_MOST_ODD: Final = 0.02
_COLUMNS: Final = ("prompt", "text")
_NOTED: Final = ("numpy", "numpy.linalg", "scipy.stats")
OPENING_WORDS: Final = 12
"""First words of a text that serve as a prompt."""


def _prose(text: str) -> list[str]:
    """Return the paragraphs of a text that are plain prose, each on one line."""
    paragraphs = []
    for part in re.split(r"\n\s*\n", text):
        line = " ".join(part.split())
        odd = sum(1 for sign in line if not (sign.isalnum() or sign in " .,;:!?()'\"-"))
        plain = line[:1].isupper() and line[-1:] == "." and "--" not in line
        if plain and len(line.split()) >= _LEAST_WORDS and odd <= _MOST_ODD * len(line):
            paragraphs.append(line)
    return paragraphs


def _manual() -> list[str]:
    from pydoc_data.topics import topics

    return [p for name in sorted(topics) for p in _prose(topics[name])]


def _notes() -> list[str]:
    from importlib import import_module

    paragraphs: dict[str, None] = {}
    for module in map(import_module, _NOTED):
        # Not vars(module): its content depends on other imports.
        for name in sorted(module.__all__):
            docstring = inspect.getdoc(getattr(module, name)) or ""
            paragraphs |= dict.fromkeys(_prose(docstring))
    return list(paragraphs)


def _code() -> list[str]:
    import argparse
    import statistics
    import textwrap

    return [
        inspect.getsource(function)
        for module in (statistics, textwrap, argparse, re, json)
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
    ]


_BUILT_IN: Final[dict[str, Callable[[], Sequence[str]]]] = {
    "manual": _manual,
    "openings": lambda: STUDY,
    "notes": _notes,
    "code": _code,
    "german": lambda: GERMAN,
    "tasks": lambda: TASKS,
}
DOMAINS: Final = ("manual", "openings", "notes")
"""Replacements for the paper's three data sets, in its order."""


@cache
def corpus(name: str) -> tuple[str, ...]:
    """Return the texts of a corpus.

    Args:
        name: A corpus named above, a file, or ``hub:NAME``; ``hub:NAME/config=CONFIG`` if it has
            several configurations.

    Raises:
        InputError: The corpus is missing, unreadable or empty.
    """
    if name in _BUILT_IN:
        return tuple(_BUILT_IN[name]())
    if name.startswith("hub:"):
        return _from_hub(name.removeprefix("hub:"))
    path = Path(name)
    if not path.is_file():
        raise InputError("lab.corpus", name=name, known=", ".join(_BUILT_IN))
    texts = tuple(t for t in _from_file(path) if t.strip())
    if not texts:
        raise InputError("lab.corpus-empty", name=path.name)
    return texts


def prompts_of(name: str) -> tuple[str, ...]:
    """Return prompts from a corpus: its openings, or the first words of its texts."""
    texts = corpus(name)
    if name == "code":
        return tuple("\n".join(t.splitlines()[:3]) + "\n" for t in texts)
    if name in ("openings", "german", "tasks"):
        return texts
    return tuple(" ".join(t.split()[:OPENING_WORDS]) for t in texts)


def sentences_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences of more than three words."""
    return tuple(s for t in texts for s in split_sentences(t)[0] if len(s.split()) > 3)


def _from_file(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        try:
            names = pq.read_schema(path).names
            column = next(c for c in _COLUMNS if c in names)
            return [str(t or "") for t in pq.read_table(path, columns=[column])[column].to_pylist()]
        except (OSError, ValueError, StopIteration):
            raise InputError("lab.corpus-empty", name=path.name) from None
    try:
        lines = read_bounded(path, MAX_FILE).decode("utf-8-sig").splitlines()
        if path.suffix not in (".jsonl", ".ndjson"):
            return lines
        rows = [json.loads(line) for line in lines if line.strip()]
        return [str(next(row[c] for c in _COLUMNS if c in row)) for row in rows]
    except (ValueError, TypeError, StopIteration):
        raise InputError("lab.corpus-empty", name=path.name) from None


def _from_hub(name: str) -> tuple[str, ...]:
    try:
        from datasets import load_dataset
    except ImportError:
        raise InputError("extra.missing", name="datasets", extra="datasets") from None
    dataset, _, config = name.partition("/config=")
    rows = load_dataset(dataset, config or None, split="train", streaming=True)
    return tuple(str(row["text"]) for row in rows.take(1000))
