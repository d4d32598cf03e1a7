"""The papers as commands: train, attack, and write a page with the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping

PAPERS: Mapping[str, str] = {
    "hotflip": "HotFlip: white-box edits of characters and words (Ebrahimi et al., 2018)",
    "imdb": "three word attacks on three sentiment models, on IMDb reviews",
}
"""The papers there are: the steps of each are in NAME.py, its page in NAME_page.py."""

SCALES = ("tiny", "small", "full")
