"""The members of a pool that failed, in words."""

from __future__ import annotations

from collections.abc import Mapping

from brittle.formatting import plural


def failed_members(failures: Mapping[str, str], with_reasons: bool) -> str:
    """Name the members that failed; their reasons stand with the tables, unless those are off."""
    their, them = ("its", "it") if len(failures) == 1 else ("their", "them")
    lines = [f"  {name}: {why}" if with_reasons else f"  {name}" for name, why in failures.items()]
    members = plural(len(failures), ("member", "members"))
    return "\n".join(
        [
            f"{members} of the pool failed, and {their} cells are empty:",
            *lines,
            f"The same command tries {them} again; or leave {them} out of the pool.",
        ]
    )
