"""The files of a model, sent to machines that do not have them: weights travel by content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.files import cache_folder, is_path
from brittle.targets.protocols import declared_by
from brittle.workflow.parcels import Parcel, Places, content_digest, unwrap, wrap
from brittle.zoo.bilm.folder import needed_folders
from brittle.zoo.folder import Card
from brittle.zoo.model_cache import trained_models

OTHERS = "carried"
"""The folder of the cache for models of the user's."""


@dataclass(frozen=True)
class ModelFiles:
    """Files as parcels, with their contents; `spec` is the parcel that the target is opened from.

    `own` is the folder of the cache into which a model of the user's is put.
    """

    parcels: Sequence[Parcel]
    contents: bytes
    own: str
    spec: str | None = None

    def write(self, target: Any) -> Any:
        """Write what this machine's cache does not have; return the target's name here."""
        places = Places(cache_folder() / OTHERS / self.own, cache_folder())
        unwrap(self.parcels, self.contents, places)
        return target if self.spec is None else str(places.path(self.spec))


def model_files_of(spec: Any, target: Any) -> ModelFiles | None:
    """Load the files behind a target that was opened from a name; None if it has no files.

    These are models of the zoo, alone or in an ensemble, and a folder or a file of the user's.
    """
    parts = (target, *(declared_by(target, "members") or ()))
    models = _folders_of([part.card for part in parts if hasattr(part, "card")])
    paths = [folder for model in models for folder in needed_folders(model)]
    own = Path(spec).resolve() if isinstance(spec, str) and is_path(spec) else None
    if own is not None:
        paths = [own, *(path for path in paths if path not in models)]
    if not paths:
        return None
    # Some targets are called by the last part of their path: a model of the user's keeps it.
    places = Places(cache_folder() / OTHERS if own is None else own.parent, cache_folder())
    parcels, contents = wrap(dict.fromkeys(paths), places)
    is_one = own is not None or (len(models) == 1 and str(spec).startswith("zoo:"))
    digest = "" if own is None else content_digest(own)[:16]
    return ModelFiles(parcels, contents, digest, parcels[0].name if is_one else None)


def _folders_of(cards: Sequence[Card]) -> list[Path]:
    """Find the folders of the cache that models were read from.

    Models of other seeds may have the same weights, such as naive Bayes: the name decides.
    """
    wanted = {(card.full_name, card.fingerprint) for card in cards}
    known = trained_models() if wanted else []
    own = [(model.path, (model.card.full_name, model.card.fingerprint)) for model in known]
    return [path for path, key in own if key in wanted]
