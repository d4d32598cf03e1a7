"""The frame of every page: one file that loads nothing, and runs only its own script.

The content policy names the one script and the one style sheet by their hashes, so nothing else
can run, even if an escape were missing. Markup stands in templates/, where every value is escaped
and shows its control characters, unless it is a part of a page itself (`__html__`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from brittle.formatting import number, percent, plural
from brittle.redaction import revealed, visible
from brittle.statuses import colour_rules

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MIN_ENTRIES = 3  # of a table of contents
STATUS_RULES = "/* colours of statuses */\n"
"""Stands in the style sheet where the rules of the statuses go."""


@dataclass(frozen=True)
class Section:
    """A part of a page: its heading, and the macro that draws `value`.

    A macro is named by its file in templates/ and its own name, as in `run.hero`. One that draws
    the heading itself `has_heading`. Where a page has a table of contents, the heading leads to
    `anchor`, which is made of the heading if it is empty.
    """

    macro: str
    value: Any = None
    heading: str = ""
    css: str = ""
    anchor: str = ""
    has_heading: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """The template and the macro in it."""
        file, _, name = self.macro.rpartition(".")
        return f"{file}.html.jinja", name

    def __html__(self) -> Markup:
        """Draw the section by itself."""
        return fragment("sections.html.jinja", sections=[self])


def render_page(
    template: str,
    title: str,
    *,
    style: str = "",
    script: str = "",
    data: str = "",
    has_pictures: bool = False,
    **values: Any,
) -> str:
    """Render a page: a template that extends base.html.jinja.

    `style` comes after the style sheet of all pages. `data` is JSON, safe in a script element, that
    the script reads.
    """
    from markupsafe import Markup

    whole = style_sheet() + style
    sources = {
        "default-src": "'none'",
        "script-src": content_hash(script) if script else "",
        "style-src": content_hash(whole),
        "img-src": "data:" if has_pictures else "",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    policy = "; ".join(f"{name} {source}" for name, source in sources.items() if source)
    frame = {"policy": policy, "style": whole, "script": script, "data": data}
    frame = {name: Markup(part) for name, part in frame.items()}
    return str(fragment(template, title=title, **frame, **values))


def still_page(title: str, sections: Iterable[Any], style: str = "") -> str:
    """Return a page that runs nothing: a title, and sections that draw themselves."""
    return render_page("still.html.jinja", title, style=style, sections=list(sections))


def fragment(template: str, **values: Any) -> Markup:
    """Render a template: a page, or a part of one."""
    from markupsafe import Markup

    return Markup(environment().get_template(template).render(values))


def draw_part(macro: str, *values: Any) -> Markup:
    """Draw a macro of a template, such as `bars.bar`."""
    file, _, name = macro.rpartition(".")
    drawn: Markup = getattr(environment().get_template(f"{file}.html.jinja").module, name)(*values)
    return drawn


@cache
def environment() -> Environment:
    """Build what renders templates: every value is escaped, and none may be missing."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("brittle.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=printed,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"isolate": isolate, "number": number, "percent": percent, "plural": plural}
    made.filters |= {"codes": codes, "words": plain}
    return made


def printed(value: Any) -> Any:
    """Return a value as a page shows it: control characters become signs."""
    return value if hasattr(value, "__html__") else visible(str(value))


def codes(new: str, old: str) -> str:
    """Write by their numbers what a reader does not see of an edit; "" if all can be seen."""
    written = visible(revealed(new, old))
    return "" if written == visible(new) else written


def isolate(text: object) -> Markup:
    """Escape a text for HTML so that its writing direction does not change the text around it."""
    from markupsafe import Markup

    return Markup("<bdi>{}</bdi>").format(printed(text))


def anchored(sections: Iterable[Section]) -> list[Section]:
    """Give every section with a heading an anchor of its own.

    >>> [one.anchor for one in anchored([Section("a.b", heading=name) for name in ("It", "It")])]
    ['it', 'it-2']
    """
    taken: set[str] = set()
    placed = []
    for section in sections:
        slug = section.anchor or re.sub(r"\W+", "-", section.heading.lower()).strip("-")
        anchor, copy = slug, 1
        while anchor and anchor in taken:
            copy += 1
            anchor = f"{slug}-{copy}"
        taken.add(anchor)
        placed.append(replace(section, anchor=anchor))
    return placed


def style_sheet() -> str:
    """Return the style sheet of all pages, with the colours of the statuses."""
    return asset("report.css").replace(STATUS_RULES, colour_rules())


def asset(name: str) -> str:
    """Read a file that belongs to the pages."""
    return files("brittle.reports").joinpath(name).read_text(encoding="utf-8")


def joined_script(*names: str) -> str:
    """Join files of `script/` into one function, so that they share their names."""
    parts = "\n".join(asset(f"script/{name}.js") for name in names)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def plain(value: Any) -> str:
    """Format a stored value for people: a mapping as `name value`, a list with commas."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {plain(v)}" for name, v in value.items() if v is not None)
    if isinstance(value, list | tuple):
        return ", ".join(plain(v) for v in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def content_hash(text: str) -> str:
    """Return the hash by which a content policy names a script or a style sheet."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
