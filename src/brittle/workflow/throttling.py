"""Messages for a person that come seldom enough to be read."""

from __future__ import annotations

import time

from brittle.workflow.tasks import Report

SECONDS_BETWEEN_MESSAGES = 20.0


def throttle(report: Report) -> Report:
    """Return a report that drops messages which come too soon after the last one."""
    last = time.monotonic()

    def throttled(message: str) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_MESSAGES:
            last = time.monotonic()
            report(message)

    return throttled
