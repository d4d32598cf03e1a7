"""The words of a paper's page: what the paper says, and the texts around our figures.

They stand in the file paper.toml of the paper's folder, so that Python holds only what is computed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class PaperText:
    """The content of paper.toml.

    `reference` names the paper in full, `protocol` what is repeated of it. `claims` are its
    findings as quotations, by the key of the judge; `tests` of a claim are the tasks that test the
    reasons of its note. `examples` are texts of the paper, each with what the paper made of it.
    `tables` are numbers of the paper for tables of the page, `sections` the paragraphs before
    them, in Markdown. `differences` are settings of the paper beside ours; ours name results, as in
    {train plain[epochs]}.
    """

    title: str
    reference: str
    protocol: str
    claims: Mapping[str, Mapping[str, Any]]
    sections: Mapping[str, str]
    differences: Mapping[str, tuple[str, str]]
    examples: Mapping[str, Mapping[str, str]]
    tables: Mapping[str, Mapping[str, Any]]


@cache
def load_text(paper: str) -> PaperText:
    """Load the words of a paper by its name."""
    file = Path(__file__).parent / paper_folder(paper) / "paper.toml"
    return PaperText(**tomllib.loads(file.read_text("utf-8")))


def paper_folder(name: str) -> str:
    """Return the folder of a paper, which Python imports.

    >>> paper_folder("natural-texts")
    'natural_texts'
    """
    return name.replace("-", "_")
