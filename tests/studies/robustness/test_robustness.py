"""Robustness by one cloud a case: against distances that are known, and what is shared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.latent import LatentPoint
from brittle.picture import Picture
from brittle.studies.robustness.case import HELD, Boundary, CloudSettings, Shell, measure_case
from brittle.studies.robustness.robustness import robustness
from brittle.studies.robustness.study import RobustnessStudy
from brittle.text import Text

FAST = {"samples": 60, "step": 0.05, "radius": 4.0}
POINTS = [(0.0, 0.0), (0.5, -0.25), (-1.0, 0.25), (0.25, 1.0)]
EXAMPLES = [(f"{x} {y}", "low") for x, y in POINTS]


@dataclass
class Plane:
    """Points of a plane, written as two numbers."""

    name: str = "plane"
    fingerprint: str = "plane"
    size: int = 2
    item_kind: str = "text"
    decoded: int = 0
    longest: int = 100

    def unfit(self, item: Text) -> str | None:
        return "it is too far out" if abs(numbers(item)).max() > self.longest else None

    def encode(self, items: Sequence[Text]) -> list[LatentPoint]:
        return [LatentPoint(numbers(item)) for item in items]

    def decode(self, points: Sequence[LatentPoint]) -> list[Text]:
        self.decoded += len(points)
        return [Text.of(f"{float(p.vector[0])!r} {float(p.vector[1])!r}") for p in points]


@dataclass
class HalfPlane:
    """The label "high" above a line; it remembers what it was asked about."""

    normal: tuple[float, float]
    offset: float
    name: str
    labels: tuple[str, ...] = ("low", "high")
    asked: list[str] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        return f"{self.normal} {self.offset}"

    def scores(self, items: Sequence[Text]) -> Any:
        self.asked += [str(item) for item in items]
        above = np.array([np.dot(self.normal, numbers(item)) > self.offset for item in items])
        return np.stack([~above, above], axis=1).astype(float)

    def distance(self, point: Sequence[float]) -> float:
        return abs(self.offset - float(np.dot(self.normal, point))) / np.hypot(*self.normal)


def numbers(item: Text) -> Any:
    return np.array([float(word) for word in str(item).split()])


def near() -> HalfPlane:
    return HalfPlane((1.0, 0.0), 1.0, "near")


def far() -> HalfPlane:
    return HalfPlane((1.0, 2.0), 5.0, "far")


def test_distances_approach_the_known_ones(tmp_path: Path) -> None:
    targets = [near(), far()]
    study = robustness(targets, EXAMPLES, Plane(), folder=tmp_path, **FAST)
    texts = {f"{x} {y}": (x, y) for x, y in POINTS}
    for case in study.cases:
        for target in targets:
            known, row = target.distance(texts[case.text]), case.rows[target.name]
            assert row.distance is not None
            assert known < row.distance < known + 0.1, (case.text, target.name)
            assert (row.predicted, row.became) == ("low", "high")
            assert np.dot(target.normal, numbers(Text.of(row.adversarial))) > target.offset
    first, second = study.figures
    assert (first.target, first.largest, second.largest) == ("far", 1.0, 0.0)
    assert first.accuracy == 1.0 and study.scored == 4
    [test] = study.sign_tests
    assert (test.first, test.smaller, test.larger, test.p) == ("near", 4, 0, 0.125)
    assert study.correlation is None  # two targets


def test_targets_alike_are_asked_about_the_same_samples_decoded_once() -> None:
    settings = CloudSettings(20, 0.1, 4.0, 3)
    one, alone = near(), Plane()
    measure_case("c", Text.of("0.0 0.0"), None, alone, {"a": one}, settings, 0)
    first, second, shared = near(), near(), Plane()
    row = measure_case(
        "c", Text.of("0.0 0.0"), None, shared, {"a": first, "b": second}, settings, 0
    )
    assert first.asked == second.asked == one.asked
    # Only the winner of the second target is decoded for it alone.
    assert shared.decoded == alone.decoded + 1
    assert row.rows["a"] == row.rows["b"] and row.rows["a"].queries == len(one.asked)


def test_samples_are_asked_about_the_nearest_first_until_one_wins() -> None:
    asked: list[int] = []

    def predict(items: Sequence[int]) -> Any:
        asked.extend(items)
        return np.array([int(item in winning) for item in items])

    points = LatentPoint.rows(np.zeros((300, 1)))
    shell = Shell(np.linspace(0.0, 0.99, 300), points, list(range(300)), np.arange(300))
    for winning, last in (({5, 40, 200}, 63), ({80, 90, 200}, 299), ({299}, 299)):
        boundary, asked[:] = Boundary(predict, 0), []
        assert boundary.look(shell)
        assert boundary.nearest == shell.distance[min(winning)]
        assert asked == list(range(last + 1)) and boundary.queries == last + 1
        assert not boundary.look(shell)  # nothing nearer wins
    winning, asked[:] = set(), []
    nothing = Boundary(predict, 0)
    assert not nothing.look(shell) and asked == list(range(300)) and not nothing.winners


def test_equal_samples_are_asked_about_once() -> None:
    texts, asked = ["b", "a", "b", "c", "a", "b"], list[list[str]]()

    def predict(items: Sequence[str]) -> Any:
        asked.append(list(items))
        return np.array(["abcd".index(item) for item in items])

    points = LatentPoint.rows(np.zeros((6, 1)))
    shell = Shell(np.arange(6.0), points, list(texts), np.array([0, 1, 0, 3, 1, 0]))
    for reference, nearest in ((0, 0.0), (1, 1.0)):
        boundary = Boundary(predict, reference)
        assert boundary.look(shell) and boundary.nearest == nearest
        assert asked[-1] == ["b", "a", "c"] and boundary.queries == 3

    class Coarse(Plane):
        def decode(self, points: Sequence[LatentPoint]) -> list[Text]:
            return [Text.of(f"{p.vector[0]:.1f} {p.vector[1]:.1f}") for p in points]

    target = near()
    row = measure_case("c", Text.of("0 0"), None, Coarse(), {"n": target}, CloudSettings(80), 0)
    assert row.decoded > 800 and len(target.asked) < row.decoded / 2
    assert row.rows["n"].distance == pytest.approx(1.05, abs=0.05)  # rounds to above 1


def test_eighty_targets_need_few_times_the_samples_of_one() -> None:
    settings = CloudSettings(20, 0.05, 4.0, 5)
    item, decoded = Text.of("0.0 0.0"), {}
    for count in (1, 80):
        generator = Plane()
        targets = {str(n): HalfPlane((1.0, 0.0), 1 + n / 80, str(n)) for n in range(count)}
        row = measure_case("c", item, None, generator, targets, settings, 0)
        decoded[count] = row.decoded
        assert all(own.distance is not None for own in row.rows.values())
    assert decoded[80] < 6 * decoded[1]


def test_a_target_has_the_same_rows_whoever_is_beside_it() -> None:
    settings = CloudSettings(20, 0.1, 4.0, 3)
    item = Text.of("0.0 0.0")
    alone = measure_case("c", item, None, Plane(), {"far": far()}, settings, 0)
    both = measure_case("c", item, None, Plane(), {"near": near(), "far": far()}, settings, 0)
    assert alone.rows["far"] == both.rows["far"]


def test_what_never_changes_is_held_and_what_always_changes_is_lost() -> None:
    class Fickle(HalfPlane):
        def scores(self, items: Sequence[Text]) -> Any:
            return np.array([[0.0, 1.0] if len(str(i)) == 3 else [1.0, 0.0] for i in items])

    settings = CloudSettings(5, 0.5, 2.0, 2)
    never = HalfPlane((1.0, 0.0), 100.0, "never")
    targets = {"never": never, "fickle": Fickle((1.0, 0.0), 0.0, "fickle")}
    row = measure_case("c", Text.of("0 0"), None, Plane(), targets, settings, 0)
    assert row.rows["never"].reason == HELD and row.rows["never"].distance is None
    assert row.rows["fickle"].reason == "its reconstruction reaches the goal already"


def test_a_study_that_was_stopped_goes_on_to_the_same_rows(tmp_path: Path) -> None:
    whole = robustness([near(), far()], EXAMPLES, Plane(), folder=tmp_path / "a", name="s", **FAST)
    two = {"folder": tmp_path / "b", "name": "s", **FAST}
    robustness([near(), far()], EXAMPLES, Plane(), limit=2, **two)
    path = tmp_path / "b" / "s" / "cases.jsonl"
    path.write_text(path.read_text() + '{"case": "cut')
    generator = Plane()
    again = robustness([near(), far()], EXAMPLES, generator, **two)
    assert again.cases == whole.cases
    assert generator.decoded < sum(case.decoded for case in whole.cases[2:]) + 20
    assert RobustnessStudy.load(tmp_path / "b" / "s.study.json") == again
    assert RobustnessStudy.load(str(tmp_path / "b" / "s.study.json")) == again
    with pytest.raises(UsageError, match="other targets, data or settings"):
        robustness([near(), far()], EXAMPLES, Plane(), seed=1, **two)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"decoded": ', '"decoded": -'),
        ('"rows": {"near"', '"rows": {"other"'),
        ('"queries": ', '"queries": "x'),
        ('"case": ', '"case": null, "x": '),
        ('"distance": ', '"distance": [], "x": '),
    ],
)
def test_a_damaged_case_is_named_by_its_line(tmp_path: Path, old: str, new: str) -> None:
    settings = {"folder": tmp_path, "name": "s", "limit": 2, **FAST}
    robustness([near(), far()], EXAMPLES, Plane(), **settings)
    path = tmp_path / "s" / "cases.jsonl"
    head, first, *rest = path.read_text().splitlines()
    assert old in first
    path.write_text("".join(f"{line}\n" for line in (head, first.replace(old, new, 1), *rest)))
    with pytest.raises(UsageError, match=r"Line 2 of .*cases\.jsonl is damaged"):
        robustness([near(), far()], EXAMPLES, Plane(), **settings)


def test_a_study_of_another_kind_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "s.study.json").write_text('{"kind": "grid", "format": 1}')
    with pytest.raises(UsageError, match="The study 's' already exists, of the kind grid"):
        robustness([near(), far()], EXAMPLES, Plane(), folder=tmp_path, name="s", **FAST)
    assert (tmp_path / "s.study.json").read_text() == '{"kind": "grid", "format": 1}'
    for name in ("a/s", "..", "a\\s"):
        with pytest.raises(UsageError, match="without slashes"):
            robustness([near(), far()], EXAMPLES, Plane(), folder=tmp_path, name=name, **FAST)


def test_rows_for_other_programs(tmp_path: Path) -> None:
    study = robustness([near(), far()], EXAMPLES, Plane(), folder=tmp_path, **FAST)
    lines = study.export(tmp_path / "targets.jsonl").read_text().splitlines()
    first, second = map(json.loads, lines)
    assert (first["target"], second["target"], second["p"]) == ("far", "near", 0.125)
    assert first["low"] <= first["mean"] <= first["high"] and first["p"] is None
    lines = study.export(tmp_path / "cases.jsonl", texts=True).read_text().splitlines()
    rows = list(map(json.loads, lines))
    assert [row["target"] for row in rows] == 4 * ["near"] + 4 * ["far"]
    assert rows[0]["distance"] == study.cases[0].rows["near"].distance
    assert rows[0]["original"] == study.cases[0].text and rows[0]["adversarial"]


def test_cases_are_chosen_by_class_and_by_who_is_right(tmp_path: Path) -> None:
    examples = [("0.0 0.0", "low"), ("0.1 0.0", "low"), ("9.0 9.0", "high"), ("9.0 0.0", "low")]
    study = robustness(
        [near(), far()], examples, Plane(longest=50), folder=tmp_path, all_right=True, **FAST
    )
    assert sorted(case.text for case in study.cases) == ["0.0 0.0", "0.1 0.0", "9.0 9.0"]
    assert sum(study.left_out.values()) == 1
    few = robustness(
        [near(), far()], examples, Plane(longest=5), folder=tmp_path, per_class=1, **FAST
    )
    assert len(few.cases) == 1 and few.left_out["it is too far out"] == 2
    with pytest.raises(UsageError, match="need labels"):
        robustness([near(), far()], ["0 0"], Plane(), folder=tmp_path, per_class=1, **FAST)


def test_a_target_that_does_not_open_is_named_and_the_page_escapes(tmp_path: Path) -> None:
    study = robustness(
        [near(), far(), "python:no_such_module:x"], EXAMPLES, Plane(), folder=tmp_path, **FAST
    )
    assert list(study.failures) == ["python:no_such_module:x"]
    page = study.report(tmp_path / "page.html").read_text()
    assert "mean Δz" in page and "near" in page and "no_such_module" in page
    assert json.loads(json.dumps(study.summary()))["targets"][0]["target"] == "far"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"radius": float("inf")}, "a finite radius that is at least as large"),
        ({"step": 0.0}, "a step above 0"),
        ({"samples": 0}, "1 or more"),
    ],
)
def test_searches_without_an_end_are_refused(
    changed: dict[str, float], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        robustness([near(), far()], EXAMPLES, Plane(), folder=tmp_path, **(FAST | changed))


def test_a_generator_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="makes pictures"):
        robustness([near(), far()], EXAMPLES, Plane(item_kind="picture"), folder=tmp_path, **FAST)


@dataclass
class PicturePlane:
    """Pictures of two pixels, each a number."""

    name: str = "picture-plane"
    fingerprint: str = "picture-plane"
    size: int = 2
    item_kind: str = "picture"

    def encode(self, items: Sequence[Picture]) -> list[LatentPoint]:
        return [LatentPoint(item.pixels.ravel().astype(float)) for item in items]

    def decode(self, points: Sequence[LatentPoint]) -> list[Picture]:
        pixels = np.clip([point.vector for point in points], 0.0, 1.0)
        return Picture.rows(pixels.reshape(-1, 1, 2, 1).astype(np.float32))


def brighter_than(bound: float, name: str) -> Any:
    """A function of an array of pictures, as a user writes it: is the first pixel brighter?"""

    def classify(pixels: Any) -> Any:
        above = pixels[:, 0, 0, 0] > bound
        return np.stack([~above, above], axis=1).astype(float)

    classify.__qualname__ = name
    classify.labels = ["low", "high"]  # type: ignore[attr-defined]
    return classify


PICTURES = [(np.array([[[x], [0.5]]], np.float32), "low") for x in (0.0, 0.1, 0.2)]
ON_PICTURES = {"samples": 60, "step": 0.05, "radius": 2.0}


def test_live_functions_read_pictures(tmp_path: Path) -> None:
    functions = [brighter_than(0.4, "near"), brighter_than(0.7, "far")]
    study = robustness(functions, PICTURES, PicturePlane(), folder=tmp_path, **ON_PICTURES)
    assert not study.failures and study.accuracy == {"near": 1.0, "far": 1.0}
    first = {float(picture[0, 0, 0]) for picture, _ in PICTURES}
    for name, bound in (("near", 0.4), ("far", 0.7)):
        found = sorted(d for d in study.distances[name] if d is not None)
        known = sorted(bound - x for x in first)
        assert len(found) == 3
        for distance, least in zip(found, known):
            assert least < distance < least + 0.15, name


def test_a_target_of_another_kind_or_that_never_answers_is_named(tmp_path: Path) -> None:
    options: dict[str, Any] = {"folder": tmp_path, **ON_PICTURES}
    good, text = brighter_than(0.4, "near"), near()
    text.name = "reads texts"
    study = robustness([good, text], PICTURES, PicturePlane(), **options)
    assert study.targets == ("near",) and list(study.failures) == ["reads texts"]
    assert (
        "contains pictures, but target 'reads texts' reads texts" in study.failures["reads texts"]
    )
    with pytest.raises(UsageError, match="reads texts"):
        robustness([text, far()], PICTURES, PicturePlane(), **options)

    def broken(pixels: Any) -> Any:
        raise ValueError("no pixels today")

    broken.labels = ["low", "high"]  # type: ignore[attr-defined]
    broken.__qualname__ = "broken"
    study = robustness([good, broken], PICTURES, PicturePlane(), **options)
    assert study.failures["broken"].startswith("It failed on every case. The first: ")
    assert "no pixels today" in study.failures["broken"]
    with pytest.raises(UsageError, match=r"nothing was measured: .*no pixels today"):
        robustness([broken, again(broken)], PICTURES, PicturePlane(), **options)


def again(function: Any) -> Any:
    def other(pixels: Any) -> Any:
        return function(pixels)

    other.labels, other.__qualname__ = function.labels, "again"  # type: ignore[attr-defined]
    return other


class Nervous(HalfPlane):
    """Fails on one of the originals."""

    def scores(self, items: Sequence[Text]) -> Any:
        if "0.5 -0.25" in map(str, items):
            raise RuntimeError("no answer")
        return super().scores(items)


class Doubting(Plane):
    """Cannot encode one item, and warns of all."""

    def encode(self, items: Sequence[Text]) -> list[LatentPoint]:
        if str(items[0]) == "-1.0 0.25":
            raise RuntimeError("no point")
        return super().encode(items)

    def doubt(self, items: Sequence[Text]) -> str | None:
        return f"{len(items)} strange items"

    def refined(self, steps: int) -> Plane:
        return Plane(name=f"refined by {steps}")


def test_what_fails_on_one_item_costs_that_case_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    targets = [near(), Nervous((0.0, 1.0), 3.0, "nervous")]
    study = robustness(targets, EXAMPLES, Doubting(), folder=tmp_path, **FAST)
    rows = {case.text: case.rows for case in study.cases}
    assert len(rows) == len(EXAMPLES)
    assert rows["0.5 -0.25"]["nervous"].reason == "RuntimeError: no answer"
    assert rows["0.5 -0.25"][near().name].distance is not None
    assert {row.reason for row in rows["-1.0 0.25"].values()} == {"RuntimeError: no point"}
    assert study.accuracy["nervous"] == 0.75  # all are low, and one has no answer
    assert "4 strange items" in caplog.text
    right = robustness(
        targets, EXAMPLES, Plane(), folder=tmp_path, name="right", all_right=True, **FAST
    )
    assert {case.text for case in right.cases} == {text for text, _ in EXAMPLES} - {"0.5 -0.25"}


def test_a_generator_at_hand_is_refined_too(tmp_path: Path) -> None:
    study = robustness([near(), far()], EXAMPLES, Doubting(), folder=tmp_path, refine=3, **FAST)
    assert study.generator == "refined by 3"
    with pytest.raises(UsageError, match="no method refined"):
        robustness([near(), far()], EXAMPLES, Plane(), folder=tmp_path, refine=3, **FAST)
