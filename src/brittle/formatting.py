"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence

NO_VALUE = "–"


def percent(value: float | None) -> str:
    """Format a share in percent.

    >>> percent(0.1234), percent(None)
    ('12.3%', '–')
    """
    return NO_VALUE if value is None else f"{100 * value:.1f}%"


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


def plural(count: int, names: Sequence[str]) -> str:
    """Format a count with its name in singular or plural.

    >>> plural(1, ("word", "words")), plural(1200, ("word", "words"))
    ('1 word', '1,200 words')
    """
    return f"{number(count)} {names[0] if count == 1 else names[1]}"
