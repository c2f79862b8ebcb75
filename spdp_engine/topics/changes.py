"""A run that goes on with other words: the topics it begins from, and what became of each topic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus
from spdp_engine.topics.reading import Topics
from spdp_engine.types import Sample

WORDS = 10
"""Words of a topic that are compared."""

_BLOCK = 100_000


def carried_topics(
    corpus: Corpus, sample: Sample, topics: NDArray[np.integer], kept: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """A topic for each token that is kept: its own, and for one that has none the likeliest.

    Other tokens are held out when a corpus has changed, so that some which were held out are now trained on. The likeliest topic
    of one maximises P(z | word, document), which is in proportion to phi[i, w, z] theta[d, z].

    Args:
        corpus: of the tokens, as it was.
        sample: of the run on it.
        topics: [N], -1 where a token was held out.
        kept: bool [N], the tokens that are kept.

    Returns:
        int32 [tokens kept], in their order.
    """
    carried = topics.astype(np.int32)
    without = np.flatnonzero(kept & (carried < 0))
    if len(without):
        wordings, shares = sample.group_wordings(), sample.document_shares()
        for start in range(0, len(without), _BLOCK):  # in blocks, since each token needs K numbers
            block = without[start : start + _BLOCK]
            document = corpus.token_document[block]
            wording = wordings[corpus.document_group[document], corpus.token_word[block]]
            carried[block] = np.argmax(wording * shares[document], axis=1)
    return carried[kept]


@dataclass(frozen=True)
class TopicChange:
    """What became of a topic.

    Attributes:
        topic: its number, the same before and after.
        came: words that are among its most probable only now, the most probable first.
        went: words that were among them only before, likewise.
        share_before: mean over groups of their shares of it.
        share_after: likewise.
        gap_before: how far apart the groups worded it.
        gap_after: likewise.
    """

    topic: int
    came: tuple[str, ...]
    went: tuple[str, ...]
    share_before: float
    share_after: float
    gap_before: float
    gap_after: float


def topic_changes(before: Topics, after: Topics, topics: Iterable[int], words: int = WORDS) -> tuple[TopicChange, ...]:
    """What became of each of these topics, those first of which most words came.

    Args:
        before: as they were; with another vocabulary, but with the same numbers.
        after: as they are.
        topics: which to compare.
        words: so many most probable words of each are compared, by the mean over the groups.
    """
    main = [_main_words(one, words) for one in (before, after)]
    changes = []
    for topic in topics:
        were, are = (
            [one.vocabulary[word] for word in best[:, topic]] for one, best in zip((before, after), main, strict=True)
        )
        changes.append(
            TopicChange(
                topic=topic,
                came=tuple(word for word in are if word not in were),
                went=tuple(word for word in were if word not in are),
                share_before=float(before.overall[topic]),
                share_after=float(after.overall[topic]),
                gap_before=float(before.gap[topic]),
                gap_after=float(after.gap[topic]),
            )
        )
    return tuple(sorted(changes, key=lambda change: (-len(change.came), -len(change.went), change.topic)))


def _main_words(topics: Topics, count: int) -> NDArray[np.int64]:
    """The most probable words of each topic by the mean over groups, the most probable first: int64 [count or V, K]."""
    mean = topics.mean_wording
    count = min(count, len(mean))
    best = np.argpartition(-mean, count - 1, axis=0)[:count]
    order = np.argsort(-np.take_along_axis(mean, best, axis=0), axis=0, kind="stable")
    return np.take_along_axis(best, order, axis=0)
