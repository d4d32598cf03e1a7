"""Training of translators: learning, resuming, a lost loss, strange data, the card."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from brittle import training  # noqa: E402
from brittle.data import Dataset, Example  # noqa: E402
from brittle.errors import BrittleError, UsageError  # noqa: E402
from brittle.training import seq2seq  # noqa: E402
from brittle.training.job import TrainingProgress  # noqa: E402
from brittle.training.loop import batches_by_length  # noqa: E402
from brittle.training.splits import TrainingSplits, check_splits, load_splits  # noqa: E402
from brittle.zoo import folder as folders  # noqa: E402
from brittle.zoo.seq2seq.pieces import END  # noqa: E402
from zoo.seq2seq import toy  # noqa: E402


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))


def train(encoder: str, **options: Any) -> Path:
    changed = toy.settings(encoder, epochs=3, subwords=60, batch_subwords=200, dropout=0.1)
    splits = toy.splits(40, 6)
    return training.train_on(
        f"seq2seq-{encoder}", splits, size="tiny", settings=changed, device="cpu", **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("encoder", toy.ENCODERS)
def test_a_resumed_training_ends_with_the_same_weights(encoder: str) -> None:
    lines: list[str] = []
    whole = train(encoder, progress=lambda at: lines.append(str(at)))
    assert "epoch 3/3, loss" in lines[-1] and "dev BLEU" in lines[-1]
    expected = (whole / folders.WEIGHTS_FILE).read_bytes()

    def stop(progress: TrainingProgress) -> None:
        if progress.epoch == 2 and progress.dev_accuracy is not None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(encoder, new=True, progress=stop)
    # A forced training begins anew; one that is not forced would find the trained model.
    (whole / folders.CARD_FILE).unlink()
    epochs: list[int] = []
    resumed = train(encoder, progress=lambda at: epochs.append(at.epoch))
    assert set(epochs) == {3}
    assert (resumed / folders.WEIGHTS_FILE).read_bytes() == expected


def test_a_lost_loss_keeps_the_last_good_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, plain = [0], seq2seq.smoothed_loss

    def losing(*args: Any) -> Any:
        calls[0] += 1
        return plain(*args) * (float("nan") if calls[0] > 10 else 1.0)

    monkeypatch.setattr(seq2seq, "smoothed_loss", losing)
    with pytest.raises(BrittleError, match=r"the loss is nan in epoch 2.*are kept in.*lower rate"):
        train("LSTM")
    [kept] = (Path(training.cache_folder()) / "models").glob("*.kept")
    card = folders.load_card_checked(kept)
    assert card.epochs == 1 and card.kind == "translator" and card.dev_accuracy is None


@pytest.mark.slow
def test_the_card_and_the_readme() -> None:
    folder = toy.trained("Transformer")
    card = folders.load_card_checked(folder)
    assert card.dev_bleu is not None and card.dev_bleu > 30 and card.labels == ()
    readme = (folder / folders.README_FILE).read_text()
    assert f"BLEU on the dev split: {card.dev_bleu}" in readme and "A translator of" in readme
    assert json.loads((folder / folders.CARD_FILE).read_text())["parts"]["encoder"] == "Transformer"
    assert folders.load_words(folder / folders.VOCABULARY_FILE)[:2] in (["a", "the"], ["the", "a"])


@torch.no_grad()
def test_the_loss_is_the_mean_over_the_pieces_of_all_targets() -> None:
    torch.manual_seed(0)
    network: Any = seq2seq.build_network("LSTM", toy.settings("LSTM"), 12).eval()
    source, target = [[5, 6, END], [7, END]], [[8, END], [9, 10, 11, END]]
    both = seq2seq.smoothed_loss(network, source, target, 0.1, "cpu")
    alone = [seq2seq.smoothed_loss(network, [s], [t], 0.1, "cpu") for s, t in zip(source, target)]
    assert float(both) == pytest.approx((2 * float(alone[0]) + 4 * float(alone[1])) / 6, abs=1e-5)
    # By hand: the first piece of the first pair.
    vectors, _ = network.decode(network.encode(torch.tensor([source[0]])), torch.tensor([[2, 8]]))
    log_p = network.embedding.logits(vectors[0]).log_softmax(dim=1)
    nll = -(0.9 * log_p[[0, 1], [8, END]] + 0.1 * log_p.mean(dim=1)).mean()
    assert float(alone[0]) == pytest.approx(float(nll), abs=1e-5)


def test_batches_hold_every_example_once_and_no_more_than_they_may() -> None:
    from random import Random

    lengths = [Random(n).randint(3, 40) for n in range(300)]
    batches = batches_by_length(lengths, 120, Random(0))
    assert sorted(i for batch in batches for i in batch) == list(range(300))
    assert all(len(b) * max(lengths[i] for i in b) <= 120 for b in batches)
    assert batches != batches_by_length(lengths, 120, Random(1))
    assert batches_by_length([50], 10, Random(0)) == [[0]]


def test_pairs_with_an_empty_side_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [(e.fields[0][1], e.label) for e in toy.pairs(40, 3)]
    rows[3], rows[5] = ("", rows[3][1]), (rows[5][0], " ")
    for split in ("train", "dev"):
        lines = ["en,de", *(f"{a},{b}" for a, b in rows)]
        (tmp_path / f"{split}.csv").write_text("\n".join(lines) + "\n")
    with caplog.at_level(logging.WARNING):
        splits = load_splits(str(tmp_path), text=["en"], label="de", labels="translations")
    assert len(splits.train) == len(splits.dev) == 38 and splits.labels == ()
    assert "2 of 40 rows have an empty side" in caplog.text


def test_a_file_without_splits_has_a_tenth_held_out(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    rows = [f"{n} man walks here,{n} Mann geht hier" for n in range(50)]
    path.write_text("\n".join(["en,de", *rows]) + "\n")
    splits = load_splits(str(path), text=["en"], label="de", labels="translations")
    assert (len(splits.train), len(splits.dev)) == (45, 5)
    assert splits.columns == {"text": "en", "label": "de"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a man", "ein Mann")] * 3, "has 3 pairs of texts in its train split; expected 10"),
        ([(f"{n} man", "") for n in range(20)], "has 0 pairs"),
        ([(f"{n} man", "good") for n in range(20)], "the same translation for all texts, 'good'"),
    ],
)
def test_data_that_no_translation_is_learnt_from(rows: list[tuple[str, str]], message: str) -> None:
    dataset = Dataset("toy", "train", tuple(Example((("text", a),), b) for a, b in rows))
    with pytest.raises(UsageError, match=message):
        check_splits(TrainingSplits("toy", dataset, dataset), "translations")


def test_what_cannot_be_trained_is_refused_before() -> None:
    with pytest.raises(UsageError, match="has texts with classes"):
        training.train("seq2seq-LSTM", "mr")
    with pytest.raises(UsageError, match="hardens classifiers"):
        train("LSTM", adversarial="key")
    with pytest.raises(UsageError, match="not a multiple of 2"):
        toy.settings("LSTM", hidden=33)
    with pytest.raises(UsageError, match="needs a layer"):
        toy.settings("Transformer", layers=0)
