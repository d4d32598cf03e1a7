from __future__ import annotations

import json

import pytest

from brittle.errors import UsageError
from brittle.zoo import grid

NAMES = ["naive-bayes", "linear-svm", "LSTM-W-Random-1", "CNN-W-Random-1", "MiniLM"]


def test_the_names_of_the_grid() -> None:
    assert [design.name for design in grid.designs()] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_names_are_found_in_any_case_and_have_settings_in_json(name: str) -> None:
    design = grid.design(name.upper())
    assert design.name == name and design.about
    for size in grid.SIZES:
        settings = grid.plain(grid.settings(design, size))
        assert json.loads(json.dumps(settings)) == settings


def test_the_parts_of_a_name() -> None:
    parts = grid.design("lstm-w-random-1").parts
    assert parts == {"architecture": "LSTM", "input": "W", "embedding": "Random", "layers": 1}


@pytest.mark.parametrize("name", ["LSTM-W-Random-2", "GRU-W-Random-1", "", "LSTM"])
def test_a_name_that_is_not_built_is_unknown(name: str) -> None:
    with pytest.raises(UsageError, match=f"Unknown model '{name}'"):
        grid.design(name)


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(UsageError, match="Did you mean 'naive-bayes'"):
        grid.design("naive-bays")


def test_an_unknown_size() -> None:
    with pytest.raises(UsageError, match=r"Unknown size 'huge'.*default, tiny"):
        grid.settings(grid.design("naive-bayes"), "huge")
