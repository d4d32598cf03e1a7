"""Folders of transformers models with damaged files: exit 2 with a remedy, never a traceback."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from brittle.cli import main  # noqa: E402
from brittle.errors import UsageError  # noqa: E402
from brittle.opening import as_target  # noqa: E402
from targets.transformers import test_classifier as classifiers  # noqa: E402
from targets.translators import test_seq2seq as translators  # noqa: E402

WEIGHTS = "model.safetensors"
Damage = Callable[[bytes], bytes]


@pytest.fixture(scope="module", params=["classifier", "seq2seq"])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param) / "model"
    parts = (classifiers.tiny(), classifiers.tokenizer())
    for part in parts if request.param == "classifier" else translators.parts():
        part.save_pretrained(folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "model"))


def header_bytes(content: bytes) -> int:
    return 8 + int.from_bytes(content[:8], "little")


def with_header(change: Callable[[dict[str, Any]], object]) -> Damage:
    """Return what changes the header of weights, and leaves the numbers as they are."""

    def damage(content: bytes) -> bytes:
        end = header_bytes(content)
        header = json.loads(content[8:end])
        change(header)
        written = json.dumps(header).encode()
        return len(written).to_bytes(8, "little") + written + content[end:]

    return damage


def with_tensors(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Damage:
    """Return what writes other weights, in a file that is fine."""

    def damage(content: bytes) -> bytes:
        from safetensors.numpy import load, save

        return bytes(save(change(load(content)), metadata={"format": "pt"}))

    return damage


def first(header: dict[str, Any]) -> dict[str, Any]:
    return next(tensor for name, tensor in header.items() if name != "__metadata__")


def length(value: int) -> Damage:
    return lambda content: value.to_bytes(8, "little") + content[8:]


def no_embeddings(tensors: dict[str, Any]) -> dict[str, Any]:
    return {
        name: t
        for name, t in tensors.items()
        if "embed_positions" not in name and "word_embeddings" not in name
    }


DAMAGED: dict[str, Damage] = {
    "empty": lambda content: b"",
    "one byte": lambda content: content[:1],
    "the length alone": lambda content: content[:8],
    "half a header": lambda content: content[: header_bytes(content) // 2],
    "a header alone": lambda content: content[: header_bytes(content)],
    "half": lambda content: content[: len(content) // 2],
    "without its last byte": lambda content: content[:-1],
    "longer": lambda content: content + b"more",
    "header of no bytes": length(0),
    "header of one byte": length(1),
    "header of a terabyte": length(1 << 40),
    "header without end": length((1 << 64) - 1),
    "garbage": lambda content: np.random.default_rng(0).bytes(len(content)),
    "garbage after the length": lambda content: content[:8] + b"\xff" * (len(content) - 8),
    "a pickle": lambda content: b"\x80\x04\x95" + content,
    "an archive": lambda content: b"PK\x03\x04" + content,
    "deep": lambda content: (10_000).to_bytes(8, "little") + b"[" * 10_000 + content,
    "an unknown type": with_header(lambda header: first(header).update(dtype="F3")),
    "another type": with_header(lambda header: first(header).update(dtype="I8")),
    "another shape": with_header(lambda header: first(header).update(shape=[1, 2, 3])),
    "a negative shape": with_header(lambda header: first(header).update(shape=[-1])),
    "another place": with_header(lambda header: first(header).update(data_offsets=[0, 1 << 50])),
    "no tensor": with_header(lambda header: [header.pop(name) for name in [*header]]),
    "whole numbers": with_tensors(lambda t: {n: v.astype(np.int8) for n, v in t.items()}),
    "yes and no": with_tensors(lambda t: {n: v > 0 for n, v in t.items()}),
    "a tensor missing": with_tensors(no_embeddings),
    "turned tensors": with_tensors(lambda t: {n: np.ascontiguousarray(v.T) for n, v in t.items()}),
    "none of its tensors": with_tensors(lambda t: {"other": np.zeros(3, np.float32)}),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_weights_are_told(folder: Path, name: str) -> None:
    weights = folder / WEIGHTS
    weights.write_bytes(DAMAGED[name](weights.read_bytes()))
    with pytest.raises(UsageError, match=r"model") as error:
        as_target(str(folder), device="cpu")
    assert str(folder) in str(error.value)
    assert any(word in str(error.value) for word in ("again", "Expected", "Restore", "Fine-tune"))


JSON_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json")
OTHER_JSON = [b"", b"[]", b"null", b"3", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"a": ', b"\0" * 40]


@pytest.mark.parametrize("name", JSON_FILES)
def test_other_damaged_files_are_told(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    for damaged in (*OTHER_JSON, content[: len(content) // 2], content[:-2]):
        (folder / name).write_bytes(damaged)
        with pytest.raises(UsageError, match=r"cannot be loaded.*copy or download it"):
            as_target(str(folder), device="cpu")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_hidden_layers": 10**9, "encoder_layers": 10**9}, "asks for far more weights than"),
        ({"vocab_size": 10**9}, "asks for far more weights than"),
        ({"hidden_size": 10**6, "d_model": 10**6}, "asks for far more weights than"),
        ({"hidden_size": None, "d_model": None}, "cannot be loaded"),
        ({"hidden_size": "wide", "d_model": "wide"}, "cannot be loaded"),
        ({"architectures": 3, "model_type": 3}, "cannot be loaded"),
    ],
)
def test_a_configuration_of_another_model_is_told(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | changes), "utf-8")
    with pytest.raises(UsageError, match=message):
        as_target(str(folder), device="cpu")


def test_a_beam_without_end_is_told(tmp_path: Path) -> None:
    for part in translators.parts(beams=10**6):
        part.save_pretrained(tmp_path)
    with pytest.raises(UsageError, match=r"a beam of 1,000,000.*at most 256"):
        as_target(str(tmp_path), device="cpu")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", [WEIGHTS, "tokenizer.json"])
def test_a_pipe_among_the_files_is_told(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(UsageError, match=f"{name} is a named pipe, not a file"):
        as_target(str(folder), device="cpu")


def test_the_command_ends_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for part in (classifiers.tiny(), classifiers.tokenizer()):
        part.save_pretrained(tmp_path / "model")
    (tmp_path / "texts.csv").write_text("text\na good film\n")
    weights = tmp_path / "model" / WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-1])
    assert main(["attack", "model", "pwws", "--data", "texts.csv"]) == 2
    assert "model/model.safetensors is damaged" in capsys.readouterr().err
