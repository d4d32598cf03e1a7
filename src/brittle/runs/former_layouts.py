"""Files of earlier layouts: what differs, and how a file that is opened to write becomes a new one.

| layout | what it lacks |
|---|---|
| 1 | the present names of statuses |
| 2 | the columns of answers, costs and pictures; the present name of the journal's question |
| 3, at first | the counts of samples |
| 3 | similarity and fluency; what was proved |
| 4, at first | the number of single swaps |
| 4, then | levels of edits, and random edits of broken cases |
"""

from __future__ import annotations

import re
import sqlite3

FORMER_STATUSES = {"won": "broken", "lost": "held", "spent": "out of budget"}
FORMER_QUESTIONS = {"scores": "answer", "alone:scores": "alone:answer"}


def column_names(db: sqlite3.Connection, table: str) -> list[str]:
    """List the columns of a table as it stands in the file."""
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def update_layout(db: sqlite3.Connection, layout: str) -> None:
    """Bring the tables to the present layout, given as SQL; one that is so already stays."""
    for former, status in FORMER_STATUSES.items():
        db.execute("UPDATE results SET status = ? WHERE status = ?", (status, former))
    for former, question in FORMER_QUESTIONS.items():
        db.execute("UPDATE answers SET question = ? WHERE question = ?", (question, former))
    for table in ("results", "steps"):
        known = column_names(db, table)
        for name, kind in _columns(layout, table):
            if name not in known:
                db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")


def _columns(layout: str, table: str) -> list[tuple[str, str]]:
    """Read the names and types of a table's columns from the layout's SQL.

    >>> _columns("CREATE TABLE a (x TEXT PRIMARY KEY, y REAL, PRIMARY KEY (x)) WITHOUT ROWID;", "a")
    [('x', 'TEXT'), ('y', 'REAL')]
    """
    match = re.search(rf"CREATE TABLE {table} \((.*?)\) WITHOUT ROWID;", layout, re.DOTALL)
    content = match.group(1) if match else ""
    return re.findall(r"\b(\w+) (TEXT|REAL|INTEGER|BLOB)\b", content)
