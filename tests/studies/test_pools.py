"""Pools: declared, or from a file; what tells their members apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from brittle.errors import UsageError
from brittle.studies.pools import Member, load_pool
from brittle.zoo.names.grid import pool_models


def test_the_63_of_the_paper_are_a_product() -> None:
    names = pool_models("paper")
    assert len(set(names)) == 63
    assert sum(name.startswith("CNN") for name in names) == 24
    assert {"LSTM-W-Random-4", "CNN-C-Random-6", "BiLSTM-WC-ELMo-2"} < set(names)


def test_lines_of_a_file_are_targets_of_any_kind(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    lines = ["# ours", "LSTM-W-GloVe-2", "zoo:CNN-C-Random-1@imdb#3", "http:endpoint.toml", ""]
    file.write_text("\n".join(lines))
    pool = load_pool(f"pool:{file}", "mr", seeds=2)
    assert pool.name == "mine"
    assert pool.members == (
        Member(
            "LSTM-W-GloVe-2",
            "zoo:LSTM-W-GloVe-2@mr#0",
            "zoo:LSTM-W-GloVe-2@mr#1",
            {
                "architecture": "LSTM",
                "input": "W",
                "embedding": "GloVe",
                "layers": 2,
                "reads": "GloVe",
            },
        ),
        Member(
            "CNN-C-Random-1",
            "zoo:CNN-C-Random-1@imdb#3",
            "zoo:CNN-C-Random-1@imdb#4",
            {
                "architecture": "CNN",
                "input": "C",
                "embedding": "Random",
                "layers": 1,
                "reads": "Character",
            },
        ),
        Member("http:endpoint.toml", "http:endpoint.toml"),
    )


def test_targets_separated_by_commas_are_a_pool() -> None:
    pool = load_pool(
        "zoo:LSTM-W-GloVe-1@mr?hidden=32,size=tiny, naive-bayes,http:endpoint.toml", "mr"
    )
    assert [member.spec for member in pool.members] == [
        "zoo:LSTM-W-GloVe-1@mr#0?hidden=32,size=tiny",
        "zoo:naive-bayes@mr#0",
        "http:endpoint.toml",
    ]
    with pytest.raises(UsageError, match="has 1 member; expected 2 or more"):
        load_pool("zoo:naive-bayes@mr", "mr")


def test_bad_pools_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Unknown pool 'smal'\. Did you mean 'small'"):
        load_pool("pool:smal", "mr")
    file = tmp_path / "one.txt"
    file.write_text("LSTM-W-Random-1\n")
    with pytest.raises(UsageError, match="has 1 member; expected 2 or more"):
        load_pool(f"pool:{file}", "mr")
    file.write_text("LSTM-W-Random-1\nlstm-w-random-1\n")
    with pytest.raises(UsageError, match="'LSTM-W-Random-1' twice"):
        load_pool(f"pool:{file}", "mr")
