"""Values to a file and back, to the bit; and files that are not what they say."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from spdp_engine.packing import ABOUT, LENGTHS, TEXTS, VALUES, Archive, Damaged, NotPacked, PackingError, TooLarge, pack

PLENTY = 2**28


@dataclass(frozen=True)
class Leaf:
    number: int = 0
    share: float = 0.0
    kind: Literal["a", "b"] = "a"


@dataclass(frozen=True, eq=False)
class Thing:
    name: str
    leaf: Leaf
    leaves: tuple[Leaf, ...] = ()
    pair: tuple[int, float] = (0, 0.0)
    texts: tuple[str, ...] = ()
    chosen: frozenset[int] = frozenset()
    names: Mapping[int, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    whole: NDArray[np.int32] | None = None
    ratio: NDArray[np.float32] | None = None
    table: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(index=pd.RangeIndex(0)))
    nothing: None = None


KINDS = (Thing, Leaf)


def there_and_back(thing: Thing) -> Thing:
    return Archive(packed(thing), PLENTY).value("thing", Thing, KINDS)


def packed(thing: Any, about: dict[str, Any] | None = None) -> bytes:
    return pack({"thing": thing}, KINDS, about or {"format": "thing"})


def changed(data: bytes, **members: bytes | None) -> bytes:
    """The file with other members; None: without one. Dots in names are double underscores."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        others = {name.replace("__", "."): content for name, content in members.items()}
        for name in dict.fromkeys([*old.namelist(), *others]):
            content = others.get(name, old.read(name) if name in old.namelist() else None)
            if content is not None:
                new.writestr(name, content)
    return buffer.getvalue()


FULL = Thing(
    name="näme \ud800 “x”",  # a lone surrogate, as broken JSON may hold one
    leaf=Leaf(2**70, 0.1 + 0.2, "b"),
    leaves=tuple(Leaf(n, n / 3) for n in range(20)),
    pair=(3, math.inf),
    texts=("one", "two", "one", "\ud800", "\r\n", "three \0", "\u2028", "日本", "\U0001f600", ""),
    chosen=frozenset({4, 1}),
    names={3: "three", 1: ""},
    values={"float": {"set": 1}, "is": (None, True, -1.5, math.nan), "array": np.arange(3)},
    whole=np.array([[-1, 70_000], [5, 0]], np.int32),
    ratio=np.array([0.1, np.nan, -0.0, np.inf], np.float32),
    table=pd.DataFrame({"a b": ["x", None, "x"], "": ["", "y", None]}, dtype="str"),
)


def test_everything_comes_back() -> None:
    again = there_and_back(FULL)
    for part in ("name", "leaf", "leaves", "pair", "texts", "chosen", "names", "nothing"):
        assert getattr(again, part) == getattr(FULL, part), part
        assert type(getattr(again, part)) is type(getattr(FULL, part)), part
    assert again.values["float"] == {"set": 1} and again.values["is"][:3] == (None, True, -1.5)
    assert math.isnan(again.values["is"][3])
    for one, other in (
        (again.whole, FULL.whole),
        (again.ratio, FULL.ratio),
        (again.values["array"], FULL.values["array"]),
    ):
        assert one is not None and other is not None
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    pd.testing.assert_frame_equal(again.table, FULL.table)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.bool_,
                                  np.float16, np.float32, np.float64])  # fmt: skip
def test_arrays_of_every_kind_come_back(kind: type[np.generic]) -> None:
    ends = np.finfo if np.issubdtype(kind, np.floating) else np.iinfo
    values = [0, 1] if kind is np.bool_ else [ends(kind).min, ends(kind).max, 0, 1]  # type: ignore[arg-type]
    for array in (
        np.array(values, kind), np.array(values[1], kind), np.empty((0, 3), kind), np.array([values] * 3, kind)[::2].T,
        np.zeros((2, 2), kind, "F"),
    ):  # fmt: skip
        again = there_and_back(Thing("", Leaf(), values={"one": array})).values["one"]
        assert (again.dtype, again.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(again, array)


def test_what_is_told_twice_is_kept_once() -> None:
    text, array = "a sentence that stands in many places " * 100, np.random.default_rng(1).random(5_000)
    once = len(packed(Thing("", Leaf(), texts=(text,) * 9, values={"a": array})))
    often = len(packed(Thing("", Leaf(), texts=(text,) * 900, values=dict.fromkeys("abcdefgh", array))))
    assert often < once + 2_000
    again = there_and_back(Thing("", Leaf(), values={"a": array, "b": array}))
    assert again.values["a"] is again.values["b"]


def test_whole_numbers_take_as_few_bytes_as_hold_them() -> None:
    data = packed(
        Thing("", Leaf(), values={"small": np.full(999, 200, np.int64), "large": np.full(999, 60_000, np.int64)})
    )
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    assert sizes["thing.values.small.npy"] == 999 + 128 and sizes["thing.values.large.npy"] == 2 * 999 + 128


def test_a_file_from_before_a_field_was_there_takes_its_default() -> None:
    data = packed(FULL)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        values = json.loads(archive.read(VALUES))
    del values["thing"]["of"]["chosen"]
    again = Archive(changed(data, values__json=json.dumps(values).encode()), PLENTY).value("thing", Thing, KINDS)
    assert again.chosen == frozenset() and again.names == FULL.names


@pytest.mark.parametrize(
    "value",
    [object(), print, np.array(["text"]), np.array([None]), np.array(["2020"], "M8"), {1, 2}, b"bytes", [1, 2], 1j],
    ids=["an object", "a function", "texts", "objects", "a date", "a set", "bytes", "a list", "a complex number"],
)
def test_what_is_not_kept_is_refused_when_it_is_written(value: object) -> None:
    with pytest.raises(TypeError, match=r"thing\.values\.one"):
        packed(Thing("", Leaf(), values={"one": value}))


# ---- hostile and broken files ---------------------------------------------------------------------------------------


def read(data: bytes, limit: int = PLENTY) -> Thing:
    return Archive(data, limit).value("thing", Thing, KINDS)


def npy(header: str, content: bytes = b"", magic: bytes = b"\x93NUMPY\x01\x00") -> bytes:
    text = header.encode("latin1") + b"\n"
    return magic + struct.pack("<H", len(text)) + text + content


def told(**parts: Any) -> bytes:
    """A thing of which some parts say something else."""
    data = packed(FULL)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        values = json.loads(archive.read(VALUES))
    values["thing"]["of"].update(parts)
    return changed(data, values__json=json.dumps(values).encode())


PICKLE = b"cos\nsystem\n(S'touch /tmp/parallax-was-here'\ntR."
ARRAY = {"array": "thing.whole.npy", "as": "int32"}
BROKEN: dict[str, bytes] = {
    "no values": changed(packed(FULL), values__json=None),
    "values that are no JSON": changed(packed(FULL), values__json=b"{"),
    "values that are another thing": changed(packed(FULL), values__json=b"[1]"),
    "JSON without an end": changed(packed(FULL), values__json=b"[" * 100_000),
    "no texts": changed(packed(FULL), **{TEXTS.replace(".", "__"): None}),
    "texts that are cut off": changed(packed(FULL), **{TEXTS.replace(".", "__"): b"on"}),
    "texts that are no UTF-8": changed(packed(FULL), **{TEXTS.replace(".", "__"): b"\xff\xfe"}),
    "lengths that do not add up": changed(packed(FULL), **{LENGTHS.replace(".", "__"): npy(
        "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", struct.pack("<qq", -5, 5))}),
    "no array": changed(packed(FULL), thing__whole__npy=None),
    "an array of objects": changed(packed(FULL), thing__whole__npy=npy(
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", PICKLE)),
    "a pickle for an array": changed(packed(FULL), thing__whole__npy=PICKLE),
    "an array of records": changed(packed(FULL), thing__whole__npy=npy(
        "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", b"1234")),
    "an array larger than it is": changed(packed(FULL), thing__whole__npy=npy(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000), }", b"12345678")),
    "an array of a negative size": changed(packed(FULL), thing__whole__npy=npy(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }", b"12345678")),
    "a header that computes": changed(packed(FULL), thing__whole__npy=npy("{'descr': __import__('os').getcwd(), 'shape': (1,), }")),
    "an array of another version": changed(packed(FULL), thing__whole__npy=b"\x93NUMPY\x03\x00" + bytes(200)),
    "an array of floats for whole numbers": told(whole={"array": "thing.ratio.npy", "as": "int32"}),
    "an array as text": told(whole={"array": "thing.whole.npy", "as": "U5"}),
    "an array as objects": told(whole={"array": "thing.whole.npy", "as": "object"}),
    "an array of another type": told(whole={"array": "thing.whole.npy", "as": "int64"}),
    "a class that is not known": told(leaf={"is": "Popen", "of": {"args": ["true"]}}),
    "a class of the language": told(leaf={"is": "print", "of": {}}),
    "a class of another part": told(leaf={"is": "Thing", "of": {"name": "", "leaf": {"is": "Leaf", "of": {}}}}),
    "a part that is not known": told(more=1),
    "a part of a leaf that is not known": told(leaf={"is": "Leaf", "of": {"_secret": 1}}),
    "too few parts": told(leaf={"is": "Thing", "of": {}}),
    "a number for a text": told(name=1),
    "a text for a number": told(leaf={"is": "Leaf", "of": {"number": "1"}}),
    "true for a number": told(leaf={"is": "Leaf", "of": {"number": True}}),
    "none for a text": told(name=None),
    "a word that is not among those": told(leaf={"is": "Leaf", "of": {"kind": "c"}}),
    "three for a pair": told(pair=[1, 2.0, 3]),
    "a text for a tuple": told(leaves="abc"),
    "numbers among texts": told(texts=["a", 1]),
    "a mapping of other things": told(names={"map": [["3", "three"]]}),
    "a mapping of lists": told(names={"map": [[[1], "three"]]}),
    "a set of lists": told(chosen={"set": [[{"map": []}]]}),
    "texts that are not there": told(texts={"texts": "thing.whole.npy"}),
    "a table that is no table": told(table={"table": [["a", "thing.whole.npy"]], "rows": 3}),
    "a table of other rows": told(table={"table": [["a", "thing.table.0.npy"]], "rows": 7}),
    "a table of the same column twice": told(table={"table": [["a", "thing.table.0.npy"]] * 2, "rows": 3}),
    "a float that is none": told(leaf={"is": "Leaf", "of": {"share": {"float": "many"}}}),
    "something of an unknown kind": told(name={"pickle": "abc"}),
    "an empty thing": told(name={}),
    "the same member twice": b"",  # made below
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_refused(case: str) -> None:
    data = BROKEN[case]
    if not data:
        buffer = io.BytesIO(packed(FULL))
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr(VALUES, b"{}")
        data = buffer.getvalue()
    with pytest.raises(Damaged) as refusal:
        read(data)
    assert str(refusal.value) and not str(refusal.value).endswith(".")


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip", packed(FULL)[:500], packed(FULL)[300:-40]], ids=len)
def test_what_is_no_file_of_ours_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(PackingError):
        read(data)


def test_another_archive_is_said_to_be_another() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("letter.txt", "dear all")
    with pytest.raises(NotPacked):
        Archive(buffer.getvalue(), PLENTY)
    with pytest.raises(NotPacked):
        Archive(changed(packed(FULL), about__json=None), PLENTY)
    with pytest.raises(Damaged):
        Archive(changed(packed(FULL), about__json=b"[]"), PLENTY)


def test_every_bit_that_turns_is_noticed_or_does_not_matter() -> None:
    """Checksums of the archive and the checks above: never another error, and never another value."""
    data, draw = packed(FULL), np.random.default_rng(7)
    for _ in range(300):
        turned = bytearray(data)
        turned[int(draw.integers(len(data)))] ^= 1 << int(draw.integers(8))
        try:
            thing = read(bytes(turned))
        except PackingError:
            continue
        assert thing.texts == FULL.texts and thing.leaves == FULL.leaves and thing.whole is not None
        np.testing.assert_array_equal(thing.whole, FULL.whole)  # type: ignore[arg-type]


# ---- files that would fill the memory -------------------------------------------------------------------------------


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    """Zeros pack a thousand to one; what the directory tells is enough."""
    data = packed(Thing("", Leaf(), values={"zeros": np.zeros(2**23, np.float32)}))
    assert len(data) < 2**17
    with pytest.raises(TooLarge):
        Archive(data, 2**22)
    assert read(data).values["zeros"].nbytes == 2**25


def test_a_bomb_of_narrow_numbers_is_refused() -> None:
    """One byte in the file, eight in memory."""
    data = packed(Thing("", Leaf(), values={"zeros": np.zeros(2**20, np.int64)}))
    with pytest.raises(TooLarge):
        read(data, 2**22)


def test_a_directory_that_lies_about_sizes_is_not_believed() -> None:
    data = packed(Thing("", Leaf(), values={"zeros": np.zeros(2**20, np.float32)}))
    size = 4 * 2**20 + 128
    assert struct.pack("<L", size) in data
    with pytest.raises(PackingError):
        read(data.replace(struct.pack("<L", size), struct.pack("<L", 200)), 2**20)


def test_tables_of_nothing_and_texts_come_to_something() -> None:
    for parts in ({"table": {"table": [], "rows": 10**12}}, {"table": {"table": [], "rows": -1}}):
        with pytest.raises(PackingError):
            read(told(**parts))
    many = packed(Thing("", Leaf(), texts=tuple(f"{n}" for n in range(20_000))))
    with pytest.raises(TooLarge):
        read(many, 500_000)


def test_more_members_than_there_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spdp_engine.packing.MOST_MEMBERS", 3)
    with pytest.raises(Damaged):
        Archive(packed(FULL), PLENTY)
    assert ABOUT in zipfile.ZipFile(io.BytesIO(packed(FULL))).namelist()
