"""Parts of texts that are short enough for a list: cut between words, with places in them marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_SLACK = 0.3
"""A space to cut at is looked for within this part of the characters."""

_LONGEST_CHARACTER = 20
"""What people see as one character is written in no more."""

_SPACE = re.compile(r"\s+")

Pieces = tuple[tuple[str, bool], ...]
"""A text in order, each piece with True where it is marked."""


def begin_before(text: str, place: int, characters: int) -> int:
    """Where an excerpt with about so many characters before a place begins: after a space, where there is one nearby."""
    begin = max(0, place - characters)
    if begin == 0:
        return 0
    space = _SPACE.search(text, begin - 1, begin + int(_SLACK * characters))
    return space.end() if space else _between_characters(text, begin)


def end_after(text: str, place: int, characters: int) -> int:
    """Where an excerpt with about so many characters after a place ends: before a space, where there is one nearby."""
    end = place + characters
    if end >= len(text):
        return len(text)
    spaces = [space.start() for space in _SPACE.finditer(text, end - int(_SLACK * characters), end + 1)]
    return spaces[-1] if spaces else _between_characters(text, end)


def _between_characters(text: str, at: int) -> int:
    """The next place from `at` on that is not before a mark, joiner or modifier of the character before."""
    for place in range(at, min(at + _LONGEST_CHARACTER, len(text))):
        if unicodedata.category(text[place]) not in ("Mn", "Mc", "Me", "Cf", "Sk") and text[place - 1] != "\u200d":
            return place
    return at


def in_pieces(text: str, begin: int, end: int, marked: Iterable[tuple[int, int]]) -> Pieces:
    """The text from `begin` to `end` with the (start, end) that lie in it marked, and white space as single blanks.

    Args:
        text: the whole text.
        begin: where the excerpt begins.
        end: where it ends.
        marked: places in rising order; those that overlap one before are left unmarked.
    """
    pieces: list[tuple[str, bool]] = []
    reached = begin
    for start, stop in marked:
        if start < reached or stop > end:
            continue
        if start > reached:
            pieces.append((_SPACE.sub(" ", text[reached:start]), False))
        pieces.append((_SPACE.sub(" ", text[start:stop]), True))
        reached = stop
    if reached < end:
        pieces.append((_SPACE.sub(" ", text[reached:end]), False))
    return tuple(pieces)
