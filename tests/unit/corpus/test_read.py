from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from spdp_engine.corpus import (
    Collection,
    Columns,
    CorpusSettings,
    InputFile,
    build_corpus,
    files,
    make_documents,
    read_collection,
)
from spdp_engine.errors import InputError

ROWS = "party,text\nA,first words\nB,second words\n"


def notes(collection: Collection, kind: str) -> list[str]:
    return [note.text for note in collection.notes if note.kind == kind]


def zipped(**members: str | bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, contents in members.items():
            archive.writestr(name, contents)
    return buffer.getvalue()


def test_rows_are_strings_with_a_fresh_index(read):
    collection = read("a.csv", "n,text\n1,one\n,two\n")
    assert list(collection.table.index) == [0, 1]
    assert all(str(dtype) == "str" for dtype in collection.table.dtypes)
    assert collection.table["n"].tolist()[0] == "1"
    assert collection.table["n"].isna().tolist() == [False, True]
    assert collection.file_column is collection.folder_column is None


def test_source_describes_the_file_as_given(tmp_path):
    packed = gzip.compress(ROWS.encode())
    path = tmp_path / "Größe 1.csv.gz"
    path.write_bytes(packed)
    (source,) = read_collection([path]).sources
    assert source.name == path.name
    assert source.bytes == len(packed)
    assert source.sha256 == hashlib.sha256(packed).hexdigest()
    assert source.documents == 2


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends(read, separator, newline):
    text = newline.join(
        [separator.join(["party", "text"]), separator.join(["A", '"one, two; three"']), separator.join(["B", "four"])]
    )
    table = read("a.csv", text).table
    assert table.columns.tolist() == ["party", "text"]
    assert table["text"].tolist() == ["one, two; three", "four"]


def test_semicolons_with_commas_in_the_text(read):
    table = read("a.csv", "partei;text\nA;eins, zwei, drei\nB;vier, fünf\nC;sechs\n").table
    assert table["text"].tolist() == ["eins, zwei, drei", "vier, fünf", "sechs"]


def test_line_breaks_inside_quotation_marks(read):
    table = read("a.csv", 'party,text\nA,"one\n\ntwo"\nB,three\n').table
    assert table["text"].tolist() == ["one\n\ntwo", "three"]


def test_rows_that_are_too_long_are_noted_by_the_number_a_spreadsheet_shows(read):
    collection = read("a.csv", 'party,text\nA,"x\ny"\n\nB,one,two\nC,three\n,,,\nD\n')
    assert collection.table["party"].tolist() == ["A", "C", "D"]
    assert collection.table["text"].isna().tolist() == [False, False, True]
    (note,) = notes(collection, "dropped")
    assert "rows 4 and 6" in note
    assert [collection.where(i) for i in range(3)] == ["row 2 of a.csv", "row 5 of a.csv", "row 7 of a.csv"]


def test_names_of_columns_are_cleaned_and_made_unique(read):
    collection = read("a.csv", '"party ",text," text\n","text (2)",\nA,one,two,three,\nB,four,five,six,\n')
    assert collection.table.columns.tolist() == ["party", "text", "text (2)", "text (2) (2)"]
    assert notes(collection, "columns")


def test_header_that_is_one_cell_short_because_of_row_names(read):
    table = read("r.csv", '"party","text"\n"1","A","one"\n"2","B","two"\n').table
    assert table.columns.tolist() == ["column 1", "party", "text"]
    assert table["text"].tolist() == ["one", "two"]


def test_no_header(read):
    collection = read("a.tsv", "1\tphysics\tI tell a story\n2\tphysics\tYou tell\n3\tstats\tThey tell\n")
    assert collection.table.columns.tolist() == ["column 1", "column 2", "column 3"]
    assert len(collection.table) == 3
    assert "no row of column names" in notes(collection, "columns")[0]
    assert collection.where(0) == "row 1 of a.tsv"


def test_quotation_mark_that_is_never_closed(read):
    collection = read("a.tsv", 'party\ttext\nA\t"one\nB\ttwo\n')
    assert collection.table["text"].tolist() == ['"one', "two"]
    assert "never closed" in notes(collection, "warning")[0]


@pytest.mark.parametrize("cell", ["", "NaN", "None", '""'])
def test_missing_cells(read, cell):
    assert read("a.csv", f"party,text\nA,{cell}\nB,two\n").table["text"].isna().tolist() == [True, False]


TEXT = "Größe, Übermaß und Müßiggang – „für“ die Bürgermeisterin, daß es schön wäre, äußerst überzeugt zu sein\n"


@pytest.mark.parametrize(
    ("encoding", "guessed"),
    [("utf-8", False), ("utf-8-sig", False), ("utf-16", False), ("utf-16-be", None), ("cp1252", True)],
)
def test_encodings_of_a_german_table(read, encoding, guessed):
    text = f"partei;text\nA;{TEXT}B;{TEXT}"
    data = text.encode(encoding)
    if encoding == "utf-16-be":
        data, guessed = b"\xfe\xff" + data, False
    collection = read("a.csv", data)
    assert collection.table["text"].tolist() == [TEXT.strip()] * 2
    assert collection.table.columns.tolist() == ["partei", "text"]
    assert bool(notes(collection, "encoding")) is guessed


def test_a_few_accents_are_western_european(read):
    assert read("a.csv", "party,text\nA,caf\xe9\nB,th\xe9\n".encode("latin-1")).table["text"].tolist() == [
        "café",
        "thé",
    ]


@pytest.mark.parametrize(
    ("encoding", "sentence"),
    [
        ("cp1251", "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом. "),
        ("euc_jp", "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"),
        ("cp1253", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. "),
    ],
)
def test_other_legacy_encodings(read, encoding, sentence):
    collection = read("a.txt", (sentence * 8).encode(encoding))
    assert collection.table["text"][0] == sentence * 8
    assert notes(collection, "encoding")


def test_utf8_with_a_broken_place_stays_utf8(read):
    data = ("party,text\nA," + "schöne Größe " * 50 + "\nB,").encode() + b"\xff bad\n"
    collection = read("a.csv", data)
    assert collection.table["text"][0].startswith("schöne Größe")
    assert "1 character could not be read" in notes(collection, "encoding")[0]


def test_json_array_lines_and_array_inside_an_object(read):
    rows = [{"party": "A", "text": "one"}, {"party": "B", "text": "two", "n": 1.5}]
    lines = "\n".join(json.dumps(row) for row in rows)
    for name, text in [
        ("a.json", json.dumps(rows, indent=1)),
        ("a.jsonl", lines + "\n"),
        ("a.NDJSON", lines.replace("\n", "\r\n\r\n")),
        ("a.json", lines),
        ("a.jsonl", json.dumps(rows)),
        ("a.json", json.dumps({"took": 3, "response": {"docs": rows}})),
    ]:
        table = read(name, text).table
        assert table["text"].tolist() == ["one", "two"], name
        assert table["n"].isna().tolist() == [True, False]
        assert table["n"][1] == "1.5"


def test_json_cells_become_strings(read):
    cells = {
        "i": 1,
        "yes": True,
        "none": None,
        "nan": float("nan"),
        "empty": "",
        "list": ["a", "é"],
        "one": ["b"],
        "o": {"k": 2},
    }
    table = read("a.jsonl", json.dumps(cells) + "\n" + json.dumps({"i": 2})).table
    row = table.iloc[0]
    assert row[["i", "yes", "list", "one", "o"]].tolist() == ["1", "true", '["a", "é"]', "b", '{"k": 2}']
    assert row[["none", "nan", "empty"]].isna().all()


def test_half_a_character_in_json_is_replaced_and_told(read):
    lines = [
        r'{"text": "harbour \ud83d strike", "party": "A\udc00", "n": ["x", "\ud83d"]}',
        r'{"text": "\ud83d\ude00 whole", "party": "B", "of \ud83d": "late"}',
    ]
    collection = read("a.jsonl", "\n".join(lines))
    assert collection.table.columns.tolist() == ["text", "party", "n", "of �"]
    assert collection.table.iloc[0].tolist()[:3] == ["harbour � strike", "A�", '["x", "�"]']
    assert collection.table["text"][1] == "😀 whole", "both halves are one character"
    names, cells = notes(collection, "encoding")
    assert "in the name of 1 column of a.jsonl: of �" in names
    assert "by � in 3 cells (first: row 1 of a.jsonl)" in cells
    build_corpus(make_documents(collection, Columns("text", "party")), CorpusSettings(minimum_documents=1))


def test_half_a_character_in_the_name_of_an_array(read):
    both = r'{"a\ud83d": [{"text": "many words here", "party": "A"}], "b": [{"n": 1}]}'
    assert "taken from a�, not" in notes(read("a.json", both), "warning")[0]


@pytest.mark.parametrize(
    ("encoding", "mark"), [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-32-le", b"\xff\xfe\0\0")]
)
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_damage_is_told_where_a_mark_names_the_encoding(read, name, encoding, mark):
    data = mark + "party,text\nA,one \ud83d � two\nB,three\n".encode(encoding, "surrogatepass")
    collection = read(name, data)
    lost = collection.table["text"][0].count("�") - 1  # the other one is written so in the file
    assert lost == (3 if encoding == "utf-8" else 1), "three bytes, none of which is a character"
    assert notes(collection, "encoding")[0].startswith(f"{lost} character")


def test_names_of_files_that_are_in_no_encoding(tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path / "B") + b"\xff"))
    try:
        folder.mkdir()
        Path(os.fsdecode(os.fsencode(folder / "b") + b"\xfe.txt")).write_text("one")
    except OSError:
        pytest.skip("this file system only takes names that are Unicode")
    (folder / "c.txt").write_text("two")
    collection = read_collection([tmp_path])
    assert collection.table["folder"].tolist() == ["B�", "B�"]
    assert sorted(collection.table["title"]) == ["b�.txt", "c.txt"]
    assert len(collection.sources[0].sha256) == 64
    assert read_collection([folder]).sources[0].name == "B�"
    with pytest.raises(InputError, match=r"no file or folder .*q�.txt"):
        read_collection([os.fsdecode(os.fsencode(tmp_path / "q") + b"\xfe.txt")])


def test_bad_lines_of_json_lines_are_noted(read):
    collection = read("a.jsonl", '{"party": "A", "text": "one"}\n\n{"party": \n{"party": "B", "text": "two"}\n7\n')
    assert "lines 3 and 5" in notes(collection, "dropped")[0]
    assert collection.where(1) == "row 4 of a.jsonl"


def test_of_several_arrays_the_fullest_is_taken(read):
    collection = read("a.json", json.dumps({"people": [{"n": 1}], "docs": [{"text": "many words here", "party": "A"}]}))
    assert collection.table.columns.tolist() == ["text", "party"]
    assert "taken from docs" in notes(collection, "warning")[0]


def test_several_files(read):
    collection = read("liberal.csv", "text\none\ntwo\n", "Conservative.CSV", "text,file\nthree,x\n")
    assert collection.file_column == "file (2)"
    assert collection.table["file (2)"].tolist() == ["liberal", "liberal", "Conservative"]
    assert collection.table["file"].isna().tolist() == [True, True, False]
    assert notes(collection, "warning")
    assert [source.documents for source in collection.sources] == [2, 1]
    assert collection.where(2) == "row 2 of Conservative.CSV"


def test_files_of_the_same_name_are_told_apart(read):
    collection = read("a.csv", "text\none\n", "a.csv", "text\ntwo\n")
    assert collection.table["file"].tolist() == ["a", "a (2)"]


def test_folder_of_text_files(tmp_path):
    for name, text in {
        "papers/guardian/1.txt": "one",
        "papers/guardian/.DS_Store": "x",
        "papers/sun/deep/2.TXT": "two",
        "papers/notes.docx": "x",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    collection = read_collection([tmp_path / "papers"])
    assert collection.folder_column == "folder"
    assert collection.table["folder"].tolist() == ["guardian", "deep"]
    assert collection.table["title"].tolist() == ["1.txt", "2.TXT"]
    assert collection.table["text"].tolist() == ["one", "two"]
    assert any("notes.docx" in text for text in notes(collection, "passed over"))
    (source,) = collection.sources
    assert (source.name, source.documents, source.bytes) == ("papers", 2, 6)
    assert read_collection([str(tmp_path / "papers")]).sources == collection.sources


def test_zip_of_texts_and_tables(read):
    data = zipped(
        **{
            "__MACOSX/x/._a.txt": b"\0\0",
            "x/.DS_Store": b"\0",
            "x/left/a.txt": "one",
            "x/right/b.txt": "two",
            "top.csv": "text,title\nthree,t\n",
            "x/broken.json": "{",
            "x/image.png": b"\x89PNG",
        }
    )
    collection = read("all.zip", data)
    table = collection.table.set_index("text")
    assert table["folder"].to_dict() == {"one": "left", "two": "right", "three": "all"}
    assert table["title"].to_dict() == {"one": "a.txt", "two": "b.txt", "three": "t"}
    assert any("broken.json" in text for text in notes(collection, "dropped"))
    assert any("image.png" in text for text in notes(collection, "passed over"))


def test_names_in_a_zip_made_on_a_mac(read):
    # A Mac writes UTF-8 but does not say so; here the mark that Python sets is taken away.
    data = bytearray(zipped(**{"Größe/a.txt": "one"}))
    central = data.rindex(b"PK\x01\x02")
    data[7] &= ~0x08
    data[central + 9] &= ~0x08
    assert read("m.zip", bytes(data)).table["folder"].tolist() == ["Größe"]


def test_names_in_a_zip_that_are_not_what_they_claim(read):
    data = zipped(**{"é.txt": "one"}).replace("é".encode(), b"\xff\xfe")
    with pytest.raises(InputError, match="damaged; pack it again"):
        read("a.zip", data)


def test_zip_bomb_is_refused_by_what_it_declares(read, monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    with pytest.raises(InputError, match="more than 2 GB"):
        read("a.zip", zipped(**{"a.txt": "x" * 11}))
    with pytest.raises(InputError, match="more than 2 GB"):
        read("a.zip", zipped(**{"a.csv.gz": gzip.compress(b"x" * 1000)}))


def test_gzip_bomb_is_refused_while_it_unpacks(read, monkeypatch):
    packed = gzip.compress(b"x,y\n" * 1000)
    monkeypatch.setattr(files, "MOST_BYTES", len(packed))
    with pytest.raises(InputError, match="more than 2 GB"):
        read("a.csv.gz", packed)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\n\n", "is empty"),
        ("a.csv", b"\xef\xbb\xbf\r\n", "is empty"),
        ("a.csv", b"party,text\n", "no rows"),
        ("a.csv", b"text\none\ntwo\n", "only one column"),
        ("a.csv", b"PK\x03\x04rest", "zip archive"),
        ("a.csv", b"\xd0\xcf\x11\xe0rest", "old Excel"),
        ("a.txt", b"%PDF-1.4", "PDF"),
        ("a.csv", b"a,b\n1,\0\n", "NUL"),
        ("a.xlsx", b"PK", "cannot be read"),
        ("noextension", b"x", "cannot be read"),
        ("a.zip", b"not a zip", "not a zip archive"),
        ("a.csv.gz", b"not gzip", "not a gzip archive"),
        ("a.json", b"{", "not JSON"),
        ("a.json", b"[1, 2]", "no array of objects"),
        ("a.json", b"[]", "no array of objects"),
        ("a.jsonl", b"hello", "not JSON"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(read, name, data, says):
    with pytest.raises(InputError, match=says) as error:
        read(name, data)
    assert name in str(error.value)


def test_missing_paths_empty_folders_and_nothing(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read_collection([tmp_path / "no.csv"])
    with pytest.raises(InputError, match="holds no file"):
        read_collection([tmp_path])
    with pytest.raises(InputError, match="No file"):
        read_collection([])
    with pytest.raises(InputError, match="neither"):
        read_collection([InputFile("a.csv")])


def test_zip_with_a_password_is_refused(read):
    data = bytearray(zipped(**{"a.txt": "secret"}))
    central = data.rindex(b"PK\x01\x02")
    data[6] |= 1  # The flags of the entry, and of the directory.
    data[central + 8] |= 1
    with pytest.raises(InputError, match="password"):
        read("a.zip", bytes(data))


def test_progress_rises_from_0_to_1():
    told: list[tuple[str, float]] = []
    rows = "party,text\n" + "A,some words\n" * 50_000
    inputs = [InputFile("a.csv", data=rows.encode()), InputFile("b.csv", data=rows.encode())]
    read_collection(inputs, lambda doing, share: told.append((doing, share)))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[0] == 0 and shares[-1] == 1 and len(shares) > 6
    assert any("a.csv" in doing for doing, _ in told)


def test_origins_have_small_types(read):
    origins = read("a.csv", ROWS).origins
    assert origins.row.dtype == origins.file.dtype == np.int32


def test_input_file_by_path_goes_by_its_name(tmp_path):
    path = tmp_path / "upload.tmp"
    path.write_text(ROWS)
    assert len(read_collection([InputFile("a.csv", path=Path(path))]).table) == 2
