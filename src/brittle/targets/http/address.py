"""An address as a target: `http://HOST/PATH` or `https://…`, without a TOML file.

The text is sent in a JSON body (`--body`), and what comes back is looked at once, on a plain
sentence: the usual forms of answers are recognised, and it is said which. Where that fails,
`--path` says where the scores or the label stand. A TOML file (`http:FILE.toml`) is for all else:
other methods, rate limits, several requests at a time.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from brittle.errors import BrittleError, TargetError, UsageError
from brittle.redaction import is_secret_name, short_repr
from brittle.targets.answer_parsers import BlackBoxClassifier, BlackBoxTranslator, TextParser
from brittle.targets.fingerprints import probe_texts
from brittle.targets.http.endpoint import FLAGS, Endpoint, build_endpoint, slots
from brittle.targets.http.transport import HttpTransport, describe_endpoint, of_endpoint
from brittle.targets.options import VARIABLE, TargetOptions
from brittle.targets.scores import MAX_SUM_ERROR, are_percentages

log = logging.getLogger(__name__)
LABEL_KEYS = ("label", "class", "category", "prediction", "predicted_label", "name")
SCORE_KEYS = ("score", "probability", "prob", "confidence", "proba")
MAX_DEPTH = 5
PROBE_RETRIES = 1  # who has mistyped an address does not wait half a minute
SCORES, MAP, ENTRIES, LABEL = "a list of scores", "a score for each label", "entries", "a label"


@dataclass(frozen=True)
class Form:
    """A recognised answer: where it stands, what it is, and the keys of its entries."""

    path: tuple[str, ...]
    what: str
    keys: tuple[str, str] = ("label", "score")

    def __str__(self) -> str:
        where = f" at --path {'.'.join(self.path)}" if self.path else ""
        what = f"a list of {{{', '.join(self.keys)}}}" if self.what == ENTRIES else self.what
        return f"{what}{where}"


def open_address(spec: str, options: TargetOptions) -> BlackBoxClassifier | BlackBoxTranslator:
    """Open `http://…` or `https://…`; the first request finds out how it answers."""
    endpoint = endpoint_of(spec, options)
    parts = urlsplit(spec)
    options = replace(options, name=options.name or f"{parts.netloc}{parts.path}".rstrip("/"))
    if options.answers == "text":
        return of_endpoint(endpoint, options)
    reply = _first_reply(endpoint, options)
    form = recognise(_at_path(endpoint, reply), options.scores, depth=0 if endpoint.path else None)
    if form is None and not endpoint.path:
        raise UsageError(
            f"{describe_endpoint(endpoint)} answered a plain sentence with "
            f"{short_repr(reply)}. brittle found neither scores nor a label in it. Give "
            "their position with --path, such as --path result.scores, and the labels in "
            "their order: --labels negative,positive. If it answers with texts: "
            "--answers text."
        )
    if form is None:
        return _unrecognised(endpoint, options, reply)
    endpoint = replace(
        endpoint,
        path=(*endpoint.path, *form.path),
        label_key=form.keys[0],
        score_key=form.keys[1],
        scores="label" if form.what == LABEL else endpoint.scores,
    )
    if form.what == LABEL and options.labels is None:
        if len(options.data_labels) < 2:
            raise UsageError(
                f"{describe_endpoint(endpoint)} answered a plain sentence with "
                f"{short_repr(reply)}: {form}, without scores. Name all its labels: "
                "--labels negative,positive."
            )
        endpoint = replace(endpoint, labels=tuple(options.data_labels))
    log.warning("%s answers %s.", describe_endpoint(endpoint), form)
    return of_endpoint(endpoint, options)


def _unrecognised(
    endpoint: Endpoint, options: TargetOptions, reply: Any
) -> BlackBoxClassifier | BlackBoxTranslator:
    """Open an endpoint whose answers have no usual form; its parser says what is wrong with them.

    An answer that is of no use is refused here, not once for every text.
    """
    target = of_endpoint(endpoint, options)
    answers = target.transport.answers
    try:
        answers.parse([_at_path(endpoint, reply)], 1, describe_endpoint(endpoint))
    except BrittleError as error:
        target.close()
        raise UsageError(f"Asked about a plain sentence: {error}") from error
    return target


def endpoint_of(spec: str, options: TargetOptions) -> Endpoint:
    """Return the endpoint that an address and its options describe."""
    refuse_secrets(spec)
    fields = tuple(options.fields)
    body = options.body or json.dumps({name: f"{{{name}}}" for name in fields})
    try:
        template = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"Got --body {body!r}, which is not JSON ({error}). Expected JSON that "
            f'contains {{text}}, such as --body \'{{"text": "{{text}}"}}\'.'
        ) from None
    wanted = [name for name in fields if name not in slots(template)]
    if wanted and "texts" not in slots(template):
        raise UsageError(
            f"Got --body {body!r}, which has no place for the text. Expected "
            f"{', '.join(f'{{{name}}}' for name in wanted)} in it, such as "
            f'--body \'{{"text": "{{{wanted[0]}}}"}}\'.'
        )
    raw = {
        "url": spec,
        "template": template,
        "headers": dict(map(parse_header, options.header)),
        "path": options.path or "",
        "timeout": options.timeout,
        "source": FLAGS,
    }
    return build_endpoint(raw, Path(FLAGS))


def recognise(reply: Any, scores: str = "auto", depth: int | None = None) -> Form | None:
    """Find the scores in an answer, or else a label; the nearest to its top, None if none is there.

    >>> str(recognise([[{"label": "pos", "score": 0.9}, {"label": "neg", "score": 0.1}]]))
    'a list of {label, score} at --path 0'
    >>> str(recognise({"result": {"label": "pos", "score": 0.9}}))
    'a label at --path result'
    """
    nodes = list(_nodes(reply, MAX_DEPTH if depth is None else depth))
    for find in (_scored, _labelled) if scores != "label" else (_labelled, _scored):
        for path, value in nodes:
            form = find(path, value, scores)
            if form is not None:
                return form
    return None


def _nodes(reply: Any, depth: int) -> list[tuple[tuple[str, ...], Any]]:
    """List the parts of an answer with their paths, those near the top first."""
    found: list[tuple[tuple[str, ...], Any]] = []
    level: list[tuple[tuple[str, ...], Any]] = [((), reply)]
    for _ in range(depth + 1):
        found += level
        level = [
            ((*path, str(key)), part)
            for path, value in level
            for key, part in _parts(value)
            if isinstance(part, list | dict | str)
        ]
    return found


def _parts(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return list(value.items())
    # Only the first: entries of one list are alternatives, not places to look in.
    return list(enumerate(value[:1])) if isinstance(value, list) else []


def _scored(path: tuple[str, ...], value: Any, scores: str) -> Form | None:
    """Recognise a score for every label, at this place."""
    if isinstance(value, list) and len(value) > 1 and all(isinstance(e, Mapping) for e in value):
        keys = _keys(value[0]) or _only_keys(value, scores)
        if keys is not None and all(set(keys) <= set(entry) for entry in value):
            return Form(path, ENTRIES, keys)
    if isinstance(value, Mapping) and _are_scores(list(value.values()), scores):
        return Form(path, MAP)
    if isinstance(value, list) and _are_scores(value, scores):
        return Form(path, SCORES)
    return None


def _labelled(path: tuple[str, ...], value: Any, scores: str) -> Form | None:
    """Recognise a label without scores, or with that of its own alone."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        keys = _keys(value[0])
        return None if keys is None else Form(path, LABEL, keys)
    if isinstance(value, Mapping):
        keys = _keys(value)
        if keys is not None:
            return Form(path, LABEL, keys)
        name = next((key for key in LABEL_KEYS if isinstance(value.get(key), str)), None)
        return None if name is None else Form((*path, name), LABEL)
    is_whole = isinstance(value, str) and not path and value.strip() != ""
    return Form(path, LABEL) if is_whole else None


def _keys(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the keys of an entry with a label and its score."""
    label = next((key for key in LABEL_KEYS if isinstance(entry.get(key), str)), None)
    score = next((key for key in SCORE_KEYS if _is_number(entry.get(key))), None)
    return (label, score) if label is not None and score is not None else None


def _only_keys(entries: Sequence[Mapping[str, Any]], scores: str) -> tuple[str, str] | None:
    """Return the keys of entries with other names, if only one can be the label, and one the score.

    >>> _only_keys([{"kind": "spam", "pct": 0.9}, {"kind": "fine", "pct": 0.1}], "auto")
    ('kind', 'pct')
    """
    labels, numbers = [], []
    for key in entries[0]:
        values = [entry.get(key) for entry in entries]
        if all(isinstance(value, str) for value in values) and len(set(values)) == len(values):
            labels.append(key)
        elif _are_scores(values, scores) or _are_scores(values, "percent"):
            numbers.append(key)
    return (labels[0], numbers[0]) if len(labels) == len(numbers) == 1 else None


def _are_scores(values: Sequence[Any], scores: str) -> bool:
    if len(values) < 2 or not all(map(_is_number, values)):
        return False
    if scores == "percent":
        return are_percentages(values)
    return scores == "logits" or (
        all(0 <= value <= 1 for value in values) and abs(sum(values) - 1) <= MAX_SUM_ERROR
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _first_reply(endpoint: Endpoint, options: TargetOptions) -> Any:
    """Ask about a plain sentence, and return the whole answer."""
    probe = replace(endpoint, path=(), retries=PROBE_RETRIES)
    transport = HttpTransport(probe, TextParser())
    try:
        return transport.reply(probe_texts(tuple(options.fields))[:1])
    except BrittleError as error:
        sent = json.dumps(endpoint.template, ensure_ascii=False)
        hint = f" The body was {sent}; use --body for another." * isinstance(error, TargetError)
        raise UsageError(f"Asked about a plain sentence: {error}{hint}") from error
    finally:
        transport.close()


def _at_path(endpoint: Endpoint, reply: Any) -> Any:
    try:
        return endpoint.answers(reply, 1)[0]
    except BrittleError as error:
        raise UsageError(f"Asked about a plain sentence: {error}") from error


def parse_header(line: str) -> tuple[str, str]:
    """Split `Name: value`; a secret must come from the environment."""
    name, colon, value = (part.strip() for part in line.partition(":"))
    if not colon or not name:
        raise UsageError(
            f"Got --header {line!r}. Expected a name and a value: --header 'X-Team: red'."
        )
    if is_secret_name(name) and not VARIABLE.search(value):
        raise UsageError(
            f"The header {name} contains a secret, which would be stored in the run file. "
            "Put it into an environment variable and write the variable in single "
            f"quotes: --header '{name}: Bearer ${{TOKEN}}'."
        )
    return name, value


def refuse_secrets(spec: str) -> None:
    """Refuse an address with a password or a key in it: it would be stored."""
    try:
        parts = urlsplit(spec)
        password = parts.password
    except ValueError:
        return  # the client refuses it, with a message
    names = [
        name
        for name, value in parse_qsl(parts.query)
        if is_secret_name(name) and not VARIABLE.search(value)
    ]
    if names or (password and not VARIABLE.search(password)):
        what = f"the parameter {names[0]}" if names else "a password"
        raise UsageError(
            f"The address contains a secret ({what}), which would be stored in the run "
            "file. Put it into an environment variable and write the variable in single "
            f"quotes: 'https://…?key=${{KEY}}'."
        )
