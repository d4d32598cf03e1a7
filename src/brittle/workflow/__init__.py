"""A resumable graph of tasks with JSON results, run one by one or side by side."""
