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
from brittle.reports.run_page import render
from brittle.reports.summary_lines import format_statuses
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
        legend = re.findall(rf'<li class="{record.css_class}">.*?</li>', page)
        assert len(legend) == 1 and record.meaning in legend[0]
        assert (reason in legend[0]) == (record.reasons != "untried")
