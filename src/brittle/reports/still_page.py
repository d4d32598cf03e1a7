"""A page without a script: a title, and sections that are there already."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.reports.escaping import escape
from brittle.reports.page import content_hash, style_sheet


def still_page(title: str, sections: Sequence[str], further_style: str = "") -> str:
    """Return one HTML file that loads nothing and runs nothing."""
    style = style_sheet() + further_style
    policy = f"default-src 'none'; style-src {content_hash(style)}; "
    policy += "base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)} · brittle</title>\n<style>{style}</style>\n</head>\n<body>\n<main>"
        f'\n<header><p class="mark">brittle</p><h1>{escape(title)}</h1></header>\n'
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )
