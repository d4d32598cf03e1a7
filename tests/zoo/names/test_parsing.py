"""The names of zoo targets, and texts that are no names."""

from __future__ import annotations

import pytest

from brittle.errors import UsageError
from brittle.zoo.names.parsing import ModelName, parse


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("zoo:lstm-w-random-1@mr#12", ("LSTM-W-Random-1", "mr", 12)),
        ("zoo:MiniLM@imdb", ("MiniLM", "imdb", 0)),
        ("zoo:minilm@a#b/c@d.csv#4", ("MiniLM", "a#b/c@d.csv", 4)),
        ("zoo:minilm@folder#1/x.csv", ("MiniLM", "folder#1/x.csv", 0)),
        ("zoo:minilm@why?.csv", ("MiniLM", "why?.csv", 0)),
        ("zoo:minilm@why?/x.csv#2?reads=9", ("MiniLM", "why?/x.csv", 2)),
        ("zoo:charcnn-lstm+hotflip,share=0.1@mr", ("CharCNN-LSTM+hotflip,share=0.1", "mr", 0)),
        ("zoo:hf:user/encoder@mr#1", ("hf:user/encoder", "mr", 1)),
    ],
)
def test_names_are_split_into_parts(spec: str, parts: tuple[str, str, int]) -> None:
    wanted = parse(spec)
    assert (wanted.name, wanted.data, wanted.seed) == parts
    assert wanted.source == spec.removeprefix("zoo:").split("@")[0]


def test_settings_stand_behind_a_question_mark() -> None:
    wanted = parse("zoo:LSTM-W-GloVe-1@imdb#0?hidden=32,size=paper,widths=2+3,tuned=no")
    assert wanted.size == "paper" and wanted.seed == 0
    assert wanted.changed == {"hidden": 32, "widths": [2, 3], "tuned": False}
    assert parse(f"zoo:{wanted.full_name}") == wanted
    assert wanted.command == (
        "brittle train LSTM-W-GloVe-1 --data imdb --seed 0 --size paper --set tuned=no "
        "--set hidden=32 --set widths=2+3"
    )


def test_a_translators_beam_is_no_setting_of_its_training() -> None:
    name = parse("zoo:seq2seq-lstm@pairs#2?beam=4,hidden=64,size=tiny")
    assert (name.beam, name.size, dict(name.changed)) == (4, "tiny", {"hidden": 64})
    assert name.full_name == "seq2seq-LSTM@pairs#2?size=tiny,hidden=64"
    assert parse("zoo:seq2seq-LSTM@pairs").beam == 1
    with pytest.raises(UsageError, match="setting beam of a translator"):
        parse("zoo:seq2seq-LSTM@pairs?beam=0")
    with pytest.raises(UsageError, match="Unknown setting of LSTM-W-Random-1"):
        parse("zoo:LSTM-W-Random-1@mr?beam=4")


def test_settings_that_are_the_models_own_change_nothing() -> None:
    assert parse("zoo:LSTM-W-Random-1@mr?hidden=128,size=default") == ModelName(
        "LSTM-W-Random-1", "mr", source="LSTM-W-Random-1"
    )
    assert parse("zoo:LSTM-W-Random-1@mr", "tiny").size == "tiny"
    assert parse("zoo:LSTM-W-Random-1@mr?size=default", "tiny").size == "default"


@pytest.mark.parametrize("spec", ["zoo:", "zoo:naive-bayes", "zoo:naive-bayes@", "naive-bayes#3"])
def test_what_is_no_name_of_a_model(spec: str) -> None:
    with pytest.raises(UsageError, match="Expected zoo:NAME@DATA"):
        parse(spec)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("hiden=32", "Unknown setting of LSTM-W-Random-1 'hiden'. Did you mean 'hidden'?"),
        ("hidden=many", "Got 'many' for the setting hidden of LSTM-W-Random-1. Expected a whole"),
        ("hidden=", "Got the setting 'hidden=' for LSTM-W-Random-1. Expected NAME=VALUE"),
        ("size=huge", "Unknown size 'huge'. Known: default, tiny, paper."),
    ],
)
def test_strange_settings(settings: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(f"zoo:LSTM-W-Random-1@mr?{settings}")
    assert message in str(error.value)
