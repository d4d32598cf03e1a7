"""Files made to fill the memory, to hang a reader or to start a program: each is refused at once.

Every file is given to the command in a process of its own, which must end with exit code 2 and a
message of ours, below 700 MB and within a minute. A program in front of the path stands for
Ghostscript: it leaves a mark if it is started.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hostile.part import Part, measured, timed, verdict
from hostile.workspace import TARGET, write_workspace

MAX_MB, MAX_SECONDS = 700.0, 60
LARGE, COUNT = "a word " * 15_000, 3000
EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 6 5\n%%EndComments\nshowpage\n%%EOF\n"
Write = Callable[[Path], list[str]]
"""Writes a hostile file to a folder; returns the words of the command that reads it."""


def _attack(target: str, data: str, attack: str = "key") -> list[str]:
    return ["attack", target, attack, "--data", data, "--limit", "2", "--quiet", "--new"]


def _parquet(make: Callable[[Any, Any], Any], keeps_types: bool = True) -> Write:
    """Write a column of 3,000 texts of 100 kB, in which one text is stored once."""

    def write(folder: Path) -> list[str]:
        import pyarrow
        from pyarrow import parquet

        repeated = pyarrow.DictionaryArray.from_arrays(
            np.zeros(COUNT, np.int32), pyarrow.array([LARGE])
        )
        columns = make(pyarrow, repeated)
        options = {"compression": "zstd", "store_schema": keeps_types}
        parquet.write_table(pyarrow.table(columns), folder / "bomb.parquet", **options)
        return _attack(TARGET, "bomb.parquet")

    return write


def _lists(arrow: Any, repeated: Any) -> Any:
    offsets = np.arange(COUNT + 1, dtype=np.int32)
    return {"text": ["a"] * COUNT, "more": arrow.ListArray.from_arrays(offsets, repeated)}


def _one_row(arrow: Any, repeated: Any) -> Any:
    return {"text": ["a"], "more": arrow.ListArray.from_arrays([0, COUNT], repeated)}


def _gzip_bomb(folder: Path) -> list[str]:
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(b"text\n" + b"a\n" * (1 << 27), 9))
    return _attack(TARGET, "bomb.csv.gz")


def _pipe(name: str) -> Write:
    def write(folder: Path) -> list[str]:
        os.mkfifo(folder / name)
        return _attack(name, "films.csv") if name == "pipe.skops" else _attack(TARGET, name)

    return write


def _endless_device(folder: Path) -> list[str]:
    (folder / "endless.csv").symlink_to("/dev/zero")
    return _attack(TARGET, "endless.csv")


def _pictures(change: Callable[[Path, Any], None]) -> Write:
    """Write a folder of four small pictures, and change it."""

    def write(folder: Path) -> list[str]:
        from PIL import Image

        for n, name in enumerate(("cat", "dog", "cat", "dog")):
            (folder / "pictures" / name).mkdir(parents=True, exist_ok=True)
            pixels = (np.arange(36).reshape(6, 6) * (n + 1)).astype(np.uint8)
            Image.fromarray(pixels).save(folder / "pictures" / name / f"{n}.png")
        change(folder / "pictures", Image)
        return _attack(TARGET, "pictures", "noise")

    return write


def _program(folder: Path, image: Any) -> None:
    (folder / "dog" / "1.png").write_bytes(EPS)


def _many_pixels(folder: Path, image: Any) -> None:
    for name in ("cat", "dog"):
        image.new("P", (5792, 5792)).save(folder / name / "large.png")


def _zoo_model(**settings: Any) -> Write:
    """Write an LSTM with random weights whose card asks for other settings."""

    def write(folder: Path) -> list[str]:
        from brittle.zoo.names import grid
        from brittle.zoo.networks import build

        name, words = "LSTM-W-Random-1", ["<pad>", "<unknown>", "good", "bad"]
        design = grid.design(name)
        chosen: Any = grid.settings(design, "tiny")
        network = build(design.parts, chosen, len(words), 0, 2)
        _write_card(folder / "model", name, design, chosen, network, words, settings)
        return _attack("model", "films.csv")

    return write


def _generator(**settings: Any) -> Write:
    """Write a generator of pictures with random weights whose card asks for other settings."""

    def write(folder: Path) -> list[str]:
        from brittle.zoo.generators.networks import build
        from brittle.zoo.names import grid

        design = grid.design("WGAN")
        chosen: Any = grid.settings(design, "tiny")
        networks = build("WGAN", chosen, (12, 12, 1))
        _write_card(folder / "model", "WGAN", design, chosen, networks, [], settings)
        from PIL import Image

        Image.new("L", (12, 12)).save(folder / "picture.png")
        return ["explain", "latent", "model", "picture.png"]

    return write


def _write_card(
    path: Path, name: str, design: Any, chosen: Any, network: Any, words: list[str], settings: Any
) -> None:
    from brittle.zoo import folder as folders
    from brittle.zoo.folder import Card
    from brittle.zoo.names import grid

    path.mkdir()
    tensors = {
        key: tensor.numpy()
        for key, tensor in network.state_dict().items()
        if not key.startswith("critic.")
    }
    folders.write_tensors(path / folders.WEIGHTS_FILE, tensors)
    folders.write_words(path / folders.VOCABULARY_FILE, words)
    parts = {**design.parts, "item_kind": "picture", "shape": [12, 12, 1]}
    parts |= {key: value for key, value in settings.items() if key in parts}
    asked = grid.as_json(chosen) | {k: v for k, v in settings.items() if k not in parts}
    about = ("toy", 0, "tiny", ("negative", "positive"), ("text",), parts, asked, None, 1, 1)
    folders.write_card(path, Card(name, design.kind, *about, "", "", 0.0, {}), "# A model\n")


def _pipe_for_weights(folder: Path) -> list[str]:
    words = _zoo_model()(folder)
    card = json.loads((folder / "model" / "model.json").read_text("utf-8"))
    (folder / "model" / "model.json").write_text(json.dumps(card | {"files": {}}), "utf-8")
    (folder / "model" / "model.safetensors").unlink()
    os.mkfifo(folder / "model" / "model.safetensors")
    return words


def _transformer(name: str, damage: Callable[[bytes], bytes]) -> Write:
    """Write a tiny classifier of the transformers library, and damage one of its files."""

    def write(folder: Path) -> list[str]:
        import transformers
        from tokenizers import Tokenizer, models, pre_tokenizers

        transformers.utils.logging.disable_progress_bar()
        words = {"[UNK]": 0, "good": 1, "bad": 2, "film": 3}
        backend = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
        backend.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=backend, unk_token="[UNK]", pad_token="[UNK]"
        )
        sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
        config = transformers.BertConfig(vocab_size=len(words), intermediate_size=8, **sizes)
        for part in (transformers.BertForSequenceClassification(config), tokenizer):
            part.save_pretrained(folder / "model")
        path = folder / "model" / name
        path.write_bytes(damage(path.read_bytes()))
        return _attack("model", "films.csv")

    return write


def _with_config(**changes: Any) -> Callable[[bytes], bytes]:
    return lambda content: json.dumps(json.loads(content) | changes).encode()


WEIGHTS = "model.safetensors"
PIPE, LARGER, NOT_FITTING = "is a named pipe", "far more than its own size", "do not fit the"
DAMAGED, MORE_ASKED = "is damaged, or not a file of weights", "asks for far more weights"
BOMBS: dict[str, tuple[Write, str]] = {
    "parquet, dictionary": (_parquet(lambda arrow, repeated: {"text": repeated}), LARGER),
    "transformers, cut weights": (_transformer(WEIGHTS, lambda content: content[:-1]), DAMAGED),
    "picture that starts a program": (_pictures(_program), "neither PNG nor JPEG"),
    "pipe as csv": (_pipe("pipe.csv"), PIPE),
    "zoo model, wide": (_zoo_model(hidden=9000), NOT_FITTING),
    "generator, wide": (_generator(channels=2000), NOT_FITTING),
    "pictures, many pixels": (_pictures(_many_pixels), "67,094,672 pixels"),
    "parquet, plain": (
        _parquet(lambda arrow, repeated: {"text": repeated}, keeps_types=False),
        LARGER,
    ),
    "parquet, lists": (_parquet(_lists), LARGER),
    "parquet, one row": (_parquet(_one_row, keeps_types=False), LARGER),
    "gzip": (_gzip_bomb, LARGER),
    "pipe as jsonl": (_pipe("pipe.jsonl"), PIPE),
    "pipe as parquet": (_pipe("pipe.parquet"), PIPE),
    "pipe as npz": (_pipe("pipe.npz"), PIPE),
    "pipe as skops": (_pipe("pipe.skops"), PIPE),
    "pipe as weights": (_pipe_for_weights, PIPE),
    "pipe as picture": (_pictures(lambda folder, image: os.mkfifo(folder / "cat" / "9.png")), PIPE),
    "device as csv": (_endless_device, "is a device"),
    "zoo model, deep": (_zoo_model(layers=10**9), "1,000,000,000 layers"),
    "generator, long points": (_generator(latent=10**8), NOT_FITTING),
    "transformers, no weights": (_transformer(WEIGHTS, lambda content: b""), DAMAGED),
    "transformers, header of a terabyte": (
        _transformer(WEIGHTS, lambda content: (1 << 40).to_bytes(8, "little") + content[8:]),
        DAMAGED,
    ),
    "transformers, garbage": (
        _transformer(WEIGHTS, lambda content: b"\xff" * len(content)),
        DAMAGED,
    ),
    "transformers, half a tokenizer": (
        _transformer("tokenizer.json", lambda content: content[: len(content) // 2]),
        "cannot be loaded",
    ),
    "transformers, deep configuration": (
        _transformer("config.json", lambda content: b"[" * 10**5),
        "cannot be loaded",
    ),
    "transformers, wide": (
        _transformer("config.json", _with_config(hidden_size=10**6)),
        MORE_ASKED,
    ),
    "transformers, many layers": (
        _transformer("config.json", _with_config(num_hidden_layers=10**9)),
        MORE_ASKED,
    ),
}
"""What each of them must be refused with; the most different ones first, which --quick tries."""


def hostile_files(folder: Path, count: int, seed: int) -> Part:
    """Give every file to the command that reads it, in a process of its own."""
    with timed(Part("hostile files", count)) as part:
        for number, (name, (write, says)) in enumerate(list(BOMBS.items())[:count]):
            place = write_workspace(folder / str(number))
            part.check(name, _problem_of(place, write(place), says))
    return part


def _problem_of(folder: Path, words: list[str], says: str) -> str | None:
    mark, programs = folder / "started", folder / "programs"
    programs.mkdir()
    (programs / "gs").write_text(f"#!/bin/sh\ntouch '{mark}'\nexit 1\n", "utf-8")
    (programs / "gs").chmod(0o755)
    code, stderr, peak_mb = measured(words, folder, MAX_SECONDS, [programs])
    if code is None:
        return f"did not end within {MAX_SECONDS} s"
    if mark.exists():
        return "started a program"
    if peak_mb > MAX_MB:
        return f"took {peak_mb:.0f} MB (at most {MAX_MB:.0f})"
    if code != 2 or says not in " ".join(stderr.split()):
        return verdict(code, stderr) or f"exit code {code}: {stderr[-200:]}"
    return verdict(code, stderr)
