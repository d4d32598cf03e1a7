"""The README.md of a trained model, beside its weights."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from brittle.data import has_splits
from brittle.zoo.families import family_of
from brittle.zoo.folder import Card
from brittle.zoo.gradient_check import describe
from brittle.zoo.names import changes


def readme(card: Card, about: str) -> str:
    """Format a model's card as Markdown."""
    settings = "\n".join(
        f"| {name} | {value}{' (changed)' if name in card.changed else ''} |"
        for name, value in card.settings.items()
    )
    changed = f", with {changes.format_settings(card.changed)}" if card.changed else ""
    method = "; ".join(f"{name} {value}" for name, value in card.hardening.items())
    hardened = f"\n- Hardened by adversarial training: {method}." if method else ""
    gradients = f"\n- Gradients: {describe(card.gradients)}." if card.gradients else ""
    bilm = card.parts.get("bilm")
    reads = f"\n- Reads the biLM {bilm['name']}, in the folder {bilm['folder']}." if bilm else ""
    described, measured, use = family_of(card).describe(card, about)
    versions = ", ".join(f"{name} {version}" for name, version in card.versions.items())
    return f"""# {card.full_name}

{described}
- Trained on the train split of `{card.data}` ({card.examples:,} examples, data fingerprint
  {card.data_fingerprint[:12]}), seed {card.seed}, size {card.size}{changed},
  {card.epochs} epochs, {card.seconds:.0f} seconds since its last start.{hardened}
- {measured}{gradients}{reads}
- Made with {versions}.

| setting | value |
|---|---|
{settings}

## Use

    {use}

Meant for measuring attacks and defences, not for decisions about people. `model.json` holds the
same facts for programs, and the SHA-256 of the files beside it.
"""


def describe_classifier(card: Card, about: str) -> tuple[str, str, str]:
    """Describe a classifier: what it is, its accuracy, and an attack on it."""
    family = family_of(card)
    described = (
        f"A {family.item_kind} classifier of brittle's zoo: {about}.\n\n- Labels: "
        f"{', '.join(card.labels)}. Fields read: {', '.join(card.fields)}."
    )
    measured = (
        f"Accuracy on the dev split: {card.dev_accuracy:.4f}. The best epoch was chosen "
        "on that split, so\n  the figure is slightly too high: measure on the test split."
    )
    data = card.data if has_splits(card.data) else "FILE"
    target = shlex.quote("zoo:" + card.full_name)
    return described, measured, f"brittle attack {target} {family.example} --data {data}"


def describe_translator(card: Card, about: str) -> tuple[str, str, str]:
    """Describe a translator: what it is, its BLEU, and an attack on it."""
    columns = card.parts.get("columns") or {"text": "COLUMN", "label": "COLUMN"}
    described = (
        f"A translator of brittle's zoo: {about}.\n\n- It reads the column `{columns['text']}` and "
        f"writes what the column `{columns['label']}` holds."
    )
    measured = (
        f"BLEU on the dev split: {card.dev_bleu} (sacrebleu, greedy decoding). The best epoch was "
        "chosen on\n  that split, so the figure flatters a little: measure on the test split."
    )
    flags = f"--text {columns['text']} --label {columns['label']} --goal keyword"
    use = f"brittle attack {shlex.quote('zoo:' + card.full_name)} gs-ec --data FOLDER {flags}"
    return described, measured, use


def describe_generator(card: Card, about: str) -> tuple[str, str, str]:
    """Describe a generator: what it is, its figures, and the attack that uses it."""
    figures = "\n".join(
        f"  - {name}: {_figure(value)}"
        for name, value in card.measures.items()
        if name != "summary"
    )
    described = f"A generator of brittle's zoo: {about}.\n\n- It learns without labels."
    name = shlex.quote(card.full_name)
    use = f"brittle attack TARGET natural --generator {name} --data DATA"
    described += f"\n- Made by `{_training_command(card)}`."
    return described, f"Figures:\n{figures}", use


def _training_command(card: Card) -> str:
    """Return the command that trains such a model."""
    data = card.data if has_splits(card.data) else "FILE"
    size = f" --size {card.size}" if card.size != "default" else ""
    seed = f" --seed {card.seed}" if card.seed else ""
    own = (changes.format_settings({name: value}) for name, value in card.changed.items())
    changed = "".join(f" --set {setting}" for setting in own)
    return f"brittle train {card.name} --data {data}{size}{seed}{changed}"


def _figure(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return ", ".join(f"{name}: {own}" for name, own in value.items())


def describe_language_model(card: Card, about: str) -> tuple[str, str, str]:
    """Describe a language model: what it is, its perplexity, and what trains a network on it."""
    at = card.perplexity
    described = (
        "A language model of brittle's zoo: characters of a word, then two LSTM layers forward and "
        "two backward.\nNetworks with ELMo read its layers; it is no classifier.\n\n- Fields read: "
        f"{', '.join(card.fields)}, without labels."
    )
    measured = (
        f"Perplexity on the dev split: {at.get('dev')} (forward {at.get('forward')}, backward "
        f"{at.get('backward')}), over\n  words of its vocabulary: {at.get('known words', 0):.1%} "
        "of those read."
    )
    return described, measured, "brittle train LSTM-WC-ELMo-1 --data mr"
