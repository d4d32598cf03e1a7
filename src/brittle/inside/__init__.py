"""What shows the inside of a target: attention, vectors of texts and words, nearest words.

`looking` asks a target about the broken cases of a run, `measures` are pure figures of what was
seen, `file` keeps it next to the run, `section` shows it. `nearest` finds the words that a
target holds for similar.
"""

from pathlib import Path


def inside_path(run: Path) -> Path:
    """Return the path of the file next to a run that keeps what was seen inside its target."""
    return run.with_suffix(".inside.json")
