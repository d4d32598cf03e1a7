"""Variants of examples: they keep labels and locked fields, and are the level's own edits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.candidates.typos import KeyTypos
from brittle.errors import UsageError
from brittle.levels import LEVELS
from brittle.text import Text
from brittle.training.augmenting import ORIGINAL, Variant

SENTENCES = (
    "it is not a good film , and it does not try to be one .",
    "the actors are good , but the plot fails to make any sense at all .",
    "i think that this is a very funny movie about a large family .",
)
EXAMPLES = [(sentence, str(n % 2)) for n, sentence in enumerate(SENTENCES)]


def variants_of(examples: Any = EXAMPLES, *args: Any, **options: Any) -> list[Variant]:
    return [one for one in brittle.augment(examples, *args, **options) if one.level != ORIGINAL]


@pytest.mark.parametrize("level", LEVELS)
def test_variants_keep_the_label_differ_and_follow_their_originals(level: str) -> None:
    rows = brittle.augment(EXAMPLES, level, copies=3)
    assert [row.text for row in rows if row.level == ORIGINAL] == list(SENTENCES)
    assert [row.source for row in rows] == sorted(row.source for row in rows)
    for row in rows:
        assert row.level in (ORIGINAL, level) and row.label == str(row.source % 2)
        assert (row.text == SENTENCES[row.source]) == (row.level == ORIGINAL)
    for n in range(len(SENTENCES)):
        own = [row.text for row in rows if row.source == n]
        assert 1 <= len(own) <= 4 and len(set(own)) == len(own)
    assert any(row.level == level for row in rows)


def test_the_same_seed_draws_the_same_whatever_else_is_augmented() -> None:
    rows = variants_of(copies=2, seed=3)
    assert rows == variants_of(copies=2, seed=3) != variants_of(copies=2, seed=4)
    assert [row for row in rows if row.source == 0] == variants_of(EXAMPLES[:1], copies=2, seed=3)
    more = variants_of(EXAMPLES, "rewrite,typo", copies=2, seed=3)
    assert [row for row in more if row.level == "rewrite"] == rows
    assert {row.level for row in more} == {"rewrite", "typo"}
    fewer = variants_of(seed=3)
    assert [row.text for row in fewer] == [
        next(row.text for row in rows if row.source == n) for n in range(len(SENTENCES))
    ]


def test_every_word_that_changes_becomes_one_of_the_level_s_candidates() -> None:
    typos = KeyTypos()
    for row in variants_of(EXAMPLES, "typo", copies=20, share=1.0):
        before, after = Text.of(SENTENCES[row.source]), Text.of(str(row.text))
        changed = [(old, new) for old, new in zip(before.words, after.words) if old != new]
        assert changed and len(changed) <= len(before) // 2
        assert all(new in typos.of(str(old), "") for old, new in changed)


def test_how_much_of_a_text_changes() -> None:
    def most(**options: Any) -> int:
        rows = variants_of(EXAMPLES, "typo", copies=30, **options)
        texts = ((Text.of(SENTENCES[row.source]), Text.of(str(row.text))) for row in rows)
        return max(sum(a != b for a, b in zip(x.words, y.words)) for x, y in texts)

    assert most(share=0.01) == 1 < most(share=0.2) < most(share=1.0)
    singles = {row.text for row in variants_of(copies=40, edits=1)}
    doubles = {row.text for row in variants_of(copies=40, edits=2)}
    assert doubles - singles  # some have two rewrites, and no single one writes them


def test_locked_fields_and_texts_without_labels_stay() -> None:
    pair = {"premise": SENTENCES[0], "hypothesis": SENTENCES[1]}
    example = brittle.data.Example.of(pair, None, ["premise"])
    rows = variants_of([example], "rewrite,careful,typo", copies=3)
    assert {row.level for row in rows} >= {"rewrite", "typo"}
    for row in rows:
        assert isinstance(row.text, dict) and row.label is None
        assert row.text["premise"] == SENTENCES[0] and row.text["hypothesis"] != SENTENCES[1]
        assert row.example.locked == ("premise",)


def test_texts_with_nothing_to_change_and_other_languages() -> None:
    assert variants_of(["?!", ""], "rewrite,any,typo") == []
    german = "das ist ein sehr guter Film und ich habe ihn mit der ganzen Familie gesehen"
    assert {row.level for row in variants_of([german], ",".join(LEVELS))} == {"typo", "look-alike"}


def test_originals_can_be_left_out_and_progress_is_told() -> None:
    told: list[Any] = []
    rows = brittle.augment(EXAMPLES, only_variants=True, progress=told.append)
    assert rows == variants_of() and [(now.done, now.planned) for now in told] == [
        (1, 3),
        (2, 3),
        (3, 3),
    ]


def test_rules_of_one_s_own(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    rule = '[[rule]]\nswap = ["film -> picture"]\nexample = ["a film .", "a picture ."]\n'
    path.write_text(f"shipped = false\nfull_stop = false\n{rule}")
    rows = variants_of(EXAMPLES, rules=str(path))
    expected = SENTENCES[0].replace("film", "picture")
    assert [(row.source, row.text) for row in rows] == [(0, expected)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "rewrit"}, "Unknown level 'rewrit'. Did you mean 'rewrite'?"),
        ({"level": ""}, "Unknown level ''"),
        ({"copies": 0}, "copies 0"),
        ({"share": 0.0}, "share 0.0"),
        ({"edits": 0}, "edits 0"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        brittle.augment(EXAMPLES, **options)
    with pytest.raises(UsageError, match="the levels edit texts"):
        brittle.augment([brittle.Picture.of([[0.5, 0.2], [0.1, 0.9]])])
