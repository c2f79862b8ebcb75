"""A file of associations -> the transformation matrices of a corpus.

    table = read_associations("links.csv")
    matrices, notes = match_associations(table, corpus)

A row (group, word, base word, weight) says that in this group `word` is said where all groups share `base word`, with this
weight among the words that the base word leads to; the group * is every group. A base word that no row names leads to itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spdp_engine.corpus.files import open_given
from spdp_engine.corpus.forms import fold
from spdp_engine.corpus.tables import read_table
from spdp_engine.corpus.tally import Tally
from spdp_engine.corpus.types import Corpus, InputFile, Note
from spdp_engine.corpus.wording import counted, listed, was
from spdp_engine.errors import InputError
from spdp_engine.models.matrices import Matrices

EVERY_GROUP = "*"
"""What a row writes for its group to speak of all of them."""

_COLUMNS = {"group": "group", "word": "word", "baseword": "base word", "base": "base word", "weight": "weight"}
_WANTED = tuple(dict.fromkeys(_COLUMNS.values()))
_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_NOT_IN_CORPUS = -1
_ANY = -2


@dataclass(frozen=True, eq=False)
class AssociationTable:
    """The rows of a file of associations, before anybody looked at a corpus.

    name        of the file, for messages and the manifest
    sha256      of the file as it was given (still packed)
    groups      [n] as written, but for white space; `EVERY_GROUP` for all
    words       [n] as written, without white space around
    base_words  [n] likewise
    weights     [n] float64, finite and above 0
    numbers     [n] int32, the row of each as a spreadsheet counts: the header is row 1
    notes       what reading has to tell
    """

    name: str
    sha256: str
    groups: tuple[str, ...] = field(repr=False)
    words: tuple[str, ...] = field(repr=False)
    base_words: tuple[str, ...] = field(repr=False)
    weights: NDArray[np.float64] = field(repr=False)
    numbers: NDArray[np.int32] = field(repr=False)
    notes: tuple[Note, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, eq=False)
class _Entries:
    """Rows as numbers, all int64 [n]: `group` may be `_ANY`, words `_NOT_IN_CORPUS`; `row` is the place in the table."""

    group: NDArray[np.int64]
    word: NDArray[np.int64]
    base_word: NDArray[np.int64]
    row: NDArray[np.int64]

    def __getitem__(self, which: NDArray[np.generic]) -> _Entries:
        return _Entries(self.group[which], self.word[which], self.base_word[which], self.row[which])

    def keys(self, n_words: int) -> NDArray[np.int64]:
        """One number for each (group, word, base word)."""
        return ((self.group - _ANY) * n_words + self.word) * n_words + self.base_word


def read_associations(given: str | Path | InputFile) -> AssociationTable:
    """The rows of a .csv or .tsv file (also as .gz), by its path or from memory.

    Columns are found by their names, in any order: group, word, base word (or base), weight, in whatever case, with
    spaces, underscores, hyphens or nothing between words. Other columns are passed over with a note.

    Raises `InputError` when the file cannot be read as a table, lacks a column, or has a row without a group, a word or a
    base word, or with a weight that is not a finite number above 0.
    """
    tally = Tally()
    source = open_given(given, tally)
    if len(source.members) != 1 or source.members[0].kind != "table":
        raise InputError(
            f"Associations are read from one table, which {source.name} is not; bring one .csv or .tsv file (also as .gz)."
        )
    name = source.members[0].name
    rows = read_table(source.members[0].load(), name, tally, lambda _done: None)
    columns = _find_columns(list(rows.frame.columns), name, tally)
    groups, words, base_words = (
        _filled(rows.frame[columns[part]], part, rows.numbers, name) for part in ("group", "word", "base word")
    )
    weights = _weights(rows.frame[columns["weight"]], rows.numbers, name)
    n = len(words)
    tally.note("read", f"{counted(n, 'association')} {was(n)} read from {name}.", n)
    return AssociationTable(
        name=name,
        sha256=source.sha256(),
        groups=groups,
        words=words,
        base_words=base_words,
        weights=weights,
        numbers=rows.numbers,
        notes=tuple(sorted(tally.notes(), key=lambda note: note.kind != "read")),
    )


def match_associations(table: AssociationTable, corpus: Corpus) -> tuple[Matrices, tuple[Note, ...]]:
    """The matrices that `table` means for `corpus`, and the notes of reading and of matching.

    Row (group i, word w, base word v, weight) is P^i[w, v]. Weights of a base word in a group are normalised, and a base
    word without a row there keeps the identity. A row of `EVERY_GROUP` stands for one row in each group, except where
    rows name the group with the same pair, which replace it. Weights of rows that say the same thing twice are added.
    Words are written as the vocabulary's are: folded as the tokeniser folds, or exactly as they stand in pretokenised text.
    Rows with a word outside the vocabulary are left out; the note of kind 'built' counts the rows that are used.

    Raises `InputError` when a group is not in the corpus, when no row is left, or when a word is in the texts of a group
    but no base word leads to it; `SettingsError` when weights of one base word are too far apart.
    """
    rows = _in_numbers(table, corpus)
    known = (rows.word != _NOT_IN_CORPUS) & (rows.base_word != _NOT_IN_CORPUS)
    notes = [*table.notes, *_left_out(table, rows, known)]
    rows = rows[known]
    notes += _repeated(table, rows, corpus.n_words)
    entries = _for_each_group(rows, corpus.n_groups, corpus.n_words)
    matrices = Matrices.from_entries(
        corpus.n_groups, corpus.n_words, entries.group, entries.word, entries.base_word, table.weights[entries.row]
    )
    _check_reachable(table.name, matrices, corpus)
    used = len(np.unique(entries.row))
    named = len(np.unique(entries.base_word))
    notes.append(
        Note(
            "built",
            f"{used:,} of {counted(len(table), 'association')} of {table.name} {was(used)} used, for "
            f"{counted(named, 'base word')}; every other base word leads to itself alone.",
            used,
        )
    )
    return matrices, tuple(notes)


def _find_columns(names: list[str], name: str, tally: Tally) -> dict[str, str]:
    """The name of the column that plays each part."""
    parts = [_COLUMNS.get(_BETWEEN_WORDS.sub("", column.casefold())) for column in names]
    found: dict[str, str] = {}
    for part, column in zip(parts, names, strict=True):
        if part is None:
            continue
        if part in found:
            raise InputError(
                f"{name} has two columns for the {part}, '{found[part]}' and '{column}'; leave one of them out."
            )
        found[part] = column
    lacking = [part for part in _WANTED if part not in found]
    if lacking:
        raise InputError(
            f"{name} needs a first row that names the columns {listed(_WANTED)}, in any order, but none of its columns is "
            f"called {' or '.join(lacking)}; its columns are {listed(names)}."
        )
    others = [column for column, part in zip(names, parts, strict=True) if part is None]
    if others:
        n = len(others)
        tally.note("columns", f"{counted(n, 'other column')} of {name} {was(n)} passed over: {listed(others)}.", n)
    return found


def _filled(column: pd.Series, part: str, numbers: NDArray[np.int32], name: str) -> tuple[str, ...]:
    """The cells with single blanks for white space, none of them empty."""
    cells = tuple(" ".join(cell.split()) for cell in column.fillna("").tolist())
    if "" in cells:
        every = f", or {EVERY_GROUP} for every group" if part == "group" else ""
        raise InputError(
            f"Row {numbers[cells.index('')]} of {name} has no {part} (cells such as NA and null count as empty); write one"
            f"{every}, or leave the row out."
        )
    return cells


def _weights(column: pd.Series, numbers: NDArray[np.int32], name: str) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        first = int(wrong[0])
        cell = column.iloc[first]
        written = f"the weight '{cell.strip()}'" if isinstance(cell, str) else "no weight"
        more = f" (and {counted(len(wrong) - 1, 'row')} more)" if len(wrong) > 1 else ""
        raise InputError(
            f"Row {numbers[first]} of {name}{more} has {written}; a weight must be a finite number above 0, written as in 0.5."
        )
    return weights


def _in_numbers(table: AssociationTable, corpus: Corpus) -> _Entries:
    group = {name: index for index, name in enumerate(corpus.group_names)} | {EVERY_GROUP: _ANY}
    groups = _numbered(table.groups, group, str)
    unknown = np.flatnonzero(groups == _NOT_IN_CORPUS)
    if len(unknown):
        names = list(dict.fromkeys(f"'{table.groups[row]}'" for row in unknown.tolist()))
        what = "a group that is" if len(names) == 1 else "groups that are"
        raise InputError(
            f"{table.name} names {what} not among those compared, {listed(names)} (first: row "
            f"{table.numbers[unknown[0]]}); write one of {listed(corpus.group_names, 12)}, or {EVERY_GROUP} for every group."
        )
    word = {word: index for index, word in enumerate(corpus.vocabulary)}
    form: Callable[[str], str] = str if corpus.tokeniser.pretokenised else fold
    return _Entries(
        groups, _numbered(table.words, word, form), _numbered(table.base_words, word, form), np.arange(len(table))
    )


def _numbered(cells: tuple[str, ...], number: Mapping[str, int], form: Callable[[str], str]) -> NDArray[np.int64]:
    """The number of each cell in its right form."""
    known = {cell: number.get(form(cell), _NOT_IN_CORPUS) for cell in set(cells)}
    return np.array([known[cell] for cell in cells], dtype=np.int64)


def _left_out(table: AssociationTable, rows: _Entries, known: NDArray[np.bool_]) -> list[Note]:
    """The note about rows with words outside the vocabulary, if there are such rows; an error if all are."""
    out = np.flatnonzero(~known)
    if not len(out):
        return []
    missing = [table.words[row] for row in out[rows.word[out] == _NOT_IN_CORPUS].tolist()]
    missing += [table.base_words[row] for row in out[rows.base_word[out] == _NOT_IN_CORPUS].tolist()]
    named = listed(list(dict.fromkeys(missing)))
    n = len(out)
    if n == len(known):
        raise InputError(
            f"No row of {table.name} can be used, because each has a word or a base word that is not in the vocabulary: "
            f"{named}; write the words as the vocabulary has them."
        )
    what = "its word or base word is" if n == 1 else "their words or base words are"
    return [
        Note(
            "dropped",
            f"{counted(n, 'row')} of {table.name} {was(n)} left out, because {what} not in the vocabulary (first: row "
            f"{table.numbers[out[0]]}): {named}.",
            n,
        )
    ]


def _repeated(table: AssociationTable, rows: _Entries, n_words: int) -> list[Note]:
    """The note about rows that have the group, word and base word of an earlier one, if there are such rows."""
    _, first = np.unique(rows.keys(n_words), return_index=True)
    again = np.setdiff1d(np.arange(len(rows.row)), first)
    if not len(again):
        return []
    n = len(again)
    where = f"row {table.numbers[rows.row[again[0]]]}"
    return [
        Note(
            "duplicate",
            f"{counted(n, 'row')} of {table.name} had the group, word and base word of an earlier one, and the weights were "
            f"added (first: {where}).",
            n,
        )
    ]


def _for_each_group(rows: _Entries, n_groups: int, n_words: int) -> _Entries:
    """The rows with those of every group written out, except where rows that name the group replace them."""
    named, general = rows[rows.group != _ANY], rows[rows.group == _ANY]
    n = len(general.row)
    spread = replace(general[np.tile(np.arange(n), n_groups)], group=np.repeat(np.arange(n_groups), n))
    spread = spread[~np.isin(spread.keys(n_words), named.keys(n_words))]
    return _Entries(
        np.concatenate([named.group, spread.group]),
        np.concatenate([named.word, spread.word]),
        np.concatenate([named.base_word, spread.base_word]),
        np.concatenate([named.row, spread.row]),
    )


def _check_reachable(name: str, matrices: Matrices, corpus: Corpus) -> None:
    """Refuse matrices under which a text could not have been written."""
    said = np.zeros((corpus.n_groups, corpus.n_words), dtype=bool)
    said[corpus.document_group[corpus.token_document], corpus.token_word] = True
    lost = np.argwhere((said & matrices.unreachable()).T)  # Words first: the vocabulary begins with the commonest.
    if not len(lost):
        return
    cases = listed(f"'{corpus.vocabulary[word]}' in {corpus.group_names[group]}" for word, group in lost.tolist())
    word, group = corpus.vocabulary[lost[0, 0]], corpus.group_names[lost[0, 1]]
    raise InputError(
        f"By {name} no base word leads to words that the texts hold: {cases}; add a row for each that makes it its own base "
        f"word, as in: {group}, {word}, {word}, 1."
    )
