"""What a reader does in the report, in headless Chromium; skipped where it is not installed.

A script that plays the reader is added to the page, with its hash in the content policy, which so
holds for everything else. What it saw is read from the page in the end.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from brittle.levels import LEVELS, rank
from brittle.reports import render
from brittle.reports.page import content_hash
from brittle.results import Step

Make = Callable[..., Any]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars"),
)
EVIL = "<img src=x onerror=\"document.title='owned'\">"

READER = """
(async () => {
  const seen = {};
  const find = (query) => document.querySelector(query);
  const all = (query) => [...document.querySelectorAll(query)];
  const pause = () => new Promise((resolve) => setTimeout(resolve, 150));
  const choose = (id, text) => {
    const menu = find(id);
    menu.value = [...menu.options].find((option) => option.text.startsWith(text)).value;
    menu.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const words = (query) => all(query).map((node) => node.textContent);
  const saved = [];
  // Reading a real blob takes time that the browser's virtual clock does not know.
  window.Blob = class {
    constructor(parts) { this.content = parts.join(""); }
    async text() { return this.content; }
  };
  URL.createObjectURL = (blob) => (saved.push(blob), "#saved");
  HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
  const copied = [];
  const clipboard = { writeText: async (text) => copied.push(text) };
  Object.defineProperty(navigator, "clipboard", { value: clipboard });
  const blocked = [];
  const note = (event) => blocked.push(event.violatedDirective);
  document.addEventListener("securitypolicyviolation", note);
  try {
%s
  } catch (error) { seen.error = String(error) + error.stack; }
  seen.blocked = blocked;
  seen.title = document.title;
  const box = document.createElement("pre");
  box.id = "seen";
  box.textContent = JSON.stringify(seen);
  document.body.append(box);
})();
"""


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that plays a reader on a page, and returns what was seen."""

    def play(page: str, script: str, fragment: str = "", size: str = "1300,900") -> dict[str, Any]:
        reader = READER % script
        allowed = page.replace("script-src ", f"script-src {content_hash(reader)} ", 1)
        file = tmp_path / "page.html"
        file.write_text(allowed.replace("</body>", f"<script>{reader}</script></body>"), "utf-8")
        command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={tmp_path / 'profile'}"]
        command += [f"--window-size={size}", "--virtual-time-budget=20000", "--dump-dom"]
        done = subprocess.run(
            [*command, f"{file.as_uri()}{fragment}"], capture_output=True, text=True, timeout=300
        )
        (text,) = re.findall(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
        seen: dict[str, Any] = json.loads(html.unescape(text))
        assert "error" not in seen, seen["error"]
        assert seen["blocked"] == [] and "owned" not in seen["title"]
        return seen

    return play


@pytest.fixture
def read(
    play: Callable[..., dict[str, Any]], make_run: Make, make_row: Make
) -> Callable[..., dict[str, Any]]:
    """Return a function that plays a reader on the page of 40 cases, and returns what was seen."""
    rows, steps = [], []
    for n in range(40):
        label, other = ("positive", "negative") if n % 4 else ("negative", "positive")
        row = make_row(
            f"=1+1 film number{n}{EVIL if n == 1 else ''}",
            {1: "odd", 3: "last"},
            case=f"{n:016x}",
            queries=20 + n,
            label=label,
            predicted=label,
            adversarial_label=other,
        )
        rows.append(row)
        steps += [
            Step(row.case, 1, 0.1, label, 0.9, ()),
            Step(row.case, 12, 0.4, label, 0.6, row.edits[1:]),
            Step(row.case, 17, 0.7, other, 0.7, row.edits[:1]),
        ]
    run = make_run(rows, name="a run/of <b>ours</b>")
    run.improvements = steps
    return partial(play, render(run))


@pytest.fixture
def read_ladder(
    play: Callable[..., dict[str, Any]], make_run: Make, make_row: Make
) -> Callable[..., dict[str, Any]]:
    """Return a function that plays a reader on the page of a run that climbs the ladder."""
    names, rows = ("typo", "rewrite", "any"), []
    for n in range(30):
        text, level = f"film {EVIL} number{n}", names[n % 3]
        swaps = {0: "odd", 1: "last"} if n % 2 else {0: "odd"}
        levels = tuple((name, "held") for name in LEVELS if rank(name) < rank(level))
        row = make_row(text, swaps, case=f"{n:016x}", level=level, attack="auto")
        rows.append(replace(row, levels=(*levels, (level, "broken"))))
    held = make_row("a film", case="level=any", status="held", levels=(("rewrite", "held"),))
    return partial(play, render(make_run([*rows, held], attack="auto")))


def test_filters_path_and_saved_rows(read: Callable[..., dict[str, Any]]) -> None:
    seen = read("""
      seen.all = find("#count").textContent;
      seen.menus = [...find("#class").options].map((option) => option.text);
      choose("#class", "Class: negative");
      seen.negative = find("#count").textContent;
      choose("#prediction", "Predicted: negative");
      seen.none = [find("#count").textContent, find("#copy").disabled];
      choose("#prediction", "Any");
      choose("#sort", "Order of the run");
      find(".path summary").click();
      await pause();
      seen.path = all(".path table")[0].innerText.split("\\n");
      for (const id of ["#csv", "#json", "#copy"]) find(id).click();
      await pause();
      seen.copied = copied[0];
      seen.button = find("#copy").textContent;
      seen.names = saved.filter((part) => typeof part === "string");
      seen.saved = await Promise.all(saved.filter((part) => part.text).map((blob) => blob.text()));
    """)
    assert seen["all"] == "40 cases"
    assert seen["menus"] == ["Any class", "Class: negative (10)", "Class: positive (30)"]
    assert seen["negative"] == "10 of 40 cases" and seen["none"] == ["0 of 40 cases", True]
    assert [line.split("\t") for line in seen["path"]][:2] == [
        ["query", "predicted", "changed since the step before"],
        ["1", "negative 90%", "the original"],
    ]
    assert seen["path"][2].startswith("12\tnegative 60%") and "last" in seen["path"][2]
    assert seen["path"][3].startswith("17\tpositive 70%") and "undone: last" in seen["path"][3]
    assert seen["names"] == ["a-run-of-b-ours-b--cases.csv", "a-run-of-b-ours-b--cases.json"]
    table, rows = seen["saved"]
    head, first, *more = table.removeprefix("\ufeff").removesuffix("\r\n").split("\r\n")
    assert head.startswith("case,status,reason,label,predicted,confidence,adversarial_label")
    assert first.startswith(f"{0:016x},broken,,negative,negative,0.9,positive,0.7,20,")
    assert len(more) == 9
    first_row = json.loads(rows)[0]
    assert first_row["original"] == "=1+1 film number0"
    assert first_row["adversarial"] == "=1+odd film last"
    assert first.endswith(",'=1+1 film number0,'=1+odd film last")  # no formula for spreadsheets
    assert seen["copied"].count("\r\n") == 11 and "\t" in seen["copied"]
    assert seen["button"] == "Copied 10 rows"


def test_back_after_a_link_returns_to_the_list(read: Callable[..., dict[str, Any]]) -> None:
    seen = read("""
      choose("#sort", "Order of the run");
      find("#next").click();
      all("a.id")[9].scrollIntoView();
      const place = () => [Math.round(scrollY), all(".case").length, find("#page").textContent];
      seen.before = place();
      location.hash = "cases"; // where the browser itself would scroll to
      await pause();
      scrollTo(0, seen.before[0]);
      for (const link of all("a.id").slice(9, 10)) {
        link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      }
      await pause();
      seen.linked = [all(".case").length, words("a.id"), find("#count").textContent, location.hash];
      history.back();
      await pause();
      seen.after = place();
      history.forward();
      await pause();
      find("#search").value = "film";
      find("#search").dispatchEvent(new Event("input", { bubbles: true }));
      await pause();
      seen.searched = [find("#count").textContent, location.hash];
    """)
    link = f"{34:016x}"
    assert seen["linked"] == [1, [link], "1 case, by its link. Back to the list", f"#{link}"]
    assert seen["before"][0] > 1000 and seen["before"] == seen["after"]
    assert seen["after"][1:] == [15, "26–40 of 40"]
    assert seen["searched"] == ["40 cases", "#cases"]


def test_a_page_opened_by_a_link_shows_its_case(read: Callable[..., dict[str, Any]]) -> None:
    seen = read(
        """
      seen.linked = words("a.id");
      location.hash = find("#count a").hash;
      await pause();
      seen.all = [all(".case").length, find("#count").textContent];
    """,
        fragment=f"#{7:016x}",
    )
    assert seen["linked"] == [f"{7:016x}"] and seen["all"] == [25, "40 cases"]


def test_values_are_shown_at_once_and_nothing_is_wider_than_a_phone(
    read: Callable[..., dict[str, Any]],
) -> None:
    seen = read(
        """
      const at = (query) => {
        const where = { bubbles: true, clientX: innerWidth - 10, clientY: 5 };
        find(query).dispatchEvent(new PointerEvent("pointermove", where));
        const tip = find(".tip");
        const box = tip.getBoundingClientRect();
        return [tip.textContent, tip.hidden, box.left >= 0 && box.right <= innerWidth];
      };
      seen.matrix = at(".confusion td[data-value]");
      seen.curve = at(".zone");
      seen.gone = at("h1");
      seen.titles = all("svg title").length;
      find(".path summary").click();
      await pause();
      seen.wide = document.documentElement.scrollWidth - innerWidth;
    """,
        size="500,800",
    )
    assert seen["matrix"] == ["10 of 10 negative (100.0%) predicted negative", False, True]
    assert seen["curve"][0].startswith("queries per case ≤ 0: 0.0% broken") and seen["curve"][2]
    assert seen["gone"][1] is True and seen["titles"] == 0
    assert seen["wide"] <= 0


def test_failures_come_gentlest_first_and_are_filtered_by_level(
    read_ladder: Callable[..., dict[str, Any]],
) -> None:
    seen = read_ladder("""
      const shown = () => [find("#count").textContent, ...new Set(words("#list .level"))];
      const follow = (link) => find(link).dispatchEvent(new MouseEvent("click", { bubbles: true }));
      seen.first = [shown(), words("#list .level").length, words("#list .costs")];
      find("#next").click();
      seen.second = shown();
      find('#levels input[value="any"]').click();
      seen.withoutAny = [shown(), words("#page")];
      follow('.rungs a[href="#level=any"]');
      await pause();
      seen.any = [shown(), location.hash];
      find('#levels input[value="typo"]').click();
      seen.byHand = [shown(), location.hash];
      follow('.rungs a[href="#level=any"]');
      await pause();
      seen.again = [shown(), location.hash];
      follow('.rungs a[href="#level=any"]');
      await pause();
      seen.twice = shown();
      follow('.ladder a[href="#status=held,proved"]');
      await pause();
      seen.held = [shown(), words("#list .status")];
      find("#json").click();
      await pause();
      follow('.rungs a[href="#level=typo"]');
      await pause();
      find("#json").click();
      await pause();
      const files = await Promise.all(saved.filter((part) => part.text).map((blob) => blob.text()));
      seen.levels = files.map((file) => JSON.parse(file)[0].level);
    """)
    count, levels, costs = seen["first"]
    assert count == ["30 of 31 cases", "rewrite"] and levels == 10
    # Within a level the smallest change comes first, as it does in other runs.
    assert [cost[0] for cost in costs] == ["1"] * 5 + ["2"] * 5
    assert seen["second"] == ["30 of 31 cases", "any synonym"]
    assert seen["withoutAny"] == [["20 of 31 cases", "rewrite"], ["1–10 of 20"]]
    assert seen["any"] == [["10 of 31 cases", "any synonym"], "#level=any"]
    assert seen["byHand"] == [["20 of 31 cases", "any synonym"], "#cases"]
    assert seen["again"] == seen["any"] and seen["twice"] == seen["any"][0]
    assert seen["held"] == [["1 of 31 cases"], ["held"]]
    assert seen["levels"] == [None, "typo"]


@pytest.mark.parametrize(
    ("fragment", "shown"),
    [
        ("#level=typo", "10 of 31 cases"),
        ("#level=rewrite,typo", "20 of 31 cases"),
        ("#status=broken,held", "31 cases"),
        ("#level=nothing", "0 of 31 cases"),
        ("#level%3Dany", "1 case, by its link. Back to the list"),  # a case that has this name
        ("#level=%ff", "30 of 31 cases"),
    ],
)
def test_a_link_to_a_filter_works_from_elsewhere(
    read_ladder: Callable[..., dict[str, Any]], fragment: str, shown: str
) -> None:
    seen = read_ladder('seen.shown = find("#count").textContent;', fragment)
    assert seen["shown"] == shown


@pytest.mark.parametrize("size", ["1300,900", "500,900"])
def test_the_ladder_fits_into_the_window(
    read_ladder: Callable[..., dict[str, Any]], size: str
) -> None:
    seen = read_ladder(
        """
      const box = (query) => find(query).getBoundingClientRect();
      seen.wide = document.documentElement.scrollWidth - innerWidth;
      seen.bar = [box(".rungs svg").width, box(".rungs .left").width / box(".rungs svg").width];
      seen.hatched = getComputedStyle(find(".rungs .lost")).fill;
      seen.inside = all(".ladder .rungs *").every(
        (node) => node.getBoundingClientRect().right <= box(".ladder .card").right);
    """,
        size=size,
    )
    assert seen["wide"] <= 0 and seen["inside"]
    assert seen["bar"][0] > 150 and seen["bar"][1] == pytest.approx(1.0, abs=0.01)
    assert "#hatched" in seen["hatched"]


def test_the_first_failure_is_on_the_first_screen_and_the_rest_is_folded(
    read_ladder: Callable[..., dict[str, Any]],
) -> None:
    seen = read_ladder("""
      seen.top = find("#list .case").getBoundingClientRect().top + scrollY;
      seen.folded = all("details").filter((box) => box.open).length;
      seen.charts = all("figure").filter((box) => box.checkVisibility()).length;
      seen.all = all("figure").length;
      seen.last = all("section").at(-1).textContent.slice(0, 30);
      find("#settings-seed-and-command summary").click();
      seen.settings = find("#settings-seed-and-command dl").checkVisibility();
    """)
    assert seen["top"] < 900
    assert seen["folded"] == 0 and seen["charts"] == 1 < seen["all"]
    assert seen["last"].strip().startswith("Settings, seed and command") and seen["settings"]


@pytest.mark.parametrize("size", ["1300,900", "700,900", "500,900"])
def test_every_link_of_the_contents_can_be_seen(
    read_ladder: Callable[..., dict[str, Any]], size: str
) -> None:
    seen = read_ladder(
        """
      seen.inside = all(".contents a").every((link) => {
        const box = link.getBoundingClientRect();
        return box.left >= 0 && box.right <= innerWidth && box.width > 0;
      });
      seen.wide = document.documentElement.scrollWidth - innerWidth;
    """,
        size=size,
    )
    assert seen["inside"] and seen["wide"] <= 0


def test_untested_cases_are_apart_from_those_already_wrong(
    play: Callable[..., dict[str, Any]], make_run: Make
) -> None:
    seen = play(
        render(make_run()),
        """
      seen.first = [find("#count").textContent, ...new Set(words("#list .status"))];
      seen.chips = words("#statuses .chip");
      for (const box of all("#statuses input")) if (box.checked) box.click();
      find('#statuses input[value="not tested"]').click();
      seen.untested = [words("#list .status"), words("#list .reason")];
      find('#statuses input[value="not tested"]').click();
      find('#statuses input[value="already wrong"]').click();
      seen.wrong = words("#list .status");
      find("#json").click();
      await pause();
      seen.saved = JSON.parse(await saved.find((part) => part.text).text())[0].status;
    """,
    )
    assert seen["first"] == ["3 of 8 cases", "broken"]
    assert "already wrong 1" in seen["chips"] and "not tested 1" in seen["chips"]
    assert seen["untested"] == [["not tested"], ["nothing to edit"]]
    assert seen["wrong"] == ["already wrong"]
    assert seen["saved"] == "skipped"  # a file has the statuses of the run


def test_characters_that_nobody_sees_are_also_written_by_their_numbers(
    play: Callable[..., dict[str, Any]], make_run: Make, make_row: Make
) -> None:
    swaps = {0: "m\u0435ss", 1: "i\u200bt", 2: "\u202ewon\u202c", 3: "plain", 4: "x\U000e0020y"}
    page = render(make_run([make_row("mess it now odd xy", swaps)]))
    seen = play(page, "seen.codes = words('.case .codes'); seen.ins = words('.case ins');")
    assert seen["codes"] == ["m⟨U+0435⟩ss", "i⟨U+200B⟩t", "x⟨U+E0020⟩y"]
    assert seen["ins"][:2] == ["m\u0435ss", "i\u200bt"]  # as they are displayed
    assert seen["ins"][2] == "⟨U+202E⟩won⟨U+202C⟩"  # what would reverse a line never is
