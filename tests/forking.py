"""`brittle` without its start: a server that has imported everything forks for each command.

A start of brittle takes a second, most of it for imports. The tests have hundreds of commands that
need a real process with its own folder, variables, pipes, signals and exit code: a fork has them.
What must be a fresh interpreter (limits, what is imported, how Python is set) starts one itself.

    python tests/forking.py SOCKET            serves
    python tests/forking.py SOCKET WORD …     asks: as `brittle WORD …`
"""

import contextlib
import os
import signal
import socket
import sys
from typing import Any

FILE_DESCRIPTORS = 3
MAX_BYTES = 1 << 20
PRELOADED = ("torch", "transformers", "sklearn.pipeline", "pandas", "httpx", "jinja2")
TABLES = (
    *("bigrams:bigrams", "vectors:counterfitted", "tags:load_lexicon", "wordnet:senses"),
    *("wordnet:substitutes", "wordnet:wordnet", "forms:load_lemminflect"),
)
PASSED_ON = (signal.SIGINT, signal.SIGTERM)
_started: list[Any] = []


def brittle_words() -> list[str]:
    """Return the words that stand for `brittle`; the first call starts the server.

    The server ends with this process at the latest, whose end closes the server's input.
    """
    if not _started:
        import subprocess
        import tempfile
        import time

        # A path of pytest may be too long for a socket.
        path = os.path.join(tempfile.mkdtemp(prefix="brittle-"), "socket")
        words = [sys.executable, __file__, path]
        server = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
        _started[:] = server, path  # without the server its input would be closed
        while not os.path.exists(path):
            assert server.poll() is None
            time.sleep(0.02)
    return [sys.executable, "-I", "-S", __file__, _started[1]]


def stop() -> None:
    """End the server of this process, if it was started."""
    if _started:
        server, _ = _started
        _started.clear()
        server.stdin.close()
        server.wait()


def ask(path: str, words: list[str]) -> int:
    """Have a command run in this folder, with our variables and streams; return its exit code.

    It receives our signals, and ends when we do. If a signal ends it, the same ends us.
    """
    variables = [f"{name}={value}" for name, value in os.environ.items()]
    message = "\0".join([os.getcwd(), str(len(words)), *words, *variables])
    with socket.socket(socket.AF_UNIX) as connection:
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: connection.send(bytes([number])))
        connection.connect(path)
        content = message.encode("utf-8", "surrogateescape")
        socket.send_fds(connection, [len(content).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(content)
        answer = connection.recv(16)
    code = int(answer) if answer else 1
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def serve(path: str) -> None:
    """Answer until the process that started this one closes our input."""
    import gc
    import importlib
    import pkgutil
    import select
    import shutil

    import brittle

    own = (module.name for module in pkgutil.walk_packages(brittle.__path__, "brittle."))
    for name in (*PRELOADED, *own):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    for table in TABLES:
        module, _, load = table.partition(":")
        getattr(importlib.import_module(f"brittle.english.{module}"), load)()
    gc.collect()
    gc.freeze()  # or the first collection in each fork would copy all this memory
    wakes, ended = socket.socketpair()
    for end in (wakes, ended):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes.fileno())
    asking: dict[socket.socket, int] = {}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        while True:
            ready, _, _ = select.select([sys.stdin, listener, ended, *asking], [], [])
            if sys.stdin in ready:
                for child in asking.values():
                    os.kill(child, signal.SIGKILL)
                return shutil.rmtree(os.path.dirname(path), ignore_errors=True)
            if ended in ready:
                tell_ends(ended, asking)
            if listener in ready:
                connection, _ = listener.accept()
                with contextlib.suppress(ConnectionError):
                    asking[connection] = start(connection, [listener, wakes, ended, *asking])
            for connection in asking.keys() & set(ready):
                pass_on(connection, asking[connection])


def start(connection: socket.socket, others: list[socket.socket]) -> int:
    """Read what is asked for and run it in a fork; return its process id."""
    head, streams, _, _ = socket.recv_fds(connection, 8, FILE_DESCRIPTORS)
    size, content = int.from_bytes(head, "big"), b""
    while len(content) < size or not size:
        part = connection.recv(MAX_BYTES) if size else b""
        if not part:
            connection.close()
            raise ConnectionError("the client ended before it had asked")
        content += part
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (connection, *others):
            each.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    if child == 0:
        run(content.decode("utf-8", "surrogateescape").split("\0"))
    return child


def pass_on(connection: socket.socket, child: int) -> None:
    """Send a command the signal that its client received; kill it if the client is gone."""
    try:
        numbers = connection.recv(1)
    except ConnectionError:
        numbers = b""
    os.kill(child, numbers[0] if numbers else signal.SIGKILL)


def tell_ends(ended: socket.socket, asking: dict[socket.socket, int]) -> None:
    """Tell the exit codes of the commands that have ended since the last call."""
    ended.recv(MAX_BYTES)
    for connection, child in list(asking.items()):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            with contextlib.suppress(OSError):  # its client may be gone
                connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
            connection.close()
            del asking[connection]


def run(parts: list[str]) -> None:
    """Become the command: its folder, variables and streams; end with its exit code."""
    import importlib
    import traceback

    from brittle.cli import __main__ as script
    from brittle.cli import main

    folder, count, *rest = parts
    words, variables = rest[: int(count)], rest[int(count) :]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variable.split("=", 1) for variable in variables)
    sys.argv = [script.__file__, *words]
    sys.modules["__main__"] = script
    sys.path[0] = folder
    importlib.invalidate_caches()
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    code = 1
    try:
        code = main(words)
    except SystemExit as left:
        code = int(left.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
    serve(sys.argv[1])
