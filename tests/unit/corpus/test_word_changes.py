"""Changed words: the corpus is the same as if it were built from the documents with them, and tokens that stay are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hand_written import PLAIN, documents

from spdp_engine.corpus import (
    Corpus,
    CorpusSettings,
    build_corpus,
    corpus_from_arrays,
    guess_columns,
    make_documents,
    own_texts,
    read_collection,
)
from spdp_engine.corpus.build import make_tokeniser
from spdp_engine.corpus.changes import (
    WordChange,
    change_reference,
    change_words,
    changed_settings,
    vocabulary_word,
    with_change,
)
from spdp_engine.corpus.written import read_joined, read_words, write_joined, write_words
from spdp_engine.errors import InputError


def assert_same(changed: Corpus, built: Corpus) -> None:
    """But for what is told of words that were never kept."""
    assert changed.vocabulary == built.vocabulary
    for name in ("token_word", "token_document", "document_group", "origin"):
        one, other = getattr(changed, name), getattr(built, name)
        assert one.dtype == other.dtype == np.int32 and not one.flags.writeable
        np.testing.assert_array_equal(one, other)
    assert changed.group_names == built.group_names
    assert changed.settings == built.settings
    assert changed.documents.texts == built.documents.texts and changed.documents.titles == built.documents.titles
    assert changed.documents.groups == built.documents.groups
    pd.testing.assert_frame_equal(changed.documents.fields, built.documents.fields)
    assert changed.tokeniser == built.tokeniser
    assert [note for note in changed.notes if note.kind in ("built", "words")] == [
        note for note in built.notes if note.kind in ("built", "words")
    ]
    assert changed.notes == changed.documents.notes


TEXTS = [
    "Tax and taxes: the taxes' rise, say Obama’s men; O'Brien's tax.",
    "Ship, ships and SHIPS in l'harbour — the harbour's tax can't wait",
    "Obama said, obama SAID, “said” Obama's harbour; 日本語の港",
    "said",
    "Rock'n'roll and rock’n’roll: ships said 1,000 times, 1,000 taxes",
]
CHANGES = {
    "a stop word": [WordChange("said")],
    "two words joined": [WordChange("taxes", "tax")],
    "the rarer one stays": [WordChange("tax", "taxes")],
    "three of a kind": [WordChange("ships", "ship"), WordChange("harbour", "ship")],
    "a chain": [WordChange("ships", "ship"), WordChange("ship", "harbour")],
    "left out and joined": [WordChange("said"), WordChange("taxes", "tax"), WordChange("obama")],
    "joined with what is left out": [WordChange("taxes", "tax"), WordChange("tax")],
    "apostrophes": [WordChange("rock'n'roll"), WordChange("can't")],
    "pairs of characters": [WordChange("日本"), WordChange("本語", "港")],
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("settings", [PLAIN, CorpusSettings("en", minimum_length=2)], ids=["every word", "English"])
def test_it_is_what_building_from_the_documents_gives(changes: list[WordChange], settings: CorpusSettings) -> None:
    source = documents(TEXTS * 3, ["b", "a", "b", "c", "a"] * 3)
    before = build_corpus(source, settings)
    there = [one for one in changes if {one.word, one.into or one.word} <= set(before.vocabulary)]
    if not there:
        pytest.skip("none of these words is kept")
    changed, kept = change_words(before, there)
    assert_same(changed, build_corpus(source, changed_settings(settings, there)))
    assert kept.dtype == bool and kept.sum() == changed.n_tokens


@pytest.mark.parametrize("times", [1, 2])
def test_words_do_not_come_back_when_it_is_built_again(times: int) -> None:
    """In whatever case, with whatever apostrophe and ending they are written."""
    source = documents(TEXTS * 3)
    settings = changed_settings(PLAIN, [WordChange("obama"), WordChange("can't"), WordChange("taxes", "tax")])
    for _ in range(times):
        corpus = build_corpus(source, settings)
        settings = replace(corpus.settings, minimum_documents=None)
    assert not {"obama", "obama's", "can't", "taxes"} & set(corpus.vocabulary)
    assert "Obama’s" in source.texts[0] and not {"obama", "taxes"} & set(corpus.tokeniser.words(source.texts[0]))
    assert corpus.tokeniser.words(source.texts[0]).count("tax") == 4
    assert [text[start:end] for text in source.texts[:1] for start, end, word in corpus.tokeniser.spans(text) if word == "tax"] == [
        "Tax", "taxes", "taxes", "tax",
    ]  # fmt: skip


def test_changes_upon_changes() -> None:
    source = documents(TEXTS * 3, ["b", "a", "b", "c", "a"] * 3)
    settings, corpus = PLAIN, build_corpus(source, PLAIN)
    topics = np.arange(corpus.n_tokens)
    for change in (WordChange("said"), WordChange("ships", "ship"), WordChange("ship", "harbour"), WordChange("tax")):
        corpus, kept = change_words(corpus, [change])
        topics, settings = topics[kept], changed_settings(settings, [change])
    assert_same(corpus, build_corpus(source, settings))
    first = build_corpus(source, PLAIN)
    read_as = {"ships": "harbour", "ship": "harbour"}
    mine = [corpus.vocabulary[word] for word in corpus.token_word]
    assert mine == [read_as.get(word, word) for word in (first.vocabulary[first.token_word[token]] for token in topics)]


def test_documents_and_groups_of_which_nothing_is_left_go() -> None:
    source = documents(TEXTS * 3, ["b", "a", "b", "c", "a"] * 3)
    changed, _ = change_words(build_corpus(source, PLAIN), [WordChange("said")])
    assert changed.group_names == ("a", "b") and changed.n_documents == 12
    assert changed.origin.tolist() == [n for n in range(15) if n % 5 != 3]
    told = [note.text for note in changed.notes]
    assert any("3 documents had no word" in text for text in told) and any("any document of c" in text for text in told)


def test_passages_stay_as_they_were_cut() -> None:
    left, right = "The garden has roses and apples. " * 200, "The garden has tulips and pears. " * 200
    source = documents([left, right], ["left", "right"])
    settings = CorpusSettings()
    before = build_corpus(source, settings)
    changes = [WordChange("roses", "tulips")]
    changed, kept = change_words(before, changes)
    assert_same(changed, build_corpus(source, changed_settings(settings, changes)))
    assert kept.all() and changed.origin.tolist() == [0] * 4 + [1] * 4


def test_a_joined_word_is_never_too_common() -> None:
    texts = [f"{'tax' if n % 2 else 'taxes'} word{n % 5} other{n % 7}" for n in range(40)]
    settings = CorpusSettings("none", minimum_documents=1, maximum_share=0.5)
    changes = [WordChange("taxes", "tax")]
    changed, _ = change_words(build_corpus(documents(texts), settings), changes)
    assert changed.vocabulary[0] == "tax" and np.bincount(changed.token_word)[0] == 40
    assert_same(changed, build_corpus(documents(texts), changed_settings(settings, changes)))


class TestPretokenised:
    TEXTS = ("The The AND 12 don't don’t a,b", "<b> x The a,b")

    def test_words_are_taken_as_they_are_written(self) -> None:
        settings = CorpusSettings(pretokenised=True)
        source = documents([*self.TEXTS] * 2)
        changes = [WordChange("a,b"), WordChange("don’t", "don't"), WordChange("The", "<b>")]
        changed, _ = change_words(build_corpus(source, settings), changes)
        assert_same(changed, build_corpus(source, changed_settings(settings, changes)))
        assert set(changed.vocabulary) == {"AND", "12", "don't", "<b>", "x"}

    def test_counted_data_too(self) -> None:
        corpus = corpus_from_arrays(
            [0, 1, 2, 1, 0, 2], [0, 0, 0, 1, 1, 1], [0, 1], ["tax", "taxes", "ship"], ["l", "r"]
        )
        changed, kept = change_words(corpus, [WordChange("taxes", "tax")])
        assert changed.vocabulary == ("tax", "ship") and kept.all()
        assert changed.token_word.tolist() == [0, 0, 1, 0, 0, 1]
        assert changed.tokeniser == make_tokeniser(changed.settings)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([WordChange("Red")], "“Red” is not among the words"),
        ([WordChange("red", "yellow")], "“yellow” is not among the words"),
        ([WordChange("red", "red")], "joined with itself"),
        ([WordChange("red"), WordChange("green")], "1 word would be left"),
        ([WordChange("red", "blue"), WordChange("green", "blue")], "1 word would be left"),
        ([WordChange("red"), WordChange("green"), WordChange("blue")], "0 words would be left"),
    ],
)
def test_what_would_leave_nothing_is_refused(changes: list[WordChange], says: str) -> None:
    corpus = build_corpus(documents(["red blue green", "blue red", "green"]), PLAIN)
    with pytest.raises(InputError, match=says):
        change_words(corpus, changes)


def test_one_document_is_not_enough() -> None:
    corpus = build_corpus(documents(["red blue", "green", "green"]), PLAIN)
    with pytest.raises(InputError, match="Only one document"):
        change_words(corpus, [WordChange("green")])


def test_pending_changes_of_one_word_take_the_place_of_one_another() -> None:
    changes = with_change(with_change((), WordChange("taxes", "tax")), WordChange("said"))
    assert with_change(changes, WordChange("taxes")) == (WordChange("said"), WordChange("taxes"))
    for into, says in (("taxes", "read as “tax”"), ("said", "left out")):
        with pytest.raises(InputError, match=says):
            with_change(changes, WordChange("tax", into))
    with pytest.raises(InputError, match="itself"):
        with_change((), WordChange("tax", "tax"))


def test_words_are_known_however_they_are_typed() -> None:
    corpus = build_corpus(documents(TEXTS * 3), PLAIN)
    for typed, word in (("Taxes", "taxes"), (" tax ", "tax"), ("Obama’s", "obama"), ("ROCK’N’ROLL", "rock'n'roll")):
        assert vocabulary_word(corpus, typed) == word
    for typed in ("taxation", "tax ship", "", "?"):
        with pytest.raises(InputError, match="not among the words"):
            vocabulary_word(corpus, typed)
    joined, _ = change_words(corpus, [WordChange("taxes", "tax")])
    assert vocabulary_word(joined, "Taxes") == "tax"


def test_a_reference_goes_with_the_words() -> None:
    corpus = build_corpus(documents(TEXTS * 3), PLAIN)
    changed, _ = change_words(corpus, [WordChange("said"), WordChange("taxes", "tax")])
    reference = change_reference(own_texts(corpus), corpus, changed)
    expected = own_texts(changed)
    assert reference.vocabulary == expected.vocabulary and reference.documents == expected.documents
    np.testing.assert_array_equal(reference.token_word, expected.token_word)
    assert len(reference.token_document) == len(reference.token_word)


@pytest.mark.parametrize("name", ["bitterlemons", "un_general_debate_2017"])
def test_real_collections(shared_data, name) -> None:
    collection = read_collection([shared_data / name / "documents.jsonl.gz"])
    source = make_documents(collection, guess_columns(collection))
    settings = CorpusSettings()
    before = build_corpus(source, settings)
    rng = np.random.default_rng(2)
    words = rng.choice(before.vocabulary, 40, replace=False).tolist()
    changes = [WordChange(word) for word in words[:20]]
    changes += [WordChange(one, other) for one, other in zip(words[20:30], words[30:], strict=True)]
    changed, kept = change_words(before, changes)
    assert_same(changed, build_corpus(source, changed_settings(settings, changes)))
    assert kept.mean() > 0.9


class TestWritten:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("said, told", ("said", "told")),
            ("said,told\n\n new york ,", ("said", "told", "new york")),
            ("1,000, said", ("1,000", "said")),
            ("2,000", ("2", "000")),
            ("said, said", ("said",)),
            ("", ()),
        ],
    )
    def test_lists_of_words(self, text: str, words: tuple[str, ...]) -> None:
        assert read_words(text, ("1,000",)) == words
        assert read_words(write_words(words), words) == words

    @pytest.mark.parametrize(
        ("text", "rows"),
        [
            ("tax = taxes", (("tax", "taxes"),)),
            ("tax=taxes = Taxation\n\nship =\n= \nship=ships", (("tax", "taxes", "Taxation"), ("ship", "ships"))),
            ("a=b = c", (("a=b", "c"),)),
            ("", ()),
        ],
    )
    def test_words_that_are_read_as_one(self, text: str, rows: tuple[tuple[str, ...], ...]) -> None:
        assert read_joined(text, (("a=b", "c"),)) == rows
        assert read_joined(write_joined(rows), rows) == rows
