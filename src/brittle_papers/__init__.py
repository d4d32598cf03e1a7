"""The papers as commands: train, attack, and write a page with the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping

PAPERS: Mapping[str, str] = {
    "hotflip": "HotFlip: white-box edits of characters and words (Ebrahimi et al., 2018)",
    "imdb": "three word attacks on sentiment models, on IMDb",
    "transfer": "transfer among many models, ensembles and universal rules",
    "attention": "self-attention against recurrence: sentiment and entailment",
    "attention-translation": "self-attention against recurrence: translation",
    "natural": "natural adversaries, from a generator: digits",
    "natural-texts": "natural adversaries of sentences: entailment, and probes of translators",
}
"""The papers by name. Each has a folder of that name. What can be data stands in its paper.toml:
sizes, tasks, claims, tables and words (see spec.py, planning.py, judging.py and tables.py). What is
odd in it is Python, from `PAPER` in page.py. Two papers have two folders each, because digits and
sentences, and classifiers and translators, share no task."""

TRIAL = "tiny"
"""The scale that tries a command in a minute, with small models in place of the paper's."""
SCALES = (TRIAL, "small", "full")
