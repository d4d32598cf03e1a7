"""Malformed command lines: good ones with words dropped, doubled, misspelt and made up."""

from __future__ import annotations

from pathlib import Path
from random import Random

from hostile.part import Part, problem_of, timed
from hostile.workspace import TARGET, write_workspace

LINES = (
    f"attack {TARGET} pwws --data films.csv --limit 2 --name run --budget 5 --seed 1",
    f"attack {TARGET} key --data films.csv --limit 2 --goal toward:positive --confidence 0.9",
    f"attack {TARGET} genetic --data films.csv --limit 1 --only positive --toward negative",
    f"attack {TARGET} rules --data films.csv --limit 1 --rules none.jsonl --labels a=b,c=d",
    "attack cmd:cat salient-swap --data films.csv --limit 1 --timeout 2 --labels a,b",
    "attack http:none.toml pwws --data films.csv --text text --label label --locked text",
    "attack zoo:naive-bayes@films.csv#0?size=tiny pwws --data films.csv --limit 1",
    "attack model.skops pwws --data films.csv --split test --mask x --scores logits",
    "try python:torture_model:one good --attack key --json",
    "show run --examples 2 --json",
    "report run --out out.html --nearest",
    "export run out.csv --texts",
    "verify run --target python:torture_model:two",
    "compare run run --fail-if-worse",
    "train naive-bayes --data films.csv --size tiny --set seed=3 --seed 2",
    "nearest zoo:naive-bayes@films.csv good bad",
    "inside run --out out.json",
    "grid pool:pool.txt key --data films.csv --limit 2 --workers 1",
    "transfer pool:pool.txt key --data films.csv --limit 2 --seeds 1 --workers 1",
    "select pool:pool.txt --size 2 --method greedy",
    "importance pool:pool.txt good --out out.svg",
    "rules show none.jsonl",
    "rules export none.jsonl --to csv",
    "papers imdb --scale none --data films.csv",
    "list runs --json --quiet",
    "completion bash --line brittle --replaced brittle",
    "attack cmd:cat pwws --data films.csv --limit 1 --timeout 2 --answers text --workers 2",
)
JUNK = (
    *("", " ", "-", "--", "---x", "-1", "0", "1.5", "nan", "inf", "1e999", "9" * 400, "x" * 5000),
    *(
        "../..",
        "/",
        ".",
        "~",
        "\n",
        "\t",
        "\x1b[31m",
        "'",
        '"',
        "🙈",
        "\udcff",
        "ä" * 300,
        "%s",
        "{}",
    ),
    *("$(touch x)", "`touch x`", "cmd:cat -p hunter-22", "cmd:cat 'open", "zoo:$(x)", "~root"),
    *("a=b", "=", ",", ",,", "a,b,c", ":", "::", "@", "#", "?", "zoo:", "zoo:@mr", "zoo:LSTM@#x?"),
    *("python:", "python::", "python:os:system", "http:", "http:films.csv", "cmd:", "filter:"),
    *("ensemble:", "pool:", "pool:films.csv", "any()", "keyword:", "bleu:x", "toward:", "--json=1"),
)


def malformed(rng: Random) -> list[str]:
    """Change one or a few words of a good command line."""
    words = rng.choice(LINES).split()
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(words))
        change = rng.randrange(5)
        if change == 0 and len(words) > 1:
            del words[place]
        elif change == 1:
            words.insert(place, words[rng.randrange(len(words))])
        elif change == 2:
            word = list(words[place])
            rng.shuffle(word)
            words[place] = "".join(word)
        else:
            words[place] = rng.choice(JUNK)
    return words


def command_lines(folder: Path, count: int, seed: int) -> Part:
    """Call malformed command lines; each ends with a message, and not with a traceback."""
    write_workspace(folder, 6)
    with timed(Part("malformed command lines", count)) as part:
        for number in range(count):
            words = malformed(Random(f"{seed}:line:{number}"))
            shown = " ".join(word[:40] for word in words).encode("ascii", "replace").decode()
            part.check(shown, problem_of(words, folder))
    return part
