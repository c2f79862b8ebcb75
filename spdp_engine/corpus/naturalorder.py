"""Names in the order a person expects: "Week 2" before "Week 10"."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"(\d+)")


def natural_order(names: Iterable[str]) -> list[str]:
    """`names` sorted without regard to case, numbers in them by their value."""
    return sorted(names, key=_key)


def _key(name: str) -> tuple[list[tuple[int, int, str]], str]:
    # Odd parts of the split are digits. A number sorts before letters, as it does in character order.
    parts = _NUMBER.split(name.casefold())
    return [(0, int(part), "") if i % 2 else (1, 0, part) for i, part in enumerate(parts) if part], name
