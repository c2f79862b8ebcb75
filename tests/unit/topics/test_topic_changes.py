"""What a run with other words begins from, and what became of its topics."""

from __future__ import annotations

import numpy as np

from spdp_engine.corpus import corpus_from_arrays
from spdp_engine.topics import Topics, read_topics
from spdp_engine.topics.changes import carried_topics, topic_changes


class Made:
    """A sample of given wordings [I, V, K], tokens [I, K] and shares [D, K]."""

    iteration, priors, counts = 1, None, None

    def __init__(self, wordings: np.ndarray, tokens: np.ndarray, shares: np.ndarray | None = None) -> None:
        self._wordings, self._tokens, self._shares = wordings, tokens, shares

    def base_wording(self) -> np.ndarray:
        return self._wordings.mean(axis=0)

    def group_wordings(self) -> np.ndarray:
        return self._wordings

    def group_topic_tokens(self) -> np.ndarray:
        return self._tokens

    def group_word_tokens(self, topic: int) -> np.ndarray:
        return np.rint(self._tokens[:, [topic]] * self._wordings[:, :, topic]).astype(int)

    def document_shares(self) -> np.ndarray:
        assert self._shares is not None
        return self._shares


def random_wordings(words: int, topics: int, seed: int, groups: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(words, 0.3), (groups, topics)).transpose(0, 2, 1)


def test_tokens_keep_their_topics_and_others_get_the_likeliest() -> None:
    rng = np.random.default_rng(5)
    corpus = corpus_from_arrays(rng.integers(0, 9, 400), np.repeat(np.arange(20), 20), np.arange(20) % 2)
    shares = rng.dirichlet(np.full(4, 0.5), 20)
    sample = Made(random_wordings(9, 4, 6), np.full((2, 4), 50), shares)
    topics = rng.integers(0, 4, 400).astype(np.int32)
    topics[::7] = -1
    kept = corpus.token_word != 3
    carried = carried_topics(corpus, sample, topics, kept)
    assert carried.dtype == np.int32 and len(carried) == kept.sum() and carried.min() >= 0
    had = topics[kept] >= 0
    np.testing.assert_array_equal(carried[had], topics[kept][had])
    for place in np.flatnonzero(~had):
        token = np.flatnonzero(kept)[place]
        document, word = corpus.token_document[token], corpus.token_word[token]
        wording = sample.group_wordings()[corpus.document_group[document], word]
        assert carried[place] == np.argmax(wording * shares[document])
    assert topics[0] == -1, "what was given is left as it is"


def test_blocks_change_nothing(monkeypatch) -> None:
    rng = np.random.default_rng(5)
    corpus = corpus_from_arrays(rng.integers(0, 9, 400), np.repeat(np.arange(20), 20), np.arange(20) % 2)
    sample = Made(random_wordings(9, 4, 6), np.full((2, 4), 50), rng.dirichlet(np.full(4, 0.5), 20))
    without, all_kept = np.full(400, -1, np.int32), np.ones(400, bool)
    whole = carried_topics(corpus, sample, without, all_kept)
    monkeypatch.setattr("spdp_engine.topics.changes._BLOCK", 7)
    np.testing.assert_array_equal(whole, carried_topics(corpus, sample, without, all_kept))


def made_topics(vocabulary: tuple[str, ...], rows: list[list[float]], tokens: list[int]) -> Topics:
    """Topics of one wording for both groups: a row of weights to each topic."""
    wording = np.array(rows, float).T
    wording /= wording.sum(axis=0)
    sample = Made(np.stack([wording, wording]), np.array([tokens, tokens]))
    return read_topics(sample, vocabulary, ("a", "b"))


def test_words_that_came_and_went_across_vocabularies() -> None:
    before = made_topics(("said", "tax", "taxes", "port"), [[9, 5, 4, 1], [9, 1, 1, 8]], [60, 40])
    after = made_topics(("tax", "port", "ship"), [[9, 2, 1], [1, 9, 5]], [50, 50])
    first, second = topic_changes(before, after, (0, 1), words=2)
    assert (first.topic, first.came, first.went) == (0, ("port",), ("said",))
    assert (second.topic, second.came, second.went) == (1, ("ship",), ("said",))
    assert (first.share_before, first.share_after) == (0.6, 0.5)
    assert first.gap_before == first.gap_after == 0


def test_those_first_of_which_most_changed() -> None:
    before = made_topics(("a", "b", "c", "d"), [[9, 8, 1, 1], [9, 8, 1, 1]], [50, 50])
    after = made_topics(("a", "b", "c", "d"), [[9, 1, 8, 1], [1, 1, 9, 8]], [50, 50])
    assert [(change.topic, change.came) for change in topic_changes(before, after, (0, 1), words=2)] == [
        (1, ("c", "d")),
        (0, ("c",)),
    ]


def test_the_same_topics_have_not_changed() -> None:
    topics = read_topics(Made(random_wordings(30, 6, 1), np.full((2, 6), 50)), tuple(map(str, range(30))), ("a", "b"))
    changes = topic_changes(topics, topics, (0, 2, 5))
    assert [change.topic for change in changes] == [0, 2, 5]
    assert not any(change.came or change.went or change.gap_before != change.gap_after for change in changes)


def test_a_vocabulary_of_fewer_words_than_are_compared() -> None:
    before = made_topics(("a", "b", "c"), [[3, 2, 1]], [10])
    (change,) = topic_changes(before, made_topics(("a", "b"), [[3, 2]], [10]), (0,), words=10)
    assert (change.came, change.went) == ((), ("c",))
