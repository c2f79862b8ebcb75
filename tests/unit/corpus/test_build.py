from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest
from hand_written import PLAIN, documents

from spdp_engine.corpus import (
    Corpus,
    CorpusSettings,
    build_corpus,
    corpus_from_arrays,
    counting,
    guess_columns,
    make_documents,
    read_collection,
)
from spdp_engine.errors import InputError, SettingsError


def told(corpus: Corpus, kind: str) -> list[str]:
    return [note.text for note in corpus.notes if note.kind == kind]


def check(corpus: Corpus) -> None:
    """What holds for every corpus."""
    for array in (corpus.token_word, corpus.token_document, corpus.document_group, corpus.origin):
        assert array.dtype == np.int32
        assert not array.flags.writeable
    assert np.all(np.diff(corpus.token_document) >= 0)
    assert np.array_equal(np.unique(corpus.token_document), np.arange(corpus.n_documents))
    assert np.array_equal(np.unique(corpus.token_word), np.arange(corpus.n_words))
    frequency = np.bincount(corpus.token_word)
    order = [(-count, word) for count, word in zip(frequency.tolist(), corpus.vocabulary, strict=True)]
    assert order == sorted(order)
    assert len(corpus.documents) == corpus.n_documents == len(corpus.origin) == len(corpus.documents.fields)
    assert corpus.documents.groups == tuple(corpus.group_names[group] for group in corpus.document_group)
    assert sum(corpus.group_sizes().values()) == corpus.n_documents


def test_tokens_are_the_words_that_the_tokeniser_gives():
    texts = ["Red blue red.", "Blue <b>green</b> can't", "https://x.org/y", "red-blue 日本語 l'eau"] * 5
    corpus = build_corpus(documents(texts, ["g10", "g2"] * 10), PLAIN)
    check(corpus)
    assert corpus.group_names == ("g2", "g10")
    for index, text in enumerate(corpus.documents.texts):
        mine = [corpus.vocabulary[word] for word in corpus.token_word[corpus.token_document == index]]
        assert mine == corpus.tokeniser.words(text)
    assert corpus.n_documents == 15
    assert corpus.origin.tolist() == [i for i in range(20) if i % 4 != 2]
    assert corpus.documents.titles[2] == "title 3"
    assert "5 documents had no word" in told(corpus, "empty")[0]


def test_blocks_change_nothing(monkeypatch):
    texts = [f"word{i % 7} word{i % 3} can't be e-mail" for i in range(50)] + [""]
    whole = build_corpus(documents(texts, ["a", "b", "c"] * 17), PLAIN)
    monkeypatch.setattr(counting, "_BLOCK", 5)
    pieces = build_corpus(documents(texts, ["a", "b", "c"] * 17), PLAIN)
    assert whole.vocabulary == pieces.vocabulary
    assert np.array_equal(whole.token_word, pieces.token_word)
    assert np.array_equal(whole.token_document, pieces.token_document)


def test_document_frequencies():
    texts = ["common rare1 twice", "common twice", *["common other"] * 18]
    corpus = build_corpus(
        documents(texts), CorpusSettings("none", minimum_documents=2, maximum_share=0.95, passages=False)
    )
    check(corpus)
    assert corpus.vocabulary == ("other", "twice")
    assert any("1 word in fewer than 2 documents" in text for text in told(corpus, "dropped"))
    assert any("common" in text for text in told(corpus, "dropped"))


@pytest.mark.parametrize(("n", "minimum"), [(4, 1), (40, 2), (600, 3)])
def test_minimum_goes_by_size_and_is_told(n, minimum):
    texts = [f"red blue green{i % 3}" for i in range(n)]
    corpus = build_corpus(documents(texts), CorpusSettings("none", passages=False, maximum_share=1.0))
    assert corpus.settings.minimum_documents == minimum
    assert corpus.settings.passages is False


def test_two_long_files_become_passages_and_keep_shared_words():
    left = "The garden has roses and apples. " * 200
    right = "The garden has tulips and pears. " * 200
    corpus = build_corpus(documents([left, right], ["left", "right"]))
    check(corpus)
    assert corpus.settings.passages is True
    assert corpus.settings.language == "en"
    assert corpus.group_sizes() == {"left": 4, "right": 4}
    assert "garden" in corpus.vocabulary
    assert corpus.origin.tolist() == [0] * 4 + [1] * 4
    assert " ".join(corpus.documents.texts[:4]) == left.strip()
    assert told(corpus, "passages")
    assert any("fewer than 20 passages" in text for text in told(corpus, "warning"))


def test_passages_only_where_a_group_is_small():
    texts = ["red blue green " * 300] * 40
    assert build_corpus(documents(texts, ["a", "b"] * 20), CorpusSettings("none", maximum_share=1)).n_documents == 40
    small = build_corpus(documents(texts, ["a"] * 39 + ["b"]), CorpusSettings("none", maximum_share=1))
    assert small.n_documents == 120


def test_pretokenised_keeps_everything():
    texts = ["The the AND 12 don't", "<b> x . The"]
    corpus = build_corpus(documents(texts), CorpusSettings(pretokenised=True, minimum_documents=2))
    check(corpus)
    assert set(corpus.vocabulary) == set(" ".join(texts).split())
    assert (corpus.settings.language, corpus.settings.minimum_documents, corpus.settings.maximum_share) == (
        "none",
        1,
        1.0,
    )


def test_extra_stop_words():
    texts = ["Obama’s garden grows", "obama grows roses"]
    corpus = build_corpus(documents(texts), CorpusSettings("en", extra_stop_words=("OBAMA",)))
    assert set(corpus.vocabulary) == {"garden", "grows", "roses"}


def test_warnings_about_small_groups_and_one_group():
    texts = [f"red blue green{i}" for i in range(60)]
    corpus = build_corpus(documents(texts, ["big"] * 45 + ["tiny"] * 15), PLAIN)
    few, short = told(corpus, "warning")
    assert "tiny (15)" in few and "big" not in few
    assert "tiny (45)" in short and "big (135)" in short
    (one,) = told(build_corpus(documents(texts), PLAIN), "group")
    assert one.startswith("There is one group, so there is nothing to compare")


def test_a_group_that_loses_all_its_documents_is_told():
    corpus = build_corpus(documents(["red blue", "blue red", "the the"], ["a", "b", "c"]), CorpusSettings("en"))
    assert corpus.group_names == ("a", "b")
    assert any("any document of c" in text for text in told(corpus, "warning"))


def test_notes_come_from_the_first_to_the_last_step(read):
    rows = (
        "".join(f"{'A' if i % 2 else 'B'},the garden is{i % 7} of roses{i % 3} and then no{i % 5}\n" for i in range(60))
        + "A,\nA,the same\nA,the same\n"
    )
    collection = read("a.csv", "party,text\n" + rows)
    corpus = build_corpus(make_documents(collection, guess_columns(collection)))
    assert {"read", "empty", "duplicate", "group", "built"} <= {note.kind for note in corpus.notes}
    assert corpus.notes == corpus.documents.notes


@pytest.mark.parametrize(
    ("texts", "settings", "says"),
    [
        (["only one"], CorpusSettings(), "only one document"),
        ([], CorpusSettings(), "only one document|no documents"),
        (["the and", "of the"], CorpusSettings("en"), "No words are left"),
        (["red", "blue"], CorpusSettings("none", minimum_documents=2), "lower the minimum number of documents"),
        (["red", "red"], CorpusSettings("none"), "Fewer than two words"),
        (["red blue", "the"], CorpusSettings("en"), "Only one document has words"),
    ],
)
def test_nothing_to_model(texts, settings, says):
    with pytest.raises(InputError, match=says):
        build_corpus(documents(texts), settings)


@pytest.mark.parametrize(
    "settings",
    [
        CorpusSettings(language="xx"),
        CorpusSettings(minimum_documents=0),
        CorpusSettings(maximum_share=0),
        CorpusSettings(maximum_share=50),
        CorpusSettings(minimum_length=0),
        CorpusSettings(passage_words=1),
    ],
)
def test_settings_out_of_range(settings):
    with pytest.raises(SettingsError):
        build_corpus(documents(["red blue", "blue red"]), settings)


def test_progress_rises_from_0_to_1():
    shares: list[float] = []
    build_corpus(documents(["red blue"] * 2000), PLAIN, lambda _doing, share: shares.append(share))
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1 and len(shares) > 6


class TestFromArrays:
    def test_names_texts_and_copies(self):
        word = np.array([0, 1, 1, 2])
        corpus = corpus_from_arrays(word, [0, 0, 2, 2], [0, 1, 0])
        assert corpus.vocabulary == ("w0", "w1", "w2")
        assert corpus.group_names == ("group 0", "group 1")
        assert corpus.documents.texts == ("w0 w1", "", "w1 w2")
        assert corpus.group_sizes() == {"group 0": 2, "group 1": 1}
        assert corpus.token_word.dtype == np.int32 and not corpus.token_word.flags.writeable
        assert word.flags.writeable
        assert corpus.tokeniser.words(corpus.documents.texts[2]) == ["w1", "w2"]

    def test_given_names(self):
        corpus = corpus_from_arrays([0, 1], [0, 1], [0, 1], ["b", "a", "unused"], ["x", "y"])
        assert corpus.vocabulary == ("b", "a", "unused")
        assert corpus.documents.groups == ("x", "y")

    @pytest.mark.parametrize(
        ("word", "document", "group", "vocabulary"),
        [
            ([0, 1], [0], [0], None),
            ([0, 1], [1, 0], [0, 0], None),
            ([0, 1], [0, 1], [0], None),
            ([0.5], [0], [0], None),
            ([-1], [0], [0], None),
            ([0, 1], [0, 0], [0], ["a"]),
            ([0, 1], [0, 0], [0], ["a", "a"]),
        ],
    )
    def test_what_does_not_fit_is_refused(self, word, document, group, vocabulary):
        with pytest.raises(InputError):
            corpus_from_arrays(word, document, group, vocabulary)


@pytest.mark.parametrize(
    ("name", "groups", "least"),
    [
        ("poliblog5k", {"Conservative": 2852, "Liberal": 2147}, 700_000),
        ("sotu_1945on_chunks", {"Democratic": 2063, "Republican": 1323}, 200_000),
    ],
)
def test_real_corpora_in_a_few_seconds(shared_data, name, groups, least):
    begun = time.perf_counter()
    collection = read_collection([shared_data / name / "documents.jsonl.gz"])
    columns = guess_columns(collection)
    corpus = build_corpus(make_documents(collection, columns))
    assert time.perf_counter() - begun < 5
    check(corpus)
    assert (columns.text, columns.group) == ("text", "group")
    assert corpus.group_sizes() == groups
    assert corpus.n_tokens > least
    assert corpus.settings.language == "en"
    counts = Counter(corpus.tokeniser.words(corpus.documents.texts[0]))
    mine = Counter(corpus.vocabulary[word] for word in corpus.token_word[corpus.token_document == 0])
    assert all(counts[word] == count for word, count in mine.items())
