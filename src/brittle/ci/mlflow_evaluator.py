"""The MLflow evaluator `brittle`: the ladder's figures, the run and its report, with a model.

MLflow imports this module by its entry point; mlflow itself is imported where it is used.

    mlflow.models.evaluate(
        model, data, targets="label", model_type="classifier", evaluators=["default", "brittle"],
        evaluator_config={"brittle": {"limit": 200, "labels": ["negative", "positive"]}},
    )
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from brittle.ci.recording import Bounds, Recording, judged
from brittle.errors import UsageError
from brittle.metrics.ladder import ladder
from brittle.metrics.summary import summary
from brittle.runs.run import Run

ARTIFACTS = "brittle"
OWN = ("attack", "text", "labels", "against", "max_broken", "accepted")
"""Entries of the configuration that are not keywords of `brittle.attack`."""


class ScoredModel:
    """A model of MLflow as a function from texts to scores.

    Its answers are scores (a row for each text), or labels, which become scores of 0 and 1.
    """

    def __init__(self, predict: Any, column: str, labels: Sequence[str]) -> None:
        self.predict, self.column, self.labels = predict, column, list(labels)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        import pandas

        answers = np.asarray(self.predict(pandas.DataFrame({self.column: list(texts)})))
        if answers.ndim == 2 and answers.shape[1] == len(self.labels):
            return answers.astype(np.float64)
        places = {label: number for number, label in enumerate(self.labels)}
        unknown = {str(answer) for answer in answers.ravel()} - places.keys()
        if unknown:
            raise UsageError(
                f"The model answers {', '.join(sorted(unknown))}; expected {self.labels}. Name its "
                'labels in evaluator_config: {"brittle": {"labels": [...]}}.'
            )
        return np.eye(len(self.labels))[[places[str(answer)] for answer in answers.ravel()]]


class BrittleEvaluator:
    """Attack a classifier of texts, and log what breaks it: MLflow's `ModelEvaluator`, by form."""

    name = "brittle"

    @classmethod
    def can_evaluate(
        cls, *, model_type: str, evaluator_config: Mapping[str, Any] | None, **kwargs: Any
    ) -> bool:
        """Tell whether the model is of a kind that can be attacked: a classifier."""
        return model_type == "classifier"

    def evaluate(
        self,
        *,
        model_type: str,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any] | None,
        model: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Attack the model on the data, and log figures, the run and the page."""
        import mlflow
        from mlflow.models.evaluation import EvaluationResult

        config = dict(evaluator_config or {})
        if model is None:
            raise UsageError("brittle attacks a model, and got predictions alone. Pass the model.")
        column = config.get("text") or _text_column(dataset.features_data)
        gold = [str(label) for label in dataset.labels_data]
        target = ScoredModel(model.predict, column, config.get("labels") or sorted(set(gold)))
        texts = [str(text) for text in dataset.features_data[column]]
        settings = {name: value for name, value in config.items() if name not in OWN}
        with tempfile.TemporaryDirectory() as folder:
            examples = list(zip(texts, gold))
            recording = Recording(
                *(target, examples, config.get("attack", "auto")),
                Path(folder),
                {"name": "run", **settings},
            )
            run = recording.run()
            figures = metrics_of(run)
            figures |= _log_verdict(run, config, Path(folder))
            run.report(Path(folder) / "report.html")
            for file in ("run.sqlite", "report.html"):
                mlflow.log_artifact(str(Path(folder) / file), ARTIFACTS, run_id=run_id)
        mlflow.log_metrics(figures, run_id=run_id)
        return EvaluationResult(metrics=figures, artifacts={})


def metrics_of(run: Run) -> dict[str, float]:
    """Return the figures of a run by MLflow's names: accuracies, success, and the ladder's."""
    rows = run.results()
    figures = summary(rows)
    named = {
        "accuracy_without_edits": figures.before.value,
        "accuracy_under_attack": figures.after.value,
        "attack_success": figures.success.value,
    }
    climbed = ladder(rows)
    for rung in climbed.rungs if climbed is not None else ():
        named[f"accuracy_after_{rung.level.replace('-', '_')}"] = rung.standing.value
    return {f"brittle/{name}": float(value) for name, value in named.items() if value is not None}


def _log_verdict(run: Run, config: Mapping[str, Any], folder: Path) -> dict[str, float]:
    """Compare with a baseline or bounds, if the configuration names them."""
    if config.get("against") is None and config.get("max_broken") is None:
        return {}
    import mlflow

    against, accepted = (
        Path(config[name]) if config.get(name) else None for name in ("against", "accepted")
    )
    bounds = Bounds(against, config.get("max_broken"), accepted=accepted)
    verdict = judged(run, bounds, folder / "change.html")
    mlflow.log_text(str(verdict), f"{ARTIFACTS}/verdict.txt")
    mlflow.set_tag("brittle.outcome", verdict.outcome)
    return {"brittle/is_worse": float(verdict.outcome == "fail")}


def _text_column(features: Any) -> str:
    """Return the column of the texts: the only one of strings."""
    names = [name for name in features.columns if isinstance(features[name].iloc[0], str)]
    if len(names) != 1:
        raise UsageError(
            f"The data has {len(names)} columns of texts; expected one. Name it in "
            'evaluator_config: {"brittle": {"text": "review"}}.'
        )
    return str(names[0])
