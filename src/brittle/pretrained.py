"""Load and build models by the transformers library; code that comes with a model is never run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brittle.errors import UsageError


def load_pretrained(auto_class: Any, source: str, **options: Any) -> Any:
    """Load a configuration, a tokenizer or a model by one of the library's classes."""
    return _without_its_code(auto_class.from_pretrained, source, source, options)


def build_from_config(auto_class: Any, config: Any) -> Any:
    """Build a model with random weights from its configuration."""
    return _without_its_code(auto_class.from_config, config, config.name_or_path, {})


def _without_its_code(
    build: Callable[..., Any], argument: Any, name: str, options: dict[str, Any]
) -> Any:
    # Left to itself the library asks on the terminal whether to run a model's own code, and takes
    # the next line of standard input as the answer.
    try:
        return build(argument, trust_remote_code=False, **options)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise UsageError(
            f"The model {name!r} needs code that comes with it, which brittle never runs. If you "
            "trust that code, load the model in a module of your own and name the object: "
            "python:module:name."
        ) from error
