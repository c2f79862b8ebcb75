"""Long documents -> passages of about the same length, cut where a paragraph or a sentence ends."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

# A blank line ends a paragraph and a sentence; a single line break may only be where a line was full. Full stops of scripts
# without spaces need no space after them.
_END = re.compile(r"[.!?…‽؟।]+[\"'”’»)\]]*\s+|[。！？]+[」』）]*\s*|\n\s*\n\s*")
_WORD = re.compile(r"\S+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# Characters of Chinese and Japanese that say as much as one word.
_CHARACTERS_A_WORD = 2
# The end of a paragraph is the better place to cut when it is no further off than this part of a passage.
_SLACK = 0.2


@dataclass(frozen=True, slots=True)
class _Piece:
    end: int
    words: int
    ends_paragraph: bool


def cut(text: str, passage_words: int) -> list[str]:
    """Passages of `text` with about `passage_words` words each, together all of it but the white space between them.

    A text of less than one and a half passages is not cut. Sentences longer than a passage are cut between words.
    """
    if len(text) < passage_words * _CHARACTERS_A_WORD:
        return [text]
    pieces = list(_pieces(text, passage_words))
    said = list(accumulate(piece.words for piece in pieces))
    number = int(said[-1] / passage_words + 0.5) if said else 1
    slack = _SLACK * passage_words
    passages: list[str] = []
    start = 0
    for cuts in range(1, number):
        # Goals are spaced evenly over the whole text, so that no short rest is left at its end.
        goal = said[-1] * cuts / number
        near = range(bisect_left(said, goal - slack), bisect_right(said, goal + slack))
        best = min(
            (not pieces[at].ends_paragraph, abs(said[at] - goal), at) for at in near or [bisect_left(said, goal)]
        )[2]
        passages.append(text[start : pieces[best].end].strip())
        start = max(start, pieces[best].end)
    passages.append(text[start:].strip())
    return [passage for passage in passages if passage]


def _pieces(text: str, longest: int) -> Iterator[_Piece]:
    """Sentences, with the white space after them; those of more than `longest` words in quarters of that."""
    start = 0
    for end in _END.finditer(text):
        yield from _parts(text, start, end.end(), longest, "\n" in end[0])
        start = end.end()
    if start < len(text):
        yield from _parts(text, start, len(text), longest, True)


def _parts(text: str, start: int, end: int, longest: int, ends_paragraph: bool) -> Iterator[_Piece]:
    sentence = text[start:end]
    words = _count(sentence)
    if words <= longest:
        yield _Piece(end, words, ends_paragraph)
        return
    count, part = 0, max(1, longest // 4)
    for run in _WORD.finditer(sentence):
        inside = _count(run[0])
        if inside > longest:  # Unspaced script without a full stop: between any two characters.
            step = part * _CHARACTERS_A_WORD
            for at in range(run.start(), run.end(), step):
                last = min(at + step, run.end())
                yield _Piece(start + last, count + _count(sentence[at:last]), False)
                count = 0
            continue
        count += inside
        if count >= part:
            yield _Piece(start + run.end(), count, False)
            count = 0
    yield _Piece(end, count, ends_paragraph)


def _count(text: str) -> int:
    spaced = len(text.split())
    if text.isascii():
        return spaced
    return spaced + len(_UNSPACED.findall(text)) // _CHARACTERS_A_WORD
