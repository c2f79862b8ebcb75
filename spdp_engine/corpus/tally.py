"""Notes that gather while many files and rows are read: one line for a thing that happened a thousand times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from spdp_engine.corpus.types import Note

Sentence = Callable[[int, str], str]
"""Makes the sentence from how often it happened and where first."""


@dataclass
class Tally:
    """Collects happenings by sentence, and tells them in the order in which each kind came first."""

    _happened: dict[tuple[str, Sentence], tuple[int, str]] = field(default_factory=dict)
    _plain: list[Note] = field(default_factory=list)

    def add(self, kind: str, sentence: Sentence, where: str, count: int = 1) -> None:
        """`count` more happenings; `sentence` must be the same function each time."""
        before, first = self._happened.get((kind, sentence), (0, where))
        self._happened[kind, sentence] = (before + count, first)

    def note(self, kind: str, text: str, count: int = 0) -> None:
        """A line of its own."""
        self._plain.append(Note(kind, text, count))

    def notes(self) -> list[Note]:
        """All lines: the plain ones, then the counted."""
        counted = [Note(kind, sentence(n, first), n) for (kind, sentence), (n, first) in self._happened.items()]
        return [*self._plain, *counted]
