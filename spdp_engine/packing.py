"""Frozen dataclasses of plain values and arrays as a zip archive, and back: JSON, .npy and UTF-8, so that nothing in a file is ever
executed.

    data = pack({"project": project}, kinds, about={"format": ..., "version": 1})
    archive = Archive(data, limit)
    archive.about
    project = archive.value("project", Project, kinds)

A value is None, a bool, a number, text, an array, a table of text, or a tuple, frozenset, mapping or dataclass of such. Numbers
come back to the bit. Texts are kept once, however often they are told. What comes back is held to the annotations of its class,
field by field; fields that a file does not know yet take their defaults.
"""

from __future__ import annotations

import collections.abc
import io
import json
import logging
import math
import types
import typing
import zipfile
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

log = logging.getLogger(__name__)

ABOUT, VALUES, TEXTS, LENGTHS = "about.json", "values.json", "texts.txt", "texts.npy"

NPY_VERSION = (1, 0)
"""Of the format of arrays."""

MOST_MEMBERS = 10_000
"""Members an archive may have."""

FEW_TEXTS = 8
"""As many texts of a tuple are written as they are; more are numbers of texts that are kept once."""

T = TypeVar("T")


class PackingError(Exception):
    """A file that is not unpacked. Its text says why in part of a sentence, as in: The file is damaged: its texts are not whole."""


class NotPacked(PackingError):
    """The bytes are no packed file at all."""


class Damaged(PackingError):
    """A packed file whose content is not what it must be."""


class TooLarge(PackingError):
    """A packed file that comes to more in memory than it may."""

    def __init__(self) -> None:
        super().__init__("it comes to more in memory than there is")


# --- to bytes


def pack(values: Mapping[str, Any], kinds: Collection[type], about: Mapping[str, Any]) -> bytes:
    """The values as a zip archive.

    Args:
        values: by name.
        kinds: the dataclasses of which they and their parts may be.
        about: what is told about them in plain JSON.

    Raises:
        TypeError: a value is of a kind that is not kept.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ABOUT, json.dumps(about, indent=1))
        packer = _Packer(archive, kinds)
        plain = {name: packer.plain(value, name) for name, value in values.items()}
        archive.writestr(VALUES, json.dumps(plain))
        packer.finish()
    return buffer.getvalue()


class _Packer:
    """Writes arrays and texts as they come, and gives back what stands for them in the JSON."""

    def __init__(self, archive: zipfile.ZipFile, kinds: Collection[type]) -> None:
        self._archive, self._kinds = archive, kinds
        self._texts: dict[str, int] = {}
        self._written: dict[int, tuple[Any, Any]] = {}  # the things themselves, too, so that no other takes their id

    def plain(self, value: Any, name: str) -> Any:
        """What JSON can tell; `name` is the path of the value."""
        if value is None or isinstance(value, bool | str | int):
            return value
        if isinstance(value, np.generic):
            return self.plain(value.item(), name)
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if id(value) not in self._written:
            self._written[id(value)] = value, self._compound(value, name)
        return self._written[id(value)][1]

    def _compound(self, value: Any, name: str) -> Any:
        if isinstance(value, np.ndarray):
            return {"array": self._array(value, name), "as": value.dtype.name}
        if isinstance(value, pd.DataFrame):
            columns = [
                [str(column), self._numbered(value[column], f"{name}.{place}")] for place, column in enumerate(value)
            ]
            return {"table": columns, "rows": len(value)}
        if isinstance(value, tuple):
            if len(value) > FEW_TEXTS and all(isinstance(one, str) for one in value):
                return {"texts": self._numbered(value, name)}
            return [self.plain(one, f"{name}.{place}") for place, one in enumerate(value)]
        if isinstance(value, frozenset):
            return {"set": [self.plain(one, name) for one in sorted(value)]}
        if isinstance(value, Mapping):
            return {"map": [[self.plain(key, name), self.plain(one, f"{name}.{key}")] for key, one in value.items()]}
        if type(value) in self._kinds:
            told = {
                one.name: self.plain(getattr(value, one.name), f"{name}.{one.name}")
                for one in fields(value)
                if one.init
            }
            return {"is": type(value).__name__, "of": told}
        raise TypeError(f"{name} is a {type(value).__name__}, which is not kept")

    def _numbered(self, texts: Iterable[Any], name: str) -> str:
        """Numbers of texts, -1 of a cell without one, as an array."""
        numbers = [self._texts.setdefault(text, len(self._texts)) if isinstance(text, str) else -1 for text in texts]
        return self._array(np.array(numbers, np.int64), name)

    def _array(self, array: NDArray[Any], name: str) -> str:
        """Writes an array, whole numbers in as few bytes as hold them."""
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{name} is an array of {array.dtype}, which is not kept")
        if array.dtype.kind in "iu" and array.size:
            low, high = int(array.min()), int(array.max())
            kinds = ("u1", "u2", "u4", "u8") if low >= 0 else ("i1", "i2", "i4", "i8")
            array = array.astype(
                next(kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
            )
        member = f"{name}.npy"
        self._write(array, member)
        return member

    def _write(self, array: NDArray[Any], member: str) -> None:
        with self._archive.open(member, "w", force_zip64=True) as stream:
            np.lib.format.write_array(stream, np.asarray(array, order="C"), NPY_VERSION, allow_pickle=False)

    def finish(self) -> None:
        """Writes the texts, one after another, and how many characters each has."""
        lengths = np.array([len(text) for text in self._texts], np.uint32)
        self._archive.writestr(TEXTS, "".join(self._texts).encode("utf-8", "surrogatepass"))
        self._write(lengths, LENGTHS)


# --- from bytes


class Archive:
    """A packed file, read with mistrust: members are taken by name from memory and never written anywhere.

    Attributes:
        about: what was told about the values.
    """

    def __init__(self, data: bytes, limit: int) -> None:
        """Opens the file and reads what it is.

        Args:
            data: the bytes of the file.
            limit: bytes that it may come to in memory.

        Raises:
            PackingError: it is no such file, is damaged or is too large.
        """
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            names = self._archive.namelist()
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
            raise NotPacked("it is not an archive, or only part of one") from error
        if ABOUT not in names:
            raise NotPacked("nothing in it says what it is")
        if len(names) > MOST_MEMBERS or len(set(names)) < len(names):
            raise Damaged("it holds more than there is to hold")
        self._room = limit
        if sum(member.file_size for member in self._archive.infolist()) > limit:
            raise TooLarge
        about = self._json(ABOUT)
        if not isinstance(about, dict):
            raise Damaged("it does not say what it is")
        self.about: dict[str, Any] = about

    def value(self, name: str, kind: type[T], kinds: Collection[type]) -> T:
        """One of the values.

        Args:
            name: under which it was packed.
            kind: its class.
            kinds: the classes of which it and its parts may be.

        Raises:
            PackingError: the file is damaged, or comes to more in memory than it may.
        """
        try:
            values = self._json(VALUES)
            value = _Unpacker(self, {one.__name__: one for one in kinds}).value(values[name])
        except PackingError:
            raise
        except MemoryError as error:
            raise TooLarge from error
        except Exception as error:  # whatever a file holds, the person gets a sentence
            log.info("a file could not be unpacked", exc_info=True)
            raise Damaged(str(error) or type(error).__name__) from error
        if not isinstance(value, kind):
            raise Damaged(f"it holds no {kind.__name__}")
        return value

    def take(self, count: int) -> None:
        """Notes that so many bytes come to be in memory.

        Raises:
            TooLarge: there are more than there may be.
        """
        self._room -= count
        if self._room < 0:
            raise TooLarge

    def read(self, name: str) -> bytes:
        """A member's bytes.

        Raises:
            Damaged: it is not there or cannot be unpacked.
        """
        try:
            return self._archive.read(name)
        except (
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,
            OSError,
            EOFError,
            ValueError,
            RuntimeError,
            KeyError,
        ) as error:
            raise Damaged(f"“{name}” in it cannot be unpacked") from error

    def array(self, name: str) -> NDArray[Any]:
        """A member as an array, none of whose bytes is anything but a number.

        Raises:
            Damaged: it is not one.
            TooLarge: see `take`.
        """
        data = self.read(name)
        stream = io.BytesIO(data)
        try:
            if np.lib.format.read_magic(stream) != NPY_VERSION:
                raise ValueError("another version")
            shape, _, kind = np.lib.format.read_array_header_1_0(stream)
            if kind.kind not in "biuf" or math.prod(shape) * kind.itemsize != len(data) - stream.tell():
                raise ValueError("another content")
        except Exception as error:
            raise Damaged(f"“{name}” in it is not an array of numbers") from error
        self.take(len(data))
        stream.seek(0)
        return np.asarray(np.load(stream, allow_pickle=False))

    def _json(self, name: str) -> Any:
        data = self.read(name)
        self.take(len(data))
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Damaged(f"“{name}” in it cannot be read") from error


class _Unpacker:
    """Makes values of what stands for them."""

    def __init__(self, archive: Archive, kinds: Mapping[str, type]) -> None:
        self._archive, self._kinds = archive, kinds
        self._arrays: dict[tuple[str, str], NDArray[Any]] = {}
        self._tuples: dict[str, tuple[str, ...]] = {}
        text = archive.read(TEXTS).decode("utf-8", "surrogatepass")
        ends = np.cumsum(archive.array(LENGTHS), dtype=np.int64)
        if int(ends[-1] if len(ends) else 0) != len(text):
            raise Damaged("its texts are not whole")
        archive.take(4 * len(text) + 64 * len(ends))
        self._texts = [text[start:end] for start, end in pairwise([0, *ends.tolist()])]

    def value(self, plain: Any) -> Any:
        """The value."""
        if isinstance(plain, list):
            return tuple(self.value(one) for one in plain)
        if not isinstance(plain, dict):
            return plain
        kind = next(iter(plain), "")
        if kind == "array":
            return self._array(plain["array"], plain["as"])
        if kind == "texts":
            return self._listed(plain["texts"])
        if kind == "table":
            return self._table(plain["table"], plain["rows"])
        if kind == "float":
            return float(plain["float"])
        if kind == "set":
            return frozenset(self.value(one) for one in plain["set"])
        if kind == "map":
            return {self.value(key): self.value(one) for key, one in plain["map"]}
        if kind == "is":
            return self._made(plain["is"], plain["of"])
        raise Damaged("it holds something of an unknown kind")

    def _array(self, name: str, kind: str) -> NDArray[Any]:
        if (name, kind) not in self._arrays:
            array, wanted = self._archive.array(name), np.dtype(kind)
            self._archive.take(array.size * wanted.itemsize)
            whole = array.dtype.kind in "iu" and wanted.kind in "iu"
            made = array.astype(wanted) if whole or array.dtype.newbyteorder("=") == wanted else None
            if made is None or (whole and not np.array_equal(made, array)):
                raise Damaged(f"“{name}” in it is of another kind")
            self._arrays[name, kind] = made
        return self._arrays[name, kind]

    def _cells(self, name: str) -> list[str | None]:
        numbers = self._array(name, "int64")
        if numbers.ndim != 1 or (
            numbers.size and not -1 <= int(numbers.min()) <= int(numbers.max()) < len(self._texts)
        ):
            raise Damaged(f"“{name}” in it speaks of texts that are not there")
        texts = [*self._texts, None]
        return [texts[number] for number in numbers.tolist()]

    def _listed(self, name: str) -> tuple[str, ...]:
        if name not in self._tuples:
            cells = self._cells(name)
            if None in cells:
                raise Damaged(f"“{name}” in it speaks of texts that are not there")
            self._tuples[name] = tuple(typing.cast("list[str]", cells))
        return self._tuples[name]

    def _table(self, columns: list[tuple[str, str]], rows: int) -> pd.DataFrame:
        table = pd.DataFrame({name: pd.Series(self._cells(array), dtype="str") for name, array in columns})
        if not columns:
            self._archive.take(8 * rows)
            table = pd.DataFrame(index=pd.RangeIndex(rows))
        if len(table) != rows or len(table.columns) != len(columns):
            raise Damaged("a table in it is not whole")
        return table

    def _made(self, name: str, told: Mapping[str, Any]) -> Any:
        kind = self._kinds.get(name)
        if kind is None:
            raise Damaged(f"it holds something unknown, {name}")
        known = {one.name: one for one in fields(kind) if one.init}
        lacking = [one.name for one in known.values() if one.name not in told and _has_no_default(one)]
        if lacking or not set(told) <= set(known):
            raise Damaged(f"a {name} in it has not the parts that it should have")
        values = {part: self.value(one) for part, one in told.items()}
        hints = _hints(kind)
        for part, value in values.items():
            if not _fits(value, hints[part]):
                raise Damaged(f"{part} of a {name} in it is not what it should be")
        return kind(**values)


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The annotations of a dataclass."""
    return typing.get_type_hints(kind)


def _has_no_default(one: Any) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says."""
    if hint is str:  # most of what there is
        return isinstance(value, str)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in arguments)
    if origin is typing.Literal:
        return value in arguments
    if origin is np.ndarray:
        kind = (typing.get_args(arguments[1]) or (np.generic,))[0]
        return isinstance(value, np.ndarray) and (kind is Any or issubclass(value.dtype.type, kind))
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return all(_fits(one, arguments[0]) for one in value)
        return len(value) == len(arguments) and all(
            _fits(one, part) for one, part in zip(value, arguments, strict=True)
        )
    if origin is frozenset:
        return isinstance(value, frozenset) and all(_fits(one, arguments[0]) for one in value)
    if origin is collections.abc.Mapping:
        key, of = arguments
        return isinstance(value, dict) and all(_fits(one, key) and _fits(other, of) for one, other in value.items())
    if hint is None or hint is type(None):
        return value is None
    if hint is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if getattr(hint, "_is_protocol", False):
        return is_dataclass(value)
    return isinstance(hint, type) and isinstance(value, hint)
