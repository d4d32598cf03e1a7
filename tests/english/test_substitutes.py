"""Substitutes that were read one by one."""

from __future__ import annotations

from brittle.english.wordnet import (
    MOSTLY,
    NEVER,
    SOMETIMES,
    SUBSTITUTES_FILE,
    Substitutes,
    substitutes,
)
from brittle.english.words import is_stop_word

TABLE = "% a note: not a word\n#r\nquickly: rapidly fast?\n#n\naccess:\n"


def test_a_table_has_grades_by_part_of_speech() -> None:
    table = Substitutes.from_table(TABLE)
    assert table.of("quickly", "r") == {"rapidly": MOSTLY, "fast": SOMETIMES}
    assert table.grade("quickly", "slowly", "r") == NEVER
    assert table.grade("access", "entry", "n") == NEVER
    assert table.grade("quickly", "rapidly", "n") is None and table.of("quickly", "n") == {}
    assert table.grade("a note", "not", "") is None


def test_the_shipped_table_is_well_formed() -> None:
    lines = [x for x in SUBSTITUTES_FILE.read_text("utf-8").splitlines() if not x.startswith("%")]
    blocks = "\n".join(lines).split("#")[1:]
    assert [block[0] for block in blocks] == ["n", "v", "a", "r"]
    for block in blocks:
        heads = [line.partition(":")[0] for line in block.splitlines()[1:]]
        assert heads == sorted(set(heads))
        for line in block.splitlines()[1:]:
            head, colon, rest = line.partition(":")
            others = [other.rstrip("?") for other in rest.split()]
            assert colon and head not in others and len(set(others)) == len(others)
            assert all(other.isalpha() and not is_stop_word(other) for other in others)
    assert substitutes().grade("quickly", "rapidly", "r") == MOSTLY
