"""Mutations of stored files: values of other types, fields gone or added, and other bytes."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from hostile.damage import DAMAGES

JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 7, 2**31, 10**30, 0.5, -2.5, 1e308, -1e308, float("nan")),
    *(float("inf"), float("-inf")),
    *(
        "",
        "x",
        "0",
        "nan",
        "../../etc/passwd",
        "/etc/passwd",
        "a\0b",
        "\ud800",
        "\x1b[2J",
        "é" * 300,
    ),
    *([], {}, [[]], [None], [1, 2], ["x"], {"x": 1}, {"": {}}, [["x", "y"]], [{"x": None}]),
)
"""Values to put in place of others: of every type of JSON, at its edges; paths that lead out."""
Mutated = tuple[str, bytes]
"""What was changed, in words, and the file with it."""


def mutate_json(content: bytes, rng: Random) -> Mutated:
    """Change one value of a JSON file, at any depth."""
    what, value = mutate_value(json.loads(content), rng)
    return what, json.dumps(value).encode()


def mutate_value(value: Any, rng: Random) -> tuple[str, Any]:
    """Replace, remove or double one part of a JSON value; its kind of place is drawn first.

    A list of a thousand rows has as much weight as a field of which there is one.
    """
    root = [copy.deepcopy(value)]
    places: dict[tuple[Any, ...], list[tuple[Any, Any]]] = {}
    for container, key, shape in _places(root, ()):
        places.setdefault(shape, []).append((container, key))
    shape = rng.choice(sorted(places, key=str))
    container, key = rng.choice(places[shape])
    where = ".".join(map(str, shape[1:])) or "all"
    kind = rng.choice(("replace", "replace", "replace", "remove", "double"))
    if kind == "remove" and container is not root:
        del container[key]
    elif kind == "double" and isinstance(container, list) and container is not root:
        container.insert(key, copy.deepcopy(container[key]))
    elif kind == "double" and isinstance(container, dict):
        container[f"{key}x"] = copy.deepcopy(container[key])
    else:
        junk = rng.choice(JUNK)
        container[key] = copy.deepcopy(junk)
        return f"{where} = {str(junk)[:20]!r}", root[0]
    return f"{where} {kind}d", root[0]


def _places(container: Any, shape: tuple[Any, ...]) -> Iterator[tuple[Any, Any, tuple[Any, ...]]]:
    """Yield all places of values, with their shapes: their paths without the numbers of rows."""
    pairs = enumerate(container) if isinstance(container, list) else list(container.items())
    for key, value in pairs:
        own = (*shape, "*" if isinstance(container, list) else key)
        yield container, key, own
        if isinstance(value, list | dict):
            yield from _places(value, own)


def mutate_bytes(content: bytes, rng: Random) -> Mutated:
    """Cut a file, flip or add bytes, write zeros into it, or replace all of it."""
    kinds: Mapping[str, Callable[[bytes, Random], bytes]] = {
        **DAMAGES,
        "one byte": _flip_one,
        "inserted": lambda old, rng: _spliced(old, rng, rng.randbytes(rng.randrange(1, 9))),
        "doubled": lambda old, rng: old + old,
    }
    kind = rng.choice(list(kinds))
    return kind, kinds[kind](content, rng)


def _flip_one(content: bytes, rng: Random) -> bytes:
    place = rng.randrange(len(content))
    return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]


def _spliced(content: bytes, rng: Random, new: bytes) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + new + content[place:]


def mutate_lines(content: bytes, rng: Random) -> Mutated:
    """Change one value of a file with one JSON value a line, or a line as a whole."""
    lines = content.decode().splitlines()
    number = rng.choice((0, rng.randrange(len(lines))))
    kind = rng.choice(("value", "value", "value", "remove", "double", "swap"))
    what = f"line {number} {kind}"
    if kind == "value":
        what, value = mutate_value(json.loads(lines[number]), rng)
        what, lines[number] = f"line {number}: {what}", json.dumps(value)
    elif kind == "remove":
        del lines[number]
    elif kind == "double":
        lines.insert(number, lines[number])
    else:
        lines[0], lines[number] = lines[number], lines[0]
    return what, "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def mutate_database(content: bytes, rng: Random, folder: Path) -> Mutated:
    """Change one value of an SQLite file, or one part of a value that is JSON; or its tables."""
    path = folder / "mutated.sqlite"
    path.write_bytes(content)
    db = sqlite3.connect(path)
    try:
        table = rng.choice(("meta", "meta", "results", "results", "examples", "steps"))
        if rng.random() < 0.08:
            what = _change_table(db, table, rng)
        else:
            what = _change_cell(db, table, rng)
        db.commit()
    finally:
        db.close()
    mutated = path.read_bytes()
    path.unlink()
    return f"{table}: {what}", mutated


def _change_table(db: sqlite3.Connection, table: str, rng: Random) -> str:
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    statement = rng.choice(
        (
            f"DROP TABLE {table}",
            f"DELETE FROM {table}",
            f"ALTER TABLE {table} RENAME COLUMN {rng.choice(columns)} TO other",
            f"ALTER TABLE {table} ADD COLUMN other TEXT",
            f"PRAGMA user_version={rng.choice((0, 1, 2, 3, 99))}",
            f"PRAGMA application_id={rng.randrange(2**31)}",
        )
    )
    db.execute(statement)
    return statement


def _change_cell(db: sqlite3.Connection, table: str, rng: Random) -> str:
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    rows = db.execute(f"SELECT * FROM {table}").fetchall()
    row, column = rng.choice(rows), rng.randrange(len(columns))
    value = row[column]
    is_json = isinstance(value, str) and value[:1] in ("{", "[")
    if is_json and rng.random() < 0.85:
        what, new = mutate_value(json.loads(value), rng)
        stored: Any = json.dumps(new)
    else:
        junk = rng.choice((*JUNK, b"\xff\xfe", b""))
        what = str(junk)[:20]
        stored = json.dumps(junk) if isinstance(junk, list | dict) else junk
        stored = stored.encode("utf-8", "replace").decode() if isinstance(stored, str) else stored
        stored = min(stored, 2**62) if type(stored) is int else stored
    name = columns[column]
    same = " AND ".join(f"{other} IS ?" for other in columns)
    # Some may not be empty, or not be there twice, or be no text: then nothing is changed.
    with contextlib.suppress(sqlite3.IntegrityError):
        db.execute(f"UPDATE {table} SET {name} = ? WHERE {same}", (stored, *row))
    first = f"{row[0]}." if table == "meta" else ""
    return f"{first}{name} {what}"


def mutate_archive(content: bytes, rng: Random, manifest: str) -> Mutated:
    """Change the manifest of a zip file, or the name or the contents of a member."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    names = [name for name, _ in members]
    number = rng.randrange(len(members))
    kind = rng.choice(("manifest", "manifest", "manifest", "name", "contents", "remove", "double"))
    what = f"{names[number]} {kind}"
    if kind == "manifest":
        place = names.index(manifest)
        what, value = mutate_value(json.loads(members[place][1]), rng)
        members[place] = (manifest, json.dumps(value).encode())
    elif kind == "name":
        other = rng.choice((*names, "folder/../../out", "/etc/passwd", "cache", "folder/a/../../b"))
        members[number] = (other, members[number][1])
    elif kind == "contents":
        members[number] = (names[number], mutate_bytes(members[number][1] or b"x", rng)[1])
    elif kind == "remove":
        del members[number]
    else:
        members.append(members[number])
    return what, zipped(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def zipped(members: Sequence[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    """Return a zip file with these members; a name may be there twice."""
    import warnings

    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # names that are there twice
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


HEADERS: tuple[tuple[bytes, tuple[bytes, ...]], ...] = (
    (
        b"'|u1'",
        (b"'|O' ", b"'<f8'", b"'<c8'", b"'|S1'", b"'<U1'", b"'|b1'", b"'<M8'", b"[('a',", b"'zz' "),
    ),
    (
        b"'<i8'",
        (b"'|O' ", b"'<f8'", b"'<c8'", b"'|S8'", b"'<U2'", b"'<M8'", b"'>i8'", b"9999 ", b"'|V8'"),
    ),
    (
        b"(4, 6, 6)",
        (b"(4, 6,-6)", b"(4,6,1e9)", b"(9, 9, 9)", b"(0, 6, 6)", b"(144,   )", b"((((((((("),
    ),
    (b"(4,)", (b"(0,)", b"(-1)", b"()  ", b"(9,)", b"'x' ", b"(4.)")),
    (b"False", (b"True ", b"None ", b"\x00\x00\x00\x00\x00")),
    (b"'shape'", (b"'shapx'", b"'s\\x00  '")),
)
"""Parts of the header of an array, and others of the same length to put there."""


def mutate_arrays(content: bytes, rng: Random) -> Mutated:
    """Change the header or the contents of one array of an .npz file, or its name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    number = rng.randrange(len(members))
    name, array = members[number]
    known = [(old, new) for old, new in HEADERS if old in array]
    kind = rng.choice(("header", "header", "header", "bytes", "name", "remove"))
    what = f"{name} {kind}"
    if kind == "header" and known:
        old, others = rng.choice(known)
        new = rng.choice(others)
        what = f"{name}: {new!r} for {old!r}"
        members[number] = (name, array.replace(old, new, 1))
    elif kind == "name":
        members[number] = (rng.choice(("x", "labels", "../x.npy", "x.npy", "")) or "y.npy", array)
    elif kind == "remove":
        del members[number]
    else:
        members[number] = (name, mutate_bytes(array, rng)[1])
    return what, zipped(members)
