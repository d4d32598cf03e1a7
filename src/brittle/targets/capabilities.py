"""Which method, of the target or of a helper, answers which question; desks are made from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from brittle.answers import SCORES, TEXTS, AnswerKind
from brittle.asks import ANSWER, CANDIDATE, GRADED, Attack, Bound
from brittle.engine.desks import Desk
from brittle.english.tags import Tagger
from brittle.errors import BrittleError, TargetError, UsageError, message_of, setup_command
from brittle.targets.answer_parsers import cut, parse_texts
from brittle.targets.options import FLOAT32
from brittle.targets.protocols import (
    Decodes,
    Embeds,
    Encodes,
    HasAttention,
    HasBounds,
    HasCanonicalDigests,
    HasCanonicalEmbeddings,
    HasCanonicalKeys,
    HasCanonicalScores,
    HasFlips,
    HasFluency,
    HasGradients,
    HasMeanings,
    HasScores,
    Tags,
    Translates,
    declared_by,
)

MAX_CACHED_PASSES = 4096  # answers; a search rarely asks for the inside of one text twice
GRADIENT_REMEDY = (
    "Use a target with gradients (a network of the zoo; for texts a transformers "
    "classifier, or a torch module by brittle.torch_target; for pictures a torch module "
    "as it is), or a black-box attack such as pwws, or noise for pictures."
)
INSTALL_ENCODER = setup_command("similarity")
EMBEDDING_REMEDY = (
    "Use a network of the zoo or a transformers classifier, or install the helper that embeds "
    f"texts: {INSTALL_ENCODER}"
)
MEANING_REMEDY = f"Install it: {INSTALL_ENCODER}"
INSIDE_REMEDY = "Use a network of the zoo or a transformers classifier, or another attack."


@dataclass(frozen=True)
class Capability:
    """A question, the protocol whose method answers it, and the desk made from that method.

    `noun` is what is answered, in messages. `answers` is the kind of a target's own answers.
    """

    question: str
    noun: str
    protocol: Any
    make_desk: Callable[[Any], Desk]
    remedy: str = "Use another attack."
    answers: AnswerKind | None = None


def make_desks(target: Any, helpers: Sequence[Any] = ()) -> dict[str, Desk]:
    """Build a desk for every question that can be asked in a run on this target.

    What the target does not answer, the helpers do: those of the attack, then the tagger. Their
    answers are no queries and are not counted as sent.
    """
    desks: dict[str, Desk] = {}
    for capability in CAPABILITIES:
        if capability.question not in desks and isinstance(target, capability.protocol):
            desks[capability.question] = capability.make_desk(target)
    if declared_by(target, "precision") != FLOAT32:
        lowered = _CheckedScores(target, target.candidate_scores)
        desks[CANDIDATE] = replace(desks[ANSWER], compute=lowered)
    for question, (helper, capability) in helpers_for(target, helpers).items():
        desk = capability.make_desk(helper)
        named = _Named(str(getattr(helper, "name", type(helper).__name__)), desk.compute)
        desks[question] = replace(desk, compute=named, counted=False, gives_answers=False)
    return desks


def helpers_for(target: Any, helpers: Sequence[Any]) -> dict[str, tuple[Any, Capability]]:
    """Return the helper, and its capability, for every question that the target does not answer."""
    chosen: dict[str, tuple[Any, Capability]] = {}
    offered = {c.question for c in CAPABILITIES if isinstance(target, c.protocol)}
    for helper in (*helpers, Tagger()):
        for capability in CAPABILITIES:
            question = capability.question
            if question not in offered | chosen.keys() and isinstance(helper, capability.protocol):
                chosen[question] = (helper, capability)
    return chosen


def offered(target: Any, needs_other_class: bool) -> frozenset[str]:
    """Return the questions that a target answers under a goal.

    Bounds are about the class that is predicted: where a goal does not need another class, they say
    nothing. Of a target that answers labels alone, `GRADED` is left out.
    """
    questions = {c.question for c in CAPABILITIES if isinstance(target, c.protocol)}
    if not declared_by(target, "label_only"):
        questions.add(GRADED)
    return frozenset(questions if needs_other_class else questions - {Bound.question})


def check_asks(attack: Attack, name: str, target: Any, desks: Mapping[str, Desk]) -> None:
    """Refuse, before anything is asked, an attack whose questions no desk answers."""
    for ask in attack.asks:
        if ask.question not in desks:
            offered = [c.noun for c in CAPABILITIES if isinstance(target, c.protocol)]
            asked = [c for c in CAPABILITIES if c.question == ask.question]
            noun = asked[0].noun if asked else ask.question
            raise UsageError(
                f"Attack {name!r} asks for {noun}, but target {target.name!r} offers only "
                f"{' and '.join(offered)}. {asked[0].remedy if asked else 'Use another attack.'}"
            )


def answers_of(target: Any) -> AnswerKind:
    """Return the kind of a target's answers."""
    for capability in CAPABILITIES:
        if capability.answers is not None and isinstance(target, capability.protocol):
            return capability.answers
    raise UsageError(
        f"Target {target.name!r} has no method to call: expected scores(items) for a "
        "classifier, or translate(items) for a translator."
    )


def scores_desk(target: Any) -> Desk:
    """Build the desk that answers scores, by canonical keys where the target has them."""
    by_keys = isinstance(target, HasCanonicalScores)
    score = target.canonical_scores if by_keys else target.scores
    return Desk(
        _CheckedScores(target, score),
        canonical=target.canonical if isinstance(target, HasCanonicalKeys) else None,
        digests=target.canonical_digests if isinstance(target, HasCanonicalDigests) else None,
        from_keys=by_keys,
        batch=declared_by(target, "batch"),
        costly=declared_by(target, "costly"),
        **_repeats(target),
        **_common(target),
    )


def texts_desk(target: Any) -> Desk:
    """Build the desk that answers texts."""
    return Desk(
        _CheckedTexts(target.name, target.translate, declared_by(target, "max_answer")),
        batch=declared_by(target, "batch"),
        costly=declared_by(target, "costly"),
        **_repeats(target),
        **_common(target),
    )


def passes_desk(method: str, cached: int = MAX_CACHED_PASSES) -> Callable[[Any], Desk]:
    """Return a builder of desks that answer by a method with a forward pass of its own."""
    return lambda target: Desk(
        getattr(target, method),
        batch=declared_by(target, "batch"),
        cache=cached,
        **_common(target),
    )


def embeddings_desk(target: Any) -> Desk:
    """Build the desk that embeds, by canonical keys where the target has them; it gives scores."""
    by_keys = isinstance(target, HasCanonicalEmbeddings)
    return Desk(
        target.canonical_embeddings if by_keys else target.sentence_embeddings,
        canonical=target.canonical if isinstance(target, HasCanonicalKeys) else None,
        from_keys=by_keys,
        batch=declared_by(target, "batch"),
        cache=MAX_CACHED_PASSES,
        gives_answers=isinstance(target, HasScores),
        **_common(target),
    )


def free_desk(method: str) -> Callable[[Any], Desk]:
    """Return a builder of desks of helpers that are no networks, or have no batches to choose."""
    return lambda helper: Desk(getattr(helper, method))


CAPABILITIES: Sequence[Capability] = (
    Capability(ANSWER, "scores", HasScores, scores_desk, answers=SCORES),
    Capability(ANSWER, "translations", Translates, texts_desk, answers=TEXTS),
    Capability("flips", "flips", HasFlips, passes_desk("flips"), GRADIENT_REMEDY),
    Capability("gradient", "gradients", HasGradients, passes_desk("gradients"), GRADIENT_REMEDY),
    Capability(
        "embeddings",
        "sentence embeddings",
        Embeds,
        embeddings_desk,
        EMBEDDING_REMEDY,
    ),
    Capability("attention", "attention", HasAttention, passes_desk("attention"), INSIDE_REMEDY),
    Capability("bounds", "bounds", HasBounds, passes_desk("bounds")),
    Capability("codes", "latent points", Encodes, passes_desk("encode")),
    Capability(
        "meaning", "the meaning of texts", HasMeanings, passes_desk("meanings"), MEANING_REMEDY
    ),
    Capability("fluency", "the fluency of texts", HasFluency, free_desk("fluencies")),
    # Points are drawn at random: no one is asked about twice.
    Capability("decoded", "items at latent points", Decodes, passes_desk("decode", cached=0)),
    Capability("tags", "parts of speech", Tags, free_desk("tags")),
)
"""The table of questions: who answers each, and how."""


def _common(target: Any) -> dict[str, Any]:
    return {
        "parallel": declared_by(target, "parallel"),
        "watched": declared_by(target, "in_process"),
        "counted": True,
    }


def _repeats(target: Any) -> dict[str, Any]:
    """Return how often a target is asked the same, and how it counts tokens."""
    return {
        "repeats": declared_by(target, "repeats"),
        "join": declared_by(target, "join_repeats"),
        "spent": declared_by(target, "spent"),
    }


class _CheckedScores:
    """Scores a batch and checks the scores."""

    def __init__(self, target: Any, score: Callable[[Sequence[Any]], Any]) -> None:
        self.name, self.labels, self.score = target.name, tuple(target.labels), score
        self.has_answered = False

    def __call__(self, batch: Sequence[Any]) -> list[Any]:
        try:
            rows = np.asarray(self.score(batch), dtype=np.float64)
        except UsageError as error:
            # A target that has answered before is called correctly: it fails on this text only.
            if self.has_answered:
                raise TargetError(str(error)) from error
            raise
        if rows.shape != (len(batch), len(self.labels)):
            raise TargetError(
                f"Target {self.name!r} returned an array of shape {rows.shape} for "
                f"{len(batch)} texts; expected ({len(batch)}, {len(self.labels)}): one "
                f"row per text and one column per label ({', '.join(self.labels)})."
            )
        if not np.isfinite(rows).all():
            raise TargetError(f"Target {self.name!r} returned scores that are not finite (NaN).")
        self.has_answered = True
        return rows.tolist()  # type: ignore[no-any-return]


class _Named:
    """Says which helper failed."""

    def __init__(self, name: str, compute: Callable[[Sequence[Any]], Sequence[Any]]) -> None:
        self.name, self.compute = name, compute

    def __call__(self, batch: Sequence[Any]) -> Sequence[Any]:
        try:
            return self.compute(batch)
        except BrittleError:
            raise
        except Exception as error:
            raise TargetError(f"The helper {self.name!r} failed: {message_of(error)}") from error


class _CheckedTexts:
    """Asks for texts, checks that they are strings, one for every item, and cuts endless ones."""

    def __init__(
        self,
        name: str,
        translate: Callable[[Sequence[Any]], Sequence[str]],
        max_answer: int | None = None,
    ) -> None:
        self.who, self.translate, self.max_answer = f"Target {name!r}", translate, max_answer

    def __call__(self, batch: Sequence[Any]) -> list[str]:
        texts = parse_texts(self.translate(batch), len(batch), self.who)
        return cut(texts, batch) if self.max_answer is None else texts
