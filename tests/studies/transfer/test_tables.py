"""Tables by class and by factor: the paper's own cells give the paper's tables."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.studies.pools import Member, member_of
from brittle.studies.study import study_of
from brittle.studies.transfer.factors import (
    class_means,
    class_table,
    classes_of,
    factor_rows,
    study_tables,
)
from brittle.studies.transfer.study import (
    TransferMatrix,
    TransferStudy,
    Winner,
    counted_texts,
    counts_of,
    intervals,
    universal_texts,
)

BERTS = ("BERT", "RoBERTa", "ALBERT")


def member(name: str) -> Member:
    if name in BERTS:
        return Member(name, name, parts={"architecture": "BERT", "reads": "BERT"})
    architecture, reads, embedding, layers = name.split("-")
    parts = {"architecture": architecture, "input": reads, "embedding": embedding}
    kind = "Character" if reads == "C" else embedding
    return Member(name, name, parts={**parts, "layers": int(layers), "reads": kind})


@pytest.fixture(scope="module")
def figure3() -> TransferMatrix:
    """The 63 × 27 cells of the paper's Figure 3, part 2."""
    lines = (Path(__file__).parent / "figure3_part2.csv").read_text("utf-8").splitlines()
    head, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    rate = np.array([[float(cell) for cell in row[1:]] for row in rows])
    sources, targets = (
        [member(name) for name in part] for part in ([r[0] for r in rows], head[1:])
    )
    count = np.full(len(sources), 500)
    return TransferMatrix(tuple(sources), tuple(targets), rate, np.full_like(rate, np.nan), count)


def test_the_papers_cells_give_its_table_3(figure3: TransferMatrix) -> None:
    table = class_table(figure3, "architecture")
    assert table.rows == ("LSTM", "BiLSTM", "CNN", "BERT") and table.columns == ("CNN", "BERT")
    assert table.mean[:, 0].round(3).tolist() == [0.353, 0.337, 0.442, 0.348]
    assert table.mean[:, 1].round(3).tolist() == [0.190, 0.183, 0.169, 0.396]
    without = class_table(figure3, "architecture", diagonal=False)
    assert without.mean.round(3)[2:].tolist() == [[0.432, 0.169], [0.348, 0.335]]


def test_the_papers_cells_give_the_bert_column_of_its_table_4(figure3: TransferMatrix) -> None:
    table = class_table(figure3, "reads")
    column = dict(zip(table.rows, table.mean[:, table.columns.index("BERT")]))
    printed = {"Random": 0.166, "GloVe": 0.174, "word2vec": 0.165, "fastText": 0.169}
    printed |= {"Character": 0.186, "ELMo": 0.216, "BERT": 0.396}
    assert column == pytest.approx(printed, abs=0.002)
    assert table.column_mean[table.columns.index("BERT")] == pytest.approx(0.210, abs=0.002)


def test_the_factors_of_the_papers_cnn_targets(figure3: TransferMatrix) -> None:
    rows = {row.factor: (round(row.mean, 3), row.pairs) for row in factor_rows(figure3)}
    assert rows == {
        "input": (0.351, 72),
        "input, same embedding": (0.310, 8),
        "architecture": (0.250, 36),
        "embedding": (0.104, 48),
        "layers": (0.062, 72),
    }


NAMES = ("LSTM-W-Random-1", "CNN-W-Random-1", "LSTM-C-Random-1", "LSTM-W-GloVe-1", "MiniLM")


def drawn_study(texts: int = 40, seed: int = 1) -> TransferStudy:
    """A study with labels drawn at random; the last target has no column, a source fewer texts."""
    rng = np.random.default_rng(seed)
    members = tuple(member_of(name, "mr", 2) for name in NAMES)
    cases = [f"c{n}" for n in range(texts)]
    winners = {
        m.name: tuple(
            Winner(case, n % 2, (("text", "a"),), (("text", f"{m.name} {n}"),))
            for n, case in enumerate(cases)
            if n % (row + 1) == 0
        )
        for row, m in enumerate(members)
    }

    def labels(count: int) -> list[int]:
        return [int(label) for label in rng.integers(0, 2, size=count)]

    return study_of(
        "transfer",
        "drawn",
        pool="five",
        attack="pwws",
        settings={},
        data="mr",
        split="test",
        seed=0,
        labels=("neg", "pos"),
        attacked=texts,
        sources=members,
        targets=members,
        winners=winners,
        before={m.name: dict(zip(cases, labels(texts))) for m in members[:-1]},
        after={
            m.name: {s.name: tuple(labels(len(winners[s.name]))) for s in members}
            for m in members[:-1]
        },
        twin_before={m.name: dict(zip(cases, labels(texts))) for m in members},
        failures={"MiniLM": "gone"},
    )


def resampled(study: TransferStudy, weight: np.ndarray, cases: list[str]) -> TransferMatrix:
    """The matrix of a study in which every text is there as often as it was drawn."""
    times = dict(zip(cases, weight.astype(int)))

    def repeat(source: str, values: tuple[object, ...]) -> tuple[object, ...]:
        rows = study.winners[source]
        return tuple(v for w, v in zip(rows, values) for _ in range(times[w.case]))

    results = study.results
    changed = study.changed(
        winners={s: repeat(s, rows) for s, rows in results.winners.items()},
        after={
            t: {s: repeat(s, labels) for s, labels in by.items()} for t, by in results.after.items()
        },
    )
    return changed.results.matrix()


@pytest.mark.parametrize("of_right", [False, True])
def test_intervals_are_those_of_studies_of_resampled_texts(of_right: bool) -> None:
    study = drawn_study()
    counts = counts_of(study)
    weights: list[np.ndarray] = []
    classes = classes_of(study.sources, study.targets, "architecture")
    rates: list[np.ndarray] = []

    def keep(rate: np.ndarray) -> np.ndarray:
        rates.append(rate)
        return class_means(rate, classes)

    ((value, low, high),) = intervals(counts, [keep], of_right=of_right, resamples=120, seed=3)
    # The same draws by hand: each resample lists the texts that it drew.
    rng = np.random.default_rng(3)
    cases = list(dict.fromkeys(w.case for rows in study.winners.values() for w in rows))
    for rows in (100, 20):
        drawn = rng.integers(0, len(cases), size=(rows, len(cases)))
        weights += [np.bincount(row, minlength=len(cases)) for row in drawn]
    matrices = [resampled(study, weight, cases) for weight in weights]
    by_hand = np.array([m.rate_of_right if of_right else m.rate for m in matrices])
    np.testing.assert_allclose(np.concatenate(rates[1:]), by_hand, atol=1e-6)
    means = np.array([class_table(m, of_right=of_right).mean for m in matrices])
    expected = class_table(study.matrix(), of_right=of_right).mean
    np.testing.assert_allclose(value, expected, atol=1e-6)
    some = ~np.isnan(expected)
    tails = np.quantile(means, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(low[some], (2 * expected - tails[1])[some], atol=1e-6)
    np.testing.assert_allclose(high[some], (2 * expected - tails[0])[some], atol=1e-6)
    assert np.isnan(low[~some]).all() and (~some).any()


def test_the_tables_of_a_study_by_hand() -> None:
    study = drawn_study()
    tables = study_tables(study, resamples=50)
    rate, names = study.matrix().rate, list(NAMES)

    def distance(source: str, target: str) -> float:
        column = names.index(target)
        return abs(float(rate[names.index(source), column] - rate[column, column]))

    lstm, cnn, characters, glove, _ = NAMES
    rows = {row.factor: row for row in tables.factors}
    expected = (distance(lstm, cnn) + distance(cnn, lstm)) / 2
    assert rows["architecture"].mean == pytest.approx(expected, abs=1e-6)
    pairs = [(a, b) for a in (lstm, glove) for b in (characters,)]
    loose = [distance(*pair) for a, b in pairs for pair in ((a, b), (b, a))]
    assert rows["input"].mean == pytest.approx(np.mean(loose), abs=1e-6)
    assert rows["input"].pairs == 4 and rows["input, same embedding"].pairs == 2
    assert rows["layers"].pairs == 0 and np.isnan(rows["layers"].mean)
    assert rows["architecture"].low is not None and rows["architecture"].high is not None
    table, others = tables.classes["architecture"], tables.classes_without_diagonal["architecture"]
    assert table.mean[0, 0] == pytest.approx(rate[np.ix_([0, 2, 3], [0, 2, 3])].mean(), abs=1e-6)
    block = rate[np.ix_([0, 2, 3], [0, 2, 3])]
    off_diagonal = block[~np.eye(3, dtype=bool)].mean()
    assert others.mean[0, 0] == pytest.approx(off_diagonal, abs=1e-6)


def test_resamples_are_drawn_by_the_seed() -> None:
    counts = counts_of(drawn_study())
    classes = classes_of(*[drawn_study().sources] * 2, "reads")
    statistic = partial(class_means, classes=classes)
    first, again, other = (
        intervals(counts, [statistic], resamples=30, seed=seed)[0][1] for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other, equal_nan=True)


def test_bounds_stay_in_the_range_of_rates() -> None:
    """With few texts, 2·value − quantile leaves it."""
    for seed in range(8):
        tables = study_tables(drawn_study(texts=4, seed=seed), resamples=50)
        bounds = [bound for row in tables.factors for bound in (row.low, row.high)]
        known = np.array([bound for bound in bounds if bound is not None and np.isfinite(bound)])
        assert len(known) and (known >= 0).all() and (known <= 1).all()


def test_an_unknown_class_is_an_error(figure3: TransferMatrix) -> None:
    with pytest.raises(UsageError, match="Unknown class of models 'architectur'"):
        class_table(figure3, "architectur")


def test_texts_that_fool_all_by_brute_force() -> None:
    study = drawn_study()
    expected = {}
    for source in NAMES:
        for n, winner in enumerate(study.winners[source]):
            others = [t for t in NAMES[:-1] if t != source]
            wrong = [study.after[t][source][n] != winner.label for t in others]
            expected[source, winner.case] = (sum(wrong) + 1, len(others) + 1)
    texts = counted_texts(study)
    assert {(t.source, t.winner.case): (t.fooled, t.targets) for t in texts} == expected
    assert [t.fooled for t in texts] == sorted((t.fooled for t in texts), reverse=True)
    assert len(universal_texts(study)) == sum(a == b for a, b in expected.values()) > 0
