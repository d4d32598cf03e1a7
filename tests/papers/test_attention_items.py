"""What acceptance asks of the self-attention paper's figures, on invented ones."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "attention_items.py"
ATTACKS = {"random-word": 0.02, "list": 0.1, "asmin-gr": 0.05, "asmax-ec": 0.3, "gs-gr": 0.6}


def load_items() -> Any:
    spec = importlib.util.spec_from_file_location("attention_items", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


items = load_items()


def write_figures(folder: Path, values: dict[str, float], verdict: str = "agrees") -> None:
    def cell(value: float) -> dict[str, Any]:
        return {"value": value, "low": 0.0, "high": 1.0, "count": None, "of": 100}

    table = {attack: {"BiLSTM": cell(value)} for attack, value in values.items()}
    table["best"] = {"BiLSTM": cell(max(values.values()))}
    content: dict[str, Any] = dict.fromkeys(items.TASKS, table)
    content |= {f"{task}, paired": {"gs-gr": {"MiniLM": cell(0.1)}} for task in items.TASKS}
    finding = {"claim": "RANDOM is lowest", "verdict": verdict, "evidence": "…"}
    content["findings"] = {"random-lowest": finding}
    (folder / "attention.json").write_text(json.dumps(content))


def verdicts(folder: Path, word: str) -> set[str]:
    return {verdict for line, _, verdict in items.order(folder) if word in line}


@pytest.mark.parametrize(
    ("changed", "holds"),
    [
        ({}, "yes"),
        ({"asmin-gr": 0.01}, "no"),  # below RANDOM
        ({"list": 0.7}, "no"),  # above the greedy attack
        ({"gs-gr": 0.2, "gs-ec": 0.4}, "yes"),  # one greedy attack is enough
    ],
)
def test_the_order_of_a_column_is_read_from_its_values(
    tmp_path: Path, changed: dict[str, float], holds: str
) -> None:
    write_figures(tmp_path, ATTACKS | changed)
    assert verdicts(tmp_path, "the greedy attacks") == {holds}
    assert verdicts(tmp_path, "its interval") == verdicts(tmp_path, "paired") == {"yes"}


def test_a_finding_that_does_not_agree_needs_a_written_reason(tmp_path: Path) -> None:
    write_figures(tmp_path, ATTACKS, "undecided")
    notes = tmp_path / "attention.notes.md"
    for note, holds in (
        ("", "no"),
        ("Not looked into yet (a guess).", "no"),
        ("ASMIN finds words that hardly count (a guess).", "yes"),
    ):
        notes.write_text(f"## random-lowest\n\n{note}\n")
        assert verdicts(tmp_path, "RANDOM is lowest") == {holds}


def test_what_was_not_run_is_not_done(tmp_path: Path) -> None:
    for rows in (items.order(tmp_path), items.translators(tmp_path), items.page(tmp_path)):
        assert {verdict for _, _, verdict in rows} == {"not done"}
    assert {verdict for _, _, verdict in items.learnt(tmp_path / "none")} == {"not done"}


def test_translators_must_reach_20_bleu_and_decode_as_the_reference(tmp_path: Path) -> None:
    row = {
        "measured": ["measure_bleu", "measure_rates", "measure_equality"],
        "bleu_greedy": 22.0,
        "bleu_beam_4": 21.9,
        "training_minutes": 60.0,
        "compared_with_plain": 100,
        "same_text_as_plain": 100,
        "max_score_difference": 1e-6,
        "equal": True,
        "greedy_batched_over_alone": 8.0,
        "beam_4_batched_over_alone": 3.9,
    }
    file = tmp_path / "seq2seq.json"
    file.write_text(json.dumps({"seq2seq-Transformer": row}))
    rows = [row for row in items.learnt(file) if "Transformer" in row[0]]
    assert [verdict for _, _, verdict in rows] == ["yes", "yes", "no", "yes", "no"]
    assert "asked for ≥ 20, ≥ 25 expected" in rows[0][0]
