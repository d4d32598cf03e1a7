"""Numbers, and attacks with their settings, as people read them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

NO_VALUE = "–"
_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)*")
SINGULAR_ENDINGS = {"people": "person", "ies": "y", "sses": "ss", "ches": "ch", "s": ""}
"""Plural endings and their singular; the first match counts."""


def percent(value: float | None, digits: int = 1) -> str:
    """Format a share in percent.

    >>> percent(0.1234), percent(0.1234, 0), percent(None)
    ('12.3%', '12%', '–')
    """
    return NO_VALUE if value is None else f"{100 * value:.{digits}f}%"


def number(value: float | None) -> str:
    """Format a number with about three digits, and commas between thousands.

    >>> number(1.8333), number(14.25), number(12345.6), number(7), number(None)
    ('1.83', '14.2', '12,346', '7', '–')
    """
    if value is None:
        return NO_VALUE
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def rounded(value: float | None) -> float | None:
    """Round a number to the four decimals that a page shows and sorts by.

    >>> rounded(0.09999999), rounded(None)
    (0.1, None)
    """
    return None if value is None else round(value, 4)


def duration(seconds: float) -> str:
    """Format a time as people say it.

    >>> duration(0.42), duration(75), duration(7320)
    ('0.4 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def plural(count: float, names: str | Sequence[str]) -> str:
    """Format a count with its name in singular or plural.

    `names` is both, or the plural alone: of one thing, its first noun is then written in singular.

    >>> plural(1, ("text fools", "texts fool")), plural(1200, ("text fools", "texts fool"))
    ('1 text fools', '1,200 texts fool')
    >>> plural(1, "broken cases"), plural(1, "queries per case"), plural(2, "examples answered")
    ('1 broken case', '1 query per case', '2 examples answered')
    """
    one, many = (_singular(names), names) if isinstance(names, str) else names
    return f"{number(count)} {one if count == 1 else many}"


def money(tokens: tuple[float, float], price: tuple[float, float]) -> float:
    """Return what tokens cost, read and written, by the price of a million of each.

    >>> money((2_000_000, 500_000), (0.5, 2.0))
    2.0
    """
    return sum(count * each for count, each in zip(tokens, price)) / 1e6


def listed(items: Sequence[str], last: str = "and") -> str:
    """Format names as a list in a sentence.

    >>> listed(["csv", "jsonl", "md"], "or"), listed(["a", "b"]), listed(["a"])
    ('csv, jsonl or md', 'a and b', 'a')
    """
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def _singular(name: str) -> str:
    """Write the first noun in plural of a phrase in singular.

    >>> [_singular(name) for name in ("classes", "searches", "people", "texts turned", "read")]
    ['class', 'search', 'person', 'text turned', 'read']
    """
    words = name.split(" ")
    for n, word in enumerate(words):
        for ending, singular in SINGULAR_ENDINGS.items():
            if word.endswith(ending):
                words[n] = word.removesuffix(ending) + singular
                return " ".join(words)
    return name


def label_in_words(label: str | None) -> str:
    """Format the name of a label; one that is a number is quoted.

    >>> label_in_words("positive"), label_in_words("0"), label_in_words("1.5"), label_in_words(None)
    ('positive', '"0"', '"1.5"', '–')
    """
    if label is None:
        return NO_VALUE
    return f'"{label}"' if _NUMBER.fullmatch(label) else label


def attack_in_words(attack: str, settings: Mapping[str, Any]) -> str:
    """Format an attack with its settings; a setting that its name holds already is not repeated.

    >>> attack_in_words("pwws", {"candidates": "paper", "share": 0.2}), attack_in_words("fgsm", {})
    ('pwws (candidates=paper, share=0.2)', 'fgsm')
    >>> attack_in_words("pwws:share=0.2", {"candidates": "paper", "share": 0.2})
    'pwws:share=0.2 (candidates=paper)'
    """
    named = {part.partition("=")[0].replace("-", "_") for part in attack.split(":") if "=" in part}
    shown = [f"{name}={value}" for name, value in settings.items() if name not in named]
    return f"{attack} ({', '.join(shown)})" if shown else attack
