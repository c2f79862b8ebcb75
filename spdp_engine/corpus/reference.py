"""A text in which to look whether words are found together: the corpus itself, or one that the user brings.

    reference = read_reference("wikipedia.jsonl.gz", corpus)

The text is cut into words as the corpus's texts were, and only words of the corpus's vocabulary are kept, in their order. So ten
words are ten words that could stand in a topic, in the reference as in the corpus: stop words and rare words are gone from both,
and how many of them stand between two words does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus.columns import guess_columns
from spdp_engine.corpus.counting import count_words
from spdp_engine.corpus.decode import decode
from spdp_engine.corpus.files import Member, open_given
from spdp_engine.corpus.records import read_records
from spdp_engine.corpus.tables import note_encoding, read_table
from spdp_engine.corpus.tally import Tally
from spdp_engine.corpus.types import Collection, Corpus, InputFile, Note, Progress, Source
from spdp_engine.corpus.wording import counted, listed, was
from spdp_engine.errors import InputError

OWN_TEXTS = "the corpus itself"


@dataclass(frozen=True, eq=False)
class Reference:
    """A text in the words of a corpus.

    name            what messages and results call it
    vocabulary      the corpus's, V words
    token_word      [N] int32, into `vocabulary`
    token_document  [N] int32, never falls
    documents       how many documents have a word of the vocabulary
    sources         what was read; none for the corpus itself
    notes           what reading has to tell
    """

    name: str
    vocabulary: tuple[str, ...] = field(repr=False)
    token_word: NDArray[np.int32] = field(repr=False)
    token_document: NDArray[np.int32] = field(repr=False)
    documents: int
    sources: tuple[Source, ...] = ()
    notes: tuple[Note, ...] = field(default=(), repr=False)


def own_texts(corpus: Corpus) -> Reference:
    """The corpus as its own reference: its documents or passages, without words that were left out."""
    return Reference(OWN_TEXTS, corpus.vocabulary, corpus.token_word, corpus.token_document, corpus.n_documents)


def read_reference(
    inputs: str | Path | InputFile | Sequence[str | Path | InputFile],
    corpus: Corpus,
    column: str | None = None,
    progress: Progress | None = None,
) -> Reference:
    """The texts of all files that were given, each text once; see `files.READABLE` for the kinds.

    A text file is a document, and so is a row of a table. Documents are not cut into passages. Inside a folder or an archive a file
    that cannot be read is passed over with a note.

    Args:
        inputs: one or several files, folders or archives.
        corpus: whose tokeniser and vocabulary are used.
        column: the texts' column, where files are tables; None: the one that looks most like texts.
        progress: told what is being done.

    Raises:
        InputError: a file cannot be read or has no such column, or the texts hold no word of the vocabulary.
    """
    given = [inputs] if isinstance(inputs, str | Path | InputFile) else list(inputs)
    if not given:
        raise InputError("No file was given for the reference; bring at least one with texts.")
    tell: Progress = progress or (lambda _doing, _done: None)
    tally = Tally()
    opened = [open_given(one, tally) for one in given]
    members = sum(len(one.members) for one in opened)
    texts: dict[str, None] = {}
    sources = []
    failed: list[InputError] = []
    rows = behind = 0
    for one in opened:
        before = rows
        for member in one.members:
            tell(f"Reading {member.name}", 0.5 * behind / members)
            behind += 1
            try:
                found = _texts_of(member, column, tally)
            except InputError as error:
                if not member.inside:
                    raise
                failed.append(error)
                tally.note("dropped", f"A file was passed over: {error}", 1)
                continue
            texts.update(dict.fromkeys(found))
            rows += len(found)
        sources.append(Source(one.name, one.bytes, one.sha256(), rows - before))
    if len(failed) == members:
        raise failed[0]
    name = listed(one.name for one in opened)
    if rows > len(texts):
        n = rows - len(texts)
        tally.note("duplicate", f"{counted(n, 'text')} of {name} {was(n)} the same as an earlier one and left out.", n)
    word, document, documents = _in_numbers(list(texts), corpus, lambda done: tell("Counting words", 0.5 + 0.5 * done))
    if not documents:
        raise InputError(
            f"{name} holds no word of the vocabulary, so it cannot tell which words are found together; bring texts in the "
            "language of the documents."
        )
    tally.note(
        "read",
        f"{counted(documents, 'document')} with {counted(len(word), 'word')} of the vocabulary {was(documents)} read from {name}.",
        documents,
    )
    tell("Done", 1.0)
    notes = tuple(sorted(tally.notes(), key=lambda note: note.kind != "read"))
    return Reference(name, corpus.vocabulary, word, document, documents, tuple(sources), notes)


def _texts_of(member: Member, column: str | None, tally: Tally) -> list[str]:
    """The texts of one file; blank ones are left out."""
    if member.kind == "text":
        text, encoding = decode(member.load(), member.name)
        note_encoding(encoding, member.name, tally)
        cells = [text.removeprefix("\ufeff")]
    else:
        read = read_table if member.kind == "table" else read_records
        frame = read(member.load(), member.name, tally, lambda _done: None).frame
        if column is not None and column not in frame.columns:
            raise InputError(f"{member.name} has no column '{column}'; its columns are {listed(frame.columns, 12)}.")
        chosen = column or guess_columns(Collection(frame, (), (), None, None)).text
        if column is None and frame.shape[1] > 1:
            tally.note("columns", f"The texts of {member.name} were taken from its column '{chosen}'.", 1)
        cells = frame[chosen].dropna().tolist()
    return [cell for cell in cells if cell.strip()]


def _in_numbers(
    texts: list[str], corpus: Corpus, done: Callable[[float], None]
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Words and documents of the tokens that are in the vocabulary, and how many documents have one."""
    tokens = count_words(texts, corpus.tokeniser, lambda index: done(index / len(texts)))
    number = {word: index for index, word in enumerate(corpus.vocabulary)}
    numbers = np.array([number.get(word, -1) for word in tokens.words], dtype=np.int32)
    word = numbers[tokens.word]
    kept = word >= 0
    document = tokens.document[kept]
    return word[kept], document, int(np.count_nonzero(np.diff(document, prepend=-1)))
