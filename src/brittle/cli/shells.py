"""Words as shells read and write them, and the scripts that make a shell ask brittle.

Words as shells read and write them: the words of a line, and a word that can be nothing else.

Only the quoting that bash, zsh and fish share is read: backslashes, single and double quotes, and
`$'…'`. Nothing is expanded: `$(…)`, `$NAME`, `*` and `~` are characters like any other.

The scripts that make a shell ask brittle what may come next.

Each is a few lines that hand over what stands before the cursor; what is offered is decided in
`completion.py`. The name of a run can be anything that a file may be called, such as `$(reboot)`.
So candidates are parted by NUL, are never expanded by a script, and reach the line as one word:
zsh and fish quote what they insert, for bash it is done here.

argcomplete is not used: it parts candidates by a vertical tab, lets bash expand what it has read,
and writes a line break in a name as a backslash before it, which a shell takes away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brittle.cli.completion import Candidate
from brittle.redaction import visible

_PART = re.compile(
    r"""
    (?P<space>\s+)
    | \$'(?P<ansi>(?:[^'\\]|\\.)*)(?P<ansi_end>'?)\\?
    | '(?P<single>[^']*)(?P<single_end>'?)
    | "(?P<double>(?:[^"\\]|\\.)*)(?P<double_end>"?)\\?
    | \\(?P<escaped>.?)
    | (?P<plain>[^\s'"\\$]+|\$)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTES = {"ansi": "$'", "single": "'", "double": '"'}
_ANSI_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_ANSI_LETTERS = {"n": b"\n", "t": b"\t", "r": b"\r", "e": b"\x1b", "E": b"\x1b", "a": b"\a"}
_PLAIN = re.compile(r"[\w@%+=:,./-]*", re.ASCII)


@dataclass(frozen=True)
class ShellLine:
    """The words of a line; the last one is being written, in a `quote` that is still open."""

    words: tuple[str, ...]
    quote: str = ""


def read_line(line: str) -> ShellLine:
    """Read what stands before the cursor, whatever it is.

    >>> read_line("brittle attack 'my folder/' pw").words
    ('brittle', 'attack', 'my folder/', 'pw')
    >>> read_line('brittle try "zoo:'), read_line("brittle show ").words
    (ShellLine(words=('brittle', 'try', 'zoo:'), quote='"'), ('brittle', 'show', ''))
    """
    words, quote = [""], ""
    is_begun = False
    for part in _PART.finditer(line):
        kind = str(part.lastgroup).removesuffix("_end")
        quote = "" if part.groupdict().get(f"{kind}_end") else _QUOTES.get(kind, "")
        if kind != "space":
            words[-1] += _value(kind, part[kind])
            is_begun = True
        elif is_begun:
            words.append("")
            is_begun = False
    return ShellLine(tuple(words), quote)


def _value(kind: str, text: str) -> str:
    """Return what a part of a word stands for."""
    if kind == "double":
        return re.sub(r'\\([$`"\\])', r"\1", text)
    if kind == "ansi":
        return _ANSI_ESCAPE.sub(_ansi_value, text.encode()).decode("utf-8", "replace")
    return text


def _ansi_value(escape: re.Match[bytes]) -> bytes:
    code = escape[1].decode("latin-1")
    if code[0] == "x" and len(code) > 1:
        return bytes([int(code[1:], 16)])
    if code.isdigit():
        return bytes([int(code, 8) % 256])
    return _ANSI_LETTERS.get(code, escape[1])


def is_plain(text: str) -> bool:
    """Tell whether a text is itself in a shell, without quotes."""
    return bool(_PLAIN.fullmatch(text))


def quote(text: str, opened: str = "") -> str:
    """Write a text so that bash reads it as one word, or as the rest of one in an `opened` quote.

    The quote that is open stays open: bash closes it where a word is complete. Characters that a
    terminal cannot show are written as `$'…'`.

    >>> print(quote("a $(b)"), quote("it's", "'"), quote("$x", '"'))
    'a $(b)' it'\\''s \\$x
    """
    inner = opened or "'"
    written = "".join(_in_quote(character, inner) for character in text)
    return written if opened else f"'{written}'"


def _in_quote(character: str, opened: str) -> str:
    """Write a character inside of a quote; what cannot stand there is put between two of them."""
    escapes = "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
    if opened == "$'":
        is_special = character in "'\\" or not character.isprintable()
        return escapes if is_special else character
    if not character.isprintable():
        return f"{opened}$'{escapes}'{opened}"
    if opened == "'":
        return "'\\''" if character == "'" else character
    if character == "!":  # the history is expanded in double quotes, too
        return "\"'!'\""
    return f"\\{character}" if character in '$`"\\' else character


# readline replaces only what follows the last of its word breaks (":" and "@" in zoo:NAME@DATA),
# or an open quote. This is "$2", and candidates have to begin where it begins.
BASH = """\
_brittle() {
    local one line="${COMP_LINE:0:COMP_POINT}"
    COMPREPLY=()
    while IFS= read -r -d '' one; do
        COMPREPLY+=("$one")
    done < <(brittle setup completion bash --line="$line" --replaced="$2" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[:@=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o default -F _brittle brittle
"""
ZSH = """\
#compdef brittle
_brittle() {
    local -a found names texts
    local line="${(j: :)words[1,CURRENT]}" name text
    found=("${(@0)$(brittle setup completion zsh --line="$line" 2>/dev/null)}")
    for name text in "${(@)found}"; do
        [[ -n $name ]] && names+=("$name") texts+=("$text")
    done
    (( ${#names} )) || { _files; return }
    if [[ ${#names} == 1 && $names[1] == *[:@=] ]]; then
        compadd -S '' -a names
    else
        compadd -l -d texts -a names
    fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _brittle "$@"
else
    compdef _brittle brittle
fi
"""
FISH = """\
function __brittle_complete
    set -l line (commandline -cp)
    set -l found (brittle setup completion fish --line="$line" 2>/dev/null | string split0)
    if set -q found[1]
        printf '%s\\0' $found | string split0
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c brittle -f -a '(__brittle_complete)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def format_candidates(
    candidates: Sequence[Candidate], shell: str, line: str, replaced: str = ""
) -> str:
    """Write candidates as the script of a shell reads them, each up to a NUL.

    `replaced` is the end of the line that bash replaces by one of them.
    """
    if shell == "bash":
        parts = _for_bash([one.word for one in candidates], line.removesuffix(replaced))
    elif shell == "zsh":
        parts = [part for one in candidates for part in (one.word, _display(one))]
    else:
        # fish takes what follows a tab for the description.
        named = [one for one in candidates if "\t" not in one.word]
        parts = [f"{one.word}\t{one.about}" if one.about else one.word for one in named]
    return "".join(f"{part}\0" for part in parts)


def _display(candidate: Candidate) -> str:
    """Write a candidate for the list that zsh shows."""
    about = f"  -- {candidate.about}" if candidate.about else ""
    return visible(f"{candidate.word}{about}").replace("\n", "␊").replace("\t", "␉")


def _for_bash(words: Iterable[str], before: str) -> list[str]:
    """Quote the ends of words that follow what stands `before` in the line.

    If one has to be quoted, all are: bash inserts what they have in common.
    """
    start = read_line(before)
    ends = [word[len(start.words[-1]) :] for word in words]
    if not start.quote and all(map(is_plain, ends)):
        return ends
    return [_completed(quote(end, start.quote), start.quote) for end in ends]


def _completed(written: str, opened: str) -> str:
    """Double a quote at the start or the end of what is written in a quote that is open.

    readline takes one at the start for the one that is open, and one at the end for the one that
    would close it.
    """
    if not opened:
        return written
    mark = opened[-1]
    return mark * written.startswith(mark) + written + mark * written.endswith(mark)
