"""Names that are suggested: words that are the topic's own, not those that are everywhere, and what titles say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spdp_engine.corpus import Corpus, CorpusSettings, Tokeniser, corpus_from_arrays
from spdp_engine.corpus.build import make_tokeniser
from spdp_engine.topics import Topics, read_topics
from spdp_engine.topics.labels import Labels
from spdp_engine.topics.merging import merge_topics

WORDS = ("people", "time", "tax", "taxes", "budget", "deficit", "harbour", "ship", "harbours", "crane")
TOPICS = 2


class Planted:
    """Topic 0 is about money, topic 1 about ships; in both the first words are the most frequent."""

    iteration, priors, counts = 1, None, None

    def group_wordings(self) -> np.ndarray:
        money = np.array([30, 25, 15, 12, 10, 6, 0.5, 0.5, 0.5, 0.5])
        ships = np.array([30, 25, 0.5, 0.5, 0.5, 0.5, 15, 12, 10, 6])
        wordings = np.stack([np.stack([money, ships], axis=1)] * 2)
        wordings[0, 9, 1] = 0.01  # a word that only the second group says
        return wordings / wordings.sum(axis=1, keepdims=True)

    def base_wording(self) -> np.ndarray:
        return self.group_wordings().mean(axis=0)

    def group_topic_tokens(self) -> np.ndarray:
        return np.full((2, TOPICS), 500)

    def group_word_tokens(self, topic: int) -> np.ndarray:
        return np.rint(500 * self.group_wordings()[:, :, topic]).astype(int)

    def document_shares(self) -> np.ndarray:
        first = np.linspace(0.98, 0.02, 40)[:, None]
        return np.hstack([first, 1 - first])


def planted_corpus(titles: tuple[str, ...] | None = None) -> Corpus:
    corpus = corpus_from_arrays(np.arange(800) % len(WORDS), np.repeat(np.arange(40), 20), np.arange(40) % 2, WORDS)
    tokeniser: Tokeniser = make_tokeniser(CorpusSettings(language="en"))
    documents = corpus.documents if titles is None else replace(corpus.documents, titles=titles)
    return replace(corpus, documents=documents, tokeniser=tokeniser)


@pytest.fixture(scope="module")
def topics() -> Topics:
    return read_topics(Planted(), WORDS, ("a", "b"))


def test_frequent_words_of_all_topics_are_left_out(topics: Topics) -> None:
    labels = Labels(topics, planted_corpus())
    assert labels.suggest(0) == "Tax, budget, deficit"
    assert "people" in topics.label(0), "which a list of shared words begins with"


def test_two_forms_of_a_word_are_not_told_twice(topics: Topics) -> None:
    assert Labels(topics, planted_corpus()).suggest(1) == "Harbour, ship"
    assert Labels(topics, planted_corpus()).suggest(1, words=1) == "Harbour"


def test_titles_of_strong_documents_have_a_say(topics: Topics) -> None:
    titles = tuple(f"The Chancellor speaks {n}" if n < 20 else f"Weather report {n}" for n in range(40))
    labels = Labels(topics, planted_corpus(titles))
    assert labels.suggest(0) == "Chancellor, tax, budget"
    assert labels.suggest(1) == "Harbour, weather, ship"


@pytest.mark.parametrize(
    ("column", "said"), [("Headline", True), ("remark", True), ("speaker", False), ("doc_id", False)]
)
def test_who_speaks_is_not_what_it_is_about(topics: Topics, column: str, said: bool) -> None:
    corpus = planted_corpus(tuple("Chancellor" if n < 20 else "Captain" for n in range(40)))
    columns = replace(corpus.documents.columns, title=column)
    corpus = replace(corpus, documents=replace(corpus.documents, columns=columns))
    assert ("chancellor" in Labels(topics, corpus).suggest(0).casefold()) is said


def test_a_word_of_every_title_says_nothing(topics: Topics) -> None:
    labels = Labels(topics, planted_corpus(tuple(f"Gazette number {n}" for n in range(40))))
    assert labels.suggest(0) == "Tax, budget, deficit"


def test_a_title_that_comes_once_says_nothing(topics: Topics) -> None:
    labels = Labels(topics, planted_corpus(("Chancellor", *("",) * 39)))
    assert labels.suggest(0) == "Tax, budget, deficit"


def test_of_topics_read_as_one_the_whole_has_a_name_and_the_part_none(topics: Topics) -> None:
    one = read_topics(merge_topics(topics.sample, {1: 0}), WORDS, ("a", "b"))
    labels = Labels(one, planted_corpus())
    assert labels.suggest(1) == ""
