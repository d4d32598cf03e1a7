"""How many texts rules turn wrong, and how many texts of other data hold the words of rules.

What a corpus is exposed to: how many of its texts and words have a rule, and which rules. How well
rules do on targets that they were not mined from: Tables 5, 9 and 10.

A text is changed rule by rule up to the highest share. Every text on this way, a prefix, is scored
once per target; all shares, and both ways to count, come from these labels. A text that no rule
changes counts as held.

Rules tried on all targets of a pool: every target is asked once about every text on the way.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from brittle.candidates import Proposal
from brittle.candidates.choice import PAPER
from brittle.candidates.rules import (
    Rule,
    Rules,
    allowed_words,
    apply_rules,
    load_rules,
    matching_rules,
)
from brittle.candidates.synonyms import Synonyms
from brittle.data import Dataset, Example, case_ids, load
from brittle.english.tags import Tagger
from brittle.errors import Interrupted, StoreError, UsageError, message_of
from brittle.formatting import plural
from brittle.metrics.summary import Figure, mean, mean_by_text, rate_by_text
from brittle.opening import as_target
from brittle.safety.files import digest, is_path, make_private_folder, replacing
from brittle.studies.pool_tasks import is_portable, models_in, train_name, train_tasks, zoo_specs
from brittle.studies.pools import Member
from brittle.studies.transfer.scoring import predict_labels
from brittle.targets.protocols import Classifies
from brittle.text import Text
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import FAILED, Report, Task, TaskContext, stored_as

MATCHED: Mapping[str, Any] = {"in_context": True, "candidates": PAPER}
"""How rules match texts: only if the substitute is a published candidate of the word."""


@dataclass(frozen=True)
class LabelExposure:
    """The texts of one label: how many have a rule, and how many of their words."""

    label: str
    texts: int
    exposed_texts: int
    words: int
    exposed_words: int


@dataclass(frozen=True)
class Exposure:
    """What a corpus is exposed to, by label, and the rules that match, the most frequent first."""

    by_label: tuple[LabelExposure, ...]
    rules: tuple[tuple[Rule, int], ...]


@dataclass(frozen=True)
class MatchedText:
    """A text, its label, and its best rules by position, the most salient first."""

    text: Text
    label: str
    matches: Sequence[tuple[int, Rule]]


def match_texts(
    rules: Rules, examples: Sequence[Example], proposal: Proposal | None = None
) -> Iterator[MatchedText]:
    """Yield every text with the rules that apply to it; by default in context, as in attacks."""
    proposal = proposal or Synonyms()
    tagger = Tagger()
    for example in examples:
        if example.label not in rules.labels:
            raise UsageError(
                f"A text has the label {example.label!r}, but the rules were mined from "
                f"{', '.join(rules.labels)}. Use data with these labels (--label COLUMN), or other "
                "rules."
            )
        text = Text.of(dict(example.fields), example.locked)
        tags = tagger.tags([text])[0] if proposal.needs_tags else ()
        matches = matching_rules(rules, text, example.label, range(len(text)), proposal, tags)
        yield MatchedText(text, example.label, matches)


def exposure(rules: Rules, dataset: Dataset) -> Exposure:
    """Count the texts and words of a data set that have a rule of their label."""
    texts: Counter[str] = Counter()
    exposed: Counter[str] = Counter()
    words: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    counts: Counter[Rule] = Counter()
    for item in match_texts(rules, dataset.examples):
        texts[item.label] += 1
        exposed[item.label] += bool(item.matches)
        words[item.label] += len(item.text)
        matched[item.label] += len(item.matches)
        counts.update(rule for _, rule in item.matches)
    by_label = tuple(
        LabelExposure(label, texts[label], exposed[label], words[label], matched[label])
        for label in rules.labels
    )
    return Exposure(by_label, tuple(sorted(counts.items(), key=lambda c: (-c[1], -c[0].salience))))


ALL = "all"
SHARES = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30)
Count = Literal["first", "limit"]
"""What counts: the first prefix that works, or only the text at the limit."""


@dataclass(frozen=True)
class RuledText:
    """One text and the labels that a target gives it: the original, then prefix after prefix."""

    case: str
    label: str
    words: int
    predicted: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether the target was right on the original."""
        return self.predicted[0] == self.label

    def changed_words(self, share: float, count: Count = "first") -> int | None:
        """Return how many words were changed when the target was wrong; None if it never was."""
        limit = min(len(self.predicted) - 1, allowed_words(self.words, share))
        tried = range(1, limit + 1) if count == "first" else range(max(1, limit), limit + 1)
        return next((n for n in tried if self.predicted[n] != self.label), None)


def apply_to(
    rules: Rules, dataset: Dataset, share: float = max(SHARES)
) -> list[tuple[str, str, list[Text]]]:
    """Return the case, the label and the prefixes of every text, the original first."""
    ids = case_ids(dataset.examples)
    return [
        (case, item.label, [item.text, *apply_rules(item.text, item.matches, share)])
        for case, item in zip(ids, match_texts(rules, dataset.examples))
    ]


def score_paths(
    target: Classifies, paths: Mapping[str, Sequence[tuple[str, str, list[Text]]]]
) -> dict[str, list[RuledText]]:
    """Ask a target about all texts of all rules, each distinct one once."""
    texts = {text.key: text for rows in paths.values() for *_, path in rows for text in path}
    labels = dict(zip(texts, predict_labels(target, list(texts.values()))))
    return {
        name: [
            RuledText(case, label, len(path[0]), tuple(labels[text.key] for text in path))
            for case, label, path in rows
        ]
        for name, rows in paths.items()
    }


def success(rows: Iterable[RuledText], share: float, count: Count = "first") -> Figure:
    """Return the share of texts, of those that were right, that rules turn wrong.

    If the same texts were tried on several targets, the interval is a bootstrap over texts: their
    rows are not independent.
    """
    outcomes = [
        (row.case, row.changed_words(share, count) is not None) for row in rows if row.is_right
    ]
    return rate_by_text(outcomes, "texts that were right")


def words_changed(rows: Iterable[RuledText], share: float, count: Count = "first") -> Figure:
    """Return the mean share of words changed in the texts that rules turn wrong."""
    changed = [(row.changed_words(share, count), row.words) for row in rows if row.is_right]
    return mean([n / words for n, words in changed if n is not None], "texts turned wrong")


def by_share(rows: Sequence[RuledText], count: Count = "first") -> dict[float, Figure]:
    """Return the success at every share of words (Table 10)."""
    return {share: success(rows, share, count) for share in SHARES}


def by_class(
    rows: Mapping[str, Sequence[RuledText]], classes: Mapping[str, str]
) -> dict[str, list[RuledText]]:
    """Join the texts of all targets of a class, and first those of all (Tables 5 and 9).

    `rows` are those of every target, `classes` name the class of each.
    """
    joined: dict[str, list[RuledText]] = {ALL: []}
    for target, own in rows.items():
        joined[ALL] += own
        joined.setdefault(classes[target], []).extend(own)
    return joined


def gain_of_rules(
    a: Sequence[RuledText], b: Sequence[RuledText], share: float, count: Count = "first"
) -> Figure:
    """Return the success of b less that of a on the same texts and targets, paired.

    The interval is a bootstrap over texts.
    """
    gains = []
    for pair in zip(a, b, strict=True):
        if pair[0].is_right:
            one, other = _outcomes(pair, share, count)
            gains.append((pair[0].case, int(other) - int(one)))
    return mean_by_text(gains, "texts that were right")


def gain_of_share(
    rows: Iterable[RuledText], fewer: float, more: float, count: Count = "first"
) -> Figure:
    """Return the success at a larger share of words less that at a smaller one, paired.

    The interval is a bootstrap over texts.
    """
    gains = [
        (
            row.case,
            int(row.changed_words(more, count) is not None)
            - int(row.changed_words(fewer, count) is not None),
        )
        for row in rows
        if row.is_right
    ]
    return mean_by_text(gains, "texts that were right")


def _outcomes(pair: tuple[RuledText, RuledText], share: float, count: Count) -> tuple[bool, bool]:
    one, other = (row.changed_words(share, count) is not None for row in pair)
    return one, other


def evaluate_rules(
    context: TaskContext,
    *,
    spec: str,
    rules: Mapping[str, str],
    data: str,
    share: float = max(SHARES),
    **options: Any,
) -> dict[str, Any]:
    """Score one target on several files of rules, by name, as a task.

    The result has the rows of every name, as lists; `load_rows` reads them. Paths are relative to
    the workflow's folder. `options` are those of `brittle.data.load`. A target that fails is a
    result with the reason.
    """
    try:
        return _evaluate(context.folder, spec, rules, load(data, **options), share)
    except (Interrupted, StoreError):
        raise
    except Exception as error:  # a target is code of others, and may raise anything
        reason = message_of(error)
        return {FAILED: reason, "message": f"{FAILED}: {reason}"}


def _evaluate(
    folder: Path, spec: str, rules: Mapping[str, str], dataset: Dataset, share: float
) -> dict[str, Any]:
    paths = {
        name: apply_to(load_rules(folder / file), dataset, share) for name, file in rules.items()
    }
    fields = tuple(name for name, _ in dataset.examples[0].fields)
    target: Any = as_target(spec, fields=fields)
    try:
        scored = score_paths(target, paths)
    finally:
        if hasattr(target, "close"):
            target.close()
    rows = {
        name: [[row.case, row.label, row.words, list(row.predicted)] for row in own]
        for name, own in scored.items()
    }
    return {"target": target.name, "rows": rows, "message": plural(len(dataset), "texts")}


def load_rows(result: Mapping[str, Any]) -> dict[str, list[RuledText]]:
    """Return the rows of the result of `evaluate_rules`, by the name of the rules."""
    return {
        name: [RuledText(case, label, words, tuple(p)) for case, label, words, p in rows]
        for name, rows in result["rows"].items()
    }


KEEP = "rules"


def try_rules(
    members: Sequence[Member],
    rules: Mapping[str, Path],
    data: Mapping[str, Any],
    folder: Path,
    report: Report,
    backend: Workers | None = None,
) -> tuple[dict[str, dict[str, list[RuledText]]], dict[str, str]]:
    """Return the texts of all rules by member and name of the rules, and why members failed.

    `rules` are files by name; `data` are the arguments of `brittle.data.load`: data, split, limit,
    seed, text, label and locked. What was answered is kept in the folder.
    """
    names = _copy(rules, folder)
    training = train_tasks(zoo_specs([Member(m.name, m.spec) for m in members]))
    trained = {task.name for task in training}
    keep = Task(KEEP, keep_rules, {"files": names}, leaves=kept_files, here=_here)
    tasks = [keep, *training]
    for member in members:
        models = [train_name(model) for model in models_in(member.spec)]
        needs = (KEEP, *(name for name in models if name in trained))
        arguments = {"spec": member.spec, "rules": names, **data}
        stays = None if is_portable(member.spec) and not is_path(data["data"]) else _here
        name = try_name(member)
        tasks.append(Task(name, evaluate_rules, arguments, needs, here=stays, may_fail=True))
    results = run_tasks(tasks, folder, report, backend)
    found = {member.name: results[try_name(member)] for member in members}
    failures = {name: str(result[FAILED]) for name, result in found.items() if FAILED in result}
    if len(failures) == len(members):
        raise UsageError(f"No target could be used. The first: {next(iter(failures.values()))}")
    rows = {name: load_rows(result) for name, result in found.items() if name not in failures}
    return rows, failures


def try_name(member: Member) -> str:
    """Name the task that tries the rules on a member."""
    return f"rules on {member.spec}"


@stored_as("brittle.studies.rules.trying:keep_rules")
def keep_rules(context: TaskContext, *, files: Mapping[str, str]) -> dict[str, Any]:
    """Return the names of the files, which lie in the folder."""
    return {"files": dict(files)}


def kept_files(folder: Path, result: Mapping[str, Any]) -> list[Path]:
    """Return the files of the rules."""
    return [folder / name for name in result["files"].values()]


def _here(context: TaskContext, **arguments: Any) -> bool:
    return True


def _copy(rules: Mapping[str, Path], folder: Path) -> dict[str, str]:
    """Copy files of rules into the folder, each under a name by its content."""
    make_private_folder(folder)
    names = {name: f"{name}-{digest(file)[:12]}.rules" for name, file in rules.items()}
    for name, file in rules.items():
        if not (folder / names[name]).exists():
            with replacing(folder / names[name], private=True) as new:
                shutil.copyfile(file, new)
    return names
