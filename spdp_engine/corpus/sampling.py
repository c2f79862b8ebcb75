"""Some of a corpus's documents as a corpus of their own, for what need not look at all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus.types import Corpus

SMALLEST_QUOTA = 0.5
"""Of what a group would have if all had the same: so much of it a group keeps, or all it has, however small it is."""


def subset(corpus: Corpus, documents: NDArray[np.integer]) -> Corpus:
    """The corpus of these documents alone, with the same vocabulary and groups, so that numbers of words and groups stay.

    Args:
        corpus: the whole.
        documents: numbers of documents to keep, each once, in rising order.

    Returns:
        The corpus; words and groups that none of the documents has are still named in it, and the notes are those of the whole.
    """
    kept = np.zeros(corpus.n_documents, bool)
    kept[documents] = True
    tokens = kept[corpus.token_document]
    number = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    rows = np.flatnonzero(kept).tolist()
    whole = corpus.documents
    texts, groups, titles, dates = (
        tuple(column[row] for row in rows) for column in (whole.texts, whole.groups, whole.titles, whole.dates)
    )
    return replace(
        corpus,
        token_word=corpus.token_word[tokens],
        token_document=number[corpus.token_document[tokens]],
        document_group=corpus.document_group[kept],
        documents=replace(
            whole,
            texts=texts,
            groups=groups,
            titles=titles,
            dates=dates,
            fields=whole.fields.iloc[rows].reset_index(drop=True),
        ),
        origin=corpus.origin[kept],
    )


def sample_documents(corpus: Corpus, tokens: int, seed: int) -> Corpus:
    """Whole documents at random, about so many tokens of them, in which every group has its part.

    Groups have tokens in proportion to what they have in the whole corpus, but a small group keeps half of an equal part, or all it
    has. In each group documents are taken in random order until it has its part, so that the last may go beyond it.

    Args:
        corpus: the whole.
        tokens: about how many are wanted, 1 or more.
        seed: the same seed takes the same documents.

    Returns:
        A `subset`; the corpus itself where it has no more tokens than are wanted.
    """
    if corpus.n_tokens <= tokens:
        return corpus
    lengths = np.bincount(corpus.token_document, minlength=corpus.n_documents)
    quotas = _quotas(np.bincount(corpus.document_group, lengths, corpus.n_groups).astype(np.float64), tokens)
    rng = np.random.default_rng([seed, 0x5A3B])
    taken = []
    for group, quota in enumerate(quotas.tolist()):
        documents = rng.permutation(np.flatnonzero(corpus.document_group == group))
        before = np.cumsum(lengths[documents]) - lengths[documents]
        taken.append(documents[before < quota])
    return subset(corpus, np.sort(np.concatenate(taken)))


def _quotas(sizes: NDArray[np.float64], tokens: int) -> NDArray[np.float64]:
    """Tokens of each group in a sample: float64 [I], with the sum `tokens`, none above the group's size.

    Args:
        sizes: [I], tokens of each group, in all more than `tokens`.
        tokens: the sum.
    """
    least = np.minimum(sizes, SMALLEST_QUOTA * tokens / len(sizes))
    quotas: NDArray[np.float64] = least + (sizes - least) * (tokens - least.sum()) / (sizes - least).sum()
    return quotas
