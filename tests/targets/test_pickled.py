"""Pickled models: opened if the user names the very file as trusted, and never otherwise."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.cli import main
from brittle.errors import UsageError
from brittle.opening import as_target
from brittle.runs.run import Run
from brittle.targets.options import stored_options
from brittle.text import Text

FILMS = [("a warm and funny film", "pos"), ("a dull and weak film", "neg")]


class Trap:
    """What a crafted file may be: it makes a file where it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.fixture(scope="module")
def pipeline() -> Any:
    sklearn = pytest.importorskip("sklearn.pipeline")
    text = pytest.importorskip("sklearn.feature_extraction.text")
    linear = pytest.importorskip("sklearn.linear_model")
    model = sklearn.make_pipeline(text.TfidfVectorizer(), linear.LogisticRegression())
    return model.fit([film for film, _ in FILMS] * 3, [label for _, label in FILMS] * 3)


def saved(model: Any, path: Path) -> str:
    if path.suffix == ".joblib":
        pytest.importorskip("joblib").dump(model, path)
    else:
        path.write_bytes(pickle.dumps(model))
    return str(path)


@pytest.mark.parametrize("name", ["model.joblib", "model.pkl", "model.pickle"])
def test_a_trusted_pipeline_is_attacked_like_any_other(
    tmp_path: Path, pipeline: Any, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = saved(pipeline, tmp_path / name)
    with caplog.at_level(logging.WARNING):
        target = as_target(file, trust_pickle=file)
    assert "loading it runs the code in it" in caplog.text and name in caplog.text
    assert target.labels == ("neg", "pos") and target.name == "model"
    texts = [Text.of(film) for film, _ in FILMS]
    expected = pipeline.predict_proba([film for film, _ in FILMS])
    assert np.allclose(target.scores(texts), expected)
    assert target.fingerprint == as_target(file, trust_pickle=file).fingerprint
    run = brittle.attack(file, FILMS, "random-swap", trust_pickle=file, folder=tmp_path / "runs")
    assert len(run.results()) == 2


@pytest.mark.parametrize("name", ["evil.joblib", "evil.pkl", "evil.pickle", "evil.sav", "evil.pt"])
def test_nothing_is_loaded_unless_this_very_file_is_named(tmp_path: Path, name: str) -> None:
    mark = tmp_path / "was-loaded"
    file = saved(Trap(mark), tmp_path / name)
    other = saved({}, tmp_path / "other.pkl")
    with pytest.raises(UsageError, match=r"is a pickled file\. Loading it runs"):
        as_target(file)
    with pytest.raises(UsageError, match=r"--trust-pickle"):
        as_target(file, trust_pickle=other)
    with pytest.raises(UsageError, match=r"is a pickled file|no pickled file"):
        as_target(f"ensemble:{file},{other}", trust_pickle=None)
    assert not mark.exists()


def test_the_error_names_the_flag_only_where_it_helps(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--trust-pickle .*evil\.pkl \(in Python trust_pickle="):
        as_target(saved({}, tmp_path / "evil.pkl"))
    with pytest.raises(UsageError, match=r"Write it in another format") as caught:
        as_target(saved({}, tmp_path / "evil.pt"))
    assert "--trust-pickle" not in str(caught.value)
    with pytest.raises(UsageError, match="the target 'zoo:x@mr' is not a pickled file"):
        as_target("zoo:x@mr", trust_pickle="evil.pkl")
    with pytest.raises(UsageError, match="There is no file"):
        as_target(str(tmp_path / "nothing.pkl"), trust_pickle=str(tmp_path / "nothing.pkl"))


def test_what_is_no_classifier_or_damaged_is_said(tmp_path: Path) -> None:
    file = saved({"a": 1}, tmp_path / "a.pkl")
    with pytest.raises(UsageError, match=r"holds a dict\. Expected a fitted scikit-learn"):
        as_target(file, trust_pickle=file)
    Path(file).write_bytes(b"no pickle")
    with pytest.raises(UsageError, match=r"cannot be loaded .* with the versions"):
        as_target(file, trust_pickle=file)
    Path(file).write_bytes(b"cno_such_module\nmodel\n.")
    with pytest.raises(UsageError, match="in the folder of the modules that it needs"):
        as_target(file, trust_pickle=file)


def test_a_stored_run_does_not_trust_for_its_reader(
    tmp_path: Path, pipeline: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "trust_pickle" not in stored_options()
    file = saved(pipeline, tmp_path / "model.pkl")
    brittle.attack(
        file, FILMS, "random-swap", trust_pickle=file, folder=tmp_path / "runs", name="one"
    )
    run = Run(tmp_path / "runs" / "one.sqlite")
    assert run.manifest["about_target"]["spec"] == file
    verify = ["verify", "one", "--runs", str(tmp_path / "runs")]
    assert main(verify) == 2
    assert f"--trust-pickle {file}" in capsys.readouterr().err
    assert main([*verify, "--trust-pickle", file]) == 0


def test_workers_open_what_the_user_trusts(tmp_path: Path, pipeline: Any) -> None:
    from brittle.targets.options import Target

    file = saved(pipeline, tmp_path / "model.joblib")
    target = pickle.loads(pickle.dumps(Target(file, trust_pickle=file)))  # as it travels
    assert as_target(target).labels == ("neg", "pos")


def test_trust_is_the_name_of_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "model.joblib")
    with pytest.raises(UsageError, match=r"Got trust_pickle=True\. Expected the name of the file"):
        as_target(path, trust_pickle=True)
