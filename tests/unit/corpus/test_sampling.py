"""Some of the documents: whole ones, of every group, the same for the same seed, with words and groups numbered as before."""

from __future__ import annotations

import numpy as np
import pytest

from spdp_engine.corpus import Corpus, CorpusSettings, build_corpus, corpus_from_arrays, make_documents, read_collection
from spdp_engine.corpus.columns import guess_columns
from spdp_engine.corpus.sampling import sample_documents, subset
from spdp_engine.corpus.types import InputFile

TOKENS_EACH = 20


def corpus_of(sizes: tuple[int, ...], words: int = 50) -> Corpus:
    """Groups of so many documents, each of `TOKENS_EACH` tokens."""
    draw = np.random.default_rng(3)
    group = draw.permutation(np.repeat(np.arange(len(sizes)), sizes))
    document = np.repeat(np.arange(len(group)), TOKENS_EACH)
    return corpus_from_arrays(draw.integers(0, words, len(document)), document, group)


def words_of(corpus: Corpus, document: int) -> list[int]:
    return corpus.token_word[corpus.token_document == document].tolist()


def test_a_subset_is_the_corpus_of_its_documents() -> None:
    corpus = corpus_of((5, 4))
    some = subset(corpus, np.array([1, 4, 7]))
    assert (some.n_documents, some.n_tokens) == (3, 3 * TOKENS_EACH)
    assert some.vocabulary == corpus.vocabulary and some.group_names == corpus.group_names
    for number, document in enumerate((1, 4, 7)):
        assert words_of(some, number) == words_of(corpus, document)
        assert some.document_group[number] == corpus.document_group[document]
        assert some.documents.texts[number] == corpus.documents.texts[document]
        assert some.origin[number] == corpus.origin[document]
    assert len(some.documents) == len(some.documents.fields) == 3
    for array in (some.token_word, some.token_document, some.document_group, some.origin):
        assert array.dtype == np.int32 and not array.flags.writeable


def test_a_subset_keeps_what_is_told_of_documents() -> None:
    rows = "".join(f"{'ab'[i % 2]},title {i},day {i},place {i},harbour ship number{i % 3}\n" for i in range(6))
    collection = read_collection(InputFile("talk.csv", data=f"group,title,date,place,text\n{rows}".encode()))
    settings = CorpusSettings(language="none", passages=False)
    corpus = build_corpus(make_documents(collection, guess_columns(collection)), settings)
    some = subset(corpus, np.array([0, 5]))
    assert some.documents.titles == ("title 0", "title 5") and some.documents.dates == ("day 0", "day 5")
    assert some.documents.groups == ("a", "b")
    assert some.documents.fields["place"].tolist() == ["place 0", "place 5"]


def test_a_small_corpus_is_its_own_sample() -> None:
    corpus = corpus_of((5, 4))
    assert sample_documents(corpus, corpus.n_tokens, 1) is corpus


def test_a_sample_has_about_the_tokens_that_are_wanted() -> None:
    corpus = corpus_of((200, 100, 60))
    for tokens in (500, 2_000, 5_000):
        sample = sample_documents(corpus, tokens, 1)
        assert tokens <= sample.n_tokens < tokens + corpus.n_groups * TOKENS_EACH
        lengths = np.bincount(sample.token_document, minlength=sample.n_documents)
        assert (lengths == TOKENS_EACH).all(), "documents are whole"


def test_every_group_has_its_part_and_a_small_one_stays() -> None:
    sizes = (300, 150, 12, 1)
    sample = sample_documents(corpus_of(sizes), 100 * TOKENS_EACH, 4)
    large, half, small, single = sample.group_sizes().values()
    assert (small, single) == (12, 1), "smaller than half of an equal part"
    assert large + half == pytest.approx(87, abs=2)
    assert large / half == pytest.approx(2, rel=0.25)


def test_one_seed_gives_one_sample_and_another_another() -> None:
    corpus = corpus_of((80, 40))
    one, again, other = (sample_documents(corpus, 600, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.origin, again.origin)
    np.testing.assert_array_equal(one.token_word, again.token_word)
    assert one.origin.tolist() != other.origin.tolist()
    assert (np.diff(one.token_document) >= 0).all()
