"""Statuses on a page and in a line: as their records say."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from brittle.asks import UNTRIED
from brittle.metrics.samples import sample_results
from brittle.metrics.summary import summary
from brittle.reports.endings import MEANINGS, NOT_TESTED, format_statuses
from brittle.reports.run_page import render
from brittle.statuses import STATUSES, StatusRecord


@pytest.mark.parametrize("record", STATUSES.values(), ids=list(STATUSES))
def test_reports_say_the_meaning_and_the_reasons_that_a_record_asks_for(
    record: StatusRecord, make_run: Callable[..., Any]
) -> None:
    for reason in ("some reason", UNTRIED):
        rows = [replace(sample_results()[0], status=record.word, reason=reason)]
        line, page = format_statuses(summary(rows)), render(make_run(rows))
        is_untried = record.reasons == "untried" and reason == UNTRIED
        assert (reason in line) == (record.reasons == "everywhere" or is_untried)
        css, meaning = record.css_class, record.meaning
        if record.word == "skipped":  # it was already wrong, or it was not tested
            css, meaning = "is-not-tested", MEANINGS[NOT_TESTED]
        legend = re.findall(rf'<li class="{css}">.*?</li>', page)
        assert len(legend) == 1 and meaning in legend[0]
        assert (reason in legend[0]) == (record.reasons != "untried")
