"""Words in their contexts: the right places, marked and cut as a reader expects, in the order of what they tell."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from planted import ALL_WORDS, belonging_of, corpus_of

from spdp_engine.corpus import Corpus
from spdp_engine.topics.context import Context, ContextReader
from spdp_engine.topics.excerpt import Pieces

FAR = 10_000
"""Characters that reach over every text here."""


def reader_of(corpus: Corpus, topics: int = 2, **topic_of: int) -> ContextReader:
    return ContextReader(belonging_of(corpus, topic_of, np.full((corpus.n_documents, topics), 1 / topics).tolist()))


def plain(pieces: Pieces) -> str:
    return "".join(text for text, _ in pieces)


def marked(pieces: Pieces) -> list[str]:
    return [text for text, mark in pieces if mark]


def whole(context: Context) -> str:
    return plain(context.before) + context.word + plain(context.after)


MESSY = {
    "accents, composed and not": "L’été arrive; l'e\u0301te\u0301 passe. ÉTÉ!",
    "apostrophes of every kind": "don't Don’t DON‘T don´t — the boss’s dons",
    "words at both ends": "harbour and ship and harbour",
    "a word alone": "harbour",
    "right to left": "الميناء والسفينة في الميناء، قال البحار: «الميناء!»",
    "right to left, with marks": "בְּרֵאשִׁית בָּרָא אֱלֹהִים ברא",
    "both ways": "The word ميناء means harbour; ميناء again.",
    "without spaces": "東京都に住む。東京は大きい。カタカナー東京",
    "emoji and joiners": "ship 👩‍👩‍👧 ship🏽 ship\u200bped naïve\u00adté ship",
    "entities": "caf&eacute; and café, Q&amp;A, caf&eacute;!",
    "tags": "<b>ship</b> and <script>ship()</script> ship <i class='ship'>x</i>",
    "white space": "ship\n\n\tship  \r\nship\u00a0ship",
    "numbers and addresses": "3,000 ships; ship 3,000. http://ship.example/ship ship@ship.example ship",
    "astral letters": "𝔰𝔥𝔦𝔭 ship 𐐷𐐲𐑊 ship",
    "marks without letters": "\u0301\u0301 ship \u0301 ship",
}


@pytest.mark.parametrize("text", MESSY.values(), ids=MESSY)
def test_every_use_is_the_word_and_its_surroundings_are_the_text(text: str) -> None:
    corpus = corpus_of([text, "another document with 東京 in it"])
    reader = reader_of(corpus)
    for number, word in enumerate(corpus.vocabulary):
        uses = reader.uses(word, 0, 0)
        assert len(uses) == int((corpus.token_word == number).sum()) == len(reader.read(uses, 0, FAR, FAR))
        places = set()
        for context in reader.read(uses, 0, FAR, FAR):
            if context.document == 0:
                assert re.sub(r"\s+", " ", text) == whole(context)
                assert context.begins and context.ends
                assert word in corpus.tokeniser.words(context.word) or "&" in context.word
                places.add(len(plain(context.before)))
        assert len(places) == sum(document == 0 for document in uses.documents), "each use is another place"


def test_the_topics_other_words_are_marked_and_no_others() -> None:
    corpus = corpus_of(["the ship left the harbour with cargo for a school", "school"])
    reader = reader_of(corpus, ship=0, harbour=0, cargo=0, school=1)
    (context,) = reader.read(reader.uses("harbour", 0, 0))
    assert marked(context.before) == ["ship"] and marked(context.after) == ["cargo"]
    (context,) = reader.read(reader.uses("harbour", 1, 0))
    assert marked(context.before) == [] and marked(context.after) == ["school"]


def test_words_that_are_read_as_one_are_found_as_they_are_written() -> None:
    corpus = corpus_of(
        ["the union, two unions, a Union"] * 2 + ["a union"],
        settings=replace(ALL_WORDS, joined_words=(("union", "unions"),)),
    )
    reader = reader_of(corpus)
    uses = reader.uses("union", 0, 0)
    assert [context.word for context in reader.read(uses)[:3]] == ["union", "union", "union"]
    assert sorted(context.word for context in reader.read(uses)) == ["Union"] * 2 + ["union"] * 3 + ["unions"] * 2
    assert not len(reader.uses("unions", 0, 0))


def test_contexts_end_between_words() -> None:
    words = [f"word{number}" for number in range(60)]
    corpus = corpus_of([" ".join(words), "other"])
    reader = reader_of(corpus)
    (context,) = reader.read(reader.uses("word30", 0, 0), characters=40)
    assert not context.begins and not context.ends
    assert set(plain(context.before).split()) | set(plain(context.after).split()) <= set(words)
    assert 20 <= len(plain(context.before)) <= 40 and 20 <= len(plain(context.after)) <= 40
    (first,) = reader.read(reader.uses("word0", 0, 0), characters=40)
    (last,) = reader.read(reader.uses("word59", 0, 0), characters=40)
    assert first.begins and not plain(first.before) and not first.ends
    assert last.ends and not plain(last.after) and not last.begins


@pytest.mark.parametrize("unit", ["か\u3099", "👩🏽", "👩\u200d👧", "e\u0301\u0323"])
def test_what_has_no_spaces_is_never_cut_within_a_character(unit: str) -> None:
    corpus = corpus_of([f"{unit * 100} ship {unit * 100}", "ship sea"])
    reader = reader_of(corpus)
    for characters in range(30, 40):
        context = next(
            one for one in reader.read(reader.uses("ship", 0, 0), characters=characters) if one.document == 0
        )
        for side in (plain(context.before), plain(context.after)):
            assert side.strip()
            assert not unicodedata.category(side.strip()[0]).startswith("M") and len(side.strip()) % len(unit) == 0


def test_the_most_telling_come_first_and_no_document_fills_the_list() -> None:
    """Document 0 says the word five times; documents 1 and 2 once each. The share of the topic falls from 0 to 3."""
    corpus = corpus_of(["ship " * 5, "ship", "ship sea", "ship"])
    shares = [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.001, 0.999]]
    reader = ContextReader(belonging_of(corpus, {"ship": 0}, shares))
    uses = reader.uses("ship", 0, 0)
    assert uses.documents.tolist() == [0, 1, 2, 0, 0, 0, 0, 3]
    assert uses.nth.tolist()[:6] == [0, 0, 0, 1, 2, 3]
    assert (uses.on_topic, uses.n_documents, len(uses)) == (7, 4, 8)
    last = reader.read(uses, 7)[0]
    assert last.topic == 1 and last.probability < 0.5, "in that document the word is of the other topic"
    assert [context.document for context in reader.read(uses, 2, 3)] == [2, 0, 0]


def test_passages_of_one_document_are_one_document() -> None:
    corpus = corpus_of(["ship one", "ship two", "ship three"])
    corpus = replace(corpus, origin=np.array([0, 0, 1], np.int32))
    reader = ContextReader(belonging_of(corpus, {"ship": 0}, [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]))
    uses = reader.uses("ship", 0, 0)
    assert uses.documents.tolist() == [0, 2, 1] and uses.n_documents == 2


def test_groups_are_apart_and_a_word_that_one_never_uses_is_used_nowhere() -> None:
    corpus = corpus_of(["ship sea", "sea", "ship"], ["left", "right", "left"])
    reader = reader_of(corpus)
    assert [len(reader.uses("ship", 0, group)) for group in (0, 1)] == [2, 0]
    assert reader.read(reader.uses("ship", 0, 1)) == ()
    assert reader.uses("ship", 0, 1).n_documents == 0
    assert len(reader.uses("no such word", 0, 0)) == 0
