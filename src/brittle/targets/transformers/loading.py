"""Models of transformers, loaded without noise.

Quiet use of the transformers library. Load a model of transformers with its tokenizer, for targets
of every kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from brittle.errors import UsageError, require
from brittle.safety.pretrained import load_model, load_pretrained, told_as
from brittle.zoo.device import cores

if TYPE_CHECKING:
    from brittle.zoo.restoring import ThreadUse


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Hide the library's progress bars and warnings while it loads or trains."""
    logging = transformers.utils.logging
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


T = TypeVar("T")
MAX_PARALLEL_CALLS = 4


def load_target(
    spec: str,
    build: Callable[[Any, Any, str], T],
    *,
    auto_class: str,
    noun: str,
    without_weights: str,
    check_config: Callable[[Any, str], None] | None = None,
) -> T:
    """Load a model from a folder with config.json, or from the hub by name (`hf:NAME`).

    `build` makes the target of the model, its tokenizer and its name. `auto_class` is the class of
    the library that builds the model, `noun` names it in messages, and `without_weights` says what
    it would do if weights were missing. Only safetensors weights are loaded, and no code that comes
    with a model is run.
    """
    source = spec.removeprefix("hf:")
    transformers = require("transformers", "transformers", f"The target {spec!r}")
    require("torch", "transformers", f"The target {spec!r}")
    options: dict[str, Any] = {}
    with quiet(transformers), told_as(noun, source):
        if check_config is not None:
            options["config"] = load_pretrained(transformers.AutoConfig, source)
            check_config(options["config"], source)
        builder = getattr(transformers, auto_class)
        model, info = load_model(builder, source, output_loading_info=True, **options)
        tokenizer = load_pretrained(transformers.AutoTokenizer, source)
        missing = sorted(info["missing_keys"])
        if missing:
            raise UsageError(
                f"The model {source!r} has no weights for {', '.join(missing[:4])}"
                f"{' …' if len(missing) > 4 else ''}: {without_weights}"
            )
        name = Path(source).resolve().name if Path(source).exists() else source
        # In full precision, the other texts of a batch change only the last digits of scores.
        return build(model.float(), tokenizer, name)


def share_threads(device: str) -> tuple[int, ThreadUse | None]:
    """Share the cores among parallel calls; return the number of calls and the use of threads.

    Two calls of one thread each are measured as fast as one call of two threads, and they keep the
    cores busy while Python prepares the next batch.
    """
    if device != "cpu":
        return 1, None
    from brittle.zoo.restoring import ThreadUse  # imports torch

    parallel = min(cores(), MAX_PARALLEL_CALLS)
    return parallel, ThreadUse(max(1, cores() // parallel))
