"""The bench itself: every scheme writes and is read; what is kept is not done again."""

from dataclasses import replace

import numpy as np
import pytest

from pura.measure.attacks.base import Tools
from pura.measure.attacks.table import AttackError
from pura.measure.cache import Cache
from pura_lab.compare.methods import METHODS, Bench, LawSource
from pura_lab.compare.work import (
    CHUNK,
    CLEAN,
    CellPart,
    CellReader,
    calibrate,
    lines_of,
    summarise,
    write,
    write_parquet,
)
from pura_lab.rivals.greens import segment_table

V = 128


@pytest.fixture(scope="module")
def source():
    return LawSource(
        np.random.default_rng(3).dirichlet(np.full(V, 0.3), (4, 80)).astype(np.float32)
    )


def bench():
    def proxy(windows):
        return np.full((windows.shape[0], V), 1 / V)

    return Bench(vocab_size=V, segments=lambda bits: segment_table(V, bits), proxy=proxy)


def piece(name, bits=12, tokens=80):
    return CellPart(method=METHODS[name], bits=bits, chunk=0, tokens=tokens, source="laws", seed=1)


def test_texts_are_written_attacked_read_and_kept(source, tmp_path):
    names = ["pura-tbcc", "pura-spc", "rsbh-3", "mpac-3"]
    pieces = [piece(name) for name in names]
    cache = Cache(tmp_path)
    write(source, bench(), pieces, cache)
    reader = CellReader(bench(), cache, None, Tools(vocab_size=V))
    for one in pieces:
        reader.read(one, CLEAN, 80)
    lines = [line for one in pieces for line in lines_of(cache, one, CLEAN, 80)]
    cells = {cell.method: cell for cell in summarise(lines)}
    assert set(cells) == {*names, "pura-spc-paper"}
    assert all(cell.texts == CHUNK for cell in cells.values())
    assert all(cell.match >= 6 for cell in cells.values()), cells
    assert cells["rsbh-3"].published == 98.7
    assert cells["rsbh-3"].perplexity > 1
    assert not cells["rsbh-3"].unbiased
    # Of 640 tokens; three standard errors are 0.06 at most.
    assert abs(cells["pura-tbcc"].likeliest) < 0.06
    # Whoever edits the texts is told how much, and the texts themselves stay as they were.
    some = pieces[names.index("mpac-3")]
    reader.read(some, "substitute", 80)
    edited = list(lines_of(cache, some, "substitute", 80))
    assert {round(line.edited, 2) for line in edited} == {0.1}
    assert np.mean([line.accuracy for line in edited]) <= cells["mpac-3"].accuracy
    reader.read(some, "delete:0.25", 40)
    shorter = list(lines_of(cache, some, "delete:0.25", 40))
    assert {(line.tokens, round(line.edited, 2)) for line in shorter} == {(40, 0.25)}
    for wrong in ("delete:much", "sentence-shuffle:0.5", "nothing"):
        with pytest.raises(AttackError):
            reader.read(some, wrong, 80)
    before = cache.get(some.name)["ids"]
    again = Cache(tmp_path / "again")
    write(source, bench(), [some], again)
    assert all((a == b).all() for a, b in zip(before, again.get(some.name)["ids"], strict=True))
    # A piece that is worked out of anything else has another name.
    others = (replace(some, seed=2), replace(some, source="model"), replace(some, tokens=50))
    assert len({some.name, *(other.name for other in others)}) == 4
    pq = pytest.importorskip("pyarrow.parquet")
    write_parquet(tmp_path / "lines.parquet", lines)
    assert pq.read_table(tmp_path / "lines.parquet").num_rows == len(lines)


def test_printed_p_values_are_counted_beside_exact_ones(tmp_path):
    loop, cache = {"loop": np.tile(np.arange(11), 8)}, Cache(tmp_path)
    lines = list(calibrate(bench(), loop, 4, 5, cache=cache))
    kept = cache.names()
    assert list(calibrate(bench(), loop, 4, 5, cache=cache)) == lines
    assert cache.names() == kept
    assert len(kept) == len(lines)
    found = {line["method"]: line for line in lines}
    assert {"kgw", "gumbel-max", "synthid", "rsbh-3", "cycleshift"} <= set(found)
    for line in found.values():
        assert line["redrawn"] <= 0.5, line  # three of four: chance 5e-4
        assert (line["evidence"] is None) == (
            line["method"] not in ("kgw", "unigram", "gumbel-max", "synthid")
        )
