"""The page of one person: blind, whole, escaped; and, in headless Chromium, used to the end."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.picture import Picture
from brittle.reports.annotation import annotation_page
from brittle.reports.page import content_hash
from brittle.validity.answers import check_answers, key_path, load_answers, load_key, save_key
from brittle.validity.questionnaire import PRESETS, preset
from brittle.validity.sampling import Source, draw_sample
from brittle.validity.verdicts import read_sample

Make = Callable[..., Any]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars"),
)
EVIL = "</script><img src=x onerror=\"document.title='owned'\"> {thing} \u202e"
STANDARD = preset("standard")


@pytest.fixture
def source(make_row: Make) -> Source:
    """A run of twelve broken cases, one with a text that would harm a page."""
    rows = [
        make_row(
            f"{EVIL if n == 3 else 'a warm'} film number{n}",
            {1: "odd"} if n != 3 else {0: "evil"},
            case=f"{n:016x}",
            label=("negative", "positive")[n % 2],
            queries=20 + n,
        )
        for n in range(12)
    ]
    return Source("demo", {"labels": ["negative", "positive"], "fingerprint": "f"}, rows)


@pytest.fixture
def pictures(source: Source) -> Source:
    rng = np.random.default_rng(0)
    encoded = [Picture(rng.random((6, 6, 1), np.float32)).encode() for _ in range(24)]
    rows = [
        replace(
            row,
            fields=(("picture", encoded[n]),),
            original=encoded[n],
            adversarial=encoded[12 + n],
            edits=(),
            l2=1.0,
        )
        for n, row in enumerate(source.rows)
    ]
    manifest = {"labels": list("0123456789"), "fingerprint": "p", "kind": "picture"}
    return Source("digits", manifest, rows)


def embedded(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json" id="rows">(.*?)</script>', page)
    data: dict[str, Any] = json.loads(text)
    return data


def test_the_page_loads_nothing_and_runs_only_its_own_script(source: Source) -> None:
    page = annotation_page(draw_sample(source, STANDARD, 12, 2), STANDARD, 1)
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', page)
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert policy == (
        f"default-src 'none'; script-src {content_hash(script)}; style-src {content_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r"https?:|//[a-z]|url\(|@import|fetch\(|XMLHttp", page)
    assert EVIL not in page and page.count("</script>") == 2


def test_nothing_on_the_page_tells_what_is_what(source: Source) -> None:
    sample = draw_sample(source, STANDARD, 12, 2)
    page = annotation_page(sample, STANDARD, 2)
    for row in source.rows:
        assert row.case not in page
    data = embedded(page)
    for word in ("adversar", "original", "broken", "pwws", "demo", "beside", "untargeted"):
        assert word not in json.dumps(data).lower(), word
    assert [number for number, _ in data["items"]] == list(sample.orders[1])
    roles = {item.id: item.panels[0].role for item in sample.items}
    shapes = {
        role: {
            (len(panels), *(len(fields) for fields in panels), *(len(f[1]) for f in panels[0]))
            for number, panels in data["items"]
            if roles[number] == role
        }
        for role in ("original", "adversarial")
    }
    assert shapes["original"] <= shapes["adversarial"]
    assert set(data) == {
        *("format", "layout", "sample", "preset", "person", "captions", "questions", "items"),
    }


def test_swapping_all_roles_gives_a_page_of_the_same_form(source: Source) -> None:
    """If every original were the adversary and the reverse, nothing but the texts would differ."""
    sample = draw_sample(source, STANDARD, 12, 1)
    other = replace(
        sample,
        items=tuple(replace(item, panels=item.panels[::-1]) for item in sample.items),
    )
    here, there = (embedded(annotation_page(s, STANDARD, 1)) for s in (sample, other))
    swapped = [[number, panels[::-1]] for number, panels in there.pop("items")]
    assert here.pop("items") == swapped and here == there


@pytest.mark.parametrize("name", PRESETS)
def test_every_questionnaire_renders_for_texts_and_pictures(
    name: str, source: Source, pictures: Source
) -> None:
    questionnaire = PRESETS[name]
    for run, thing in ((source, "text"), (pictures, "picture")):
        beside = run if questionnaire.needs_two_runs else None
        sample = draw_sample(run, questionnaire, 8, 1, beside=beside)
        page = annotation_page(sample, questionnaire, 1)
        data = embedded(page)
        assert len(data["items"]) == 8 and len(data["questions"]) == len(questionnaire.questions)
        body = page.partition("<body>")[2].partition("<script")[0]
        assert "{" not in body and f"8 {thing}s to" in body
        assert all("{" not in str(q["words"]) + str(q["answers"]) for q in data["questions"])
        assert ("img-src data:" in page) == (thing == "picture")
        for question in data["questions"]:
            keys = [key for _, _, key in question["answers"] if key]
            assert len(set(keys)) == len(question["answers"])


def test_labels_are_called_as_the_data_calls_them(source: Source) -> None:
    manifest = {
        "labels": ["LABEL_0", "LABEL_1"],
        "label_map": {"bad": "LABEL_0", "good": "LABEL_1"},
    }
    sample = draw_sample(replace(source, manifest=manifest), STANDARD, 4, 1)
    (label, *_) = embedded(annotation_page(sample, STANDARD, 1))["questions"]
    assert label["answers"][:2] == [["LABEL_0", "bad", "1"], ["LABEL_1", "good", "2"]]


READER = """
(async () => {
  const seen = {};
  const find = (query) => document.querySelector(query);
  const all = (query) => [...document.querySelectorAll(query)];
  const words = (query) => all(query).map((node) => node.textContent);
  const pause = () => new Promise((resolve) => setTimeout(resolve, 30));
  const key = async (name) => {
    const event = { key: name, bubbles: true, cancelable: true };
    (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", event));
    await pause();
  };
  const saved = [];
  // Reading a real blob takes time that the browser's virtual clock does not know.
  window.Blob = class { constructor(parts) { this.text = parts.join(""); } };
  URL.createObjectURL = (blob) => (saved.push(blob), "#saved");
  HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
  const blocked = [];
  const note = (event) => blocked.push(event.violatedDirective);
  document.addEventListener("securitypolicyviolation", note);
  try {
%s
  } catch (error) { seen.error = String(error) + error.stack; }
  seen.blocked = blocked;
  seen.title = document.title;
  seen.wide = document.documentElement.scrollWidth - innerWidth;
  const box = document.createElement("pre");
  box.id = "seen";
  box.textContent = JSON.stringify(seen);
  document.body.append(box);
})();
"""


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that plays a reader on a page, in one profile, and returns what was seen.

    The script of the reader stands in a file of the same name each time, so that what the page
    keeps is there when it is opened again.
    """

    def call(
        page: str, script: str, size: str = "1300,900", profile: str = "profile"
    ) -> dict[str, Any]:
        reader = READER % script
        allowed = page.replace("script-src ", f"script-src {content_hash(reader)} ", 1)
        file = tmp_path / "page.html"
        file.write_text(allowed.replace("</body>", f"<script>{reader}</script></body>"), "utf-8")
        command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={tmp_path / profile}"]
        command += [f"--window-size={size}", "--virtual-time-budget=60000", "--dump-dom"]
        done = subprocess.run(
            [*command, file.as_uri()], capture_output=True, text=True, timeout=300
        )
        (text,) = re.findall(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
        seen: dict[str, Any] = json.loads(html.unescape(text))
        assert "error" not in seen, seen["error"]
        assert seen["blocked"] == [] and "owned" not in seen["title"] and seen["wide"] <= 0
        return seen

    return call


IN_A_BROWSER = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
PROFILES = ("profile", "profile-2", "profile-3", "profile-4")
FIRST_SITTING = """
  seen.before = [find("#task").hidden, find("#start").textContent];
  find("#start").click();
  await pause();
  seen.first = [all("#panels .card").length, words("legend"), find("#next").disabled];
  seen.marked = all("mark").length;
  await key("2");
  await key("Enter");  // nothing: the second question is open
  seen.half = [find("#next").disabled, find(".is-active legend").textContent];
  await key("4");
  seen.changed = words('[aria-pressed="true"] bdi');
  await key("Enter");
  seen.second = [all("#panels .card").length, words("legend"), words(".fixed")];
  seen.marks = all("mark").length;
  await key("5");
  await key("Enter");
  seen.place = find("#place").textContent;
  find(".answers button").click();  // by finger: the first answer of the first question
  await pause();
  seen.tapped = words('[aria-pressed="true"] bdi');
  await key("ArrowLeft");
  seen.back = [find("#place").textContent, all("#panels .card").length];
"""
SECOND_SITTING = """
  seen.start = find("#start").textContent;
  find("#start").click();
  await pause();
  seen.place = find("#place").textContent;
  await key("Enter");
  for (let n = 0; n < 60 && find("#end").hidden; n += 1) {
    const label = /number(\\d+)/.exec(find("#panels").textContent)[1] % 2 ? "2" : "1";
    const open = find(".is-active legend").textContent;
    if (find("#next").disabled) await key(open.startsWith("Which") ? label : "4");
    else await key("Enter");
  }
  seen.end = find("#summary").textContent;
  find("#save").click();
  await pause();
  seen.told = find("#told").textContent;
  seen.name = saved[1];
  seen.file = saved[0].text;
"""


def has_kept(profile: Path, sample: str) -> bool:
    """Tell whether a browser has written what a page told it to keep."""
    files = profile.glob("**/Local Storage/leveldb/*.log")
    return any(f"brittle {sample} 1".encode() in file.read_bytes() for file in files)


@pytest.mark.slow
@IN_A_BROWSER
def test_a_person_reads_comes_back_finishes_and_saves(
    source: Source, play: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    rows = [row for row in source.rows if row.case != f"{3:016x}"]  # read by its number below
    sample = draw_sample(replace(source, rows=rows), STANDARD, 8, 1)
    page = annotation_page(sample, STANDARD, 1)
    # On a loaded machine, a browser that is ended at once may not have written anything yet.
    for profile in PROFILES:
        first = play(page, FIRST_SITTING, profile=profile)
        if has_kept(tmp_path / profile, sample.id):
            break
    assert first["before"] == [True, "Start"]
    assert first["first"] == [
        1,
        ["Which label would the author give this text?", "How natural is it?"],
        True,
    ]
    assert first["marked"] == 0 and first["half"] == [True, "How natural is it?"]
    assert first["changed"] == ["positive", "a little odd"]
    assert first["second"][:2] == [2, ["Do both say the same?"]]
    assert first["second"][2] == [
        "Which label would the author give this text? positive",
        "How natural is it? a little odd",
    ]
    assert first["marks"] == 2 and first["place"] == "2 of 8" and first["tapped"] == ["negative"]
    assert first["back"] == ["1 of 8", 2]

    second = play(page, SECOND_SITTING, size="500,850", profile=profile)
    assert second["start"] == "Continue" and second["place"] == "1 of 8"
    assert second["end"] == "All answered. Thank you!"
    assert (
        second["name"] == f"answers-{sample.id}-person-1.json" and second["name"] in second["told"]
    )

    file, path = tmp_path / second["name"], key_path(tmp_path / "demo.sqlite", sample.id)
    file.write_text(second["file"], "utf-8")
    save_key(sample, path)
    key = load_key(path)
    people = check_answers([load_answers(file)], key, STANDARD)
    assert people[0].answers[sample.orders[0][0]] == {
        "label": "positive",
        "natural": 4,
        "meaning": 5,
    }
    reading = read_sample(people, key, {row.case: row for row in rows})
    assert reading.parts["meaning"].value == 1 and reading.parts["natural"].value == 1
    labels = {row.case: row.label for row in rows}
    later = [item for item in sample.items if item.id not in sample.orders[0][:2]]
    assert all(people[0].answers[item.id]["label"] == labels[item.case] for item in later)
    assert set(json.loads(second["file"])) == {
        *("format", "layout", "sample", "preset", "person", "answers"),
    }


@pytest.mark.slow
@IN_A_BROWSER
@pytest.mark.parametrize("name", [*(n for n, one in PRESETS.items() if one.source), "original"])
def test_the_questionnaires_of_papers_can_be_answered_to_the_end(
    name: str, source: Source, pictures: Source, play: Callable[..., dict[str, Any]]
) -> None:
    questionnaire = PRESETS[name]
    run = pictures if name in ("natural-pictures", "natural-changes") else source
    beside = run if questionnaire.needs_two_runs else None
    # All twelve cases, among them the one that would harm the page, where there is one question.
    sample = draw_sample(run, questionnaire, 12 if name == "original" else 4, 1, beside=beside)
    seen = play(
        annotation_page(sample, questionnaire, 1),
        """
      find("#start").click();
      await pause();
      for (let n = 0; n < 60 && find("#end").hidden; n += 1) {
        if (find("#next").disabled) await key("1");
        else await key("ArrowRight");
      }
      find("#save").click();
      await pause();
      seen.file = saved[0].text;
    """,
        size="500,850",
    )
    answers = json.loads(seen["file"])["answers"]
    assert set(answers) == {item.id for item in sample.items}
    assert all(set(given) == set(questionnaire.by_key()) for given in answers.values())
