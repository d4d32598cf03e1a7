"""The grid: all combinations of its parts are there, and each has settings."""

from __future__ import annotations

import json
from itertools import product

import pytest

from brittle.errors import UsageError
from brittle.zoo.names import grid
from brittle.zoo.names.settings import GLOVE_SIZE, NetworkSettings
from brittle.zoo.names.sizes import SIZES

NAMED = ["naive-bayes", "linear-svm", *grid.NAMED, *grid.ENCODER_MODELS, "biLM"]
NAMED += ["seq2seq-LSTM", "seq2seq-Transformer", *grid.PICTURE_MODELS, *grid.GENERATORS]
NAMED += [f"TreeLSTM-W-{vectors}-{pair}" for vectors in ("Random", "GloVe") for pair in grid.PAIRS]


def test_names_are_made_of_parts_and_none_is_there_twice() -> None:
    names = [design.name for design in grid.designs()]
    assert names[: len(NAMED)] == NAMED
    assert len({name.lower() for name in names}) == len(names)
    # Words with four kinds of vectors, characters with one, both with these four and ELMo; four
    # heads each, but an average has the mean alone; one sequence, or the two sides of a pair joined
    # in two ways.
    layers = sum(len(layers) for name, layers in grid.LAYERS.items() if name != "Average")
    assert len(names) == len(NAMED) + (layers * 4 + 1) * (4 + 1 + 5) * 3
    pool = [
        f"{encoder}-{read}-{layers}"
        for encoder in ("LSTM", "BiLSTM", "CNN")
        for read in ("W-Random", "W-GloVe", "W-word2vec", "W-fastText", "C-Random", "WC-ELMo")
        for layers in grid.LAYERS[encoder]
    ]
    assert set(pool) < set(names)
    assert not {"LSTM-W-ELMo-1", "LSTM-C-ELMo-1"} & set(names)


def test_every_design_has_parts_of_the_tables() -> None:
    tables = {
        "encoder": grid.ENCODER_NAMES,
        "input": grid.INPUTS,
        "embedding": grid.EMBEDDINGS,
        "head": grid.HEAD_NAMES,
        "pair": grid.PAIRS,
    }
    for design in grid.designs():
        if design.kind == "network":
            parts = {"pair": "pair", **design.parts}  # a network of one sequence has no such part
            assert all(parts[part] in table for part, table in tables.items())
            assert design.parts["layers"] in grid.LAYERS[str(design.parts["encoder"])]


def test_what_is_built_is_what_is_declared() -> None:
    pytest.importorskip("torch")
    from brittle.zoo.layers import ENCODERS, HEADS

    assert list(ENCODERS) == list(grid.ENCODER_NAMES) and list(HEADS) == list(grid.HEAD_NAMES)


@pytest.mark.parametrize("name", [*NAMED, "LSTM-W-Random-1", "CNN-WC-GloVe-6-attention"])
def test_names_are_found_in_any_case_and_have_settings_in_json(name: str) -> None:
    design = grid.design(name.upper())
    assert design.name == name and design.about
    for size in SIZES:
        settings = grid.as_json(grid.settings(design, size))
        assert json.loads(json.dumps(settings)) == settings


def test_the_parts_of_a_name() -> None:
    parts = {"encoder": "LSTM", "input": "W", "embedding": "Random", "layers": 1}
    assert grid.design("lstm-w-random-1").parts == {**parts, "head": "last"}
    assert grid.design("lstm-w-random-1-max").parts == {**parts, "head": "max"}
    paired = {**parts, "head": "max", "pair": "pair-plain"}
    assert grid.design("LSTM-W-Random-1-max-pair-plain").parts == paired
    average = {**parts, "encoder": "Average", "layers": 0, "head": "mean"}
    assert grid.design("Average-W-Random").parts == average
    assert grid.design("average-w-random-pair").parts == {**average, "pair": "pair"}
    kim = grid.design("CharCNN-LSTM")
    assert kim.parts == {**parts, "input": "C", "layers": 2, "head": "last"}
    assert "Kim et al. (2016)" in kim.about and "the characters of each word" in kim.about


@pytest.mark.parametrize(
    "name",
    [
        "LSTM-W-Random-3",
        "GRU-W-Random-1",
        "",
        "LSTM",
        "LSTM-C-GloVe-1",
        "CNN-W-Random-1-max",
        "Average-W-Random-max",
        "LSTM-W-Random-1-plain",
    ],
)
def test_a_name_that_is_not_built_is_unknown(name: str) -> None:
    with pytest.raises(UsageError, match=f"Unknown model '{name}'"):
        grid.design(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("naive-bays", "naive-bayes"),
        ("LSTM-W-Glove-3", "LSTM-W-GloVe-4"),
        ("charcnnlstm", "CharCNN-LSTM"),
    ],
)
def test_a_near_name_is_suggested(name: str, meant: str) -> None:
    with pytest.raises(UsageError, match=rf"Did you mean '{meant}'\?") as error:
        grid.design(name)
    assert len(str(error.value)) < 200


def test_a_name_far_from_all_does_not_print_the_whole_grid() -> None:
    with pytest.raises(UsageError, match="brittle list models") as error:
        grid.design("gpt")
    assert len(str(error.value)) < 650


def test_sizes() -> None:
    with pytest.raises(UsageError, match=r"Unknown size 'huge'.*default, tiny, paper"):
        grid.settings(grid.design("naive-bayes"), "huge")
    paper = grid.settings(grid.design("CharCNN-LSTM"), "paper")
    assert isinstance(paper, NetworkSettings)
    assert (paper.char_filters, paper.hidden, paper.character_window) == (1000, 500, 6)
    assert (paper.character_embedding, paper.optimizer, paper.batch_size) == (25, "sgd", 64)
    lstm = grid.settings(grid.design("LSTM-W-GloVe-1"), "paper")
    assert isinstance(lstm, NetworkSettings)
    assert (lstm.hidden, lstm.embedding, lstm.dropout) == (64, 50, 0.25)
    assert (lstm.batch_size, lstm.max_length, lstm.optimizer) == (24, 250, "adam")


def test_deep_lstms_have_settings_of_their_own() -> None:
    rates = {
        layers: grid.as_json(grid.settings(grid.design(f"BiLSTM-WC-GloVe-{layers}-max")))[
            "learning_rate"
        ]
        for layers in grid.LAYERS["BiLSTM"]
    }
    assert rates[1] == rates[2] > rates[4]


def test_pairs_have_settings_of_their_own() -> None:
    rates = {
        name: grid.as_json(grid.settings(grid.design(name)))["word_dropout"]
        for name in ("BiLSTM-W-GloVe-1", "BiLSTM-W-GloVe-1-pair", "Average-C-Random-pair-plain")
    }
    assert list(rates.values()) == [0.3, 0.1, 0.1]


def test_glove_is_as_wide_as_it_is() -> None:
    for name, size in product(("CNN-W-GloVe-1", "Kim-CNN"), SIZES):
        settings = grid.settings(grid.design(name), size)
        assert isinstance(settings, NetworkSettings) and settings.embedding == GLOVE_SIZE
    with pytest.raises(UsageError, match=r"GloVe vectors of 50 numbers.* embedding is 100"):
        grid.settings(grid.design("Kim-CNN"), embedding=100)


def test_heads_divide_the_hidden_size() -> None:
    with pytest.raises(UsageError, match="30 is not a multiple of 4"):
        grid.settings(grid.design("Transformer"), hidden=30)


def test_changed_settings_are_those_that_differ() -> None:
    design = grid.design("LSTM-W-Random-1")
    settings = grid.parse_settings(design, "default", ["hidden=64", "widths=2,3", "batch=64"])
    assert grid.changed_settings(design, "default", settings) == {"hidden": 64, "widths": [2, 3]}
    assert grid.settings(design, hidden=64, widths=[2, 3]) == settings
