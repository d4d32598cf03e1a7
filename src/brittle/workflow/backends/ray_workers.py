"""Workers on the nodes of a Ray cluster, and what a node does with a task.

What a node of a Ray cluster does with a task: take in its files, run it, send back what it left.

A node shares no folder with the driver. Everything that came from one driver, or was computed for
it, lies in a folder of its own in the cache of the node, which may be deleted between two commands.

Workers on the nodes of a Ray cluster, which share no folder with this machine.
"""

from __future__ import annotations

import hashlib
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

from brittle.errors import BrittleError, RunStopped
from brittle.safety import files
from brittle.workflow.artifacts import Parcel, Places, unwrap, wrap
from brittle.workflow.backends.backend import Assignment, Ended, Tell, Workers
from brittle.workflow.backends.cluster import Cluster, connect, own_versions, require_versions
from brittle.workflow.backends.local import run_here
from brittle.workflow.tasks import Task, build_context, run_task, store_result

NODE_CACHE = "BRITTLE_NODE_CACHE"

Event = tuple[str, Any]
"""A message, the parcels of the task, its stored result, or one of brittle's errors."""


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


class RayWorkers:
    """Runs tasks on nodes; what they leave is stored here before their results are."""

    def __init__(self, cluster: Cluster, workers: int | None, tell: Tell) -> None:
        self._cluster, self._ray = cluster, cluster.ray
        self._workers, self._tell = workers, tell
        self._running: dict[Any, Assignment] = {}
        self._ended: list[Ended] = []
        self._contents: dict[Parcel, Any] = {}
        # A task is lost with its worker: `run_tasks` runs it again, and says so.
        options = {"num_returns": "streaming", "max_retries": 0, "num_cpus": 1}
        self._remote = self._ray.remote(**options)(run_remote_task)

    @classmethod
    def connect(cls, workers: Workers, tell: Tell) -> RayWorkers:
        return cls(connect(workers.address, workers.count), workers.count, tell)

    def capacity(self) -> int:
        return self._workers or max(1, self._cluster.cpus())

    def start(self, assignment: Assignment) -> None:
        task, needs = assignment.task, assignment.needs
        if task.here is not None:
            context = build_context(task, assignment.folder, needs, lambda message: None)
            if task.here(context, **task.arguments):
                self._ended.append(Ended(assignment, run_here(assignment, self._tell)))
                return
        cache = files.cache_folder()
        places = Places(assignment.folder, cache)
        parcels = [self._send(path, places) for path in assignment.files]
        contents = [self._contents[parcel] for parcel in parcels]
        driver, workflow = _short_id(cache), _short_id(assignment.folder)
        remote = RemoteTask(driver, workflow, own_versions(), task, needs, parcels, contents)
        self._running[self._remote.remote(remote)] = assignment

    def _send(self, path: Path, places: Places) -> Parcel:
        """Put a file or folder into the cluster's store; the same contents only once."""
        parcel = places.parcel(path)
        if parcel not in self._contents:
            self._contents[parcel] = self._ray.put(wrap([path], places)[1])
        return parcel

    def wait(self) -> Sequence[Ended]:
        while not self._ended:
            ready, _ = self._ray.wait(list(self._running), num_returns=1)
            for stream in ready:
                self._receive(stream)
        ended, self._ended = self._ended, []
        return ended

    def _receive(self, stream: Any) -> None:
        """Receive one event of a task."""
        assignment = self._running[stream]
        try:
            event, content = self._ray.get(next(stream))
        except self._ray.exceptions.RayTaskError as error:
            raise RunStopped(
                f"The task {assignment.task.name!r} cannot be run on a node: {error.cause!r}"
            ) from error
        except (self._ray.exceptions.RayError, StopIteration) as error:
            del self._running[stream]
            self._ended.append(Ended(assignment, death=describe_death(self._ray.exceptions, error)))
            return
        if event == "message":
            self._tell(assignment.task, content)
        elif event == "left":
            parcels, archive = content
            unwrap(parcels, archive, Places(assignment.folder, files.cache_folder()))
        else:
            del self._running[stream]
            if event == "failed":
                raise content
            result = store_result(assignment.task, assignment.folder, content)
            self._ended.append(Ended(assignment, result))

    def close(self) -> None:
        for stream in self._running:
            self._ray.cancel(stream, force=True)
        self._running = {}
        self._cluster.close()


def describe_death(errors: Any, error: Exception) -> str:
    """Tell how a worker died; `errors` is the module of Ray's exceptions."""
    if isinstance(error, errors.OutOfMemoryError):
        return "ran out of memory on its node"
    if isinstance(error, errors.NodeDiedError | errors.ObjectLostError):
        return "was on a node that died"
    if isinstance(error, errors.WorkerCrashedError):
        return "died on its node: it was killed, or its node died or ran out of memory"
    return f"was lost: {type(error).__name__}"


def _short_id(path: Path) -> str:
    """Return a name for a folder of this machine that no folder of another machine has."""
    return hashlib.sha256(f"{socket.gethostname()}:{path.resolve()}".encode()).hexdigest()[:16]
