"""How often senses are meant, and which words are near."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from brittle.english.wordnet import SENSES_FILE, NearWord, Senses, senses

TABLE = "#n\nfilm 9,1\n#a\ndull 5,5,2 &dreary:0:0 !lively:0:1 +slow:2:1\n"


def test_a_table_has_counts_near_words_and_opposites() -> None:
    table = Senses.from_table(TABLE)
    assert table.counts("film", "n") == (9, 1) and table.counts("dull", "a") == (5, 5, 2)
    assert table.near("dull", "a") == [NearWord("dreary", "&", 0, 0), NearWord("slow", "+", 2, 1)]
    assert table.opposites("dull", "a") == {"lively"}
    assert table.near("film", "n") == [] and table.opposites("film", "n") == frozenset()


def test_a_word_that_is_missing_has_one_sense() -> None:
    assert Senses.from_table(TABLE).counts("dull", "n") == (0,)
    assert Senses.from_table(TABLE).shares("dull", "n") == (1.0,)


def test_shares_follow_counts_and_order() -> None:
    shares = Senses.from_table(TABLE).shares("dull", "a")
    assert sum(shares) == pytest.approx(1)
    assert shares[0] > shares[1] > shares[2]  # equal counts: the earlier sense is likelier
    # The order is worth three uses, shared as 1, 1/2 and 1/3.
    assert shares[2] == pytest.approx((2 + 3 * (1 / 3) / (11 / 6)) / 15)


def test_the_shipped_table_knows_wordnet() -> None:
    assert senses() is senses() and SENSES_FILE.stat().st_size < 300_000
    assert senses().counts("original", "a") == (17, 8, 5, 0)
    assert "humorous" in {near.word for near in senses().near("funny", "a")}
    assert "lively" in senses().opposites("dull", "a")


def test_the_script_reads_groups_and_their_pointers() -> None:
    path = Path(__file__).parents[2] / "scripts" / "build_senses.py"
    spec = importlib.util.spec_from_file_location("build_senses", path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script  # a dataclass looks its module up
    spec.loader.exec_module(script)
    rows = [
        "01 00 a 01 dull 0 003 & 02 a 0000 ! 03 a 0101 + 09 n 0000",
        "02 00 s 02 Dreary(p) 0 drab 0 002 & 01 a 0000 & 04 a 0000",
        "03 00 a 01 lively 0 001 ! 01 a 0101",
        "04 00 s 01 grey 0 001 & 02 a 0000",
    ]
    groups = {row.split()[0]: script.group_of(row.split(), "a") for row in rows}
    assert groups["02"].words == ("dreary", "drab")
    assert list(script.related("dull", "01", groups)) == [
        ("&", "dreary", "02"),
        ("&", "drab", "02"),
        ("!", "lively", "03"),
        ("+", "grey", "04"),
    ]
