"""`brittle` without its start: a server that has imported everything forks for each command.

A start of brittle takes a second, most of it for imports. The doc pages have a hundred commands, in
scripts of bash that need a real process with its own folder, variables and pipes: a fork has them.
What must be a fresh interpreter (signals, limits, what is imported) starts one itself.

    python tests/forking.py SOCKET            serves
    python tests/forking.py SOCKET WORD …     asks: as `brittle WORD …`
"""

import os
import socket
import sys

FILE_DESCRIPTORS = 3
MAX_BYTES = 1 << 20
PRELOADED = ("torch", "transformers", "sklearn.pipeline", "pandas", "httpx", "jinja2")
TABLES = (
    *("bigrams:bigrams", "vectors:counterfitted", "tags:load_lexicon", "wordnet:senses"),
    *("wordnet:substitutes", "wordnet:wordnet", "forms:load_lemminflect"),
)


def ask(path: str, words: list[str]) -> int:
    """Have a command run in this folder, with our variables and streams; return its exit code."""
    variables = [f"{name}={value}" for name, value in os.environ.items()]
    message = "\0".join([os.getcwd(), str(len(words)), *words, *variables])
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        content = message.encode("utf-8", "surrogateescape")
        socket.send_fds(connection, [len(content).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(content)
        answer = connection.recv(16)
    return int(answer) if answer else 1


def serve(path: str) -> None:
    """Answer until the process that started this one closes our input."""
    import importlib
    import pkgutil
    import select
    import signal

    import brittle

    own = (module.name for module in pkgutil.walk_packages(brittle.__path__, "brittle."))
    for name in (*PRELOADED, *own):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    for table in TABLES:
        module, _, load = table.partition(":")
        getattr(importlib.import_module(f"brittle.english.{module}"), load)()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if listener not in ready:
                return
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                answer(connection)
            connection.close()


def answer(connection: socket.socket) -> None:
    """Run the command in a child of ours, and tell its exit code; end this process."""
    head, streams, _, _ = socket.recv_fds(connection, 8, FILE_DESCRIPTORS)
    size, content = int.from_bytes(head, "big"), b""
    while len(content) < size:
        content += connection.recv(MAX_BYTES)
    child = os.fork()
    if child == 0:
        connection.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        run(content.decode("utf-8", "surrogateescape").split("\0"))
    for stream in streams:
        os.close(stream)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.sendall(str(code if code >= 0 else 128 - code).encode())
    os._exit(0)


def run(parts: list[str]) -> None:
    """Become the command: its folder, variables and streams; end with its exit code."""
    import importlib
    import traceback

    from brittle.cli import main

    folder, count, *rest = parts
    words, variables = rest[: int(count)], rest[int(count) :]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variable.split("=", 1) for variable in variables)
    sys.argv = ["brittle", *words]
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
