"""Networks with the weights of a file, and how many threads torch uses for them.

How many threads torch uses: one owner, and any number of users.

The number is one setting of the whole process. Whoever needs another number says so by a
`ThreadUse`, and closes it in the end. The number of the newest open use holds; after the last one
torch has as many threads as before the first. This file needs torch.

Networks saved to a file, and built with its weights: one that asks for others is never built.

A card may ask for a network of any size. So it is first built on torch's meta device, where tensors
have shapes and no numbers, and compared with what the header of the weights says. This file needs
torch.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from brittle.errors import UsageError
from brittle.zoo import folder as folders


class ThreadUse:
    """Lets torch use this many threads until it is closed, or no longer referred to."""

    def __init__(self, threads: int) -> None:
        self._end = weakref.finalize(self, _OWNER.end, _OWNER.begin(threads))
        self._end.atexit = False

    def close(self) -> None:
        """End this use; a second call does nothing."""
        self._end()

    def __enter__(self) -> ThreadUse:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Owner:
    """The open uses, the oldest first, and torch's number of threads before them."""

    def __init__(self) -> None:
        # Reentrant, for a use may also end when garbage is collected.
        self._lock = threading.RLock()
        self._numbers = count()
        self._uses: dict[int, int] = {}
        self._before = 0

    def begin(self, threads: int) -> int:
        with self._lock:
            if not self._uses:
                self._before = torch.get_num_threads()
            number = next(self._numbers)
            self._uses[number] = threads
            torch.set_num_threads(threads)
            return number

    def end(self, number: int) -> None:
        with self._lock:
            is_newest = number == next(reversed(self._uses))
            del self._uses[number]
            if is_newest or not self._uses:
                newest = next(reversed(self._uses.values()), self._before)
                torch.set_num_threads(newest)


_OWNER = _Owner()


MAX_LAYERS = 64  # of a network with few tensors: settings of layers that it does not have count too
MAX_ROW_LENGTH = 1 << 12
"""The largest number of words or characters in a row that is padded to its full length."""
Net = TypeVar("Net", bound=nn.Module)


def load_network(folder: Path, build: Callable[[], Net], layers: int = 0) -> Net:
    """Build a network and load its weights from a folder; see `restore_weights`."""
    return restore_weights(build, folders.load_tensors(folder / folders.WEIGHTS_FILE), layers)


def restore_weights(
    build: Callable[[], Net], tensors: Mapping[str, NDArray[Any]], layers: int = 0
) -> Net:
    """Build a network and load its weights, which may be of half precision.

    `layers` is the largest number of layers that its settings ask for. Tensors that are missing,
    too many, or of another shape or kind are a `UsageError`.
    """
    if layers > max(MAX_LAYERS, len(tensors)):
        raise UsageError(f"{layers:,} layers are needed, but there are {len(tensors):,} tensors")
    with torch.device("meta"), _WithoutNumbers():
        expected = build().state_dict()
    wrong = [
        name for name in {**expected, **tensors} if not _fits(expected.get(name), tensors.get(name))
    ]
    if wrong:
        raise UsageError(
            f"tensors are missing, unknown or of another shape: {len(wrong):,}, such as "
            f"{wrong[0]!r} (expected {_described(expected.get(wrong[0]))}, got "
            f"{_described(tensors.get(wrong[0]))})"
        )
    network = build()
    network.load_state_dict({name: torch.from_numpy(np.array(t)) for name, t in tensors.items()})
    return network


def save_network(
    folder: Path,
    network: nn.Module,
    vocabulary: Sequence[str] | None = None,
    alphabet: Sequence[str] | None = None,
    leave_out: Collection[str] = (),
) -> None:
    """Write the weights of a network and the words and characters that it reads, if any.

    The parts to leave out are those that only train others, such as a critic.
    """
    tensors = {
        name: tensor.cpu().numpy()
        for name, tensor in network.state_dict().items()
        if name.partition(".")[0] not in leave_out
    }
    folders.write_tensors(folder / folders.WEIGHTS_FILE, tensors)
    if vocabulary is not None:
        folders.write_words(folder / folders.VOCABULARY_FILE, vocabulary)
    if alphabet is not None:
        folders.write_words(folder / folders.ALPHABET_FILE, alphabet)


class _WithoutNumbers(TorchFunctionMode):
    """Computes no initial numbers: on the meta device torch loads 800 modules for that."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in (Tensor.normal_, nn.init.normal_, Tensor.div, Tensor.__truediv__):
            return args[0] if args else kwargs["tensor"]
        return (torch.empty if func is torch.randn else func)(*args, **kwargs)


def check_row_length(name: str, value: int) -> None:
    """Refuse a setting that makes rows so long that they fill the memory."""
    if value > MAX_ROW_LENGTH:
        raise UsageError(f"the setting {name} is {value:,}; expected at most {MAX_ROW_LENGTH:,}")


def _fits(expected: Tensor | None, tensor: NDArray[Any] | None) -> bool:
    if expected is None or tensor is None:
        return False
    is_float = np.issubdtype(tensor.dtype, np.floating)
    # A single number, such as a count of batches, is stored as a row of one; torch loads both.
    shapes = (tuple(expected.shape), tuple(expected.shape) or (1,))
    return tensor.shape in shapes and expected.is_floating_point() == is_float


def _described(tensor: Any) -> str:
    if tensor is None:
        return "none"
    shape = " × ".join(map(str, tensor.shape)) or "one number"
    return f"{shape} ({str(tensor.dtype).removeprefix('torch.')})"
