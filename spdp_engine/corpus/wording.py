"""Small pieces of the sentences in notes and errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def counted(number: int, thing: str, things: str | None = None) -> str:
    """ "1 row", "1,234 rows"; `things` is the plural where it is not `thing` + "s"."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def listed(names: Iterable[str], limit: int = 5) -> str:
    """ "a, b and c"; after `limit` names "a, b, c and 12 more". Long names are cut."""
    shown: Sequence[str] = [name if len(name) <= 60 else name[:57] + "..." for name in names]
    if len(shown) > limit:
        return ", ".join(shown[:limit]) + f" and {len(shown) - limit:,} more"
    if len(shown) < 2:
        return "".join(shown)
    return ", ".join(shown[:-1]) + " and " + shown[-1]


def was(number: int) -> str:
    """The verb that goes with `number` things."""
    return "was" if number == 1 else "were"
