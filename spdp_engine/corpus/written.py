"""Lists of words as people write them into a field, and as fields show them."""

from __future__ import annotations

import re
from collections.abc import Collection

_BETWEEN = re.compile(r",\s+|\n")


def write_words(words: Collection[str]) -> str:
    """Words in a line, with commas between."""
    return ", ".join(words)


def read_words(text: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """Words with commas or line breaks between. One that is `known` may have a comma itself, as in 1,000."""
    pieces = [piece.strip() for piece in _BETWEEN.split(text)]
    words = (word.strip() for piece in pieces for word in ([piece] if piece in known else piece.split(",")))
    return tuple(dict.fromkeys(word for word in words if word))


def write_joined(joined: Collection[tuple[str, ...]]) -> str:
    """Words that are read as one, in a line each: tax = taxes."""
    return "\n".join(" = ".join(row) for row in joined)


def read_joined(text: str, known: Collection[tuple[str, ...]] = ()) -> tuple[tuple[str, ...], ...]:
    """Words that are read as the first of their line, with = between; of `known` lines words may have a = themselves."""
    there = {" = ".join(row): row for row in known}
    rows = (
        there.get(line.strip()) or tuple(word.strip() for word in line.split("=") if word.strip())
        for line in text.splitlines()
    )
    return tuple(row for row in rows if len(row) > 1)
