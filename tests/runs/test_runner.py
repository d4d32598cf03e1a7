"""From a target, examples and an attack to a run on disk, and on from where it stopped."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest

import brittle
from brittle.asks import Ask, Case, Search, Try
from brittle.attacks import RunContext, build
from brittle.errors import Interrupted, RunStopped, UsageError
from brittle.reports.summaries import summarize, summary_json
from brittle.runs.runner import RunProgress
from brittle.testing import FakeTarget
from brittle.text import Text

WEIGHTS = {"good": 2.0, "great": 2.0, "bad": -2.0}
FILMS = [(f"a good film of {i} great scenes", "positive") for i in range(40)]


@dataclass(frozen=True)
class Shout:
    """Try each word in capitals, alone."""

    mark: str = ""
    asks: ClassVar[tuple[type[Ask[Any]], ...]] = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        text = case.text
        words = [str(word).upper() + self.mark for word in text.words]
        yield from Try([text.swap(i, word) for i, word in enumerate(words)])


class Listed(FakeTarget):
    """A target that knows what it was asked, and may fail from some call on."""

    def __init__(self, fail_at: int | None = None, **given: Any) -> None:
        super().__init__(WEIGHTS, **given)
        self.asked: list[str] = []
        self.fail_at = fail_at

    def scores(self, items: Sequence[Text]) -> Any:
        self.asked += [str(item) for item in items]
        if self.fail_at is not None and len(self.calls) >= self.fail_at:
            raise KeyboardInterrupt
        return super().scores(items)


def rows(run: brittle.Run) -> list[Any]:
    return [astuple(r) for r in run.results()] + [astuple(s) for s in run.steps()]


def test_a_run_is_named_after_what_is_run(tmp_path: Path) -> None:
    first = brittle.attack(FakeTarget(WEIGHTS), FILMS[:2], folder=tmp_path, candidates="paper")
    assert first.name.startswith("fake-pwws-examples-") and len(first.name) == 25
    other = brittle.attack(
        FakeTarget(WEIGHTS), FILMS[:2], folder=tmp_path, share=0.5, candidates="paper"
    )
    assert other.name != first.name and other.name[:19] == first.name[:19]
    strange = FakeTarget(WEIGHTS, name="http://x/ y?z=ü")
    named = brittle.attack(strange, FILMS[:2], folder=tmp_path, candidates="paper")
    assert named.name.startswith("http-x-y-z-pwws-examples-")
    assert {path.parent for path in tmp_path.rglob("*.sqlite")} == {tmp_path}


def test_the_same_call_again_asks_nothing(tmp_path: Path) -> None:
    target = FakeTarget(WEIGHTS)
    first = brittle.attack(target, FILMS[:4], folder=tmp_path, candidates="paper")
    calls, totals = list(target.calls), first.totals
    again = brittle.attack(target, FILMS[:4], folder=tmp_path, candidates="paper")
    assert target.calls == calls and again.path == first.path
    assert rows(again) == rows(first) and again.totals == totals and again.complete


def test_new_starts_over(tmp_path: Path) -> None:
    target = FakeTarget(WEIGHTS)
    first = brittle.attack(target, FILMS[:4], folder=tmp_path, name="run", candidates="paper")
    calls = len(target.calls)
    brittle.attack(target, FILMS[:4], folder=tmp_path, name="run", new=True, candidates="paper")
    assert len(target.calls) > calls
    changed = brittle.attack(
        target, FILMS[:4], folder=tmp_path, name="run", new=True, share=0.3, candidates="paper"
    )
    assert changed.manifest["settings"]["share"] == 0.3 and first.path == changed.path


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = brittle.attack(
        FakeTarget(WEIGHTS), FILMS, folder=tmp_path, name="whole", candidates="paper"
    )
    stopping, target = threading.Event(), Listed(name="fake")

    def stop(progress: RunProgress) -> None:
        stopping.set()

    with pytest.raises(Interrupted, match="Stopped on request"):
        brittle.attack(
            target,
            FILMS,
            folder=tmp_path,
            name="run",
            stopping=stopping,
            progress=stop,
            candidates="paper",
        )
    part = brittle.open_run("run", tmp_path)
    done = [result.original for result in part.results()]
    assert 0 < len(done) < 40 and not part.complete
    asked = len(target.asked)
    run = brittle.attack(target, FILMS, folder=tmp_path, name="run", candidates="paper")
    assert rows(run) == rows(whole) and run.complete
    assert not set(target.asked[asked:]) & set(done)


def test_a_run_that_is_cut_off_by_anything_keeps_what_is_finished(tmp_path: Path) -> None:
    whole = brittle.attack(
        FakeTarget(WEIGHTS), FILMS, folder=tmp_path, name="whole", batch=64, candidates="paper"
    )
    calls = len(Listed(name="fake").calls)
    for fail_at in (3, 12, 25):
        with pytest.raises(KeyboardInterrupt):
            target = Listed(fail_at, name="fake")
            brittle.attack(target, FILMS, folder=tmp_path, name="run", batch=64, candidates="paper")
    run = brittle.attack(
        FakeTarget(WEIGHTS), FILMS, folder=tmp_path, name="run", batch=64, candidates="paper"
    )
    assert rows(run) == rows(whole) and calls == 0


def test_results_do_not_depend_on_the_batch_size(tmp_path: Path) -> None:
    runs = [
        brittle.attack(
            FakeTarget(WEIGHTS),
            FILMS[:6],
            folder=tmp_path,
            name=f"b{n}",
            batch=n,
            candidates="paper",
        )
        for n in (1, 7, 512)
    ]
    assert rows(runs[0]) == rows(runs[1]) == rows(runs[2])
    assert runs[0].totals["calls"] > runs[1].totals["calls"] > runs[2].totals["calls"]


def test_what_is_sent_can_be_limited_and_the_limit_raised(tmp_path: Path) -> None:
    target = FakeTarget(WEIGHTS)
    with pytest.raises(RunStopped, match="limit of 100 items") as stopped:
        brittle.attack(target, FILMS, folder=tmp_path, name="run", max_sent=100, candidates="paper")
    assert stopped.value.exit_code == 3 and sum(target.calls) == 100
    assert brittle.open_run("run", tmp_path).totals["sent"] == 100
    run = brittle.attack(
        target, FILMS, folder=tmp_path, name="run", max_sent=10_000, candidates="paper"
    )
    assert run.complete and run.totals["sent"] == sum(target.calls)


@pytest.mark.parametrize(("attack", "least"), [("pwws", 1), ("salient-swap", 10)])
def test_most_of_a_limit_is_spent_on_finished_cases(
    tmp_path: Path, attack: str, least: int
) -> None:
    films = [(f"a good film of {i} great scenes", "positive") for i in range(60)]
    target = Listed(name="fake")
    with pytest.raises(RunStopped, match="limit of 150 items"):
        brittle.attack(target, films, attack, folder=tmp_path, name="run", max_sent=150)
    attacked = [r for r in brittle.open_run("run", tmp_path).results() if r.queries > 1]
    numbers = {r.original.split()[4] for r in attacked}
    spent = [text for text in target.asked if numbers & set(text.split())]
    assert len(attacked) >= least and len(spent) > 75


@pytest.mark.parametrize("attack", ["pwws", "salient-swap"])
def test_a_costly_target_is_never_paid_twice_however_often_the_limit_is_raised(
    tmp_path: Path, attack: str
) -> None:
    target, whole = Listed(name="fake"), Listed(name="fake")
    target.costly = whole.costly = True  # type: ignore[attr-defined]
    expected = brittle.attack(whole, FILMS[:20], attack, folder=tmp_path, name="whole")
    limit = 10
    while True:
        try:
            run = brittle.attack(
                target, FILMS[:20], attack, folder=tmp_path, name="run", max_sent=limit
            )
            break
        except RunStopped:
            limit *= 2
    assert rows(run) == rows(expected)
    # Winners are scored once more, alone; so are a few originals, at the start and at the end.
    winners = sum(result.status == "broken" for result in run.results())
    repeated = len(target.asked) - len(set(target.asked))
    assert limit > 10 and repeated <= winners + 8 and len(target.asked) == run.totals["sent"]


def test_the_limit_takes_the_first_of_a_seeded_permutation(tmp_path: Path) -> None:
    def cases(**given: Any) -> list[str]:
        run = brittle.attack(FakeTarget(WEIGHTS), FILMS, Shout(), folder=tmp_path, **given)
        return [result.original for result in run.results()]

    few, more = cases(limit=5, name="few"), cases(limit=9, name="more")
    assert more[:5] == few and few != [text for text, _ in FILMS[:5]]
    assert cases(limit=5, seed=1, name="other") != few
    assert cases(name="all") == [text for text, _ in FILMS]


def test_settings_reach_the_attack_and_the_manifest(tmp_path: Path) -> None:
    run = brittle.attack(
        FakeTarget(WEIGHTS),
        FILMS[:3],
        folder=tmp_path,
        share=0.2,
        inflect=False,
        candidates="paper",
    )
    assert run.manifest["settings"]["share"] == 0.2
    assert run.manifest["settings"]["inflect"] is False
    assert {result.words_changed for result in run.results()} == {1}


@pytest.mark.parametrize("attack", ["pwws", Shout()])
def test_an_unknown_setting_is_refused(attack: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Unknown .*'shar'"):
        brittle.attack(FakeTarget(WEIGHTS), FILMS[:3], attack, folder=tmp_path, shar=0.2)
    assert not list(tmp_path.iterdir())


def test_a_live_attack_stands_in_place_of_a_name(tmp_path: Path) -> None:
    target = FakeTarget({"good": 2.0, "good!": -2.0})
    run = brittle.attack(target, [("so good", "positive")], Shout("!"), folder=tmp_path)
    (result,) = run.results()
    assert (result.attack, result.status, result.adversarial) == ("shout", "broken", "so GOOD!")
    assert run.manifest["settings"] == {"mark": "'!'"}
    with pytest.raises(UsageError, match="settings was"):
        brittle.attack(
            target, [("so good", "positive")], Shout("?"), folder=tmp_path, name=run.name
        )


def test_a_live_attack_with_helpers_can_be_resumed(tmp_path: Path) -> None:
    for _ in range(2):
        attack = build("pwws", {}, RunContext(["negative", "positive"]))
        run = brittle.attack(FakeTarget(WEIGHTS), FILMS[:2], attack, folder=tmp_path)
    assert run.complete and len(list(tmp_path.glob("*.sqlite"))) == 1


def test_an_attack_of_the_users_own_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shouting_attacks.py").write_text(
        "from dataclasses import dataclass\n"
        "from brittle.asks import Try\n"
        "@dataclass(frozen=True)\n"
        "class Shout:\n"
        "    mark: str\n"
        "    asks = (Try,)\n"
        "    def __call__(self, case, rng):\n"
        "        yield from Try([case.text.swap(0, 'LOUD' + self.mark)])\n"
        "def shout(*, mark: str = '!'):\n"
        "    return Shout(mark)\n"
    )
    monkeypatch.chdir(tmp_path)
    run = brittle.attack(
        FakeTarget({"good": 2.0, "loud?": -3.0}),
        [("good film", "positive")],
        "python:shouting_attacks:shout",
        folder=tmp_path,
        mark="?",
    )
    assert [r.adversarial for r in run.results()] == ["LOUD? film"]
    assert run.manifest["settings"] == {"mark": "?"}


def test_an_attack_that_asks_what_it_does_not_declare_is_refused(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Sly(Shout):
        asks: ClassVar[tuple[type[Ask[Any]], ...]] = ()

    with pytest.raises(brittle.BrittleError, match="asks Try, but does not declare"):
        brittle.attack(FakeTarget(WEIGHTS), FILMS[:2], Sly(), folder=tmp_path)


def test_an_attack_that_raises_costs_its_case_alone(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Clumsy(Shout):
        def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
            if "1" in case.text.words:
                raise ZeroDivisionError("oh")
            yield from super().__call__(case, rng)

    run = brittle.attack(FakeTarget(WEIGHTS), FILMS[:3], Clumsy(), folder=tmp_path)
    assert [r.status for r in run.results()] == ["held", "error", "held"]
    reason = run.results()[1].reason
    assert reason.startswith("the attack raised ZeroDivisionError: oh (test_runner.py, line ")


def test_a_goal_with_a_label_and_a_confidence(tmp_path: Path) -> None:
    known = {"GOOD film": [0.1, 0.4, 0.5], "good FILM": [0.1, 0.2, 0.7]}

    def classify(texts: list[str]) -> list[list[float]]:
        return [known.get(text, [0.1, 0.6, 0.3]) for text in texts]

    given: dict[str, Any] = {"folder": tmp_path, "labels": ["no", "yes", "other"]}
    (sure,) = brittle.attack(
        classify, ["good film"], Shout(), toward="OTHER", confidence=0.6, **given
    ).results()
    assert sure.goal == "toward other with confidence 0.6" and sure.adversarial == "good FILM"
    (lost,) = brittle.attack(
        classify, ["good film"], Shout(), toward="other", confidence=0.8, **given
    ).results()
    assert (lost.status, lost.adversarial_label) == ("held", "other")
    (away,) = brittle.attack(classify, ["good film"], Shout(), toward="no", **given).results()
    assert away.status == "held"
    with pytest.raises(UsageError, match=r"Unknown label 'othr'\. Did you mean 'other'"):
        brittle.attack(classify, ["good film"], toward="othr", **given, candidates="paper")
    with pytest.raises(UsageError, match="confidence of 2"):
        brittle.attack(classify, ["good film"], confidence=2, **given, candidates="paper")


def test_other_labels_for_the_same_data_are_another_run(tmp_path: Path) -> None:
    films = [("a good film", "1"), ("a bad film", "0")]
    target = FakeTarget(WEIGHTS)
    right, swapped = {"1": "positive", "0": "negative"}, {"0": "positive", "1": "negative"}
    brittle.attack(target, films, folder=tmp_path, name="run", labels=right, candidates="paper")
    with pytest.raises(UsageError, match="label_map was"):
        brittle.attack(
            target, films, folder=tmp_path, name="run", labels=swapped, candidates="paper"
        )


def test_progress_and_warnings_are_told(tmp_path: Path) -> None:
    seen: list[RunProgress] = []
    warned: list[str] = []
    swapped = [(text, "negative") for text, _ in FILMS]
    run = brittle.attack(
        FakeTarget(WEIGHTS, spread=0.1),
        swapped,
        folder=tmp_path,
        progress=seen.append,
        warn=warned.append,
        candidates="paper",
    )
    assert seen[-1].done == seen[-1].planned == 40 and seen[-1].counts == {"skipped": 40}
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert len(warned) == 1 and "probably swapped" in warned[0]
    assert run.manifest["warnings"] == warned and "swapped" in str(run)


def test_a_scikit_learn_pipeline_is_attacked_as_it_is(tmp_path: Path) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    linear = pytest.importorskip("sklearn.linear_model")
    pipeline = pytest.importorskip("sklearn.pipeline").make_pipeline(
        text.CountVectorizer(), linear.LogisticRegression()
    )
    train = ["a good film", "a great plot", "a bad film", "a dull plot"]
    pipeline.fit(train, ["positive", "positive", "negative", "negative"])
    run = brittle.attack(
        pipeline, [("a good story", "positive")], folder=tmp_path, candidates="paper"
    )
    (result,) = run.results()
    assert result.status in ("broken", "held") and result.predicted == "positive"
    assert run.manifest["labels"] == ["negative", "positive"]


def test_a_function_with_labels_is_attacked_as_it_is(tmp_path: Path) -> None:
    def classify(texts: list[str]) -> list[dict[str, float]]:
        return [
            {"spam": 0.9, "ham": 0.1} if "prize" in t else {"ham": 0.8, "spam": 0.2} for t in texts
        ]

    run = brittle.attack(
        classify,
        [("win a prize now", "spam")],
        folder=tmp_path,
        labels=["ham", "spam"],
        candidates="paper",
    )
    (result,) = run.results()
    assert (result.status, result.adversarial_label) == ("broken", "ham")
    assert "prize" not in str(result.adversarial) and result.confidence == 0.9


def test_fields_reach_a_function_by_name(tmp_path: Path) -> None:
    seen: list[dict[str, str]] = []

    def entails(pairs: list[dict[str, str]]) -> list[list[float]]:
        seen.extend(pairs)
        return [[0.9, 0.1] if "good" in pair["hypothesis"] else [0.2, 0.8] for pair in pairs]

    examples = [{"premise": "it is so", "hypothesis": "good", "label": "yes"}]
    run = brittle.attack(
        entails, examples, folder=tmp_path, labels=["yes", "no"], candidates="paper"
    )
    assert run.results()[0].status == "broken"
    assert {"premise": "it is so", "hypothesis": "good"} in seen


def test_one_class_is_attacked_alone(tmp_path: Path) -> None:
    films = [*FILMS[:6], *((f"a bad film of {i} scenes", "negative") for i in range(6))]
    target = FakeTarget(WEIGHTS)
    mixed = brittle.attack(
        target, films, "random-swap", toward="negative", folder=tmp_path, candidates="paper"
    )
    assert "6 of 12 cases are of the class aimed at" in " ".join(str(mixed).split())
    run = brittle.attack(
        target,
        films,
        "random-swap",
        toward="negative",
        only="positive",
        limit=4,
        folder=tmp_path,
        candidates="paper",
    )
    assert [row.label for row in run.results()] == ["positive"] * 4
    assert run.name != mixed.name and run.manifest["only"] == "positive"
    assert "on examples (all), only positive" in str(run)
    assert "of the class aimed at" not in str(run)
    more = brittle.attack(
        target,
        films,
        "random-swap",
        toward="negative",
        only="positive",
        limit=6,
        folder=tmp_path,
        candidates="paper",
    )
    assert more.name == run.name and len(more.results()) == 6
    with pytest.raises(UsageError, match="only was 'positive', now None"):
        brittle.attack(
            target,
            films,
            "random-swap",
            toward="negative",
            folder=tmp_path,
            name=run.name,
            candidates="paper",
        )


@dataclass(frozen=True)
class LeaveOut:
    """Try the text without each word, one after another."""

    asks: ClassVar[tuple[type[Ask[Any]], ...]] = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        for i in range(len(case.text)):
            yield from Try([case.text.delete(i)])


@pytest.mark.parametrize("labels", [("negative", "positive"), ("negative", "positive", "neutral")])
def test_with_a_confidence_both_accuracies_are_those_of_brute_force(
    tmp_path: Path, labels: tuple[str, ...]
) -> None:
    target = FakeTarget({}, labels=labels, spread=1.2)
    words = Text.of("a warm and funny film with an odd but never dull plot of some kind").words
    texts = [Text.of(" ".join(map(str, Random(n).sample(words, 5)))) for n in range(60)]
    examples = [(str(text), labels[int(target.scores([text]).argmax())]) for text in texts]
    run = brittle.attack(target, examples, LeaveOut(), confidence=0.6, folder=tmp_path)
    by_goal = by_label = 0
    for text, (_, label) in zip(texts, examples):
        scores = target.scores([text.delete(i) for i in range(len(text))])
        other = scores.argmax(axis=1) != labels.index(label)
        by_goal += not (other & (scores.max(axis=1) >= 0.6)).any()
        by_label += not other.any()
    _, figures = summarize(run)
    assert by_label < by_goal < 60
    assert figures.after.count == by_goal
    # A third class can hide an answer that was no improvement: none such among these texts.
    assert figures.after_by_label.count == by_label
    data = summary_json(run)
    assert data["accuracy_after"]["count"] == by_goal
    assert data["accuracy_after_by_label"]["count"] == by_label
    lines = str(run).splitlines()
    assert any("under attack, by goal" in x and f"{by_goal} of 60" in x for x in lines)
    assert any("under attack, by label" in x and f"{by_label} of 60" in x for x in lines)
    page = run.report(tmp_path / "report.html").read_text()
    assert "under attack, by goal" in page and "under attack, by label" in page


def test_without_a_confidence_there_is_one_accuracy_under_attack(tmp_path: Path) -> None:
    run = brittle.attack(
        FakeTarget(WEIGHTS), FILMS[:5], "random-swap", folder=tmp_path, candidates="paper"
    )
    assert "accuracy under attack" in str(run) and "by label" not in str(run)
    data = summary_json(run)
    assert data["accuracy_after"] == data["accuracy_after_by_label"]


@pytest.mark.parametrize("budget", [0, -3])
def test_a_budget_below_one_is_refused(budget: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected 1 or more"):
        brittle.attack(
            FakeTarget(),
            [("a good film", "positive")],
            "pwws",
            budget=budget,
            folder=tmp_path,
            candidates="paper",
        )
