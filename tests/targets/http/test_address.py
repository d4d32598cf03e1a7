"""An address as a target: a real local server with a real model behind it."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.cli import main
from brittle.errors import UsageError
from brittle.opening import as_target
from brittle.runs.run import Run
from brittle.targets.http.address import recognise
from brittle.text import Text

pytest.importorskip("httpx")
FILMS = [("a warm and funny film", "pos"), ("a dull and weak film", "neg")]
TEXTS = [Text.of(film) for film, _ in FILMS]


@pytest.fixture(scope="module")
def model() -> Any:
    sklearn = pytest.importorskip("sklearn.pipeline")
    text = pytest.importorskip("sklearn.feature_extraction.text")
    linear = pytest.importorskip("sklearn.linear_model")
    pipeline = sklearn.make_pipeline(text.TfidfVectorizer(), linear.LogisticRegression())
    return pipeline.fit([film for film, _ in FILMS] * 3, [label for _, label in FILMS] * 3)


def answer(form: str, scores: dict[str, float]) -> Any:
    best = max(scores, key=lambda name: scores[name])
    entries = [{"label": name, "score": score} for name, score in scores.items()]
    forms = {
        "entries": entries,
        "nested": [entries],
        "classes": {"out": [{"class": n, "probability": p} for n, p in scores.items()]},
        "map": {"scores": scores},
        "list": [list(scores.values())],
        "label": {"label": best},
        "best": {"result": {"label": best, "score": scores[best]}},
        "word": best,
        "percent": {"v": 2, "out": [{"kind": n, "pct": 100 * p} for n, p in scores.items()]},
        "others": {"out": [{"kind": n, "sure": p, "id": 7} for n, p in scores.items()]},
        "unclear": {"out": [{"kind": n, "also": n, "sure": p} for n, p in scores.items()]},
        "odd": {"status": "ok\x1b[31m", "x": scores["pos"]},
    }
    return forms[form]


@pytest.fixture(scope="module")
def server(model: Any) -> Iterator[Any]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.server.seen.append((asked, dict(self.headers)))  # type: ignore[attr-defined]
            text = asked.get("text", asked.get("inputs"))
            status = 200 if isinstance(text, str) else 422
            reply: Any = {"detail": "field required"}
            if status == 200:
                row = model.predict_proba([text])[0].tolist()
                reply = answer(self.path.strip("/"), dict(zip(model.classes_.tolist(), row)))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def address(server: Any, form: str) -> str:
    return f"http://127.0.0.1:{server.server_port}/{form}"


@pytest.mark.parametrize(
    ("form", "told", "options"),
    [
        ("entries", "answers a list of {label, score}.", {}),
        ("nested", "answers a list of {label, score} at --path 0.", {}),
        ("classes", "answers a list of {class, probability} at --path out.", {}),
        ("map", "answers a score for each label at --path scores.", {}),
        ("list", "answers a list of scores at --path 0.", {"labels": "neg,pos"}),
        ("map", "answers a score for each label.", {"path": "scores"}),
        ("others", "answers a list of {kind, sure} at --path out.", {}),
        ("percent", "answers a list of {kind, pct} at --path out.", {"scores": "percent"}),
    ],
)
def test_scores_are_recognised_and_it_is_said_where(
    server: Any,
    model: Any,
    form: str,
    told: str,
    options: dict[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        target = as_target(address(server, form), **options)
    assert told in caplog.text
    assert target.labels == ("neg", "pos") and target.name == address(server, form)[7:]
    assert np.allclose(target.scores(TEXTS), model.predict_proba([film for film, _ in FILMS]))
    target.close()


@pytest.mark.parametrize("form", ["label", "best", "word"])
def test_labels_alone_are_those_of_the_data(server: Any, form: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"without scores\. Name all its labels.*--labels"):
        as_target(address(server, form))
    run = brittle.attack(address(server, form), FILMS, "random-swap", folder=tmp_path, budget=5)
    assert {row.label for row in run.results()} == {"neg", "pos"}
    assert all(row.status != "error" for row in run.results())


def test_where_nothing_is_recognised_the_answer_is_shown(server: Any) -> None:
    with pytest.raises(UsageError, match="brittle found neither scores nor a label") as caught:
        as_target(address(server, "odd"))
    message = str(caught.value)
    assert "--path result.scores" in message and "'x': 0." in message and "\x1b" not in message
    options = {"path": "x", "scores": "single", "labels": "neg,pos"}
    target = as_target(address(server, "odd"), **options)
    assert np.allclose(target.scores(TEXTS).sum(axis=1), 1)
    target.close()
    with pytest.raises(UsageError, match=r"has no 'y' of the path 'y'.*--path"):
        as_target(address(server, "odd"), path="y")
    with pytest.raises(UsageError, match=r"does not name its labels.*--labels"):
        as_target(address(server, "list"))


def test_the_body_and_headers_are_the_users(
    server: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("API_TOKEN", "very-secret-value")
    options: dict[str, Any] = {
        "body": '{"inputs": "{text}", "n": 1}',
        "header": ["Authorization: Bearer ${API_TOKEN}"],
    }
    run = brittle.attack(
        address(server, "map"), FILMS, "random-swap", folder=tmp_path, budget=3, **options
    )
    asked, headers = server.seen[-1]
    assert asked.keys() == {"inputs", "n"} and asked["n"] == 1
    assert headers["Authorization"] == "Bearer very-secret-value"
    assert run.manifest["about_target"]["body"] == options["body"]
    assert b"very-secret-value" not in Path(run.path).read_bytes()
    with pytest.raises(UsageError, match=r"status 422.*The body was .*use --body for another"):
        as_target(address(server, "map"), body='{"q": "{text}"}')


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("http://h/x?key=abcdef", {}, r"contains a secret \(the parameter key\).*\$\{KEY\}"),
        ("http://u:passw@h/x", {}, "contains a secret"),
        ("http://h/x", {"header": ["Authorization: Bearer abc"]}, r"in single quotes: --header"),
        ("http://h/x", {"header": ["no header"]}, "Expected a name and a value"),
        ("http://h/x", {"body": "{text}"}, "is not JSON .* such as --body"),
        ("http://h/x", {"body": '{"a": 1}'}, r"no place for the text.*\{text\}"),
        ("http://h/x", {"fields": ("a", "b"), "body": '{"a": "{a}"}'}, r"Expected \{b\} in it"),
        ("zoo:LSTM@mr", {"path": "x"}, "not an address"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_sent(
    spec: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        as_target(spec, **options)


@pytest.mark.parametrize(
    "reply",
    [{}, [], {"score": 0.9}, {"a": 1, "b": 2}, [[1, 2]], {"label": 3}, "", None, {"n": {"m": [1]}}],
)
def test_other_answers_are_not_guessed(reply: Any) -> None:
    assert recognise(reply) is None


def test_logits_need_no_sum_and_the_nearest_to_the_top_counts() -> None:
    assert str(recognise({"logits": [3.0, -1.5]}, "logits")) == "a list of scores at --path logits"
    both = {"label": "pos", "deep": {"scores": {"pos": 0.7, "neg": 0.3}}}
    assert str(recognise(both)) == "a score for each label at --path deep.scores"
    assert str(recognise(both, "label")) == "a label at --path label"


def test_the_command_line_has_it_all(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("films.csv").write_text("text,label\n" + "".join(f"{a},{b}\n" for a, b in FILMS))
    command = ["attack", address(server, "best"), "random-swap", "--data", "films.csv"]
    assert main([*command, "--path", "result", "--budget", "4", "--name", "one"]) == 0
    assert len(Run(tmp_path / "runs" / "one.sqlite").results()) == 2
    assert main(["verify", "one"]) == 0
    capsys.readouterr()


def test_percentages_are_declared_and_never_guessed(server: Any) -> None:
    with pytest.raises(UsageError, match=r"add up to 100.*say --scores percent"):
        as_target(address(server, "percent"))
    with pytest.raises(UsageError, match=r"sum 100.*percentages, say --scores percent"):
        as_target(address(server, "percent"), labels="neg,pos").scores(TEXTS)


def test_entries_whose_keys_are_not_clear_are_refused_before_any_text(server: Any) -> None:
    with pytest.raises(UsageError, match=r"found neither scores nor a label"):
        as_target(address(server, "unclear"), labels="neg,pos")
    with pytest.raises(UsageError, match=r"plain sentence.*keys 'label' and 'score'.*label_key"):
        as_target(address(server, "unclear"), labels="neg,pos", path="out")


def test_a_defence_before_an_address_hands_its_options_on(server: Any, model: Any) -> None:
    target = as_target(f"normalised:{address(server, 'others')}", path="out")
    wide = [Text.of("ａ ｗａｒｍ and funny film")]
    assert np.allclose(target.scores(wide), model.predict_proba([FILMS[0][0]]))
    with pytest.raises(UsageError, match=r"--path 'out' for 'zoo:naive-bayes@mr'"):
        as_target("normalised:zoo:naive-bayes@mr", path="out")


def test_a_text_that_is_not_answered_is_one_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    code = "def rate(texts):\n    return ['maybe' if 'film' in text else 'no' for text in texts]\n"
    (tmp_path / "unsure_model.py").write_text(code)
    code = main(["try", "python:unsure_model:rate", "a dull film", "--labels", "no,yes"])
    said = capsys.readouterr().err
    assert code == 3 and said.count("answered the label 'maybe'") == 1
