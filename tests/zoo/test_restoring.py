"""Cards that ask for more than their weights hold: refused before a network is built."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.errors import UsageError  # noqa: E402
from brittle.zoo import folder as folders  # noqa: E402
from brittle.zoo.bilm import open_bilm  # noqa: E402
from brittle.zoo.folder import Card  # noqa: E402
from brittle.zoo.generators.arae import ARAE, CRITIC  # noqa: E402
from brittle.zoo.generators.folder import open_folder  # noqa: E402
from brittle.zoo.generators.sentences import SPECIAL  # noqa: E402
from brittle.zoo.model import open_model  # noqa: E402
from brittle.zoo.names import grid  # noqa: E402
from brittle.zoo.networks import LanguageModel  # noqa: E402
from brittle.zoo.networks import build as build_network  # noqa: E402
from brittle.zoo.pictures import build as build_on_pictures  # noqa: E402
from brittle.zoo.restoring import MAX_LAYERS, restore_weights  # noqa: E402
from brittle.zoo.seq2seq.model import open_translator, write_model  # noqa: E402
from brittle.zoo.seq2seq.network import build_network as build_translator  # noqa: E402
from brittle.zoo.seq2seq.pieces import Pieces  # noqa: E402
from brittle.zoo.spellings import UNKNOWN_CHARACTER  # noqa: E402
from brittle.zoo.trees import TreeClassifier  # noqa: E402
from robustness.table import peak_mb  # noqa: E402
from zoo.generators.folders import random_folder  # noqa: E402

WORDS = ["<pad>", "<unknown>", "good", "bad", "film"]
ALPHABET = list("abdfgilmo")
CHARACTERS = len(ALPHABET) + UNKNOWN_CHARACTER + 1
SHAPE, LABELS = (12, 12, 1), ("no", "yes")
HUGE = 9_000  # units of a layer, which then has 81 million weights or more


def write_folder(
    path: Path,
    name: str,
    network: Any,
    settings: Any,
    parts: dict[str, Any] | None = None,
    words: list[str] = WORDS,
) -> Path:
    """Write the folder of a network with random weights."""
    design = grid.design(name)
    path.mkdir()
    tensors = {
        key: tensor.numpy()
        for key, tensor in network.state_dict().items()
        if not key.startswith(CRITIC)
    }
    folders.write_tensors(path / folders.WEIGHTS_FILE, tensors)
    folders.write_words(path / folders.VOCABULARY_FILE, words)
    folders.write_words(path / folders.ALPHABET_FILE, ALPHABET)
    write_card(path, name, design.kind, settings, parts or dict(design.parts))
    return path


def write_card(path: Path, name: str, kind: str, settings: Any, parts: dict[str, Any]) -> None:
    about = ("toy", 0, "tiny", LABELS, ("text",), parts, grid.as_json(settings), None, 1, 1)
    folders.write_card(path, Card(name, kind, *about, "", "", 0.0, {}), "# A model\n")


def tiny(name: str, **changed: Any) -> Any:
    return grid.settings(grid.design(name), "tiny", **changed)


def network(path: Path, name: str) -> Path:
    settings, parts = tiny(name), grid.design(name).parts
    built = build_network(parts, settings, len(WORDS), CHARACTERS, len(LABELS))
    return write_folder(path, name, built, settings)


def tree(path: Path, name: str) -> Path:
    settings, parts = tiny(name), grid.design(name).parts
    return write_folder(path, name, TreeClassifier(parts, settings, len(WORDS), 2), settings)


def on_pictures(path: Path, name: str) -> Path:
    built = build_on_pictures(name, tiny(name), SHAPE, len(LABELS))
    return write_folder(path, name, built, tiny(name), {"shape": list(SHAPE)})


def sentences(path: Path, name: str, encoder: str) -> Path:
    settings, words = tiny(name, encoder=encoder), [*SPECIAL, *WORDS[2:]]
    parts = {"item_kind": "text", "capital": True, "closing": "."}
    return write_folder(path, name, ARAE(settings, len(words)), settings, parts, words)


def language_model(path: Path, name: str) -> Path:
    built = LanguageModel(tiny(name), 40, CHARACTERS)
    return write_folder(path, name, built, tiny(name))


def translator(path: Path, name: str) -> Path:
    settings, parts = tiny(name), dict(grid.design(name).parts)
    pieces = Pieces.learn(["a good film", "ein guter Film"] * 9, 60, 1)
    path.mkdir()
    write_model(path, build_translator(parts["encoder"], settings, len(pieces)), pieces, WORDS)
    write_card(path, name, grid.design(name).kind, settings, parts)
    return path


def generator_of_pictures(path: Path, name: str) -> Path:
    return random_folder(path, name=name, shape=(16, 16, 1))


FOLDERS: dict[str, tuple[Callable[[Path], Path], list[str]]] = {
    "Average-W-Random": (lambda p: network(p, "Average-W-Random"), ["embedding"]),
    "LSTM-W-Random-1": (lambda p: network(p, "LSTM-W-Random-1"), ["hidden"]),
    "BiLSTM-WC-Random-1": (lambda p: network(p, "BiLSTM-WC-Random-1"), ["hidden", "char_filters"]),
    "Kim-CNN": (lambda p: network(p, "Kim-CNN"), ["filters", "embedding"]),
    "Transformer-W-Random-1": (lambda p: network(p, "Transformer-W-Random-1"), ["hidden"]),
    "CharCNN-LSTM": (lambda p: network(p, "CharCNN-LSTM"), ["hidden", "char_filters"]),
    "TreeLSTM-W-Random-pair": (lambda p: tree(p, "TreeLSTM-W-Random-pair"), ["hidden"]),
    "MLP": (lambda p: on_pictures(p, "MLP"), ["hidden"]),
    "LeNet": (lambda p: on_pictures(p, "LeNet"), ["hidden"]),
    "WGAN": (lambda p: generator_of_pictures(p, "WGAN"), ["latent", "channels"]),
    "WGAN-residual": (lambda p: generator_of_pictures(p, "WGAN-residual"), ["channels"]),
    "ARAE": (lambda p: sentences(p, "ARAE", "lstm"), ["hidden"]),
    "ARAE of a CNN": (lambda p: sentences(p, "ARAE", "cnn"), ["hidden", "latent"]),
    "biLM": (lambda p: language_model(p, "biLM"), ["hidden"]),
    "seq2seq-LSTM": (lambda p: translator(p, "seq2seq-LSTM"), ["hidden"]),
    "seq2seq-Transformer": (lambda p: translator(p, "seq2seq-Transformer"), ["feed_forward"]),
}


def opened(folder: Path) -> Any:
    """Open a folder of any kind."""
    kind = folders.load_card(folder).kind
    if kind == "generator":
        return open_folder(folder, "cpu")
    if kind == "language model":
        return open_bilm(folder, "cpu")
    return open_translator(folder, "cpu") if kind == "translator" else open_model(folder, "cpu")


def edit(folder: Path, **settings: Any) -> None:
    """Change settings on a card; "layers" of a network is one of its parts."""
    content = json.loads((folder / folders.CARD_FILE).read_text("utf-8"))
    for name, value in settings.items():
        where = content["settings"] if name in content["settings"] else content["parts"]
        assert name in where, name
        where[name] = value
    (folder / folders.CARD_FILE).write_text(json.dumps(content), "utf-8")


OPEN = """
import sys
from pathlib import Path
from brittle.errors import UsageError
sys.path.insert(0, sys.argv[1])
from zoo.test_restoring import opened
for folder in sys.argv[2:]:
    try:
        opened(Path(folder))
    except UsageError as error:
        if "tensors are missing, unknown or of another shape" in str(error):
            continue
        raise
    sys.exit(f"{folder} was opened")
"""


@pytest.mark.slow
def test_what_asks_for_more_than_its_weights_is_never_built(tmp_path: Path) -> None:
    hostile = []
    for number, (write, settings) in enumerate(FOLDERS.values()):
        for name in settings:
            folder = write(tmp_path / f"{number}-{name}")
            edit(folder, **{name: HUGE})
            hostile.append(str(folder))
    start = [sys.executable, "-c", OPEN, str(Path(__file__).parents[1])]
    nothing, everything = peak_mb(start, tmp_path), peak_mb([*start, *hostile], tmp_path)
    assert everything < nothing + 150, (nothing, everything)


@pytest.mark.parametrize(
    "name", [n for n in FOLDERS if n != "TreeLSTM-W-Random-pair"]
)  # which needs a parser
def test_a_card_that_fits_its_weights_is_opened(tmp_path: Path, name: str) -> None:
    write, _ = FOLDERS[name]
    model = opened(write(tmp_path / "model"))
    for part in (model[1] if isinstance(model, tuple) else model,):
        if hasattr(part, "close"):
            part.close()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("LSTM-W-Random-1", {"layers": 10**9}),
        ("Kim-CNN", {"widths": [3] * (MAX_LAYERS + 1)}),
        ("CharCNN-LSTM", {"highways": 10**9}),
        ("CharCNN-LSTM", {"max_word_length": 10**9}),
        ("biLM", {"highways": 10**9}),
        ("seq2seq-LSTM", {"layers": 10**9}),
        ("seq2seq-Transformer", {"layers": 10**9}),
        ("ARAE", {"layers": [8] * 10**5}),
        ("ARAE", {"max_length": 10**9}),
        ("LSTM-W-Random-1", {"hidden": 10**30}),
        ("LSTM-W-Random-1", {"hidden": "8"}),
        ("LSTM-W-Random-1", {"widths": None}),
        ("MLP", {"shape": [10**6, 10**6, 4]}),
        ("WGAN", {"shape": [10**6, 10**6, 4]}),
    ],
)
def test_other_settings_without_end_are_refused(
    tmp_path: Path, name: str, settings: dict[str, Any]
) -> None:
    write, _ = FOLDERS[name]
    folder = write(tmp_path / "model")
    edit(folder, **settings)
    with pytest.raises(UsageError, match=r"(do not fit|asked for|at most)"):
        opened(folder)


def linear() -> Any:
    return torch.nn.Linear(3, 2)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        (
            {"weight": np.zeros((2, 3))},
            "shape: 1, such as 'bias' .expected 2 .float32., got none",
        ),
        ({"weight": np.zeros((3, 2)), "bias": np.zeros(2)}, "expected 2 × 3 .*, got 3 × 2"),
        ({"weight": np.zeros((2, 3), np.int8), "bias": np.zeros(2)}, r"got 2 × 3 \(int8\)"),
        (
            {"weight": np.zeros((2, 3)), "bias": np.zeros(2), "more": np.zeros(1)},
            "such as 'more' .expected none",
        ),
    ],
)
def test_weights_that_do_not_fit_are_told(tensors: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        restore_weights(linear, tensors)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_weights_of_any_precision_are_loaded(dtype: Any) -> None:
    tensors = {"weight": np.full((2, 3), 0.5, dtype), "bias": np.array([1, 2], dtype)}
    network = restore_weights(linear, tensors)
    assert network.weight.dtype == torch.float32 and network(torch.ones(3)).tolist() == [2.5, 3.5]
