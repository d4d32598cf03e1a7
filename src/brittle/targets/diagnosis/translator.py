"""Warnings before a run if the answers of a translator could not be trusted.

Each check is a pure function over sources and translations.
"""

from __future__ import annotations

from collections.abc import Sequence

from brittle.asks import Case
from brittle.engine.asking import Asker
from brittle.targets.answer_parsers import (
    CHARACTERS_PER_CHARACTER,
    EXTRA_CHARACTERS,
    max_characters,
)
from brittle.targets.diagnosis.samples import DiagnosisWarning, ask_exchanged_languages, ask_sample
from brittle.targets.protocols import KnowsItsWords, Translator, declared_by
from brittle.text import Text

MAX_COPIED_SHARE = 0.5  # of the texts: names and numbers are rightly the same in both languages


def diagnose_translator(
    target: Translator, cases: Sequence[Case[Text]], broker: Asker, keywords: Sequence[str] = ()
) -> list[DiagnosisWarning]:
    """Check the translations of a sample of the cases, and named keywords; return warnings.

    Of a costly target, or under a limit on the whole run, 8 cases are asked and 4 of them
    repeated, else 32 and 8. If the target answers nothing at all, `TargetDown` is raised.
    """
    if not cases:
        return []
    sample = ask_sample(target, cases, broker, "texts")
    sources = [case.text for case, _ in sample.answered]
    translations = [text for _, text in sample.answered]
    warnings = [
        mixed(target),
        empty(sources, translations, target.name),
        endless(sources, translations, target.name),
        copied(sources, translations, target.name),
        constant(sources, translations, target.name),
        unstable(sample.repeated, target.name),
        ask_exchanged_languages(sample.answered, broker),
        unwritable(target, keywords),
    ]
    return [warning for warning in warnings if warning is not None]


def mixed(target: Translator) -> DiagnosisWarning | None:
    """Warn if texts that are translated by one process change each other."""
    if not declared_by(target, "mixes_texts"):
        return None
    return DiagnosisWarning(
        "mixed",
        f"Target {target.name!r} translates several texts together differently from each "
        "alone, even with a blank line between them. So brittle starts a process for "
        "every text, which is slow. Look for a flag of the program that translates line "
        "by line.",
    )


def unwritable(target: Translator, keywords: Sequence[str]) -> DiagnosisWarning | None:
    """Warn of keywords that a target says it cannot write, in whatever case."""
    if not isinstance(target, KnowsItsWords):
        return None
    forms = {word: {word, word.lower(), word.upper(), word.title()} for word in keywords}
    missing = [word for word in keywords if not any(map(target.can_write, forms[word]))]
    if not missing:
        return None
    return DiagnosisWarning(
        "unwritable",
        f"Target {target.name!r} cannot write {', '.join(map(repr, missing))}: its "
        "vocabulary has no tokens for it, so no attack can reach this goal. Use a "
        "keyword from its translations, or let brittle draw one (--goal keyword).",
    )


def empty(
    sources: Sequence[Text], translations: Sequence[str], name: str = "target"
) -> DiagnosisWarning | None:
    """Warn if texts with words are translated to nothing."""
    count = sum(len(s) > 0 and not t.strip() for s, t in zip(sources, translations))
    if not count:
        return None
    return DiagnosisWarning(
        "empty",
        f"Target {name!r} translates {count} of {len(sources)} texts to nothing. Some "
        "broken cases may be empty answers: read the translations first.",
    )


def endless(
    sources: Sequence[Text], translations: Sequence[str], name: str = "target"
) -> DiagnosisWarning | None:
    """Warn if translations were cut because they are far longer than their sources."""
    count = sum(len(t) >= max_characters(s) for s, t in zip(sources, translations))
    if not count:
        return None
    return DiagnosisWarning(
        "endless",
        f"Target {name!r} does not stop on {count} of {len(sources)} texts: brittle cut "
        f"the translations after {CHARACTERS_PER_CHARACTER} characters for each character "
        f"of the source plus {EXTRA_CHARACTERS}. Limit its length (max_new_tokens, "
        "max_length).",
    )


def copied(
    sources: Sequence[Text], translations: Sequence[str], name: str = "target"
) -> DiagnosisWarning | None:
    """Warn if most texts come back as they went in."""
    pairs = [(s.render(), t) for s, t in zip(sources, translations) if len(s)]
    count = sum(_plain(source) == _plain(translation) for source, translation in pairs)
    if len(pairs) < 2 or count <= MAX_COPIED_SHARE * len(pairs):
        return None
    return DiagnosisWarning(
        "copied",
        f"Target {name!r} gives {count} of {len(pairs)} texts back unchanged. Is the data "
        "in the language it translates from?",
    )


def constant(
    sources: Sequence[Text], translations: Sequence[str], name: str = "target"
) -> DiagnosisWarning | None:
    """Warn if all texts have the same translation."""
    if len({source.key for source in sources}) < 2 or len(set(translations)) > 1:
        return None
    return DiagnosisWarning(
        "constant",
        f"Target {name!r} gives the same translation to all of {len(sources)} texts, so "
        "no attack can work. Check that the texts reach it.",
    )


def unstable(pairs: Sequence[tuple[str, str]], name: str = "target") -> DiagnosisWarning | None:
    """Warn if texts that are asked twice have two translations."""
    count = sum(first != second for first, second in pairs)
    if not count:
        return None
    return DiagnosisWarning(
        "random",
        f"Target {name!r} is not deterministic: asked again, {count} of {len(pairs)} "
        "texts got another translation. Some successes may be chance: winners are asked "
        "again alone, and those that no longer win are unconfirmed. Turn off sampling "
        "and temperature.",
    )


def changed_texts(
    answers: Sequence[tuple[str | None, str]], name: str = "target"
) -> DiagnosisWarning | None:
    """Warn if originals that are asked again after a run get other texts."""
    others = sum(before != now for before, now in answers)
    if not others:
        return None
    return DiagnosisWarning(
        "changed",
        f"Target {name!r} changed during the run: of {len(answers)} originals asked again "
        f"at the end, {others} got another text. Either the model was replaced, or it is "
        "not deterministic. The figures mix both states: start over with --new.",
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
