"""Topics read as one: their tokens and shares add up, and what is read of them is what a single topic would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.corpus import Corpus, corpus_from_arrays
from spdp_engine.measures.log_odds import log_odds_z
from spdp_engine.topics import PassageReader, Topics, measure_quality, read_topics
from spdp_engine.topics.merging import merge_topics
from spdp_engine.types import Sample

GROUPS, WORDS, TOPICS, DOCUMENTS = 3, 24, 5, 30
NAMES = tuple(f"w{number}" for number in range(WORDS))
GROUP_NAMES = ("left", "middle", "right")


@dataclass(frozen=True)
class Counted:
    """A sample whose estimates are counts over their sums, of tokens with given topics."""

    corpus: Corpus
    topics: NDArray[np.int64]
    alike: bool = False
    iteration: int = 7
    priors: Any = "priors"
    counts: Any = "counts"

    def _words(self) -> NDArray[np.int64]:
        words = np.zeros((GROUPS, WORDS, TOPICS), np.int64)
        group = self.corpus.document_group[self.corpus.token_document]
        np.add.at(words, (group, self.corpus.token_word, self.topics), 1)
        return words

    def base_wording(self) -> NDArray[np.float64]:
        words = self._words().sum(axis=0)
        return words / np.maximum(words.sum(axis=0), 1)

    def group_wordings(self) -> NDArray[np.float64]:
        if self.alike:
            return np.broadcast_to(self.base_wording(), (GROUPS, WORDS, TOPICS))
        words = self._words()
        sums = words.sum(axis=1, keepdims=True)
        return np.where(sums > 0, words / np.maximum(sums, 1), self.base_wording())

    def group_topic_tokens(self) -> NDArray[np.int64]:
        return self._words().sum(axis=1)

    def group_word_tokens(self, topic: int) -> NDArray[np.int64]:
        return self._words()[:, :, topic]

    def document_shares(self) -> NDArray[np.float64]:
        shares = np.zeros((DOCUMENTS, TOPICS))
        np.add.at(shares, (self.corpus.token_document, self.topics), 1.0)
        return shares / shares.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rng = np.random.default_rng(3)
    return corpus_from_arrays(
        rng.integers(0, WORDS, 1500),
        np.repeat(np.arange(DOCUMENTS), 50),
        np.arange(DOCUMENTS) % GROUPS,
        NAMES,
        GROUP_NAMES,
    )


@pytest.fixture(scope="module")
def topics_of_tokens(corpus: Corpus) -> NDArray[np.int64]:
    """No token of the middle group is on topics 3 and 4."""
    rng = np.random.default_rng(4)
    middle = corpus.document_group[corpus.token_document] == 1
    return np.where(middle, rng.integers(0, 3, 1500), rng.integers(0, TOPICS, 1500))


def read(sample: Sample) -> Topics:
    return read_topics(sample, NAMES, GROUP_NAMES)


def merged(corpus: Corpus, topics: NDArray[np.int64], merges: dict[int, int], **more: Any) -> Topics:
    return read(merge_topics(Counted(corpus, topics, **more), merges))


def in_one(corpus: Corpus, topics: NDArray[np.int64], merges: dict[int, int]) -> Topics:
    """A sample in which tokens of parts are tokens of their wholes."""
    moved = np.array([merges.get(topic, topic) for topic in range(TOPICS)])[topics]
    return read(Counted(corpus, moved))


def test_without_a_merge_the_sample_itself_is_read(corpus: Corpus, topics_of_tokens: NDArray[np.int64]) -> None:
    sample = Counted(corpus, topics_of_tokens)
    assert merge_topics(sample, {}) is sample


@pytest.mark.parametrize("merges", [{4: 1}, {0: 2, 1: 2}, {0: 4, 3: 1}])
def test_all_that_is_read_of_a_whole_is_what_one_topic_of_all_tokens_gives(
    merges: dict[int, int], corpus: Corpus, topics_of_tokens: NDArray[np.int64]
) -> None:
    topics, expected = merged(corpus, topics_of_tokens, merges), in_one(corpus, topics_of_tokens, merges)
    shown = [topic for topic in range(TOPICS) if topic not in merges]
    np.testing.assert_array_equal(topics.tokens, expected.tokens)
    np.testing.assert_allclose(topics.prevalence, expected.prevalence, atol=1e-12)
    np.testing.assert_allclose(topics.sample.document_shares(), expected.sample.document_shares(), atol=1e-12)
    np.testing.assert_allclose(topics.wordings[:, :, shown], expected.wordings[:, :, shown], atol=1e-12)
    np.testing.assert_allclose(
        topics.sample.base_wording()[:, shown], expected.sample.base_wording()[:, shown], atol=1e-12
    )
    np.testing.assert_allclose(topics.gap[shown], expected.gap[shown], atol=1e-7)
    for topic in shown:
        np.testing.assert_array_equal(topics.sample.group_word_tokens(topic), expected.sample.group_word_tokens(topic))
        np.testing.assert_allclose(topics.log_odds(topic), expected.log_odds(topic), atol=1e-9)
        assert [[word.word for word in words] for words in topics.own_words(topic)] == [
            [word.word for word in words] for words in expected.own_words(topic)
        ]


def test_a_mixture_in_equal_parts_would_not_do(corpus: Corpus, topics_of_tokens: NDArray[np.int64]) -> None:
    """The companion: what the test above tells apart from weights by tokens."""
    merges = {4: 1}
    expected = in_one(corpus, topics_of_tokens, merges)
    sample = Counted(corpus, topics_of_tokens)
    wrong = sample.group_wordings()[:, :, [1, 4]].mean(axis=2)
    assert np.abs(wrong - expected.wordings[:, :, 1]).max() > 0.01
    prior = sample.base_wording()[:, [1, 4]].mean(axis=1) * 500
    z = log_odds_z(expected.sample.group_word_tokens(1), prior)
    assert np.abs(z - expected.log_odds(1)).max() > 0.01


def test_other_topics_are_as_they_were_and_parts_are_empty(corpus: Corpus, topics_of_tokens: NDArray[np.int64]) -> None:
    before, after = read(Counted(corpus, topics_of_tokens)), merged(corpus, topics_of_tokens, {4: 1, 3: 1})
    for topic in (0, 2):
        np.testing.assert_array_equal(after.wordings[:, :, topic], before.wordings[:, :, topic])
        assert after.top_words(topic) == before.top_words(topic)
        assert after.gap[topic] == before.gap[topic] and after.overall[topic] == before.overall[topic]
    for part in (3, 4):
        assert not after.tokens[:, part].any() and not after.wordings[:, :, part].any()
        assert not after.sample.document_shares()[:, part].any() and not after.sample.group_word_tokens(part).any()
        assert after.shared_words(part) == () and after.top_words(part) == ((),) * GROUPS
        assert after.own_words(part) == ((),) * GROUPS and after.gap[part] == 0 and after.label(part) == ""
        assert after.rank[part] > max(after.rank[topic] for topic in (0, 1, 2))
    np.testing.assert_allclose(after.prevalence.sum(axis=1), 1.0)
    np.testing.assert_allclose(after.wordings[:, :, [0, 1, 2]].sum(axis=1), 1.0)
    assert (after.sample.iteration, after.sample.priors, after.sample.counts) == (7, "priors", "counts")


def test_the_model_sample_is_left_as_it_is(corpus: Corpus, topics_of_tokens: NDArray[np.int64]) -> None:
    """Some samples hand out arrays that they keep."""
    kept: dict[str, NDArray[Any]] = {}

    class Keeping(Counted):
        def group_wordings(self) -> NDArray[np.float64]:
            return kept.setdefault("wordings", super().group_wordings())

        def base_wording(self) -> NDArray[np.float64]:
            return kept.setdefault("base", super().base_wording())

        def group_topic_tokens(self) -> NDArray[np.int64]:
            return kept.setdefault("tokens", super().group_topic_tokens())

    sample = Keeping(corpus, topics_of_tokens)
    before = [one.copy() for one in (sample.group_wordings(), sample.base_wording(), sample.group_topic_tokens())]
    other = merge_topics(sample, {0: 1})
    other.base_wording(), other.group_wordings(), other.group_topic_tokens(), other.document_shares()
    for one, was in zip(
        (sample.group_wordings(), sample.base_wording(), sample.group_topic_tokens()), before, strict=True
    ):
        np.testing.assert_array_equal(one, was)


def test_a_group_without_tokens_has_the_wording_of_all(corpus: Corpus, topics_of_tokens: NDArray[np.int64]) -> None:
    topics = merged(corpus, topics_of_tokens, {4: 3})
    assert topics.tokens[1, 3] == 0
    assert topics.wordings[1, :, 3].sum() == pytest.approx(1.0)
    np.testing.assert_allclose(topics.wordings[1, :, 3], topics.sample.base_wording()[:, 3])


def test_a_model_that_words_topics_alike_goes_on_doing_so(corpus: Corpus, topics_of_tokens: NDArray[np.int64]) -> None:
    assert merged(corpus, topics_of_tokens, {4: 1}, alike=True).worded_alike


def test_passages_and_quality_read_it_like_any_other(corpus: Corpus, topics_of_tokens: NDArray[np.int64]) -> None:
    topics = merged(corpus, topics_of_tokens, {4: 1})
    found = PassageReader(corpus, topics).strongest(1, 0, 3)
    shares = topics.sample.document_shares()
    assert [passage.share for passage in found] == [float(shares[passage.document, 1]) for passage in found]
    assert found[0].share == shares[corpus.document_group == 0, 1].max()
    quality = measure_quality(topics, corpus)
    assert np.isnan(quality.npmi[4]) and not np.isnan(quality.npmi[[0, 1, 2, 3]]).any()
    assert quality.mean_npmi == pytest.approx(quality.npmi[:4].mean()), "a part counts for nothing"
