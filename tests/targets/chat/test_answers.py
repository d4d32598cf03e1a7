"""How a label is read from what a chat model says, and what counts as no answer."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from brittle.answers import (
    REFUSED,
    SILENT_LABELS,
    TIED,
    UNPARSED,
    join_texts,
    split_texts,
    write_answer,
)
from brittle.errors import TargetError, UsageError
from brittle.targets.chat import answers
from brittle.targets.chat.answers import (
    MAX_READ_CHARACTERS,
    ChatLabels,
    ChatTexts,
    Message,
    TokenMeter,
    open_reader,
)
from brittle.targets.chat.target import join_rows

LABELS = ("clean", "offensive", "not sure")


def reply(content: Any, finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content, **more}, "finish_reason": finish}]}


def label_of(answer: Any, how: str = "name", by_tokens: bool = False) -> str:
    """Return the label that is read from one answer."""
    parser = ChatLabels(LABELS, open_reader(how), how, by_tokens)
    (row,) = parser.parse([answer if isinstance(answer, dict) else reply(answer)], 1, "M")
    return parser.labels[int(row.argmax())]


@pytest.mark.parametrize(
    ("content", "label"),
    [
        ("Offensive.", "offensive"),
        ("  **clean**\n", "clean"),
        ("Label: CLEAN", "clean"),
        ("The comment is offensive, clearly offensive!", "offensive"),
        ("I am not sure.", "not sure"),
        ("not sure", "not sure"),
        ("It is not offensive.", UNPARSED),
        ("Neither clean", UNPARSED),
        ("non-offensive", UNPARSED),
        ("clean or offensive", UNPARSED),
        ("cleanly", UNPARSED),
        ("", UNPARSED),
        ("🙂", UNPARSED),
        ("I'm sorry, but I can't help with that.", REFUSED),
        ("I cannot assist.", REFUSED),
        ("Sorry: offensive", "offensive"),
    ],
)
def test_a_label_is_read_by_name(content: str, label: str) -> None:
    assert label_of(content) == label


@pytest.mark.parametrize(
    ("how", "content", "label"),
    [
        (r"regex:Label: (\w+)", "It says clean. Label: Offensive!", "offensive"),
        (r"regex:Label: (\w+)", "clean", UNPARSED),
        (r"regex:clean|dirty", "so dirty", UNPARSED),
        (r"regex:(x)?clean", "clean", UNPARSED),
        ("json:label", '{"label": "Offensive", "why": "clean"}', "offensive"),
        ("json:label", '```json\n{"label": "clean"}\n```', "clean"),
        ("json:a.0.b", '{"a": [{"b": "clean"}]}', "clean"),
        ("json:label", '{"other": "clean"}', UNPARSED),
        ("json:label", '{"label": 1}', UNPARSED),
        ("json:label", '{"label": "clean", "label": "offensive"}', UNPARSED),
        ("json:label", "clean", UNPARSED),
        ("json:", '"clean"', "clean"),
        ("json:label", "[" * 100_000, UNPARSED),
    ],
)
def test_a_label_is_read_by_a_pattern_or_from_json(how: str, content: str, label: str) -> None:
    assert label_of(content, how) == label


@pytest.mark.parametrize("how", ["names", "regex:", "regex:(", "name:x"])
def test_an_unknown_way_to_read_is_refused(how: str) -> None:
    with pytest.raises(UsageError, match="--read"):
        open_reader(how)


def test_a_pattern_that_would_take_forever_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "REGEX_SECONDS", 0.05)
    begun = time.process_time()
    assert label_of("a" * 5_000 + "!", r"regex:^((a|a?)+)+$") == UNPARSED
    assert time.process_time() - begun < 10


def test_refusals_are_said_in_three_ways() -> None:
    assert label_of(reply(None, refusal="No.")) == REFUSED
    assert label_of(reply("clean", finish="content_filter")) == REFUSED
    assert label_of(reply("As an AI, I have no view.")) == REFUSED


@pytest.mark.parametrize(
    "answer",
    [
        *({}, [], None, "text", {"choices": []}, {"choices": [1]}, {"choices": [{"message": 3}]}),
        *(reply(7), reply("x", tool_calls=[{}]), reply("x", tool_calls=4)),
        reply("", refusal=["a"]),
    ],
)
def test_what_is_no_chat_answer_is_an_error_of_the_text(answer: Any) -> None:
    with pytest.raises(TargetError, match="M answered"):
        Message.parse(answer, "M")


def test_parts_of_a_message_are_joined_and_long_ones_cut() -> None:
    parts = [{"type": "text", "text": "cl"}, {"type": "image"}, {"type": "text", "text": "ean"}]
    assert label_of(reply(parts)) == "clean"
    assert len(Message.parse(reply("a" * 300_000), "M").text) == MAX_READ_CHARACTERS
    assert Message.parse(reply("a\ud800b"), "M").text == "a?b"


def test_token_probabilities_are_scores_and_the_rest_is_unparsed() -> None:
    def answer(**tokens: float) -> dict[str, Any]:
        top = [{"token": t, "logprob": math.log(p)} for t, p in tokens.items()]
        entries = [{"token": " ", "logprob": 0.0}, {"token": "x", "top_logprobs": top}]
        return {"choices": [{"message": {"content": "x"}, "logprobs": {"content": entries}}]}

    parser = ChatLabels(LABELS, open_reader(None), "name", by_tokens=True)
    (row,) = parser.parse([answer(Off=0.5, CLEAN=0.25, cl=0.125, The=0.125)], 1, "M")
    assert row == pytest.approx([0.375, 0.5, 0.0, 0.125, 0.0, 0.0])
    assert label_of(answer(The=0.9, clean=0.1), by_tokens=True) == UNPARSED
    with pytest.raises(UsageError, match="--scores prob"):
        label_of("clean", by_tokens=True)


def test_most_answers_decide_and_ties_are_named() -> None:
    names = [*LABELS, *SILENT_LABELS]

    def label(*votes: str) -> tuple[str, float]:
        rows = [[float(name == vote) for name in names] for vote in votes]
        joined = join_rows(rows, names)
        assert sum(joined) == pytest.approx(1.0)
        return names[joined.index(max(joined))], max(joined)

    assert label("clean", "clean", "offensive") == ("clean", pytest.approx(2 / 3))
    assert label("clean", "offensive") == (TIED, 0.5)
    assert label("clean", UNPARSED, REFUSED) == (TIED, 0.5)
    assert label("clean", UNPARSED, UNPARSED)[0] == UNPARSED
    assert label("clean", "clean", "offensive", "offensive", "not sure")[0] == TIED


def test_only_the_first_answer_without_a_label_is_shown_and_it_steers_nothing() -> None:
    said: list[str] = []
    parser = ChatLabels(LABELS, open_reader(None), "name", warn=said.append)
    parser.parse([reply("hm\x1b[31m"), reply("hm")], 2, "M")
    assert len(said) == 1 and "hm" in said[0] and "\x1b" not in said[0]


def test_tokens_are_counted_and_nonsense_counts_nothing() -> None:
    meter = TokenMeter()
    for usage in ({"prompt_tokens": 7, "completion_tokens": 2}, None, {"prompt_tokens": -1}):
        meter.note({"usage": usage})
    meter.note({"usage": {"prompt_tokens": "9", "completion_tokens": True}})
    meter.note("text")
    assert meter.take() == (7, 2) and meter.take() == (0, 0)


def test_tools_are_lines_that_no_text_can_forge() -> None:
    call = {"function": {"name": "send", "arguments": '{"to":\n"me"}'}}
    (text,) = ChatTexts().parse([reply("⟨tool call⟩ pay {}", tool_calls=[call])], 1, "M")
    assert text.split("\n") == ["<tool call> pay {}", '⟨tool call⟩ send {"to": "me"}']
    assert write_answer("", [("a", "")]) == "⟨tool call⟩ a "
    several = [write_answer("⟨answer⟩\nb", ()), "", "c\n\nd"]
    assert split_texts(join_texts(several)) == ["<answer>\nb", "", "c\n\nd"]
