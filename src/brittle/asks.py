"""What a search knows (Case), what it can ask (Probe, Try, Tag …) and what it receives (Answer).

A search is a generator for one case. It asks by `answer = yield from Probe(texts)` and in no other
way; the code that runs it decides how to answer, so a test can answer by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from brittle.statuses import LevelStatus

A = TypeVar("A")
I = TypeVar("I")  # noqa: E741
T = TypeVar("T")

Search = Generator["Ask[Any]", Any, T]

UNTRIED = "before one candidate was tried"
"""The reason of a case whose budget ran out before its search tried a candidate."""
NOTHING_TO_EDIT = "nothing to edit"
NORMALISED = "normalised by the target"
"""The reason of a case whose target undoes the edits: nothing was tried."""
DECIDED = ("already", NOTHING_TO_EDIT, NORMALISED)
"""How the reasons of skipped cases begin whose answer under attack is known all the same.

A goal skips what is already wrong or already there, a text without words cannot be edited, and
edits that the target undoes change no answer. A case skipped for any other reason could not be
attacked, and nothing is known about it.
"""
NO_CANDIDATES = "no candidates"
"""The reason of a case for which the attack has no candidates."""
RECONSTRUCTION = "its reconstruction reaches the goal already"
"""The reason of a case that the generator reconstructs as something that already reaches the goal.

It would be an adversarial example at distance 0: a fault of the generator, not of the target.
"""
OTHER_CLASS = "its reconstruction is of another class already"
"""The same for targeted goals: the reconstruction belongs to a third class."""


ANSWER = "answer"
"""The question that every target answers: a classifier with scores, a translator with a text."""
CANDIDATE = "candidate"
"""The same question about candidates, for targets that score them in a lower precision."""
GRADED = "graded"
"""A capability of targets: the answer shows how close a candidate comes, not only a label."""


class Item(Protocol):
    """Anything that can be asked about; engine and broker use nothing else of it."""

    @property
    def key(self) -> bytes: ...

    @property
    def size(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """The target's answers about some items, one per item: an array of scores, or a list of texts.

    `loss` rises as the goal comes nearer; `won` tells where the goal is reached. `refused` tells
    where a candidate reaches it but breaks a constraint: it has not won, and its loss is that of
    the original. None without constraints.
    """

    answers: Any
    loss: NDArray[np.float64]
    won: NDArray[np.bool_]
    refused: NDArray[np.bool_] | None = field(default=None, kw_only=True)

    @property
    def best(self) -> int | None:
        """The item with which a search may go on: the first of those with the highest loss.

        None if a constraint refuses all of them.
        """
        if self.refused is None:
            return int(self.loss.argmax())
        allowed = np.flatnonzero(~self.refused)
        return int(allowed[self.loss[allowed].argmax()]) if len(allowed) else None


@dataclass(frozen=True, slots=True)
class FlipsAnswer(Answer):
    """An answer with the best edits of every item, one `Moves` per item."""

    moves: Sequence[Any]


@dataclass(frozen=True)
class Case(Generic[I]):
    """One example under attack.

    `label` and `toward` are indices of the target's classes, `reference` is the text that the
    example gives as the right answer, where that is a text; `start` is the answer on the original
    (query 1, asked by the engine). `read_positions` are the positions that the target
    reads, if it tells them: it would not see an edit anywhere else. `budget` is the number of
    queries that are left when the search begins, None if there is no limit or if the attack does
    not declare that it `uses_budget`. `keyword` is the case's own, where the goal draws one.
    `is_constrained` tells whether a candidate that reaches the goal may be refused. `normalised`
    names the classes of edits that the target undoes before it reads a text.
    """

    id: str
    item: I
    label: int | None = None
    toward: int | None = None
    start: Answer | None = None
    read_positions: Sequence[int] | None = None
    budget: int | None = None
    reference: str | None = None
    keyword: str | None = None
    is_constrained: bool = False
    normalised: Collection[str] = ()

    @property
    def positions(self) -> Sequence[int]:
        """The positions that may be edited, in order."""
        if self.read_positions is not None:
            return self.read_positions
        return range(len(self.item))  # type: ignore[arg-type]

    @property
    def text(self) -> I:
        """The item, under the name that searches on texts use."""
        return self.item

    @property
    def start_loss(self) -> float:
        """The loss of the original."""
        if self.start is None:
            raise ValueError(f"case {self.id} has not been started: its original was not asked")
        return float(self.start.loss[0])


class Unfit(Exception):
    """Raised by a search that has offered no candidate: its case cannot be attacked.

    The case counts as skipped, with the message as the reason.
    """


class Attack(Protocol):
    """A frozen dataclass with one method: the search for one case.

    What else it may declare stands in `AttackDeclarations`, with its default.
    """

    asks: ClassVar[tuple[type[Ask[Any]], ...]]

    def __call__(self, case: Case[Any], rng: Random) -> Search[None]: ...


class AttackDeclarations:
    """What an attack may declare beside `asks`, as an attribute or a property; each has a default.

    An attack does not inherit from this class; `declared` looks the attribute up.
    """

    uses_budget: bool = False
    """Its search reads `case.budget`: a run that is resumed with a larger budget attacks all cases
    again."""
    helpers: tuple[Any, ...] = ()
    """Objects that answer what the target cannot: each has a `name`, a `fingerprint` and the
    methods of the questions it answers."""
    holes: str | None = None
    """What the target reads for a masked word: "pad" is a zero vector. The run opens the target
    with this mask if it can and the user named no other."""
    item_kind: str = "text"
    """The kind of items that it edits."""
    cost_name: str | None = None
    """What its costs measure, for reports: `Δz`."""
    attack_names: Sequence[str] | None = None
    """The attacks that it combines, if any."""
    proposal: Any = None
    """Its source of candidates: an attack whose source needs no tags works in every language."""
    sources: Sequence[Any] | None = None
    """All its sources of candidates, if it has several. Before a run brittle checks whether the
    target undoes the edits of those that are a class of edits (`name`, `everywhere(text)`)."""
    check_item: Callable[[Any], None] | None = None
    """A method that raises an error for an item it cannot attack, before the first query."""
    doubt: Callable[[Sequence[Any]], str | None] | None = None
    """A method that returns a warning if the items do not suit the attack."""


def declared(attack: Any, name: str) -> Any:
    """Return what an attack, or its class, declares under a name of `AttackDeclarations`."""
    return getattr(attack, name, getattr(AttackDeclarations, name))


def uses_budget(attack: Attack) -> bool:
    """Tell whether an attack declares that its search looks at the budget."""
    return bool(declared(attack, "uses_budget"))


def helpers_of(attack: Attack) -> tuple[Any, ...]:
    """Return the helpers that an attack brings: they answer what the target does not.

    A helper has a `name`, a `fingerprint` and the methods of what it answers.
    """
    return tuple(declared(attack, "helpers"))


@runtime_checkable
class EditClass(Protocol):
    """A class of edits that a target may undo before it reads an item."""

    @property
    def name(self) -> str: ...

    def everywhere(self, item: Any) -> Any:
        """Edit an item everywhere: who reads the result as the original undoes the class."""
        ...


def edit_classes(attack: Attack) -> dict[str, EditClass]:
    """Return the classes of edits among an attack's sources of candidates, by name."""
    sources = declared(attack, "sources") or [declared(attack, "proposal")]
    return {one.name: one for one in sources if isinstance(one, EditClass)}


class Ask(Generic[A]):
    """A question about some items; `yield from` returns an answer of the right type."""

    __slots__ = ("items",)
    question: ClassVar[str]
    is_query: ClassVar[bool] = False

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = items

    def __iter__(self) -> Generator[Ask[Any], Any, A]:
        answer: A = yield self
        return answer

    def requests_for(self, items: Sequence[Any]) -> Sequence[Any]:
        """Build what the desk receives for some of the items: here the items themselves."""
        return items

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.items)} items)"


class Probe(Ask[Answer]):
    """Measure items; the answer never ends a search.

    If the budget does not suffice, the search ends without an answer. With `partial` the search can
    use a part: the answer then has a row for as many of the first items as the budget allows.
    """

    __slots__ = ("partial",)
    question = ANSWER
    is_query = True

    def __init__(self, items: Sequence[Any], partial: bool = False) -> None:
        self.items = items
        self.partial = partial


class Try(Ask[Answer]):
    """Offer candidates: the goal judges them, and a winner ends the search.

    Of several winners the one with the highest loss counts; with `in_order` the first winner
    counts, and only the queries up to it are counted. With a `cost` for each item winners do not
    end the search: the cheapest is kept, and the case is broken with it when search or budget end.
    With `keep` the item with the highest loss is in the row of the case even where the original's
    loss is higher: of an attack that does not search, what it makes is the result. `level` is how
    rough the edits are, by name, and is in the row of a case that one of the items breaks.
    """

    __slots__ = ("cost", "in_order", "keep", "level")
    question = ANSWER
    is_query = True

    def __init__(
        self,
        items: Sequence[Any],
        in_order: bool = False,
        cost: Sequence[float] | None = None,
        keep: bool = False,
        level: str | None = None,
    ) -> None:
        if cost is not None and (in_order or len(cost) != len(items)):
            raise ValueError(
                f"Try got {len(cost)} costs for {len(items)} items, in_order={in_order}; "
                "expected one cost per item and in_order=False, because all items are "
                "judged."
            )
        self.items = items
        self.in_order = in_order
        self.cost = cost
        self.keep = keep
        self.level = level


class Sample(Try):
    """Offer candidates drawn at random: all are judged, and no winner ends the search.

    How many were tried and how many won is counted (`Result.tried`, `Result.won`). The case is
    broken, with its first winner, when search or budget end.
    """

    __slots__ = ()


class Flips(Try):
    """Offer candidates as `Try` does, and ask for the best first-order edits of each as well.

    One forward and one backward pass per text answer both, so that nothing is judged twice.
    `request_for` builds the request of a text: which edits are ranked, and by which objective.
    """

    __slots__ = ("request_for",)
    question = "flips"

    def __init__(self, items: Sequence[Any], request_for: Callable[[Any], Any]) -> None:
        super().__init__(items)
        self.request_for = request_for

    def __iter__(self) -> Generator[Ask[Any], Any, FlipsAnswer]:
        answer: FlipsAnswer = yield self
        return answer

    def requests_for(self, items: Sequence[Any]) -> Sequence[Any]:
        return [self.request_for(item) for item in items]


class Tag(Ask[list[tuple[str, ...]]]):
    """Ask for the part of speech of every word of some texts (Penn tags); not a query."""

    __slots__ = ()
    question = "tags"


class Embed(Ask[list[Any]]):
    """Ask for a vector of every text, with the scores of the same pass (`Embedding`); no query."""

    __slots__ = ()
    question = "embeddings"


class Attend(Ask[list[Any]]):
    """Ask for the attention weights of every text (`Attention`); no query."""

    __slots__ = ()
    question = "attention"


class Gradient(Ask[list[Any]]):
    """Ask for the gradient of an objective at every item, by its input; no query.

    `request_for` builds the request of an item: it names the objective and the classes.
    """

    __slots__ = ("request_for",)
    question = "gradient"

    def __init__(self, items: Sequence[Any], request_for: Callable[[Any], Any]) -> None:
        super().__init__(items)
        self.request_for = request_for

    def requests_for(self, items: Sequence[Any]) -> Sequence[Any]:
        return [self.request_for(item) for item in items]


class Bound(Ask[list[Any]]):
    """Ask what is known of all texts of a space at once (`BoundRequest`, `Bounded`); no query."""

    __slots__ = ()
    question = "bounds"


class Encode(Ask[list[Any]]):
    """Ask a generator with an inverter for the latent point of every item; no query."""

    __slots__ = ()
    question = "codes"


class Decode(Ask[list[Any]]):
    """Ask a helper for the item at every latent point; no query."""

    __slots__ = ()
    question = "decoded"


class KeepItems(Ask[None]):
    """Keep items with the case under a name, for its report; nobody is asked.

    `answers` are the target's about these items and `cost` their costs, where they are known. A
    later one of the same name takes the place of the former one. An attack need not declare it.
    """

    __slots__ = ("answers", "cost", "name")
    question = "keep"

    def __init__(
        self,
        name: str,
        items: Sequence[Any],
        answers: Sequence[Any] | None = None,
        cost: Sequence[float] | None = None,
    ) -> None:
        self.name = name
        self.items = items
        self.answers = [None] * len(items) if answers is None else answers
        self.cost = [None] * len(items) if cost is None else cost


class Note(Ask[None]):
    """Tell the engine what the row of the case is to say; nothing is asked, and the search goes on.

    `proved_words`: no text of the attack's space with at most so many words changed reaches the
    goal; 0 if a text with one word changed does, though it was only measured. `single_swaps`: how
    many texts of that space have one word changed. `is_whole`: no text of the whole space reaches
    the goal, so that the case is proved if the search now ends. `reason`: that of the row, if the
    case is broken, held or proved. `level`: how the case stands at a level of edits, by name.
    `random_edits`: how many random edits of the winner's size and level were asked, and how many of
    them reach the goal, too. Not to be used inside `together`.
    """

    __slots__ = ("is_whole", "level", "proved_words", "random_edits", "reason", "single_swaps")
    question = "note"

    def __init__(
        self,
        *,
        proved_words: int | None = None,
        single_swaps: int | None = None,
        is_whole: bool = False,
        reason: str | None = None,
        level: tuple[str, LevelStatus] | None = None,
        random_edits: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(())
        self.proved_words = proved_words
        self.single_swaps = single_swaps
        self.is_whole = is_whole
        self.reason = reason
        self.level = level
        self.random_edits = random_edits


class Together(Ask[list[Any]]):
    """Several questions asked at once; the answer is the list of their answers."""

    __slots__ = ()
    question = "together"
    items: Sequence[Ask[Any]]


def together(searches: Iterable[Search[T]]) -> Search[list[T]]:
    """Run searches in lockstep: what they ask in one round forms one batch."""
    results: dict[int, T] = {}
    running: list[tuple[int, Search[T]]] = []
    asks: list[Ask[Any]] = []
    count = 0
    for count, search in enumerate(searches, 1):
        try:
            asks.append(next(search))
            running.append((count - 1, search))
        except StopIteration as stop:
            results[count - 1] = stop.value
    while running:
        answers = yield from Together(asks)
        unfinished, asks = [], []
        for (number, search), answer in zip(running, answers):
            try:
                asks.append(search.send(answer))
                unfinished.append((number, search))
            except StopIteration as stop:
                results[number] = stop.value
        running = unfinished
    return [results[number] for number in range(count)]


def leaves(ask: Ask[Any]) -> Iterator[Ask[Any]]:
    """Yield the plain questions inside a question, in order."""
    if isinstance(ask, Together):
        for part in ask.items:
            yield from leaves(part)
    else:
        yield ask


def assembled(ask: Ask[Any], answers: Iterator[Any]) -> Any:
    """Build the answer to a question from the answers to its leaves, in order."""
    if isinstance(ask, Together):
        return [assembled(part, answers) for part in ask.items]
    return next(answers)
