"""When an endpoint is asked again, how long to wait before that, and the rate limit.

A request without an answer is sent again after a pause that doubles, or after the time that the
endpoint asks for (Retry-After).
"""

from __future__ import annotations

import email.utils
import logging
import random
import threading
import time
from collections.abc import Callable

FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 0.5, 30.0
MAX_RETRY_AFTER_SECONDS = 300.0  # a server that asks for a longer wait counts as down

log = logging.getLogger(__name__)


class Unanswered(Exception):
    """No answer after `tries`; `wait` is how long the endpoint asks to wait, in seconds."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait
        self.tries = 1


def ask_again(
    send: Callable[[], bytes], retries: int, who: str, sleep: Callable[[float], None]
) -> bytes:
    """Send a request until it is answered, or until all retries have failed."""
    wait = FIRST_WAIT_SECONDS
    for attempt in range(retries + 1):
        try:
            return send()
        except Unanswered as error:
            problem = error
            problem.tries = attempt + 1
        if attempt < retries:
            # Jitter, so that parallel requests do not all come back at the same time.
            pause = max(problem.wait or 0.0, wait * random.uniform(0.5, 1.0))
            if pause > MAX_RETRY_AFTER_SECONDS:
                break
            log.info("%s: %s; trying again in %.1f s", who, problem, pause)
            sleep(pause)
            wait = min(wait * 2, MAX_WAIT_SECONDS)
    raise problem


class Turns:
    """The turns of requests under a rate limit, `per_second`; None: there is none."""

    def __init__(self, per_second: float | None, sleep: Callable[[float], None]) -> None:
        self.per_second = per_second
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next_slot = 0.0

    def wait(self) -> None:
        """Wait until the rate limit allows one more request."""
        if self.per_second is None:
            return
        with self._lock:
            now = time.monotonic()
            slot = max(now, self._next_slot)
            self._next_slot = slot + 1.0 / self.per_second
        if slot > now:
            self._sleep(slot - now)


def parse_retry_after(header: str | None, status: int) -> float | None:
    """Parse Retry-After, a number of seconds or a date; return the seconds to wait.

    Status 429 without the header is 0, not None, because the text is not the reason.
    """
    if header is None:
        return 0.0 if status == 429 else None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0
