"""How much work a call is, before it begins: in counts, and in time where a time was measured.

No time is guessed. Searches take as long as those of a stored run of the same attack on the same
target; where there is none, only their number is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.data.example import Example
from brittle.errors import BrittleError
from brittle.formatting import duration, money, plural
from brittle.runs.options import Limits
from brittle.runs.run import Run, run_paths
from brittle.targets.protocols import declared_by
from brittle.text import Text

LONG_SECONDS = 60.0
MIN_CASES = 5  # of a stored run, for its pace
MAX_RUNS = 100  # so many stored runs are looked at, the newest first


@dataclass(frozen=True)
class Work:
    """One part of the work: what is done how often, its seconds if they are known, and from where.

    `known` says in words what is known of the time.
    """

    what: str
    seconds: float | None = None
    known: str = ""


@dataclass(frozen=True)
class Forecast:
    """The parts of the work of a call; what is finished already is not done again."""

    parts: tuple[Work, ...]

    @property
    def seconds(self) -> float | None:
        """The seconds of all parts on one worker; None if one is not known."""
        known = [part.seconds for part in self.parts if part.seconds is not None]
        return sum(known) if len(known) == len(self.parts) else None

    @property
    def is_long(self) -> bool:
        """Tell whether it may take more than a minute."""
        return bool(self.parts) and (self.seconds is None or self.seconds >= LONG_SECONDS)

    def sentence(self) -> str:
        """Say how much work there is at most.

        >>> known = Work("3 trainings", 150.0, "about 2 min 30 s")
        >>> Forecast((known, Work("9 searches"))).sentence()
        'At most: 3 trainings (about 2 min 30 s); 9 searches. No time is known for the rest.'
        """
        if not self.parts:
            return "Nothing is left to do."
        parts = (f"{part.what} ({part.known})" if part.known else part.what for part in self.parts)
        rest = "the rest" if any(part.known for part in self.parts) else "this"
        end = f" No time is known for {rest}." if self.seconds is None else ""
        return f"At most: {'; '.join(parts)}.{end}"

    def plain(self) -> list[dict[str, object]]:
        """Return the parts as plain data."""
        return [
            {"work": part.what, "seconds": part.seconds, "known": part.known or None}
            for part in self.parts
        ]


@dataclass(frozen=True)
class Pace:
    """How long a case took in a stored run."""

    seconds: float
    run: str


def pace_of(spec: str, attack: str, folder: str | Path) -> Pace | None:
    """Return the pace of the newest stored run of this attack on this target, if there is one."""
    for path in reversed(run_paths(folder)[-MAX_RUNS:]):
        try:
            run = Run(path)
            about = run.manifest.get("about_target") or {}
            if (about.get("spec"), run.manifest["attack"]) != (spec, attack):
                continue
            cases, seconds = sum(run.counts().values()), float(run.totals.get("seconds", 0.0))
        except (BrittleError, KeyError):
            continue
        if cases >= MIN_CASES and seconds > 0:
            return Pace(seconds / cases, run.name)
    return None


def searches(specs: Sequence[str], attack: str, cases: int, folder: str | Path) -> list[Work]:
    """Return the searches of an attack on several targets, with the time of those with a pace."""
    paces = {spec: pace_of(spec, attack, folder) for spec in specs}
    known = [pace for pace in paces.values() if pace is not None]
    what = f"{attack} on {plural(cases, 'cases')}"
    if len(specs) > 1:
        what += f" of each of {len(specs):,} models"
    if not known:
        return [Work(what)]
    seconds = sum(pace.seconds for pace in known) * cases
    about = f"about {duration(seconds)}, as fast as in the run {known[0].run}"
    if len(known) == len(specs):
        return [Work(what, seconds, about)]
    return [Work(what, None, f"about {duration(seconds)} for {len(known)} of the models")]


def attack_work(
    spec: str, attack: str, cases: int, limits: Limits, is_costly: bool, folder: str | Path
) -> Forecast:
    """Forecast an attack: its cases and, where queries cost something, how many there may be."""
    parts = searches([spec], attack, cases, folder)
    if is_costly or limits.budget is not None or limits.max_sent is not None:
        parts.append(Work(_queries(cases, limits), 0.0, ""))
    return Forecast(tuple(parts))


CHARACTERS_PER_TOKEN = 4


def most_answers(cases: int, limits: Limits, repeats: int) -> int | None:
    """Return how many answers the limits of a run allow; None without a limit."""
    limit = None if limits.budget is None else cases * limits.budget * repeats
    if limits.max_sent is not None:
        limit = limits.max_sent if limit is None else min(limit, limits.max_sent)
    return limit


def token_work(
    spec: str,
    target: Any,
    examples: Sequence[Example],
    limit: int | None,
    folder: str | Path,
) -> list[Work]:
    """Forecast the tokens of a chat model, and their price; nothing of other targets.

    They are as many for each answer as in a stored run on the target. Where there is none, those
    that are read are estimated from the characters of the prompt with these texts. There are at
    most `limit` answers; None is one.
    """
    size = declared_by(target, "prompt_size")
    if size is None or not examples:
        return []
    texts = [Text.of(dict(example.fields)) for example in examples]
    price = declared_by(target, "price")
    read, written, source = _tokens_of_answer(spec, target, texts, folder)
    answers = 1 if limit is None else limit
    parts = [f"about {_tokens(read * answers)} read"]
    parts += [] if written is None else [f"{_tokens(written * answers)} written"]
    of = "for each answer" if limit is None else f"for {plural(answers, 'answers')}"
    what = f"{' and '.join(parts)} {of}"
    if price is not None:
        cost = money((read * answers, (written or 0.0) * answers), price)
        what += f", cost {cost:.3g}{' without those written' if written is None else ''}"
    return [Work(what, 0.0, source)]


def _tokens_of_answer(
    spec: str, target: Any, texts: Sequence[Text], folder: str | Path
) -> tuple[float, float | None, str]:
    """Return the tokens read and written for one answer, and from where that is known."""
    for path in reversed(run_paths(folder)[-MAX_RUNS:]):
        try:
            run = Run(path)
            is_same = (run.manifest.get("about_target") or {}).get("spec") == spec
            totals = run.totals if is_same else {}
        except (BrittleError, KeyError):
            continue
        sent = totals.get("sent", 0)
        if sent and totals.get("tokens_read"):
            read, written = totals["tokens_read"] / sent, totals.get("tokens_written", 0) / sent
            return read, written, f"as counted by the server in the run {run.name}"
    characters = sum(target.prompt_size(text) for text in texts) / len(texts)
    source = (
        f"estimated: {characters:,.0f} characters in the mean prompt, {CHARACTERS_PER_TOKEN} to a "
        "token"
    )
    most = target.max_written
    if most is None:
        return characters / CHARACTERS_PER_TOKEN, None, f"{source}; those written are not known"
    return characters / CHARACTERS_PER_TOKEN, most, f"{source}; written at most"


def _tokens(count: float) -> str:
    return plural(round(count), "tokens")


def _queries(cases: int, limits: Limits) -> str:
    """Say how many queries a target may be sent."""
    asked = None if limits.budget is None else cases * limits.budget
    if limits.max_sent is not None and (asked is None or limits.max_sent <= asked):
        return f"{plural(limits.max_sent, 'texts')} sent, in as many requests or fewer (--max-sent)"
    if limits.budget is None or asked is None:
        return "no limit of queries is set (use --budget for each case, --max-sent for the run)"
    return f"{plural(asked, 'queries')} ({limits.budget:,} for each case)"
