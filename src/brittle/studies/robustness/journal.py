"""The cases of a study on disk, one a line, so that a study that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brittle.errors import UsageError
from brittle.studies.robustness.case import CaseRow

CASES_FILE = "cases.jsonl"


class Journal:
    """Finished cases by their ids; `about` is what decides them, and stands in the first line."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path = path
        self.rows: dict[str, CaseRow] = {}
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(about, sort_keys=True) + "\n", "utf-8")
            return
        head, *lines = path.read_text("utf-8").split("\n")
        if head != json.dumps(about, sort_keys=True):
            raise UsageError(
                f"{path} holds cases of a study with other targets, data or settings. Choose "
                "another --name, or delete the file."
            )
        whole = lines[:-1]  # a line without its end was cut when the program was killed
        for line in whole:
            row = CaseRow.of(json.loads(line))
            self.rows[row.case] = row
        if lines[-1:] != [""]:
            text = "".join(f"{line}\n" for line in [head, *whole])
            path.write_text(text, "utf-8")

    def add(self, row: CaseRow) -> None:
        """Keep a case that is finished."""
        self.rows[row.case] = row
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row.as_json(), ensure_ascii=False) + "\n")
