"""The README.md of a trained model, beside its weights."""

from __future__ import annotations

import shlex

from brittle.data import has_splits
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
    data = card.data if has_splits(card.data) else "FILE"
    kind, attack = ("picture", "noise") if card.kind == "picture" else ("text", "pwws")
    versions = ", ".join(f"{name} {version}" for name, version in card.versions.items())
    return f"""# {card.full_name}

A {kind} classifier of brittle's zoo: {about}.

- Labels: {", ".join(card.labels)}. Fields read: {", ".join(card.fields)}.
- Trained on the train split of `{card.data}` ({card.examples:,} examples, data fingerprint
  {card.data_fingerprint[:12]}), seed {card.seed}, size {card.size}{changed},
  {card.epochs} epochs, {card.seconds:.0f} seconds.{hardened}
- Accuracy on the dev split: {card.dev_accuracy:.4f}. The best epoch was chosen on that split, so
  the figure flatters a little: measure on the test split.{gradients}
- Made with {versions}.

| setting | value |
|---|---|
{settings}

## Use

    brittle attack {shlex.quote("zoo:" + card.full_name)} {attack} --data {data}

Meant for measuring attacks and defences, not for decisions about people. `model.json` holds the
same facts for programs, and the SHA-256 of the files beside it.
"""
