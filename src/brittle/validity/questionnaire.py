"""What people are asked: questions about an item, and the questionnaires of papers.

What people are asked: questions about one or two panels of an item, in order.

A panel is a text or a picture: an original, or an adversary. Which is which stands in the key, not
on the page.

The questionnaires: our own, and those of papers that asked people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from brittle.errors import unknown

QuestionKind = Literal["label", "scale", "yes-no", "which"]
Arrangement = Literal["mixed", "adversaries", "shuffled", "rivals"]
"""The panels of an item.

mixed: one of original and adversary, then the other one. adversaries: an adversary, then its
original. shuffled: original and adversary in random order, side by side. rivals: the adversaries of
one case from two runs in random order, then their original.
"""
WORDS: Mapping[str, Mapping[str, str]] = {
    "text": {"thing": "text", "say": "say", "write": "write", "written": "written", "read": "read"},
    "picture": {
        "thing": "picture",
        "say": "show",
        "write": "draw",
        "written": "drawn",
        "read": "see",
    },
}
CANNOT_TELL = "cannot tell"
YES, NO = "yes", "no"
FIRST, SECOND = "first", "second"


@dataclass(frozen=True)
class Question:
    """One question; `shows` are the panels that are seen with it, `about` those it asks about.

    Once a question that shows more is asked, the answers before it stay as they are. `choices`
    are the captions of a scale, from 1 up. In words and captions, {thing} and the other names of
    `WORDS` stand for what fits a text, or a picture.
    """

    key: str
    kind: QuestionKind
    words: str
    shows: tuple[int, ...] = (0,)
    about: tuple[int, ...] = (0,)
    choices: tuple[str, ...] = ()

    def answers(self, labels: Sequence[str]) -> list[str | int]:
        """List the answers that may be given; `labels` are those of the run.

        >>> Question("same", "yes-no", "Is it the same?").answers(())
        ['yes', 'no']
        """
        return self.form.answers(self, labels)

    @property
    def form(self) -> AnswerForm:
        return FORMS[self.kind]


@dataclass(frozen=True)
class AnswerForm:
    """How a kind of question is answered, and what an answer counts as.

    `answers` lists those that may be given, by the labels of the run. `value` is that of an answer
    for one of the panels asked about (by its place) of a case with this label: from 0 to 1, but on
    a scale the number itself.
    """

    answers: Callable[[Question, Sequence[str]], list[str | int]]
    value: Callable[[str | int, int, str | None], float]
    names_labels: bool = False
    is_scale: bool = False
    compares: bool = False  # one of two panels is chosen


FORMS: Mapping[QuestionKind, AnswerForm] = {
    "label": AnswerForm(
        lambda question, labels: [*labels, CANNOT_TELL],
        lambda answer, place, label: float(answer == label),
        names_labels=True,
    ),
    "scale": AnswerForm(
        lambda question, labels: list(range(1, len(question.choices) + 1)),
        lambda answer, place, label: float(answer),
        is_scale=True,
    ),
    "yes-no": AnswerForm(
        lambda question, labels: [YES, NO], lambda answer, place, label: float(answer == YES)
    ),
    "which": AnswerForm(
        lambda question, labels: [FIRST, SECOND],
        lambda answer, place, label: float((answer == FIRST) == (place == 0)),
        compares=True,
    ),
}


@dataclass(frozen=True)
class Questionnaire:
    """A list of questions, and what they are asked about.

    `originals` is the share of items whose first panel is an original, if both are mixed;
    `by_class` takes equally many of every class. Its table has the `median` person's share, or
    shares `relative` to the largest, where the paper's has. `source` is the paper it is from, if it
    is from one, and `differs` says where it is not what that paper did, or what is not known.
    """

    name: str
    about: str
    arrangement: Arrangement
    questions: tuple[Question, ...]
    captions: tuple[str, ...]
    guidelines: tuple[str, ...]
    originals: float = 0.0
    by_class: bool = False
    median: bool = False
    relative: bool = False
    source: str = ""
    differs: str = ""

    @property
    def remark(self) -> str:
        """Which paper it is from, and what differs; nothing if it is our own."""
        return f"As in {self.source}. {self.differs}" if self.source else ""

    @property
    def asks_label(self) -> bool:
        return any(question.form.names_labels for question in self.questions)

    @property
    def needs_two_runs(self) -> bool:
        return self.arrangement == "rivals"

    def by_key(self) -> Mapping[str, Question]:
        return {question.key: question for question in self.questions}


STANDARD = "standard"
SAME_MEANING = (
    "something else, or nothing",
    "related, but mostly different",
    "similar, but something important differs",
    "the same except for a detail",
    "the same",
)
NATURAL = (
    "nonsense",
    "hard to understand",
    "clumsy or wrong, but clear",
    "a little odd",
    "as a person would {write} it",
)
LABEL_GUIDELINE = (
    "Label: read the whole {thing}. If no label fits better than another, choose “cannot tell”."
)
NATURAL_GUIDELINE = (
    "Natural: could a person have {written} this on purpose? Wrong forms, parts that do not belong "
    "there and broken sentences make it less natural. Ignore what all {thing}s here have, such as "
    "missing capitals or spaces before commas."
)
MEANING_GUIDELINE = (
    "Meaning: would you tell a friend the same after either {thing}? A change that is only odd "
    "does not change the meaning. A change that makes it {say} something else does."
)
LABEL = Question("label", "label", "Which label would the author give this {thing}?")
BLIND = "A program changed some of the {thing}s. You cannot know which ones, so do not guess."

_QUESTIONNAIRES = (
    Questionnaire(
        STANDARD,
        "label and naturalness, then meaning next to the other version; gives the validity",
        "mixed",
        (
            LABEL,
            Question("natural", "scale", "How natural is it?", choices=NATURAL),
            Question("meaning", "scale", "Do both {say} the same?", (0, 1), choices=SAME_MEANING),
        ),
        ("The {thing}", "Another version"),
        (BLIND, LABEL_GUIDELINE, NATURAL_GUIDELINE, MEANING_GUIDELINE),
        originals=0.25,
    ),
    Questionnaire(
        "similarity",
        "label, then similarity to the original from 1 to 5",
        "adversaries",
        (
            LABEL,
            Question(
                "similarity",
                "scale",
                "How similar is it to the original?",
                (0, 1),
                choices=SAME_MEANING,
            ),
        ),
        ("The {thing}", "The original"),
        (LABEL_GUIDELINE, MEANING_GUIDELINE),
    ),
    Questionnaire(
        "original",
        "which of the two is the original",
        "shuffled",
        (Question("original", "which", "Which one is the original?", (0, 1), (0, 1)),),
        ("First", "Second"),
        ("One of the two {thing}s was changed by a program. Choose the one that was not.",),
    ),
    Questionnaire(
        "hotflip",
        "labels only; half of the texts are originals, the classes have equal shares",
        "mixed",
        (LABEL,),
        ("The {thing}",),
        (BLIND, LABEL_GUIDELINE),
        originals=0.5,
        by_class=True,
        median=True,
        source="Ebrahimi et al. (2018), section 4.2",
        differs="The paper had 300 originals and 300 adversaries, each read by three people or "
        "more; it does not print its instructions.",
    ),
    Questionnaire(
        "natural-pictures",
        "do the adversaries of two runs look handwritten; which is closer to the original",
        "rivals",
        (
            Question("handwritten", "yes-no", "Does this look handwritten?"),
            Question("handwritten-2", "yes-no", "Does this look handwritten?", (1,), (1,)),
            Question("closer", "which", "Which one is closer to the original?", (2, 0, 1), (0, 1)),
        ),
        ("First", "Second", "The original"),
        (
            "Handwritten: could somebody have drawn this with a pen?",
            "Closer: which of the two looks more like the original?",
        ),
        by_class=True,
        source="Zhao et al. (2018), Table 7",
        differs="The paper had 20 digits, two of every class, and 13 answers a question; it does "
        "not print its instructions.",
    ),
    Questionnaire(
        "natural-changes",
        "which of two runs' adversaries changes the original more naturally",
        "rivals",
        (
            Question(
                "changes",
                "which",
                "Which one changes the original in a more natural way?",
                (2, 0, 1),
                (0, 1),
            ),
        ),
        ("First", "Second", "The original"),
        ("Natural: which of the two is more likely {written} by a person?",),
        by_class=True,
        source="Zhao et al. (2018), section 4",
        differs="The paper compared its adversaries of LeNet with those of FGSM; it does not say "
        "on how many digits, and does not print its instructions.",
    ),
    Questionnaire(
        "natural-sentences",
        "is the adversary grammatical, is it similar to the original; one run or two",
        "adversaries",
        (
            Question("grammatical", "yes-no", "Is this grammatical?"),
            Question("similar", "yes-no", "Is it similar to the original?", (0, 1)),
        ),
        ("The {thing}", "The original"),
        (
            "Grammatical: could it be printed without a correction?",
            "Similar: does it say nearly the same as the original?",
        ),
        source="Zhao et al. (2018), Table 8",
        differs="The paper had 20 pairs of sentences and 4 answers a question; it does not print "
        "its instructions.",
    ),
    Questionnaire(
        "attention",
        "the label of an adversary; then which of two runs' adversaries is more natural",
        "rivals",
        (LABEL, Question("readable", "which", "Which one is more natural?", (0, 1), (0, 1))),
        ("First", "Second"),
        (LABEL_GUIDELINE, "Natural: which of the two is more likely {written} by a person?"),
        relative=True,
        source="Hsieh et al. (2019), Tables 3 and 4",
        differs="The paper had 3 answers a sample, and does not say whether one person saw both "
        "versions of a text. Here a person labels one of the two before the other is shown.",
    ),
)
PRESETS: Mapping[str, Questionnaire] = {one.name: one for one in _QUESTIONNAIRES}


def preset(name: str) -> Questionnaire:
    """Return a questionnaire by its name."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS, "See brittle validity write --help.")
    return PRESETS[name]
