"""Files, folders, archives and uploads -> one `Collection` of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spdp_engine.corpus.decode import decode
from spdp_engine.corpus.files import Given, Member, open_given
from spdp_engine.corpus.names import free_name
from spdp_engine.corpus.records import read_records
from spdp_engine.corpus.tables import Rows, note_encoding, read_table
from spdp_engine.corpus.tally import Tally
from spdp_engine.corpus.types import Collection, InputFile, Progress, RowOrigins, Source
from spdp_engine.corpus.wording import counted, listed, was
from spdp_engine.errors import InputError

TEXT_COLUMN = "text"
TITLE_COLUMN = "title"


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows that came from some files: `file` [n] indexes the members, in the order they were read."""

    rows: Rows
    file: NDArray[np.int64]


def read_collection(inputs: Sequence[str | Path | InputFile], progress: Progress | None = None) -> Collection:
    """All rows of all files that were given; see `files.READABLE` for the kinds.

    A text file is a row with columns `text` and `title` (its file name). When several files are read, a column `file`
    says which each row came from, and for text files in folders or archives a column `folder`.

    Raises `InputError` when a file cannot be read, when nothing was given, or when there is nothing to tell documents
    apart by. Inside a folder or an archive a file that cannot be read is passed over with a note.
    """
    if isinstance(inputs, str | Path | InputFile):
        inputs = [inputs]
    if not inputs:
        raise InputError("No file was given; bring at least one file or folder with documents.")
    tell: Progress = progress or (lambda _doing, _done: None)
    tally = Tally()
    givens = [open_given(given, tally) for given in inputs]
    parts, read, counts = _read_all(givens, tally, tell)
    sources = tuple(
        Source(given.name, given.bytes, given.sha256(), count) for given, count in zip(givens, counts, strict=True)
    )
    tell("Putting the rows together", 0.95)
    table = _joined(parts, tally)
    file = np.concatenate([part.file for part in parts]).astype(np.int32)
    file_column, folder_column = _add_places(table, read, file)
    if table.shape[1] < 2:
        raise InputError(
            f"{read[0].name} has only one column, '{table.columns[0]}', so nothing says which group a row belongs "
            "to; add a column with the groups, or bring one file for each group."
        )
    _note_read(givens, counts, table, tally)
    tell("Done", 1.0)
    return Collection(
        table=table,
        sources=sources,
        notes=tuple(sorted(tally.notes(), key=lambda note: note.kind != "read")),
        file_column=file_column,
        folder_column=folder_column,
        origins=RowOrigins(
            files=tuple(member.name for member in read),
            file=file,
            row=np.concatenate([part.rows.numbers for part in parts]),
        ),
    )


def _read_all(givens: Sequence[Given], tally: Tally, tell: Progress) -> tuple[list[_Part], list[Member], list[int]]:
    """The parts, the members that were read, and the number of rows that each given thing holds."""
    total = max(1, sum(member.size for given in givens for member in given.members))
    parts: list[_Part] = []
    read: list[Member] = []
    counts: list[int] = []
    texts: list[tuple[int, str]] = []
    failed: list[InputError] = []
    behind = 0
    for given in givens:
        rows_before = len(texts) + sum(len(part.file) for part in parts)
        for member in given.members:
            doing = f"Reading {member.name}"
            tell(doing, 0.95 * behind / total)

            def done(share: float, doing: str = doing, behind: int = behind, size: int = member.size) -> None:
                tell(doing, 0.95 * (behind + share * size) / total)

            try:
                data = member.load()
                if member.kind == "text":
                    texts.append((len(read), _text(data, member, tally)))
                else:
                    rows = (read_table if member.kind == "table" else read_records)(data, member.name, tally, done)
                    parts.append(_Part(rows, np.full(len(rows.numbers), len(read))))
                read.append(member)
            except InputError as error:
                if not member.inside:
                    raise
                failed.append(error)
                tally.note("dropped", f"A file was passed over: {error}", 1)
            behind += member.size
        counts.append(len(texts) + sum(len(part.file) for part in parts) - rows_before)
    if not read:
        raise failed[0]
    if texts:
        parts.append(_text_part(texts, read))
    return parts, read, counts


def _text(data: bytes, member: Member, tally: Tally) -> str:
    text, encoding = decode(data, member.name)
    note_encoding(encoding, member.name, tally)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _text_part(texts: Sequence[tuple[int, str]], read: Sequence[Member]) -> _Part:
    frame = pd.DataFrame(
        {TEXT_COLUMN: [text for _, text in texts], TITLE_COLUMN: [read[file].title for file, _ in texts]}, dtype="str"
    )
    return _Part(Rows(frame, np.zeros(len(texts), dtype=np.int32)), np.array([file for file, _ in texts]))


def _joined(parts: Sequence[_Part], tally: Tally) -> pd.DataFrame:
    frames = [part.rows.frame for part in parts]
    if len({tuple(sorted(frame.columns)) for frame in frames}) > 1:
        shared = set(frames[0].columns).intersection(*(frame.columns for frame in frames))
        partly = [
            name for name in dict.fromkeys(name for frame in frames for name in frame.columns) if name not in shared
        ]
        tally.note(
            "warning",
            f"Not all files have the same columns; where one lacks a column its cells are empty: {listed(partly)}.",
            len(partly),
        )
    if len(frames) == 1:
        return frames[0]
    return pd.concat(frames, ignore_index=True).astype("str")


def _add_places(table: pd.DataFrame, read: Sequence[Member], file: NDArray[np.int32]) -> tuple[str | None, str | None]:
    """Add the columns that say where rows came from, where that differs; returns their names."""
    file_column = folder_column = None
    if len(read) > 1:
        file_column = free_name("file", table.columns)
        table[file_column] = pd.Series(np.array(list(_stems(read)), dtype=object)[file], dtype="str")
    in_folders = [member for member in read if member.inside]
    if any(member.kind == "text" for member in in_folders) or len({member.folder for member in in_folders}) > 1:
        folder_column = free_name("folder", table.columns)
        table[folder_column] = pd.Series(
            np.array([member.folder or None for member in read], dtype=object)[file], dtype="str"
        )
    return file_column, folder_column


def _stems(read: Sequence[Member]) -> Iterator[str]:
    """A name for each file: its stem; with its folder before it where two files have the same; numbered if need be."""
    often = Counter(member.stem for member in read)
    taken: set[str] = set()
    for member in read:
        stem = f"{member.folder}/{member.stem}" if often[member.stem] > 1 and member.folder else member.stem
        stem = free_name(stem, taken)
        taken.add(stem)
        yield stem


def _note_read(givens: Sequence[Given], counts: Sequence[int], table: pd.DataFrame, tally: Tally) -> None:
    for given, count in zip(givens, counts, strict=True):
        thing = "document" if all(member.kind == "text" for member in given.members) else "row"
        several = f" ({counted(len(given.members), 'file')})" if given.members[0].inside else ""
        tally.note("read", f"{counted(count, thing)} {was(count)} read from {given.name}{several}.", count)
    tally.note("read", f"The columns are {listed(table.columns, 12)}.", table.shape[1])
