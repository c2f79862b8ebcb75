"""Rows that are passages of longer documents: which belong together, in what order, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hand_written import PLAIN

from spdp_engine.corpus import Collection, Columns, Corpus, CorpusSettings, build_corpus, make_documents
from spdp_engine.corpus.changes import WordChange, change_words
from spdp_engine.corpus.originals import originals, originals_of
from spdp_engine.corpus.sampling import subset
from spdp_engine.errors import InputError

Read = Callable[..., Collection]

COLUMNS = Columns("text", "party", document="speech")
ROWS = (
    "A,s1,red one",
    "B,s3,red two",
    "A,s2,red three",
    "A, s1 ,red four",
    "B,,red five",
    "B,s1,red six",
    "A,s1,red seven",
    "B,,red eight",
    "B,s3,red nine",
)
"""A speech whose rows do not stand together, one whose name another group has, too, and two rows of no speech."""


def table(rows: tuple[str, ...] = ROWS, header: str = "party,speech,text") -> str:
    return "\n".join([header, *rows]) + "\n"


def told(of: Corpus, kind: str = "passages") -> list[str]:
    return [note.text for note in of.notes if note.kind == kind]


def test_rows_are_numbered_as_their_documents_first_appear() -> None:
    of = originals(["a", "b", "a", "a", "b", "a"], ["x", "x", "", "x", "y", ""])
    assert of.tolist() == [0, 1, 2, 0, 3, 4] and of.dtype == np.int32


def test_rows_of_a_group_with_the_same_value_are_passages_of_one_document(read: Read) -> None:
    documents = make_documents(read("a.csv", table()), COLUMNS)
    corpus = build_corpus(documents, PLAIN)
    said = [text.split()[1] for text in corpus.documents.texts]
    assert said == ["one", "four", "seven", "two", "nine", "three", "five", "six", "eight"]
    assert corpus.origin.tolist() == [0, 0, 0, 1, 1, 2, 3, 4, 5] == originals_of(documents).tolist()
    assert corpus.documents.groups == ("A", "A", "A", "B", "B", "A", "B", "B", "B")
    assert corpus.documents.cells("speech") == ["s1", "s1", "s1", "s3", "s3", "s2", "", "s1", ""]
    assert corpus.told == "9 passages of 6 documents" and corpus.things == "passages"
    assert corpus.group_sizes() == {"A": 4, "B": 5} and corpus.group_originals() == {"A": 2, "B": 4}


def test_what_is_said_of_it(read: Read) -> None:
    corpus = build_corpus(make_documents(read("a.csv", table()), COLUMNS), PLAIN)
    assert told(corpus) == [
        "7 rows are passages of 4 documents, by the column 'speech'; rows of one document, which did not stand together, were put "
        "together in their order.",
        "2 rows had nothing in the column 'speech', and each is a document of its own.",
        "1 value of the column 'speech' was found in more than one group, and stands for a document in each: s1.",
    ]
    assert told(corpus, "group")[0] == "6 documents in 2 groups: A (2) and B (4)."
    assert told(corpus, "built")[0].startswith("9 passages of 6 documents in 2 groups, with")
    few = "2 groups have fewer than 5 documents, so intervals are as if each passage were a document of its own"
    assert told(corpus, "warning")[0].startswith(few)


def test_rows_that_stand_together_stay_where_they_are(read: Read) -> None:
    rows = tuple(f"{'AB'[n // 20]},s{n // 4},red w{n}" for n in range(40))
    corpus = build_corpus(make_documents(read("a.csv", table(rows)), COLUMNS), PLAIN)
    assert told(corpus) == ["40 rows are passages of 10 documents, by the column 'speech'."]
    assert corpus.origin.tolist() == np.repeat(range(10), 4).tolist()
    assert corpus.documents.texts == tuple(row.split(",")[2] for row in rows)
    assert not any("fewer than 5 documents" in text for text in told(corpus, "warning"))


def test_where_no_value_repeats_each_row_is_a_document(read: Read) -> None:
    rows = tuple(f"{'AB'[n % 2]},s{n},red w{n}" for n in range(6))
    corpus = build_corpus(make_documents(read("a.csv", table(rows)), COLUMNS), PLAIN)
    assert corpus.origin.tolist() == list(range(6)) and not corpus.has_passages
    assert told(corpus)[0].startswith("No two rows of a group have the same value in the column 'speech'")
    assert told(corpus, "built")[0].startswith("6 documents in 2 groups")


def test_without_a_group_the_value_decides_alone(read: Read) -> None:
    documents = make_documents(read("a.csv", table()), Columns("text", document="speech"))
    assert originals_of(documents).tolist() == [0, 0, 0, 0, 1, 1, 2, 3, 4]
    assert "party" in documents.fields


def test_the_value_is_the_title_where_there_is_no_other(read: Read) -> None:
    assert make_documents(read("a.csv", table()), COLUMNS).titles[3:7] == ("s3", "s3", "s2", "")
    titled = read("a.csv", "party,speech,title,text\nA,x,first,red one\nA,x,second,red two\n")
    assert make_documents(titled, Columns("text", "party", "title", document="speech")).titles == ("first", "second")


@pytest.mark.parametrize("part", ["title", "date"])
def test_a_title_or_a_date_may_say_of_which_document_a_row_is(read: Read, part: str) -> None:
    columns = Columns("text", "party", **{part: "speech"}, document="speech")
    documents = make_documents(read("a.csv", table()), columns)
    assert originals_of(documents).tolist() == [0, 0, 0, 1, 1, 2, 3, 4, 5]
    assert "speech" not in documents.fields


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (Columns("text", "party", document="party"), "'party' cannot be group and document at once"),
        (Columns("text", "party", document="text"), "'text' cannot be text and document at once"),
        (Columns("text", "party", document="nothing"), "no column 'nothing' for the document"),
        (Columns("text", "party", "speech", "speech", "speech"), "'speech' cannot be title and date at once"),
    ],
)
def test_columns_that_cannot_be(read: Read, columns: Columns, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make_documents(read("a.csv", table()), columns)


def test_long_rows_are_cut_and_stay_passages_of_their_document(read: Read) -> None:
    """Rows 0 and 2 are of one document; each is cut in three."""
    long = " ".join(f"Red word{n} is said here." for n in range(18))
    rows = (f"A,s1,{long}", "A,s2,Red is short.", f"A,s1,Then {long}", "B,s3,Red again.")
    settings = CorpusSettings("none", passages=True, passage_words=30, minimum_documents=1, maximum_share=1.0)
    corpus = build_corpus(make_documents(read("a.csv", table(rows)), COLUMNS), settings)
    assert corpus.origin.tolist() == [0] * 6 + [1, 2]
    assert corpus.documents.texts[3].startswith("Then") and corpus.documents.texts[6:] == (
        "Red is short.",
        "Red again.",
    )
    assert told(corpus) == [
        "4 rows are passages of 3 documents, by the column 'speech'; rows of one document, which did not stand together, were put "
        "together in their order.",
        "2 long documents were cut into 6 passages of about 30 words.",
    ]


def test_a_text_that_is_left_out_leaves_the_others_where_they_belong(read: Read) -> None:
    rows = ("A,s1,the", "A,s1,red blue", "A,s2,and", "A,s3,blue red", "A,s3,red blue", "A,s3,blue")
    corpus = build_corpus(make_documents(read("a.csv", table(rows)), COLUMNS), CorpusSettings("en"))
    assert corpus.origin.tolist() == [0, 2, 2] and told(corpus, "empty") == [
        "2 passages had no word of the vocabulary and were left out."
    ]
    assert told(corpus, "duplicate")[0].startswith("1 row had the same text as an earlier one of the same group")


def test_other_words_and_fewer_documents_leave_rows_where_they_belong(read: Read) -> None:
    documents = make_documents(read("a.csv", table()), COLUMNS)
    corpus = build_corpus(documents, PLAIN)
    without, _ = change_words(corpus, [WordChange("red")])
    again = build_corpus(documents, without.settings)
    assert without.origin.tolist() == again.origin.tolist() == corpus.origin.tolist()
    assert without.notes == again.notes
    fewer, _ = change_words(without, [WordChange("two")])
    assert fewer.origin.tolist() == [0, 0, 0, 1, 2, 3, 4, 5]
    part = subset(corpus, np.array([1, 2, 4, 8]))
    assert part.origin.tolist() == [0, 0, 1, 5] and part.n_originals == 3
