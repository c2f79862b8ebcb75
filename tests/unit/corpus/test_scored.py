"""A second file whose words are scored: matched to documents by id, and never part of the corpus."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import numpy as np
import pytest

from spdp_engine.corpus import (
    Collection,
    Columns,
    Corpus,
    CorpusSettings,
    Scored,
    build_corpus,
    make_documents,
    match_scored,
)
from spdp_engine.errors import InputError

TRAINING = """id,group,title,text
a1,left,First,tax levy tax
a2,right,Second,care health
a3,left,Third,tax care care
"""
SETTINGS = CorpusSettings(pretokenised=True, passages=False)

Read = Callable[..., Collection]


@pytest.fixture
def training(read: Read) -> Collection:
    return read("train.csv", TRAINING)


def corpus_of(training: Collection, settings: CorpusSettings = SETTINGS, title: str | None = "title") -> Corpus:
    return build_corpus(make_documents(training, Columns("text", "group", title)), settings)


@pytest.fixture
def score(read: Read, training: Collection) -> Callable[..., Scored]:
    """What is scored of rows under the header id,text (or another)."""

    def scorer(rows: str, header: str = "id,text", id_column: str = "id", name: str = "held.csv") -> Scored:
        return match_scored(read(name, f"{header}\n{rows}"), id_column, training, corpus_of(training))

    return scorer


def words_of(scored: Scored, corpus: Corpus) -> list[tuple[str, str]]:
    """(title of the document, word) of each scored token."""
    tokens = scored.tokens
    return [
        (corpus.documents.titles[document], corpus.vocabulary[word])
        for word, document in zip(tokens.token_word.tolist(), tokens.token_document.tolist(), strict=True)
    ]


def texts(scored: Scored, kind: str) -> list[str]:
    return [note.text for note in scored.notes if note.kind == kind]


def test_words_go_to_the_documents_of_their_ids(score: Callable[..., Scored], training: Collection) -> None:
    corpus = corpus_of(training)
    scored = score("a3,levy tax\na1,care\n")
    assert words_of(scored, corpus) == [("First", "care"), ("Third", "levy"), ("Third", "tax")]
    assert (scored.n_tokens, scored.documents, scored.unscored_tokens, scored.unscored_rows) == (3, 2, 0, 0)
    assert scored.tokens.token_word.dtype == scored.tokens.token_document.dtype == np.int32
    assert texts(scored, "built") == ["3 tokens of 2 documents, from held.csv, are scored and never trained on."]
    assert texts(scored, "dropped") == texts(scored, "empty") == []
    assert scored.sources[0].name == "held.csv" and scored.id_column == "id"


def test_the_corpus_is_what_it_was_without_the_file(training: Collection, read: Read) -> None:
    corpus, alone = corpus_of(training), corpus_of(training)
    match_scored(read("held.csv", "id,text\na1,care tax new\n"), "id", training, corpus)
    assert corpus.vocabulary == alone.vocabulary
    assert np.array_equal(corpus.token_word, alone.token_word)


def test_what_is_scored_cannot_be_changed(score: Callable[..., Scored]) -> None:
    scored = score("a1,care\n")
    with pytest.raises(dataclasses.FrozenInstanceError):
        scored.documents = 2  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        scored.tokens.token_word[0] = 1


def test_several_rows_of_a_document_and_repeated_texts_all_count(score: Callable[..., Scored]) -> None:
    scored = score("a1,care\na1,care\na2,care\n")
    assert scored.tokens.token_document.tolist() == [0, 0, 1]


def test_groups_and_other_columns_of_the_file_do_not_matter(score: Callable[..., Scored], training: Collection) -> None:
    scored = score("x,a1,nobody,care\n", header="more,id,group,text")
    assert words_of(scored, corpus_of(training)) == [("First", "care")]


def test_words_outside_the_vocabulary_are_counted(score: Callable[..., Scored]) -> None:
    scored = score("a1,care new odd new\na2,tax\n")
    assert (scored.n_tokens, scored.unscored_tokens) == (2, 3)
    assert texts(scored, "dropped") == [
        "3 tokens of held.csv were not scored, because they are of 2 words outside the vocabulary: new and odd."
    ]


def test_one_word_outside_the_vocabulary(score: Callable[..., Scored]) -> None:
    assert texts(score("a1,care new\n"), "dropped") == [
        "1 token of held.csv was not scored, because it is of a word outside the vocabulary: new."
    ]


def test_rows_that_belong_to_no_document_are_counted(score: Callable[..., Scored]) -> None:
    scored = score('a1,care\n,tax\nzz,tax\nyy,tax\na2,\na3,""\n')
    assert (scored.n_tokens, scored.unscored_rows, scored.unscored_tokens) == (1, 5, 0)
    assert texts(scored, "dropped") == [
        "1 row of held.csv had no id in the column 'id' and was not scored (first: row 3 of held.csv).",
        "2 rows of held.csv had an id that is not in the training file and were not scored (first: row 4 of held.csv).",
    ]
    assert texts(scored, "empty") == ["2 rows of held.csv had no text and were not scored (first: row 6 of held.csv)."]


def test_documents_left_out_of_training_are_told_from_unknown_ids(read: Read) -> None:
    """One is a copy of an earlier one, one has only words that are too rare, one has no text."""
    rows = [f"b{number},left,tax levy care{number % 2}" for number in range(2)]
    training = read(
        "train.csv", "\n".join(["id,group,text", *rows, "copy,left,tax levy care0", "rare,left,unheard", "bare,left,"])
    )
    corpus = corpus_of(training, CorpusSettings(language="none", minimum_documents=2, passages=False), None)
    left_out = {"copy", "rare", "bare"}
    assert corpus.documents.fields["id"].tolist() == ["b0", "b1"]
    held = read("held.csv", "id,text\n" + "".join(f"{one},tax\n" for one in ("b0", *left_out, "nobody")))
    scored = match_scored(held, "id", training, corpus)
    assert (scored.n_tokens, scored.unscored_rows) == (1, len(left_out) + 1)
    (empty,) = texts(scored, "empty")
    assert f"{len(left_out)} rows of held.csv had the id of a document that was left out of training" in empty
    (dropped,) = texts(scored, "dropped")
    assert dropped.startswith("1 row of held.csv had an id that is not in the training file")


def test_ids_are_compared_but_for_white_space_and_across_kinds_of_files(read: Read) -> None:
    training = read(
        "train.jsonl",
        '{"id": 7, "group": "g", "text": "tax levy"}\n{"id": "two  words", "group": "g", "text": "tax care"}',
    )
    corpus = corpus_of(training, title=None)
    scored = match_scored(read("held.csv", "id,text\n 7 ,levy\ntwo words,tax\n"), "id", training, corpus)
    assert scored.tokens.token_document.tolist() == [0, 1]


@pytest.mark.parametrize("column", ["title", "date"])
def test_a_column_that_plays_a_part_may_be_the_id(column: str, read: Read) -> None:
    training = read("train.csv", f"{column},group,text\nMonday,left,tax levy\nTuesday,right,tax care\n")
    corpus = build_corpus(make_documents(training, Columns("text", "group", **{column: column})), SETTINGS)
    scored = match_scored(read("held.csv", f"{column},text\nTuesday,levy\n"), column, training, corpus)
    assert scored.tokens.token_document.tolist() == [1]


def test_words_are_found_by_the_tokeniser_of_the_corpus(read: Read) -> None:
    rows = "".join(f"{number},left,The harbours and ships {number}\n" for number in range(4))
    training = read("train.csv", f"id,group,text\n{rows}")
    corpus = corpus_of(
        training, CorpusSettings(language="en", minimum_documents=1, maximum_share=1.0, passages=False), None
    )
    held = read("held.csv", 'id,text\n2,"The <b>Harbours</b>, the SHIPS!"\n')
    scored = match_scored(held, "id", training, corpus)
    found = [corpus.vocabulary[word] for word in scored.tokens.token_word]
    assert found == corpus.tokeniser.words("The <b>Harbours</b>, the SHIPS!") == ["harbours", "ships"]
    assert scored.unscored_tokens == 0


def test_together_with_training_words_they_are_the_whole(read: Read) -> None:
    """A corpus split into two files is trained on and scored to the last token."""
    rng = np.random.default_rng(5)
    whole = [rng.choice(["tax", "levy", "care", "health", "wall"], 12).tolist() for _ in range(30)]
    first = "".join(f"{number},g{number % 3},{' '.join(words[:7])} own{number}\n" for number, words in enumerate(whole))
    second = "".join(f"{number},{' '.join(words[7:])}\n" for number, words in enumerate(whole))
    training = read("train.csv", f"id,group,text\n{first}")
    corpus = corpus_of(training, title=None)
    scored = match_scored(read("held.csv", f"id,text\n{second}"), "id", training, corpus)
    assert scored.n_tokens == 30 * 5 and corpus.n_tokens == 30 * 8
    for number, words in enumerate(whole):
        own = scored.tokens.token_word[scored.tokens.token_document == number]
        assert [corpus.vocabulary[word] for word in own] == words[7:]


# --- what cannot be done

BAD: dict[str, tuple[str, str, str, str]] = {
    "no id column in the file": ("number,text", "1,tax\n", "id", "held.csv has no column 'id' for the id"),
    "no text column in the file": ("id,words", "a1,tax\n", "id", "held.csv has no column 'text' for the text"),
    "no id column in training": ("who,text", "a1,tax\n", "who", "no column 'who' for the id in the training file"),
    "the text as id": ("id,text", "a1,tax\n", "text", "cannot be text and id at once"),
    "groups as ids": ("group,text", "left,tax\n", "group", "does not tell the documents of the training file apart"),
    "unknown ids alone": (
        "id,text",
        "b1,tax\nb2,tax\n",
        "id",
        "only 2 rows with an id that is not in the training file",
    ),
    "no ids": ("id,text", ",tax\n", "id", "only 1 row without an id"),
    "new words alone": ("id,text", "a1,new\n", "id", "only 1 token outside the vocabulary"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_scored(name: str, score: Callable[..., Scored]) -> None:
    header, rows, column, sentence = BAD[name]
    with pytest.raises(InputError, match=re.escape(sentence)) as refused:
        score(rows, header, column)
    assert str(refused.value).endswith(".")


def test_nothing_left_names_every_reason(score: Callable[..., Scored]) -> None:
    with pytest.raises(
        InputError, match="1 row without an id, 2 rows with an id that is not in the training file and 3 tokens"
    ):
        score(",tax\nx,tax\ny,tax\na1,new odd new\n")


def test_an_id_of_two_documents_is_refused(read: Read) -> None:
    training = read("train.csv", "id,group,text\n1,left,tax levy\n1,left,tax care\n2,left,care levy\n")
    with pytest.raises(InputError, match=r"1 id was found in more than one \(1\)"):
        match_scored(read("held.csv", "id,text\n2,tax\n"), "id", training, corpus_of(training, title=None))


def test_documents_without_ids_are_trained_on_all_the_same(read: Read) -> None:
    training = read("train.csv", "id,group,text\n,left,tax levy\n,left,tax care\n2,left,care levy\n")
    scored = match_scored(read("held.csv", "id,text\n2,tax\n"), "id", training, corpus_of(training, title=None))
    assert scored.tokens.token_document.tolist() == [2]
    with pytest.raises(InputError, match="No document of the training file has an id"):
        bare = read("train.csv", "id,group,text\n,left,tax levy\n,left,tax care\n")
        match_scored(read("held.csv", "id,text\n2,tax\n"), "id", bare, corpus_of(bare, title=None))


def test_passages_are_refused_and_the_remedy_is_named(read: Read) -> None:
    text = "Taxes are levied on care. Health is cared for. " * 20
    training = read("train.csv", f"id,group,text\n1,left,{text}\n2,right,{text} more\n")
    corpus = corpus_of(
        training, CorpusSettings(language="none", passages=True, passage_words=50, maximum_share=1.0), None
    )
    assert corpus.n_documents > 2
    with pytest.raises(InputError, match="2 long documents were cut into passages; give --no-passages"):
        match_scored(read("held.csv", "id,text\n1,taxes\n"), "id", training, corpus)


def test_passages_that_cut_nothing_are_whole_documents(read: Read) -> None:
    training = read("train.csv", TRAINING)
    corpus = corpus_of(training, CorpusSettings(pretokenised=True))
    assert corpus.settings.passages
    assert match_scored(read("held.csv", "id,text\na1,tax\n"), "id", training, corpus).n_tokens == 1


# --- rows that are passages of one document

PASSAGES = """id,speech,group,text
a1,s1,left,tax levy tax
a2,s2,right,care health
a3,s1,left,tax care care
"""


def passages_of(read: Read, settings: CorpusSettings = SETTINGS) -> tuple[Collection, Corpus]:
    training = read("train.csv", PASSAGES)
    return training, build_corpus(make_documents(training, Columns("text", "group", document="speech")), settings)


def test_words_go_to_the_rows_of_a_document_that_their_ids_tell(read: Read) -> None:
    training, corpus = passages_of(read)
    assert corpus.origin.tolist() == [0, 0, 1]
    scored = match_scored(read("held.csv", "id,text\na3,levy\na2,tax\n"), "id", training, corpus)
    assert [(corpus.documents.texts[d], corpus.vocabulary[w]) for w, d in zip(*scored_arrays(scored), strict=True)] == [
        ("tax care care", "levy"), ("care health", "tax"),
    ]  # fmt: skip


def scored_arrays(scored: Scored) -> tuple[list[int], list[int]]:
    return scored.tokens.token_word.tolist(), scored.tokens.token_document.tolist()


def test_the_column_of_documents_does_not_tell_rows_apart(read: Read) -> None:
    training, corpus = passages_of(read)
    with pytest.raises(InputError, match=r"'speech' says which rows are passages.*choose another one with --id"):
        match_scored(read("held.csv", "speech,text\ns1,levy\n"), "speech", training, corpus)


def test_rows_of_a_document_that_were_cut_are_refused(read: Read) -> None:
    long = " ".join(f"tax{n} levy" for n in range(30))
    training = read("train.csv", f"{PASSAGES}a4,s2,right,{long}\n,s2,right,tax\n,s2,right,levy\n")
    settings = CorpusSettings("none", minimum_documents=1, maximum_share=1.0, passages=True, passage_words=20)
    corpus = build_corpus(make_documents(training, Columns("text", "group", document="speech")), settings)
    with pytest.raises(InputError, match=r"1 long document was cut into passages; give --no-passages"):
        match_scored(read("held.csv", "id,text\na1,levy\n"), "id", training, corpus)
