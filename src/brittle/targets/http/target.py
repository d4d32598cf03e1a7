"""An HTTP endpoint as a target: `http:FILE.toml` (see endpoint.py for the file)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from brittle.errors import TargetError, UsageError
from brittle.targets.answer_parsers import AnswerParser, ScoreParser, TextParser
from brittle.targets.black_box import BlackBoxClassifier, BlackBoxTranslator, of_transport
from brittle.targets.fingerprints.hashing import probe_texts
from brittle.targets.http.endpoint import Endpoint, open_endpoint
from brittle.targets.http.transport import HttpTransport, describe_endpoint
from brittle.targets.options import TargetOptions


def open_http(spec: str, options: TargetOptions) -> BlackBoxClassifier | BlackBoxTranslator:
    """Open `http:FILE.toml`, an endpoint."""
    endpoint, name = open_endpoint(spec)
    return of_endpoint(endpoint, replace(options, name=options.name or name))


def of_endpoint(
    endpoint: Endpoint,
    options: TargetOptions | None = None,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> BlackBoxClassifier | BlackBoxTranslator:
    """Build a target from the description of an endpoint; its answers are costly.

    If nobody names its labels it is asked about a plain sentence with the fields of the data.
    """
    options = options or TargetOptions()
    who, answers = describe_endpoint(endpoint), _answers_of(endpoint, options)
    mask = options.black_box_mask
    transport = HttpTransport(endpoint, answers, mask=mask, name=options.name, sleep=sleep)
    try:
        if isinstance(answers, ScoreParser) and answers.learns:
            (answer,) = transport.fetch(probe_texts(options.fields)[:1])
            answers.learn(answer, who)
    except BaseException as error:
        transport.close()
        if isinstance(error, TargetError):
            raise UsageError(f"Asked about a plain sentence: {error}") from error
        raise
    return of_transport(transport)


def _answers_of(endpoint: Endpoint, options: TargetOptions) -> AnswerParser[Any]:
    """Return what an endpoint answers, as its file or the user says."""
    who = describe_endpoint(endpoint)
    if "text" not in (options.answers, endpoint.answers_are):
        return ScoreParser.of(
            options,
            who,
            stated=endpoint.labels,
            scores=endpoint.scores,
            keys=(endpoint.label_key, endpoint.score_key),
        )
    answers = TextParser.of(options)
    if endpoint.labels is not None or endpoint.scores != "auto":
        raise UsageError(
            f"{who} has labels or scores in its file, but answers texts. A translator "
            'has neither: leave them out, or leave out answers = "text" (--answers text).'
        )
    return answers
