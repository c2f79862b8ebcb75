"""Which of the words that texts are made of are worth modelling."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus.counting import Tokens, document_frequencies
from spdp_engine.corpus.types import CorpusSettings, Note
from spdp_engine.corpus.wording import counted, was
from spdp_engine.errors import InputError

# Below this, shares of documents say nothing: a word in one document of two is in half of them.
_FEW_DOCUMENTS = 10
_MANY_DOCUMENTS = 500


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """V words by falling frequency, then alphabet; `number` [W] int32 is the place of each counted word, -1 if out."""

    words: tuple[str, ...]
    number: NDArray[np.int32]
    notes: tuple[Note, ...]


def with_limits(settings: CorpusSettings, n_documents: int) -> CorpusSettings:
    """`settings` with the document frequencies that suit `n_documents` documents where none were set.

    Among fewer than 10 documents no word is too common, and one document is enough.
    """
    minimum = settings.minimum_documents
    if minimum is None:
        minimum = 1 if n_documents < _FEW_DOCUMENTS else 2 if n_documents < _MANY_DOCUMENTS else 3
    maximum = 1.0 if n_documents < _FEW_DOCUMENTS else settings.maximum_share
    return replace(settings, minimum_documents=minimum, maximum_share=maximum)


def choose_vocabulary(
    tokens: Tokens,
    n_documents: int,
    settings: CorpusSettings,
    wanted: Collection[str] = (),
    things: str = "documents",
) -> Vocabulary:
    """The words within the limits of `settings`, which `with_limits` has filled in; those `wanted` are never too common.

    Notes call what is counted `things`. Raises `InputError` when fewer than two words are left.
    """
    frequency = np.bincount(tokens.word, minlength=len(tokens.words))
    spread = document_frequencies(tokens)
    rare = spread < (settings.minimum_documents or 1)
    common = spread > settings.maximum_share * n_documents
    if wanted:
        common &= ~np.array([word in wanted for word in tokens.words], bool)
    kept = np.flatnonzero(~rare & ~common)
    if len(kept) < 2:
        raise InputError(_nothing_left(len(tokens.words), int(rare.sum()), int(common.sum()), settings))
    order = sorted(kept.tolist(), key=lambda word: (-frequency[word], tokens.words[word]))
    number = np.full(len(tokens.words), -1, dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    notes = []
    if rare.any():
        n = int(rare.sum())
        notes.append(
            Note(
                "dropped",
                f"{counted(n, 'word')} in fewer than {settings.minimum_documents} {things} {was(n)} left out.",
                n,
            )
        )
    if common.any():
        n = int(common.sum())
        examples = sorted(np.flatnonzero(common).tolist(), key=lambda word: (-frequency[word], tokens.words[word]))[:5]
        named = ", ".join(tokens.words[word] for word in examples)
        share = f"{settings.maximum_share:.0%}"
        notes.append(
            Note(
                "dropped",
                f"{counted(n, 'word')} in more than {share} of the {things} {was(n)} left out: {named}"
                f"{' ...' if n > len(examples) else '.'}",
                n,
            )
        )
    return Vocabulary(tuple(tokens.words[word] for word in order), number, tuple(notes))


def _nothing_left(found: int, rare: int, common: int, settings: CorpusSettings) -> str:
    if found == 0:
        return (
            "No words are left, because all of them are stop words, numbers or too short; choose another language or "
            "'none', a smaller minimum length, or another text column."
        )
    return (
        f"Fewer than two words are left of {counted(found, 'word')}: {rare:,} of them are in fewer than "
        f"{settings.minimum_documents} documents and {common:,} in more than {settings.maximum_share:.0%} of the "
        "documents; lower the minimum number of documents, raise the maximum share, or bring more text."
    )
