"""The MLflow evaluator with the real package, in the environment .venvs/mlflow where it exists."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venvs" / "mlflow" / "bin" / "python"
SCRIPT = """
import mlflow, pandas
mlflow.set_tracking_uri("sqlite:///runs.db")

def predict(model_input: pandas.DataFrame) -> list[str]:
    return ["pos" if "good" in text else "neg" for text in model_input["review"]]

texts = [f"a good film {n}" for n in range(8)] + ["a bad film"] * 3
data = pandas.DataFrame({"review": texts, "label": ["pos"] * 8 + ["neg"] * 3})
config = {
    "default": {"log_explainer": False},
    "brittle": {"attack": "pwws", "candidates": "paper", "measures": False, "max_broken": 0.1},
}
class Model(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input, params=None):
        return predict(model_input)

with mlflow.start_run() as run:
    model = mlflow.pyfunc.log_model(name="m", python_model=Model(), pip_requirements=[])
    found = mlflow.models.evaluate(
        model.model_uri, data, targets="label", model_type="classifier",
        evaluators=["default", "brittle"], evaluator_config=config,
    )
client = mlflow.MlflowClient()
stored = client.get_run(run.info.run_id)
files = sorted(it.path for it in client.list_artifacts(run.info.run_id, "brittle"))
assert found.metrics["brittle/accuracy_without_edits"] == 1.0, found.metrics
assert found.metrics["brittle/accuracy_under_attack"] < 0.5, found.metrics
assert "accuracy_score" in found.metrics
assert stored.data.metrics["brittle/is_worse"] == 1.0
assert stored.data.tags["brittle.outcome"] == "fail"
assert files == ["brittle/report.html", "brittle/run.sqlite", "brittle/verdict.txt"], files
print("evaluated")
"""


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON.exists(), reason="no environment .venvs/mlflow with mlflow")
def test_the_evaluator_logs_figures_run_and_report(tmp_path: Path) -> None:
    environment = os.environ | {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
    command = [str(PYTHON), "-c", SCRIPT]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "evaluated" in done.stdout, done.stderr[-3000:]
