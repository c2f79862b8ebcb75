"""How a person reads the topics of a run: names, topics hidden or read as one, pinned ones. The model knows nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class View:
    """What a person made of the topics; every change is a new view, so that each can be taken back.

    Attributes:
        names: own names, by topic.
        hidden: topics that are not shown; shares still include them.
        merged: topics that are read as part of another, and which: {part: whole}. A whole is never a part.
        pinned: topics that come first, in this order.
    """

    names: Mapping[int, str] = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    merged: Mapping[int, int] = field(default_factory=dict)
    pinned: tuple[int, ...] = ()
