"""What a run may cost and what its texts must keep: values, which the command line fills too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from brittle.errors import UsageError, unknown
from brittle.values import Flag

WINNERS, STEPS, NOTHING = CHOICES = ("winners", "steps", "none")
"""What is measured: the texts that break cases, every improvement of every case, or nothing."""


@dataclass(frozen=True)
class Limits:
    """Which of the examples are attacked, and what that may cost.

    `limit` takes the first examples of a permutation that the seed draws; `only` takes the examples
    of one class before that. `budget` counts the queries of a case, `max_sent` what the whole run
    sends to the target.
    """

    limit: Annotated[
        int | None, Flag("the first N examples of a random order", metavar="N", is_positive=True)
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
            "at most N texts sent in the whole run; few cases are then attacked at a time",
            metavar="N",
            is_positive=True,
        ),
    ] = None
    batch: Annotated[
        int | None, Flag("N texts in one call (default: automatic)", metavar="N", is_positive=True)
    ] = None
    watchdog: Annotated[
        float | None,
        Flag(
            "after how long a call to a target in this process counts as hanging (default: 600)",
            metavar="SECONDS",
        ),
    ] = 600.0

    def __post_init__(self) -> None:
        if self.budget is not None and self.budget < 1:
            raise UsageError(
                f"Got a budget of {self.budget} queries a case; expected 1 or more, or None."
            )


@dataclass(frozen=True)
class Keep:
    """What a text must keep of its original to count, and which texts that is measured of.

    Texts that break a case are measured: every step with `measures="steps"`, none with "none". True
    is "winners", False is "none".
    """

    meaning: Annotated[
        float | None,
        Flag(
            "the least similarity of a text with its original, by MiniLM (0 to 1)",
            name="keep_meaning",
            metavar="X",
        ),
    ] = None
    fluent: Annotated[
        float | None,
        Flag(
            "the least fluency: 0.1 allows every changed word to make the text 10 times less likely",
            name="keep_fluent",
            metavar="X",
        ),
    ] = None
    measures: Annotated[
        str | bool,
        Flag("measure similarity and fluency of: winners (default), steps, none", choices=CHOICES),
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
