"""The plain types that walk through this package: `Collection` -> `Documents` -> `Corpus`.

Each is frozen and each carries the notes of all the steps before it, so that whoever holds the last one can tell the
whole story of what was read, what was left out, and why. Shapes use these letters: N tokens, D documents, V words, I
groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spdp_engine.corpus.tokeniser import Tokeniser
from spdp_engine.corpus.wording import counted

Progress = Callable[[str, float], None]
"""Called with what is being done, in plain words, and the share of it that is done (0 to 1)."""


@dataclass(frozen=True)
class InputFile:
    """A file to read, by path or in memory; `name` decides how it is read and is what messages call it."""

    name: str
    path: Path | None = None
    data: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Source:
    """What was read, for the manifest of a result: one for each file, folder or archive that was given.

    `bytes` and `sha256` are of the file as it was given (still packed). For a folder they are the sum, and the hash of
    the sorted lines "hash  path" of the files read from it. `documents` counts table rows or text files.
    """

    name: str
    bytes: int
    sha256: str
    documents: int


@dataclass(frozen=True)
class Note:
    """One line of the report: a plain sentence, the kind of thing it tells, and how many things it is about.

    Kinds: 'read', 'passed over', 'encoding', 'columns', 'dropped', 'empty', 'duplicate', 'group', 'passages',
    'language', 'built', 'words', 'warning'.
    """

    kind: str
    text: str
    count: int = 0


@dataclass(frozen=True, eq=False)
class RowOrigins:
    """Where each row of a table came from, so that messages can say "row 17 of reviews.csv".

    `files` are the names of the files; `file` [n] int32 indexes them; `row` [n] int32 is the row as a spreadsheet
    counts (the header is row 1), the line of a JSON Lines file, or the item of a JSON array; 0 where the file is one
    document.
    """

    files: tuple[str, ...]
    file: NDArray[np.int32]
    row: NDArray[np.int32]

    def where(self, index: int) -> str:
        """Row `index` of the table in words: "row 17 of reviews.csv", or only "speech.txt"."""
        name = self.files[self.file[index]]
        return f"row {self.row[index]} of {name}" if self.row[index] else name


@dataclass(frozen=True, eq=False)
class Collection:
    """Rows as they were read, before anybody said which column is the text.

    `table`: all columns of string dtype, missing cells NaN; column names unique and stripped; index 0..n-1.
    `file_column`: the column with the stem of each row's file name when several files were read.
    `folder_column`: the column with the folder of each row's file, when text files came in folders or archives.
    """

    table: pd.DataFrame
    sources: tuple[Source, ...]
    notes: tuple[Note, ...]
    file_column: str | None
    folder_column: str | None
    origins: RowOrigins | None = None

    def where(self, index: int) -> str:
        """Row `index` of the table in words, as a person would look it up."""
        return self.origins.where(index) if self.origins else f"row {index + 1}"


@dataclass(frozen=True)
class Columns:
    """Which column plays which part; without a group all documents are one group.

    `document` says which rows belong together: those with the same value, in one group, are passages of one document. It may be the
    title or the date as well. Without it each row is a document.
    """

    text: str
    group: str | None = None
    title: str | None = None
    date: str | None = None
    document: str | None = None

    def parts(self) -> dict[str, str]:
        """The columns that play a part, by the name of the part."""
        chosen = {one.name: getattr(self, one.name) for one in fields(self)}
        return {part: column for part, column in chosen.items() if column is not None}


@dataclass(frozen=True, eq=False)
class Documents:
    """One row a document, or a passage of one, that has text and a group. All tuples have length D, `fields` D rows, index 0..D-1.

    `titles` and `dates` are as written, '' where unknown; without a column of titles, that of documents gives them. `fields` holds
    the columns that are not text, group, title or date.
    Passages of one document stand together, in reading order; see `originals.originals_of`.
    """

    texts: tuple[str, ...] = field(repr=False)
    groups: tuple[str, ...] = field(repr=False)
    titles: tuple[str, ...] = field(repr=False)
    dates: tuple[str, ...] = field(repr=False)
    fields: pd.DataFrame = field(repr=False)
    columns: Columns
    sources: tuple[Source, ...]
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def cells(self, column: str) -> list[str]:
        """The cells of any column but the text, with single blanks for white space; '' where there is nothing.

        Raises:
            KeyError: there is no such column, or it is the text.
        """
        if column in self.fields.columns:
            return cells_of(self.fields[column])
        parts = {self.columns.group: self.groups, self.columns.title: self.titles, self.columns.date: self.dates}
        return [" ".join(cell.split()) for cell in parts[column]]


def cells_of(column: pd.Series) -> list[str]:
    """The cells of a column with single blanks for white space; '' where there is nothing."""
    return [" ".join(cell.split()) for cell in column.fillna("").tolist()]


@dataclass(frozen=True)
class CorpusSettings:
    """How texts become words.

    language            ISO 639-1 code; 'auto' guesses by counting stop words; 'none' removes no stop words
    extra_stop_words    removed as well, in whatever case or apostrophes they are written
    joined_words        of each of these, all are read as the first, likewise; that one is kept however common it is
    minimum_documents   a word must be in at least so many documents; None chooses by the size of the collection
    maximum_share       and in at most this share of the documents; not looked at among fewer than 10 documents
    minimum_length      characters a word of Latin, Greek or Cyrillic letters must have; other scripts are never
    measured
    keep_numbers        keep words that are numbers
    pretokenised        words are what white space separates, kept exactly as they are; only `extra_stop_words` go
    passages            cut long documents; None does so when some group has fewer than 20 documents
    passage_words       about how many words a passage has
    """

    language: str = "auto"
    extra_stop_words: tuple[str, ...] = ()
    joined_words: tuple[tuple[str, ...], ...] = ()
    minimum_documents: int | None = None
    maximum_share: float = 0.5
    minimum_length: int = 3
    keep_numbers: bool = False
    pretokenised: bool = False
    passages: bool | None = None
    passage_words: int = 300


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents as flat arrays of word numbers: what a model is fitted to. All arrays are read-only.

    vocabulary       V words by falling frequency, then by alphabet
    token_word       [N] int32, into `vocabulary`
    token_document   [N] int32, into `documents`; never falls
    document_group   [D] int32, into `group_names`
    group_names      I names in natural order ("2" before "10")
    documents        the D documents or passages that are modelled; none is without words
    origin           [D] int32, the original document (0, 1, ...) each came from, never falls; passages of one, which the table
                     says or which were cut here, are in reading order and of one group
    settings         with 'auto' and None replaced by what was used
    notes            everything from reading to vocabulary
    tokeniser        gives the same words for any text, and where they stand in it
    """

    vocabulary: tuple[str, ...] = field(repr=False)
    token_word: NDArray[np.int32] = field(repr=False)
    token_document: NDArray[np.int32] = field(repr=False)
    document_group: NDArray[np.int32] = field(repr=False)
    group_names: tuple[str, ...]
    documents: Documents = field(repr=False)
    origin: NDArray[np.int32] = field(repr=False)
    settings: CorpusSettings
    notes: tuple[Note, ...] = field(repr=False)
    tokeniser: Tokeniser = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.token_word, self.token_document, self.document_group, self.origin):
            array.setflags(write=False)

    @property
    def n_tokens(self) -> int:
        """N, the tokens that are modelled."""
        return len(self.token_word)

    @property
    def n_documents(self) -> int:
        """D, the documents or passages that are modelled."""
        return len(self.document_group)

    @property
    def n_words(self) -> int:
        """V, the size of the vocabulary."""
        return len(self.vocabulary)

    @property
    def n_groups(self) -> int:
        """I, the number of groups."""
        return len(self.group_names)

    @property
    def n_originals(self) -> int:
        """Original documents: passages of one count once."""
        return len(np.unique(self.origin))

    @property
    def has_passages(self) -> bool:
        """Whether some of what is modelled are passages of one document."""
        return self.things == "passages"

    @property
    def things(self) -> str:
        """What the modelled texts are to be called."""
        return things_of(self.origin)

    @property
    def told(self) -> str:
        """How much there is to model: "48 documents", or "300 passages of 48 documents"."""
        documents = counted(self.n_originals, "document")
        return f"{self.n_documents:,} passages of {documents}" if self.has_passages else documents

    def group_sizes(self) -> dict[str, int]:
        """Modelled documents, or passages of them, of each group, in the order of `group_names`."""
        return self._by_group(self.document_group)

    def group_originals(self) -> dict[str, int]:
        """Original documents of each group, likewise."""
        return self._by_group(self.document_group[np.unique(self.origin, return_index=True)[1]])

    def _by_group(self, groups: NDArray[np.int32]) -> dict[str, int]:
        counts = np.bincount(groups, minlength=self.n_groups)
        return dict(zip(self.group_names, counts.tolist(), strict=True))


def things_of(origin: NDArray[np.int32]) -> str:
    """What texts are to be called that are of these original documents: "passages" where some are of the same one."""
    return "passages" if len(np.unique(origin)) < len(origin) else "documents"
