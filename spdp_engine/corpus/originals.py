"""Rows that are passages of one document: those of a group that have the same value in the column of documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus.types import Documents, Note
from spdp_engine.corpus.wording import counted, listed, was


def originals(groups: Sequence[str], values: Sequence[str]) -> NDArray[np.int32]:
    """int32 [n], the document each row is of, numbered from 0 as they first appear; a row without a value is one by itself.

    Args:
        groups: [n], of each row.
        values: [n], its value in the column of documents; '' where there is none.
    """
    known: dict[tuple[str, str] | int, int] = {}
    keys = ((group, value) if value else row for row, (group, value) in enumerate(zip(groups, values, strict=True)))
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int32)


def originals_of(documents: Documents) -> NDArray[np.int32]:
    """int32 [D], the document each row is of (0, 1, ...); it never falls, since passages of one stand together."""
    column = documents.columns.document
    if column is None:
        return np.arange(len(documents), dtype=np.int32)
    return originals(documents.groups, documents.cells(column))


def originals_notes(column: str, groups: Sequence[str], values: Sequence[str], moved: bool) -> list[Note]:
    """What a column of documents comes to.

    Args:
        column: its name.
        groups: [n], of each row.
        values: [n], its value; '' where there is none.
        moved: whether rows of one document did not stand together.
    """
    filled = [key for key in zip(groups, values, strict=True) if key[1]]
    distinct = dict.fromkeys(filled)
    rows, documents, empty = len(filled), len(distinct), len(values) - len(filled)
    if documents < rows:
        told = f"{counted(rows, 'row')} are passages of {counted(documents, 'document')}, by the column '{column}'"
        order = (
            "; rows of one document, which did not stand together, were put together in their order" if moved else ""
        )
        notes = [Note("passages", f"{told}{order}.", rows)]
    else:
        notes = [
            Note(
                "passages",
                f"No two rows of a group have the same value in the column '{column}', so each row is a document of its own.",
            )
        ]
    if empty:
        each = "it is a document" if empty == 1 else "each is a document"
        text = f"{counted(empty, 'row')} had nothing in the column '{column}', and {each} of its own."
        notes.append(Note("passages", text, empty))
    seen: dict[str, str] = {}
    several = dict.fromkeys(value for group, value in distinct if seen.setdefault(value, group) != group)
    if several:
        n = len(several)
        text = (
            f"{counted(n, 'value')} of the column '{column}' {was(n)} found in more than one group, and stand"
            f"{'s' if n == 1 else ''} for a document in each: {listed(several)}."
        )
        notes.append(Note("passages", text, n))
    return notes
