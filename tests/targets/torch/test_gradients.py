"""Gains by brute force, gradients by finite differences, searches by the zoo's own white box."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import brittle  # noqa: E402
from brittle.moves import CHARACTER_EDITS, EditRequest, EditSpace  # noqa: E402
from brittle.ranking.respellings import MAX_CHARACTERS  # noqa: E402
from brittle.targets.scores import softmax  # noqa: E402
from brittle.text import Text, is_word  # noqa: E402
from brittle.zoo.networks import Batch  # noqa: E402
from brittle.zoo.white_box import NetworkWhiteBox  # noqa: E402
from targets.torch.networks import (  # noqa: E402
    CHARACTERS,
    VOCABULARY,
    WORDS,
    Convolution,
    Gru,
    Lengths,
    TwoTowers,
    build,
    character_target,
    word_target,
)
from zoo import small  # noqa: E402

EVERY = 10**6
OBJECTIVES = [("loss", None), ("loss", 2), ("logit", None), ("logit", 0)]
TEXT = Text.of("The film was warm, not very dull.")


def request(text: Text, space: EditSpace, label: int = 1, toward: int | None = None) -> EditRequest:
    return EditRequest(text, label, toward, space, range(len(text)))


def objective(logits: Any, asked: EditRequest) -> float:
    value = logits if asked.space.objective == "logit" else np.log(softmax(logits))
    return float(-value[0, asked.label] if asked.toward is None else value[0, asked.toward])


def central(target: Any, asked: EditRequest, token: int, step: float = 1e-5) -> Any:
    """Compute the gradient along the vector of a token that stands once in the text."""
    weight = target.network.module.embed.weight
    found = []
    for dimension in range(weight.shape[1]):
        ends = []
        for sign in (1, -1):
            with torch.no_grad():
                weight[token, dimension] += sign * step
                ends.append(objective(target.logits([asked.text]), asked))
                weight[token, dimension] -= sign * step
        found.append((ends[0] - ends[1]) / (2 * step))
    return np.array(found)


@pytest.mark.parametrize(("of", "toward"), OBJECTIVES)
@pytest.mark.parametrize("kind", [Gru, Lengths, Convolution, TwoTowers])
def test_word_gradients_are_those_of_finite_differences(kind: Any, of: Any, toward: Any) -> None:
    target = word_target(build(kind), min_length=3)
    asked = request(TEXT, EditSpace(objective=of), toward=toward)
    (found,) = target.gradients([asked])
    assert found.scores == pytest.approx(target.scores([TEXT])[0].tolist(), abs=1e-12)
    for word, gradient in zip(TEXT.words, found.value):
        expected = central(target, asked, VOCABULARY[str(word).lower()])
        assert gradient == pytest.approx(expected, abs=1e-7)
    assert np.abs(found.value).max() > 1e-4


def test_a_network_that_reads_tokens_by_texts_has_the_same_gradients() -> None:
    class Turned(Gru):
        def forward(self, ids: Any) -> Any:
            return super().forward(ids.T)

    class Inside(Gru):
        def forward(self, ids: Any) -> Any:
            return self.out(self.gru(self.embed(ids.T).transpose(0, 1))[0][:, -1])

    # The ids of the last two are a square that is the same when it is turned.
    texts = [TEXT, TEXT.swap(1, "plot"), Text.of("good film"), Text.of("film plot")]
    asked = [request(text, EditSpace()) for text in texts]
    expected = word_target(build(Gru)).gradients(asked)
    turned = word_target(build(Turned), call=lambda module, ids, lengths: module(ids.T))
    for target in (turned, word_target(build(Inside))):
        for one, other in zip(target.gradients(asked), expected):
            assert one.value == pytest.approx(other.value, abs=1e-12)


def listed(answer: Any) -> dict[tuple[int, str, str], float]:
    moves = [answer.moves[n] for n in range(len(answer.moves.gain))]
    assert [move.gain for move in moves] == sorted((move.gain for move in moves), reverse=True)
    found = {(move.position, move.kind, move.new): move.gain for move in moves}
    assert len(found) == len(moves)
    return found


@pytest.mark.parametrize("sign", [False, True])
def test_every_swap_gains_the_gradient_along_the_difference(sign: bool) -> None:
    target = word_target(build(Gru))
    asked = request(TEXT, EditSpace(top_k=EVERY, sign=sign))
    (answer,), (gradient,) = target.flips([asked]), target.gradients([asked])
    table = target.network.module.embed.weight.detach().numpy()
    direction = np.sign(gradient.value) if sign else gradient.value
    expected = {}
    for i, old in enumerate(map(str, TEXT.words)):
        for new in WORDS:
            if new != old.lower():
                change = table[VOCABULARY[new]] - table[VOCABULARY[old.lower()]]
                spelt = new.capitalize() if old[0].isupper() else new
                expected[i, "swap", spelt] = float(change @ direction[i])
    assert listed(answer) == pytest.approx(expected, abs=1e-6)


def test_a_respelling_of_a_word_model_gains_what_its_new_token_does() -> None:
    target = word_target(build(Gru))
    text = Text.of("a good plot")
    asked = request(text, EditSpace("characters", top_k=EVERY))
    (answer,), (gradient,) = target.flips([asked]), target.gradients([request(text, EditSpace())])
    table = target.network.module.embed.weight.detach().numpy()
    found = listed(answer)
    (unknown,) = (key for key in found if key[0] == 1 and key[2] not in VOCABULARY)
    for key, token in (((1, "delete", "god"), "god"), (unknown, "<unk>")):
        change = table[VOCABULARY[token]] - table[VOCABULARY["good"]]
        assert found[key] == pytest.approx(change @ gradient.value[1], abs=1e-6)


def edited_characters(word: str) -> dict[tuple[str, str], None]:
    """List the kinds and the new words of all edits of one character."""
    letters = [c for c in CHARACTERS if len(c) == 1 and c.isalnum()]
    found = {}
    for i in range(len(word)):
        found |= {
            ("flip", word[:i] + c + word[i + 1 :]): None for c in letters if c != word[i].lower()
        }
        found["delete", word[:i] + word[i + 1 :]] = None
    for i in range(len(word) + 1):
        found |= {("insert", word[:i] + c + word[i:]): None for c in letters}
    return {key: None for key in found if is_word(key[1])}


@pytest.mark.parametrize("sign", [False, True])
@pytest.mark.parametrize("kind", [Gru, Convolution])
def test_every_edit_of_a_character_gains_its_flips_to_the_end_of_the_word(
    kind: Any, sign: bool
) -> None:
    module = build(kind, len(CHARACTERS))
    target = character_target(module, min_length=3)
    assert target.reads_characters
    text = Text.of("Was it, film ood")
    asked = request(text, EditSpace("characters", top_k=EVERY, sign=sign))
    (answer,), (gradient,) = target.flips([asked]), target.gradients([asked])
    table = module.embed.weight.detach().numpy()
    string = text.render().lower()
    own = [CHARACTERS[c] for c in string]
    rows = np.zeros((len(string) + 1, 5))
    starts, offset = [], 0
    for word in map(str, text.words):
        starts.append(string.index(word.lower(), offset))
        offset = starts[-1] + len(word)
    # The gradient at every character, also between words.
    ids = torch.tensor([own])
    embedded = module.embed(ids).detach().requires_grad_()
    handle = module.embed.register_forward_hook(lambda *_: embedded)
    (-module.eval()(ids).log_softmax(dim=1)[0, 1]).backward()
    handle.remove()
    rows[:-1] = embedded.grad[0].numpy()
    for word, start, value in zip(text.words, starts, gradient.value):
        assert value == pytest.approx(rows[start : start + len(str(word))], abs=1e-9)
    direction = np.sign(rows) if sign else rows
    expected = {}
    for i, (word, start) in enumerate(zip(map(str, text.words), starts)):
        after = CHARACTERS[string[start + len(word)]] if start + len(word) < len(string) else 0
        old = [*own[start : start + len(word)], after]
        for kind_of_edit, new in edited_characters(word):
            read = [*(CHARACTERS[c] for c in new.lower()), after][: len(old)]
            pairs = list(zip(old, read, direction[start:]))
            changes = sum(a != b for a, b, _ in pairs)
            gain = sum(float((table[b] - table[a]) @ g) for a, b, g in pairs)
            expected[i, kind_of_edit, new] = gain / np.sqrt(2 * max(1, changes))
    found = listed(answer)
    # Of edits that read as the same word there is one.
    read, possible = ([(i, new.lower()) for i, _, new in keys] for keys in (found, expected))
    assert set(read) == set(possible) and len(set(read)) == len(read)
    assert found == pytest.approx({key: expected[key] for key in found}, abs=1e-6)
    assert {kind for _, kind, _ in found} == set(CHARACTER_EDITS)


def test_a_very_long_word_and_words_that_are_cut_off() -> None:
    target = character_target(build(Gru, len(CHARACTERS)), max_length=90)
    long = "was" * (MAX_CHARACTERS // 3 + 4)
    text = Text.of(f"a {long} film dull story")
    (answer,) = target.flips([request(text, EditSpace("characters", top_k=EVERY))])
    found = listed(answer)
    assert {position for position, _, _ in found} == {0, 1, 2, 3}
    assert max(len(new) for position, _, new in found if position == 1) == len(long)
    assert target.words_read([text]) == [(0, 1, 2, 3, 4)]  # of the last, a part


def test_texts_in_a_batch_are_as_they_are_alone() -> None:
    spaces = [EditSpace(), EditSpace("characters"), EditSpace(top_k=3, objective="logit")]
    sentences = [
        "a good film",
        "The plot was, not very, dull!",
        "bad",
        "",
        "zzz film",
        "a bad plot",
    ]
    asked = [request(Text.of(s), spaces[n % 3]) for n, s in enumerate(sentences * 2)]
    target = word_target(build(Gru))
    for one, single in zip(target.flips(asked), asked):
        (alone,) = target.flips([single])
        assert one.scores == pytest.approx(alone.scores, abs=1e-12)
        assert listed(one) == pytest.approx(listed(alone), abs=1e-9)


def test_holes_are_not_respelt_but_may_be_swapped() -> None:
    for target in (word_target(build(Gru)), character_target(build(Gru, len(CHARACTERS)))):
        text = Text.of("a good film").mask(1)
        (answer,) = target.flips([request(text, EditSpace("characters", top_k=EVERY))])
        assert {position for position, _, _ in listed(answer)} == {0, 2}
    (answer,) = word_target(build(Gru)).flips([request(text, EditSpace(top_k=EVERY))])
    assert {position for position, _, _ in listed(answer)} == {0, 1, 2}


class OfZoo:
    """A network of the zoo as a target, by the zoo's own passes."""

    name, fingerprint, labels = "zoo", "zoo", ("0", "1", "2")

    def __init__(self, model: Any) -> None:
        self.model, self.inside = model, NetworkWhiteBox(model)
        self.words_read, self.flips = self.inside.words_read, self.inside.flips

    def scores(self, items: Any) -> Any:
        return softmax(np.asarray(self.model.logits(self.model.encode(items)), dtype=np.float64))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("CNN-W-Random-1", marks=pytest.mark.slow),
        pytest.param("LSTM-W-Random-1", marks=pytest.mark.slow),
        pytest.param("BiLSTM-W-Random-2-attention", marks=pytest.mark.slow),
    ],
)
def test_searches_are_those_of_the_same_network_in_the_zoo(name: str, tmp_path: Path) -> None:
    model = small.model(name, reads=9)
    zoo = OfZoo(model)
    target = brittle.torch_target(
        model.network,
        vocabulary=model.vocabulary.words,
        labels=zoo.labels,
        embedding="embedding.weight",
        unknown="<unknown>",
        max_length=9,
        call=lambda module, ids, lengths: module(Batch(lengths, words=ids)),
    )
    texts = small.texts(count=8)
    assert target.words_read(texts) == [tuple(read) for read in zoo.words_read(texts)]
    assert target.canonical(texts) == model.encode(texts)
    assert target.scores(texts) == pytest.approx(zoo.scores(texts), abs=1e-6)
    sentences = [text.render() for text in texts if len(text) > 2][:8]
    settings = {"hotflip-words": {"same_tag": False, "cosine": 0.0}, "hotflip": {"beam": 2}}
    for attack in ("hotflip-words", "jsma", "hotflip", "pwws"):
        rows = [
            brittle.attack(
                each, sentences, attack, folder=tmp_path / str(n), **settings.get(attack, {})
            ).results()
            for n, each in enumerate((zoo, target))
        ]
        # Texts that the network cannot tell apart tie, up to the last digits.
        of_zoo, own = (
            sorted(
                (r.case, r.status, r.queries, model.encode([Text.of(r.adversarial or "")]))
                for r in part
            )
            for part in rows
        )
        assert own == of_zoo
