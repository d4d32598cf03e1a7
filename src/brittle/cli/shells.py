"""The scripts that make a shell ask brittle what may come next.

Each is a few lines that hand over what stands before the cursor; what is offered is decided in
`completion.py`. The name of a run can be anything that a file may be called, such as `$(reboot)`.
So candidates are parted by NUL, are never expanded by a script, and reach the line as one word:
zsh and fish quote what they insert, for bash it is done here.

argcomplete is not used: it parts candidates by a vertical tab, lets bash expand what it has read,
and writes a line break in a name as a backslash before it, which a shell takes away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from brittle.cli.completion import Candidate
from brittle.cli.quoting import is_plain, quote, read_line
from brittle.visible import visible

# readline replaces only what follows the last of its word breaks (":" and "@" in zoo:NAME@DATA),
# or an open quote. This is "$2", and candidates have to begin where it begins.
BASH = """\
_brittle() {
    local one line="${COMP_LINE:0:COMP_POINT}"
    COMPREPLY=()
    while IFS= read -r -d '' one; do
        COMPREPLY+=("$one")
    done < <(brittle completion bash --line="$line" --replaced="$2" 2>/dev/null)
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
    found=("${(@0)$(brittle completion zsh --line="$line" 2>/dev/null)}")
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
    set -l found (brittle completion fish --line="$line" 2>/dev/null | string split0)
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
