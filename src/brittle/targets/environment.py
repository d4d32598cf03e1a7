"""Values of environment variables in the description of a target: `${NAME}`."""

from __future__ import annotations

import os
import re

from brittle.errors import UsageError
from brittle.redaction import remember

VARIABLE = re.compile(r"\$\{(\w+)\}")


def fill_in(template: str, where: str) -> str:
    """Replace `${NAME}` by the value of the environment variable, which is hidden from then on."""

    def value_of(match: re.Match[str]) -> str:
        value = os.environ.get(match[1])
        if value is None:
            raise UsageError(
                f"The {where} needs the environment variable {match[1]}, which is not set. "
                f"Set it first: export {match[1]}=…"
            )
        remember(value)
        return value

    return VARIABLE.sub(value_of, template)
