"""Rewrites that keep the meaning: every rule once, careless cases, and slots that never clash."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brittle.candidates.rewrite_rules import SHIPPED, examples, load_rules
from brittle.candidates.rewrites import Rewrites, Slot, rewritten
from brittle.english.tags import Tagger
from brittle.errors import UsageError
from brittle.text import Text

MIN_RULES = 300
SENTENCES = (
    "the film is a very long and funny mess , but it does n't try too hard .",
    "It's a very interesting film, and nobody doesn't like it because of the cast.",
    "a thoughtful , provocative , insistently humanizing film .",
    "even though the movie fails to amuse , it is filled with charm and wit .",
    "I don't think that you should ignore it. It isn't bad. You'll see it twice.",
    "What is the capital of France?",
    "Please tell me how two men can help each other.",
    "YOU ARE NOT VERY FUNNY AND YOU DO NOT HAVE TO BE",
)


def slots_of(raw: str | Text, path: str | None = None) -> tuple[Text, list[Slot]]:
    text = raw if isinstance(raw, Text) else Text.of(raw)
    return text, Rewrites(path).slots(text, Tagger().tags([text])[0])


def outcomes(raw: str, path: str | None = None) -> list[str]:
    """List the texts that one edit makes."""
    text, slots = slots_of(raw, path)
    return [str(rewritten(text, [(slot, a)])) for slot in slots for a in slot.alternatives]


def check(text: Text, slots: list[Slot]) -> None:
    """Check what every list of slots must fulfil."""
    rendered = text.fields()
    for slot in slots:
        original = rendered[slot.field][slot.start : slot.stop]
        assert 0 <= slot.start <= slot.stop <= len(rendered[slot.field])
        assert len(original) == slot.stop - slot.start
        assert slot.alternatives and original not in slot.alternatives
        assert len({*slot.alternatives}) == len(slot.alternatives)
    for slot, other in itertools.pairwise(slots):
        assert slot.field != other.field or slot.stop <= other.start
        assert (slot.field, slot.start, slot.stop) != (other.field, other.start, other.stop)


@pytest.mark.parametrize("before, after", examples())
def test_every_rule_does_what_its_example_shows(before: str, after: str) -> None:
    assert after in outcomes(before)


def test_every_table_of_the_file_has_an_example() -> None:
    lines = SHIPPED.read_text("utf-8").splitlines()
    assert sum(line in ("[[rule]]", "[[opener]]") for line in lines) == len(examples())
    assert load_rules().count >= MIN_RULES


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("he lies in order to win .", "in order in order"),
        ("it looks like he lies to everyone .", "such as"),
        ("it is nothing more than a sketch .", "nothing yet"),
        ("here they are .", "they're"),
        ("that is what it is .", "it's ."),
        ("they sing and dance all night .", "&"),
        ("a film of wit and charm .", "frankly"),
        ("the film is not very good .", "not good"),
        ("there is no one person in charge .", "nobody person"),
        ("the critic has failed to see it .", "has did"),
        ("it is fun from start to finish .", "begin to"),
        ("another slightly annoying thing .", "another a"),
        ("if you are going to sing , sing well .", "if you will"),
        ("a little girl sits here .", "a bit girl"),
        ("he's never shirked from it .", "he is never"),
        ("i can't begin to tell you .", "start to"),
        ("all you have left are three songs .", "you've left"),
        ("she holds out hope that he calls .", "hope he"),
        ("we watched it at the movies .", "the films"),
        ("this film noir is old .", "movie noir"),
        ("it was 2 May when it rained .", "two May"),
        ("the book costs $ 2 dollars .", "two dollars"),
        ("Ignore all rules", "In short"),
        ("Amazon.com Inc. said on Thursday that it will buy the firm.", "Amazon.In"),
        ("so bad it's good . . . well , not quite .", "well , in"),
        ("Oil Prices Soar To All-Time Record", "In short"),
        ("But the plot is thin and slow.", "In short"),
        ("What a banal bore it turns out to be!", "In short"),
    ],
)
def test_careless_rewrites_are_not_offered(text: str, wrong: str) -> None:
    assert wrong not in text
    assert not [made for made in outcomes(text) if wrong in made]


@pytest.mark.parametrize(
    "before, after",
    [
        ("it doesn't work at all .", "it does not work at all ."),
        ("it does n't work , but it 's nice .", "it does not work , but it 's nice ."),
        ("it does not work , but it 's nice .", "it does n't work , but it 's nice ."),
        ("It does not work at all.", "It doesn't work at all."),
        ("It does not work; that’s sad.", "It doesn’t work; that’s sad."),
        ("IT DOES NOT WORK AT ALL", "IT DOESN'T WORK AT ALL"),
        ("I can't see the end of it.", "I cannot see the end of it."),
        ("The plot is thin and slow.", "In short, the plot is thin and slow."),
        ("I saw that the plot is thin.", "In short, I saw that the plot is thin."),
        ("the plot is thin and slow .", "in short , the plot is thin and slow ."),
        ("It is a very old film.", "It is an old film."),
        ("A really old film about war.", "An old film about war."),
        ("Please tell me the way.", "Tell me the way."),
        ("It is slow, long, and dull.", "It is slow, long and dull."),
        ("It is slow, long and dull.", "It is slow, long, and dull."),
        ("the plot is thin and slow", "the plot is thin and slow."),
        ("the plot is thin and slow .", "the plot is thin and slow"),
    ],
)
def test_a_rewrite_is_written_as_the_text_is(before: str, after: str) -> None:
    assert after in outcomes(before)


@pytest.mark.parametrize("raw", SENTENCES)
def test_all_combinations_are_texts_of_their_own(raw: str) -> None:
    text, slots = slots_of(raw)
    check(text, slots)
    assert slots
    options = [[(slot, a) for a in (None, *slot.alternatives[:3])] for slot in slots]
    for choice in itertools.islice(itertools.product(*options), 3000):
        edits = [(slot, string) for slot, string in choice if string is not None]
        made = rewritten(text, edits)
        assert made == Text.of(str(made))
        assert (made == text) == (not edits)


def test_edits_may_come_in_any_order() -> None:
    text, slots = slots_of(SENTENCES[0])
    edits = [(slot, slot.alternatives[0]) for slot in slots]
    assert rewritten(text, edits) == rewritten(text, edits[::-1])


def test_there_is_one_opener_a_text_and_locked_fields_stay() -> None:
    fields = {
        "premise": "It is a very old film.",
        "question": "It is a very long film.",
        "answer": "The film is not very long.",
    }
    text = Text.of(fields, locked=("question",))
    text, slots = slots_of(text)
    check(text, slots)
    assert {slot.field for slot in slots} == {"premise", "answer"}
    opening = [s for s in slots if any(a.startswith("In short") for a in s.alternatives)]
    assert [slot.field for slot in opening] == ["premise"]
    made = rewritten(text, [(slot, slot.alternatives[0]) for slot in slots])
    assert made.fields()["question"] == fields["question"]
    assert made == Text.of(made.fields(), locked=("question",))
    assert made.frame.fields[1].locked


def test_a_text_keeps_to_american_or_british_spellings() -> None:
    assert "the research centre is new ." in outcomes("the research center is new .")
    mixed = outcomes("the research center makes a theater of the old labor .")
    assert not any(word in made for made in mixed for word in ("centre", "theatre", "labour"))
    twice = outcomes("Cisco opens center Cisco said it will open a new center there.")
    assert not any("centre" in made for made in twice)


@pytest.mark.parametrize("last", ["for", "the", "and", "its"])
def test_a_text_that_breaks_off_gets_no_full_stop(last: str) -> None:
    raw = f"the company reported a drop in {last}"
    assert f"{raw}." not in outcomes(raw) and f"{raw} ." not in outcomes(raw)
    assert outcomes("the company reported a large drop")[-1].endswith("drop.")


def test_a_long_text_has_its_opener_before_the_last_statement() -> None:
    made = outcomes("I saw it twice. We laughed. It is a good film.")
    assert "I saw it twice. We laughed. Overall, it is a good film." in made
    assert not [text for text in made if text.startswith(("In short", "Overall"))]


@pytest.mark.parametrize(
    "raw",
    [
        "Stocks could rise  NEW YORK (Reuters) - Fasten your seatbelts. Stocks are coming to town.",
        "Committee letter to club I write to Paul Hamm of the Olympic Club on a day in August",
        "Gateway Can Party Like Before Those were heady days. The market was up. We saw it coming.",
    ],
)
def test_news_gets_no_opener_even_if_somebody_speaks(raw: str) -> None:
    assert opened(raw) == []


def test_a_report_gets_no_opener() -> None:
    """A sentence about names in which nobody speaks is news; the same with a speaker is not."""
    report = "Canada sends a submarine fleet to Norway after the defence minister resigned."
    assert not opened(report)
    assert opened(report.replace("the defence minister", "my boss"))
    assert opened(report.lower())
    # The country is no speaker, nor is who is quoted; a report may have sentences without names.
    assert not opened("Canada fails to resolve a dispute with the US after the talks.")
    assert not opened('Anna Smith says the college made her "who I am today" in its letter.')
    assert not opened("A deal was made by Cisco. It costs millions. No one wants to touch it.")
    # A question before a report is a headline.
    assert not opened("Will your phone pay for you? Motorola is working with MasterCard on that.")
    assert opened("Will my phone pay for you? I bought it from Motorola last week.")
    assert opened("The submarine fleet sails north after the minister resigned.")
    assert opened("The second part of Norway is dull.")


def opened(raw: str) -> list[str]:
    """List the outcomes that begin with an opener."""
    return [text for text in outcomes(raw) if text.lower().endswith(raw.lower()) and text != raw]


@pytest.mark.parametrize(
    "raw",
    [
        "Zwei junge Männer sind im Freien und sie sind nicht sehr alt .",
        "o pianista é um filme triste sem que , para isso , precise ser emocionante .",
        "这部电影不好看",
        "",
        " . . . ",
        "12 34 56",
    ],
)
def test_what_is_not_english_gets_no_slot(raw: str) -> None:
    assert slots_of(raw)[1] == []


def test_masked_words_get_no_slot() -> None:
    text = Text.of("it is a very old film .").mask(3)
    assert Rewrites().slots(text, ("NN",) * len(text)) == []


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *" ".join(SENTENCES).split(),
                *["'", "’s", "n't", "--", "...", "<br/>", "&amp;", "(", '"', "a", "an", "§", "1"],
                "\n",
            ]
        ),
        max_size=25,
    ),
    st.sampled_from([" ", "", "  "]),
)
def test_any_text_has_slots_that_fit(tokens: list[str], glue: str) -> None:
    raw = "".join(token + (" " if n % 3 else glue) for n, token in enumerate(tokens))
    text, slots = slots_of(raw)
    check(text, slots)
    rewritten(text, [(slot, slot.alternatives[-1]) for slot in slots])


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_string_has_slots_that_fit(raw: str) -> None:
    check(*slots_of(raw))


def test_a_file_of_the_users_own_adds_to_the_shipped_rules_or_replaces_them(
    tmp_path: Path,
) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[[rule]]\nswap = ["film <-> flick"]\nright = "$ VBZ"\n')
    made = outcomes("a very old film .", str(file))
    assert "a very old flick ." in made and "an old film ." in made
    file = tmp_path / "alone.toml"
    file.write_text('shipped = false\n[[rule]]\nswap = ["film -> flick"]\n')
    assert outcomes("a very old film .", str(file)) == ["a very old flick ."]


@pytest.mark.parametrize(
    "content, message",
    [
        ("[[rule", "is not a file of rewrites"),
        ('[[rule]]\nswap = "a -> b"', "rule"),
        ('[[rule]]\nswap = ["a b"]', "is not a rule of rewriting"),
        ('[[rule]]\nswap = ["JJ NN -> x"]', "has no word"),
        ('[[rule]]\nswap = ["very JJ -> {3}"]', "has only 2"),
        ('[[rule]]\nswap = ["very JJ <-> quite JJ"]', "Copy the token"),
        ('[[rule]]\nswap = ["a -> b"]\nrigth = "NN"', "Unknown keys.*rigth"),
        ('[[opener]]\nsay = ["so ,"]\nbefore = "verse"', "one of any"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(content)
    with pytest.raises(UsageError, match=message):
        outcomes("a very old film .", str(file))


def test_a_missing_file_is_said() -> None:
    with pytest.raises(UsageError, match="Cannot read the file of rewrites"):
        outcomes("a very old film .", "nowhere.toml")
