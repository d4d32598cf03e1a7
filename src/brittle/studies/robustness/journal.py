"""The cases of a study on disk, one a line, so that a study that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brittle import files
from brittle.errors import UsageError
from brittle.schema import Malformed, parse
from brittle.studies.robustness.case import CaseRow

CASES_FILE = "cases.jsonl"


class Journal:
    """Finished cases by their ids; `about` is what decides them, and stands in the first line."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path = path
        self.rows: dict[str, CaseRow] = {}
        self._targets = about.get("targets", {}).keys()
        own = json.dumps(about, sort_keys=True)
        if not path.is_file():
            files.make_private_folder(path.parent)
            files.write_whole(path, f"{own}\n", private=True)
            return
        head, *lines = path.read_text("utf-8", errors="replace").split("\n")
        if head != own:
            raise UsageError(
                f"{path} holds cases of a study with other targets, data or settings. Choose "
                "another --name, or delete the file."
            )
        whole = lines[:-1]  # a line without its end was cut when the program was killed
        for number, line in enumerate(whole, 2):
            row = self._row(line, number)
            self.rows[row.case] = row
        if lines[-1:] != [""]:
            text = "".join(f"{line}\n" for line in [head, *whole])
            files.write_whole(path, text, private=True)

    def _row(self, line: str, number: int) -> CaseRow:
        try:
            row = parse(CaseRow, json.loads(line))
            if row.rows.keys() != self._targets:
                raise Malformed(f"rows of {', '.join(self._targets)}", sorted(row.rows), "rows")
            return row
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"Line {number} of {self.path} is damaged ({error}). Delete the line: its case is "
                "measured again."
            ) from error

    def add(self, row: CaseRow) -> None:
        """Keep a case that is finished."""
        self.rows[row.case] = row
        with files.open_private(self.path) as file:
            line = f"{json.dumps(row.as_json(), ensure_ascii=False)}\n"
            file.write(line.encode(errors="backslashreplace"))
