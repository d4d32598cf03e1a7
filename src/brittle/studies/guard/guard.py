"""`brittle.guard`: what a guard still catches under attack, at a fixed false-positive rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any

from brittle import data
from brittle.answers import SCORES
from brittle.asks import NORMALISED
from brittle.attacks import ATTACKS
from brittle.candidates.characters import CLASSES
from brittle.data.catalogue import CATALOGUE, SPLITS
from brittle.data.dataset import Dataset
from brittle.data.example import Example, case_ids
from brittle.errors import UsageError, unknown
from brittle.formatting import plural
from brittle.progress import Progress, listener, shows_progress
from brittle.results import Result, Step
from brittle.runs.keywords import SharedAnswers
from brittle.runs.run import Run
from brittle.runs.runner import RunProgress, opened_target
from brittle.runs.runner import attack as attack_texts
from brittle.studies.guard.calibration import (
    OperatingPoint,
    caught_label,
    check_rate,
    fix_threshold,
    has_scores,
    own_decision,
    split_benign,
)
from brittle.studies.guard.scoring import (
    FIELD,
    GuardScorer,
    as_item,
    edited_at_random,
    plain_text,
    shares_changed,
    texts_of,
)
from brittle.studies.guard.study import (
    Flags,
    GuardAttack,
    GuardCase,
    GuardFacts,
    GuardResults,
    GuardRow,
    GuardStudy,
    facts_that_stay,
)
from brittle.studies.study import Study
from brittle.studies.study_files import carry_out, default_name
from brittle.targets.capabilities import answers_of
from brittle.targets.options import Target

ALL = "all"
LADDER = "auto"
DEFAULT_ATTACKS = (LADDER, *CLASSES)
"""The ladder, and each class of edits of characters."""
DEFAULT_LIMIT, DEFAULT_BUDGET = 100, 500
MAX_BENIGN_EDITED = 300
SCORES_FILE = Path("labels", "guard.jsonl")


@shows_progress("guard")
def guard(
    target: Any,
    attacks: Any,
    benign: Any,
    *,
    at_fpr: float = 0.01,
    caught: str | None = None,
    by: Sequence[str] | str = DEFAULT_ATTACKS,
    limit: int = DEFAULT_LIMIT,
    budget: int = DEFAULT_BUDGET,
    split: str = ALL,
    text: str | None = None,
    seed: int = 0,
    name: str | None = None,
    folder: str | Path = "runs",
    new: bool = False,
    progress: Progress[str] = True,
    **options: Any,
) -> GuardStudy:
    """Measure how much of what a guard catches gets past it, at a fixed false-positive rate.

    `target` is a classifier of texts, live or by name; `options` are those of `Target`. `attacks`
    and `benign` are names of data sets, files, data sets, or lists of texts; their labels do not
    count. `caught` is the label that means caught; without it, it has to be plain from its name.
    Half of the benign texts fix the threshold, the others measure the rate of false positives. Of
    the first `limit` attack texts, in an order drawn by `seed`, those that are caught are attacked
    `by` several attacks, with `budget` queries each. The study is stored as
    FOLDER/NAME.study.json, its runs in FOLDER/NAME; the same call goes on with it.
    """
    check_rate(at_fpr)
    names = _checked_attacks(by)
    about, options = options.pop("about_target", None), options
    named = Target.of(target, **options)
    texts = load_guard_texts(attacks, benign, split, text, at_fpr, seed)
    with opened_target(named) as opened:
        if answers_of(opened) != SCORES:
            raise UsageError("The target gives no scores of labels; expected a classifier.")
        label, by_name = caught_label(opened.labels, caught)
        facts = GuardFacts(
            pool=opened.name,
            data=f"{texts.attacks.name}, {texts.benign_name}",
            attacks=texts.attacks.name,
            benign=texts.benign_name,
            split=split,
            caught=label,
            at_fpr=at_fpr,
            by=names,
            limit=limit,
            budget=budget,
            seed=seed,
            fingerprints=(opened.fingerprint, texts.attacks.fingerprint, texts.fingerprint),
        )
        if about and not named.is_named:
            named = named.as_stored(about)
        measuring = GuardMeasuring(
            replace(named, opened=opened), texts, facts, by_name, new, listener(progress)
        )
        words = ("guard", Path(opened.name).name, Path(texts.attacks.name).stem)
        chosen = name or default_name(words, facts_that_stay(facts))

        def measure(own_folder: Path) -> GuardStudy:
            return measuring.study(chosen, own_folder)

        return carry_out("guard", chosen, Path(folder), measure, facts=None if new else facts)


@dataclass(frozen=True)
class GuardTexts:
    """The texts of a study: attacks in their random order, and the two sides of the benign ones."""

    attacks: Dataset
    benign_name: str
    fixing: Sequence[str]
    measuring: Sequence[str]
    warnings: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the benign texts."""
        return _dataset(self.benign_name, [*self.fixing, *self.measuring]).fingerprint


def load_guard_texts(
    attacks: Any, benign: Any, split: str, text: str | None, at_fpr: float, seed: int
) -> GuardTexts:
    """Load both sets of texts; those that stand in both are left out of both."""
    attack_data, benign_data = (load_texts(source, split, text) for source in (attacks, benign))
    attack_texts_, benign_texts = texts_of(attack_data), texts_of(benign_data)
    for what, dataset, found in (
        ("attack", attack_data, attack_texts_),
        ("benign", benign_data, benign_texts),
    ):
        if not found:
            raise UsageError(
                f"The {what} data {dataset.name!r} holds {plural(len(dataset), 'examples')} "
                "without a word; expected texts."
            )
    warnings = [
        f"{plural(len(dataset) - len(found), what + ' texts')} left out: the same as another text, "
        "or without a word."
        for what, dataset, found in (
            ("attack", attack_data, attack_texts_),
            ("benign", benign_data, benign_texts),
        )
        if len(found) < len(dataset)
    ]
    both = set(map(plain_text, attack_texts_)) & set(map(plain_text, benign_texts))
    if both:
        attack_texts_, benign_texts = (
            [one for one in found if plain_text(one) not in both]
            for found in (attack_texts_, benign_texts)
        )
        which = plural(len(both), ("text stands", "texts stand"))
        warnings.append(f"{which} among the attack texts and the benign ones: left out of both.")
    if not attack_texts_:
        raise UsageError(
            f"All attack texts of {attack_data.name!r} stand among the benign ones of "
            f"{benign_data.name!r}, too. Name other files."
        )
    sides = split_benign(benign_texts, at_fpr, seed)
    warnings += [*attack_data.warnings, *benign_data.warnings]
    return GuardTexts(
        _dataset(attack_data.name, attack_texts_), benign_data.name, *sides, tuple(warnings)
    )


def load_texts(source: Any, split: str, text: str | None) -> Dataset:
    """Load texts without their labels: of a data set by name, one split or all of them."""
    if not isinstance(source, str | PathLike):
        dataset = source if isinstance(source, Dataset) else data.as_dataset(source)
        return dataset
    name = str(source)
    column = None if text is None else [text]
    if name not in CATALOGUE:
        return data.load(name, text=column, label="")
    if split not in (*SPLITS, ALL):
        raise unknown("split", split, (*SPLITS, ALL))
    parts = [data.load(name, split=one) for one in (SPLITS if split == ALL else (split,))]
    examples = [example for part in parts for example in part]
    return Dataset(name, split, examples)


def _dataset(name: str, texts: Sequence[str], label: str | None = None) -> Dataset:
    examples = tuple(Example(((FIELD, text),), label) for text in texts)
    return Dataset(name, "guard", examples, () if label is None else (label,))


def _checked_attacks(by: Sequence[str] | str) -> tuple[str, ...]:
    names = [name.strip() for name in (by.split(",") if isinstance(by, str) else by)]
    for name in names:
        if name not in ATTACKS:
            raise unknown("attack", name, ATTACKS, "`brittle list attacks` shows those there are.")
    if not names:
        raise UsageError("Got no attacks; expected one or more, such as auto,look-alike.")
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class GuardMeasuring:
    """Everything that decides a study, and the steps of measuring it."""

    target: Target
    texts: GuardTexts
    facts: GuardFacts
    by_name: bool
    new: bool
    report: Any

    def study(self, name: str, folder: Path) -> GuardStudy:
        """Score all texts, attack those that are caught, and edit benign ones in the same way."""
        opened = self.target.opened
        shared = SharedAnswers()
        index = list(opened.labels).index(self.facts.caught)
        scorer = GuardScorer(opened, index, folder / SCORES_FILE, shared, self.report)
        label, most = self.facts.caught, min(self.facts.limit, len(self.texts.attacks))
        chosen = [e.fields[0][1] for e in self.texts.attacks.take(most, self.facts.seed)]
        taken = _dataset(self.facts.attacks, chosen, label)
        attack_items, fixing, measuring = (
            [as_item(text) for text in texts]
            for texts in (chosen, self.texts.fixing, self.texts.measuring)
        )
        benign_scores = _answered(scorer, scorer.scores(fixing, "benign texts"))
        measured_scores = scorer.scores(measuring, "benign texts")
        attack_scores = scorer.scores(attack_items, "attack texts")
        measuring = [item for item, s in zip(measuring, measured_scores) if s is not None]
        known = [*benign_scores, *_answered(scorer, attack_scores)]
        if has_scores(known):
            point = fix_threshold(benign_scores, self.facts.at_fpr)
        else:
            point = own_decision(benign_scores)
        cases = tuple(
            GuardCase(case, example.fields[0][1], score, score >= point.threshold)
            for case, example, score in zip(case_ids(taken.examples), taken, attack_scores)
            if score is not None
        )
        flagged = [s >= point.threshold for s in _answered(scorer, measured_scores)]
        results = GuardResults(
            point, self.by_name, Flags(sum(flagged), sum(flagged), len(flagged)), cases, {}
        )
        attacked = self._attacked(results, scorer, folder, measuring)
        results = replace(results, attacks=attacked)
        warnings = [*self.texts.warnings, *_doubts(results, self.facts, scorer)]
        return Study("guard", name, self.facts, results, {}, tuple(dict.fromkeys(warnings)))

    def _attacked(
        self, results: GuardResults, scorer: GuardScorer, folder: Path, measuring: Sequence[Any]
    ) -> dict[str, GuardAttack]:
        if not results.caught:
            return {name: GuardAttack("", ()) for name in self.facts.by}
        label = self.facts.caught
        caught = _dataset(self.facts.attacks, [case.text for case in results.caught], label)
        goal = f"below:{label}@{results.point.threshold!r}"
        attacked = {}
        for name in self.facts.by:
            run = attack_texts(
                self.target,
                caught,
                name,
                goal=goal,
                budget=self.facts.budget,
                measures="none",
                seed=self.facts.seed,
                name=name,
                folder=folder,
                new=self.new,
                shared=scorer.shared,
                progress=self._quarters(name),
            )
            attacked[name] = self._with_random_edits(name, run, results, scorer, measuring)
        return attacked

    def _quarters(self, name: str) -> Callable[[RunProgress], None]:
        """Return what reports an attack after every quarter of its cases."""
        reported = 0

        def report(state: RunProgress) -> None:
            nonlocal reported
            if (quarters := 4 * state.done // state.planned) > reported:
                reported = quarters
                self.report(f"{name}: {state.done:,} of {plural(state.planned, 'texts')}, {state}")

        return report

    def _with_random_edits(
        self,
        name: str,
        run: Run,
        results: GuardResults,
        scorer: GuardScorer,
        measuring: Sequence[Any],
    ) -> GuardAttack:
        """Return what an attack did, with what edits at random places of the same size do."""
        rows, probed = run.results(), run.manifest.get("normalisation") or {}
        undone = tuple(one for one, found in probed.items() if found["is_normalised"])
        attack = GuardAttack(
            f"{run.name}.sqlite",
            guard_rows(rows, run.steps()),
            bool(rows) and all(row.reason == NORMALISED for row in rows),
            normalised_levels=undone,
        )
        if name not in CLASSES or attack.is_normalised:
            return attack
        words = {row.case: row.words for row in rows}
        shares = shares_changed(words, {row.case: row.words_changed for row in rows}) or [1.0]
        own = {row.case: row.words_changed / row.words for row in rows if row.words_changed}
        threshold = results.point.threshold

        def flags(items: Mapping[str, Any], what: str) -> Flags:
            before = scorer.scores(list(items.values()), what)
            edited = []
            for key, item in items.items():
                rng = Random(f"{self.facts.seed}:{name}:{key}")
                share = own[key] if key in own else rng.choice(shares)
                edited.append(edited_at_random(item, name, share, rng))
            after = scorer.scores(edited, f"{what} with {name}")
            pairs = [(a, b) for a, b in zip(before, after) if a is not None and b is not None]
            return Flags(
                sum(b >= threshold for _, b in pairs),
                sum(a >= threshold for a, _ in pairs),
                len(pairs),
            )

        benign = dict(zip(map(str, range(len(measuring))), measuring[:MAX_BENIGN_EDITED]))
        caught = {case.case: as_item(case.text) for case in results.caught}
        return replace(
            attack,
            benign=flags(benign, "benign texts"),
            floor=flags(caught, "caught texts"),
        )


def guard_rows(rows: Sequence[Result], steps: Sequence[Step]) -> tuple[GuardRow, ...]:
    """Return the rows of a run as a study keeps them: a text that evades has its query number."""
    winners = {row.case: row for row in rows if row.status == "broken"}
    won_at = {
        step.case: step.query
        for step in steps
        if step.case in winners and step.edits == winners[step.case].edits
    }
    return tuple(
        GuardRow(
            row.case,
            row.status,
            row.reason,
            row.level,
            won_at.get(row.case, row.queries),
            row.words_changed,
            row.characters_changed,
            row.adversarial if row.status == "broken" else None,
        )
        for row in rows
    )


def _answered(scorer: GuardScorer, scores: Sequence[float | None]) -> list[float]:
    """Return the scores that the guard gave; if it failed on most texts, say why."""
    answered = [score for score in scores if score is not None]
    if 2 * len(answered) <= len(scores):
        reason = next(iter(scorer.failures.values()), "no reason")
        raise UsageError(
            f"The guard failed on {len(scores) - len(answered):,} of "
            f"{plural(len(scores), 'texts')}, so that nothing can be measured: {reason}"
        )
    return answered


def _doubts(results: GuardResults, facts: GuardFacts, scorer: GuardScorer) -> list[str]:
    """List reasons to doubt the figures of a study."""
    doubts = []
    if scorer.failures:
        failed = plural(len(scorer.failures), "texts")
        doubts.append(
            f"The guard failed on {failed}, left out: {next(iter(scorer.failures.values()))}"
        )
    low = results.false_positives.low
    if low is not None and low > facts.at_fpr:
        measured = f"{100 * results.measured.flagged / max(results.measured.of, 1):.1f}%"
        doubts.append(
            f"The guard flags {measured} of the benign texts, more than the rate asked for "
            f"({100 * facts.at_fpr:g}%)."
        )
    weak = [
        name
        for name, one in results.attacks.items()
        if one.floor is not None and one.floor.of - one.floor.flagged > len(one.broken)
    ]
    if weak:
        doubts.append(
            f"Random edits get more texts past the guard than the attack does ({', '.join(weak)}): "
            "the recall under attack is too high. Try a larger --budget, or another attack (--by)."
        )
    errors = sum(row.status == "error" for one in results.attacks.values() for row in one.rows)
    if errors:
        doubts.append(
            f"{plural(errors, 'searches')} ended in an error; their texts count as caught."
        )
    if not results.caught:
        doubts.append("The guard catches none of the attack texts, so that nothing was attacked.")
    return doubts


__all__ = [
    "DEFAULT_ATTACKS",
    "DEFAULT_BUDGET",
    "DEFAULT_LIMIT",
    "OperatingPoint",
    "guard",
    "load_guard_texts",
]
