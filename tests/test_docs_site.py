"""The site of the docs builds strictly, has no dead link, and loads nothing from outside."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
LOADED = re.compile(r"<(?:script|link|img|iframe|source|object|embed)\b[^>]*>")
TARGET = re.compile(r"""\b(?:href|src)=(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
OUTSIDE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)


def titles(entries: list[Any]) -> Iterator[str]:
    """Yield the pages that a list of the navigation names."""
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from titles(value) if isinstance(value, list) else [value]


def test_the_navigation_has_every_page_once() -> None:
    config = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    named = list(titles(config["nav"]))
    pages = [str(page.relative_to(ROOT / "docs")) for page in PAGES]
    assert sorted(named) == [page for page in pages if not page.endswith(".notes.md")]
    assert config["theme"]["font"] is False


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site in a folder of its own, as on a fresh clone."""
    pytest.importorskip("zensical")
    pytest.importorskip("mkdocstrings_handlers.python")
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    (folder / "src").symlink_to(ROOT / "src")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    pages = {page: page.read_text("utf-8") for page in site.rglob("*.html")}
    ids = {
        page: set(re.findall(r"""\bid=["']?([^\s"'>]+)""", text)) for page, text in pages.items()
    }
    dead = []
    for page, text in pages.items():
        if page.name == "404.html":
            continue  # its links begin at the root of the server
        for found in TARGET.findall(text):
            link = html.unescape("".join(found))
            if OUTSIDE.match(link) or link.startswith(("mailto:", "data:", "#__")):
                continue
            name, _, anchor = unquote(link).partition("#")
            target = (page.parent / name.partition("?")[0]).resolve() if name else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (anchor and anchor not in ids.get(target, {anchor})):
                dead.append(f"{page.relative_to(site)}: {link}")
    assert not dead


@pytest.mark.slow
def test_the_site_loads_nothing_from_outside(site: Path) -> None:
    for page in site.rglob("*.html"):
        for tag in LOADED.findall(page.read_text("utf-8")):
            for found in TARGET.findall(tag):
                is_link_to_read = 'rel="canonical"' in tag or "rel=canonical" in tag
                assert is_link_to_read or not OUTSIDE.match("".join(found)), f"{page.name}: {tag}"
        assert 'class="mermaid"' not in page.read_text("utf-8")  # its script is not shipped
    for sheet in site.rglob("*.css"):
        text = sheet.read_text("utf-8")
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", text), sheet.name


@pytest.mark.slow
def test_every_page_can_be_found_by_the_search(site: Path) -> None:
    index = json.loads((site / "search.json").read_text("utf-8"))
    found = {item["location"].partition("#")[0] for item in index["items"]}
    for page in PAGES:
        if not page.name.endswith(".notes.md"):
            path = page.relative_to(ROOT / "docs").with_suffix("")
            folder = path.parent if path.name == "README" else path
            assert ("" if folder == Path() else f"{folder}/") in found, page.name
