"""Delimited text files (.csv, .tsv) -> rows."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spdp_engine.corpus.decode import Encoding, find_encoding
from spdp_engine.corpus.layout import Layout, find_layout
from spdp_engine.corpus.names import unique_names
from spdp_engine.corpus.tally import Tally
from spdp_engine.corpus.wording import counted, listed, was
from spdp_engine.errors import InputError

_SAMPLE = 1 << 18
_ROWS_AT_ONCE = 20_000
_SKIPPED = re.compile(r"Skipping line (\d+)")
_NO_SEPARATOR = "\x1f"


@dataclass(frozen=True, eq=False)
class Rows:
    """`frame`: n rows of string columns with unique names; `numbers` [n] int32 as a person would look each up."""

    frame: pd.DataFrame
    numbers: NDArray[np.int32]


def read_table(data: bytes, name: str, tally: Tally, done: Callable[[float], None]) -> Rows:
    """The rows of a delimited file. Rows with more cells than there are columns are left out, with a note.

    Raises `InputError` when it is empty, is no text, or has no rows below its header.
    """
    encoding = find_encoding(data, name)
    note_encoding(encoding, name, tally)
    sample = data[:_SAMPLE].decode(encoding.codec, errors="ignore")
    layout = find_layout(sample, complete=len(data) <= _SAMPLE, tabs_first=".tsv" in name.lower())
    if layout is None:
        raise InputError(f"{name} has no rows; choose a file that holds documents.")
    names, given = unique_names(layout.names)
    if given:
        tally.note("columns", f"Columns of {name} with the same name were told apart: {listed(given)}.", len(given))
    if not layout.has_header:
        tally.note(
            "columns", f"{name} has no row of column names, so its columns are called {listed(names)}.", len(names)
        )
    frame, numbers = _read(data, name, encoding, layout, names, tally, done)

    blank = frame.isna().all(axis=1).to_numpy()
    if blank.any():
        frame, numbers = frame[~blank], numbers[~blank]
    unnamed = [column for column in frame.columns if column.startswith("column ") and frame[column].isna().all()]
    if len(unnamed) < frame.shape[1]:  # What trailing separators leave.
        frame = frame.drop(columns=unnamed)
    if frame.empty:
        raise InputError(f"{name} has column names but no rows; choose a file that holds documents.")
    return Rows(frame.reset_index(drop=True), numbers)


def note_encoding(encoding: Encoding, name: str, tally: Tally) -> None:
    """Tell when characters rest on a guess, or are lost."""
    if encoding.guess:
        tally.add("encoding", _guessed(encoding.guess), name)
    if encoding.damaged:
        tally.add("encoding", _damaged, name, encoding.damaged)


def _read(
    data: bytes,
    name: str,
    encoding: Encoding,
    layout: Layout,
    names: list[str],
    tally: Tally,
    done: Callable[[float], None],
) -> tuple[pd.DataFrame, NDArray[np.int32]]:
    try:
        frame, skipped = _parse(data, encoding, layout, names, csv.QUOTE_MINIMAL, done)
    except pd.errors.ParserError:
        # A quotation mark that is never closed, most often the first character of a text.
        try:
            frame, skipped = _parse(data, encoding, layout, names, csv.QUOTE_NONE, done)
        except pd.errors.ParserError as error:
            raise InputError(f"{name} cannot be read as a table: {error}.") from error
        tally.note(
            "warning",
            f"A quotation mark in {name} is never closed, so quotation marks were read as characters of the text; look "
            "whether the rows came out right.",
        )
    numbers = np.setdiff1d(
        np.arange(1, len(frame) + len(skipped) + 1, dtype=np.int32), np.array(skipped, dtype=np.int32)
    )
    if skipped:
        n = len(skipped)
        rows = f"row{'s' if n > 1 else ''} {listed(map(str, skipped))}"
        tally.note(
            "dropped",
            f"{counted(n, 'row')} of {name} had more cells than there are columns and {was(n)} left out ({rows}).",
            n,
        )
    if layout.has_header:
        frame, numbers = frame.iloc[1:], numbers[1:]
    return frame, numbers


def _parse(
    data: bytes, encoding: Encoding, layout: Layout, names: list[str], quoting: int, done: Callable[[float], None]
) -> tuple[pd.DataFrame, list[int]]:
    """All rows, the header too, and the numbers of the rows that pandas skipped.

    The header is read as a row, and blank lines as rows, so that pandas counts as a spreadsheet does.
    """
    buffer = io.BytesIO(data)
    chunks: list[pd.DataFrame] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", pd.errors.ParserWarning)
        reader = pd.read_csv(
            buffer,
            sep=layout.separator or _NO_SEPARATOR,
            header=None,
            names=names,
            index_col=False,
            dtype=str,
            encoding=encoding.codec,
            encoding_errors="replace",
            on_bad_lines="warn",
            skip_blank_lines=False,
            quoting=quoting,
            chunksize=_ROWS_AT_ONCE,
            engine="c",
        )
        with reader:
            for chunk in reader:
                chunks.append(chunk)
                done(buffer.tell() / len(data))
    skipped = [int(number) for warning in caught for number in _SKIPPED.findall(str(warning.message))]
    return pd.concat(chunks, ignore_index=True) if chunks else pd.DataFrame(columns=names, dtype=str), skipped


_GUESSED: dict[str, Callable[[int, str], str]] = {}


def _guessed(encoding: str) -> Callable[[int, str], str]:
    """The sentence about files in one encoding; the same function each time, as `Tally` asks."""

    def sentence(count: int, first: str) -> str:
        if count == 1:
            return f"{first} is not UTF-8 and was read as {encoding}; look whether its letters came out right."
        return (
            f"{count:,} files are not UTF-8 and were read as {encoding} (first: {first}); look whether their letters came "
            "out right."
        )

    return _GUESSED.setdefault(encoding, sentence)


def _damaged(count: int, first: str) -> str:
    return f"{counted(count, 'character')} could not be read (first in {first}) and {was(count)} replaced by �."
