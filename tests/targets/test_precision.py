"""`precision="bf16"`: real networks, tiny and random, and runs on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import brittle  # noqa: E402
from brittle.asks import ANSWER, CANDIDATE  # noqa: E402
from brittle.cli import main  # noqa: E402
from brittle.data.dataset import Dataset  # noqa: E402
from brittle.data.example import Example  # noqa: E402
from brittle.errors import UsageError  # noqa: E402
from brittle.opening import as_target  # noqa: E402
from brittle.runs.job import Job  # noqa: E402
from brittle.runs.keywords import SharedAnswers  # noqa: E402
from brittle.runs.run import Run  # noqa: E402
from brittle.targets.capabilities import make_desks  # noqa: E402
from brittle.targets.transformers.classifier import of_model  # noqa: E402
from brittle.testing import FakeTarget  # noqa: E402
from brittle.text import Text  # noqa: E402
from targets import tiny  # noqa: E402
from targets.torch.networks import Gru, build, word_target  # noqa: E402

TEXTS = ["a good film", "the bad story was not a very good film", "it is what it was"]
ITEMS = [Text.of(text) for text in TEXTS]


def bert(precision: str = "bf16", family: str = "bert", **options: Any) -> Any:
    tokenizer = tiny.tokenizer(family)
    model = tiny.model(family, len(tokenizer))
    return of_model(model, tokenizer, precision=precision, name="tiny", **options)


def gru(precision: str = "bf16") -> Any:
    return word_target(build(Gru).float(), precision=precision)


@pytest.mark.parametrize(
    "build_target",
    [bert, partial(bert, family="roberta"), partial(bert, mask="pad"), gru],
    ids=["bert", "roberta", "holes", "gru"],
)
def test_candidates_are_scored_otherwise_and_all_else_in_float32(
    build_target: Callable[[], Any],
) -> None:
    target = build_target()
    keys = target.canonical(ITEMS)
    exact, lowered = target.canonical_scores(keys), target.candidate_scores(keys)
    assert 0 < np.abs(exact - lowered).max() < 0.05
    same = bert("float32") if target.name == "tiny" else gru("float32")
    desks = make_desks(target)
    assert np.array_equal(desks[ANSWER].compute(keys), exact)
    assert np.array_equal(desks[CANDIDATE].compute(keys), lowered)
    assert CANDIDATE not in make_desks(same)


def typos(folder: Path) -> dict[str, Any]:
    file = folder / "typos.txt"
    file.write_text("good god goood\nfilm flim films\nstory sotry\nbad bda\nwas wsa\n")
    return {"typos": str(file)}


def run_of(target: Any, folder: Path, **options: Any) -> Run:
    data = Dataset("tiny", "all", tuple(Example.of(text, None) for text in TEXTS), ())
    return brittle.attack(target, data, "typo", folder=folder, **typos(folder), **options)


def test_what_a_run_stores_is_in_float32_and_says_so(tmp_path: Path) -> None:
    run, exact = run_of(bert(), tmp_path), run_of(bert("float32"), tmp_path)
    assert run.path != exact.path
    assert (run.manifest["precision"], exact.manifest["precision"]) == ("bf16", None)
    assert any("scored in bf16" in warning for warning in run.manifest["warnings"])
    assert not any("bf16" in warning for warning in exact.manifest["warnings"])
    target = bert("float32")
    shown = 0
    for row in run.results():
        pairs = [(row.original, row.predicted, row.confidence)]
        if row.adversarial is not None:
            pairs.append((row.adversarial, row.adversarial_label, row.adversarial_confidence))
        for text, label, confidence in pairs:
            [scores] = target.scores([Text.of(text)])
            assert confidence == pytest.approx(scores[target.labels.index(label)], abs=1e-6)
            shown += 1
    assert shown > len(TEXTS), "no adversary was compared"
    assert not run.verify(bert())


def test_precision_is_part_of_what_makes_a_run_the_same(tmp_path: Path) -> None:
    run_of(gru(), tmp_path, name="one")
    with pytest.raises(UsageError, match="precision was 'bf16', now None"):
        run_of(gru("float32"), tmp_path, name="one")


def test_a_winner_in_bf16_alone_is_unconfirmed(tmp_path: Path) -> None:
    target = gru()

    def wrong(keys: Sequence[bytes]) -> Any:
        return target.canonical_scores(keys)[:, ::-1]

    target.candidate_scores = wrong
    run = run_of(target, tmp_path)
    exact = {row.case: row.status for row in run_of(gru("float32"), tmp_path).results()}
    statuses = {row.status for row in run.results() if exact[row.case] == "held"}
    assert "unconfirmed" in {row.status for row in run.results()}
    assert statuses <= {"unconfirmed", "held"}


def test_shared_answers_do_not_mix_precisions(tmp_path: Path) -> None:
    data = Dataset("tiny", "all", (Example.of("a good film", None),), ())
    shared = SharedAnswers()
    low, half, full = (
        shared.caches_of(Job.of(bert(p), data, "typo", typos(tmp_path)))
        for p in ("bf16", "bf16", "float32")
    )
    assert low[ANSWER] is full[ANSWER] and low[CANDIDATE] is half[CANDIDATE]
    assert low[CANDIDATE] is not full[ANSWER] and CANDIDATE not in full


def test_what_cannot_be_lowered_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="fp16 needs a GPU; on a CPU use bf16"):
        bert("fp16")
    with pytest.raises(UsageError, match=r"weights are float64.*model\.float"):
        word_target(build(Gru), precision="bf16")
    with pytest.raises(UsageError, match=r"Unknown precision 'bf17'.*'bf16'"):
        bert("bf17")
    declared = {"labels": "a,b", "scores": "single"}
    for target, what, options in (
        (FakeTarget(), "the target 'fake'", {}),
        (lambda texts: [0.5] * len(texts), "the target '.*lambda", declared),
        ("zoo:naive-bayes@mr", "the zoo model", {}),
        (gru("float32"), "the target 'Gru'", {}),
    ):
        with pytest.raises(UsageError, match=f"Got --precision bf16 for {what}"):
            as_target(target, precision="bf16", **options)
    lowered = gru()
    assert as_target(lowered, precision="bf16") is lowered
    assert (
        main(["attack", "zoo:naive-bayes@mr", "pwws", "--data", "mr", "--precision", "bf16"]) == 2
    )
    assert "Got --precision bf16 for the zoo model" in capsys.readouterr().err


def test_a_network_that_answers_otherwise_in_bf16_is_refused() -> None:
    class Steep(Gru):
        def forward(self, ids: Any) -> Any:
            return super().forward(ids) + 1e3 - 1e3

    with pytest.raises(UsageError, match="gives other answers in bf16: a probability differs by"):
        word_target(build(Steep).float(), precision="bf16")

    class Strict(Gru):
        def forward(self, ids: Any) -> Any:
            logits = super().forward(ids)
            if logits.dtype != torch.float32:
                raise TypeError("float32 alone")
            return logits

    with pytest.raises(UsageError, match=r"does not run in bf16: .*float32 alone"):
        word_target(build(Strict).float(), precision="bf16")


def test_a_tuned_encoder_of_the_zoo_is_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    from brittle.targets.zoo.target import TransformerModel, TunedEncoderTarget

    classifier = bert("float32")
    card: Any = type(
        "Card",
        (),
        {
            "full_name": "tuned",
            "fingerprint": "f",
            "labels": classifier.labels,
            "fields": ("text",),
        },
    )
    target = TunedEncoderTarget(card, TransformerModel(classifier), lambda: classifier)
    assert target.precision == "float32" and CANDIDATE not in make_desks(target)
    target.lower("bf16")
    keys = target.canonical(ITEMS)
    assert np.array_equal(target.candidate_scores(keys), bert().candidate_scores(keys))
    assert not np.array_equal(target.candidate_scores(keys), target.canonical_scores(keys))
