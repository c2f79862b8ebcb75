"""Texts in which words are looked for, in the words of a corpus."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from spdp_engine.corpus import Columns, Corpus, CorpusSettings, InputFile, build_corpus, make_documents, read_collection
from spdp_engine.corpus.reference import OWN_TEXTS, Reference, own_texts, read_reference
from spdp_engine.errors import InputError

ROWS = "text,group\nThe tax and the levy,Left\nHealth care is a tax,Right\nA levy for health,Right\n"


def corpus(**settings) -> Corpus:
    collection = read_collection([InputFile("docs.csv", data=ROWS.encode())])
    documents = make_documents(collection, Columns("text", "group"))
    return build_corpus(documents, CorpusSettings(language="en", passages=False, **settings))


CORPUS = corpus()


def reference(contents: str | bytes, name: str = "wiki.txt", **arguments) -> Reference:
    data = contents.encode() if isinstance(contents, str) else contents
    return read_reference(InputFile(name, data=data), CORPUS, **arguments)


def words_of(read: Reference) -> list[list[str]]:
    """The words of each document."""
    return [
        [read.vocabulary[word] for word in read.token_word[read.token_document == document]]
        for document in np.unique(read.token_document)
    ]


def notes(read: Reference, kind: str) -> list[str]:
    return [note.text for note in read.notes if note.kind == kind]


def test_a_text_file_is_one_document_cut_as_the_corpus_is():
    read = reference("\ufeffTaxes? No: <b>TAX</b>, and the levies' levy.\n\nOf tax health’s zebra care")
    assert words_of(read) == [["tax", "levy", "tax", "health", "care"]]
    assert (read.name, read.documents, read.vocabulary) == ("wiki.txt", 1, CORPUS.vocabulary)
    assert read.token_word.dtype == read.token_document.dtype == np.int32
    assert notes(read, "read") == ["1 document with 5 words of the vocabulary was read from wiki.txt."]


def test_rows_of_a_table_are_documents():
    text = "id,body\n1,tax for a zebra and a levy\n2,\n3,zebras of the zoo are fine\n4,care about health\n5,care about health\n"
    read = reference(text, "wiki.csv")
    assert words_of(read) == [["tax", "levy"], ["care", "health"]]
    assert read.documents == 2
    assert read.sources[0].documents == 4
    assert read.sources[0].sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert notes(read, "columns") == ["The texts of wiki.csv were taken from its column 'body'."]
    assert notes(read, "duplicate") == ["1 text of wiki.csv was the same as an earlier one and left out."]


def test_a_table_may_have_one_column():
    assert words_of(reference("text\ntax and levy are two things\ncare about health and care\n", "wiki.csv")) == [
        ["tax", "levy"],
        ["care", "health", "care"],
    ]


def test_json_lines_packed_and_a_column_that_is_named():
    lines = [{"long": "zebra " * 30, "short": "tax levy"}, {"long": "zoo " * 30, "short": "health care"}]
    packed = gzip.compress("\n".join(map(json.dumps, lines)).encode())
    read = reference(packed, "wiki.jsonl.gz", column="short")
    assert words_of(read) == [["tax", "levy"], ["health", "care"]]
    assert not notes(read, "columns")
    with pytest.raises(InputError, match=r"wiki.jsonl.gz has no column 'body'; its columns are long and short"):
        reference(packed, "wiki.jsonl.gz", column="body")


def test_several_files_and_archives(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "tax levy")
        archive.writestr("b.json", "no JSON")
        archive.writestr("c.csv", "text\nhealth care and tax\n")
    (tmp_path / "d.txt").write_text("care")
    told: list[tuple[str, float]] = []
    read = read_reference(
        [InputFile("all.zip", data=buffer.getvalue()), tmp_path / "d.txt"],
        CORPUS,
        progress=lambda doing, done: told.append((doing, done)),
    )
    assert words_of(read) == [["tax", "levy"], ["health", "care", "tax"], ["care"]]
    assert read.name == "all.zip and d.txt"
    assert [source.documents for source in read.sources] == [2, 1]
    assert len(notes(read, "dropped")) == 1 and "b.json" in notes(read, "dropped")[0]
    assert [done for _, done in told] == sorted(done for _, done in told)
    assert told[-1] == ("Done", 1.0)


@pytest.mark.parametrize(
    ("contents", "why"), [("zebras in the zoo", "holds no word of the vocabulary"), (" \n", "is empty")]
)
def test_a_reference_without_the_words_is_refused(contents, why):
    with pytest.raises(InputError, match=f"wiki.txt {why}"):
        reference(contents)


def test_what_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(InputError, match="There is no file or folder"):
        read_reference(tmp_path / "absent.txt", CORPUS)
    with pytest.raises(InputError, match="of a kind that cannot be read"):
        reference("tax", "wiki.odt")
    with pytest.raises(InputError, match="No file was given"):
        read_reference([], CORPUS)
    (tmp_path / "only.json").write_text("no JSON")
    with pytest.raises(InputError, match=r"only.json is not JSON"):
        read_reference(tmp_path, CORPUS)


def test_words_cut_before_are_taken_as_they_stand():
    before = corpus(pretokenised=True)
    read = read_reference(InputFile("wiki.txt", data=b"tax Tax, levy the Health"), before)
    assert words_of(read) == [["tax", "levy", "the", "Health"]]


def test_the_corpus_is_its_own_reference():
    own = own_texts(CORPUS)
    assert own.name == OWN_TEXTS
    assert own.token_word is CORPUS.token_word and own.token_document is CORPUS.token_document
    assert (own.documents, own.vocabulary) == (CORPUS.n_documents, CORPUS.vocabulary)
