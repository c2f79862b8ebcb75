"""Rows of a `Collection` and the parts that its columns play -> `Documents`."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spdp_engine.corpus.columns import MOST_GROUPS
from spdp_engine.corpus.naturalorder import natural_order
from spdp_engine.corpus.originals import originals, originals_notes
from spdp_engine.corpus.types import Collection, Columns, Documents, Note, cells_of
from spdp_engine.corpus.wording import counted, listed, was
from spdp_engine.errors import InputError

ALL_DOCUMENTS = "All documents"


def make_documents(collection: Collection, columns: Columns) -> Documents:
    """The rows that have text and a group, each text once in a group, passages of one document together in their order.

    Raises `InputError` when a column is not there or plays two parts that do not go together, when no row is left, or when there
    are more than 50 groups.
    """
    table = collection.table
    _check(columns, table)
    notes = list(collection.notes)
    keep = _with(table[columns.text], f"no text in the column '{columns.text}'", "empty", collection, notes)
    if columns.group is not None:
        keep = keep & _with(
            table[columns.group], f"no group in the column '{columns.group}'", "dropped", collection, notes, keep
        )
    rows = np.flatnonzero(keep)
    if not len(rows):
        missing = f"in the column '{columns.text}'" + (f" and a group in '{columns.group}'" if columns.group else "")
        raise InputError(f"No row has text {missing}; choose other columns.")
    texts = table[columns.text].iloc[rows].tolist()
    groups = (
        [ALL_DOCUMENTS] * len(rows)
        if columns.group is None
        else [" ".join(name.split()) for name in table[columns.group].iloc[rows].tolist()]
    )
    _check_groups(groups, columns)

    first = _first_of_each(texts, groups)
    repeated = len(rows) - len(first)
    if repeated:
        seen, thing = set(first), "row" if columns.document else "document"
        where = collection.where(int(rows[next(index for index in range(len(rows)) if index not in seen)]))
        notes.append(
            Note(
                "duplicate",
                f"{counted(repeated, thing)} had the same text as an earlier one of the same group and "
                f"{was(repeated)} left out (first: {where}).",
                repeated,
            )
        )
        texts, groups = [texts[index] for index in first], [groups[index] for index in first]
        rows = rows[first]
    sizes = Counter(groups)
    if columns.document is not None:
        values = cells_of(table[columns.document].iloc[rows])
        of = originals(groups, values)
        notes += originals_notes(columns.document, groups, values, bool(np.any(np.diff(of) < 0)))
        sizes = Counter(groups[row] for row in np.unique(of, return_index=True)[1].tolist())
        order = np.argsort(of, kind="stable")
        rows = rows[order]
        texts, groups = [texts[index] for index in order.tolist()], [groups[index] for index in order.tolist()]
    named = listed((f"{name} ({sizes[name]:,})" for name in natural_order(sizes)), 12)
    notes.append(
        Note("group", f"{counted(sizes.total(), 'document')} in {counted(len(sizes), 'group')}: {named}.", len(sizes))
    )
    own = {columns.text, columns.group, columns.title, columns.date} - {None}
    return Documents(
        texts=tuple(texts),
        groups=tuple(groups),
        titles=_cells(table, columns.title or columns.document, rows),
        dates=_cells(table, columns.date, rows),
        fields=table.drop(columns=list(own)).iloc[rows].reset_index(drop=True),
        columns=columns,
        sources=collection.sources,
        notes=tuple(notes),
    )


def _check(columns: Columns, table: pd.DataFrame) -> None:
    chosen = columns.parts()
    for part, name in chosen.items():
        if name not in table.columns:
            raise InputError(
                f"There is no column '{name}' for the {part}; the columns are {listed(table.columns, 12)}."
            )
    if columns.document in (columns.title, columns.date):  # a title may well say which document it is of
        chosen.pop("document", None)
    name, times = Counter(chosen.values()).most_common(1)[0]
    if times > 1:
        parts = listed(part for part, chosen_name in chosen.items() if chosen_name == name)
        raise InputError(f"The column '{name}' cannot be {parts} at once; choose another one.")


def _with(
    column: pd.Series,
    lack: str,
    kind: str,
    collection: Collection,
    notes: list[Note],
    among: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """[n] the rows that have something in `column`; those that lack it, `among` others, are noted."""
    filled: NDArray[np.bool_] = column.str.contains(r"\S", regex=True, na=False).to_numpy(dtype=bool)
    lacking = np.flatnonzero(~filled if among is None else ~filled & among)
    if len(lacking):
        n = len(lacking)
        where = collection.where(int(lacking[0]))
        notes.append(Note(kind, f"{counted(n, 'row')} had {lack} and {was(n)} left out (first: {where}).", n))
    return filled


def _check_groups(groups: list[str], columns: Columns) -> None:
    distinct = dict.fromkeys(groups)
    if len(distinct) > MOST_GROUPS:
        raise InputError(
            f"The column '{columns.group}' has {len(distinct):,} different values ({listed(list(distinct)[:3])}, "
            f"...), but at most {MOST_GROUPS} groups can be compared; choose another group column."
        )


def _first_of_each(texts: list[str], groups: list[str]) -> list[int]:
    """Places of the first of each (group, text), in order."""
    first: dict[tuple[str, str], int] = {}
    for index, key in enumerate(zip(groups, texts, strict=True)):
        first.setdefault(key, index)
    return list(first.values())


def _cells(table: pd.DataFrame, column: str | None, rows: NDArray[np.int64]) -> tuple[str, ...]:
    if column is None:
        return ("",) * len(rows)
    return tuple(table[column].iloc[rows].fillna("").tolist())
