"""Files of associations, read and matched to a corpus."""

from __future__ import annotations

import codecs
import dataclasses
import gzip
import hashlib
import io
import zipfile

import numpy as np
import pytest

from spdp_engine.corpus import (
    AssociationTable,
    CorpusSettings,
    InputFile,
    build_corpus,
    corpus_from_arrays,
    guess_columns,
    make_documents,
    match_associations,
    read_associations,
)
from spdp_engine.errors import InputError, SettingsError

HEADER = "group,word,base word,weight\n"
VOCABULARY = ["tax", "levy", "health", "care", "Wall"]
GROUPS = ["Left", "Far Right"]


def table_of(contents: str | bytes, name: str = "links.csv") -> AssociationTable:
    return read_associations(InputFile(name, data=contents.encode() if isinstance(contents, str) else contents))


def corpus(left=(0, 1, 2, 3, 4), right=(0, 1, 2, 3, 4)):
    """Two documents, one of each group; words and groups are those above."""
    return corpus_from_arrays([*left, *right], [0] * len(left) + [1] * len(right), [0, 1], VOCABULARY, GROUPS)


def matched(rows: str, **words):
    """P [I, V, V] and the notes of these rows under the header."""
    table = table_of(HEADER + rows)
    matrices, notes = match_associations(table, corpus(**words))
    assert notes[: len(table.notes)] == table.notes
    return np.stack([matrices.dense(i) for i in range(2)]), notes


def texts(notes, kind):
    return [note.text for note in notes if note.kind == kind]


IDENTITY = np.eye(5)
KEPT = "*,tax,tax,1\n*,levy,tax,3\n*,levy,levy,1\n"
"""In every group the base word tax leads to tax and levy."""


def test_a_table_is_what_the_file_says():
    table = table_of(HEADER + " Left , tax,levy ,0.5\n*,care,health,2e3\n")
    assert table.name == "links.csv"
    assert len(table) == 2
    assert (table.groups, table.words, table.base_words) == (("Left", "*"), ("tax", "care"), ("levy", "health"))
    assert table.weights.tolist() == [0.5, 2000.0]
    assert table.weights.dtype == np.float64
    assert table.numbers.tolist() == [2, 3]
    assert [(note.kind, note.text, note.count) for note in table.notes] == [
        ("read", "2 associations were read from links.csv.", 2)
    ]


def test_a_table_is_frozen():
    table = table_of(HEADER + KEPT)
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.name = "other.csv"


@pytest.mark.parametrize(
    "header",
    [
        "group,word,base word,weight",
        "Group,Word,Base Word,Weight",
        "GROUP,WORD,BASE_WORD,WEIGHT",
        "group,word,base-word,weight",
        "group, word ,base,weight",
        '"group","word","baseword","weight"',
    ],
)
def test_columns_by_their_names_in_any_spelling(header):
    table = table_of(header + "\nLeft,tax,levy,2\n")
    assert (table.groups, table.words, table.base_words) == (("Left",), ("tax",), ("levy",))


def test_columns_in_any_order_among_others():
    table = table_of("weight;remark;base word;group;word;\n2;so;levy;*;tax;\n1;;care;*;health;\n")
    assert (table.words, table.base_words) == (("tax", "health"), ("levy", "care"))
    assert texts(table.notes, "columns") == ["1 other column of links.csv was passed over: remark."]


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("cp1252", b"")],
)
def test_encodings(encoding, mark):
    table = table_of(mark + (HEADER + "Süd,Bürger,Größe,1\n").encode(encoding))
    assert (table.groups, table.words, table.base_words) == (("Süd",), ("Bürger",), ("Größe",))
    assert len(texts(table.notes, "encoding")) == (encoding == "cp1252")


@pytest.mark.parametrize("name", ["links.tsv", "links.csv", "LINKS.TAB"])
def test_tabs(name):
    table = table_of("group\tword\tbase word\tweight\n*\ta, b\tc\t1\n", name)
    assert table.words == ("a, b",)


def test_gzip_by_path_is_hashed_as_it_was_given(tmp_path):
    packed = gzip.compress((HEADER + KEPT).encode())
    path = tmp_path / "links.csv.gz"
    path.write_bytes(packed)
    for table in (read_associations(path), read_associations(str(path)), table_of(packed, "links.csv.gz")):
        assert (table.name, len(table)) == ("links.csv.gz", 3)
        assert table.sha256 == hashlib.sha256(packed).hexdigest()


def test_an_archive_of_one_table_is_that_table():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("inside/links.csv", HEADER + KEPT)
    table = table_of(buffer.getvalue(), "all.zip")
    assert (table.name, len(table)) == ("all.zip/inside/links.csv", 3)
    assert table.sha256 == hashlib.sha256(buffer.getvalue()).hexdigest()


def test_rows_with_too_many_cells_are_told():
    table = table_of(HEADER + "*,tax,tax,1\n*,levy,tax,0,5\n*,levy,levy,1\n")
    assert len(table) == 2
    assert table.numbers.tolist() == [2, 4]
    assert texts(table.notes, "dropped") == [
        "1 row of links.csv had more cells than there are columns and was left out (row 3)."
    ]


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        ("", "links.csv is empty"),
        (HEADER, "links.csv has column names but no rows"),
        (b"PK\x03\x04\0\0", "links.csv is not a text file but a zip archive, an Excel (.xlsx)"),
        (
            "Left,tax,levy,1\nRight,tax,health,2\n",
            "links.csv needs a first row that names the columns group, word, base word and weight, in any order, but none "
            "of its columns is called group or word or base word or weight; its columns are column 1, column 2, column 3 "
            "and column 4.",
        ),
        (
            "group,word,weight\n*,tax,1\n",
            "none of its columns is called base word; its columns are group, word and weight.",
        ),
        (
            "group,base,word,base word,weight\n*,tax,tax,tax,1\n",
            "links.csv has two columns for the base word, 'base' and 'base word'; leave one of them out.",
        ),
        (HEADER + KEPT + ",tax,levy,1\n", "Row 5 of links.csv has no group"),
        (HEADER + "\n  ,tax,levy,1\n", "Row 3 of links.csv has no group"),
        (HEADER + ",tax,levy,1\n", "write one, or * for every group, or leave the row out."),
        (HEADER + "*,,levy,1\n", "Row 2 of links.csv has no word"),
        (HEADER + "*,null,levy,1\n", "Row 2 of links.csv has no word (cells such as NA and null count as empty)"),
        (HEADER + "*,tax,,1\n", "Row 2 of links.csv has no base word"),
        (HEADER + KEPT + "*,tax,levy,\n", "Row 5 of links.csv has no weight; a weight must be a finite number above 0"),
        (HEADER + "*,tax,levy,0\n", "Row 2 of links.csv has the weight '0'; a weight must be a finite number above 0"),
        (HEADER + "*,tax,levy,-1\n*,a,b,much\n", "Row 2 of links.csv (and 1 row more) has the weight '-1'"),
        (HEADER + KEPT + '*,tax,levy,"0,5"\n', "Row 5 of links.csv has the weight '0,5'; a weight must"),
        (HEADER + "*,tax,levy,inf\n", "Row 2 of links.csv has the weight 'inf'"),
        (HEADER + "*,tax,levy,1e999\n", "Row 2 of links.csv has the weight '1e999'"),
        (HEADER + "*,tax,levy,nan\n", "Row 2 of links.csv has no weight"),
        (HEADER + "*,tax,levy,True\n", "Row 2 of links.csv has the weight 'True'"),
    ],
)
def test_wrong_files_are_refused_by_a_sentence(contents, sentence):
    with pytest.raises(InputError) as error:
        table_of(contents)
    assert sentence in str(error.value)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    ("name", "contents", "sentence"),
    [
        (
            "links.txt",
            HEADER,
            "Associations are read from one table, which links.txt is not; bring one .csv or .tsv file",
        ),
        ("links.json", "[]", "which links.json is not"),
        ("links.xlsx", "", "links.xlsx is of a kind that cannot be read"),
        ("links.csv.gz", "plain", "links.csv.gz is not a gzip archive"),
    ],
)
def test_other_kinds_are_refused_by_a_sentence(name, contents, sentence):
    with pytest.raises(InputError) as error:
        table_of(contents, name)
    assert sentence in str(error.value)


def test_a_folder_or_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="There is no file or folder"):
        read_associations(tmp_path / "links.csv")
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(HEADER + KEPT)
    with pytest.raises(InputError, match="Associations are read from one table"):
        read_associations(tmp_path)


def test_named_columns_are_normalised_and_the_others_are_the_identity():
    p, notes = matched("Left,tax,tax,1\nLeft,levy,tax,3\nLeft,levy,levy,0.1\n")
    expected = IDENTITY.copy()
    expected[:2, 0] = 0.25, 0.75
    np.testing.assert_allclose(p[0], expected)
    assert np.array_equal(p[1], IDENTITY)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-15)
    (note,) = (note for note in notes if note.kind == "built")
    assert note.count == 3
    assert note.text == (
        "3 of 3 associations of links.csv were used, for 2 base words; every other base word leads to itself alone."
    )


def test_matrices_are_those_of_the_dense_product():
    table = table_of(HEADER + KEPT + "Far Right,care,health,2\nFar Right,health,health,1\n")
    matrices, _ = match_associations(table, corpus())
    base = np.random.default_rng(0).dirichlet(np.ones(5), 4).T
    words = matrices.apply(base)
    for i in range(2):
        np.testing.assert_allclose(words[i], matrices.dense(i) @ base, rtol=1e-14)
    np.testing.assert_allclose(words[1, 3], base[3] + 2 / 3 * base[2])
    np.testing.assert_allclose(words[0, 1], base[1] + 3 / 4 * base[0])


def test_a_star_is_every_group():
    p, _ = matched(KEPT)
    assert np.array_equal(p[0], p[1])
    assert p[0][1, 0] == 0.75


@pytest.mark.parametrize("first", [True, False])
def test_a_row_that_names_the_group_replaces_the_star_of_the_same_pair(first):
    own = "Far Right,levy,tax,1\n"
    p, notes = matched(own + KEPT if first else KEPT + own)
    assert p[0][:2, 0].tolist() == [0.25, 0.75]
    assert p[1][:2, 0].tolist() == [0.5, 0.5]
    assert not texts(notes, "duplicate")
    assert texts(notes, "built")[0].startswith("4 of 4 associations of links.csv were used")


def test_a_star_replaced_in_every_group_is_not_used():
    p, notes = matched("*,levy,tax,7\nLeft,levy,tax,1\nFar Right,levy,tax,1\n*,tax,tax,1\n")
    assert p[:, 1, 0].tolist() == [0.5, 0.5]
    assert texts(notes, "built")[0].startswith("3 of 4 associations")


def test_weights_of_repeated_rows_are_added_and_told():
    p, notes = matched(KEPT + "*,levy,tax,4\nLeft,tax,tax,1\nLeft,tax,tax,2\n")
    np.testing.assert_allclose(p[0][:2, 0], [3 / 10, 7 / 10])
    np.testing.assert_allclose(p[1][:2, 0], [1 / 8, 7 / 8])
    assert texts(notes, "duplicate") == [
        "2 rows of links.csv had the group, word and base word of an earlier one, and the weights were added (first: row 5)."
    ]


def test_rows_outside_the_vocabulary_are_left_out_and_told():
    p, notes = matched(KEPT + "*,zebra,tax,9\n*,tax,okapi,9\nLeft,zebra,gnu,9\n")
    assert p[0][:2, 0].tolist() == [0.25, 0.75]
    (note,) = (note for note in notes if note.kind == "dropped")
    assert note.count == 3
    assert note.text == (
        "3 rows of links.csv were left out, because their words or base words are not in the vocabulary (first: row 5): "
        "zebra, okapi and gnu."
    )
    _, notes = matched(KEPT + "*,zebra,tax,9\n")
    assert texts(notes, "dropped") == [
        "1 row of links.csv was left out, because its word or base word is not in the vocabulary (first: row 5): zebra."
    ]


def test_words_of_pretokenised_texts_are_matched_as_they_stand():
    p, _ = matched("*,Wall,tax,1\n*,tax,tax,1\n")
    assert p[0][4, 0] == 0.5
    with pytest.raises(InputError, match="each has a word or a base word that is not in the vocabulary: wall"):
        matched("*,wall,tax,1\n")


def test_words_of_texts_are_matched_as_the_tokeniser_writes_them(read):
    rows = "".join(f"{group},Ärzte don’t STRASSE straße Σοφός\n{group},ärzte other\n" for group in ("A", "B  b"))
    collection = read("a.csv", "group,text\n" + rows)
    built = build_corpus(
        make_documents(collection, guess_columns(collection)), CorpusSettings(language="none", passages=False)
    )
    assert {"ärzte", "don't", "strasse", "σοφός", "other"} == set(built.vocabulary)
    assert built.group_names == ("A", "B b")
    decomposed = "A\u0308RZTE"
    table = table_of(HEADER + f"B   b,Straße,{decomposed},1\nB b,ärzte,Ärzte,1\nA,ΣΟΦΌΣ,DON'T,1\n*,don’t,don‘t,1\n")
    matrices, notes = match_associations(table, built)
    number = {word: index for index, word in enumerate(built.vocabulary)}
    assert matrices.dense(1)[number["strasse"], number["ärzte"]] == 0.5
    assert matrices.dense(0)[number["σοφός"], number["don't"]] == 0.5
    assert not texts(notes, "dropped")


def test_unknown_groups_are_refused():
    with pytest.raises(InputError) as error:
        matched(KEPT + "Centre,tax,tax,1\nleft,tax,tax,1\nCentre,zebra,tax,1\n")
    assert str(error.value) == (
        "links.csv names groups that are not among those compared, 'Centre' and 'left' (first: row 5); write one of Left "
        "and Far Right, or * for every group."
    )
    with pytest.raises(InputError, match="names a group that is not among those compared, 'Centre'"):
        matched("Centre,zebra,tax,1\n")


def test_a_table_without_a_usable_row_is_refused():
    with pytest.raises(InputError) as error:
        matched("*,zebra,tax,1\nLeft,tax,gnu,1\n")
    assert str(error.value) == (
        "No row of links.csv can be used, because each has a word or a base word that is not in the vocabulary: zebra and "
        "gnu; write the words as the vocabulary has them."
    )


def test_words_of_the_texts_that_no_base_word_leads_to_are_refused():
    with pytest.raises(InputError) as error:
        matched("*,levy,tax,1\nFar Right,health,care,1\n")
    assert str(error.value) == (
        "By links.csv no base word leads to words that the texts hold: 'tax' in Left, 'tax' in Far Right and 'care' in Far "
        "Right; add a row for each that makes it its own base word, as in: Left, tax, tax, 1."
    )


def test_only_the_first_of_many_such_words_are_named():
    with pytest.raises(InputError, match=r"'tax' in Left, .*'health' in Left and 3 more; add a row"):
        matched("".join(f"*,Wall,{word},1\n" for word in VOCABULARY[:4]))


def test_such_words_may_be_missing_where_they_are_not_said():
    p, _ = matched("Left,levy,tax,1\n", left=(1, 2))
    assert p[0][0].tolist() == [0] * 5
    with pytest.raises(InputError, match="'tax' in Far Right; add"):
        matched("*,levy,tax,1\n", left=(1, 2))


def test_another_word_may_lead_to_it():
    p, _ = matched("*,levy,tax,1\n*,tax,levy,1\n")
    assert p[0][:2, :2].tolist() == [[0, 1], [1, 0]]


def test_weights_too_far_apart_are_refused():
    with pytest.raises(SettingsError, match="A weight is less than 1e-12 of the sum"):
        matched("*,levy,tax,1e-20\n*,tax,tax,1\n")


def test_many_rows_are_matched_as_one_by_one():
    rng = np.random.default_rng(1)
    n, words = 4_000, 40
    groups = rng.choice(["*", "g0", "g1", "g2"], n)
    word, base = rng.integers(0, words, (2, n))
    weight = rng.integers(1, 9, n)
    text = HEADER + "".join(
        f"{g},w{w},w{v},{x}\n" for g, w, v, x in zip(groups.tolist(), word, base, weight, strict=True)
    )
    many = corpus_from_arrays(
        rng.integers(0, words, 300), np.sort(rng.integers(0, 9, 300)), np.arange(9) % 3, [f"w{i}" for i in range(words)],
        ["g0", "g1", "g2"],
    )  # fmt: skip
    matrices, _ = match_associations(table_of(text), many)
    own, general = np.zeros((3, words, words)), np.zeros((words, words))
    for g, w, v, x in zip(groups.tolist(), word, base, weight, strict=True):
        (general if g == "*" else own[int(g[1])])[w, v] += x
    expected = np.where(own > 0, own, general)
    for i in range(3):
        np.testing.assert_allclose(matrices.dense(i), expected[i] / expected[i].sum(axis=0), rtol=1e-12)
