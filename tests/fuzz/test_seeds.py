"""The seeds of the fuzzing targets: what was found once, or leads far in, stays an answer."""

from pathlib import Path

from tests.fuzz import targets

HERE = Path(__file__).resolve().parent


def test_every_seed_is_answered(subtests, monkeypatch):
    from pura.keys import sealed

    monkeypatch.setattr(sealed, "_stretch", sealed._stretch)  # the target puts another one there
    known = targets.targets()
    seeds = sorted(path for path in (HERE / "corpus").rglob("*") if path.is_file())
    assert len(seeds) > 30
    assert {seed.parent.name for seed in seeds} <= set(known)
    for seed in seeds:
        with subtests.test(seed=str(seed.relative_to(HERE))):
            target = known[seed.parent.name]()
            data = seed.read_bytes()
            targets.tried(target, data)
            targets.tried(target, data[: len(data) // 2])
