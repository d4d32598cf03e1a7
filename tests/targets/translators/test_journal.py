"""Translations are stored before they are used: after a stop no sentence is asked twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from brittle.engine.broker import Broker
from brittle.errors import LimitReached
from brittle.opening import as_target
from brittle.runs.store import Store
from brittle.targets.capabilities import make_desks
from brittle.text import Text

SCRIPT = """
import sys
lines = sys.stdin.read().splitlines()
open(sys.argv[1], "a").write("".join(line + "\\n" for line in lines if "caption" in line))
print("\\n".join(line.upper() for line in lines))
"""


def test_a_line_filter_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    script, log = tmp_path / "filter.py", tmp_path / "log"
    script.write_text(SCRIPT)
    target = as_target(f"filter:'{sys.executable}' -S '{script}' '{log}'")
    texts = [f"caption {n}" for n in range(40)]
    items = [Text.of(text) for text in texts]
    with Store.create(tmp_path / "run.sqlite", {}) as store:
        broker = Broker(make_desks(target), journal=store, batch=8, most_sent=20)
        with pytest.raises(LimitReached):
            broker.answer("answer", items)
        broker.close()
    assert len(log.read_text().splitlines()) == 20
    with Store.resume(tmp_path / "run.sqlite") as store:
        broker = Broker(make_desks(target), journal=store, batch=8)
        assert broker.answer("answer", items) == ([text.upper() for text in texts], {})
        broker.close()
    assert sorted(log.read_text().splitlines()) == sorted(texts)
