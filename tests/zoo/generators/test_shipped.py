"""The generators that come with brittle: small enough, whole, and as good as their cards say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle import data as datasets
from brittle.errors import UsageError
from brittle.generators import neighbours, open_generator
from brittle.kinds import kind_named
from brittle.opening import as_target
from brittle.picture import Picture
from brittle.runs.runner import attack
from brittle.text import Text
from brittle.zoo.folder import load_card
from brittle.zoo.generators.folder import SHIPPED, KnownGenerator, known_generators
from brittle.zoo.generators.sentences import cut_sentences, sentence_words

MAX_BYTES = 15_000_000
ARAE, VAE, DIGITS = (SHIPPED / name for name in ("ARAE-imdb", "VAE-imdb", "WGAN-mnist"))
SENTENCES = pytest.mark.parametrize("sentences", [ARAE, VAE], ids=["ARAE", "VAE"])
CODE = "words rebuilt through the code"
BOTH = "words rebuilt through inverter and generator"


def shipped(folder: Path) -> KnownGenerator:
    (found,) = (g for g in known_generators() if g.shipped and g.folder == folder)
    return found


def test_shipped_weights_are_small_and_name_their_command() -> None:
    folders = sorted(path.parent for path in SHIPPED.glob("*/model.json"))
    assert sum(f.stat().st_size for f in SHIPPED.rglob("*") if f.is_file()) <= MAX_BYTES
    assert folders == [ARAE, VAE, DIGITS]
    for folder in folders:
        card = load_card(folder)
        assert card.parts["weights"] == "float16"
        readme = (folder / "README.md").read_text("utf-8")
        assert f"brittle attack TARGET natural --generator '{card.full_name}'" in readme
        assert f"Made by `brittle train {card.name} --data {card.data}`" in readme


def test_digits_have_a_generator_without_any_training() -> None:
    digits = shipped(DIGITS)
    assert digits.name == "WGAN@mnist#0"
    shares = digits.card.measures["classes"].values()
    assert len(shares) == 10 and min(shares) >= 0.04
    assert digits.card.measures["label kept"] >= 0.95


@pytest.mark.slow
def test_digits_are_rebuilt_as_well_as_the_card_says() -> None:
    generator = open_generator(str(DIGITS))
    kind = kind_named("picture")
    digits = datasets.load("mnist").take(200, 0).examples
    items = [kind.item(dict(example.fields)) for example in digits]
    rebuilt = generator.decode(generator.encode(items))
    error = np.mean([_error(a, b) for a, b in zip(items, rebuilt)])
    expected = load_card(DIGITS).measures["reconstruction error"]["mean"]
    assert error == pytest.approx(expected, rel=0.1)


def test_sentences_have_a_generator_without_any_training() -> None:
    assert [shipped(folder).name for folder in (ARAE, VAE)] == ["ARAE@imdb#0", "VAE@imdb#0"]
    plain, best = (shipped(folder).card.measures for folder in (ARAE, VAE))
    assert plain[BOTH] < plain[CODE] < best[CODE] < 1
    assert {"forward perplexity", "reverse perplexity"} <= plain.keys() & best.keys()


def test_the_better_generator_of_sentences_is_the_default() -> None:
    assert open_generator("", data="imdb").name == "VAE@imdb#0"
    with pytest.raises(UsageError, match=r"Brittle comes with .*VAE@imdb#0"):
        open_generator("", data="reviews.csv")


@pytest.mark.slow
@SENTENCES
def test_sentences_are_rebuilt_as_well_as_the_card_says(sentences: Path) -> None:
    generator: Any = open_generator(str(sentences))
    held_out = _short_sentences(400)
    rebuilt = generator.decode(generator.encode(held_out))
    pairs = [(sentence_words(str(a)), sentence_words(str(b))) for a, b in zip(held_out, rebuilt)]
    same = sum(x == y for a, b in pairs for x, y in zip(a, b))
    share = same / sum(len(a) for a, _ in pairs)
    # These reviews are of the test split, those of the card of the dev split.
    measures = load_card(sentences).measures
    assert share == pytest.approx(measures.get(BOTH, measures[CODE]), abs=0.05)
    [text] = [sentence for sentence in held_out if "film" in str(sentence)][:1]
    near = neighbours(generator, text, radius=2.0, count=30)
    assert len({str(neighbour.item) for neighbour in near}) > 5
    assert max(neighbour.distance for neighbour in near) <= 2.0


@pytest.mark.slow
@SENTENCES
def test_sentences_are_attacked_with_shipped_weights(sentences: Path, tmp_path: Path) -> None:
    """The target sees one word: an adversary has lost it, and reads otherwise as a sentence."""
    pytest.importorskip("torch")
    target = as_target(
        lambda texts: [[0.1, 0.9] if "movie" in t.lower() else [0.9, 0.1] for t in texts],
        labels=["other", "movie"],
        name="word",
    )
    texts = [str(text) for text in _short_sentences(400) if "movie" in str(text)][:12]
    settings = {"generator": str(sentences), "samples": 100, "step": 0.2, "radius": 10.0}
    run = attack(target, texts, "natural", folder=str(tmp_path), measures=False, **settings)
    rows = list(run.results())
    broken = [row for row in rows if row.status == "broken"]
    assert len(rows) == len(texts) and broken
    for row in broken:
        assert "movie" not in str(row.adversarial).lower() and row.cost and row.cost <= 10.0


def _short_sentences(count: int) -> list[Text]:
    """Return sentences of the test split, which the generator has not learnt from."""
    found: dict[tuple[str, ...], Text] = {}
    for example in datasets.load("imdb"):
        for sentence in cut_sentences(dict(example.fields)["text"]):
            words = sentence_words(sentence)
            if 3 <= len(words) <= 10:
                found.setdefault(words, Text.of(sentence))
        if len(found) >= count:
            break
    return list(found.values())[:count]


def _error(one: Picture, other: Picture) -> float:
    return float(np.sqrt(np.mean((one.pixels - other.pixels) ** 2)))
