"""`brittle setup`: make this machine ready for brittle.

`brittle setup completion`: the script with which a shell completes the words of brittle.
"""

from __future__ import annotations

import argparse

from brittle.cli.command import Command, add_output_flags

SHELLS = ("bash", "zsh", "fish")
COMPLETION_EXAMPLES = """\
examples (once, then open a new shell):
  bash:  echo 'eval "$(brittle setup completion bash)"' >> ~/.bashrc
  zsh:   echo 'eval "$(brittle setup completion zsh)"' >> ~/.zshrc
         (after compinit; or write it to a file _brittle in your $fpath)
  fish:  brittle setup completion fish > ~/.config/fish/completions/brittle.fish

Then Tab completes commands, flags, attacks and their settings, models of the zoo, data sets, goals,
pools, runs and studies, and file names everywhere else.
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("shell", choices=SHELLS, help="the shell")
    add_output_flags(parser)
    # What the scripts call: the line before the cursor, and the end of it that bash replaces.
    add("--line", help=argparse.SUPPRESS)
    add("--replaced", default="", help=argparse.SUPPRESS)


def _run(args: argparse.Namespace) -> None:
    from brittle.cli import console
    from brittle.cli.completion import complete, without_user_code
    from brittle.cli.former_names import current_words
    from brittle.cli.parser import build_parser
    from brittle.cli.shells import SCRIPTS, format_candidates, read_line

    if args.line is None:
        script = SCRIPTS[args.shell]
        if args.json:
            console.dump({"shell": args.shell, "script": script})
        elif not args.quiet:
            console.print_text(script)
        return
    words = current_words(read_line(args.line).words[1:] or ("",))[0]
    found = complete(build_parser(without_user_code(words[:-1])), words)
    console.print_text(format_candidates(found, args.shell, args.line, args.replaced))


COMPLETION = Command(COMPLETION_EXAMPLES, _add_flags, _run)
