"""Coherence and diversity of topics, against what is counted by hand and by a plain loop."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import log

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.errors import SettingsError
from spdp_engine.measures import coherence as module
from spdp_engine.measures import npmi, pmi, topic_coherence, topic_diversity, window_counts

Arrays = tuple[NDArray[np.int32], NDArray[np.int32]]


def text(*documents: list[int]) -> Arrays:
    """Words and documents of the tokens."""
    words = [word for document in documents for word in document]
    numbers = [number for number, document in enumerate(documents) for _ in document]
    return np.array(words, np.int32), np.array(numbers, np.int32)


SHORT = text([0, 1, 2, 0, 3], [1, 0], [], [4])
"""In windows of three words: {0, 1, 2}, {0, 1, 2}, {0, 2, 3}, {0, 1} and {4}. Eight tokens."""


def random_text(seed: int, documents: int = 30, words: int = 12, longest: int = 25) -> Arrays:
    rng = np.random.default_rng(seed)
    return text(*(rng.integers(0, words, rng.integers(0, longest)).tolist() for _ in range(documents)))


def windows_of(arrays: Arrays, window: int | None) -> list[set[int]]:
    """Each window's words, one after another."""
    word, document = arrays
    found = []
    for number in np.unique(document):
        words = word[document == number].tolist()
        width = len(words) if window is None else min(window, len(words))
        found += [set(words[start : start + width]) for start in range(len(words) - width + 1)]
    return found


def lists(*topics: Iterable[int]) -> list[NDArray[np.int64]]:
    return [np.array(list(topic), np.int64) for topic in topics]


def test_windows_counted_by_hand() -> None:
    counts = window_counts(*SHORT, np.array([4, 0, 1, 2, 3]), 3)
    assert (counts.windows, counts.tokens) == (5, 8)
    assert counts.words.tolist() == [0, 1, 2, 3, 4]
    assert counts.frequency.tolist() == [3, 2, 1, 1, 1]
    assert counts.occurrences.tolist() == [4, 3, 3, 1, 1]
    assert counts.together.tolist() == [
        [4, 3, 3, 1, 0],
        [3, 3, 2, 0, 0],
        [3, 2, 3, 1, 0],
        [1, 0, 1, 1, 0],
        [0, 0, 0, 0, 1],
    ]


def test_documents_counted_by_hand() -> None:
    counts = window_counts(*SHORT, np.arange(5), None)
    assert (counts.windows, counts.tokens) == (3, 8)
    assert counts.frequency.tolist() == [3, 2, 1, 1, 1]
    assert counts.together[0].tolist() == [2, 2, 1, 1, 0]
    assert counts.occurrences.tolist() == [2, 2, 1, 1, 1]


def test_scores_by_hand() -> None:
    found = topic_coherence(*SHORT, lists([0, 1], [1, 3], [1, 0, 2]), 3)
    first = log((3 / 5) / (4 / 5 * 3 / 5)) / -log(3 / 5)
    last = log((2 / 5) / (3 / 5 * 3 / 5)) / -log(2 / 5)
    np.testing.assert_allclose(found.npmi, [first, -1.0, (2 * first + last) / 3], rtol=1e-14)
    pairs = [log((3 / 5) / (3 / 8 * 2 / 8)), log((3 / 5) / (3 / 8 * 1 / 8)), log((2 / 5) / (2 / 8 * 1 / 8))]
    np.testing.assert_allclose(found.pmi, [pairs[0], 0.0, np.mean(pairs)], rtol=1e-14)
    assert (found.windows, found.tokens, found.missing.tolist()) == (5, 8, [])


@pytest.mark.parametrize("window", [2, 3, 7, 24, 60, None])
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_a_plain_loop(window: int | None, seed: int) -> None:
    """Also of documents shorter than the window, of none, and of words that come again within a window."""
    arrays = random_text(seed, words=[12, 4, 60][seed])
    words = np.array([1, 3, 0, 70, 9])  # one of them is never said
    counts = window_counts(*arrays, words, window)
    seen = windows_of(arrays, window)
    assert counts.windows == len(seen)
    for i, a in enumerate(sorted(words.tolist())):
        assert counts.frequency[i] == (arrays[0] == a).sum()
        for j, b in enumerate(sorted(words.tolist())):
            assert counts.together[i, j] == sum({a, b} <= words for words in seen), (a, b)


@pytest.mark.parametrize("window", [5, None])
def test_means_are_those_of_a_plain_loop(window: int | None) -> None:
    arrays = random_text(8)
    topics = lists([0, 5, 7, 2], [11, 1, 99], [3, 4])
    found = topic_coherence(*arrays, topics, window)
    seen = windows_of(arrays, window)
    for k, topic in enumerate(topics):
        scores = []
        for a, b in combinations(topic.tolist(), 2):
            both, one, other = (sum(pair <= words for words in seen) / len(seen) for pair in ({a, b}, {a}, {b}))
            frequency = [(arrays[0] == word).mean() for word in (a, b)]
            if both:
                scores.append((log(both / one / other) / -log(both), log(both / frequency[0] / frequency[1])))
            else:
                scores.append((-1.0, 0.0))
        np.testing.assert_allclose([found.npmi[k], found.pmi[k]], np.mean(scores, axis=0), rtol=1e-12)
    assert found.missing.tolist() == [99]


@pytest.mark.parametrize("window", [4, None])
def test_a_text_in_blocks_and_words_in_batches_give_the_same(
    window: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = random_text(3, documents=60)
    topics = lists([0, 1, 2], [2, 3], [4, 5, 6, 7], [0, 8])
    whole = topic_coherence(*arrays, topics, window)
    monkeypatch.setattr("spdp_engine.measures.coherence._BLOCK", 40)
    monkeypatch.setattr("spdp_engine.measures.coherence._MOST_WORDS", 4)
    assert len(list(module._blocks(arrays[1]))) > 5
    assert [len(batch) for batch in module._batches(topics)] == [2, 1, 1]
    parts = topic_coherence(*arrays, topics, window)
    np.testing.assert_array_equal(parts.npmi, whole.npmi)
    np.testing.assert_array_equal(parts.pmi, whole.pmi)
    assert (parts.windows, parts.tokens) == (whole.windows, whole.tokens)


def test_the_scale_of_npmi() -> None:
    """1 for words never apart, -1 for words never together, 0 for independent ones."""
    np.testing.assert_allclose(npmi([5, 20, 0, 0, 4], [5, 20, 7, 0, 8], [5, 20, 7, 3, 10], 20), [1, 1, -1, -1, 0])


def test_independent_words() -> None:
    """NPMI is about 0, and PMI about log(10 9), as its definition has it. How far off they are by chance alone is computed too."""
    word = np.random.default_rng(0).integers(0, 50, 200_000)
    found = topic_coherence(word, np.zeros(len(word), np.int32), lists(range(50)))
    one, both = 1 - 0.98**10, 1 - 2 * 0.98**10 + 0.96**10
    assert found.npmi[0] == pytest.approx(log(both / one**2) / -log(both), abs=0.002)
    assert found.npmi[0] == pytest.approx(0, abs=0.03)
    assert found.pmi[0] == pytest.approx(log(both / 0.02**2), abs=0.01)
    assert found.pmi[0] == pytest.approx(log(90), abs=0.2)


@pytest.mark.parametrize("window", [10, None])
def test_an_empty_text(window: int | None) -> None:
    found = topic_coherence(*text(), lists([0, 1], [2]), window)
    np.testing.assert_array_equal(found.npmi, [-1.0, np.nan])
    np.testing.assert_array_equal(found.pmi, [0.0, np.nan])
    assert (found.windows, found.tokens, found.missing.tolist()) == (0, 0, [0, 1, 2])


@pytest.mark.parametrize("window", [10, None])
def test_a_text_without_the_words(window: int | None) -> None:
    found = topic_coherence(*text([1, 2, 3]), lists([7, 8]), window)
    assert (found.npmi.tolist(), found.windows, found.missing.tolist()) == ([-1.0], 1, [7, 8])


def test_one_word_has_no_pairs() -> None:
    found = topic_coherence(*SHORT, lists([1], []), 3)
    assert np.isnan(found.npmi).all() and np.isnan(found.pmi).all()
    assert found.windows == 5


def test_no_topics() -> None:
    found = topic_coherence(*SHORT, [], 3)
    assert (len(found.npmi), len(found.pmi), found.windows, found.tokens) == (0, 0, 5, 8)


@pytest.mark.parametrize("window", [1, 0, -3])
def test_a_window_holds_two_words(window: int) -> None:
    with pytest.raises(SettingsError, match="2 words or more"):
        window_counts(*SHORT, np.arange(3), window)


def test_pmi_is_in_nats_and_takes_arrays() -> None:
    np.testing.assert_allclose(pmi([2, 0], 10, [5, 0], [4, 1], 100), [log(0.2 / (0.05 * 0.04)), 0.0])


def test_diversity_by_hand() -> None:
    assert topic_diversity(lists([0, 1, 2], [2, 3, 4])) == 5 / 6
    assert topic_diversity(lists([0, 1], [1, 0], [0, 1], [1, 0])) == 1 / 4
    assert topic_diversity(lists([3, 1, 2])) == 1.0
    assert np.isnan(topic_diversity([]))
