"""Check Theorem 1 of the self-attention paper with numbers: the mean and the tail bound.

    python benchmarks/attention_bound.py [--draws 20000] [--only MiniLM;orthogonal] [--data mr]

Writes benchmarks/attention_bound.json and docs/papers/attention-bound.svg. Random matrices from
d = 8 to 4,096; then W_Q and W_K of every head of trained models (trained when they are not there
yet), with points on the unit sphere as the theorem assumes, and with the vectors that the layer
reads of real sentences instead. With --only the others stay as they were measured before.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.reports import standalone_svg
from brittle.reports.axes import PlotArea, draw, tone
from brittle_papers.attention.bound import (
    CONSTANT,
    DELTAS,
    DIMENSIONS,
    FAMILIES,
    BoundCheck,
    check,
    check_family,
    measured,
    norms,
    slope,
    unit_columns,
    worst_perturbation,
)

HERE = Path(__file__).parent
PLOT = HERE.parent / "docs" / "papers" / "attention-bound.svg"
SENTENCES = 100
MODELS = ("MiniLM", "BERT-NOPT")
IN_FIGURE = ("orthogonal", "Gaussian", "64 wide, worst direction")
Array = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20_000, help="points on the sphere")
    names = ";".join((*FAMILIES, *MODELS))
    parser.add_argument("--only", default=names, help="families and models, by semicolons")
    parser.add_argument("--data", default="mr", help="what the models were trained on")
    parser.add_argument("--out", type=Path, default=HERE / "attention_bound.json")
    given = parser.parse_args()
    only = given.only.split(";")
    former = json.loads(given.out.read_text("utf-8")) if given.out.exists() else {}
    if given.only != names and former.get("draws") != given.draws:
        parser.error(f"--only keeps what was measured before, with {former.get('draws')} draws")
    kept = {name: former.get(name, {}) for name in ("families", "models")}
    content: dict[str, Any] = {"draws": given.draws, **kept}
    for name in (name for name in FAMILIES if name in only):
        checks = [check_family(name, d, given.draws) for d in DIMENSIONS]
        content["families"][name] = family_summary(name, checks)
        print(f"{name}: slope {slope(checks):.3f}", flush=True)
    for name in (name for name in MODELS if name in only):
        content["models"][name] = summary(heads_of(name, given.data, given.draws))
        print(name, json.dumps(content["models"][name]["ratios"]), flush=True)
    given.out.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    families = {
        name: [stored(one) for one in content["families"][name]["checks"]] for name in FAMILIES
    }
    models = {
        name: [{kind: stored(one) for kind, one in head.items()} for head in found["heads"]]
        for name, found in content["models"].items()
    }
    plot = standalone_svg(figure(families, models))
    PLOT.write_text(plot, "utf-8")


def stored(values: Mapping[str, Any]) -> BoundCheck:
    """Return a check as it was written."""
    lists = {name: tuple(values[name]) for name in ("tails", "tail_bounds")}
    return BoundCheck(**{name: value for name, value in values.items() if name != "holds"} | lists)


def heads_of(name: str, data: str, draws: int) -> list[dict[str, BoundCheck]]:
    """Check every head of a trained model: random directions, the worst, and real inputs."""
    from brittle.opening import load_zoo

    model, tokenizer = hf_parts(load_zoo(f"zoo:{name}@{data}"))
    inputs = layer_inputs(model, tokenizer, data)
    count = model.config.num_attention_heads
    heads = []
    for n, layer in enumerate(model.base_model.encoder.layer):
        own = layer.attention.self
        weights = [part.weight.detach().double().numpy() for part in (own.query, own.key)]
        for h in range(count):
            w_q, w_k = (np.split(weight, count)[h].T for weight in weights)
            heads.append(head_checks(f"{name} {n + 1}.{h + 1}", w_q, w_k, inputs[n], draws))
    return heads


def head_checks(
    name: str, w_q: Array, w_k: Array, vectors: Array, draws: int
) -> dict[str, BoundCheck]:
    """Check one head; scores are those of the theorem: no bias, not divided by √k."""
    rng, norm, d = np.random.default_rng(0), norms(w_q, w_k), len(w_q)
    bound = norm / math.sqrt(d)
    drawn, worst = unit_columns(d, rng), worst_perturbation(w_q, w_k)
    pairs = rng.integers(0, len(vectors), (2, 4 * DELTAS))
    real = (vectors[pairs[0]] - vectors[pairs[1]]).T
    real = real[:, np.linalg.norm(real, axis=0) > 0][:, :DELTAS]
    real /= np.linalg.norm(real, axis=0)
    by_kind = {"real inputs": real, "real inputs, worst direction": worst}
    changes = {kind: vectors @ (w_q @ (w_k.T @ deltas)) for kind, deltas in by_kind.items()}
    return {
        "sphere": check(name, w_q @ (w_k.T @ drawn), norm, draws, rng),
        "sphere, worst direction": check(name, w_q @ (w_k.T @ worst), norm, draws, rng),
        **{kind: measured(name, [value], norm, bound, d) for kind, value in changes.items()},
    }


def hf_parts(target: Any) -> tuple[Any, Any]:
    classifier = target.inside
    return classifier.model, classifier.tokenizer.hf_tokenizer


def layer_inputs(model: Any, tokenizer: Any, data: str) -> list[Array]:
    """Return what every layer reads of real sentences, token by token, scaled to length 1."""
    import torch

    from brittle.data import load

    examples = load(data, limit=SENTENCES)
    texts = [" ".join(text for _, text in example.fields) for example in examples]
    layers: list[list[Array]] = [[] for _ in model.base_model.encoder.layer]
    for text in texts:
        inputs = tokenizer(text, return_tensors="pt", truncation=True)
        with torch.inference_mode():
            states = model(**inputs, output_hidden_states=True).hidden_states
        for vectors, state in zip(layers, states):
            vectors.append(state[0].double().numpy())
    joined = [np.concatenate(vectors) for vectors in layers]
    return [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in joined]


def rounded(one: BoundCheck) -> dict[str, Any]:
    values = asdict(one)
    for name in ("norm", "mean", "low", "high", "bound"):
        values[name] = float(f"{values[name]:.5g}")
    values["tails"] = [round(share, 5) for share in one.tails]
    values["tail_bounds"] = [round(share, 5) for share in one.tail_bounds]
    return values | {"holds": one.holds}


def family_summary(name: str, checks: Sequence[BoundCheck]) -> dict[str, Any]:
    return {
        "slope": round(slope(checks), 4),
        "norms_are_constant": name in CONSTANT,
        "checks": [rounded(one) for one in checks],
    }


def summary(heads: Sequence[Mapping[str, BoundCheck]]) -> dict[str, Any]:
    """Return the ratio of mean to bound over the heads, and every head's own."""
    ratios = {}
    for kind in heads[0]:
        values = [head[kind].mean / head[kind].bound for head in heads]
        ratios[kind] = {
            "lowest": round(min(values), 4),
            "median": round(statistics.median(values), 4),
            "highest": round(max(values), 4),
            "heads_under_both_bounds": sum(head[kind].holds for head in heads),
            "heads": len(values),
        }
    first = heads[0]["sphere"]
    norm = [head["sphere"].norm for head in heads]
    return {
        "d": first.d,
        "norm": {"lowest": round(min(norm), 3), "highest": round(max(norm), 3)},
        "ratios": ratios,
        "heads": [{kind: rounded(one) for kind, one in head.items()} for head in heads],
    }


def figure(
    families: Mapping[str, Sequence[BoundCheck]],
    models: Mapping[str, Sequence[Mapping[str, BoundCheck]]],
) -> str:
    """Draw mean / (C δ) against d, both as logarithms: lines of families, a dot for every head."""
    bound = [(math.log2(d), -math.log10(d) / 2) for d in (DIMENSIONS[0], DIMENSIONS[-1])]
    lines = {"bound 1 / √d": bound}
    lines |= {name: list(map(place, families[name])) for name in IN_FIGURE}
    heads = [head for found in models.values() for head in found]
    dots = {
        f"heads: {kind} (dots)": [place(head[kind]) for head in heads]
        for kind in ("real inputs", "real inputs, worst direction")
    }
    legend = (*lines, *dots)
    low = math.floor(min(y for series in (*lines.values(), *dots.values()) for _, y in series))
    x = (math.log2(DIMENSIONS[0]) - 0.3, math.log2(DIMENSIONS[-1]) + 0.3)
    labels = ("dimension d", "mean |s′ − s| / (C δ)")
    sizes = {"width": 640, "height": 420}
    area = PlotArea(x, (float(low), 0.0), *labels, "", legend, "line", **sizes)
    body = []
    for n, series in enumerate((*lines.values(), *dots.values())):
        points = [f"{area.x_at(x):.1f} {area.y_at(y):.1f}" for x, y in series]
        colour, is_line = tone(n, len(legend)), n < len(lines)
        path = f"M{' L'.join(points)}" if is_line else "".join(f"M{point}h0" for point in points)
        body.append(f'<path class="{"line" if is_line else "dots"}{colour}" d="{path}"/>')
    x_ticks = [(math.log2(d), f"{d:,}") for d in DIMENSIONS]
    y_ticks = [(float(n), f"{10.0**n:g}") for n in range(low, 1)]
    description = (
        "Mean change of a score against the dimension. With points on the sphere it is under the "
        "bound; heads with real inputs and the worst direction are partly above it"
    )
    return draw(area, description, x_ticks, y_ticks, "".join(body))


def place(one: BoundCheck) -> tuple[float, float]:
    return math.log2(one.d), math.log10(one.mean / one.norm)


if __name__ == "__main__":
    main()
