"""Long documents -> passages of about the same length, cut where a paragraph or a sentence ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# A line break with another, or with an indent, ends a paragraph; any line break may end a sentence (lists, headings).
# Full stops of scripts without spaces need no space after them.
_END = re.compile(r"(?P<paragraph>\n\s*\n\s*)|[.!?…‽؟।]+[\"'”’»)\]]*\s+|[。！？]+[」』）]*\s*|\n\s*")
_WORD = re.compile(r"\S+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# Characters of Chinese and Japanese that say as much as one word.
_CHARACTERS_A_WORD = 2
# From this part of a passage on, the end of a paragraph is a better place to cut than the planned one.
_NEARLY = 0.8


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
    total = sum(piece.words for piece in pieces)
    number = int(total / passage_words + 0.5)
    if number < 2:
        return [text]
    passages: list[str] = []
    start = done = words = 0
    goal = total / number
    for piece in pieces:
        words += piece.words
        # The goal is what remains, shared out evenly, so that no short rest is left over at the end.
        if words >= goal - piece.words / 2 or (piece.ends_paragraph and words >= _NEARLY * goal):
            passages.append(text[start : piece.end].strip())
            start, done, words = piece.end, done + words, 0
            if len(passages) == number - 1:
                break
            goal = (total - done) / (number - len(passages))
    passages.append(text[start:].strip())
    return [passage for passage in passages if passage]


def _pieces(text: str, longest: int) -> Iterator[_Piece]:
    """Sentences, with the white space after them; those of more than `longest` words in quarters of that."""
    start = 0
    for end in _END.finditer(text):
        yield from _parts(text, start, end.end(), longest, end.lastgroup == "paragraph")
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
