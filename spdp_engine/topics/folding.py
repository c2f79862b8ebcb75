"""Text as it is compared when people look for something: without case, accents, and kinds of apostrophes and dashes."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import regex
from numpy.typing import NDArray

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")

_UNSEEN = regex.compile(
    r"[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]|\p{Cf}"
)
"""Accents of Latin, Greek and Cyrillic letters, vowel signs of Hebrew and Arabic, the stroke that stretches Arabic words, and
what cannot be seen. Vowel signs of other scripts are as much part of a word as its letters."""

_SAME = dict.fromkeys("‘’‚‛ʼ＇′´", "'") | dict.fromkeys("“”„‟«»″", '"') | dict.fromkeys("‐‑‒–—―−", "-")


class _Table(dict[int, str]):
    """What each character becomes, worked out when it first comes."""

    def __missing__(self, code: int) -> str:
        form = unicodedata.normalize("NFKD", _SAME.get(chr(code), chr(code)))
        form = _UNSEEN.sub("", unicodedata.normalize("NFKD", form.casefold()))
        self[code] = folded = "".join(_SAME.get(character, character) for character in form)
        return folded


_TABLE = _Table()


def fold(text: str) -> str:
    """The text as it is compared. Each character is folded by itself: `fold(a + b)` is `fold(a) + fold(b)`."""
    if not text.isascii():
        text = _NOT_ASCII.sub(lambda run: run[0].translate(_TABLE), text)
    return text.lower()


def folded_lengths(text: str) -> NDArray[np.int64]:
    """How many characters each character of a text becomes, 0 where it is left out: int64 [len(text)]."""
    return np.array([1 if character < "\x80" else len(_TABLE[ord(character)]) for character in text], np.int64)
