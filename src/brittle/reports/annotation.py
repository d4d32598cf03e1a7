"""The page that one person reads and answers: one file, no network, nothing that says what is what.

The page holds the panels of every item in the order in which this person sees them, and the
questions. Roles, cases and the labels of the data stand in the key alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.edits import diff_strings
from brittle.formatting import plural
from brittle.reports.cases import embedded_json, embedded_picture, split_at_edits
from brittle.reports.page import asset, joined_script, render_page
from brittle.validity.answers import FORMAT, LAYOUT
from brittle.validity.questionnaire import CANNOT_TELL, WORDS, Question, Questionnaire
from brittle.validity.sampling import DrawnSample, PageItem, Panel

SCRIPT = ("annotation/state", "annotation/panels", "annotation/questions", "annotation/flow")
"""The files in `script/`, after `elements`, in reading order."""
STAGES = "After you have seen both versions you cannot change your earlier answers."
CANNOT_TELL_KEY = "x"
CAPTIONS = {"yes": "yes", "no": "no", "first": "the first", "second": "the second"}


def annotation_page(sample: DrawnSample, questionnaire: Questionnaire, person: int) -> str:
    """Render the page of one person, who is counted from 1."""
    thing = "picture" if sample.has_pictures else "text"
    words = WORDS[thing]
    items = {item.id: item for item in sample.items}
    data = {
        "format": FORMAT,
        "layout": LAYOUT,
        "sample": sample.id,
        "preset": sample.preset,
        "person": person,
        "captions": [caption.format(**words) for caption in questionnaire.captions],
        "questions": [_question(q, sample, words) for q in questionnaire.questions],
        "items": [
            [number, _panels(items[number], questionnaire, sample.has_pictures)]
            for number in sample.orders[person - 1]
        ],
    }
    has_stages = len({question.shows for question in questionnaire.questions}) > 1
    return render_page(
        "annotation.html.jinja",
        f"Page {person} to {words['read']}",
        style=asset("annotation.css"),
        script=joined_script("elements", *SCRIPT),
        data=embedded_json(data),
        has_pictures=sample.has_pictures,
        heading=f"{plural(len(items), (thing, thing + 's'))} to {words['read']}",
        who=f"Page {person} of {len(sample.orders)}, sample {sample.id}",
        stages=STAGES if has_stages else "",
        guidelines=[line.format(**words) for line in questionnaire.guidelines],
    )


def _question(
    question: Question, sample: DrawnSample, words: Mapping[str, str]
) -> Mapping[str, Any]:
    answers = question.answers(sample.labels)
    names = [_caption(question, answer, words) for answer in answers]
    form = question.form
    if form.names_labels:
        names = [*sample.label_names, CANNOT_TELL]
    return {
        "key": question.key,
        "words": question.words.format(**words),
        "shows": question.shows,
        "marks": not (form.names_labels or form.compares) and len(question.shows) == 2,
        "isScale": form.is_scale,
        "answers": [list(row) for row in zip(answers, names, _shortcuts(names))],
    }


def _caption(question: Question, answer: str | int, words: Mapping[str, str]) -> str:
    if isinstance(answer, int):
        return question.choices[answer - 1].format(**words)
    return CAPTIONS.get(answer, answer)


def _shortcuts(names: Sequence[str]) -> list[str]:
    """Return a key for each answer: the answer itself where all are of one character, else 1, 2 …

    >>> _shortcuts(["0", "7", CANNOT_TELL]), _shortcuts(["negative", "positive", CANNOT_TELL])
    (['0', '7', 'x'], ['1', '2', 'x'])
    """
    own = [name.lower() for name in names if name != CANNOT_TELL]
    if any(len(name) != 1 for name in own) or len({*own, CANNOT_TELL_KEY}) <= len(own):
        own = [str(n + 1) if n < 9 else "" for n in range(len(own))]
    return [*own, CANNOT_TELL_KEY][: len(names)]


def _panels(item: PageItem, questionnaire: Questionnaire, has_pictures: bool) -> list[Any]:
    """Write the panels of an item; what differs between the first two is every second part."""
    if has_pictures:
        return [embedded_picture(panel.fields[0][1]) for panel in item.panels]
    if len(item.panels) != 2 or questionnaire.arrangement == "rivals":
        return [_fields(panel) for panel in item.panels]
    first, second = item.panels
    return [_fields(first, dict(second.fields)), _fields(second, dict(first.fields))]


def _fields(panel: Panel, other: Mapping[str, str] | None = None) -> list[Any]:
    """Write every field as its name, if there are several, and its parts."""
    is_alone = len(panel.fields) == 1
    return [
        ["" if is_alone else name, [raw] if other is None else _parts(raw, other[name])]
        for name, raw in panel.fields
    ]


def _parts(own: str, other: str) -> list[str]:
    """Split a text so that every second part is one that the other text does not have.

    >>> _parts("a warm film", "a hot film")
    ['a ', 'warm', ' film']
    >>> _parts("a film", "a film")
    ['a film']
    """
    parts = [""]
    for part in split_at_edits(own, diff_strings(own, other)):
        if isinstance(part, str):
            parts[-1] += part
        else:
            parts += [part.old, ""]
    return parts
