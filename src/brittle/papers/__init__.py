"""The papers as commands: train, attack, and write a page with the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping

PAPERS: Mapping[str, str] = {
    "hotflip": "HotFlip: white-box edits of characters and words (Ebrahimi et al., 2018)",
    "imdb": "three word attacks on three sentiment models, on IMDb reviews",
}
"""The papers by name; each has a folder of that name, with `PAPER` in its page.py."""

SCALES = ("tiny", "small", "full")
