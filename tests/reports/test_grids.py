from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rich.console import Console

from brittle.reports import grid_markdown, grid_of
from brittle.reports.comparison import comparison_block


def shown(renderable: Any) -> str:
    file = io.StringIO()
    Console(file=file, width=80).print(renderable)
    return file.getvalue()


def test_runs_are_named_by_target_and_attack(make_run: Callable[..., Any]) -> None:
    runs = [make_run(target=t, attack=a) for t in ("lstm", "svm") for a in ("pwws", "jsma")]
    table = grid_of(runs)
    assert (table.targets, table.attacks) == (("lstm", "svm"), ("pwws", "jsma"))
    assert table.cells["svm", "jsma"].count == 3


def test_settings_and_goals_tell_runs_of_one_attack_apart(make_run: Callable[..., Any]) -> None:
    runs = [
        make_run(attack="swap", settings={"words": 1, "share": 0.2}),
        make_run(attack="swap", settings={"words": 3, "share": 0.2}),
        make_run(attack="pwws"),
        make_run(attack="pwws", goal="toward negative"),
    ]
    assert grid_of(runs).attacks == (
        "swap words 1",
        "swap words 3",
        "pwws untargeted",
        "pwws toward negative",
    )


def test_targets_of_one_name_are_told_apart_by_their_fingerprints(
    make_run: Callable[..., Any],
) -> None:
    runs = [make_run(fingerprint="0123456789"), make_run(fingerprint="abcdefghij")]
    assert grid_of(runs).targets == ("zoo:toy 01234567", "zoo:toy abcdefgh")


def test_runs_alike_in_all_of_this_keep_their_names(make_run: Callable[..., Any]) -> None:
    a, b = make_run(name="one"), make_run(name="two")
    assert grid_of([a, b, b]).attacks == ("pwws (one)", "pwws (two)")


def test_the_markdown_table_has_intervals_and_says_what_differs(
    make_run: Callable[..., Any],
) -> None:
    a, c = make_run(target="a|b"), make_run(target="c", attack="jsma")
    b = make_run(c.rows[:4], target="a|b", attack="jsma")
    text = grid_markdown(grid_of([a, b, c])).splitlines()
    assert text[:2] == ["| target | clean | pwws | jsma |", "| --- | --- | --- | --- |"]
    assert text[2].startswith("| a\\|b | 85.7% (48.7–97.4%) | 42.9% (15.8–75.0%) | 25.0% (")
    assert text[3].endswith(" | – | 42.9% (15.8–75.0%) |")
    assert text[5] == (
        "Over other examples than the rest: jsma against a\\|b. 4 examples are shared by all."
    )


def test_names_cannot_become_markup(make_run: Callable[..., Any]) -> None:
    text = grid_markdown(grid_of([make_run(target="<img>\n| x [y](z) `q`\x1b")]))
    assert len(text.splitlines()) == 3
    assert "<img>" not in text and "\x1b" not in text and "](" not in text.replace("\\]", "")


def test_many_runs_are_compared_as_a_grid(make_run: Callable[..., Any]) -> None:
    runs = [
        make_run(name=f"{target}-{attack}", target=target, attack=attack)
        for target in ("plain", "hard")
        for attack in ("pwws", "jsma")
    ]
    runs[3].rows = [replace(r, status="held") for r in runs[3].rows[:5]]
    text = shown(comparison_block(runs))
    assert max(map(len, text.splitlines())) <= 80
    assert "accuracy of every target under every attack" in text
    assert "Over other examples than the rest" in text
    assert "every target" not in shown(comparison_block(runs[:2]))
    assert "every target" not in shown(comparison_block([runs[0]] * 4))
