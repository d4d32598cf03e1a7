"""The words of the commands that study targets and papers: their flags, help and examples."""

from __future__ import annotations

import argparse

from brittle.cli.options import add_output_flags, add_target_flags, count
from brittle.papers import PAPERS, SCALES

NEAREST_EXAMPLES = """\
examples:
  brittle nearest zoo:CharCNN-LSTM@mr film filn
  brittle nearest zoo:CharCNN-LSTM@mr film --layer "highway 1" --k 10
  brittle nearest --run demo                       (words that single edits of a run changed)
"""
PAPERS_EXAMPLES = """\
examples:
  brittle papers imdb --scale small
  brittle papers hotflip --scale small --data ag_news/ --words sst2/

The same command goes on from wherever it was stopped, and writes the page anew when all is done.
"""


def nearest(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Offer `brittle nearest`."""
    told = "show the nearest words of a word, before an edit and after it"
    p = commands.add_parser(
        "nearest",
        help=told,
        description=told.capitalize() + ".",
        epilog=NEAREST_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("target", metavar="TARGET", nargs="?", help="as for brittle attack")
    p.add_argument("word", metavar="WORD", nargs="?")
    p.add_argument("edited", metavar="EDITED", nargs="?", help="what an edit makes of the word")
    p.add_argument("--run", help="instead: the words that edits of one character changed in a run")
    p.add_argument(
        "--layer", help="of the target (default: the last that reads spellings, or the first)"
    )
    p.add_argument("--k", type=count, default=5, help="how many nearest words (default: 5)")
    p.add_argument(
        "--most", type=count, default=20_000, help="words of the dictionary (default: 20000)"
    )
    p.add_argument(
        "--pairs", type=count, default=8, help="with --run: how many edited words (default: 8)"
    )
    add_target_flags(p)
    add_output_flags(p)


def papers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Offer `brittle papers`."""
    told = "set a paper's figures beside ours: train, attack, write the page"
    p = commands.add_parser(
        "papers",
        help=told,
        description=told.capitalize() + ".",
        epilog=PAPERS_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    named = "; ".join(f"{name}: {about}" for name, about in PAPERS.items())
    p.add_argument("paper", metavar="PAPER", help=named)
    p.add_argument(
        "--scale",
        choices=SCALES,
        metavar="{small,full}",
        default="small",
        help="small: some minutes on two cores; full: the paper's size (default: small)",
    )
    p.add_argument("--data", help="a name, a file, or a folder with train and test files")
    p.add_argument("--words", help="hotflip: sentences for the word level, the same way")
    p.add_argument("--cases", type=count, help="texts attacked in a cell (default: by the scale)")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument(
        "--out", default="docs/papers", metavar="FOLDER", help="of the page (default: docs/papers)"
    )
    p.add_argument(
        "--folder", help="of what is kept on the way (default: papers/PAPER-SCALE among the runs)"
    )
    p.add_argument("--only", metavar="STEP", help="do one step, and those that it needs")
    p.add_argument("--jobs", type=count, help="steps side by side (default: one for each core)")
    add_output_flags(p)
