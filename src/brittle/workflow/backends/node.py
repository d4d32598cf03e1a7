"""What a node of a Ray cluster does with a task: take in its files, run it, send back what it left.

A node shares no folder with the driver. Everything that came from one driver, or was computed for
it, lies in a folder of its own in the cache of the node, which may be deleted between two commands.
"""

from __future__ import annotations

import os
import queue
import socket
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle import files
from brittle.errors import BrittleError, RunStopped
from brittle.workflow.backends.cluster import own_versions, require_versions
from brittle.workflow.parcels import Parcel, Places, unwrap, wrap
from brittle.workflow.tasks import Task, run_task

NODE_CACHE = "BRITTLE_NODE_CACHE"

Event = tuple[str, Any]
"""A message, the parcels that the task left, its stored result, or an error of brittle's."""


@dataclass(frozen=True)
class RemoteTask:
    """A task with what it needs; `contents` are references to the contents of the parcels."""

    driver: str
    workflow: str
    versions: Mapping[str, str]
    task: Task
    needs: Mapping[str, Any]
    parcels: Sequence[Parcel]
    contents: Sequence[Any]


def run_remote_task(remote: RemoteTask) -> Iterator[Event]:
    """Run a task, and yield its events; the last one is its result or an error."""
    # Only this thread may yield, and it has to do so while the task runs.
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    threading.Thread(target=_work, args=(remote, events), daemon=True).start()
    while True:
        event = events.get()
        yield event
        if event[0] in ("done", "failed"):
            return


def _work(remote: RemoteTask, events: queue.SimpleQueue[Event]) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    task = remote.task
    try:
        # A node may have joined after the others were checked.
        require_versions(socket.gethostname(), own_versions(), remote.versions)
        places = _places(remote)
        with _only_one(places):
            _take_in(remote, places)
        stored = run_task(
            task, places.folder, remote.needs, lambda text: events.put(("message", text))
        )
        events.put(("left", wrap(_left(task, places, stored["result"]), places)))
        events.put(("done", stored))
    except BrittleError as error:
        events.put(("failed", error))
    except BaseException:
        message = f"The task {task.name!r} failed on a node:\n{traceback.format_exc()}"
        events.put(("failed", RunStopped(message)))


def _places(remote: RemoteTask) -> Places:
    """Return the places of this driver and workflow, and make them this process's own."""
    # A worker is kept for other tasks: its cache is by then already that of the driver.
    own = os.environ.setdefault(NODE_CACHE, str(files.cache_folder()))
    base = Path(own) / "carried" / remote.driver
    places = Places(base / "folders" / remote.workflow, base / "cache")
    for folder in (places.folder, places.cache):
        files.make_private_folder(folder)
    os.environ["BRITTLE_CACHE"] = str(places.cache)
    return places


@contextmanager
def _only_one(places: Places) -> Iterator[None]:
    """Let one worker of this node at a time take in files."""
    with files.open_private(places.cache.parent / "lock") as file:
        files.lock(file, wait=True)
        yield


def _take_in(remote: RemoteTask, places: Places) -> None:
    """Fetch the parcels that this node does not have yet."""
    import ray

    for parcel, content in zip(remote.parcels, remote.contents):
        if not places.has(parcel):
            unwrap([parcel], ray.get(content), places)


def _left(task: Task, places: Places, result: Any) -> list[Path]:
    paths = [] if task.leaves is None else list(task.leaves(places.folder, result))
    memory = places.folder / task.memory if task.memory else None
    return [*paths, *([memory] if memory is not None and memory.exists() else [])]
