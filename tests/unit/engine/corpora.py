"""Little corpora, made on the spot."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from spdp_engine import types
from spdp_engine.models.matrices import Matrices


class Tokens(types.Tokens):
    """Token arrays, with what the tests ask of them."""

    def __len__(self) -> int:
        return len(self.token_word)

    @property
    def token_group(self) -> NDArray[np.int32]:
        return self.document_group[self.token_document]


def from_documents(documents: Iterable[tuple[int, list[int]]], n_words: int, n_groups: int) -> Tokens:
    """A corpus of documents given as (group, words)."""
    documents = list(documents)
    word = [w for _, words in documents for w in words]
    document = [d for d, (_, words) in enumerate(documents) for _ in words]
    group = [g for g, _ in documents]
    return Tokens(np.array(word, np.int32), np.array(document, np.int32), np.array(group, np.int32), n_words, n_groups)


def random_tokens(tokens: int, documents: int, n_words: int, n_groups: int, seed: int = 0) -> Tokens:
    """A corpus of common and rare words in documents of unequal lengths, every group with a document."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / (1.0 + np.arange(n_words))
    word = rng.choice(n_words, tokens, p=frequency / frequency.sum())
    document = np.sort(rng.choice(documents, tokens, p=rng.dirichlet(np.full(documents, 2.0))))
    group = np.arange(documents) % n_groups
    return Tokens(word.astype(np.int32), document.astype(np.int32), group.astype(np.int32), n_words, n_groups)


def _one_group_word() -> Tokens:
    """Word 0 in group 0 alone, the others everywhere."""
    corpus = random_tokens(300, 12, 6, 3, seed=5)
    word = np.where((corpus.token_word == 0) & (corpus.token_group != 0), 1, corpus.token_word)
    return Tokens(word.astype(np.int32), corpus.token_document, corpus.document_group, 6, 3)


def _common_word(occurrences: int) -> Tokens:
    """A word so frequent that its table of how customers sit is cut off, with some company."""
    rng = np.random.default_rng(6)
    word = np.zeros(occurrences + 500, np.int32)
    word[occurrences:] = rng.integers(1, 20, 500)
    rng.shuffle(word)
    document = np.sort(rng.integers(0, 50, len(word))).astype(np.int32)
    return Tokens(word, document, np.zeros(50, np.int32), 20, 1)


AWKWARD = {
    "one token": lambda: from_documents([(0, [0])], 1, 1),
    "one word": lambda: from_documents([(g % 2, [0] * (3 + g)) for g in range(6)], 1, 2),
    "one document": lambda: random_tokens(200, 1, 15, 1, seed=2),
    "a word in one group only": _one_group_word,
    "an empty document, an absent word, an absent group": lambda: from_documents(
        [(0, [0, 1, 1, 3]), (2, []), (2, [3, 3, 0])], 5, 4
    ),
    "twelve groups": lambda: random_tokens(1_000, 40, 30, 12, seed=3),
    "a document of 50,000 tokens": lambda: random_tokens(50_000, 1, 400, 1, seed=4),
    "a word of 100,000 occurrences": lambda: _common_word(100_000),
}
"""Corpora on which a sampler may trip."""


def random_matrices(corpus: types.TokenArrays, associations: float, seed: int = 0) -> Matrices:
    """Matrices in which so many other words come of a word on average, beside the word itself."""
    rng = np.random.default_rng(seed)
    groups, words = corpus.n_groups, corpus.n_words
    group, word, base_word = np.nonzero(rng.random((groups, words, words)) < associations / words)
    own_group, own = np.divmod(np.arange(groups * words), words)
    return Matrices.from_entries(
        groups, words, np.append(group, own_group), np.append(word, own), np.append(base_word, own),
        np.append(rng.random(len(word)) + 0.2, np.ones(groups * words)),
    )  # fmt: skip
