"""Keywords that are drawn for every case: from where, how firmly, and at what cost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.data.example import Example, case_ids
from brittle.errors import TargetError, UsageError
from brittle.goals.combined import NO_KEYWORD
from brittle.goals.texts import folded_words
from brittle.runs.keywords import content_words, draw_keywords
from brittle.runs.store import Store
from brittle.testing import FakeTarget

WORDS = {
    "a": "ein",
    "the": "der",
    "man": "Mann",
    "dog": "Hund",
    "hat": "Hut",
    "city": "Stadt",
    "runs": "läuft",
    "sleeps": "schläft",
    "red": "rot",
    "big": "groß",
    "and": "und",
    "large": "Hund",
    "crimson": "Hut",
    "kip": "Stadt",
    "adult": "läuft",
}
SOURCES = [
    "a big man sleeps",
    "the red dog runs",
    "a man and a dog",
    "the city sleeps",
    "a red hat",
    "the big city",
]


class Translator:
    """Translates word by word, and counts what it is asked."""

    name = "dictionary"
    fingerprint = "1"
    labels = ()

    def __init__(self, costly: bool = False) -> None:
        self.costly = costly
        self.asked: Counter[str] = Counter()

    def translate(self, items: Any) -> list[str]:
        texts = [str(item) for item in items]
        self.asked.update(texts)
        return [" ".join(WORDS.get(word, word) for word in text.split()) for text in texts]


def attacked(folder: Path, target: Any = None, texts: Any = SOURCES, **options: Any) -> Any:
    settings = {"goal": "keyword", "name": "drawn", "folder": folder} | options
    return brittle.attack(
        target or Translator(), texts, "random-swap", **settings, candidates="paper"
    )


def keywords_of(run: Any) -> dict[str, str]:
    return {row.original: row.goal.removeprefix("keyword:") for row in run.results()}


def test_a_keyword_is_a_content_word_of_another_translation_and_not_of_its_own() -> None:
    translations = dict(zip("abcdef", Translator().translate(SOURCES)))
    drawn = [draw_keywords(translations, translations, seed) for seed in range(200)]
    content = {"Mann", "Hund", "Hut", "Stadt", "läuft", "schläft", "rot", "groß"}
    for case, text in translations.items():
        options = {keywords[case] for keywords in drawn}
        assert options == content - set(text.split())  # all of them, and nothing else
    assert len({tuple(keywords.items()) for keywords in drawn}) > 150


def test_a_draw_depends_on_no_order() -> None:
    translations = dict(zip("abcdef", Translator().translate(SOURCES)))
    whole = draw_keywords(translations, translations, 3)
    backwards = dict(reversed(translations.items()))
    assert draw_keywords(backwards, list(backwards), 3) == whole
    assert draw_keywords(translations, ["d"], 3) == {"d": whole["d"]}


def test_words_are_compared_as_the_goal_compares_them() -> None:
    translations = {"a": "HUND", "b": "ein Hund", "c": "Straße"}
    for seed in range(20):
        assert draw_keywords(translations, ["a", "b"], seed) == {"a": "Straße", "b": "Straße"}


def test_nothing_is_drawn_where_nothing_is_to_be_had() -> None:
    assert draw_keywords({"a": "ein Hund", "b": "der Hund"}, ["a", "b"], 0) == {}
    assert draw_keywords({"a": "ein Hund"}, ["a", "unanswered"], 0) == {}
    assert draw_keywords({}, ["a"], 0) == {}
    assert content_words("Der 12 34a zu os 99 – não, über!") == {}


def test_rows_name_the_keyword_of_their_case(tmp_path: Path) -> None:
    run = attacked(tmp_path)
    assert run.manifest["goal"] == "keyword"
    for row in run.results():
        assert row.goal.startswith("keyword:")
        assert row.goal.removeprefix("keyword:") not in row.answer.split()
        if row.status == "broken":
            assert row.goal.removeprefix("keyword:") in row.adversarial_answer.split()
    assert {row.status for row in run.results()} <= {"broken", "held", "skipped"}


def test_it_is_the_same_word_alone_and_in_batches(tmp_path: Path) -> None:
    together = keywords_of(attacked(tmp_path))
    alone = attacked(tmp_path / "alone", batch=1, texts=SOURCES[::-1])
    assert keywords_of(alone) == together
    assert keywords_of(attacked(tmp_path / "seed", seed=1)) != together


@pytest.mark.slow
def test_workers_attack_with_the_same_words(tmp_path: Path) -> None:
    target = "filter:tr a-z A-Z"
    together = attacked(tmp_path / "one", target).results()
    assert attacked(tmp_path / "two", target, workers=2).results() == together
    assert len({row.goal for row in together}) > 2


def test_combined_goals_draw_too_and_are_verified_by_their_rows(tmp_path: Path) -> None:
    run = attacked(tmp_path, goal="all(keyword; not:copy)", share=1.0, texts=SOURCES * 8)
    broken = [row for row in run.results() if row.status == "broken"]
    assert broken and all(row.goal.endswith("; not:copy:0.8)") for row in broken)
    assert run.verify(Translator()) == []
    silent = Translator()
    silent.translate = lambda items: ["" for _ in items]  # type: ignore[method-assign]
    assert len(run.verify(silent)) == len(broken)


@pytest.mark.parametrize("costly", [False, True])
def test_nothing_is_asked_twice(tmp_path: Path, costly: bool) -> None:
    drawing, plain = Translator(costly), Translator(costly)
    run = attacked(tmp_path / "a", drawing)
    attacked(tmp_path / "b", plain, goal="keyword:Nirgends")
    originals = {text: drawing.asked[text] for text in SOURCES}
    assert originals == {text: plain.asked[text] for text in SOURCES}
    assert run.totals["sent"] == drawing.asked.total()


def test_a_run_that_was_stopped_keeps_its_keywords(tmp_path: Path) -> None:
    whole = keywords_of(attacked(tmp_path / "whole"))
    (path,) = (tmp_path / "whole").glob("*.sqlite")
    with Store.resume(path) as store:
        stored = store.keywords
        for status in ("broken", "held", "skipped"):
            store.forget(status)
    assert sorted(stored.values()) == sorted(whole.values())
    assert keywords_of(attacked(tmp_path / "whole")) == whole


def test_with_more_texts_the_first_ones_keep_theirs(tmp_path: Path) -> None:
    first = attacked(tmp_path, limit=3)
    before = keywords_of(first)
    more = Translator()
    after = keywords_of(attacked(tmp_path, more, limit=6))
    assert {text: after[text] for text in before} == before and len(after) == 6
    # The translations of finished cases are in their rows.
    assert not any(more.asked[text] for text in before)


def test_cases_that_are_attacked_again_beside_more_texts_keep_theirs(tmp_path: Path) -> None:
    for seed in range(4):
        folder = tmp_path / str(seed)
        before = keywords_of(attacked(folder, limit=3, seed=seed))
        with Store.resume(folder / "drawn.sqlite") as store:
            for status in ("broken", "held", "skipped"):
                store.forget(status)
        after = keywords_of(attacked(folder, limit=6, seed=seed))
        assert {text: after[text] for text in before} == before and len(after) == 6


def test_an_original_that_fails_leaves_the_others_their_words(tmp_path: Path) -> None:
    class Failing(Translator):
        def translate(self, items: Any) -> list[str]:
            if any("hat" in str(item) for item in items):
                raise TargetError("no hats")
            return super().translate(items)

    rows = attacked(tmp_path, Failing()).results()
    assert [row.status for row in rows].count("error") == 1
    assert all(row.goal.startswith("keyword:") for row in rows if row.status != "error")


def test_one_text_alone_has_no_other_to_draw_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = attacked(tmp_path, texts=SOURCES[:1]).results()
    assert (row.status, row.reason, row.goal) == ("skipped", NO_KEYWORD, "keyword")
    command = ["try", "filter:cat", "a man", "--attack", "key", "--goal", "keyword"]
    assert main(command) == 2
    assert "there is only one text. Give the word yourself: keyword:WORD" in capsys.readouterr().err


def test_classifiers_have_no_keywords(tmp_path: Path) -> None:
    target = FakeTarget({"good": 1.0})
    with pytest.raises(UsageError, match="judges translations, but target"):
        attacked(tmp_path, target, texts=[("good", "positive")])


def test_every_case_has_an_id_of_its_own_to_draw_by() -> None:
    ids = case_ids([Example.of("a man"), Example.of("a man")])
    drawn = draw_keywords({ids[0]: "ein Mann", ids[1]: "ein Mann", "x": "Hund Hut"}, ids, 0)
    assert set(drawn) == set(ids)
    assert all(folded_words(word)[0] in ("hund", "hut") for word in drawn.values())
