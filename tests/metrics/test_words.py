from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brittle.edits import Edit, diff
from brittle.metrics import parts_that_break, words_that_break
from brittle.metrics.samples import sample_results
from brittle.results import Result
from brittle.text import Text


def row(source: str, edits: tuple[Edit, ...], status: str = "broken") -> Result:
    base = sample_results()[0]
    fields = (("text", source),)
    return replace(base, fields=fields, original=source, edits=edits, status=status)  # type: ignore[arg-type]


def test_words_are_counted_by_case_against_the_attacked_texts_that_hold_them() -> None:
    source = Text.of("Dull, dull film")
    twice = row("Dull, dull film", diff(source, source.swap(0, "Soft").swap(1, "grey")))
    held = row("a dull day", (), status="held")
    skipped = row("dull", (), status="skipped")
    (word,) = words_that_break([twice, held, skipped])
    assert (word.word, word.count, word.seen) == ("dull", 1, 2)
    assert word.replacements == (("grey", 1), ("soft", 1))


def test_edits_of_held_cases_break_nothing() -> None:
    assert words_that_break([replace(r, status="held") for r in sample_results()]) == []


def test_insertions_and_deletions_are_told_apart() -> None:
    text = Text.of("good film")
    inserted = row("good film", diff(text, text.insert(2, "truly")))
    deleted = row("good film", diff(text, text.delete(0)))
    words = {b.word: b.replacements for b in words_that_break([inserted, deleted])}
    assert words == {"": (("truly", 1),), "good": (("", 1),)}


def test_the_most_frequent_word_comes_first_then_the_surest() -> None:
    words = [b.word for b in words_that_break(sample_results())]
    assert words == ["funny", "plot", "dull"]


def tags(words: Sequence[str], gaps: Sequence[str]) -> list[str]:
    assert len(gaps) == len(words) + 1
    return ["NNP" if word[0].isupper() else "VBZ" for word in words]


def test_parts_of_speech_are_counted_over_all_words_of_broken_cases() -> None:
    text = Text.of("Anna sees <b>Bob</b>, who runs")
    broken = row(text.render(), diff(text, text.swap(2, "Rob")))
    held = replace(broken, status="held")
    parts = parts_that_break([broken, held], tags)
    assert [(p.name, p.count, p.of) for p in parts] == [("noun", 1, 2), ("verb", 0, 3)]


def test_an_edit_is_found_in_the_field_it_is_in() -> None:
    pair = replace(
        sample_results()[0],
        fields=(("premise", "Ann"), ("hypothesis", "sits")),
        edits=(Edit("hypothesis", 0, 4, "sits", "lies"),),
    )
    parts = parts_that_break([pair], tags)
    assert [(p.name, p.count, p.of) for p in parts] == [("noun", 0, 1), ("verb", 1, 1)]


def test_tagging_stops_at_the_limit() -> None:
    rows = [row("Ann sees Bob", ())] * 10
    assert sum(part.of for part in parts_that_break(rows, tags, max_words=7)) == 9


def test_the_package_s_own_tagger_is_used() -> None:
    parts = {p.name: (p.count, p.of) for p in parts_that_break(sample_results())}
    assert parts["adjective"][0] >= 2
    assert sum(of for _, of in parts.values()) == 13
