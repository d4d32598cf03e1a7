"""`brittle.guard`: what a guard still catches under attack, at a fixed false-positive rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from brittle.answers import SCORES
from brittle.asks import NORMALISED
from brittle.attacks import ATTACKS
from brittle.candidates.characters import CLASSES
from brittle.data.example import case_ids
from brittle.errors import UsageError, unknown
from brittle.formatting import plural
from brittle.progress import Progress, listener, shows_progress
from brittle.results import Result, Step
from brittle.runs.run import Run
from brittle.runs.runner import RunProgress, opened_target
from brittle.runs.runner import attack as attack_texts
from brittle.studies.guard.calibration import (
    TEXTS_PER_RATE,
    OperatingPoint,
    caught_label,
    check_rate,
    fix_threshold,
    has_scores,
    own_decision,
)
from brittle.studies.guard.scoring import (
    AnswerJournal,
    GuardScorer,
    Scored,
    count_unscored,
    edited_at_random,
    numbers_of,
    shares_changed,
)
from brittle.studies.guard.study import (
    Flags,
    GuardAttack,
    GuardCase,
    GuardFacts,
    GuardResults,
    GuardRow,
    GuardStudy,
    Unscored,
    facts_that_stay,
    format_counts,
)
from brittle.studies.guard.texts import ALL, GuardTexts, as_item, dataset_of, load_guard_texts
from brittle.studies.study import Study
from brittle.studies.study_files import carry_out, default_name
from brittle.targets.capabilities import answers_of
from brittle.targets.options import Target
from brittle.targets.protocols import declared_by
from brittle.workflow.backends import Workers

LADDER = "auto"
DEFAULT_ATTACKS = (LADDER, *CLASSES)
"""The ladder, and each class of edits of characters."""
DEFAULT_LIMIT, DEFAULT_BUDGET = 100, 500
MAX_BENIGN_EDITED = 300
JOURNAL_FILE = Path("labels", "answers.jsonl")


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
    workers: Workers | int = Workers(),
    progress: Progress[str] = True,
    **options: Any,
) -> GuardStudy:
    """Measure how much of what a guard catches gets past it, at a fixed false-positive rate.

    `target` is a classifier of texts, live or by name; `options` are those of `Target`. `attacks`
    and `benign` are names of data sets, files, data sets, or lists of texts; their labels do not
    count. `caught` is the label that means caught; without it, it has to be plain from its name.
    Half of the benign texts fix the threshold, the others measure the rate of false positives. Of
    the first `limit` attack texts, in an order drawn by `seed`, those that are caught are attacked
    `by` several attacks, with `budget` queries each, in several processes if there are `workers`.
    The study is stored as FOLDER/NAME.study.json, its runs in FOLDER/NAME; the same call resumes
    it.
    """
    settings = {"split": split, "at_fpr": check_rate(at_fpr), "by": _checked_attacks(by)}
    settings |= {"limit": limit, "budget": budget, "seed": seed}
    about = options.pop("about_target", None)
    named = Target.of(target, **options)
    texts = load_guard_texts(attacks, benign, split, text, at_fpr, seed)
    with opened_target(named) as opened:
        label, by_name = _caught_by(opened, caught)
        facts = _facts(opened, texts, caught=label, **settings)
        if about and not named.is_named:
            named = named.as_stored(about)
        measuring = GuardMeasuring(
            replace(named, opened=opened),
            texts,
            facts,
            by_name,
            new,
            listener(progress),
            workers if isinstance(workers, Workers) else Workers(workers),
        )
        words = ("guard", Path(opened.name).name, Path(texts.attacks.name).stem)
        chosen = name or default_name(words, facts_that_stay(facts))
        measure = partial(measuring.study, chosen)
        return carry_out("guard", chosen, Path(folder), measure, facts=None if new else facts)


def _caught_by(guard: Any, asked: str | None) -> tuple[str, bool]:
    """Return the label of a guard that means caught, and whether it was found by its name."""
    if answers_of(guard) != SCORES:
        raise UsageError(
            f"Got {guard.name!r}, which answers with texts; expected a classifier, which answers "
            "with labels or scores."
        )
    silent = declared_by(guard, "silent")
    return caught_label([label for label in guard.labels if label not in silent], asked)


def _facts(guard: Any, texts: GuardTexts, **settings: Any) -> GuardFacts:
    return GuardFacts(
        pool=guard.name,
        data=f"{texts.attacks.name}, {texts.benign_name}",
        attacks=texts.attacks.name,
        benign=texts.benign_name,
        fingerprints=(guard.fingerprint, texts.attacks.fingerprint, texts.fingerprint),
        **settings,
    )


def most_scored(texts: GuardTexts, cases: int, by: Sequence[str]) -> tuple[int, int]:
    """Return how many texts are scored as they are, and how many with edits at random, at most."""
    benign = len(texts.measuring)
    classes = sum(name in CLASSES for name in by)
    edited = classes * (cases + min(benign, MAX_BENIGN_EDITED))
    return cases + len(texts.fixing) + benign, edited


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
    report: Callable[[str], None]
    workers: Workers = Workers()

    def study(self, name: str, folder: Path) -> GuardStudy:
        """Score all texts, attack those that are caught, and edit benign ones in the same way."""
        opened, label = self.target.opened, self.facts.caught
        if self.new:
            (folder / JOURNAL_FILE).unlink(missing_ok=True)
        journal = AnswerJournal(folder / JOURNAL_FILE, opened.fingerprint)
        scorer = GuardScorer(opened, list(opened.labels).index(label), journal, self.report)
        most = min(self.facts.limit, len(self.texts.attacks))
        chosen = [e.fields[0][1] for e in self.texts.attacks.take(most, self.facts.seed)]
        taken = dataset_of(self.facts.attacks, chosen, label)
        attack_items, fixing, measuring = (
            [as_item(text) for text in texts]
            for texts in (chosen, self.texts.fixing, self.texts.measuring)
        )
        fixing_scored = scorer.scores(fixing, "benign texts for the threshold")
        measured_scored = scorer.scores(measuring, "benign texts for the false positives")
        attacks_scored = scorer.scores(attack_items, "attack texts")
        fixing_scores, measured_scores, attack_scores = (
            _scores_of(scorer, scored)
            for scored in (fixing_scored, measured_scored, attacks_scored)
        )
        if has_scores([*fixing_scores, *attack_scores]):
            point = fix_threshold(fixing_scores, self.facts.at_fpr)
        else:
            point = own_decision(fixing_scores)
        cases: list[GuardCase] = []
        unscored: list[Unscored] = []
        for case, text, score in zip(case_ids(taken.examples), chosen, attacks_scored):
            if isinstance(score, str):
                unscored.append(Unscored(case, text, score))
            else:
                cases.append(GuardCase(case, text, score, score >= point.threshold))
        flagged = sum(score >= point.threshold for score in measured_scores)
        results = GuardResults(
            point,
            self.by_name,
            Flags(flagged, flagged, len(measured_scores)),
            tuple(cases),
            {},
            tuple(unscored),
            count_unscored([*fixing_scored, *measured_scored]),
        )
        measuring = [item for item, s in zip(measuring, measured_scored) if not isinstance(s, str)]
        attacked = self._attacked(results, scorer, folder, measuring)
        results = replace(results, attacks=attacked, spent=scorer.spent)
        warnings = [*self.texts.warnings, *_doubts(results, self.facts, scorer)]
        return Study("guard", name, self.facts, results, {}, tuple(dict.fromkeys(warnings)))

    def _attacked(
        self, results: GuardResults, scorer: GuardScorer, folder: Path, measuring: Sequence[Any]
    ) -> dict[str, GuardAttack]:
        if not results.caught:
            return {name: GuardAttack("", ()) for name in self.facts.by}
        label = self.facts.caught
        caught = dataset_of(self.facts.attacks, [case.text for case in results.caught], label)
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
                workers=self.workers,
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
            pairs = [
                (a, b)
                for a, b in zip(before, after)
                if not isinstance(a, str) and not isinstance(b, str)
            ]
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


def _scores_of(scorer: GuardScorer, scored: Sequence[Scored]) -> list[float]:
    """Return the scores that the guard gave; if most texts have none, say why."""
    scores = numbers_of(scored)
    if 2 * len(scores) > len(scored):
        return scores
    without, texts = len(scored) - len(scores), plural(len(scored), "texts")
    if scorer.failures:
        reason = next(iter(scorer.failures.values()))
        raise UsageError(
            f"The guard failed on {without:,} of {texts}, so nothing can be measured: {reason}"
        )
    reasons = format_counts(count_unscored(scored))
    raise UsageError(
        f"The guard gave no label for {without:,} of {texts} ({reasons}), so "
        "nothing can be measured. Change the prompt (--prompt), or how the label is read (--read)."
    )


def _doubts(results: GuardResults, facts: GuardFacts, scorer: GuardScorer) -> list[str]:
    """List reasons to doubt the figures of a study."""
    doubts = []
    if scorer.failures:
        failed = plural(len(scorer.failures), "texts")
        doubts.append(
            f"The guard failed on {failed}, left out: {next(iter(scorer.failures.values()))}"
        )
    needed = math.ceil(TEXTS_PER_RATE / facts.at_fpr - 1e-9)
    fewest = min(results.point.of, results.measured.of)
    if fewest < needed:
        doubts.append(
            f"Only {plural(fewest, 'benign texts')} of one half got a label; a rate of "
            f"{100 * facts.at_fpr:g}% needs {needed:,}. Bring more benign texts."
        )
    low = results.false_positives.low
    if low is not None and low > facts.at_fpr:
        measured = f"{100 * results.measured.flagged / max(results.measured.of, 1):.1f}%"
        doubts.append(
            f"The guard flags {measured} of the benign texts, more than the rate asked for "
            f"({100 * facts.at_fpr:g}%)."
        )
    silent = [name for name in results.attacks if results.without_label(name)]
    if silent:
        texts = plural(len(set().union(*map(results.without_label, silent))), "caught texts")
        doubts.append(
            f"The guard gave no label for any candidate of {texts} ({', '.join(silent)}): left out "
            "of the recall under these attacks."
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
    flagged, caught = results.measured.flagged, len(results.caught)
    label = f"Is “{facts.caught}” the label that means caught (--caught)?"
    if caught + flagged == 0:
        doubts.append(f"The guard flags no text at all, so nothing was attacked. {label}")
    elif not caught:
        doubts.append("The guard catches none of the attack texts, so nothing was attacked.")
    elif caught == len(results.cases) and flagged == results.measured.of:
        doubts.append(f"The guard flags all texts, attacks and benign ones alike. {label}")
    return doubts


__all__ = [
    "DEFAULT_ATTACKS",
    "DEFAULT_BUDGET",
    "DEFAULT_LIMIT",
    "OperatingPoint",
    "guard",
    "load_guard_texts",
]
