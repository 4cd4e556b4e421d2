"""Power of the built-in model under more conditions than those of the shipped table.

``python bench/power_tables.py --out DIR`` measures the plan below, table by table, and writes each
as a sealed file (docs/power.md). Stopped, it goes on where it was. ``--only`` takes a part of the
plan, ``--estimate`` prints how long each table takes here.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from fnmatch import fnmatch
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import _common
from pura.base.paths import user_paths
from pura.base.progress import Stage
from pura.desk.power import MeasurePower, estimate_power, export_power, measure_power
from pura.desk.workplace import Workplace
from pura.scheme import Profile

SEED = 20_261_122
TEXTS = 96  # texts of a chat end early; a class needs 59
SAMPLING = {"t1": (1.0, 1.0), "t1-p95": (1.0, 0.95), "t07": (0.7, 1.0), "t07-p95": (0.7, 0.95)}
FRENCH = (
    "Le conseil municipal a décidé lundi que l'ancienne gare",
    "Trois semaines après l'inondation, les habitants de la vallée",
    "Chère Madame, je vous remercie de votre lettre du 12 mars au sujet de",
    "Avant de monter l'étagère, posez toutes les pièces sur le sol et",
    "La vieille femme qui vendait des marrons devant la porte savait que",
    "Les abeilles retrouvent le chemin de la ruche grâce à",
    "Le locataire doit entretenir les lieux et",
    "La deuxième mi-temps a commencé par une surprise : le gardien",
    "Pour la soupe, coupez les poireaux en fines rondelles et",
    "La route qui mène de l'aéroport à la capitale traverse",
    "Apprendre un instrument à l'âge adulte demande de la patience. La plupart",
    "L'histoire du vélo commence par une mauvaise récolte, parce que",
)


def plan(profile: Profile, folder: Path) -> dict[str, MeasurePower]:
    """Return the measurements by name."""
    french = folder / "prompts-french.txt"
    folder.mkdir(parents=True, exist_ok=True)
    french.write_text("\n".join(FRENCH) + "\n", encoding="utf-8")
    out = {}
    for (sampling, (temperature, top_p)), chat, language in itertools.product(
        SAMPLING.items(), (False, True), ("english", "french")
    ):
        name = f"{language}-{'chat' if chat else 'plain'}-{sampling}"
        out[name] = MeasurePower(
            name=f"SmolLM2-135M-Instruct, {name}",
            profile=profile.with_(temperature=temperature, top_p=top_p),
            prompts=french if language == "french" else None,
            chat=chat,
            texts=TEXTS,
            seed=SEED,
            folder=folder / name,
        )
    return out


def tell(stage: Stage) -> None:
    """Print how far a measurement is."""
    if stage.total:
        print(f"\r{stage.name} {stage.done}/{stage.total}   ", end="", flush=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="*", help="names of tables, with wildcards")
    parser.add_argument("--estimate", action="store_true")
    args = parser.parse_args()
    at = Workplace(paths=user_paths(), device="cpu")
    _common.print_facts("Power tables", SEED)
    for name, request in plan(Profile.new(at.model()), args.out).items():
        if not fnmatch(name, args.only):
            continue
        if args.estimate:
            print(f"{name}: {estimate_power(at, request) / 3600:.1f} h", flush=True)
            continue
        sealed = measure_power(at, request, progress=tell)
        export_power(at, sealed.fingerprint, args.out / f"{name}.json")
        print(f"\n{name}: {sealed.fingerprint}", flush=True)


if __name__ == "__main__":
    main()
