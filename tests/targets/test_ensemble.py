"""An ensemble is one target: the mean of raw logits, each member's own distinct keys once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import TargetError, UsageError
from brittle.opening import as_target
from brittle.targets import ensemble as ensembles
from brittle.targets.capabilities import make_desks
from brittle.targets.ensemble import KeyedEnsemble, of_members
from brittle.targets.registry import Opener
from brittle.targets.scores import softmax
from brittle.testing import FakeTarget
from brittle.text import Text
from brittle.zoo.names.parsing import parse_members
from studies.rules.toy import KeyedToy, Toy

TEXTS = [Text.of(text) for text in ("a good film", "good goose", "a gone film", "", "one")]


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep no logits of other tests: toys of one seed have one fingerprint."""
    monkeypatch.setattr(ensembles, "_KEPT", {})


def mean_of(*members: Toy) -> Any:
    return np.mean([[member.row(t.words) for t in TEXTS] for member in members], axis=0)


def keyed_mean(*members: KeyedToy) -> Any:
    rows = [[m.row([str(w)[:2] for w in t.words]) for t in TEXTS] for m in members]
    return np.mean(rows, axis=0)


def test_scores_are_the_softmax_of_the_mean_logits() -> None:
    ensemble = of_members([Toy(0), Toy(1)])
    assert not isinstance(ensemble, KeyedEnsemble)
    assert np.allclose(ensemble.logits(TEXTS), mean_of(Toy(0), Toy(1)))
    assert np.allclose(ensemble.scores(TEXTS), softmax(mean_of(Toy(0), Toy(1))))
    assert ensemble.labels == ("bad", "good", "odd")
    assert "flips" not in make_desks(ensemble) and "gradient" not in make_desks(ensemble)


def test_a_mixed_ensemble_is_asked_by_texts() -> None:
    ensemble = of_members([Toy(0), KeyedToy(1)])
    expected = (mean_of(Toy(0)) + keyed_mean(KeyedToy(1))) / 2
    assert np.allclose(ensemble.logits(TEXTS), expected)


def test_keys_hold_those_of_all_members_and_each_is_computed_once() -> None:
    members = [KeyedToy(0), KeyedToy(1)]
    ensemble = of_members(members)
    assert isinstance(ensemble, KeyedEnsemble)
    keys = ensemble.canonical(TEXTS)
    # "good" and "gone" are one word to these members.
    assert keys[0] == keys[2] and len(set(keys)) == 4
    assert np.allclose(ensemble.canonical_logits(keys), keyed_mean(*members))
    assert np.allclose(ensemble.scores(TEXTS[:2]), softmax(keyed_mean(*members)[:2]))
    assert np.allclose(ensemble.canonical_scores(keys), ensemble.scores(TEXTS))
    for member in members:
        assert len(member.computed) == len(set(member.computed)) == 4
    assert ensemble.canonical_logits([]).shape == (0, 3)


def test_ensembles_share_what_their_members_have_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    shared, others = [KeyedToy(0), KeyedToy(0)], [KeyedToy(1), KeyedToy(2)]
    for member, other in zip(shared, others):
        expected = keyed_mean(KeyedToy(0), KeyedToy(other.seed))
        assert np.allclose(of_members([member, other]).logits(TEXTS), expected)
    assert [len(member.computed) for member in (*shared, *others)] == [4, 0, 4, 4]
    # Of more members than are kept, those that were not used for longest are forgotten.
    monkeypatch.setattr(ensembles, "MAX_CACHED_MEMBERS", 2)
    of_members([KeyedToy(3), KeyedToy(4)])
    again = KeyedToy(0)
    of_members([again, KeyedToy(3)]).logits(TEXTS)
    assert len(again.computed) == 4


def test_the_lengths_of_keys_tell_them_apart() -> None:
    class Keyed(KeyedToy):
        def canonical(self, items: Any) -> list[bytes]:
            return [str(t).encode() for t in items]

    class Short(Keyed):
        def canonical(self, items: Any) -> list[bytes]:
            return [str(t)[self.seed :].encode() for t in items]

    ensemble: Any = of_members([Keyed(0), Short(1)])
    keys = ensemble.canonical([Text.of("ab"), Text.of("abb"), Text.of("bb")])
    assert len(set(keys)) == 3


def test_a_word_is_read_if_one_member_reads_it() -> None:
    class Reads(Toy):
        def words_read(self, items: Any) -> Any:
            return [range(self.seed, min(self.seed + 1, len(t))) for t in items]

    assert of_members([Reads(0), Reads(2)]).words_read(TEXTS[:1]) == [[0, 2]]
    assert of_members([Reads(0), Toy(3)]).words_read(TEXTS[:1]) == [[0, 1, 2]]


def test_the_fingerprint_and_close_are_those_of_all_members() -> None:
    class Closing(Toy):
        closed = 0

        def close(self) -> None:
            Closing.closed += 1

    one, other = of_members([Closing(0), Toy(1)]), of_members([Closing(0), Closing(2)])
    assert one.fingerprint != other.fingerprint
    other.close()
    assert Closing.closed == 2


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([Toy(0)], "1 members; expected 2 or more"),
        ([Toy(0), FakeTarget(name="svm", labels=("bad", "good", "odd"))], "'svm'.*no logits"),
        ([Toy(0), Toy(1), Toy(0)], r"'toy 0' twice\. Name"),
        ([Toy(0), Toy(1, labels=("a", "b", "c"))], "'toy 1'.*other labels: a, b, c"),
        ([Toy(0), Toy(1, labels=("good", "bad", "odd"))], "same labels in another order"),
    ],
)
def test_what_cannot_be_averaged_is_refused_by_name(members: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        of_members(members)


def test_a_picture_model_is_refused() -> None:
    class Seeing(Toy):
        item_kind = "picture"

    with pytest.raises(UsageError, match="reads pictures"):
        of_members([Toy(0), Seeing(1)])


def test_wrong_logits_name_their_member() -> None:
    class Wrong(Toy):
        def logits(self, items: Any) -> Any:
            return np.full((len(items), 3), np.nan)

    with pytest.raises(TargetError, match="'toy 1'"):
        of_members([Toy(0), Wrong(1)]).scores(TEXTS)


def test_the_grammar_of_members(tmp_path: Path) -> None:
    assert parse_members("LSTM-W-Random-1+key,share=0.1@mr, CNN-C-Random-1@mr#2") == (
        "zoo:LSTM-W-Random-1+key,share=0.1@mr",
        "zoo:CNN-C-Random-1@mr#2",
    )
    assert parse_members("zoo:naive-bayes,LSTM-W-Random-1@imdb#3,hf:a/b") == (
        "zoo:naive-bayes@imdb#3",
        "zoo:LSTM-W-Random-1@imdb#3",
        "hf:a/b",
    )
    (tmp_path / "mine.txt").write_text("# two\nnaive-bayes\n\nLSTM-W-Random-1@mr\n")
    assert parse_members(str(tmp_path / "mine.txt")) == (
        "zoo:naive-bayes@mr#0",
        "zoo:LSTM-W-Random-1@mr",
    )
    with pytest.raises(UsageError, match="has no data"):
        parse_members("LSTM-W-Random-1@mr,naive-bayes")
    with pytest.raises(UsageError, match="between all commas"):
        parse_members("naive-bayes,,LSTM-W-Random-1@mr")


def test_opening_closes_what_it_opened_if_a_member_fails(
    add_target_kind: Callable[[str, Opener], None],
) -> None:
    closed = []

    class Closing(Toy):
        def close(self) -> None:
            closed.append(self.name)

    def open_member(spec: str, options: Any) -> Any:
        if "bad" in spec:
            raise UsageError("no such model")
        return Closing(int(spec[-1]))

    add_target_kind("toy:", open_member)
    assert as_target("ensemble:toy:1,toy:2").name == "ensemble of toy 1, toy 2"
    with pytest.raises(UsageError, match="no such model"):
        as_target("ensemble:toy:1,toy:2,toy:bad")
    assert closed == ["toy 1", "toy 2"]
    with pytest.raises(UsageError, match="in an ensemble"):
        as_target("ensemble:toy:1,ensemble:toy:2")
    with pytest.raises(UsageError, match="--scores"):
        as_target("ensemble:toy:1,toy:2", scores="prob")


def test_networks_and_encoders_are_averaged_by_their_raw_logits() -> None:
    """Log-probabilities of one of them would be another target (see test_mining.py)."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from brittle.targets.transformers.classifier import of_model as of_transformer
    from targets import tiny
    from zoo.small import model as small_network

    tokenizer = tiny.tokenizer("bert")
    model = tiny.model("bert", len(tokenizer))
    encoder = of_transformer(model, tokenizer, name="tiny")
    network = small_network("LSTM-W-Random-1")

    class Network:
        name, fingerprint, labels = "network", "1", encoder.labels
        canonical, canonical_logits = network.encode, network.logits

        def logits(self, items: Any) -> Any:
            return network.logits(network.encode(items))

    texts = [Text.of("a good film"), Text.of("the rain was not a story")]
    ensemble = of_members([Network(), encoder])  # type: ignore[list-item]
    assert isinstance(ensemble, KeyedEnsemble)
    raw = []
    for text in texts:
        inputs = tokenizer(str(text), return_tensors="pt")
        with torch.no_grad():
            raw.append(model(**inputs).logits[0].double().numpy())
    expected = (np.array(raw) + network.logits(network.encode(texts))) / 2
    assert np.allclose(ensemble.logits(texts), expected, atol=1e-5)
    assert not np.allclose(raw, np.log(softmax(np.array(raw))))
    encoder.close()
