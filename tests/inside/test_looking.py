"""Looking inside a run's target: by hand on a network of four numbers, and on real tiny ones."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.answers import Attention, Embedding
from brittle.errors import UsageError
from brittle.inside import inside_path
from brittle.inside.file import load_inside
from brittle.inside.looking import align_words, look_inside
from brittle.inside.measures import InsideRun
from brittle.testing import FakeTarget
from brittle.text import Text

EXAMPLES = [
    ("a good film", "positive"),
    ("so good", "positive"),
    ("a bad film", "negative"),
    ("", "negative"),
]


@dataclass
class HandNetwork(FakeTarget):
    """A word has the vector (its first letter, 1); a state is the sum of the vectors up to it.

    Every word attends to the words alike, nine tenths of its attention, in both of two layers; the
    second layer's summary is all on the last word. `looked` counts the texts it showed.
    """

    weights: Any = field(default_factory=lambda: {"good": 2.0, "bad": -2.0})
    layers: tuple[str, ...] = ("embedding", "states")
    looked: list[str] = field(default_factory=list)

    def embeddings(self, items: Sequence[Text], layer: str, level: str = "words") -> list[Any]:
        vectors = [np.array([[ord(str(w)[0]), 1.0] for w in item.words]) for item in items]
        return vectors if layer == "embedding" else [v.cumsum(axis=0) for v in vectors]

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        self.looked += map(str, items)
        return [Embedding(rows[-1], []) for rows in self.embeddings(items, "states")]

    def attention(self, items: Sequence[Text]) -> list[Attention]:
        shown = []
        for item in items:
            n = len(item)
            summary = np.full((2, 2, n), 0.9 / n)
            summary[0, 1] += 0.1 / n  # another head
            summary[1] = [0.0] * (n - 1) + [1.0]
            rest = np.array([[0.1, 0.0], [0.0, 0.0]])
            weights = np.full((2, 2, n, n), 0.9 / n)
            shown.append(Attention(weights, summary, np.full((2, 2, n), 0.1), rest))
        return shown


@dataclass
class Silent(HandNetwork):
    """The network without attention: it shows vectors only."""

    attention: Any = None

    def __post_init__(self) -> None:
        del self.attention


@pytest.fixture
def run(tmp_path: Path) -> brittle.Run:
    return brittle.attack(
        HandNetwork(), EXAMPLES, folder=tmp_path, name="films", candidates="paper"
    )


def test_attention_changes_and_re_are_those_by_hand(run: brittle.Run) -> None:
    inside = run.inside(HandNetwork())
    assert inside.layers == ("embedding", "states") and inside.notes == ()
    first, second = inside.cases
    assert (first.before.words, first.after.words) == (("a", "good", "film"), ("a", "full", "film"))
    assert first.pairs == ((0, 0), (1, 1), (2, 2)) and first.edited == (1,)
    # g and f are one apart: the word itself, and every state from there on.
    assert first.changes == ((0.0, 1.0, 0.0), (0.0, 1.0, 1.0))
    z = np.array([ord("a") + ord("g") + ord("f"), 3])
    assert first.relative == pytest.approx(1 / math.hypot(*z), abs=1e-5)
    assert first.before.summary == pytest.approx([0.95 / 3] * 3, abs=1e-5)
    assert first.before.elsewhere == 0.05
    assert first.before.weights == ((0.3,) * 3,) * 3
    assert second.after.words == ("so", "full") and second.changes[1] == (0.0, 1.0)


def test_the_last_layer_and_a_layer_by_number(run: brittle.Run) -> None:
    for layer in ("last", "2"):
        case = run.inside(HandNetwork(), layer=layer).cases[0]
        assert case.before.summary == (0.0, 0.0, 1.0) and case.before.elsewhere == 0.0
    for layer in ("3", "0", "middle"):
        with pytest.raises(
            UsageError, match=rf"Got --layer {layer}; expected first, last, or a nu"
        ):
            run.inside(HandNetwork(), layer=layer)


def test_only_new_cases_are_computed(run: brittle.Run) -> None:
    target = HandNetwork()
    first = run.inside(target, limit=1)
    assert target.looked == ["a good film", "a full film"]
    both = run.inside(target)
    assert target.looked[2:] == ["so good", "so full"] and both.cases[0] == first.cases[0]
    assert run.inside(target) == both and run.inside(target, case=both.cases[1].case[:6]) == (
        replace(both, cases=both.cases[1:])
    )
    assert len(target.looked) == 4 and load_inside(inside_path(run.path)) == both
    run.inside(target, layer="last")  # another layer, another target: everything anew
    assert len(target.looked) == 8
    other = HandNetwork(weights={"good": 1.0})
    run.inside(other, layer="last")
    assert len(other.looked) == 4
    assert not list(run.path.parent.glob("*.new"))


def test_a_live_target_cannot_be_opened_again(run: brittle.Run) -> None:
    with pytest.raises(UsageError, match=r"'films' attacked a live object\. Pass the target"):
        run.inside()


def test_what_a_target_does_not_show_is_left_out_and_said(run: brittle.Run) -> None:
    inside = run.inside(Silent())
    assert inside.notes == ("The target 'fake' shows no attention.",)
    case = inside.cases[0]
    assert case.before.summary is None and case.relative and case.changes[1] == (0.0, 1.0, 1.0)
    with pytest.raises(
        UsageError, match=r"'fake' shows neither vectors nor attention\. The .* Use a run"
    ):
        run.inside(FakeTarget({"good": 2.0}))


def test_cases_are_named_and_must_be_broken(run: brittle.Run) -> None:
    rows = run.results()
    held = next(row for row in rows if row.status != "broken")
    with pytest.raises(UsageError, match=rf"'{held.case}' is not broken but {held.status}"):
        run.inside(HandNetwork(), case=held.case)
    with pytest.raises(UsageError, match=r"Unknown broken case 'nothing'"):
        run.inside(HandNetwork(), case="nothing")
    with pytest.raises(
        UsageError, match=r"is the start of several case ids:.* Give one of them in full"
    ):
        run.inside(HandNetwork(), case="")


def test_a_run_without_broken_cases_says_so(tmp_path: Path) -> None:
    run = brittle.attack(
        HandNetwork(), EXAMPLES[2:], folder=tmp_path, name="firm", candidates="paper"
    )
    with pytest.raises(UsageError, match=r"'firm' has no broken case.*among 2 cases"):
        run.inside(HandNetwork())
    assert "Inside the target" not in run.report(tmp_path / "firm.html").read_text()


DAMAGES = {
    "no JSON": lambda text: text[:-9],
    "another layout": lambda text: text.replace('"layout": 1', '"layout": 7'),
    "a list": lambda text: "[1]",
    "too few layers": lambda text: text.replace('["embedding", "states"]', '["states"]'),
    "too few words": lambda text: text.replace('["a", "good", "film"]', '["a"]'),
    "no number": lambda text: text.replace('"relative": 0', '"relative": "x", "y": 0'),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_named_in_the_report_and_written_anew(
    run: brittle.Run, damage: str
) -> None:
    whole = run.inside(HandNetwork())
    path = inside_path(run.path)
    text = path.read_text()
    damaged = DAMAGES[damage](text)
    assert damaged != text
    path.write_text(damaged)
    with pytest.raises(UsageError, match=r"Cannot read 'films\.inside\.json': .*repeat"):
        load_inside(path)
    page = run.report(run.path.with_suffix(".html")).read_text()
    assert "Inside the target" in page and "Cannot read" in page
    assert run.inside(HandNetwork()) == whole and path.read_text() == text


def test_cases_of_another_run_of_this_name_are_not_shown(run: brittle.Run) -> None:
    run.inside(HandNetwork())
    path = inside_path(run.path)
    content = json.loads(path.read_text())
    for case in content["cases"]:
        case["after"]["words"][-1] = "other"
    path.write_text(json.dumps(content))
    assert "Inside the target" not in run.report(run.path.with_suffix(".html")).read_text()
    target = HandNetwork()
    assert len(run.inside(target).cases) == 2 and len(target.looked) == 4


@pytest.mark.parametrize(
    ("before", "after", "pairs", "edited"),
    [
        ("a b c", "a x c", [(0, 0), (1, 1), (2, 2)], [1]),
        ("b b a", "a b a", [(0, 0), (1, 1), (2, 2)], [0]),
        ("a b c", "a x b c", [(0, 0), (1, 2), (2, 3)], [1]),
        ("a b c", "a c", [(0, 0), (2, 1)], [1]),
        ("a b c", "a b", [(0, 0), (1, 1)], [1]),
        ("a b c d", "x b d", [(0, 0), (1, 1), (3, 2)], [0, 2]),
        ("a", "x y", [], [0, 1]),
        ("a", "", [], []),
    ],
)
def test_words_are_compared_with_what_they_became(
    before: str, after: str, pairs: list[Any], edited: list[int]
) -> None:
    assert align_words(Text.of(before), Text.of(after)) == (tuple(pairs), tuple(edited))


def test_fields_are_aligned_apart_and_locked_ones_have_no_positions() -> None:
    sides = {"premise": "a b", "hypothesis": "c d"}
    longer = {"premise": "a x b", "hypothesis": "c e"}
    pairs = ((0, 0), (1, 2), (2, 3), (3, 4))
    assert align_words(Text.of(sides), Text.of(longer)) == (pairs, (1, 4))
    locked = [Text.of({**both, "premise": "a b"}, ["premise"]) for both in (sides, longer)]
    assert align_words(*locked) == (((0, 0), (1, 1)), (1,))


# Real networks, with random weights.


@dataclass
class Shown:
    """A white box as a target, and rows that a run might have."""

    white: Any
    name: str = "net"
    fingerprint: str = "f"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.white, name)


def look(
    target: Any, before: Any, after: Any, layer: str = "first", locked: Sequence[str] = ()
) -> InsideRun:
    from brittle.edits import diff
    from brittle.metrics.samples import sample_results

    texts = [Text.of(before, locked), Text.of(after, locked)]
    fields = tuple(texts[0].fields().items())
    row = replace(sample_results()[0], case="c", fields=fields, edits=diff(*texts))
    rows: Any = type("Rows", (), {"name": "r", "manifest": {"locked": locked}})()
    return look_inside(rows, target, [row], layer)


def test_states_of_an_lstm_change_from_the_edit_on() -> None:
    pytest.importorskip("torch")
    from brittle.zoo.white_box import NetworkWhiteBox
    from zoo.exact import model

    white = NetworkWhiteBox(model("LSTM-W-Random-2"), "My net")
    inside = look(Shown(white), "the film is good", "the plot is good")
    assert inside.layers == ("embedding", "layer 1", "layer 2")
    assert [note[:36] for note in inside.notes] == ["No attention: My net has no attentio"]
    embedding, *states = inside.cases[0].changes
    assert [value > 0 for value in embedding] == [False, True, False, False]  # type: ignore[operator]
    texts = [Text.of("the film is good"), Text.of("the plot is good")]
    for layer, changes in zip(inside.layers[1:], states):
        old, new = white.embeddings(texts, layer)
        assert changes == pytest.approx(np.linalg.norm(old - new, axis=1), abs=1e-5)
        assert changes[0] == 0.0 and all(changes[1:])
    old, new = (shown.vector for shown in white.sentence_embeddings(texts))
    expected = np.linalg.norm(old - new) / np.linalg.norm(old)
    assert inside.cases[0].relative == pytest.approx(expected, abs=1e-5)


def test_a_transformers_model_shows_the_mean_of_its_heads() -> None:
    pytest.importorskip("transformers")
    from brittle.targets.transformers.classifier import of_model
    from targets import tiny

    tokenizer = tiny.tokenizer("bert")
    target = of_model(tiny.model("bert", len(tokenizer)).double(), tokenizer)
    before, after = "the film was godlike!", "the rain was godlike!"
    for number, layer in enumerate(("first", "last")):
        inside = look(target, before, after, layer)
        for text, seen in zip((before, after), (inside.cases[0].before, inside.cases[0].after)):
            (shown,) = target.attention([Text.of(text)])
            assert seen.summary == pytest.approx(shown.summary[number].mean(axis=0), abs=1e-5)
            assert seen.weights == pytest.approx(shown.weights[number].mean(axis=0), abs=1e-5)
            assert seen.elsewhere is not None and seen.summary is not None
            assert sum(seen.summary) + seen.elsewhere == pytest.approx(1, abs=1e-4)
    assert inside.layers == ("embedding", "layer 1", "layer 2")


def test_a_pair_with_a_locked_side_shows_the_open_one() -> None:
    pytest.importorskip("torch")
    from brittle.zoo.white_box import NetworkWhiteBox
    from zoo.exact import model

    white = Shown(NetworkWhiteBox(model("BiLSTM-W-Random-1-attention-pair")))
    before = {"premise": "the film is good", "hypothesis": "a plot on"}
    after = {**before, "hypothesis": "a film on"}
    (case,) = look(white, before, after, locked=["premise"]).cases
    assert case.after.words == ("a", "film", "on") and case.edited == (1,)
    assert case.before.summary is not None and case.before.elsewhere == 1.0  # of the locked side
    assert sum(case.before.summary) == pytest.approx(1, abs=1e-4)
    (whole,) = look(white, before, after).cases
    assert whole.edited == (5,) and whole.before.elsewhere == 0.0
    assert whole.changes[-1][4:] == case.changes[-1] and not any(whole.changes[-1][:4])
    assert whole.relative == case.relative
