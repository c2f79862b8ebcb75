"""The quality of topics: which words are looked at, where, and what is told of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spdp_engine.corpus import CorpusSettings, InputFile, corpus_from_arrays
from spdp_engine.corpus.reference import own_texts, read_reference
from spdp_engine.errors import SettingsError
from spdp_engine.measures import topic_coherence
from spdp_engine.topics import Topics, read_topics
from spdp_engine.topics.quality import TopicQuality, measure_quality

GROUPS = ("Left", "Right")
TOPICS, EACH = 4, 12
N_WORDS = TOPICS * EACH


@dataclass(frozen=True)
class Wordings:
    """A sample that is all wording: [I, V, K]."""

    wordings: NDArray[np.float64]
    iteration: int = 0
    priors: Any = None
    counts: Any = None

    def base_wording(self) -> NDArray[np.float64]:
        return self.wordings.mean(axis=0)

    def group_wordings(self) -> NDArray[np.float64]:
        return self.wordings

    def group_topic_tokens(self) -> NDArray[np.int64]:
        return np.full((self.wordings.shape[0], self.wordings.shape[2]), 1000)

    def group_word_tokens(self, topic: int) -> NDArray[np.int64]:
        return np.rint(1000 * self.wordings[:, :, topic]).astype(np.int64)

    def document_shares(self) -> NDArray[np.float64]:
        raise NotImplementedError


def planted(groups: int = 2) -> NDArray[np.float64]:
    """Topic k says words EACH k to EACH (k + 1) - 1, the later the rarer, and each group in an order of its own: [I, V, K]."""
    wordings = np.full((groups, N_WORDS, TOPICS), 1e-3)
    for k in range(TOPICS):
        for i in range(groups):
            wordings[i, EACH * k : EACH * (k + 1), k] = np.roll(np.linspace(2, 1, EACH), -i)
    return wordings / wordings.sum(axis=1, keepdims=True)


def planted_corpus(pretokenised: bool = False):
    """Each document is a walk through topics, a few words from each."""
    rng = np.random.default_rng(1)
    documents = [
        np.concatenate([rng.choice(N_WORDS, 15, p=planted()[d % 2, :, k]) for k in rng.integers(0, TOPICS, 4)])
        for d in range(60)
    ]
    corpus = corpus_from_arrays(
        np.concatenate(documents), np.repeat(np.arange(60), 60), np.arange(60) % 2, names(), GROUPS
    )
    return replace(corpus, settings=CorpusSettings(language="none", pretokenised=pretokenised))


def names() -> tuple[str, ...]:
    return tuple(f"w{number:02d}" for number in range(N_WORDS))


def topics_of(wordings: NDArray[np.float64]) -> Topics:
    return read_topics(Wordings(wordings), names(), GROUPS[: len(wordings)])


CORPUS = planted_corpus()


def test_it_looks_at_the_words_that_a_person_sees() -> None:
    topics = topics_of(planted())
    quality = measure_quality(topics, CORPUS)
    lists = [[topics.shared_words(k, 10) for k in range(TOPICS)]]
    lists += [[tuple(word.word for word in topics.top_words(k, 10)[i]) for k in range(TOPICS)] for i in range(2)]
    npmi, pmi = (np.vstack(rows) for rows in ((quality.npmi, quality.group_npmi), (quality.pmi, quality.group_pmi)))
    for row, words_of_topics in enumerate(lists):
        numbers = [np.array([names().index(word) for word in words]) for words in words_of_topics]
        found = topic_coherence(CORPUS.token_word, CORPUS.token_document, numbers, 10)
        np.testing.assert_array_equal(npmi[row], found.npmi)
        np.testing.assert_array_equal(pmi[row], found.pmi)
    assert (quality.window, quality.coherence_words, quality.diversity_words) == (10, 10, 25)
    assert (quality.reference, quality.missing) == ("the corpus itself", ())
    assert (quality.reference_documents, quality.reference_tokens) == (60, 3600)
    assert quality.reference_windows == 60 * 51


def test_means_and_the_thesiss_sum() -> None:
    quality = measure_quality(topics_of(planted()), CORPUS)
    assert quality.mean_npmi == pytest.approx(quality.npmi.mean())
    assert quality.mean_pmi == pytest.approx(quality.pmi.mean())
    assert quality.total_pmi == pytest.approx(quality.pmi.sum())
    np.testing.assert_allclose(quality.mean_group_npmi, quality.group_npmi.mean(axis=1))
    np.testing.assert_allclose(quality.mean_group_pmi, quality.group_pmi.mean(axis=1))


def test_planted_topics_are_better_than_mixed_ones() -> None:
    """Also where only one group's topics are mixed; and topics that are all the same are coherent, but not diverse."""
    mixed = planted()
    mixed[1] = planted()[1, np.random.default_rng(0).permutation(N_WORDS)]
    good, bad = (measure_quality(topics_of(wordings), CORPUS) for wordings in (planted(), mixed))
    assert good.mean_npmi > max(0.1, bad.mean_npmi)
    assert good.group_npmi.min() > bad.group_npmi[1].max()
    np.testing.assert_array_equal(good.group_npmi[0], bad.group_npmi[0])
    same = measure_quality(topics_of(np.repeat(planted()[:, :, :1], TOPICS, axis=2)), CORPUS, diversity_words=10)
    assert same.mean_npmi > 0.1
    assert same.diversity == 1 / TOPICS and same.group_diversity.tolist() == [1 / TOPICS] * 2


def test_diversity_of_shared_words_and_of_each_group() -> None:
    wordings = planted()
    wordings[1, :, 1] = wordings[1, :, 0]
    quality = measure_quality(topics_of(wordings), CORPUS, diversity_words=EACH)
    assert quality.group_diversity.tolist() == [1.0, 0.75]
    assert measure_quality(topics_of(planted()), CORPUS, diversity_words=EACH).diversity == 1.0
    assert measure_quality(topics_of(planted()), CORPUS, diversity_words=999).diversity == 1 / TOPICS


def test_words_cut_before_are_looked_for_in_whole_documents() -> None:
    cut = planted_corpus(pretokenised=True)
    topics = topics_of(planted())
    quality = measure_quality(topics, cut)
    assert (quality.window, quality.reference_windows) == (None, 60)
    np.testing.assert_array_equal(quality.npmi, measure_quality(topics, CORPUS, window=None).npmi)
    asked = measure_quality(topics, cut, window=10)
    assert asked.window == 10
    np.testing.assert_array_equal(asked.npmi, measure_quality(topics, CORPUS).npmi)


def test_a_reference_of_ones_own() -> None:
    """Topic 0 is found together in it, topic 1 never, and of the words of topics 2 and 3 it holds none."""
    said = " ".join(names()[:EACH])
    apart = "\n".join(names()[EACH : 2 * EACH])
    read = read_reference(InputFile("other.csv", data=f"text\n{said}\n{apart}\n".encode()), CORPUS)
    quality = measure_quality(topics_of(planted()), CORPUS, read, coherence_words=EACH)
    assert quality.npmi[0] > 0.5
    np.testing.assert_array_equal(quality.npmi[1:], -1.0)
    np.testing.assert_array_equal(quality.pmi[1:], 0.0)
    assert quality.missing == names()[2 * EACH :]
    assert (quality.reference, quality.reference_documents, quality.reference_tokens) == ("other.csv", 13, 24)
    assert quality.summary()["reference"]["missing_words"] == list(quality.missing)


def test_one_topic_and_one_group() -> None:
    quality = measure_quality(topics_of(planted(groups=1)[:, :, :1]), CORPUS)
    assert quality.npmi.shape == (1,) and quality.group_npmi.shape == (1, 1)
    assert quality.npmi[0] == quality.group_npmi[0, 0]
    assert quality.diversity == 1.0 and quality.group_diversity.tolist() == [1.0]


def test_topics_of_fewer_words_than_asked() -> None:
    """A topic has no more words than the vocabulary."""
    corpus = replace(
        corpus_from_arrays([0, 1, 2, 0, 2, 1], [0, 0, 0, 1, 1, 1], [0, 0], ["a", "b", "c"], ["all"]),
        settings=CorpusSettings(),
    )
    topics = read_topics(Wordings(np.array([[[0.5, 0.2], [0.3, 0.2], [0.2, 0.6]]])), ("a", "b", "c"), ("all",))
    quality = measure_quality(topics, corpus)
    assert quality.npmi.tolist() == [1.0, 1.0]
    assert quality.diversity == 0.5


def test_the_summary_is_plain_json() -> None:
    quality = measure_quality(topics_of(planted()), CORPUS)
    summary = quality.summary()
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["npmi"] == quality.mean_npmi and summary["pmi_total"] == quality.total_pmi
    assert list(summary["groups"]) == list(GROUPS)
    assert summary["groups"]["Right"]["diversity"] == quality.group_diversity[1]
    assert [topic["topic"] for topic in summary["topics"]] == [1, 2, 3, 4]
    assert summary["topics"][2]["groups"]["Left"]["npmi"] == quality.group_npmi[0, 2]


def test_the_summary_has_none_where_there_is_no_number() -> None:
    nothing = np.array([np.nan])
    quality = TopicQuality(
        nothing, nothing, nothing[None], nothing[None], 1.0, np.array([np.nan]), ("all",), 10, "x", 1, 1, 1, ()
    )
    summary = quality.summary()
    assert summary["npmi"] is summary["pmi"] is summary["groups"]["all"]["npmi"] is summary["topics"][0]["pmi"] is None
    json.dumps(summary, allow_nan=False)


def test_a_reference_of_another_vocabulary_is_refused() -> None:
    other = replace(own_texts(CORPUS), vocabulary=names()[1:])
    with pytest.raises(SettingsError, match="different vocabularies"):
        measure_quality(topics_of(planted()), CORPUS, other)


@pytest.mark.parametrize(("coherence", "diversity"), [(1, 25), (10, 0)])
def test_too_few_words_are_refused(coherence: int, diversity: int) -> None:
    with pytest.raises(SettingsError, match="2 or more words of each topic"):
        measure_quality(topics_of(planted()), CORPUS, coherence_words=coherence, diversity_words=diversity)
