"""The tasks about pictures: their names, how much is done at each scale, and what needs what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle import files
from brittle.workflow.tasks import Task
from brittle_papers.natural import stages
from brittle_papers.natural.classifiers import NEURONS_KIND, DigitClassifier, classifiers
from brittle_papers.planning import stays_here
from brittle_papers.request import PaperRequest
from brittle_papers.transfer.stages import model_folders, train_models

FOREST, LENET = TARGETS = ("forest", "LeNet")
"""The two classifiers of Tables 1 and 6, in the paper's order."""
MLP = "MLP"
DIGIT, DIGITS_TRIED = "3", 3
"""The class of the one digit of Figure 4d, and how many of it are searched around."""
CLASSES = 10

# The names of the tasks, for the plan and for the page.
GENERATOR, MODELS, CLASSIFIERS = "generator", "models", "classifiers"
SEARCHES = {name: f"searches on {name}" for name in TARGETS}
FGSM = {name: f"FGSM on {name}" for name in (LENET, MLP)}
ON_MLP, ON_TEN = "natural on MLP", "one digit"
TABLE_6, FIGURE_4, ONE = "robustness of two", "robustness of all", "robustness of one"
REBUILT, CURVE = "reconstructions", "curve"


@dataclass(frozen=True)
class Scale:
    """How much is done with pictures: sizes of models, pictures of each class, and samples.

    Uniform search is run on `uniform_per_class` pictures of each class. Every so many (`every`) of
    the 80 classifiers are asked about `many_per_class` pictures, with `many_samples` points of a
    shell. Reconstructions are looked at on `rebuilt` pictures, without and with `refine` steps of
    descent. Around `curve_points` points of the curve is searched, by a generator of `curve_steps`.
    """

    size: str
    generator_size: str
    per_class: int
    samples: int
    uniform_per_class: int
    many_per_class: int
    many_samples: int
    rebuilt: int
    refine: int
    curve_points: int
    curve_steps: int
    step: float = 0.01
    radius: float = 10.0
    every: int = 1
    generator_settings: tuple[str, ...] = ()


SCALES: Mapping[str, Scale] = {
    "tiny": Scale(
        *("tiny", "tiny", 2, 20, 1, 1, 10, 12, 2, 6, 40, 0.1, 8.0, 9),
        ("rate=0.003", "steps=250", "inverter_steps=100"),
    ),
    # About an hour of one core: iterative search of 100 digits takes half of it.
    "small": Scale("default", "default", 10, 500, 3, 4, 200, 2000, 100, 100, 1200),
    "full": Scale("default", "paper", 10, 5000, 10, 10, 5000, 10_000, 500, 100, 1200),
}
SHOWN_POINTS = 600  # of the curve, in the plots


def chosen_classifiers(scale: Scale) -> list[DigitClassifier]:
    """List the classifiers of Figure 4 at a scale."""
    return classifiers()[:: scale.every]


def middle(among: Sequence[DigitClassifier]) -> DigitClassifier:
    """Return the one that stands for all where one is timed: in the middle by its neurons."""
    by_neurons = [c for c in among if c.kind == NEURONS_KIND]
    return by_neurons[len(by_neurons) // 2]


def plan(request: PaperRequest) -> Sequence[Task]:
    """List the tasks; once models and generator are there, all others can begin."""
    scale, data, seed = SCALES[request.scale], request.data, request.seed
    own = {name: _spec(request, scale, name) for name in (*TARGETS, MLP)}
    chosen = chosen_classifiers(scale)
    many = {c.line: _spec(request, scale, MLP, c.line) for c in chosen}
    ten = {c.line: many[c.line] for c in chosen if c.kind == NEURONS_KIND}
    one = {line: many[line] for line in [middle(chosen).line]}
    two = {name: own[name] for name in TARGETS}
    changed = ",".join(scale.generator_settings)
    generator = stages.model_spec("WGAN", data, scale.generator_size, seed, changed)
    search = {"generator": generator, "samples": scale.samples, "step": scale.step}
    search |= {"radius": scale.radius, "seed": seed}
    fewer = search | {"samples": scale.many_samples}
    per_class = max(1, request.cases // CLASSES) if request.cases else scale.per_class
    digits: dict[str, Any] = {"data": data, "per_class": per_class}
    few = digits | {"per_class": min(per_class, scale.many_per_class)}
    both = (MODELS, GENERATOR)
    training: dict[str, Any] = {"data": data, "size": scale.generator_size, "seed": seed}
    if changed:
        training["changed"] = list(scale.generator_settings)
    compared = digits | {
        "uniform_per_class": min(per_class, scale.uniform_per_class),
        "search": search,
    }
    rebuilding = {"limit": scale.rebuilt, "refine": [0, scale.refine], "seed": seed}
    curve = {"count": scale.curve_points, "shown": SHOWN_POINTS, "steps": scale.curve_steps}
    of_digit = {"data": data, "per_class": DIGITS_TRIED, "label": DIGIT, "search": search}
    of_each = digits | {"per_class": 1, "label": None, "search": search}
    return [
        _train(MODELS, own, data),
        _task(GENERATOR, stages.train_generator, training | _content(data), (MODELS,)),
        _train(CLASSIFIERS, many, data),
        *(
            _task(name, stages.fgsm, digits | {"target": own[target], "seed": seed}, (MODELS,))
            for target, name in FGSM.items()
        ),
        _task(
            TABLE_6, stages.measure_robustness, digits | {"targets": two, "search": search}, both
        ),
        _task(ONE, stages.measure_robustness, few | {"targets": one, "search": fewer}, ALL),
        _task(FIGURE_4, stages.measure_robustness, few | {"targets": many, "search": fewer}, ALL),
        _task(ON_MLP, stages.search_around, of_each | {"targets": {MLP: own[MLP]}}, both),
        _task(ON_TEN, stages.search_around, of_digit | {"targets": ten}, ALL),
        _task(
            *(REBUILT, stages.rebuild_digits),
            digits | rebuilding | {"targets": two, "generator": generator},
            both,
        ),
        _task(CURVE, stages.draw_curve, curve | {"seed": seed}),
        *(
            _task(name, stages.compare_searches, compared | {"target": own[target]}, both)
            for target, name in SEARCHES.items()
        ),
    ]


ALL = (CLASSIFIERS, GENERATOR)


def _spec(request: PaperRequest, scale: Scale, model: str, settings: str = "") -> str:
    return f"zoo:{stages.model_spec(model, request.data, scale.size, request.seed, settings)}"


def _content(data: str) -> dict[str, Any]:
    """Return the digest of a file of data: with another content it is another task."""
    digests = files.named_files({"data": data})
    return {"digests": digests} if digests else {}


def _train(name: str, models: Mapping[str, str], data: str) -> Task:
    arguments = {"models": list(models.values()), "data": data, "seeds": 1, "size": "default"}
    return Task(name, train_models, arguments, leaves=model_folders, is_stage=True)


def _task(
    name: str,
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    needs: tuple[str, ...] = (),
) -> Task:
    return Task(name, function, arguments, needs, _LEAVES.get(function), here=stays_here)


_LEAVES: Mapping[Callable[..., Any], Callable[[Path, Any], Sequence[Path]]] = {
    stages.train_generator: stages.generator_folder,
    stages.fgsm: stages.run_files,
    stages.compare_searches: stages.run_files,
    stages.search_around: stages.run_files,
    stages.measure_robustness: stages.study_file,
}
