"""The path of a case: its steps can be played back from what stands in the page."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from brittle.edits import Edit, diff
from brittle.reports.cases import MAX_STEPS, embedded_rows
from brittle.results import Result, Step
from brittle.text import Text

Make = Callable[..., Any]


def played(path: list[Any], text: str) -> list[str]:
    """Play a path back as the page does: the text after each of its steps."""
    flat, _, *steps = path
    edits = [flat[i : i + 4] for i in range(0, len(flat), 4)]
    raw = text.encode("utf-16-le")
    now: set[int] = set()
    texts = []
    for _, _, _, came, went, *_ in steps:
        assert set(went) <= now and not set(came) & now
        now = (now - set(went)) | set(came)
        parts, position = b"", 0
        for _, start, stop, new in sorted(edits[n] for n in now):
            parts += raw[2 * position : 2 * start] + new.encode("utf-16-le")
            position = stop
        texts.append((parts + raw[2 * position :]).decode("utf-16-le"))
    return texts


def embedded(results: list[Result], steps: list[Step]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(embedded_rows(results, steps=steps))
    return data


def test_every_step_can_be_played_back(make_row: Make) -> None:
    rng = random.Random(5)
    sentence = "a 😀 warm, funny film \U0001f469‍\U0001f469‍\U0001f467 of no great length"
    text = Text.of(sentence)
    for _ in range(40):
        best, steps, texts = text, [], []
        for query in range(rng.randint(2, 12)):
            steps.append(Step("c1", 3 * query + 1, 0.1, "positive", 0.9, diff(text, best)))
            texts.append(best.render())
            position = rng.randrange(len(text))
            word = rng.choice([str(text.words[position]), "odd", "</script>", "x😀y"])
            best = best.swap(position, word)
        rng.shuffle(steps)  # stored in any order, shown in that of the queries
        data = embedded([make_row(sentence, {1: "cold"})], steps)
        path = data["rows"][0][14]
        assert played(path, sentence) == texts
        assert [step[0] for step in path[2:]] == sorted(step.query for step in steps)


def test_long_paths_keep_their_ends(make_row: Make) -> None:
    text = Text.of("one two three")
    words = [f"w{n}" for n in range(500)]
    steps = [
        Step("c1", n, n / 500, "positive", 0.5, diff(text, text.swap(1, word)))
        for n, word in enumerate(words, 1)
    ]
    path = embedded([make_row("one two three", {1: "w499"})], steps)["rows"][0][14]
    assert path[1] == 500 and len(path) == MAX_STEPS + 2
    texts = played(path, "one two three")
    assert texts[0] == "one w0 three" and texts[-1] == "one w499 three"


def test_a_case_with_nothing_but_its_original_has_no_path(make_row: Make) -> None:
    steps = [Step("c1", 1, 0.1, "positive", 0.9, ())]
    assert embedded([make_row("a film")], steps)["rows"][0][14] == []
    assert embedded([make_row("a film")], [])["rows"][0][14] == []


def test_costs_and_answers_are_in_the_path(make_row: Make) -> None:
    row = make_row("a film", {1: "movie"}, answer="ein Film", adversarial_answer="ein Kino")
    step = partial(Step, "c1", label=None, confidence=None)
    steps = [
        step(query=1, loss=0.0, edits=(), answer="ein Film", cost=None),
        step(query=5, loss=1.0, edits=row.edits, answer="ein Kino", cost=0.25),
    ]
    data = embedded([row], steps)
    _, _, first, second = data["rows"][0][14]
    assert first[5:] == [None, data["strings"].index("ein Film")]
    assert second[5:] == [0.25, data["strings"].index("ein Kino")]
    assert data["answered"] == [True] and data["shapes"] == [["text", "answer"]]


def test_an_edit_of_an_unknown_field_does_not_stop_the_report(make_row: Make) -> None:
    edits = (Edit("gone", 0, 1, "a", "b"),)
    steps = [Step("c1", 1, 0.1, "positive", 0.9, ()), Step("c1", 2, 0.2, "positive", 0.8, edits)]
    path = embedded([make_row("a film", {0: "one"})], steps)["rows"][0][14]
    assert played(path, "a film") == ["a film", "a film"]
