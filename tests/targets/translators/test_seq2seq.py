"""Tiny random seq2seq models: folders, live pipelines, equal translations in every batch."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from brittle.engine.broker import Broker  # noqa: E402
from brittle.errors import UsageError  # noqa: E402
from brittle.opening import as_target  # noqa: E402
from brittle.targets.capabilities import answers_of, make_desks  # noqa: E402
from brittle.targets.transformers.seq2seq import Seq2Seq  # noqa: E402
from brittle.text import Text  # noqa: E402
from targets import tiny  # noqa: E402

TEXTS = [
    Text.of(text)
    for text in ("a good film", "", "the bad story was not good", "a bad film", "the film")
]
SHAPE = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 16,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "decoder_start_token_id": 3,
    "forced_eos_token_id": 3,
    "init_std": 0.5,
}


def parts(beams: int = 1, **options: Any) -> tuple[Any, Any]:
    torch.manual_seed(0)
    tokenizer = tiny.wrapped(tiny.wordpiece(), 40, eos_token="[SEP]", bos_token="[CLS]")
    config = transformers.BartConfig(vocab_size=len(tokenizer), **SHAPE | options)
    model = transformers.BartForConditionalGeneration(config)
    model.generation_config.num_beams = beams
    return model, tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bart")
    for part in parts(beams=2):
        part.save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_a_folder_translates_alike_in_every_batch(folder: Path) -> None:
    target: Any = as_target(folder, device="cpu")
    assert isinstance(target, Seq2Seq) and answers_of(target).noun == "texts"
    assert target.model.generation_config.num_beams == 2 and target.labels == ()
    together = target.translate(TEXTS)
    assert together == [target.translate([text])[0] for text in TEXTS]
    broker = Broker(make_desks(target), batch=2)
    assert broker.answer("answer", TEXTS) == (together, {})
    broker.close()
    assert len(set(together)) > 3
    copy = as_target(folder, device="cpu", name="copy")
    assert copy.fingerprint == target.fingerprint
    target.close(), copy.close()


@pytest.mark.parametrize("positions", [16, 80])
def test_a_live_pipeline_is_greedy_and_its_length_is_bounded(positions: int) -> None:
    model, tokenizer = parts(max_position_embeddings=positions)
    # Without the token that ends a text, only the bound ends it.
    model.generation_config.eos_token_id = model.generation_config.forced_eos_token_id = None
    target: Any = as_target(SimpleNamespace(model=model, tokenizer=tokenizer), name="live")
    source = tokenizer("a good film")["input_ids"]
    limit = min(2 * len(source) + 50, positions - 1)
    (text,) = target.translate(TEXTS[:1])
    with torch.inference_mode():
        row = model.generate(
            torch.tensor([source]), do_sample=False, num_beams=1, max_new_tokens=limit
        )
    assert row.shape[1] == limit + 1
    assert text == tokenizer.batch_decode(row, skip_special_tokens=True)[0]
    target.close()


def test_it_knows_what_its_tokens_can_spell() -> None:
    model, tokenizer = parts()
    target: Any = as_target(SimpleNamespace(model=model, tokenizer=tokenizer), name="live")
    assert target.can_write("good") and target.can_write("a good film")
    assert not target.can_write("東京") and not target.can_write("a 東京 film")
    target.close()


def test_what_is_refused(folder: Path, tmp_path: Path) -> None:
    for options in ({"labels": "a,b"}, {"scores": "logits"}):
        with pytest.raises(UsageError, match="no labels and no scores"):
            as_target(folder, **options)
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (bare / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(UsageError, match=r"has no \.safetensors weights"):
        as_target(bare)
    with pytest.raises(UsageError, match="reads one text, but the data has the fields"):
        as_target(folder).translate([Text.of({"premise": "a", "hypothesis": "b"})])


def test_a_classifier_is_no_seq2seq_model_though_it_has_an_encoder_and_a_decoder(
    tmp_path: Path,
) -> None:
    _, tokenizer = parts()
    config = transformers.BartConfig(
        vocab_size=len(tokenizer), id2label=tiny.LABELS, num_labels=3, **SHAPE
    )
    transformers.BartForSequenceClassification(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert list(as_target(tmp_path).labels) == list(tiny.LABELS.values())
    with pytest.raises(UsageError, match="but not a seq2seq model"):
        as_target(tmp_path, answers="text")
