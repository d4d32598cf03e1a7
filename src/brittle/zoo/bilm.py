"""The biLM that a network with ELMo reads: one in a process for all that read it.

The bidirectional language model whose frozen layers networks with ELMo read.

Finding and opening the biLM that a network reads: one in a process for all that read it.

A network's card names its biLM by content. It is looked for beside the network's own folder, then
in the cache.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.errors import UsageError
from brittle.zoo import folder as folders
from brittle.zoo.families import family_of, open_checked, restore_settings
from brittle.zoo.folder import Card, models_folder
from brittle.zoo.names.settings import LanguageModelSettings

if TYPE_CHECKING:
    from brittle.zoo.layers import BiLM

PART = "bilm"
"""The part of a network's card that names its biLM."""

_OPENED: dict[tuple[str, str], BiLM] = {}
_LOCK = threading.Lock()


def reference(folder: Path) -> dict[str, str]:
    """Return what names a biLM in the card of a network that reads it."""
    card = _load_card(folder)
    return {
        "name": card.full_name,
        "folder": folder.name,
        "key": card.key,
        "fingerprint": card.fingerprint,
    }


def find_bilm(parts: Mapping[str, Any], beside: Path) -> Path:
    """Find the folder of the biLM that a network reads, by the parts on the network's card."""
    named: Mapping[str, str] = parts[PART]
    for folder in (beside / named["folder"], models_folder() / named["folder"]):
        if (folder / folders.CARD_FILE).is_file():
            if _load_card(folder).fingerprint != named["fingerprint"]:
                raise UsageError(
                    f"The biLM in {folder} has other weights than the one this network "
                    "was trained with. Restore that one, or train the network again with "
                    "--new."
                )
            return folder
    raise UsageError(
        f"This network reads the biLM {named['name']}, whose folder {named['folder']} is "
        f"missing. Expected it in {beside} or {models_folder()}. Copy it from the place "
        "where the network was trained: another biLM may have other weights, even under "
        "the same name."
    )


def needed_folders(model_folder: Path) -> list[Path]:
    """Return the folders that a trained model needs elsewhere: its own, and its biLM's.

    Of a folder that holds no model it is the folder itself.
    """
    if not (model_folder / folders.CARD_FILE).is_file():
        return [model_folder]
    card = folders.load_card(model_folder)
    if PART not in card.parts:
        return [model_folder]
    return [model_folder, find_bilm(card.parts, model_folder.parent)]


def open_bilm(folder: Path, device: str) -> BiLM:
    """Load a frozen biLM; all who open the same one on the same device share it."""
    card = folders.load_card_checked(folder)
    key = (card.fingerprint, device)
    with _LOCK:
        if key not in _OPENED:
            _OPENED[key] = open_checked(folder, card, device)
        return _OPENED[key]


def load_alphabet(folder: Path) -> list[str]:
    """Load the characters that a biLM knows."""
    return folders.load_words(folder / folders.ALPHABET_FILE)


def load_settings(folder: Path) -> LanguageModelSettings:
    """Load the settings of a biLM from its card."""
    settings: LanguageModelSettings = restore_settings(_load_card(folder))
    return settings


def _load_card(folder: Path) -> Card:
    card = folders.load_card(folder)
    if family_of(card).answers != "states":
        raise UsageError(
            f"{folder} contains {card.full_name}, a {card.kind} model; expected a biLM."
        )
    return card


def open_language_model(folder: Path, card: Card, device: str, hole_id: int) -> BiLM:
    """Load the layers of a biLM as its card says, without those that predict words."""
    from brittle.zoo.layers import BiLM
    from brittle.zoo.networks import BILM_PREFIX
    from brittle.zoo.restoring import restore_weights
    from brittle.zoo.spellings import UNKNOWN_CHARACTER

    tensors = folders.load_tensors(folder / folders.WEIGHTS_FILE)
    characters = len(load_alphabet(folder)) + UNKNOWN_CHARACTER + 1
    settings = restore_settings(card)
    own = {
        name.removeprefix(BILM_PREFIX): tensor
        for name, tensor in tensors.items()
        if name.startswith(BILM_PREFIX)
    }
    bilm = restore_weights(lambda: BiLM(settings, characters), own, settings.highways)
    return bilm.requires_grad_(False).eval().to(device)
