"""Other words for a corpus that is there: some left out, some read as one, without reading the documents again.

    corpus, kept = change_words(corpus, [WordChange("said"), WordChange("taxes", "tax")])

Building from the documents with the settings of the changed corpus gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus.build import assemble, make_tokeniser
from spdp_engine.corpus.counting import Tokens
from spdp_engine.corpus.reference import Reference
from spdp_engine.corpus.types import Corpus, CorpusSettings
from spdp_engine.corpus.vocabulary import Vocabulary
from spdp_engine.corpus.wording import counted
from spdp_engine.errors import InputError


@dataclass(frozen=True)
class WordChange:
    """One change of the words of a corpus.

    Attributes:
        word: of the vocabulary.
        into: the word of the vocabulary as which it is read from then on; None: it is left out.
    """

    word: str
    into: str | None = None


def vocabulary_word(corpus: Corpus, typed: str) -> str:
    """The word of the vocabulary that somebody means, in whatever case or apostrophes they write it.

    Raises:
        InputError: there is none.
    """
    forms = corpus.tokeniser.words(typed)
    there = set(corpus.vocabulary)
    for word in (typed.strip(), *(forms if len(forms) == 1 else ())):
        if word in there:
            return word
    raise InputError(f"“{typed.strip()}” is not among the words of the topics; write a single word that is.")


def with_change(changes: Sequence[WordChange], change: WordChange) -> tuple[WordChange, ...]:
    """Changes with one more, in place of another of the same word.

    Raises:
        InputError: it joins a word with itself or with one that is changed.
    """
    _check_joined(change)
    others = tuple(other for other in changes if other.word != change.word)
    for other in others:
        if change.into is not None and other.word == change.into:
            done = "left out" if other.into is None else f"read as “{other.into}”"
            raise InputError(
                f"“{change.into}” is to be {done} itself; take that back first, or join “{change.word}” with another word."
            )
    return (*others, change)


def changed_settings(settings: CorpusSettings, changes: Sequence[WordChange]) -> CorpusSettings:
    """The settings by which documents are built with these changes."""
    extra = [change.word for change in changes if change.into is None]
    joined = {row[0]: row for row in settings.joined_words}
    for change in changes:
        if change.into is not None:
            joined[change.into] = (*joined.get(change.into, (change.into,)), change.word)
    return replace(
        settings,
        extra_stop_words=tuple(dict.fromkeys((*settings.extra_stop_words, *extra))),
        joined_words=tuple(joined.values()),
    )


def change_words(corpus: Corpus, changes: Sequence[WordChange]) -> tuple[Corpus, NDArray[np.bool_]]:
    """The corpus with these changes, and which of its tokens are in it still.

    Groups and documents of which nothing is left are left out, as they are when a corpus is built.

    Args:
        corpus: as it is; its words have been through its tokeniser.
        changes: of words of its vocabulary.

    Returns:
        The new corpus, and bool [N]: the tokens that are kept, which are those of the new corpus in the same order.

    Raises:
        InputError: a word is not in the vocabulary, is joined with itself, or too little is left.
    """
    _check(corpus, changes)
    settings = changed_settings(corpus.settings, changes)
    tokeniser = make_tokeniser(settings)
    form = [tokeniser.reading(word) for word in corpus.vocabulary]
    words = tuple(dict.fromkeys(word for word in form if word is not None))
    if len(words) < 2:
        raise InputError(
            f"With these changes {counted(len(words), 'word')} would be left, and topics need two or more; take a change back."
        )
    place = {word: index for index, word in enumerate(words)}
    number = np.array([-1 if word is None else place[word] for word in form], np.int32)
    word = number[corpus.token_word]
    kept = word >= 0
    tokens = Tokens(words, word[kept], corpus.token_document[kept])
    told = [note.kind for note in corpus.notes]
    notes = corpus.notes[: told.index("built")] if "built" in told else corpus.notes
    rows = np.arange(corpus.n_documents, dtype=np.int32)
    new = assemble(
        corpus.documents, corpus.documents.texts, rows, corpus.origin, tokens, _ranked(tokens), settings, tokeniser,
        list(notes),
    )  # fmt: skip
    return new, kept


def change_reference(reference: Reference, before: Corpus, after: Corpus) -> Reference:
    """A text in the words of a corpus, in those of the corpus as `change_words` changed it.

    Args:
        reference: read for `before`.
        before: the corpus before the changes.
        after: the corpus with them.
    """
    place = {word: index for index, word in enumerate(after.vocabulary)}
    form = [after.tokeniser.reading(word) for word in before.vocabulary]
    number = np.array([-1 if word is None else place.get(word, -1) for word in form], np.int32)
    word = number[reference.token_word]
    kept = word >= 0
    document = reference.token_document[kept]
    return replace(
        reference,
        vocabulary=after.vocabulary,
        token_word=word[kept],
        token_document=document,
        documents=int(np.count_nonzero(np.diff(document, prepend=-1))),
    )


def _check(corpus: Corpus, changes: Sequence[WordChange]) -> None:
    there = set(corpus.vocabulary)
    for change in changes:
        for word in (change.word, change.into):
            if word is not None and word not in there:
                raise InputError(f"“{word}” is not among the words of the topics; write a single word that is.")
        _check_joined(change)


def _check_joined(change: WordChange) -> None:
    if change.word == change.into:
        raise InputError(f"“{change.word}” cannot be joined with itself; choose another word.")


def _ranked(tokens: Tokens) -> Vocabulary:
    """All words in the order of a vocabulary."""
    frequency = np.bincount(tokens.word, minlength=len(tokens.words))
    order = sorted(range(len(tokens.words)), key=lambda word: (-frequency[word], tokens.words[word]))
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return Vocabulary(tuple(tokens.words[word] for word in order), number, ())
