"""The command line: parse, call the library, print. Exit codes: 0 fine, 1 a gate failed, 2 usage,
3 incomplete (the same command resumes), 4 too few cases to decide, 130 interrupted."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import traceback
from collections.abc import Sequence

from brittle.cli.commands import asked_command, commands, load_command
from brittle.cli.console import fix_paths, own_stdout, prepare_streams, resuming_words, tell
from brittle.cli.former_names import current_words
from brittle.cli.parser import build_parser, check_spelling
from brittle.engine.workers import exit_refused, exits_refused
from brittle.errors import BrittleError, Interrupted, LimitReached, RunStopped, UsageError
from brittle.redaction import hide_in_default_logs


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    hide_in_default_logs()
    try:
        words, hint = current_words(words)
        if hint:
            tell(hint)
        parser = build_parser(words)
        check_spelling(parser, words)
        args = parser.parse_args(words)
        if args.version:
            from importlib.metadata import version

            print(f"brittle {version('brittle')}")
            return 0
        if args.command is None:
            parser.print_help()
            return 0
        with own_stdout(), exits_refused():
            fix_paths(args)
            _run(args)
        return 0
    except BrittleError as error:
        message = str(error)
        tell(message if message.startswith("brittle ") else f"brittle: {message}")
        if isinstance(error, RunStopped) and _resumes(words):
            flag = error.flag if isinstance(error, LimitReached) else ""
            limit = getattr(args, flag.strip("-").replace("-", "_"), None) if flag else None
            words = resuming_words(words, error, limit)
            tell(f"Resume with: {shlex.join(['brittle', *words])}")
        return error.exit_code
    except KeyboardInterrupt:
        remedy = "; the same command resumes" if _resumes(words) else ""
        tell(f"brittle: interrupted{remedy}.")
        return Interrupted.exit_code
    except BrokenPipeError:
        # The reader (head, less) is gone: nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        tell(f"brittle: {error}. Check the path, and the free space.")
        return UsageError.exit_code
    except Exception:
        tell(traceback.format_exc().rstrip())
        tell("brittle: this is a bug in brittle, or in code of yours that it ran.")
        return RunStopped.exit_code


def _run(args: argparse.Namespace) -> None:
    """Run a command; code of the user's that tries to end the program is refused."""
    try:
        load_command(args.command).run(args)
    except SystemExit as error:
        raise exit_refused(error) from error
    except UsageError as error:
        problems = getattr(error, "problems", None)  # of a table
        if problems is None or hasattr(args, "skip_bad"):
            raise
        # The remedy would name flags that this command does not have.
        raise UsageError(f"{problems}\nCorrect the file.") from error


def _resumes(words: Sequence[str]) -> bool:
    """Tell whether the command that was called goes on when it is called again."""
    name = asked_command(words)
    entry = None if name is None else commands().get(name)
    return (
        name is not None and entry is not None and not entry.is_group and load_command(name).resumes
    )
