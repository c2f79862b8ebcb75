"""What the command line answers, for tests of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    status: int
    out: list[str]
    err: list[str]

    @property
    def figures(self) -> dict[str, Any]:
        """What --json printed, without what differs from run to run."""
        told: dict[str, Any] = json.loads(self.out[-1])
        return {name: value for name, value in told.items() if name not in ("seconds", "tokens_per_second")}


Call = Callable[..., Answer]
