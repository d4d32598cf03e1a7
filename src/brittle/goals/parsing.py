"""The goals by name: from specs such as `keyword:Art` or `all(bleu:20; not:copy)` and back.

The goals by name: what each asks for, how it is written, and which answers it judges. From specs
such as `keyword:Art` or `all(bleu:20; not:copy)` to goals, and back to names.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from brittle.answers import SCORES, TEXTS, AnswerKind, find_label
from brittle.errors import UsageError, unknown
from brittle.goals.applications import CallsTool, Contains, Matches
from brittle.goals.bleu import BleuBelow
from brittle.goals.classes import Below, Confident, Targeted, Untargeted
from brittle.goals.combined import AllOf, AnyOf, DrawnKeyword, Not, parse_keyword
from brittle.goals.functions import FunctionGoal, import_goal
from brittle.goals.protocol import Goal, spec_of
from brittle.goals.texts import Changed, Copied, Dropped, Keyword, LengthRatio, Lost

BOTH = (SCORES, TEXTS)


@dataclass(frozen=True)
class GoalEntry:
    """One kind of goals; `parse` builds the goal from what follows its name and the colon.

    Goals that need more than that (the target's labels, other goals) are built in `parsing.py` and
    have no `parse`.
    """

    about: str
    form: str
    example: str
    judges: tuple[AnswerKind, ...]
    parse: Callable[[str], Goal] | None = None


GOALS: Mapping[str, GoalEntry] = {
    "untargeted": GoalEntry(
        "any other class is predicted (the default for classifiers)",
        *("untargeted", "untargeted", (SCORES,)),
    ),
    "toward": GoalEntry(
        "this class is predicted; the same as --toward",
        *("toward:LABEL", "toward:sports", (SCORES,)),
    ),
    "below": GoalEntry(
        "the score of a class falls below a threshold, as of a guard that catches such texts",
        *("below:LABEL@THRESHOLD", "below:sports@0.9", (SCORES,)),
    ),
    "keyword": GoalEntry(
        "a word or phrase appears in the translation; without one, a word drawn for each case",
        *("keyword[:WORD]", "keyword:Art", (TEXTS,), parse_keyword),
    ),
    "changed": GoalEntry(
        "the translation changes",
        *("changed", "changed", (TEXTS,), Changed.parse),
    ),
    "lost": GoalEntry(
        "the source has all these words, but the translation of one of them is missing",
        *("lost:WORD=PARTNER|PARTNER,…", "lost:stands=steht|stehen,sits=sitzt"),
        *((TEXTS,), Lost.parse),
    ),
    "dropped": GoalEntry(
        "the source has two or more of these words, but the translation lost some of them",
        *("dropped:WORD|FORM=PARTNER|FORM,…", "dropped:sits|sitting=sitzt|sitzen,eats=isst|essen"),
        *((TEXTS,), Dropped.parse),
    ),
    "bleu": GoalEntry(
        "sentence BLEU falls below a bound (against the example's reference, else the "
        "first translation)",
        *("bleu:BOUND[,reference=example|translation]", "bleu:20", (TEXTS,), BleuBelow.parse),
    ),
    "length": GoalEntry(
        "the translation is this many times as long as before, or (below 1) as short",
        *("length:RATIO", "length:2", (TEXTS,), LengthRatio.parse),
    ),
    "copy": GoalEntry(
        "the source is not translated: this share of its words is unchanged (default 0.8)",
        *("copy[:SHARE]", "copy", (TEXTS,), Copied.parse),
    ),
    "contains": GoalEntry(
        "the answer of an application contains a text, such as a canary",
        *("contains:TEXT", "contains:CANARY-17", (TEXTS,), Contains.parse),
    ),
    "tool": GoalEntry(
        "the answer of an application calls a tool",
        *("tool:NAME", "tool:send_email", (TEXTS,), CallsTool.parse),
    ),
    "matches": GoalEntry(
        "the answer of an application has a part that a regular expression matches",
        *("matches:REGEX", r"matches:\bsk-\w+", (TEXTS,), Matches.parse),
    ),
    "python": GoalEntry(
        "your function of (source, translation), or of (text, scores), returns True",
        *("python:MODULE:NAME", "python:my_goals:probe", BOTH),
    ),
    "not": GoalEntry("a goal is not reached", "not:GOAL", "not:copy", BOTH),
    "any": GoalEntry(
        "one of several goals is reached",
        *("any(GOAL; GOAL)", "any(keyword:Art; length:2)", BOTH),
    ),
    "all": GoalEntry(
        "all of several goals are reached, as with several --goal",
        *("all(GOAL; GOAL)", "all(bleu:20; not:copy)", BOTH),
    ),
}


def fitting(answers: AnswerKind) -> list[str]:
    """List how the goals are written that judge this kind of answers."""
    return [entry.form for entry in GOALS.values() if answers in entry.judges]


NOUNS = {"scores": "the scores of classes", "texts": "translations"}
_COMBINED = re.compile(r"(any|all)\s*\(", re.IGNORECASE)


def make_goal(
    goal: str | Goal | None,
    toward: str | None = None,
    confidence: float | None = None,
    answers: AnswerKind = SCORES,
    labels: Sequence[str] = (),
) -> Goal:
    """Build the goal of a run from a spec or a goal, the class aimed at, and the confidence.

    `answers` is the kind of the target's answers and `labels` are its classes.
    """
    if isinstance(goal, str) and toward is not None:
        raise UsageError(
            f"Got the goal {goal!r} and the class aimed at {toward!r}; expected one of "
            f"them. To ask for both, write 'all({goal}; toward:{toward})'."
        )
    if not isinstance(goal, str | None) and toward is not None and _core(goal) != Targeted():
        raise UsageError(
            f"Got the goal {spec_of(goal)!r} and the class aimed at {toward!r}; expected "
            "one of them. Only the goal Targeted() uses the class of a run."
        )
    if goal is None:
        built: Goal = Untargeted() if toward is None else Targeted()
    else:
        built = parse_goal(goal, answers, labels) if isinstance(goal, str) else _checked(goal)
    if confidence is None:
        return built
    if not 0 < confidence <= 1:
        raise UsageError(f"Got a confidence of {confidence}; expected a number above 0, at most 1.")
    if built.answers != SCORES:
        raise UsageError(
            f"Got a confidence of {confidence} with the goal {spec_of(built)!r}, but translations "
            "have no confidence. Leave it out."
        )
    return Confident(built, confidence)


def parse_goal(spec: str, answers: AnswerKind = SCORES, labels: Sequence[str] = ()) -> Goal:
    """Build a goal from its spec; `answers` is what a python: function is given.

    >>> goal = parse_goal("ALL(keyword:Art;not:copy)")
    >>> type(goal).__name__, str(goal)
    ('AllOf', 'all(keyword:Art; not:copy:0.8)')
    """
    spec = spec.strip()
    combined = _COMBINED.match(spec)
    if combined:
        parts = tuple(parse_goal(part, answers, labels) for part in _split(spec, combined.end()))
        return AllOf(parts) if combined[1].lower() == "all" else AnyOf(parts)
    name, colon, value = spec.partition(":")
    name, value = name.strip().lower(), value.strip()
    if name not in GOALS:
        raise unknown(
            "goal", name, GOALS, "`brittle list goals` shows all goals and how to write them."
        )
    entry = GOALS[name]
    if (not value and (colon or ":" in entry.form.partition("[")[0])) or name in ("any", "all"):
        raise UsageError(f"Got the goal {spec!r}; expected {entry.form}, such as {entry.example}.")
    if value and name == "untargeted":
        raise UsageError(f"Got the goal {spec!r}; expected untargeted alone.")
    if entry.parse is not None:
        return entry.parse(value)
    if name == "not":
        return Not(parse_goal(value, answers, labels))
    if name in ("toward", "below") and answers != SCORES:
        raise no_classes(f"the goal {spec!r}", answers)
    if name == "toward":
        return _toward(value, labels)
    if name == "below":
        return _below(value, labels)
    return Untargeted() if name == "untargeted" else import_goal(f"python:{value}", answers)


def split_toward(
    goal: str | Goal | None, toward: str | None
) -> tuple[str | Goal | None, str | None]:
    """Return goal and class aimed at, where `toward:LABEL` alone is the same as that class.

    Attacks then know the class too.
    """
    if isinstance(goal, str) and toward is None:
        name, colon, label = goal.strip().partition(":")
        if colon and name.strip().lower() == "toward" and label.strip():
            return None, label.strip()
    return goal, toward


def join_goals(specs: Sequence[str] | None) -> str | None:
    """Return the one spec that several mean: all of them. None if there is none.

    >>> join_goals(["keyword:Art", "not:copy"])
    'all(keyword:Art; not:copy)'
    """
    if not specs:
        return None
    return specs[0] if len(specs) == 1 else f"all({'; '.join(specs)})"


def goal_name(goal: Goal, toward: str | None = None, keyword: str | None = None) -> str:
    """Return the name of a goal as runs keep it; `rebuild_goal` is its inverse.

    With the `keyword` of a case it is the name of the goal of that case.
    """
    if keyword is not None:
        goal = _with_keyword(goal, keyword)
    if isinstance(goal, Confident):
        return f"{goal_name(goal.goal, toward)} with confidence {goal.at_least:g}"
    if goal == Targeted() and toward is not None:
        return f"toward {toward}"
    return spec_of(goal)


def rebuild_goal(
    name: str,
    toward: str | None = None,
    confidence: float | None = None,
    answers: AnswerKind = SCORES,
    labels: Sequence[str] = (),
) -> Goal:
    """Build the goal of a stored run from its name, the class aimed at, and the confidence."""
    spec = name
    if confidence is not None:
        spec = spec.removesuffix(f" with confidence {confidence:g}")
    if spec in ("untargeted", f"toward {toward}"):
        return make_goal(None, toward, confidence, answers, labels)
    try:
        return make_goal(spec, None, confidence, answers, labels)
    except UsageError as error:
        raise UsageError(
            f"The goal {name!r} of the run cannot be built from its name: {error} Pass "
            "the goal again, as the same object."
        ) from error


def check_goal(
    goal: Goal,
    answers: AnswerKind,
    target: str,
    toward: str | None = None,
    labels: Sequence[str] = (),
) -> None:
    """Refuse, before anything is asked, a goal that does not judge what the target answers."""
    for part in _parts(goal):
        if isinstance(part, Targeted):
            if part.index is None and toward is None:
                raise UsageError(
                    "The goal Targeted() needs a class to aim at. Name it: toward='sports'."
                )
            if part.index is not None and not 0 <= part.index < len(labels):
                raise UsageError(
                    f"The goal aims at class {part.index}, but target {target!r} has "
                    f"{len(labels)} classes ({', '.join(labels)})."
                )
        if isinstance(part, Below) and not 0 <= part.index < len(labels):
            raise UsageError(
                f"The goal judges the score of class {part.index}, but target {target!r} has "
                f"{len(labels)} classes ({', '.join(labels)})."
            )
        if part.answers != answers:
            judged, answered = (NOUNS.get(kind.noun, kind.noun) for kind in (part.answers, answers))
            raise UsageError(
                f"The goal {spec_of(part)!r} judges {judged}, but target {target!r} "
                f"answers with {answered}. Use a goal that fits: "
                f"{', '.join(fitting(answers))}."
            )


def check_repeats(goal: Goal, repeats: int) -> None:
    """Refuse a goal that reads one text where several answer a text that is asked several times."""
    for part in _parts(goal):
        if (
            repeats > 1
            and part.answers == TEXTS
            and not (isinstance(part, Contains | CallsTool | Matches))
        ):
            raise UsageError(
                f"Got --repeats {repeats} with the goal {spec_of(part)!r}, which compares one "
                "answer with another. Leave out --repeats, or use contains, tool or matches."
            )


def draws_keywords(goal: Goal) -> bool:
    """Tell whether a goal, or a part of it, needs a keyword for every case."""
    return any(isinstance(part, DrawnKeyword) for part in _parts(goal))


def named_keywords(goal: Goal) -> list[str]:
    """List the keywords that a goal names."""
    return [part.keyword for part in _parts(goal) if isinstance(part, Keyword)]


def _with_keyword(goal: Goal, keyword: str) -> Goal:
    """Return a goal with a word in place of the one that each case has of its own."""
    if isinstance(goal, AllOf | AnyOf):
        return replace(goal, goals=tuple(_with_keyword(part, keyword) for part in goal.goals))
    if isinstance(goal, Not):
        return Not(_with_keyword(goal.goal, keyword))
    return Keyword(keyword) if isinstance(goal, DrawnKeyword) else goal


def no_classes(got: str, answers: AnswerKind) -> UsageError:
    """Build the error for a class that is named for a target without classes."""
    answered = NOUNS.get(answers.noun, answers.noun)
    return UsageError(
        f"Got {got}, but the target answers with {answered} and has no classes. Leave it "
        f"out, or use a goal that fits: {', '.join(fitting(answers))}."
    )


def _parts(goal: Goal) -> Iterator[Goal]:
    """Yield the plain goals that a goal is made of."""
    inner = goal.goals if isinstance(goal, AllOf | AnyOf) else ()
    if isinstance(goal, Not | Confident):
        inner = (goal.goal,)
    for part in inner:
        yield from _parts(part)
    if not inner:
        yield goal


def _split(spec: str, start: int) -> list[str]:
    """Split the goals between the brackets of a spec at `;`, outside of further brackets."""
    parts, depth = [""], 0
    for character in spec[start:-1]:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == ";" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth or not spec.endswith(")") or not all(part.strip() for part in parts):
        raise UsageError(
            f"Got the goal {spec!r}; expected goals separated by ';' and every bracket "
            "closed, as in any(keyword:Art; length:2)."
        )
    return parts


def _toward(label: str, labels: Sequence[str]) -> Targeted:
    number = find_label(label, labels)
    if number is None:
        raise unknown("label", label, labels, "(of the goal toward:LABEL)")
    return Targeted(number, labels[number])


def _below(value: str, labels: Sequence[str]) -> Below:
    label, at, threshold = value.rpartition("@")
    try:
        number = float(threshold)
    except ValueError:
        at = ""
    if not at or not label.strip():
        entry = GOALS["below"]
        raise UsageError(
            f"Got the goal 'below:{value}'; expected {entry.form}, such as {entry.example}."
        )
    index = find_label(label, labels)
    if index is None:
        raise unknown("label", label, labels, "(of the goal below:LABEL@THRESHOLD)")
    return Below(index, labels[index], number)


def own_code(goal: Goal) -> Iterator[object]:
    """Yield what a goal calls that is not of this project: functions, and goals of one's own."""
    for part in _parts(goal):
        if isinstance(part, FunctionGoal):
            yield part.function
        elif not type(part).__module__.startswith("brittle."):
            yield part


def _core(goal: Goal) -> Goal:
    return _core(goal.goal) if isinstance(goal, Confident) else goal


def _checked(goal: Goal) -> Goal:
    if not all(hasattr(goal, name) for name in ("judge", "unfit", "answers")):
        raise UsageError(
            f"Got {goal!r} as a goal; expected a spec such as 'keyword:Art', or an object with "
            "judge, unfit and answers."
        )
    return goal


def goal_rows() -> list[dict[str, str]]:
    """List the goals: what each asks for, of which targets, and an example."""
    targets = {SCORES: "classifiers", TEXTS: "translators"}
    return [
        {
            "goal": name,
            "what it asks for": entry.about,
            "for": ", ".join(targets[answers] for answers in entry.judges),
            "example": shlex.quote(entry.example),
        }
        for name, entry in GOALS.items()
    ]
