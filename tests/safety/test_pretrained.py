"""A model folder with code of its own: it never runs, whatever stands on standard input."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import brittle

pytest.importorskip("transformers")

ROOT = Path(brittle.__file__).parent
CODE = """
from pathlib import Path
with Path({mark!r}).open("a") as file:
    file.write("the code of the model ran")
from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizer
class OwnConfig(PretrainedConfig):
    model_type = "own"
class OwnModel(PreTrainedModel):
    config_class = OwnConfig
class OwnTokenizer(PreTrainedTokenizer):
    pass
"""
LOADING = """
import sys
import transformers
from brittle.errors import UsageError
from brittle.opening import as_target
from brittle.safety.pretrained import load_pretrained
from brittle.targets.transformers import classifier
from brittle.targets.transformers import seq2seq
from brittle.training.transformer import load_encoder
from brittle.zoo.names.settings import FineTuningSettings

folder = sys.argv[1]
settings = FineTuningSettings(encoder=folder)
for load in (
    lambda: as_target(folder),
    lambda: classifier.load(folder),
    lambda: seq2seq.load(folder),
    lambda: load_encoder(transformers, settings, ("a", "b")),
    lambda: load_pretrained(transformers.AutoTokenizer, folder),
):
    try:
        load()
    except UsageError as error:
        print("never runs" in str(error))
"""


def write_model(folder: Path, mark: Path) -> None:
    """Write a folder whose code leaves a mark when it runs."""
    folder.mkdir()
    classes = ("AutoModel", "AutoModelForSequenceClassification", "AutoModelForSeq2SeqLM")
    own = {"AutoConfig": "own.OwnConfig"} | dict.fromkeys(classes, "own.OwnModel")
    config = {"model_type": "own", "num_labels": 2, "auto_map": own}
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = {"auto_map": {"AutoTokenizer": ["own.OwnTokenizer", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (folder / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    (folder / "own.py").write_text(CODE.format(mark=str(mark)))


@pytest.mark.slow
def test_code_in_a_model_folder_never_runs(tmp_path: Path) -> None:
    folder, mark = tmp_path / "model", tmp_path / "mark"
    write_model(folder, mark)
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(folder)],
        input="y\n" * 100,
        env=os.environ | {"HF_HOME": str(tmp_path / "hf"), "PYTHONPATH": str(ROOT.parent)},
        capture_output=True,
        text=True,
    )
    assert not mark.exists()
    assert done.stdout.split() == ["True"] * 5, done.stderr


def test_one_file_alone_calls_the_library() -> None:
    """All others go through it, so that none can forget what it says about code."""
    call = re.compile(r"\.(from_pretrained|from_config)\b")
    files = [path.name for path in ROOT.rglob("*.py") if call.search(path.read_text("utf-8"))]
    assert files == ["pretrained.py"]
