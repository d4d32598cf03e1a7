"""The command line's words: every command, its flags, its help and its examples."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from brittle.attacks import ATTACKS, Setting, recipe, settings
from brittle.errors import UsageError

TARGETS = """\
targets:
  zoo:LSTM-W-Random-1@mr      a model of our own, trained when first used (brittle list models);
                              with other settings: 'zoo:LSTM-W-Random-1@mr#0?hidden=64,size=paper'
  folder/                     a transformers classifier, or a trained zoo model
  hf:NAME                     a transformers classifier from the hub
  model.skops                 a scikit-learn pipeline
  python:module:function      any Python function from texts to scores
  http:endpoint.toml          an HTTP endpoint
  cmd:'program --flag'        a program that answers line by line
"""
ATTACK_EXAMPLES = """\
examples:
  brittle attack zoo:naive-bayes@mr pwws --data mr --limit 100
  brittle attack my-folder/ genetic --data test.csv --text review --label stars --share 0.1
  brittle attack http:api.toml pwws --data test.csv --budget 200 --max-sent 5000

brittle attack TARGET ATTACK --help also lists the settings of that attack. The same command again
resumes a stopped run, or shows the finished one.
"""
TRY_EXAMPLES = """\
examples:
  brittle try zoo:naive-bayes@mr "A warm and funny film with a great story."
  brittle try zoo:naive-bayes@mr "A warm and funny film." --attack pwws
"""
RUN_EXAMPLES = {
    "show": "brittle show demo",
    "report": "brittle report demo --out demo.html",
    "export": "brittle export demo demo.csv",
    "verify": "brittle verify demo",
}
TRAIN_EXAMPLES = """\
examples:
  brittle train LSTM-W-Random-1 --data mr --seed 1
  brittle train LSTM-W-GloVe-1 --data imdb --size paper --set hidden=32 --set dropout=0.5
  brittle train CharCNN-LSTM --data mr --adversarial hotflip
  brittle train LSTM-W-Random-1 --data mr --adversarial pwws --copies 100
"""
COMPARE_EXAMPLES = """\
examples:
  brittle compare before after
  brittle compare before after --fail-if-worse     (exit code 1 if accuracy under attack fell)
"""


def parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser; an attack named in `argv` brings its own settings along."""
    from brittle.cli import study_options

    top = argparse.ArgumentParser(
        prog="brittle",
        description="Find the inputs that break a text model, and measure how easily it breaks.",
        epilog="brittle COMMAND --help says more on each, with examples.",
    )
    top.add_argument("--version", action="store_true", help="print the version and end")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    _attack(commands, argv)
    _try(commands, argv)
    for name, told in (
        ("show", "show a run: its figures and its clearest examples"),
        ("report", "write a run's HTML report"),
        ("export", "write a run's rows as .csv, .jsonl or .parquet"),
        ("verify", "score the adversarial text of every broken case again"),
    ):
        example = f"example: {RUN_EXAMPLES[name]}"
        made = commands.add_parser(
            name, help=told, description=told.capitalize() + ".", epilog=example
        )
        _on_run(made, name)
    _compare(commands)
    _train(commands, argv)
    study_options.nearest(commands)
    study_options.papers(commands)
    _list(commands)
    return top


def _attack(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], argv: Sequence[str]
) -> None:
    p = commands.add_parser(
        "attack",
        help="attack a target with an attack, on data",
        description="Attack a target and store the run.",
        epilog=TARGETS + "\n" + ATTACK_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("target", metavar="TARGET", help="what is attacked (see below)")
    p.add_argument("attack", metavar="ATTACK", help=f"{', '.join(ATTACKS)} or python:module:name")
    d = p.add_argument_group("data")
    d.add_argument(
        "--data", required=True, metavar="DATA", help="mr, imdb, bbc, a file, or hf:NAME"
    )
    d.add_argument("--split", help="train, dev or test (default: test)")
    d.add_argument("--text", metavar="COLUMN[,COLUMN]", help="the text column, or several fields")
    d.add_argument("--label", metavar="COLUMN", help="the label column; '' for unlabelled data")
    d.add_argument("--locked", metavar="FIELD[,FIELD]", default="", help="fields not to be edited")
    d.add_argument("--limit", type=count, help="the first so many of a seeded permutation")
    d.add_argument("--seed", type=int, default=0, help="of the permutation and of the attack")
    g = p.add_argument_group("goal and budget")
    g.add_argument("--toward", metavar="LABEL", help="the label to reach (default: any other)")
    g.add_argument("--confidence", type=float, help="the confidence an adversarial text must reach")
    g.add_argument("--budget", type=count, help="the most queries for one case")
    g.add_argument("--max-sent", type=count, help="the most texts sent to the target in all")
    add_target_flags(p)
    r = p.add_argument_group("run")
    r.add_argument("--name", help="the run's name (default: made from what is run)")
    r.add_argument("--new", action="store_true", help="start over, even if the run exists")
    r.add_argument("--retry-errors", action="store_true", help="attack cases with errors again")
    r.add_argument("--report", metavar="FILE", help="also write the HTML report")
    r.add_argument("--examples", type=int, default=5, help="how many examples to show (default: 5)")
    r.add_argument("--batch", type=count, help="rows of one call (default: found automatically)")
    r.add_argument(
        "--watchdog",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="when a call to a target in this process counts as hanging (default: 600)",
    )
    add_output_flags(p)
    _attack_settings(p, argv, "attack")


def _try(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], argv: Sequence[str]
) -> None:
    p = commands.add_parser(
        "try",
        help="attack one sentence and show all that was found",
        description="Attack one sentence and show all that was found; nothing is stored.",
        epilog=TRY_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("target", metavar="TARGET", help="what is attacked (brittle attack --help)")
    p.add_argument("sentence", metavar="SENTENCE")
    p.add_argument(
        "--attack", metavar="ATTACK", help="one attack (default: those that need no data)"
    )
    p.add_argument("--label", help="the true label (default: the target's own prediction)")
    p.add_argument("--seed", type=int, default=0)
    add_target_flags(p)
    add_output_flags(p)
    _attack_settings(p, argv, "try")


def add_target_flags(p: argparse.ArgumentParser) -> None:
    t = p.add_argument_group("target")
    t.add_argument("--labels", help="DATA=TARGET,… where names differ; or the target's labels")
    t.add_argument(
        "--scores",
        default="auto",
        choices=("auto", "prob", "logits", "single", "label"),
        help="what the target answers (default: probabilities, or known from the model)",
    )
    t.add_argument("--mask", help="how a masked word reads to a black box")
    t.add_argument(
        "--timeout",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="how long a program (cmd:) may take for one answer (default: 30)",
    )
    t.add_argument("--device", default="auto", help="auto, cpu, cuda, mps (default: auto)")
    t.add_argument(
        "--trust",
        action="append",
        default=[],
        metavar="TYPE",
        help="a type a .skops file may hold (repeatable)",
    )


def _attack_settings(p: argparse.ArgumentParser, argv: Sequence[str], command: str) -> None:
    """Offer the settings of the attack that is named on this command line."""
    if list(argv[:1]) != [command]:
        return
    words, flags = _divided(p, argv[1:])
    candidates = words[1:] if command == "attack" else [flags.get("--attack", "")]
    if command == "train":
        from brittle.training.adversarial.methods import METHODS

        method = flags.get("--adversarial", "").partition(",")[0]
        candidates = [] if method.lower() in METHODS else [method]
    known = (w for w in candidates if w.lower() in ATTACKS or w.startswith("python:"))
    named = next(known, None)
    if named is None:
        return
    group = p.add_argument_group(f"settings of {named}")
    for setting in settings(recipe(named)):
        if (command, setting.name) == ("train", "share"):
            continue  # it is there already, for the methods that are no attacks
        if _flag(setting) in p._option_string_actions:
            raise UsageError(
                f"The setting {setting.name!r} of {named} is also a flag of brittle {command}. "
                "Give it another name."
            )
        _setting(group, setting)


def _flag(setting: Setting) -> str:
    return "--" + setting.name.replace("_", "-")


def _divided(p: argparse.ArgumentParser, argv: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Tell the plain words of a command line from the flags the parser knows, with their values."""
    words, flags = [], {}
    rest = iter(argv)
    for word in rest:
        action = p._option_string_actions.get(word)
        if action is not None and action.nargs != 0:
            flags[word] = next(rest, "")
        elif not word.startswith("-"):
            words.append(word)
    return words, flags


def _setting(group: argparse._ArgumentGroup, setting: Setting) -> None:
    flag = _flag(setting)
    told = setting.help + ("" if setting.default is None else f" (default: {setting.default})")
    common: dict[str, Any] = {
        "dest": f"set_{setting.name}",
        "default": argparse.SUPPRESS,
        "help": told,
    }
    common["required"] = setting.required
    if setting.kind is bool:
        group.add_argument(flag, action=argparse.BooleanOptionalAction, **common)
    else:
        metavar = setting.kind.__name__.upper()
        group.add_argument(flag, type=setting.kind, metavar=metavar, **common)


def _on_run(p: argparse.ArgumentParser, command: str) -> None:
    p.add_argument("run", metavar="RUN", help="a run's name, the start of it, or its file")
    if command == "show":
        p.add_argument("--examples", type=int, default=5, help="how many examples (default: 5)")
    elif command == "report":
        p.add_argument("--out", metavar="FILE", help="where to (default: beside the run, .html)")
        p.add_argument(
            "--nearest",
            action="store_true",
            help="with the nearest words of edited words, asked of the run's target",
        )
        p.add_argument("--target", help="for --nearest: the target, if not the one the run names")
        add_target_flags(p)
    elif command == "export":
        p.add_argument("out", metavar="FILE", help="a name ending in .csv, .jsonl or .parquet")
    elif command == "verify":
        p.add_argument("--target", help="the target, if not the one the run names")
        add_target_flags(p)
    add_output_flags(p)


def _compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    p = commands.add_parser(
        "compare",
        help="show runs side by side, paired where the cases are the same",
        description="Show runs side by side; the first one is what the others are compared with.",
        epilog=COMPARE_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("names", metavar="RUN", nargs="+")
    p.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="exit with 1 if a later run's "
        "accuracy under attack is lower and the paired test says so",
    )
    p.add_argument("--level", type=float, default=0.05, help="the test's level (default: 0.05)")
    add_output_flags(p)


def _train(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], argv: Sequence[str]
) -> None:
    told = "train a model of the zoo (nothing is trained twice)"
    p = commands.add_parser(
        "train",
        help=told,
        description=told.capitalize() + ".",
        epilog=TRAIN_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument(
        "model",
        metavar="NAME",
        help="as listed by brittle list models, or hf:NAME or a folder: a transformers encoder",
    )
    p.add_argument("--data", required=True, help="mr, imdb, bbc, a file, or hf:NAME")
    p.add_argument("--text", metavar="COLUMN", help="the text column of a file")
    p.add_argument("--label", metavar="COLUMN", help="the label column of a file")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--device", default="auto")
    p.add_argument(
        "--size",
        default="default",
        help="default: trains in minutes on two cores; tiny: in a moment; paper: as its paper says",
    )
    p.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SETTING=VALUE",
        help="another setting than that of the size (repeatable); the model's README lists them",
    )
    p.add_argument("--force", action="store_true", help="train again, even if it is there")
    _adversarial(p)
    add_output_flags(p)
    _attack_settings(p, argv, "train")


def _adversarial(p: argparse.ArgumentParser) -> None:
    a = p.add_argument_group("adversarial training")
    a.add_argument(
        "--adversarial",
        metavar="METHOD",
        help="hotflip, miyato, key, or an attack, whose settings are then flags too",
    )
    a.add_argument(
        "--share",
        type=float,
        help="hotflip, key: of the characters changed (default: 0.2); an attack: as its own",
    )
    a.add_argument(
        "--noise", type=float, help="miyato: its norm, in that of the vectors (default: 0.1)"
    )
    a.add_argument("--copies", type=count, help="an attack: how many texts (default: 200)")
    a.add_argument("--every", type=count, help="an attack: after how many epochs (default: 1)")


def _list(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    told = "list runs, attacks, data or models"
    p = commands.add_parser(
        "list", help=told, description=told.capitalize() + ".", epilog="example: brittle list runs"
    )
    p.add_argument("what", choices=("runs", "attacks", "data", "models"))
    add_output_flags(p)


def add_output_flags(p: argparse.ArgumentParser) -> None:
    o = p.add_argument_group("output")
    o.add_argument(
        "--runs", default="runs", metavar="FOLDER", help="where runs lie (default: runs)"
    )
    o.add_argument("--json", action="store_true", help="print JSON instead of tables")
    o.add_argument("--quiet", action="store_true", help="no progress and no tables")


def count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"got {text}; expected a number of at least 1")
    return number
