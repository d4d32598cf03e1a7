"""The judges of the transfer paper: invented studies in which a finding holds, or does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.studies.pools import Member, member_of
from brittle.studies.rules.evaluation import RuledText
from brittle.studies.study import study_of
from brittle.studies.transfer.study import TransferStudy, Winner, restricted
from brittle_papers.spec import PaperRequest
from brittle_papers.transfer.claims import TransferPaperFigures
from brittle_papers.transfer.results import GENETIC, PWWS, SAME_MODELS, VECTORS
from papers.judged import judged

pytestmark = pytest.mark.slow
NAMES = [
    *(f"{a}-{i}-{n}" for a in ("LSTM", "CNN") for i in ("W-Random", "C-Random") for n in (1, 2)),
    *("LSTM-W-GloVe-1", "LSTM-WC-ELMo-1", "MiniLM", "MiniLM-3", "BERT-NOPT"),
]
TEXTS = 150
Rate = Callable[[Member, Member], float]


def results(
    rate: Rate, other: Rate | None = None, names: Sequence[str] = NAMES
) -> TransferPaperFigures:
    """Invent a study in which a target is fooled at a rate, and one of the other attack."""
    members = tuple(member_of(name, "mr", 2) for name in names)
    winners = tuple(
        Winner(f"c{n}", n % 2, (("text", "a"),), (("text", "b"),)) for n in range(TEXTS)
    )
    cases = {winner.case: winner.label for winner in winners}

    def study(rate: Rate, name: str) -> TransferStudy:
        rng = np.random.default_rng(0)
        # The same numbers for all cells, so that equal rates are equal counts.
        draw = rng.random(TEXTS)
        after = {
            t.name: {
                s.name: tuple(
                    w.label ^ int(x < rate(s, t)) for w, x in zip(winners, np.roll(draw, k))
                )
                for k, s in enumerate(members)
            }
            for t in members
        }
        before = {member.name: cases for member in members}
        by_source = {member.name: winners for member in members}
        return study_of(
            "transfer",
            name,
            pool="pool",
            attack=name,
            settings={},
            data="mr",
            split="test",
            seed=0,
            labels=("neg", "pos"),
            attacked=TEXTS,
            sources=members,
            targets=members,
            winners=by_source,
            before=before,
            after=after,
            twin_before=before,
        )

    found = TransferPaperFigures(PaperRequest("transfer", "small", "mr"), Path(), {})
    studies = {PWWS: study(rate, "pwws")}
    if other is not None:
        studies[GENETIC] = study(other, "genetic")
    found.__dict__["studies"] = studies
    return found


def by_factor(distances: dict[str, float]) -> Rate:
    """Return rates that lie below the base rate by what the members differ in."""

    def rate(source: Member, target: Member) -> float:
        differing = {p for p in distances if source.parts.get(p) != target.parts.get(p)}
        return 0.8 - sum(distances[part] for part in differing)

    return rate


ORDERED = {"input": 0.4, "architecture": 0.2, "embedding": 0.1, "layers": 0.02}
REVERSED = dict(zip(ORDERED, reversed(ORDERED.values())))


def is_bert(member: Member) -> bool:
    return member.architecture == "BERT"


@pytest.mark.parametrize(
    ("claim", "holds", "fails"),
    [
        ("factors-pwws", by_factor(ORDERED), by_factor(REVERSED)),
        (
            "bert-sources",
            lambda s, t: {"LSTM": 0.6, "BERT": 0.4, "CNN": 0.2}[s.architecture],
            lambda s, t: {"LSTM": 0.6, "BERT": 0.1, "CNN": 0.2}[s.architecture],
        ),
        (
            "bert-robust",
            lambda s, t: 0.2 if is_bert(t) else 0.5,
            lambda s, t: 0.7 if is_bert(t) else 0.5,
        ),
        (
            "intra",
            lambda s, t: 0.7 if s.architecture == t.architecture else 0.3,
            lambda s, t: 0.2 if s.architecture == t.architecture else 0.3,
        ),
        (
            "intra-without-diagonal",
            lambda s, t: 0.7 if s.architecture == t.architecture else 0.3,
            lambda s, t: (
                0.9 if s.name == t.name else 0.2 if s.architecture == t.architecture else 0.3
            ),
        ),
        (
            "asymmetric",
            lambda s, t: 0.2 if NAMES.index(s.name) < NAMES.index(t.name) else 0.6,
            lambda s, t: 0.5,
        ),
        (
            "characters-robust",
            lambda s, t: 0.2 if t.form == "character" else 0.5,
            lambda s, t: 0.5 if t.form == "character" else 0.2,
        ),
        (
            "characters-transfer",
            lambda s, t: 0.2 if s.form == "character" else 0.5,
            lambda s, t: 0.5 if s.form == "character" else 0.2,
        ),
        (
            "characters-robust-all-texts",
            lambda s, t: 0.2 if t.form == "character" else 0.5,
            lambda s, t: 0.5 if t.form == "character" else 0.2,
        ),
        (
            "pretrained-glove",
            lambda s, t: 0.2 if t.reads in ("GloVe", "ELMo") or t.name == "MiniLM" else 0.5,
            lambda s, t: 0.7 if t.reads in ("GloVe", "ELMo") or t.name == "MiniLM" else 0.5,
        ),
    ],
)
def test_a_finding_that_holds_and_its_reverse(claim: str, holds: Rate, fails: Rate) -> None:
    verdicts = [judged(claim, results(rate)) for rate in (holds, fails)]
    assert [v and v.verdict for v in verdicts] == ["agrees", "disagrees"]


def test_the_distance_of_the_embedding_can_be_that_of_one_kind_of_vectors() -> None:
    """Here all but GloVe's transfer alike, and architectures lie 0.1 apart."""
    vectors = ("Random", "GloVe", "word2vec", "fastText")
    names = [f"{a}-W-{vector}-1" for a in ("LSTM", "CNN") for vector in vectors]

    def rate(source: Member, target: Member) -> float:
        is_apart = source.reads != target.reads and "GloVe" in (source.reads, target.reads)
        return 0.8 - 0.4 * is_apart - 0.1 * (source.architecture != target.architecture)

    found = results(rate, names=names)
    found.__dict__["studies"] = {VECTORS: found.studies[PWWS]}
    whole, part = (found.distance("embedding", kind).value for kind in (None, "GloVe"))
    assert whole == pytest.approx(0.2, abs=0.05) and part == pytest.approx(0.0, abs=0.05)
    architecture = found.distance("architecture", "GloVe")
    assert architecture.value == pytest.approx(0.1, abs=0.05) and architecture.of == TEXTS


def test_an_attack_overfits_if_its_rates_are_further_from_the_base_rates() -> None:
    near = by_factor(dict.fromkeys(ORDERED, 0.05))
    found = [
        judged("overfit", results(*pair))
        for pair in ((by_factor(ORDERED), near), (near, by_factor(ORDERED)))
    ]
    assert [v and v.verdict for v in found] == ["agrees", "disagrees"]
    assert judged("overfit", results(near)) is None


def ruled(*rows: str) -> list[RuledText]:
    return [RuledText(f"c{n}", "+", 20, tuple(row)) for n, row in enumerate(rows)]


def test_rules_are_compared_on_the_same_texts() -> None:
    found = results(lambda s, t: 0.5)
    weak, strong = ruled(*["+++"] * 60, *["++-"] * 40), ruled(*["++-"] * 80, *["+++"] * 20)
    found.__dict__["ruled"] = {name: {"pmi": weak, "uawr-6": strong} for name in NAMES}
    stored: Any = found.results
    stored |= {"rules on the models": {}, "rules": {"rules": {"uawr-6": 1, "pmi": 1}}}
    judgement = judged("uawr-pmi", found)
    assert (
        judgement is not None
        and judgement.verdict == "agrees"
        and "word +40.0 points" in judgement.evidence
    )
    for sets in found.__dict__["ruled"].values():
        sets["pmi"], sets["uawr-6"] = sets["uawr-6"], sets["pmi"]
    del found.__dict__["forms"]  # what was read of them before
    judgement = judged("uawr-pmi", found)
    assert judgement is not None and judgement.verdict == "disagrees"


@pytest.mark.parametrize(("fooled", "verdict"), [(95, "agrees"), (40, "disagrees")])
def test_rules_are_compared_with_pwws_text_by_text(fooled: int, verdict: str) -> None:
    """Texts that PWWS did not attack count on neither side."""
    found = results(lambda s, t: 0.5)
    rows = ruled(*["++-"] * fooled, *["+++"] * (100 - fooled), *["+++"] * 50)
    found.__dict__["ruled"] = {name: {"uawr-6": rows} for name in NAMES}
    found.__dict__["attacked"] = {PWWS: {n: [(f"c{k}", k < 96) for k in range(100)] for n in NAMES}}
    stored: Any = found.results
    stored |= {"rules on the models": {}, "rules": {"rules": {"uawr-6": 1}}}
    judgement = judged("uawr-pwws", found)
    assert judgement is not None and judgement.verdict == verdict
    assert f"paired by text, {fooled - 96:+.1f} points" in judgement.evidence


def test_pwws_is_compared_on_the_models_of_the_genetic_attack() -> None:
    """ELMo, which the genetic attack leaves out, would turn the order round."""
    near, far = by_factor(dict.fromkeys(ORDERED, 0.01)), by_factor(dict.fromkeys(ORDERED, 0.6))

    def rate(source: Member, target: Member) -> float:
        has_elmo = any(member.parts.get("input") == "WC" for member in (source, target))
        return (far if has_elmo else near)(source, target)

    found = results(rate, by_factor(dict.fromkeys(ORDERED, 0.2)))
    whole = found.studies[PWWS]
    names = {m.name for m in whole.sources if m.parts.get("input") in ("W", "C")}
    part = restricted(whole, names)
    assert [m.name for m in part.targets] == [m.name for m in whole.targets if m.name in names]
    rows = [n for n, member in enumerate(whole.sources) if member.name in names]
    np.testing.assert_array_equal(part.matrix().rate, whole.matrix().rate[np.ix_(rows, rows)])
    found.__dict__["studies"] = {**found.studies, SAME_MODELS: part}
    judgement = judged("overfit", found)
    assert judgement is not None and judgement.verdict == "disagrees"


SIZES = (2, 3, 4)


def with_ensembles(rates: dict[tuple[str, int], float], same: int | None = None) -> Any:
    """Invent ensembles by method and size, and how often the models outside are fooled.

    With `same` both methods choose the same members at that size.
    """
    found = results(lambda s, t: 0.4)
    singles, draw = found.studies[PWWS], np.random.default_rng(1).random(TEXTS)
    ensembles = []
    for method, n in rates:
        chosen = NAMES[:n] if method == "genetic" or n == same else NAMES[1 : n + 1]
        name = f"{method}-{n}"
        ensembles.append({"method": method, "members": list(chosen), "name": name})
    winners = singles.winners[NAMES[0]]
    label = {winner.case: winner.label for winner in winners}
    sources = tuple(replace(singles.sources[0], name=e["name"]) for e in ensembles)
    after = {
        t.name: {
            source.name: tuple(w.label ^ int(x < rate) for w, x in zip(winners, draw))
            for source, rate in zip(sources, rates.values())
        }
        for t in singles.targets
    }
    study = study_of(
        "transfer",
        "ensembles",
        **{name: getattr(singles, name) for name in ("pool", "attack", "settings", "data")},
        **{name: getattr(singles, name) for name in ("split", "seed", "labels", "attacked")},
        sources=sources,
        targets=singles.targets,
        winners={source.name: winners for source in sources},
        before={t.name: label for t in singles.targets},
        after=after,
        twin_before={},
    )
    found.__dict__["studies"] = {**found.studies, "ensembles": study}
    stored: Any = found.results
    stored["ensembles"] = {"ensembles": ensembles, "held_out": NAMES[-3:]}
    return found


def test_genetic_ensembles_are_better_in_most_cases_where_the_two_differ() -> None:
    rates = {("expert", n): 0.5 for n in SIZES} | {("genetic", 2): 0.5, ("genetic", 3): 0.7}
    judgement = judged("genetic-expert", with_ensembles(rates | {("genetic", 4): 0.7}, same=2))
    assert judgement is not None and judgement.verdict == "agrees"
    assert "the same members with 2" in judgement.evidence and "3 members +" in judgement.evidence
    judgement = judged("genetic-expert", with_ensembles(rates | {("genetic", 4): 0.3}, same=2))
    assert judgement is not None and judgement.verdict == "disagrees"


def test_differences_of_ensembles_are_paired_by_text() -> None:
    """Two ensembles that fool the same texts differ by nothing, without an interval."""
    found = with_ensembles({("genetic", 6): 0.5, ("genetic", 7): 0.5})
    judgement = judged("six", found)
    assert judgement is not None and judgement.verdict == "agrees"
    assert "+0.0 points (+0.0 to +0.0)" in judgement.evidence
    judgement = judged("six", with_ensembles({("genetic", 6): 0.4, ("genetic", 7): 0.6}))
    assert judgement is not None and judgement.verdict == "disagrees"


def test_ensembles_are_compared_with_all_pairs_on_the_same_texts() -> None:
    better = {("genetic", n): 0.6 for n in SIZES}
    found = [judged("ensembles", with_ensembles(better | {("genetic", 4): x})) for x in (0.6, 0.2)]
    assert [v and v.verdict for v in found] == ["agrees", "disagrees"]


def test_success_rises_with_the_share_of_words_by_paired_steps() -> None:
    """Each text falls at one share: without pairs, 40 texts could not tell the steps apart."""
    found = results(lambda s, t: 0.5)
    falls = [n // 6 for n in range(40)]
    rising = [
        RuledText(f"c{n}", "+", 20, tuple("+" + "+" * fall + "-" * (6 - fall)))
        for n, fall in enumerate(falls)
    ]
    found.__dict__["ruled"] = {NAMES[0]: {"pmi": rising, "uawr-6": rising}}
    stored: Any = found.results
    stored |= {"rules on the models": {}, "rules": {"rules": {"uawr-6": 1, "pmi": 1}}}
    judgement = judged("words", found)
    assert judgement is not None and judgement.verdict == "agrees"
    assert "5% to 10% +15.0 points (+" in judgement.evidence
