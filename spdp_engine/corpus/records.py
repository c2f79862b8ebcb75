"""JSON and JSON Lines -> rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from spdp_engine.corpus.decode import decode, whole
from spdp_engine.corpus.names import clean_names, unique_names
from spdp_engine.corpus.tables import Rows, note_encoding
from spdp_engine.corpus.tally import Tally
from spdp_engine.corpus.wording import counted, listed, was
from spdp_engine.errors import InputError

_TELL_EVERY = 2_000

Record = dict[str, Any]


def read_records(data: bytes, name: str, tally: Tally, done: Callable[[float], None]) -> Rows:
    """The objects of a JSON file as rows: those of its array, or one to a line.

    Which of the two a file holds is seen from the file, not from its name. Cells that are no strings become what JSON
    writes for them, and halves of characters U+FFFD. Raises `InputError` when there are no objects.
    """
    text, encoding = decode(data, name)
    note_encoding(encoding, name, tally)
    text = text.removeprefix("\ufeff")
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        if not _is_object(text.lstrip().split("\n", 1)[0]):
            raise InputError(
                f"{name} is not JSON: {error.msg} in line {error.lineno}; export it again, or save it as CSV."
            ) from error
        numbered = _lines(text, name, tally, done)
    else:
        numbered = iter(enumerate(_records(whole, name, tally), 1))
    del data, text
    return _table(numbered, name, tally)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except json.JSONDecodeError:
        return False


def _lines(text: str, name: str, tally: Tally, done: Callable[[float], None]) -> Iterator[tuple[int, Record]]:
    """(line, object); lines that are no object are counted and left out."""
    bad: list[int] = []
    position = number = 0
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end].strip()
        position, number = end + 1, number + 1
        if number % _TELL_EVERY == 0:
            done(position / len(text))
        if not line:
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            record = None
        if isinstance(record, dict):
            yield number, record
        else:
            bad.append(number)
    if bad:
        rows = f"line{'s' if len(bad) > 1 else ''} {listed(map(str, bad))}"
        tally.note(
            "dropped",
            f"{counted(len(bad), 'line')} of {name} {was(len(bad))} no JSON object and {was(len(bad))} left out "
            f"({rows}).",
            len(bad),
        )


def _records(whole: Any, name: str, tally: Tally) -> list[Record]:
    """The objects of the array that `whole` is or holds; of several arrays the one that holds most text."""
    arrays = list(_arrays(whole, ""))
    if not arrays:
        if isinstance(whole, dict) and whole and not any(isinstance(value, list | dict) for value in whole.values()):
            return [whole]
        raise InputError(
            f"{name} holds no array of objects; it must be a list such as "
            '[{"text": "...", "group": "..."}, ...], or have one such object on each line.'
        )
    if len(arrays) == 1:
        path, records = arrays[0]
    else:
        path, records = max(arrays, key=lambda array: len(json.dumps(array[1])))
        others = listed(other or "the top" for other, _ in arrays if other != path)
        tally.note("warning", f"{name} holds several arrays; the documents were taken from {path}, not from {others}.")
    objects = [record for record in records if isinstance(record, dict)]
    if len(objects) < len(records):
        n = len(records) - len(objects)
        tally.note("dropped", f"{counted(n, 'item')} of {name} {was(n)} no JSON object and {was(n)} left out.", n)
    return objects


def _arrays(value: Any, path: str) -> Iterator[tuple[str, list[Any]]]:
    """(path, array) of the outermost arrays with objects in them."""
    if isinstance(value, list):
        if any(isinstance(item, dict) for item in value):
            yield path, value
    elif isinstance(value, dict):
        for key, inside in value.items():
            yield from _arrays(inside, f"{path}.{whole(key)}" if path else whole(key))


def _table(numbered: Iterator[tuple[int, Record]], name: str, tally: Tally) -> Rows:
    columns: dict[str, list[str | None]] = {}
    numbers: list[int] = []
    for index, (number, record) in enumerate(numbered):
        numbers.append(number)
        for key, value in record.items():
            cells = columns.setdefault(key, [])
            # A column may begin late, or pause.
            cells.extend([None] * (index - len(cells)))
            cell = _cell(value)
            if cell is not None and (mended := whole(cell)) != cell:
                tally.add("encoding", _halved, f"row {number} of {name}")
                cell = mended
            cells.append(cell)
    if not numbers or not columns:
        raise InputError(f"{name} has no rows; choose a file that holds documents.")
    names, given = unique_names(clean_names(columns))
    halved = [column for column, key in zip(names, columns, strict=True) if whole(key) != key]
    if halved:
        n = len(halved)
        tally.note(
            "encoding",
            f"Half a character was replaced by � in the name{'s' if n > 1 else ''} of {counted(n, 'column')} of {name}: "
            f"{listed(halved)}.",
            n,
        )
    if given:
        tally.note("columns", f"Columns of {name} with the same name were told apart: {listed(given)}.", len(given))
    series = {}
    for column, key in zip(names, list(columns), strict=True):
        cells = columns.pop(key)  # Given up one by one, so that a large file is not held twice.
        cells.extend([None] * (len(numbers) - len(cells)))
        series[column] = pd.Series(cells, dtype="str")
    return Rows(pd.DataFrame(series), np.array(numbers, dtype=np.int32))


def _cell(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    if value is None or value != value:  # NaN is the one value that is not itself.
        return None
    if isinstance(value, list) and len(value) == 1:  # Search engines wrap single values.
        return _cell(value[0])
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False) if value else None
    return json.dumps(value)


def _halved(count: int, first: str) -> str:
    return f"Half a character, as where an emoji was cut in two, was replaced by � in {counted(count, 'cell')} (first: {first})."
