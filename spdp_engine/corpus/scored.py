"""A second file whose words are scored and never trained on: document completion with a split of one's own.

    held = read_collection(["held.csv"])
    scored = match_scored(held, "id", training, corpus)

Its rows belong to documents of the training file, by the values of a column that both files have. A document's group is what
the training file says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus.counting import count_words
from spdp_engine.corpus.types import Collection, Corpus, Documents, Note, Source, cells_of
from spdp_engine.corpus.wording import counted, listed, was
from spdp_engine.errors import InputError
from spdp_engine.types import ScoredTokens

_NO_ID, _UNKNOWN, _NOT_MODELLED, _NO_TEXT = -1, -2, -3, -4


@dataclass(frozen=True, eq=False)
class Scored:
    """What is scored of a second file, and what of it is not.

    tokens            words and documents of the corpus; documents never fall
    documents         how many different documents they are of
    unscored_rows     rows without text or id, with an id that no document has, or of a document that is not modelled
    unscored_tokens   tokens, in rows that are scored, of words outside the vocabulary
    id_column         by which rows were matched
    sources           the file as it was given
    notes             of reading and of matching
    """

    tokens: ScoredTokens = field(repr=False)
    documents: int
    unscored_rows: int
    unscored_tokens: int
    id_column: str
    sources: tuple[Source, ...]
    notes: tuple[Note, ...] = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.tokens.token_word, self.tokens.token_document):
            array.setflags(write=False)

    @property
    def n_tokens(self) -> int:
        """M, the tokens that are scored."""
        return len(self.tokens.token_word)


def match_scored(held: Collection, id_column: str, training: Collection, corpus: Corpus) -> Scored:
    """The words of `held` as the corpus numbers them, each with its document.

    The text is in the column of the same name as in training. Words are found by the corpus's own tokeniser; those outside its
    vocabulary are not scored. Several rows may belong to one document. Ids are compared as they are written, but for white
    space.

    Raises `InputError` when either file lacks a column, when an id is of several documents, when documents were cut into
    passages, or when there is nothing that can be scored.
    """
    name = held.sources[0].name
    ids = _ids_of(corpus.documents, id_column)
    _check_whole(corpus, ids)
    numbers = _numbered(ids, id_column)
    _check_columns(held, name, {"text": corpus.documents.columns.text, "id": id_column})
    texts = held.table[corpus.documents.columns.text].fillna("").tolist()
    document = _documents(texts, cells_of(held.table[id_column]), numbers, set(cells_of(training.table[id_column])))
    rows = np.flatnonzero(document >= 0)

    found = count_words([texts[row] for row in rows.tolist()], corpus.tokeniser)
    number = {word: index for index, word in enumerate(corpus.vocabulary)}
    word = np.array([number.get(form, -1) for form in found.words], dtype=np.int32)[found.word]
    known = word >= 0
    outside = Counter(found.words[index] for index in found.word[~known].tolist())
    word, of = word[known], document[rows].astype(np.int32)[found.document[known]]

    notes = [*held.notes, *_left_out(held, name, document, id_column), *_outside(name, outside)]
    if not len(word):
        raise InputError(_nothing(name, document, outside.total(), id_column))
    documents = len(np.unique(of))
    notes.append(
        Note(
            "built",
            f"{counted(len(word), 'token')} of {counted(documents, 'document')}, from {name}, are scored and never trained on.",
            len(word),
        )
    )
    order = np.argsort(of, kind="stable")
    return Scored(
        tokens=ScoredTokens(word[order], of[order]),
        documents=documents,
        unscored_rows=len(document) - len(rows),
        unscored_tokens=outside.total(),
        id_column=id_column,
        sources=held.sources,
        notes=tuple(notes),
    )


def _ids_of(documents: Documents, column: str) -> list[str]:
    """The ids of the modelled documents, in their order."""
    columns = documents.columns
    if column == columns.text:
        raise InputError(f"The column '{column}' cannot be text and id at once; choose another one with --id.")
    if column == columns.document:
        raise InputError(
            f"The column '{column}' says which rows are passages of one document, so it does not tell rows apart; choose another "
            "one with --id."
        )
    there = dict.fromkeys((*columns.parts().values(), *documents.fields.columns))
    if column not in there:
        raise InputError(
            f"There is no column '{column}' for the id in the training file; its columns are {listed(there, 12)}."
        )
    return documents.cells(column)


def _numbered(ids: Sequence[str], column: str) -> dict[str, int]:
    """The document of each id."""
    often = Counter(one for one in ids if one)
    if not often:
        raise InputError(
            f"No document of the training file has an id in the column '{column}'; choose another one with --id."
        )
    repeated = [one for one, times in often.items() if times > 1]
    if repeated:
        raise InputError(
            f"The column '{column}' does not tell the documents of the training file apart: {counted(len(repeated), 'id')} "
            f"{was(len(repeated))} found in more than one ({listed(repeated)}); choose another column with --id."
        )
    return {one: number for number, one in enumerate(ids) if one}


def _check_whole(corpus: Corpus, ids: Sequence[str]) -> None:
    """Refuse texts that were cut here, since nothing says to which passage a scored word belongs; rows have an id each."""
    origins: list[int] = corpus.origin.tolist()
    by_rows = corpus.documents.columns.document is not None
    rows = Counter((of, one if by_rows else "") for of, one in zip(origins, ids, strict=True) if one or not by_rows)
    cut = sum(times > 1 for times in rows.values())
    if cut and corpus.settings.passages:
        raise InputError(
            f"Words are scored in whole documents, but {counted(cut, 'long document')} {was(cut)} cut into passages; give "
            "--no-passages to leave documents whole."
        )


def _check_columns(held: Collection, name: str, chosen: dict[str, str]) -> None:
    for part, column in chosen.items():
        if column not in held.table.columns:
            raise InputError(
                f"{name} has no column '{column}' for the {part}, as the training file has; its columns are "
                f"{listed(held.table.columns, 12)}."
            )


def _documents(texts: Sequence[str], ids: Sequence[str], numbers: dict[str, int], known: set[str]) -> NDArray[np.int64]:
    """[n] the document of each row, or why it has none."""

    def document(text: str, one: str) -> int:
        if not text.strip():
            return _NO_TEXT
        if not one:
            return _NO_ID
        return numbers.get(one, _NOT_MODELLED if one in known else _UNKNOWN)

    return np.array([document(text, one) for text, one in zip(texts, ids, strict=True)], dtype=np.int64)


def _left_out(held: Collection, name: str, document: NDArray[np.int64], column: str) -> list[Note]:
    """A note for each reason for which rows are not scored."""
    notes = []
    for reason, kind, lack in (
        (_NO_TEXT, "empty", "had no text"),
        (_NO_ID, "dropped", f"had no id in the column '{column}'"),
        (_UNKNOWN, "dropped", "had an id that is not in the training file"),
        (_NOT_MODELLED, "empty", "had the id of a document that was left out of training or has no words left in it"),
    ):
        rows = np.flatnonzero(document == reason)
        if len(rows):
            n, where = len(rows), held.where(int(rows[0]))
            text = f"{counted(n, 'row')} of {name} {lack} and {was(n)} not scored (first: {where})."
            notes.append(Note(kind, text, n))
    return notes


def _outside(name: str, outside: Counter[str]) -> list[Note]:
    """The note on words outside the vocabulary, where there are such."""
    if not outside:
        return []
    n = outside.total()
    words = [word for word, _ in outside.most_common()]
    of = "it is of a word" if n == 1 else f"they are of {counted(len(words), 'word')}"
    text = f"{counted(n, 'token')} of {name} {was(n)} not scored, because {of} outside the vocabulary: {listed(words)}."
    return [Note("dropped", text, n)]


def _nothing(name: str, document: NDArray[np.int64], outside: int, column: str) -> str:
    """Why nothing can be scored, and what to look at."""
    counts = {reason: int((document == reason).sum()) for reason in (_NO_TEXT, _NO_ID, _UNKNOWN, _NOT_MODELLED)}
    reasons = {
        f"{counted(counts[_NO_TEXT], 'row')} without text": counts[_NO_TEXT],
        f"{counted(counts[_NO_ID], 'row')} without an id": counts[_NO_ID],
        f"{counted(counts[_UNKNOWN], 'row')} with an id that is not in the training file": counts[_UNKNOWN],
        f"{counted(counts[_NOT_MODELLED], 'row')} of documents that are not modelled": counts[_NOT_MODELLED],
        f"{counted(outside, 'token')} outside the vocabulary": outside,
    }
    told = [reason for reason, count in reasons.items() if count] or ["no words"]
    return (
        f"Nothing of {name} can be scored, because there are only {listed(told)}; bring rows whose column '{column}' has ids of "
        "the training file and whose words are in it."
    )
