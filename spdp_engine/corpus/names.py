"""Names of columns: cleaned, and each different from the others."""

from __future__ import annotations

from collections.abc import Iterable

from spdp_engine.corpus.decode import whole


def clean_names(names: Iterable[str]) -> list[str]:
    """Names with white space made single blanks; one without a name is called by its place, "column 3"."""
    return [
        " ".join(whole(name).replace("\ufeff", "").split()) or f"column {place}" for place, name in enumerate(names, 1)
    ]


def unique_names(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Names of which the second "text" is called "text (2)"; and the new names that were given."""
    unique: list[str] = []
    given: list[str] = []
    taken: set[str] = set()
    for name in names:
        new = free_name(name, taken)
        if new != name:
            given.append(new)
        unique.append(new)
        taken.add(new)
    return unique, given


def free_name(name: str, taken: Iterable[str]) -> str:
    """`name`, or the first of "name (2)", "name (3)", ... that is not taken."""
    others = set(taken)
    new, number = name, 1
    while new in others:
        number += 1
        new = f"{name} ({number})"
    return new
