"""Pieces of words: there and back, unknown characters, holes, what a text may spell."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tokenizers")

from brittle.errors import UsageError
from brittle.text import Text
from brittle.zoo.seq2seq.pieces import END, HOLE_PIECE, PAD, UNKNOWN, Pieces, render

TEXTS = ["A man walks.", 'Ein Mann geht, "jetzt".', "the woman's well-known dog (2) sleeps"] * 3


@pytest.fixture(scope="module")
def learnt() -> Pieces:
    return Pieces.learn(TEXTS, 90, 3)


@pytest.mark.parametrize("text", [*TEXTS[:3], "A geht.", "", "  A\tman \n walks. "])
def test_a_text_comes_back_with_single_spaces(learnt: Pieces, text: str) -> None:
    [encoded] = learnt.encode([text], 100)
    assert learnt.decode(encoded.ids) == " ".join(text.split())
    assert encoded.ids[-1] == END and (encoded.ids[:-1] > END).all()


def test_every_piece_knows_its_characters(learnt: Pieces) -> None:
    text = TEXTS[2]
    [encoded] = learnt.encode([text], 100)
    covered = [text[a:b] for a, b in zip(encoded.start, encoded.stop)]
    assert "".join(covered) == text and covered[-1] == ""


def test_rare_characters_are_unknown_and_special_pieces_are_plain_text(learnt: Pieces) -> None:
    rare = Pieces.learn([*TEXTS, "Ω"], 90, 3)
    for text in ("Ω", "🎉🎉"):
        [encoded] = rare.encode([f"A {text} man"], 100)
        assert (encoded.ids == UNKNOWN).sum() == 1
        assert not rare.can_spell(text)
    assert learnt.can_spell("Mann") and not learnt.can_spell("")
    [encoded] = learnt.encode(["A </s> man <pad>"], 100)
    assert END not in encoded.ids[:-1] and PAD not in encoded.ids


@pytest.mark.parametrize("hole", [UNKNOWN, PAD])
def test_a_hole_is_one_piece_and_leaves_the_others(
    learnt: Pieces, hole: int, tmp_path: Path
) -> None:
    learnt.save(tmp_path / "pieces")
    loaded = Pieces.load(tmp_path / "pieces", hole)
    assert len(loaded) == len(learnt)
    text = Text.of("A man walks.")
    whole, first, second = loaded.encode_items([text, text.mask(0), text.mask(1)], 100)
    assert render(text.mask(1)) == f"A {HOLE_PIECE} walks."
    width = [loaded.encode([word], 100)[0].ids[:-1].tolist() for word in ("A", "man", " walks.")]
    assert whole.ids.tolist() == [*width[0], *width[1], *width[2], END]
    assert first.ids.tolist() == [hole, *width[1], *width[2], END]
    assert second.ids.tolist() == [*width[0], hole, *width[2], END]


def test_a_long_text_is_cut(learnt: Pieces) -> None:
    [encoded] = learnt.encode(["man " * 50], 7)
    assert len(encoded.ids) == 8 and encoded.ids[-1] == END


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pieces").write_text("{}")
    with pytest.raises(UsageError, match="has no word pieces"):
        Pieces.load(tmp_path / "pieces")
