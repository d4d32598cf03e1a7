"""What a run may cost, what its texts must keep, and what counts: values with a name.

The command line fills the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from brittle.errors import UsageError, unknown
from brittle.values import Flag

if TYPE_CHECKING:
    import threading

    from _typeshed import DataclassInstance

    from brittle.goals import Goal
    from brittle.runs.keywords import SharedAnswers

T = TypeVar("T", bound="DataclassInstance")
WINNERS, STEPS, NOTHING = CHOICES = ("winners", "steps", "none")
"""What to measure: the texts that break cases, every improvement of every case, or nothing."""


@dataclass(frozen=True)
class Limits:
    """Which examples to attack, and how much that may cost.

    `limit` takes the first examples of a random order given by the seed; `only` first selects the
    examples of one class. `budget` limits the queries of a case, `max_sent` the texts that the
    whole run sends to the target. `first_try` without `limit` cuts data with more than twice that
    many examples to this number, unless the resumed run has more.
    """

    limit: Annotated[
        int | None, Flag("attack N examples, chosen at random", metavar="N", is_positive=True)
    ] = None
    only: Annotated[
        str | None,
        Flag("attack only the examples of this class (default: all)", metavar="LABEL"),
    ] = None
    budget: Annotated[
        int | None, Flag("at most N queries for each case", metavar="N", is_positive=True)
    ] = None
    max_sent: Annotated[
        int | None,
        Flag(
            "send at most N texts in the whole run (attacks fewer cases at a time)",
            metavar="N",
            is_positive=True,
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        Flag(
            "of a chat model: send nothing more after N tokens, read and written, in the whole run",
            metavar="N",
            is_positive=True,
        ),
    ] = None
    batch: Annotated[
        int | None,
        Flag("send N texts in one call (default: automatic)", metavar="N", is_positive=True),
    ] = None
    watchdog: Annotated[
        float | None,
        Flag(
            "stop the run if one call of a model takes more than this many seconds (default: 600)",
            metavar="SECONDS",
        ),
    ] = 600.0
    first_try: int | None = None

    def __post_init__(self) -> None:
        if self.budget is not None and self.budget < 1:
            raise UsageError(
                f"Got a budget of {self.budget} queries a case; expected 1 or more, or None."
            )


@dataclass(frozen=True)
class Keep:
    """How close to its original a text must stay to count, and which texts are measured.

    By default the texts that break cases are measured: `measures="steps"` measures every step,
    "none" nothing. True means "winners", False means "none".
    """

    meaning: Annotated[
        float | None,
        Flag(
            "keep only texts at least this similar to the original, measured by MiniLM (0 to 1)",
            name="keep_meaning",
            metavar="X",
        ),
    ] = None
    fluent: Annotated[
        float | None,
        Flag(
            "keep only texts at least this fluent; with 0.1 each changed word may make "
            "the text 10 times less likely",
            name="keep_fluent",
            metavar="X",
        ),
    ] = None
    measures: Annotated[
        str | bool,
        Flag("texts to measure similarity and fluency of (default: winners)", choices=CHOICES),
    ] = WINNERS

    def __post_init__(self) -> None:
        if self.measured not in CHOICES:
            raise unknown("choice of measures", self.measured, CHOICES)

    @property
    def measured(self) -> str:
        """Which texts are measured, one of `CHOICES`."""
        if isinstance(self.measures, bool):
            return WINNERS if self.measures else NOTHING
        return self.measures


@dataclass(frozen=True)
class Aim:
    """What counts as adversarial: a goal, the class aimed at, and how sure the target has to be.

    `goal` is a spec (`keyword:Art`) or a goal object; by default any other class counts.
    """

    goal: str | Goal | None = None
    toward: str | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class Session:
    """How a run belongs to the process that calls it.

    `warn` receives warnings, an event `stopping` ends the run after the batch, and `shared` keeps
    answers for further runs on the same target.
    """

    warn: Callable[[str], None] | None = None
    stopping: threading.Event | None = None
    shared: SharedAnswers | None = None


TRIED_BUDGET = 200
"""The queries for one text at each level of edits, or with one attack; genetic needs thousands."""

FLAT_KEYWORDS: Mapping[str, tuple[str, str]] = {
    **{name: ("target", name) for name in ("labels", "scores", "mask", "device", "trust")},
    "precision": ("target", "precision"),
    **{name: ("target", name) for name in ("body", "path", "header")},
    **{name: ("target", name) for name in ("prompt", "key_env", "read", "repeats", "price")},
    "trust_pickle": ("target", "trust_pickle"),
    **{name: ("target", name) for name in ("timeout", "answers", "columns", "about_target")},
    **{name: ("limits", name) for name in ("limit", "only", "budget", "max_sent", "batch")},
    "max_tokens": ("limits", "max_tokens"),
    "watchdog": ("limits", "watchdog"),
    "keep_meaning": ("keep", "meaning"),
    "keep_fluent": ("keep", "fluent"),
    "measures": ("keep", "measures"),
    "toward": ("aim", "toward"),
    "confidence": ("aim", "confidence"),
    **{name: ("session", name) for name in ("warn", "stopping", "shared")},
    "backend": ("workers", "backend"),
    "address": ("workers", "address"),
}
"""The value that each flat option of `brittle.attack`, such as `budget=200`, belongs to."""

DATA_KEYWORDS = ("text", "label", "locked", "skip_bad", "split")
"""Options of `brittle.data.load` that users write in `brittle.attack`, too."""


def refuse_data_keywords(keywords: Mapping[str, Any], attack: object) -> None:
    """Refuse options of the data, unless the attack is the user's and may have such settings."""
    wrong = [f"{name}={keywords[name]!r}" for name in DATA_KEYWORDS if name in keywords]
    if wrong and not str(attack).startswith("python:"):
        raise UsageError(
            f"Got {', '.join(wrong)}, which says how the data is read. Load the data first: "
            f"examples = brittle.data.load(…, {', '.join(wrong)}), and attack these examples."
        )


def split_flat(
    keywords: Mapping[str, Any],
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Split keywords into options by the value that they belong to, and settings of the attack.

    >>> options, settings = split_flat({"budget": 200, "backend": "ray", "words": 2})
    >>> options["limits"], options["workers"], settings
    ({'budget': 200}, {'backend': 'ray'}, {'words': 2})
    """
    options: dict[str, dict[str, Any]] = {owner: {} for owner, _ in FLAT_KEYWORDS.values()}
    for name in keywords.keys() & FLAT_KEYWORDS.keys():
        owner, option = FLAT_KEYWORDS[name]
        options[owner][option] = keywords[name]
    return options, {n: value for n, value in keywords.items() if n not in FLAT_KEYWORDS}


def with_flat(value: T, owner: str, options: Mapping[str, Any]) -> T:
    """Return an options value with those that were written flat; none may be given twice."""
    defaults = {
        entry.name: entry.default if entry.default_factory is MISSING else entry.default_factory()
        for entry in fields(value)
    }
    for name, flat in options.items():
        if getattr(value, name) != defaults[name]:
            keyword = next(k for k, home in FLAT_KEYWORDS.items() if home == (owner, name))
            kind = type(value).__name__
            raise UsageError(
                f"Got {keyword}={flat!r} and {kind}({name}={getattr(value, name)!r}): the "
                "same option twice. Use only one of them."
            )
    return replace(value, **options)
