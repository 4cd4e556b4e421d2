"""Power of the built-in model under more conditions than those of the shipped table.

``python bench/power_tables.py --out DIR`` measures the plan below, table by table, and writes each
as a sealed file (power.md). Stopped, it goes on where it was. ``--only`` takes a part of the
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
from pura.measure.power_plan import PowerPlan
from pura.scheme import Profile
from pura.usecases.environment import Environment
from pura.usecases.measurements import estimate_power, export_power, measure_power, plan_power

SEED = 20_261_122
# Temperature, top-p, length in tokens: colder texts have fewer usable positions and must be longer.
SAMPLING = {"t07-p95": (0.7, 0.95, 400), "t1-p95": (1.0, 0.95, 150)}
TEXTS = 80  # some end early, some are left out as of another language
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

REQUESTS = (
    "Write a news report of several paragraphs about an old ferry terminal that is closed.",
    "Write a long letter to the tenants of a house about the repairs of the next months.",
    "Explain in detail how bees find their way back to the hive.",
    "Write a story of several pages about a blacksmith who becomes mayor of her village.",
    "Write a detailed guide for people who repair their bicycle for the first time.",
    "Write a press release of several paragraphs about a new line of the tram.",
    "Describe the history of the potato in Europe, in several paragraphs.",
    "Write a report for the board of a museum about last year's visitors and this year's plans.",
    "Write an essay about learning an instrument as an adult.",
    "Write a long speech for the anniversary of a volunteer fire brigade.",
    "Explain in several paragraphs what a household should do before a flood.",
    "Write a travel article about three days in a small town by a lake.",
)
DEMANDES = (
    "Écris un long article en français sur une ancienne gare qui ferme.",
    "Écris en français une longue lettre aux locataires d'un immeuble au sujet des travaux.",
    "Explique en détail, en français, comment les abeilles retrouvent leur ruche.",
    "Écris en français une histoire de plusieurs pages sur une femme qui devient maire.",
    "Écris en français un guide détaillé pour réparer son vélo.",
    "Écris en français un communiqué de presse sur une nouvelle ligne de tramway.",
    "Raconte en français l'histoire de la pomme de terre en Europe.",
    "Écris en français un rapport sur les visiteurs d'un musée et les projets de l'année.",
    "Écris en français un essai sur l'apprentissage d'un instrument à l'âge adulte.",
    "Écris en français un long discours pour l'anniversaire des pompiers volontaires.",
    "Explique en français ce qu'un ménage doit faire avant une inondation.",
    "Écris en français un article de voyage sur trois jours dans une petite ville.",
)
PROMPTS = {
    ("english", True): REQUESTS,
    ("french", False): FRENCH,
    ("french", True): DEMANDES,
}  # plain English: those of the study


def plan(
    profile: Profile, folder: Path, texts: int, tokens_at_most: int | None
) -> dict[str, PowerPlan]:
    """Return the measurements by name."""
    folder.mkdir(parents=True, exist_ok=True)
    out = {}
    kinds = itertools.product(SAMPLING.items(), ("english", "french"), (False, True))
    for (sampling, (temperature, top_p, tokens)), language, chat in kinds:
        name = f"{language}-{'chat' if chat else 'plain'}-{sampling}"
        prompts = None
        if (language, chat) in PROMPTS:
            prompts = folder / f"{name}.txt"
            prompts.write_text("\n".join(PROMPTS[language, chat]) + "\n", encoding="utf-8")
        out[name] = plan_power(
            name=f"SmolLM2-135M-Instruct, {name}",
            profile=profile.with_(temperature=temperature, top_p=top_p),
            prompts=prompts,
            chat=chat,
            texts=texts,
            tokens=min(tokens, tokens_at_most or tokens),
            documents=(),
            seed=SEED,
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
    parser.add_argument("--texts", type=int, default=TEXTS, help="of each table")
    parser.add_argument("--tokens", type=int, help="no longer texts")
    args = _common.parse(parser, only="english-plain-t1-p95", texts=4, tokens=40)
    at = Environment(paths=user_paths(), device="cpu")
    _common.print_facts("Power tables", SEED)
    plans = plan(Profile.new(at.model()), args.out, args.texts, args.tokens)
    for name, one in plans.items():
        if not fnmatch(name, args.only):
            continue
        if args.estimate:
            print(f"{name}: {estimate_power(at, plan=one) / 3600:.1f} h", flush=True)
            continue
        sealed = measure_power(at, plan=one, folder=args.out / name, progress=tell)
        export_power(at, sealed.fingerprint, args.out / f"{name}.json")
        print(f"\n{name}: {sealed.fingerprint}", flush=True)


if __name__ == "__main__":
    main()
