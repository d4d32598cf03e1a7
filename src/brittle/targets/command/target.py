"""A program as a target: `cmd:PROGRAM ARGS…`, which answers line by line.

Each text is sent as one line of JSON, `{"text": "…"}` or with the names of several fields. The
program answers each with one line: JSON (a list of scores, a map label → score, a list of
{label, score}, a label, a number) or a plain label. With `--answers text` the line is a text: a
string in JSON, or the plain translation. It must flush after every line and write its logs to
stderr; a program that cannot flush is a `filter:`. How it is started and asked again is in
transport.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from brittle.targets.answer_parsers import AnswerParser, ScoreParser, TextParser
from brittle.targets.black_box import BlackBoxClassifier, BlackBoxTranslator, of_transport
from brittle.targets.command.arguments import parse_command
from brittle.targets.command.transport import ProgramTransport, describe_program
from brittle.targets.options import TargetOptions

PREFIX = "cmd:"


def open_command(
    spec: str, options: TargetOptions, *, startup: float | None = None
) -> BlackBoxClassifier | BlackBoxTranslator:
    """Open `cmd:PROGRAM ARGS`, a program that answers line by line.

    `startup` is the timeout of the first line after a start. If nobody names its labels, it is
    started at once and asked about a plain sentence with the fields of the data.
    """
    arguments = parse_command(spec, PREFIX)
    answers: AnswerParser[Any] = (
        TextParser.of(options)
        if options.answers == "text"
        else ScoreParser.of(options, describe_program(arguments))
    )
    transport = ProgramTransport(
        arguments,
        answers,
        name=options.name or f"{PREFIX}{Path(arguments[0]).name}",
        mask=options.black_box_mask,
        timeout=options.timeout,
        startup=startup,
    )
    if isinstance(answers, ScoreParser) and answers.learns:
        transport.begin(options.fields)
    return of_transport(transport)
