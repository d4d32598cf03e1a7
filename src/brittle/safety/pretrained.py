"""Load and build models by the transformers library, from folders that nobody vouches for.

Code that comes with a model is never run. Weights are safetensors, checked before the library reads
them; a configuration that asks for far more weights than there are is refused while it is built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brittle.errors import BrittleError, UsageError, require
from brittle.safety.files import check_is_file

WEIGHTS, PARTS_OF_WEIGHTS = "model.safetensors", "model-*.safetensors"
# A weight is set when a network is built, again when it is loaded, and shared ones several times.
MAX_TIMES_SET = 8
MIN_NUMBERS, MIN_TENSORS = 1 << 24, 10_000


def load_pretrained(auto_class: Any, source: str, **options: Any) -> Any:
    """Load a configuration, a tokenizer or a model by one of the library's classes."""
    return _without_its_code(auto_class.from_pretrained, source, source, options)


def load_model(auto_class: Any, source: str, **options: Any) -> Any:
    """Load a model with its weights; those of a folder are checked first."""
    options |= {"use_safetensors": True}
    if not Path(source).is_dir():
        return load_pretrained(auto_class, source, **options)
    with _limited_to(_check_weights(Path(source)), source):
        return load_pretrained(auto_class, source, **options)


def build_from_config(auto_class: Any, config: Any) -> Any:
    """Build a model with random weights from its configuration."""
    return _without_its_code(auto_class.from_config, config, config.name_or_path, {})


@contextmanager
def told_as(what: str, source: str) -> Iterator[None]:
    """Have whatever the library raises say which model cannot be loaded, and what is expected."""
    try:
        yield
    except BrittleError:
        raise
    except Exception as error:  # damaged files make it raise anything
        raise _cannot_load(what, source, error) from error


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
            f"The model {name!r} comes with code, which brittle never runs. If you trust "
            "that code, load the model in your own module and use python:module:name."
        ) from error


def _check_weights(folder: Path) -> list[tuple[int, ...]]:
    """Return the shapes of all weights in a folder, by their headers; damaged ones are an error."""
    for path in folder.iterdir():
        check_is_file(path)
    whole = folder / WEIGHTS
    shapes: list[tuple[int, ...]] = []
    for path in [whole] if whole.exists() else sorted(folder.glob(PARTS_OF_WEIGHTS)):
        shapes += _shapes_in(path)
    return shapes


def _shapes_in(path: Path) -> list[tuple[int, ...]]:
    safetensors = require("safetensors", "transformers", f"The weights {path}")
    shapes = []
    try:
        with safetensors.safe_open(path, framework="np") as file:
            names = file.keys()
            for name in names:
                tensor = file.get_slice(name)
                shapes.append(tuple(tensor.get_shape()))
                kind = tensor.get_dtype()
                if name.split(".")[-1] in ("weight", "bias") and "F" not in kind:
                    raise UsageError(
                        f"{path} stores {name} as {kind}. Expected floats: save the model "
                        "again without quantisation."
                    )
    except UsageError:
        raise
    except Exception as error:  # safetensors has no public error of its own
        raise UsageError(
            f"{path} is damaged, or not a file of weights in safetensors format ({error}). Copy or "
            "download it again, or save the model again: model.save_pretrained(folder)."
        ) from error
    return shapes


@contextmanager
def _limited_to(shapes: list[tuple[int, ...]], source: str) -> Iterator[None]:
    """Stop the building of a network that asks for far more weights than these."""
    from torch.nn.modules.module import register_module_parameter_registration_hook

    most_numbers = MAX_TIMES_SET * sum(map(math.prod, shapes)) + MIN_NUMBERS
    most_tensors = MAX_TIMES_SET * len(shapes) + MIN_TENSORS
    numbers = tensors = 0

    def count(module: Any, name: str, parameter: Any) -> None:
        nonlocal numbers, tensors
        if parameter is not None:
            numbers, tensors = numbers + parameter.numel(), tensors + 1
        if numbers > most_numbers or tensors > most_tensors:
            raise UsageError(
                f"The configuration of {source!r} asks for far more weights than its "
                f"files hold ({len(shapes):,} tensors of {sum(map(math.prod, shapes)):,} "
                "numbers). It was changed, or belongs to another model. Restore "
                "config.json."
            )

    hook = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        hook.remove()


def _cannot_load(what: str, source: str, error: Exception) -> UsageError:
    folder = Path(source)
    if folder.is_dir() and not list(folder.glob("*.safetensors")):
        return UsageError(
            f"The folder {source!r} has no .safetensors weights. Pickled weights "
            "(pytorch_model.bin) are not loaded: convert them with "
            "model.save_pretrained(folder, safe_serialization=True)."
        )
    reason = str(error).strip().splitlines()[0] if str(error).strip() else ""
    if not reason or not isinstance(error, OSError | ValueError | RuntimeError):
        reason = f"{type(error).__name__} {reason}".strip()
    return UsageError(
        f"The {what} {source!r} cannot be loaded: {reason.rstrip('.')}. Expected a folder with "
        "config.json, model.safetensors and the tokenizer's files, or the name of a model on the "
        "hub and a connection. If a file is damaged, copy or download it again."
    )
