"""Where engineers already are: pytest, steps of a pipeline, MLflow, and failures kept as tests.

`recording` attacks a model and asks the gate, `pytest_plugin` and `mlflow_evaluator` are entry
points, `step` is what the Action runs, and `failures` writes failures for other tools.
"""
