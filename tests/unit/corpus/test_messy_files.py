"""Every file of the messy collection is read, or refused with a sentence that names it."""

from __future__ import annotations

import pytest

from spdp_engine.corpus import guess_columns, read_collection
from spdp_engine.errors import InputError

# file: (rows, columns)
READ = {
    "asreview_semicolon.csv": (2, 19),
    "asreview_missing_values.csv": (4, 2),
    "asreview_spaces_in_headers.csv": (2, 19),
    "lens_sample.csv": (8, 32),
    "csvkit_bad.csv": (2, 3),
    "csvkit_mac_newlines.csv": (2, 3),
    "csvkit_latin1.csv": (2, 3),
    "csvkit_utf8_bom.csv": (2, 3),
    "csvkit_header_newline.csv": (1, 3),
    "UPPERCASE_EXT.CSV": (2, 3),
    "MANIFEST.tsv": (41, 5),
    "mallet_stackexchange.tsv": (200, 3),
    "inaugural_sample.json": (3, 5),
    "solr_response_facets.json": (3, 16),
    "tmtoolkit_zip.zip": (101, 9),
    "voyant_archive.zip": (2, 4),
    "pubmed_endnote_ris.txt": (1, 2),
    "lexisnexis_sample.TXT": (1, 2),
    "EU_2004_de_Greens.txt": (1, 2),
    "UDHR_japanese.txt": (1, 2),
    "udhr_German_Deutsch-Latin1.txt": (1, 2),
    "udhr_Japanese_Nihongo-EUC.txt": (1, 2),
    "udhr_Russian-Cyrillic.txt": (1, 2),
}


def messy(shared_data):
    folder = shared_data / "messy"
    if not folder.is_dir():
        pytest.skip(f"the messy files are not here ({folder})")
    return folder


@pytest.mark.parametrize("name", READ)
def test_is_read(shared_data, name):
    assert read_collection([messy(shared_data) / name]).table.shape == READ[name]


def test_all_others_are_refused_by_name(shared_data):
    others = [path for path in sorted(messy(shared_data).iterdir()) if path.name not in READ]
    assert len(others) > 10
    for path in others:
        with pytest.raises(InputError) as error:
            read_collection([path])
        assert path.name in str(error.value)


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("EU_2004_de_Greens.txt", "Europäischen Föder"),
        ("udhr_German_Deutsch-Latin1.txt", "Allgemeine Erklärung"),
        ("udhr_Japanese_Nihongo-EUC.txt", "世界人権宣言"),
        ("udhr_Russian-Cyrillic.txt", "Всеобщая декларация"),
    ],
)
def test_legacy_encodings_are_told(shared_data, name, inside):
    collection = read_collection([messy(shared_data) / name])
    assert inside in collection.table["text"][0]
    assert [note.kind for note in collection.notes].count("encoding") == 1


@pytest.mark.parametrize(
    ("name", "text", "group"),
    [
        ("lens_sample.csv", "Abstract", "Source Country"),
        ("mallet_stackexchange.tsv", "column 3", "column 2"),
        ("tmtoolkit_zip.zip", "text", "folder"),
        ("voyant_archive.zip", "text", "folder"),
        ("inaugural_sample.json", "texts", None),
        ("asreview_spaces_in_headers.csv", "abstract", None),
        ("UPPERCASE_EXT.CSV", "text", None),
    ],
)
def test_columns_are_guessed(shared_data, name, text, group):
    columns = guess_columns(read_collection([messy(shared_data) / name]))
    assert (columns.text, columns.group) == (text, group)
