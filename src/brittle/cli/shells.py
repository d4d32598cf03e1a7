"""The scripts that make a shell ask brittle what may come next.

Each is a few lines that hand over what stands before the cursor; what is offered is decided in
`completion.py`, so that a script never has to be written anew after an update.
"""

from __future__ import annotations

from collections.abc import Iterable

from brittle.cli.completion import Candidate

# readline replaces only what follows the last of its word breaks (":" and "@" in zoo:NAME@DATA), so
# that bash has to be told the rest alone.
BASH = """\
_brittle() {
    local IFS=$'\\n' line="${COMP_LINE:0:COMP_POINT}"
    COMPREPLY=($(brittle completion bash --line "$line" --breaks "$COMP_WORDBREAKS" 2>/dev/null))
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
    local line="${(j: :)words[1,CURRENT]}"
    found=("${(@f)$(brittle completion zsh --line "$line" 2>/dev/null)}")
    found=("${(@)found:#}")
    (( ${#found} )) || { _files; return }
    names=("${(@)found%%$'\\t'*}")
    texts=("${(@)found/$'\\t'/  -- }")
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
    set -l found (brittle completion fish --line "$line" 2>/dev/null)
    if set -q found[1]
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c brittle -f -a '(__brittle_complete)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def format_candidates(
    candidates: Iterable[Candidate], shell: str, current: str, breaks: str = ""
) -> str:
    """Write candidates as the script of a shell reads them, one a line."""
    if shell != "bash":
        return "\n".join(f"{one.word}\t{one.about}".rstrip() for one in candidates)
    # A word break is no part of the word that is replaced, except "@", as in hosts.
    starts = [current.rfind(mark) + (mark != "@") for mark in breaks]
    kept = max(0, *starts) if starts else 0
    return "\n".join(one.word[kept:] for one in candidates)
