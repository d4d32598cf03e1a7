"""How much work a study or the training of a pool is, before it begins.

Trainings take as long as those of the same model on the same data with another seed; where none is
in the cache, only their number is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from brittle.data import Dataset
from brittle.formatting import duration, plural
from brittle.runs.forecast import Forecast, Work, searches
from brittle.studies.pool_tasks import find_member, zoo_specs
from brittle.studies.pools import Member
from brittle.studies.robustness.case import BALLS, CloudSettings
from brittle.zoo.folder import trained_models
from brittle.zoo.names.parsing import parse

TRAININGS = ("training", "trainings")


def trainings(
    members: Sequence[Member],
    text: Sequence[str] | None = None,
    label: str | None = None,
    new: bool = False,
    table: str | None = None,
) -> list[Work]:
    """Return the trainings of the zoo models that are not in the cache, or of all if `new`.

    With a `table`, only models on that data read its columns `text` and `label`.
    """

    def is_missing(spec: str) -> bool:
        reads = table is None or parse(spec).data == table
        return find_member(spec, *((text, label) if reads else ())) is None

    missing = [spec for spec in zoo_specs(members) if new or is_missing(spec)]
    if not missing:
        return []
    cards = [model.card for model in trained_models()]
    seconds: list[float] = []
    for spec in missing:
        wanted = parse(spec)
        same = [
            card.seconds
            for card in cards
            if (card.name, card.size) == (wanted.source, wanted.size)
            and card.data in (wanted.data, Path(wanted.data).stem)
        ]
        if same:
            seconds.append(sum(same) / len(same))
    what, total = plural(len(missing), TRAININGS), sum(seconds)
    if not seconds:
        return [Work(what)]
    about = f"about {duration(total)}, judged by earlier trainings of these models"
    if len(seconds) == len(missing):
        return [Work(what, total, about)]
    known = f"about {duration(total)} for {len(seconds)} of them, unknown for the others"
    return [Work(what, None, known)]


def transfer_work(
    members: Sequence[Member],
    attack: str,
    dataset: Dataset,
    limit: int,
    winners: int,
    folder: str | Path,
) -> Forecast:
    """Forecast a transfer study: trainings, attacks on all sources, and texts tried on all."""
    cases = min(limit, len(dataset))
    texts = min(winners, cases) * len(members)
    tried = f"{plural(texts, 'adversarial texts')} tried on the other models"
    parts = [*_trainings_on(members, dataset)]
    parts += searches([member.spec for member in members], attack, cases, folder)
    return Forecast((*parts, Work(tried)))


def grid_work(
    members: Sequence[Member],
    attacks: Sequence[str],
    dataset: Dataset,
    limit: int,
    folder: str | Path,
) -> Forecast:
    """Forecast a grid: trainings, and every attack on every model."""
    cases, specs = min(limit, len(dataset)), [member.spec for member in members]
    parts = [part for attack in attacks for part in searches(specs, attack, cases, folder)]
    return Forecast((*_trainings_on(members, dataset), *parts))


def robustness_work(
    members: Sequence[Member], dataset: Dataset, limit: int, settings: Mapping[str, float]
) -> Forecast:
    """Forecast a robustness study: samples that are decoded, and read by every model."""
    cloud = CloudSettings(
        int(settings["samples"]), settings["step"], settings["radius"], int(settings["misses"])
    )
    cases = min(limit, len(dataset))
    samples = ball_samples(cloud)
    what = (
        f"{plural(cases, 'cases')} with {plural(samples, 'samples')} each in balls, then "
        f"{cloud.samples:,} in every shell; {plural(len(members), 'models')} read them"
    )
    return Forecast((*_trainings_on(members, dataset), Work(what)))


def ball_samples(settings: CloudSettings) -> int:
    """Count the samples of all balls of a case, from the widest to the width of a shell.

    >>> ball_samples(CloudSettings(samples=500, step=0.01, radius=10.0))
    15000
    """
    count, radius = 0, settings.radius
    while radius >= settings.step > 0:
        count += BALLS * settings.samples
        radius /= 2
    return count


def ensemble_work(count: int, attack: str, attacked: int, limit: int | None) -> Forecast:
    """Forecast the attacks on ensembles that are to be selected; equal ones are attacked once."""
    cases = attacked if limit is None else min(limit, attacked)
    what = f"{attack} on {plural(cases, 'cases')} of each of {plural(count, 'ensembles')}"
    return Forecast((Work(what),))


def _trainings_on(members: Sequence[Member], dataset: Dataset) -> list[Work]:
    columns = dataset.table_columns
    if columns is None:
        return trainings(members)
    return trainings(members, tuple(columns.text), columns.label, table=dataset.name)
