"""Fingerprints of translators whose weights cannot be seen: what they answer stands for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from brittle.errors import TargetError, UsageError
from brittle.targets.fingerprints.hashing import hash_parts, probe_texts
from brittle.text import Text


def hash_translations(
    translate: Callable[[Sequence[Text]], list[str]],
    *about: str | bytes,
    fields: Sequence[str] = ("text",),
) -> str:
    """Hash what is known of a translator, and its answers to fixed sentences.

    If it fails on the sentences, or answers them differently when asked again, they are left out.
    """
    texts = probe_texts(fields)
    try:
        first, second = (json.dumps(translate(texts)) for _ in range(2))
    except (TargetError, UsageError):
        return hash_parts("code", *about)
    return hash_parts("texts", *about, first) if first == second else hash_parts("code", *about)
