"""Real sequence classifiers, tiny and random, built and saved here."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import TargetError, UsageError
from brittle.opening import as_target
from brittle.targets.labels import match_labels
from brittle.targets.transformers.classifier import SequenceClassifier, load, of_model
from brittle.text import Text

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["a", "good", "bad", "film", "story", "the", "was", "##s", "not", "very", "it", "rain"]
# Measured between the fast pass and the model itself, whose weights are drawn wide here: 1.2e-6.
ROUNDING = 2e-6
SENTENCES = [
    "a good film",
    "the story was very very bad",
    "it was not good , it was a bad story",
    "film",
    "",
]
ITEMS = [Text.of(sentence) for sentence in SENTENCES]


def tokenizer(**options: Any) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {word: index for index, word in enumerate(SPECIAL + WORDS)}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if options.pop("framed", True):
        backend.post_processor = processors.TemplateProcessing(
            single="[CLS]:0 $A:0 [SEP]:0",
            pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "mask_token": "[MASK]"}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    options = {**names, "model_max_length": 16, "model_input_names": inputs, **options}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **options)


def tiny(seed: int = 0, **options: Any) -> Any:
    torch.manual_seed(seed)
    options = {"id2label": {0: "neg", 1: "neutral", 2: "pos"}, **options}
    config = transformers.BertConfig(
        vocab_size=len(SPECIAL + WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
        initializer_range=0.5,
        label2id={name: index for index, name in options["id2label"].items()},
        **options,
    )
    return transformers.BertForSequenceClassification(config).eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "tiny-bert"
    tiny().save_pretrained(path)
    tokenizer().save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def target(folder: Path) -> SequenceClassifier:
    return load(str(folder))


def expected(model: Any, texts: list[str], pairs: list[str] | None = None) -> Any:
    """Score the way the library's own pages show it."""
    inputs = tokenizer()(texts, pairs, padding=True, truncation=True, return_tensors="pt")
    with torch.no_grad():
        return torch.softmax(model(**inputs).logits.double(), dim=1).numpy()


def edited(folder: Path, to: Path, **changes: Any) -> str:
    shutil.copytree(folder, to)
    config = json.loads((to / "config.json").read_text()) | changes
    (to / "config.json").write_text(json.dumps(config))
    return str(to)


def test_scores_are_those_of_the_model(target: SequenceClassifier) -> None:
    assert target.labels == ("neg", "neutral", "pos")
    assert target.name == "tiny-bert"
    score = target.scores(ITEMS)
    assert score.dtype == np.float64
    assert score == pytest.approx(expected(tiny(), SENTENCES), abs=ROUNDING)
    assert np.ptp(score, axis=0).max() > 0.05
    assert target.scores([]).shape == (0, 3)


def test_pairs_are_read_as_pairs(target: SequenceClassifier) -> None:
    seconds = ["the film was good", "a story", "it", "rain", "bad"]
    items = [Text.of({"a": a, "b": b}) for a, b in zip(SENTENCES, seconds)]
    score = target.scores(items)
    assert score == pytest.approx(expected(tiny(), SENTENCES, seconds), abs=1e-6)
    # Read as one sentence, which has no second token type, they give something else.
    joined = [Text.of(f"{a} [SEP] {b}") for a, b in zip(SENTENCES, seconds)]
    assert np.abs(target.scores(joined) - score).max() > 1e-3


def test_one_and_two_texts_may_come_together(target: SequenceClassifier) -> None:
    items = [ITEMS[0], Text.of({"a": "a film", "b": "it was good"}), ITEMS[1]]
    score = target.scores(items)
    for row, item in zip(score, items):
        assert row == pytest.approx(target.scores([item])[0], abs=1e-6)


def test_keys_are_the_token_ids(target: SequenceClassifier) -> None:
    (key,) = target.canonical([Text.of("A good film")])
    assert np.frombuffer(key, np.int32).tolist() == [2, 5, 6, 8, 3]
    (key,) = target.canonical([Text.of({"p": "a", "h": "film"})])
    assert np.frombuffer(key, np.int32).tolist() == [-1, 2, 5, 3, 8, 3, 0, 0, 0, 1, 1]


def test_what_the_model_cannot_tell_apart_has_one_key(target: SequenceClassifier) -> None:
    base = Text.of("a good film")
    keys = target.canonical([base.swap(1, "unheard"), base.swap(1, "zzz"), base.swap(1, "GOOD")])
    assert keys[0] == keys[1] != keys[2] == target.canonical([base])[0]


def test_a_hole_reads_as_the_mask_token_else_as_unknown(target: SequenceClassifier) -> None:
    hole = Text.of("a good film").mask(1)
    assert np.frombuffer(target.canonical([hole])[0], np.int32).tolist() == [2, 5, 4, 8, 3]
    unmasked = of_model(tiny(), tokenizer(mask_token=None))
    assert np.frombuffer(unmasked.canonical([hole])[0], np.int32).tolist() == [2, 5, 1, 8, 3]
    masked = of_model(tiny(), tokenizer(), mask="bad")
    assert masked.canonical([hole]) == masked.canonical([Text.of("a bad film")])


def test_scores_come_straight_from_keys(target: SequenceClassifier) -> None:
    keys = target.canonical(ITEMS)
    assert (target.canonical_scores(keys) == target.scores(ITEMS)).all()
    assert (target.canonical_scores(keys[::-1]) == target.scores(ITEMS)[::-1]).all()


def test_batches_are_sorted_and_limited(target: SequenceClassifier) -> None:
    keys = target.canonical(ITEMS * 3)
    batches = list(target.tokenizer.batches(keys, 24))
    assert sorted(row for rows, _ in batches for row in rows) == list(range(15))
    widths = [arrays["input_ids"].shape for _, arrays in batches]
    assert all(height * width <= 24 for height, width in widths)
    assert [width for _, width in widths] == sorted(width for _, width in widths)


def test_a_batch_of_many_lengths_gives_what_single_texts_give(target: SequenceClassifier) -> None:
    items = [Text.of(" ".join(WORDS[:n])) for n in range(1, 13)] * 2
    score = target.scores(items)
    alone = np.concatenate([target.scores([item]) for item in items])
    # Padding changes the last digits of float32: measured 1.03e-6 here.
    assert score == pytest.approx(alone, abs=3e-6)


def test_long_texts_are_cut_to_what_the_model_takes(target: SequenceClassifier) -> None:
    long = Text.of("good " * 500)
    (key,) = target.canonical([long])
    assert len(key) // 4 == 16
    assert target.scores([long]) == pytest.approx(expected(tiny(), ["good " * 500]), abs=1e-6)
    boundless = of_model(tiny(), tokenizer(model_max_length=10**30))
    assert len(boundless.canonical([long])[0]) // 4 == 32


def test_two_threads_give_the_same_scores(target: SequenceClassifier) -> None:
    alone = target.scores(ITEMS)
    with ThreadPoolExecutor(2) as threads:
        for score in threads.map(lambda _: target.scores(ITEMS), range(8)):
            assert (score == alone).all()


def test_cores_are_shared_and_given_back() -> None:
    before = torch.get_num_threads()
    target = of_model(tiny(), tokenizer())
    assert target.parallel * torch.get_num_threads() >= 1
    torch.set_num_threads(1)
    target.close()
    assert torch.get_num_threads() == before


def test_the_fingerprint_is_that_of_weights_tokenizer_and_labels(
    folder: Path, target: SequenceClassifier, tmp_path: Path
) -> None:
    copy = edited(folder, tmp_path / "copy")
    assert load(copy).fingerprint == target.fingerprint == load(copy, labels=None).fingerprint
    others = [
        of_model(tiny(seed=1), tokenizer()),
        of_model(tiny(), tokenizer(model_max_length=8)),
        of_model(tiny(id2label={0: "a", 1: "b", 2: "c"}), tokenizer()),
    ]
    assert len({target.fingerprint, *(other.fingerprint for other in others)}) == 4


def test_a_folder_is_a_target_by_its_path(folder: Path) -> None:
    assert as_target(str(folder)).labels == as_target(f"hf:{folder}").labels
    with pytest.raises(UsageError, match="--scores 'prob' for a transformers classifier"):
        as_target(folder, scores="prob")


def test_numbered_labels_need_names(folder: Path, tmp_path: Path) -> None:
    position = edited(
        folder,
        tmp_path / "unnamed",
        id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
        label2id={"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
    )
    unnamed = load(position)
    with pytest.raises(UsageError, match="LABEL_0"):
        match_labels(["neg", "pos"], unnamed.labels)
    assert match_labels(["neg", "pos"], unnamed.labels, "neg=LABEL_0,pos=LABEL_2")["pos"] == 2
    assert load(position, labels="neg,neutral,pos").labels == ("neg", "neutral", "pos")


def test_an_encoder_without_a_head_is_refused(tmp_path: Path) -> None:
    tiny().bert.save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    with pytest.raises(UsageError, match=r"classifier\.(bias|weight)"):
        load(str(tmp_path))


def test_multi_label_and_regression_heads_are_refused_by_name(folder: Path, tmp_path: Path) -> None:
    multi = edited(folder, tmp_path / "multi", problem_type="multi_label_classification")
    with pytest.raises(UsageError, match="multi-label"):
        load(multi)
    for n, changes in enumerate(
        ({"problem_type": "regression"}, {"id2label": {"0": "score"}, "label2id": {"score": 0}})
    ):
        with pytest.raises(UsageError, match="regression head"):
            load(edited(folder, tmp_path / f"regression{n}", **changes))


def test_pickled_weights_are_refused(folder: Path, tmp_path: Path) -> None:
    position = Path(edited(folder, tmp_path / "pickled"))
    torch.save(tiny().state_dict(), position / "pytorch_model.bin")
    (position / "model.safetensors").unlink()
    with pytest.raises(UsageError, match="safe_serialization"):
        load(str(position))


def test_what_cannot_be_loaded_says_what_is_expected(folder: Path, tmp_path: Path) -> None:
    position = Path(edited(folder, tmp_path / "broken"))
    (position / "config.json").write_text("{}")
    with pytest.raises(UsageError, match=r"Expected a folder with config\.json"):
        load(str(position))
    with pytest.raises(UsageError, match="no folder"):
        load(f"hf:{tmp_path}/absent")
    with pytest.raises(UsageError, match="cannot be used"):
        load(str(folder), device="nonsense")


def test_three_fields_are_too_many(target: SequenceClassifier) -> None:
    with pytest.raises(UsageError, match="a, b, c"):
        target.scores([Text.of({"a": "x", "b": "y", "c": "z"})])


def test_a_model_without_padding_reads_texts_of_one_length_together() -> None:
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=32, n_positions=32, n_embd=16, n_layer=1, n_head=2, num_labels=2
    )
    model = transformers.GPT2ForSequenceClassification(config)
    target = of_model(model, tokenizer(framed=False, pad_token=None, mask_token=None))
    items = [item for item in ITEMS if len(item)] * 2
    alone = np.concatenate([target.scores([item]) for item in items])
    assert target.scores(items) == pytest.approx(alone, abs=1e-6)
    with pytest.raises(TargetError, match="empty text"):
        target.scores([Text.of("")])


def test_a_live_pipeline_is_a_target() -> None:
    live = transformers.pipeline("text-classification", model=tiny(), tokenizer=tokenizer())
    assert as_target(live).scores(ITEMS) == pytest.approx(expected(tiny(), SENTENCES), abs=ROUNDING)


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_a_live_model_is_left_as_it_is(kind: str) -> None:
    model = tiny().to(getattr(torch, kind))
    live = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer())
    config, threads = model.config.to_dict(), torch.get_num_threads()
    target = as_target(live)
    assert target.scores(ITEMS) == pytest.approx(expected(tiny(), SENTENCES), abs=0.05)
    target.close()  # type: ignore[attr-defined]
    assert torch.get_num_threads() == threads
    assert (str(model.dtype), str(model.device)) == (f"torch.{kind}", "cpu")
    assert live.model is model and model.config.to_dict() == config
    assert (target.fingerprint == of_model(tiny(), tokenizer()).fingerprint) == (kind == "float32")


def test_a_padding_token_of_the_model_is_kept() -> None:
    options = {"vocab_size": 32, "n_positions": 32, "n_embd": 16, "n_layer": 1, "n_head": 2}
    for before, after in ((None, -1), (7, 7)):
        config = transformers.GPT2Config(**options, num_labels=2, pad_token_id=before)
        model = transformers.GPT2ForSequenceClassification(config)
        of_model(model, tokenizer(framed=False, pad_token=None, mask_token=None)).close()
        assert model.config.pad_token_id == after


def test_loading_says_nothing(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load(str(folder))
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""
