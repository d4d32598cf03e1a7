"""`normalised:TARGET`: what the target behind it reads, what is passed on, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.candidates.characters import EditedCharacters
from brittle.errors import UsageError
from brittle.opening import as_target
from brittle.targets.normalised import KeyedNormalised, ScoringByKeys, normalised, of_target
from brittle.testing import FakeTarget
from brittle.text import HOLE, Text

WEIGHTS = {"good": 1.0, "lovely": 1.2, "bad": -0.9, "awful": -2.0, "story": 0.3}
UNDONE = ("look-alike", "invisible", "reorder", "backspace", "full-width")
PAIR = Text.of({"premise": "a gооd film", "hypothesis": "аwful  s t o r y"}, locked=["premise"])


def test_words_gaps_fields_and_holes_of_a_normalised_text() -> None:
    assert normalised(PAIR).fields() == {"premise": "a good film", "hypothesis": "awful  story"}
    assert normalised(PAIR).words == ("awful", "story")
    text = Text.of("(a gооd, l o v e l y film!)").mask(1)
    assert text.words[1] is HOLE
    plain = normalised(text)
    assert plain.words == ("a", HOLE, "lovely", "film")
    assert plain.fields("[mask]") == {"text": "(a [mask], lovely film!)"}
    for number in range(3):
        masked = Text.of("one two three").mask(number)
        assert normalised(masked) == masked
    untouched = Text.of("Naïve? <b>Don't</b>, 3 times –")
    assert normalised(untouched) == untouched and normalised(Text.of("")) == Text.of("")
    every = Text.of("a b")
    assert normalised(every.mask(0).mask(1)) == every.mask(0).mask(1)


def test_the_target_reads_what_was_meant() -> None:
    inner = FakeTarget(WEIGHTS)
    target = of_target(inner)
    text = Text.of("a lovely film with a good story")
    for name in UNDONE:
        edited = EditedCharacters(name).everywhere(text)
        assert np.array_equal(target.scores([edited]), inner.scores([text])), name
    assert not np.array_equal(
        inner.scores([EditedCharacters("leet").everywhere(text)]), inner.scores([text])
    )


def test_what_is_passed_on() -> None:
    class Costly(FakeTarget):
        costly, parallel, batch, label_only = True, 4, 8, True

    target: Any = of_target(Costly(WEIGHTS, labels=("no", "yes"), name="api"))
    assert (target.name, target.labels) == ("normalised:api", ("no", "yes"))
    assert (target.costly, target.parallel, target.batch, target.label_only) == (True, 4, 8, True)
    assert target.fingerprint != Costly(WEIGHTS).fingerprint
    assert target.fingerprint == of_target(Costly(WEIGHTS, labels=("no", "yes"))).fingerprint
    assert not hasattr(target, "canonical") and not hasattr(target, "gradients")


def test_keys_are_those_of_the_target_behind() -> None:
    class Keyed(FakeTarget):
        def canonical(self, items: Any) -> list[bytes]:
            return [str(item).encode() for item in items]

    class Scoring(Keyed):
        def canonical_scores(self, keys: Any) -> Any:
            return self.scores([Text.of(key.decode()) for key in keys])

    assert type(of_target(Keyed(WEIGHTS))) is KeyedNormalised
    target: Any = of_target(Scoring(WEIGHTS))
    assert type(target) is ScoringByKeys
    keys = target.canonical([Text.of("a gооd film"), Text.of("a good film")])
    assert keys == [b"a good film"] * 2
    assert np.array_equal(
        target.canonical_scores(keys), target.scores([Text.of("a good film")] * 2)
    )


def test_translators_and_pictures_are_refused() -> None:
    translator = as_target(lambda texts: texts, answers="text", name="copy")
    with pytest.raises(UsageError, match="'copy', which answers texts"):
        of_target(translator)


def test_a_run_says_what_the_defence_is_worth(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "rater.py").write_text(
        "def rate(texts):\n"
        "    good = [sum(w in text for w in ('good', 'lovely')) for text in texts]\n"
        "    return [[1 / (2 + n), 1 - 1 / (2 + n)] if n else [0.8, 0.2] for n in good]\n"
        "rate.labels = ['no', 'yes']\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    texts = ["a good film", "lovely", "a good and lovely tale", "dull", "a bad plot", "so good"]
    examples = [(t, "yes" if "good" in t or "lovely" in t else "no") for t in texts]
    for name in ("look-alike", "spacing"):
        bare = brittle.attack("python:rater:rate", examples, name, folder=tmp_path)
        safe = brittle.attack("normalised:python:rater:rate", examples, name, folder=tmp_path)
        broken = [sum(row.status == "broken" for row in run.results()) for run in (bare, safe)]
        # A word with one space in it is not joined: the normaliser is no cure for spacing.
        is_undone = name in UNDONE
        assert broken[0] >= 3 and (broken[1] == 0) == is_undone
        assert safe.manifest["normalisation"][name]["is_normalised"] == is_undone
