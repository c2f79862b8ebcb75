"""Text -> words, and where they stand in the text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tokeniser:
    """Being written."""

    stop_words: frozenset[str] = frozenset()
    minimum_length: int = 3
    keep_numbers: bool = False
    pretokenised: bool = False

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """(start, end, word) of each word."""
        raise NotImplementedError

    def words(self, text: str) -> list[str]:
        """The words."""
        raise NotImplementedError
