"""What was given -> the files in it: a file is itself, folders and archives are opened."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from spdp_engine.corpus.decode import whole
from spdp_engine.corpus.tally import Tally
from spdp_engine.corpus.types import InputFile
from spdp_engine.corpus.wording import counted, listed, was
from spdp_engine.errors import InputError

Kind = Literal["table", "records", "text"]

READABLE = ".csv, .tsv, .jsonl, .ndjson, .json (each also as .gz), .txt, a .zip of such files, or a folder"
MOST_BYTES = 2 << 30

_KINDS: dict[str, Kind] = {
    ".csv": "table",
    ".tsv": "table",
    ".tab": "table",
    ".json": "records",
    ".jsonl": "records",
    ".ndjson": "records",
    ".txt": "text",
}
_OF_THE_SYSTEM = frozenset(["__macosx", "thumbs.db", "desktop.ini"])


@dataclass(frozen=True)
class Member:
    """One readable file: `name` for messages, `title` its own name, `folder` that of the folder directly holding it."""

    name: str
    title: str
    folder: str
    kind: Kind
    size: int
    load: Callable[[], bytes] = field(repr=False)
    inside: bool = False

    @property
    def stem(self) -> str:
        """The file name without its extension, also without that before .gz."""
        return _plain_name(self.title).rsplit(".", 1)[0]


@dataclass(frozen=True)
class Given:
    """One thing that was given, with the readable files in it; `sha256` reads it (again) when called."""

    name: str
    bytes: int
    members: tuple[Member, ...]
    sha256: Callable[[], str] = field(repr=False)


def open_given(given: str | Path | InputFile, tally: Tally) -> Given:
    """The readable files of what was given.

    Raises `InputError` when it is not there, cannot be opened, or holds nothing that can be read.
    """
    if isinstance(given, InputFile):
        name = whole(given.name)
        if given.data is not None:
            return _file(name, len(given.data), lambda data=given.data: data, tally)  # type: ignore[misc]
        if given.path is None:
            raise InputError(f"{name} has neither a path nor contents; bring it again.")
        return _by_path(given.path, name, tally)
    return _by_path(Path(given), whole(Path(given).name or str(given)), tally)


def _by_path(path: Path, name: str, tally: Tally) -> Given:
    try:
        if path.is_dir():
            return _folder(path.resolve(), tally)
        if not path.exists():
            raise InputError(f"There is no file or folder {whole(str(path))}; look at the spelling.")
        return _file(name, path.stat().st_size, lambda: _bytes_of(path, name), tally)
    except OSError as error:
        raise InputError(f"{whole(str(path))} cannot be opened: {error.strerror}.") from error


def _bytes_of(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{name} cannot be opened: {error.strerror}.") from error


def _file(name: str, size: int, load: Callable[[], bytes], tally: Tally) -> Given:
    lower = name.lower()
    if lower.endswith(".zip"):
        return _archive(name, size, load, tally)
    kind = kind_of(name)
    if kind is None:
        raise InputError(f"{name} is of a kind that cannot be read; bring {READABLE}.")
    if size > MOST_BYTES:
        raise InputError(f"{name} is larger than 2 GB; split it into smaller files and leave out what is not needed.")
    member = Member(name, PurePosixPath(name).name, "", kind, size, _unpacked(name, load))
    return Given(name, size, (member,), lambda: hashlib.sha256(load()).hexdigest())


def kind_of(name: str) -> Kind | None:
    """How a file of this name is read; None when it is not."""
    plain = _plain_name(name)
    _, dot, extension = plain.rpartition(".")
    return _KINDS.get(f".{extension.lower()}") if dot else None


def _plain_name(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") else name


def _unpacked(name: str, load: Callable[[], bytes]) -> Callable[[], bytes]:
    if not name.lower().endswith(".gz"):
        return load

    def unpack() -> bytes:
        try:
            with gzip.open(io.BytesIO(load())) as stream:
                data = stream.read(MOST_BYTES + 1)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise InputError(f"{name} is not a gzip archive, or is damaged; pack it again.") from error
        if len(data) > MOST_BYTES:
            raise InputError(f"{name} unpacks to more than 2 GB; split it into smaller files.")
        return data

    return unpack


def _is_hidden(parts: Sequence[str]) -> bool:
    return any(part.startswith((".", "~$")) or part.lower() in _OF_THE_SYSTEM for part in parts)


def _sorted_out(name: str, paths: Sequence[str], tally: Tally) -> list[str]:
    """The readable ones of the paths inside `name`; the others are noted."""
    hidden = [path for path in paths if _is_hidden(PurePosixPath(path).parts)]
    shown = [path for path in paths if not _is_hidden(PurePosixPath(path).parts)]
    readable = [path for path in shown if kind_of(path)]
    unknown = [whole(PurePosixPath(path).name) for path in shown if not kind_of(path)]
    if hidden:
        n = len(hidden)
        tally.note("passed over", f"{counted(n, 'hidden or system file')} in {name} {was(n)} passed over.", n)
    if unknown:
        n = len(unknown)
        tally.note(
            "passed over",
            f"{counted(n, 'file')} in {name} {was(n)} passed over, of a kind that cannot be read: {listed(unknown)}.",
            n,
        )
    if not readable:
        raise InputError(f"{name} holds no file that can be read; it must hold {READABLE.split(', a .zip')[0]} files.")
    return readable


def _folder(folder: Path, tally: Tally) -> Given:
    paths: list[str] = []
    for root, folders, files in os.walk(folder):  # Links to folders are not followed, so no circles.
        folders.sort()
        paths.extend((Path(root) / file).relative_to(folder).as_posix() for file in sorted(files))
    called = whole(folder.name)
    readable = _sorted_out(called, paths, tally)
    members = []
    for inner in readable:
        path = folder / inner
        name = f"{called}/{whole(inner)}"
        members.append(
            Member(
                name=name,
                title=whole(path.name),
                folder=whole(path.parent.name),
                kind=kind_of(inner) or "text",
                size=path.stat().st_size,
                load=_unpacked(name, lambda path=path, name=name: _bytes_of(path, name)),  # type: ignore[misc]
                inside=True,
            )
        )

    def sha256() -> str:
        lines = (
            f"{hashlib.sha256((folder / inner).read_bytes()).hexdigest()}  {inner}\n" for inner in sorted(readable)
        )
        return hashlib.sha256("".join(lines).encode(errors="surrogatepass")).hexdigest()

    return Given(called, sum(member.size for member in members), tuple(members), sha256)


def _archive(name: str, size: int, load: Callable[[], bytes], tally: Tally) -> Given:
    data = load()
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, UnicodeError) as error:  # names that are not in the encoding they claim
        raise InputError(f"{name} is not a zip archive, or is damaged; pack it again.") from error
    entries = {_entry_name(entry): entry for entry in archive.infolist() if not entry.is_dir()}
    readable = _sorted_out(name, sorted(entries), tally)
    if sum(entries[path].file_size for path in readable) > MOST_BYTES:
        raise InputError(f"{name} unpacks to more than 2 GB, which is refused; split it into smaller archives.")

    def read(path: str) -> bytes:
        try:
            return archive.read(entries[path])
        except RuntimeError as error:  # What zipfile raises for a password.
            raise InputError(f"{path} in {name} needs a password; pack it without one.") from error
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, EOFError, ValueError) as error:
            raise InputError(f"{path} in {name} cannot be unpacked; pack it again.") from error

    stem = PurePosixPath(name).name[:-4]
    members = tuple(
        Member(
            name=f"{name}/{path}",
            title=PurePosixPath(path).name,
            folder=PurePosixPath(path).parent.name or stem,
            kind=kind_of(path) or "text",
            size=entries[path].file_size,
            load=_unpacked(path, lambda path=path: read(path)),  # type: ignore[misc]
            inside=True,
        )
        for path in readable
    )
    return Given(name, size, members, lambda: hashlib.sha256(data).hexdigest())


def _entry_name(entry: zipfile.ZipInfo) -> str:
    """The path of an entry; names that are UTF-8 without saying so, as a Mac writes them, are put right."""
    name = entry.filename
    if not entry.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")
