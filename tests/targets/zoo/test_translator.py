"""Translators of the zoo as targets: the contract, what they show, and how they are opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

import brittle  # noqa: E402
from brittle.engine.broker import Broker  # noqa: E402
from brittle.errors import UsageError  # noqa: E402
from brittle.inside.looking import CROSS_ATTENTION, broken_cases, look_inside  # noqa: E402
from brittle.opening import as_target, load_zoo  # noqa: E402
from brittle.targets.capabilities import answers_of, make_desks  # noqa: E402
from brittle.targets.zoo.translator import ZooTranslator, align_pieces, load_translator  # noqa: E402
from brittle.text import Text  # noqa: E402
from zoo.seq2seq import toy  # noqa: E402

pytestmark = pytest.mark.slow  # a translator is trained
TEXTS = [
    Text.of(text)
    for text in ("a dog sleeps.", "", "the old man sees a house here.", "🎉 http://x.de/a?b=c, ok!")
]


@pytest.fixture(params=toy.ENCODERS, scope="module")
def target(request: pytest.FixtureRequest) -> Any:
    opened = load_translator(toy.trained(request.param), device="cpu", mask="pad")
    yield opened
    opened.close()


def test_it_translates_alike_in_every_batch_and_through_the_engine(target: Any) -> None:
    assert answers_of(target).noun == "texts" and target.labels == ()
    together = target.translate(TEXTS)
    assert together == [target.translate([text])[0] for text in TEXTS]
    assert together[1] == "" and len(set(together)) > 2 and target.translate([]) == []
    broker = Broker(make_desks(target), batch=2)
    assert broker.answer("answer", TEXTS) == (together, {})
    broker.close()


def test_it_has_learnt_the_toy_language() -> None:
    target = load_translator(toy.trained("Transformer"), device="cpu", beam=3)
    texts = [Text.of(e.fields[0][1]) for e in toy.pairs(30, 11)]
    right = sum(got == e.label for got, e in zip(target.translate(texts), toy.pairs(30, 11)))
    assert right > 10
    target.close()


def test_an_erased_word_is_a_zero_vector_in_the_source(target: Any) -> None:
    text = Text.of("the old man sees a house.")
    model, [encoded] = target.model, target.model.encode([text])
    [columns] = [align_pieces(text, encoded).columns[1]]
    assert len(columns) == 1  # a hole is one piece: so that positions stay, the word must be one
    source = torch.from_numpy(encoded.ids)[None]
    vectors = model.network.embedding(source).clone()
    vectors[:, columns[0]] = 0.0
    handle = model.network.embedding.register_forward_hook(
        lambda _, args, output: vectors if args[0].shape == source.shape else output
    )
    with torch.inference_mode():
        expected = model.network.encode(source).state.mean(dim=1)[0].double().numpy()
    handle.remove()
    [embedding] = target.sentence_embeddings([text.mask(1)])
    assert np.allclose(embedding.vector, expected, atol=1e-6) and embedding.scores == []
    assert target.reads_zero_vectors


def test_the_embedding_is_the_mean_of_the_states(target: Any) -> None:
    [vector] = target.model.mean_states(target.model.encode(TEXTS[:1]))
    [states] = target.model.states(target.model.encode(TEXTS[:1]), len(target.layers) - 1)
    assert np.allclose(vector, states.mean(axis=0), atol=1e-6)
    for layer in target.layers:
        shown = target.embeddings(TEXTS, layer)
        assert [len(rows) for rows in shown] == [len(text) for text in TEXTS]
        assert all(np.isfinite(rows).all() for rows in shown)
    with pytest.raises(UsageError, match="Unknown layer"):
        target.embeddings(TEXTS, "layer 9")


def test_attention_to_words_and_to_the_rest_adds_up_to_one(target: Any) -> None:
    texts = [*TEXTS, TEXTS[2].mask(1)]
    for text, shown in zip(texts, target.attention(texts)):
        assert shown.weights.shape[-1] == shown.summary.shape[-1] == len(text)
        if len(text):
            assert np.allclose(shown.weights.sum(axis=-1) + shown.elsewhere, 1.0, atol=1e-5)
        assert np.allclose(shown.summary.sum(axis=-1) + shown.summary_elsewhere, 1.0, atol=1e-5)
        assert (shown.summary >= 0).all() and (shown.elsewhere > -1e-6).all()


def test_cross_attention_has_a_row_for_every_piece_written(target: Any) -> None:
    [shown], [attention] = target.cross_attention(TEXTS[2:3]), target.attention(TEXTS[2:3])
    written = "".join(shown.pieces[:-1]).replace("▁", " ").strip()
    assert [written] == target.translate(TEXTS[2:3]) and shown.pieces[-1] == "</s>"
    assert shown.weights.shape[2:] == (len(shown.pieces), len(TEXTS[2]))
    assert np.allclose(shown.weights.sum(axis=-1) + shown.elsewhere, 1.0, atol=1e-5)
    assert np.allclose(shown.weights.mean(axis=2), attention.summary)


def test_what_it_knows_of_words(target: Any) -> None:
    assert set(target.vocabulary) == set(toy.WORDS)
    assert target.can_write("Hund") and not target.can_write("Ω")
    assert list(target.words_read(TEXTS)[2]) == list(range(len(TEXTS[2])))
    long = Text.of(" ".join(["dog"] * 200))
    assert 0 < len(target.words_read([long])[0]) < 200


def test_a_folder_opens_with_a_mask_and_a_beam() -> None:
    folder = toy.trained("LSTM")
    plain: Any = as_target(folder, device="cpu")
    other: Any = as_target(f"{folder}?beam=2", device="cpu", wanted_mask="pad")
    assert isinstance(plain, ZooTranslator) and not plain.reads_zero_vectors
    assert other.model.beam == 2 and other.reads_zero_vectors and other.name.endswith("beam=2")
    assert plain.fingerprint != other.fingerprint
    plain.close(), other.close()
    for options, message in (
        ({"labels": ["a", "b"]}, "--labels"),
        ({"mask": "nothing"}, "Expected pad"),
        ({"answers": "scores"}, "answers with texts"),
    ):
        with pytest.raises(UsageError, match=message):
            as_target(folder, device="cpu", **options)
    with pytest.raises(UsageError, match="beam"):
        as_target(f"{folder}?beam=0")
    with pytest.raises(UsageError, match=r"Got 'beams=4' after the folder .* Expected beam=N"):
        as_target(f"{folder}?beams=4")
    with pytest.raises(UsageError, match="is not a translator of the zoo"):
        as_target(f"{folder.parent}?beam=4")
    two = Text.of({"premise": "a dog", "hypothesis": "a man"})
    with pytest.raises(UsageError, match="reads one text"):
        plain.translate([two])


def test_it_is_found_by_the_path_of_its_data_and_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    for split, count, seed in (("train", 30, 0), ("dev", 5, 1)):
        rows = [f"{e.fields[0][1]},{e.label}" for e in toy.pairs(count, seed)]
        (tmp_path / f"{split}.csv").write_text("\n".join(["en,de", *rows]) + "\n")
    folder = brittle.train(
        *("seq2seq-LSTM", str(tmp_path)),
        text="en",
        label="de",
        size="tiny",
        changed=["epochs=1"],
        device="cpu",
    )
    spec = f"zoo:seq2seq-LSTM@{tmp_path}?size=tiny,epochs=1,beam=2"
    for name in (spec, f"zoo:seq2seq-LSTM@{tmp_path.name}#0?size=tiny,epochs=1"):
        target: Any = as_target(name, device="cpu")
        assert target.card.key[:12] in folder.name
        target.close()
    with pytest.raises(UsageError, match="is a translator"):
        load_zoo(spec)
    with pytest.raises(UsageError, match="beam"):
        as_target(spec.replace("beam=2", "beam=x"))


@pytest.mark.parametrize("attack", ["gs-ec", "asmax-gr"])
def test_attacks_at_the_weak_spot_run_on_it(target: Any, attack: str) -> None:
    examples = [e.fields[0][1] for e in toy.pairs(4, 21)]
    run = brittle.attack(
        target, examples, attack, goal="keyword:Hund", vocabulary=8, words=2, seed=1
    )
    rows = run.results()
    assert len(rows) == 4 and all(row.status != "error" for row in rows)
    assert any(row.status == "broken" for row in rows)
    seen = look_inside(run, target, broken_cases(run, limit=1))
    assert seen.layers == target.layers and seen.notes == (CROSS_ATTENTION,)
    [case] = seen.cases
    assert case.relative is not None and case.relative > 0
    assert len(case.before.summary or ()) == len(case.before.words)
