"""The part of a passage that a report quotes: where most of its words are on the topic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spdp_engine.topics.excerpt import begin_before, end_after

Pieces = Sequence[tuple[str, bool]]
"""A text in order, each piece with True where it is a word of the topic."""

LEAD = 80
"""Characters before the first of the marked words, so that its sentence can be understood."""


@dataclass(frozen=True)
class Excerpt:
    """A part of a text.

    Attributes:
        pieces: the part, as the text's pieces are.
        begins: whether it begins where the text does.
        ends: whether it ends where the text does.
    """

    pieces: tuple[tuple[str, bool], ...]
    begins: bool
    ends: bool


def excerpt(pieces: Pieces, length: int) -> Excerpt:
    """About `length` characters with as many marked words as there are together; the whole text where it is hardly longer."""
    text = "".join(part for part, _ in pieces)
    if len(text) <= 1.3 * length:
        return Excerpt(tuple(pieces), True, True)
    start = _start(text, _densest(pieces, length))
    if start + 1.3 * length >= len(text):
        start = begin_before(text, len(text), length)
    end = len(text) if start + 1.3 * length >= len(text) else end_after(text, start, length)
    return Excerpt(tuple(_clip(pieces, start, end)), start == 0, end == len(text))


def _densest(pieces: Pieces, length: int) -> int:
    """Where the stretch of that length begins that holds most marked words, the first of them; 0 without any."""
    marks, at = [], 0
    for part, marked in pieces:
        if marked:
            marks.append(at)
        at += len(part)
    best, most, ahead = 0, 0, 0
    for place, mark in enumerate(marks):
        while ahead < len(marks) and marks[ahead] < mark + length - LEAD:
            ahead += 1
        if ahead - place > most:
            best, most = mark, ahead - place
    return best


def _start(text: str, mark: int) -> int:
    """Where to begin so that a mark is led up to: at a sentence if one begins nearby, else between two words."""
    if mark <= 1.5 * LEAD:
        return 0
    before = text[mark - LEAD : mark]
    sentences = [found.end() for found in re.finditer(r"[.!?][”\"')\]]*\s+", before)]
    return mark - LEAD + sentences[0] if sentences else begin_before(text, mark, LEAD)


def _clip(pieces: Pieces, start: int, end: int) -> list[tuple[str, bool]]:
    """The pieces between two places, those at the ends cut."""
    clipped, at = [], 0
    for part, marked in pieces:
        cut = part[max(0, start - at) : max(0, end - at)]
        if cut:
            clipped.append((cut, marked))
        at += len(part)
    return clipped
