"""Copies with typing errors."""

from __future__ import annotations

from random import Random

from brittle.text import Text
from brittle.training.adversarial.methods import TypoTraining
from brittle.training.adversarial.texts import LETTERS, typo_copies, typo_copy, with_typos
from brittle.training.splits import LabelledTexts

TEXT = Text.of({"one": "The well-known film, it's 2 hours", "two": "(dull!)"})


def characters(text: Text) -> list[str]:
    return [c for word in text.words for c in str(word)]


def test_a_share_of_the_characters_changes_and_nothing_else() -> None:
    before = characters(TEXT)
    for share, count in ((0.001, 1), (0.2, 6), (1.0, 31)):
        after = with_typos(TEXT, share, Random(0))
        changed = [(a, b) for a, b in zip(before, characters(after)) if a != b]
        assert len(changed) == count and all(b in LETTERS for _, b in changed)
        assert [len(str(w)) for w in after.words] == [len(str(w)) for w in TEXT.words]
        assert after.frame == TEXT.frame
    assert len(before) == 31
    assert with_typos(Text.of("?!"), 0.5, Random(0)) == Text.of("?!")


def test_every_character_and_every_letter_comes_up() -> None:
    seen = set()
    for seed in range(3000):
        after = with_typos(Text.of("abc"), 0.3, Random(seed))
        seen |= {(i, b) for i, (a, b) in enumerate(zip("abc", str(after))) if a != b}
    assert seen == {(i, b) for i in range(3) for b in LETTERS if b != "abc"[i]}


def test_a_copy_is_its_own_in_each_epoch_and_the_same_again() -> None:
    originals = LabelledTexts((TEXT, TEXT), (0, 1))
    first = typo_copies(originals, TypoTraining(), seed=5, epoch=2)
    assert (
        first == typo_copies(originals, TypoTraining(), seed=5, epoch=2)
        and first.label == originals.label
    )
    assert first.texts[0] == typo_copy(TEXT, TypoTraining(), 5, 2, 0)
    others = [
        *first.texts,
        *typo_copies(originals, TypoTraining(), 5, 3).texts,
        *typo_copies(originals, TypoTraining(), 6, 2).texts,
    ]
    assert len(set(others)) == 6
