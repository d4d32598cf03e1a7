"""Failures that stay as tests: the texts that broke a model, written for pytest and other tools.

Nothing is searched again: a test asks the model about a stored text. Only broken cases with one or
more text fields are written, each once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.edits import patch
from brittle.errors import UsageError, unknown
from brittle.metrics.regression import newly_broken
from brittle.results import Result, has_adversary
from brittle.runs.run import Run
from brittle.safety.files import write_whole
from brittle.text import Text

LINE_BREAKS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}


@dataclass(frozen=True)
class Failure:
    """A text that broke the model: what it was made from, and the label that it should have."""

    case: str
    original: Mapping[str, str]
    text: Mapping[str, str]
    label: str
    read_as: str
    level: str

    @property
    def joined(self) -> str:
        """The text in one string; several fields are on lines of their own."""
        return "\n".join(self.text.values())

    def plain(self) -> dict[str, Any]:
        """Return the failure as a row of JSON."""
        own = {name: value for name, value in vars(self).items() if value != ""}
        return {**own, "original": dict(self.original), "text": dict(self.text)}


def failures_of(run: Run, old: Run | None = None) -> list[Failure]:
    """Return the failures of a run that attacked a classifier of texts.

    With an `old` run they are those that it did not have, as the gate lists them.
    """
    if run.shape is not None:
        raise UsageError(f"{run.name!r} has pictures; failures become tests only for texts.")
    rows = run.results() if old is None else newly_broken(old.results(), run.results())
    rows = [row for row in rows if has_adversary(row)]
    if any(row.label is None for row in rows):
        raise UsageError(f"{run.name!r} has no labels; failures become tests only with labels.")
    found = [_failure(row) for row in rows]
    if not found:
        raise UsageError(f"{run.name!r} has no such broken case: there is nothing to write.")
    return found


def _failure(row: Result) -> Failure:
    fields = dict(row.fields)
    return Failure(
        row.case,
        fields,
        patch(fields, row.edits),
        str(row.label),
        row.adversarial_label or "",
        row.level or "",
    )


def read_failures(path: str | Path) -> list[Failure]:
    """Read the file that `brittle export --as pytest` wrote."""
    names = {"read_as": "", "level": ""}
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return [Failure(**names | row) for row in rows]


def label_of(target: Any, text: str | Mapping[str, str]) -> str:
    """Return the label that a target gives to a text."""
    scores = target.scores([Text.of(text if isinstance(text, str) else dict(text))])[0]
    return str(target.labels[int(scores.argmax())])


def export_failures(run: Run, out: Path, to: str, old: Run | None = None) -> list[Path]:
    """Write the failures of a run for a tool, one of `WRITERS`; return the files written.

    With an `old` run only those are written that it did not have.
    """
    if to not in WRITERS:
        raise unknown("format", to, WRITERS)
    ending, writer = WRITERS[to]
    if out.suffix != ending:
        raise UsageError(f"Got {out.name!r} for --as {to}; expected a name that ends in {ending}.")
    out.parent.mkdir(parents=True, exist_ok=True)
    return writer(run, failures_of(run, old), out)


TEST = '''\
"""Texts that broke the model once, from {name}: it must give them their label.

`brittle export … --as pytest` wrote this file; it is yours to change, and not written again.
"""

from pathlib import Path

import pytest

from brittle.ci.failures import read_failures

FAILURES = read_failures(Path(__file__).with_name({file!r}))

{fixture}

@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.case)
def test_the_model_gives_the_right_label(brittle, model, failure):
    brittle.assert_label(model, failure.text, failure.label)
'''
OWN_MODEL = "# The fixture `model` returns your model: define it in conftest.py, or here.\n"
NAMED_MODEL = """\
@pytest.fixture(scope="session")
def model():
    return {spec!r}

"""


def _pytest(run: Run, failures: Sequence[Failure], out: Path) -> list[Path]:
    _jsonl([failure.plain() for failure in failures], out)
    test = out.with_name(f"test_{out.stem.replace('-', '_')}.py")
    if test.exists():
        return [out]
    spec = (run.manifest.get("about_target") or {}).get("spec")
    fixture = NAMED_MODEL.format(spec=spec) if spec else OWN_MODEL
    write_whole(test, TEST.format(name=run.name, file=out.name, fixture=fixture))
    return [out, test]


def _garak(run: Run, failures: Sequence[Failure], out: Path) -> list[Path]:
    """Write a group of payloads, as in garak's folder data/payloads."""
    payload = {
        "garak_payload_name": f"Adversarial texts of {run.name}",
        "payload_types": ["Security circumvention instructions"],
        "detector_name": "",
        "payloads": [failure.joined for failure in failures],
        "lang": "en",
    }
    write_whole(out, json.dumps(payload, indent=2, ensure_ascii=False) + "\n")
    return [out]


def _spikee(run: Run, failures: Sequence[Failure], out: Path) -> list[Path]:
    """Write a data set of spikee: the judge passes an answer without the right label as a win."""
    rows = [
        {
            "id": number,
            "long_id": f"brittle-{failure.case}",
            "content": failure.joined,
            "content_type": "text",
            "judge_name": "regex",
            "judge_options": None,
            "judge_args": f"(?is)\\A(?!.*{re.escape(failure.label)})",
            "instruction_type": "misread-text",
            "jailbreak_type": failure.level or str(run.manifest["attack"]),
            "lang": "en",
        }
        for number, failure in enumerate(failures, 1)
    ]
    _jsonl(rows, out)
    return [out]


def _promptfoo(run: Run, failures: Sequence[Failure], out: Path) -> list[Path]:
    """Write tests of promptfoo: the fields are variables, and the answer must name the label."""
    rows = [
        {
            "description": f"{failure.case} of {run.name}",
            "vars": {name: _quoted(text) for name, text in failure.text.items()},
            "assert": [{"type": "icontains", "value": failure.label}],
        }
        for failure in failures
    ]
    _jsonl(rows, out)
    return [out]


def _quoted(text: str) -> str:
    """Keep a text from being read as a template of promptfoo."""
    is_template = any(sign in text for sign in ("{{", "{%", "{#"))
    return f"{{% raw %}}{text}{{% endraw %}}" if is_template else text


SUITE = '''\
"""A CheckList suite of texts that broke {name}: SUITE.run(predict), then SUITE.summary()."""

import json

from checklist.test_suite import TestSuite
from checklist.test_types import INV, MFT

ROWS = json.loads({rows!r})
LABELS = {labels!r}  # in the order of the scores that your model returns

SUITE = TestSuite()
SUITE.add(
    MFT([row["text"] for row in ROWS], labels=[LABELS.index(row["label"]) for row in ROWS]),
    name="right label", capability="Robustness", description="texts that broke the model once",
)
SUITE.add(
    INV([[row["original"], row["text"]] for row in ROWS]),
    name="same label", capability="Robustness", description="an edit keeps the prediction",
)
'''


def _checklist(run: Run, failures: Sequence[Failure], out: Path) -> list[Path]:
    """Write Python that builds the suite: CheckList's own files are pickles."""
    rows = [
        {"original": "\n".join(f.original.values()), "text": f.joined, "label": f.label}
        for f in failures
    ]
    labels = sorted({f.label for f in failures} | {f.read_as for f in failures if f.read_as})
    text = SUITE.format(name=run.name, rows=json.dumps(rows), labels=labels)
    write_whole(out, text)
    return [out]


def _jsonl(rows: Sequence[Mapping[str, Any]], out: Path) -> None:
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    # Some readers take these signs for ends of lines.
    write_whole(out, "".join(line.translate(LINE_BREAKS) + "\n" for line in lines))


WRITERS: Mapping[str, tuple[str, Callable[[Run, Sequence[Failure], Path], list[Path]]]] = {
    "pytest": (".jsonl", _pytest),
    "garak": (".json", _garak),
    "spikee": (".jsonl", _spikee),
    "promptfoo": (".jsonl", _promptfoo),
    "checklist": (".py", _checklist),
}
"""What failures can be written for: the ending of the file, and what writes it."""
