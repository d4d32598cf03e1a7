"""Where tasks run: in this process, in processes of this machine, or on a Ray cluster."""

from brittle.workflow.backends.backend import BACKENDS, Workers

__all__ = ["BACKENDS", "Workers"]
