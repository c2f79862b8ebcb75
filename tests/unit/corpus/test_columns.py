from __future__ import annotations

import pytest

from spdp_engine.corpus import Columns, guess_columns, make_documents
from spdp_engine.errors import InputError


def table(header: str, *rows: str) -> str:
    return "\n".join([header, *rows]) + "\n"


def test_names_decide_where_contents_allow(read):
    rows = [
        f"{i},2020-01-0{i % 9 + 1},Headline number {i},{'Left' if i % 2 else 'Right'},some words about thing {i}"
        for i in range(20)
    ]
    columns = guess_columns(read("a.csv", table("id,Date,Headline,Party,Body", *rows)))
    assert columns == Columns(text="Body", group="Party", title="Headline", date="Date")


def test_the_longest_text_where_no_name_tells(read):
    rows = [
        f"u{i},short one,this is quite a long cell number {i} with words,{'x' if i % 2 else 'y'}" for i in range(12)
    ]
    columns = guess_columns(read("a.csv", table("a,b,c,d", *rows)))
    assert columns.text == "c"
    assert columns.group == "d"


def test_web_addresses_and_numbers_are_no_text(read):
    rows = [f"https://example.org/{'x' * 200}/{i},{i},a few words of text {i}" for i in range(6)]
    assert guess_columns(read("a.csv", table("link,n,said", *rows))).text == "said"


def test_a_telling_name_with_a_value_for_each_row_is_no_group(read):
    rows = [f"source {i},some words in row {i}" for i in range(60)]
    assert guess_columns(read("a.csv", table("source,text", *rows))).group is None


def test_files_are_groups_unless_a_column_is_named_like_one(read):
    plain = table("text,mood", *[f"some words {i},{'x' if i % 2 else 'y'}" for i in range(8)])
    assert guess_columns(read("left.csv", plain, "right.csv", plain)).group == "file"
    named = table("text,party", *[f"some words {i},{'x' if i % 2 else 'y'}" for i in range(8)])
    assert guess_columns(read("left.csv", named, "right.csv", named)).group == "party"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("speaker", "Ada Example {}"),
        ("Author", "Ada Example {}"),
        ("file_name", "speech{}.txt"),
        ("id", "commons-{}"),
        ("url", "https://example.org/{}/a-long-address"),
        ("of some kind", "The city of {} streets"),
    ],
)
def test_without_a_title_what_names_each_document_stands_for_it(read, column, value):
    rows = [
        f"{i},2020-01-{i % 28 + 1:02d}T10:{i:02d}:00Z,{'Left' if i % 2 else 'Right'},{value.format(i)},{i:032x},words of row {i}"
        for i in range(20)
    ]
    columns = guess_columns(read("a.csv", table(f"n,when,party,{column},key,text", *rows)))
    assert columns == Columns(text="text", group="party", title=column)


def test_people_name_documents_before_keys_and_a_title_before_all(read):
    rows = [f"x{i},Ada Example {i},{'A' if i % 2 else 'B'},words of row {i},Heading {i}" for i in range(20)]
    assert guess_columns(read("a.csv", table("id,speaker,party,text,other", *rows))).title == "speaker"
    assert guess_columns(read("a.csv", table("id,speaker,party,text,title", *rows))).title == "title"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("speaker", "Ada Example"),  # who speaks often is a column to compare by
        ("id", "{}"),  # a number says no more than "Document 17"
        ("time", "10:{}"),
        ("answer", "a sentence of more than ten words is no name of document {} at all"),
    ],
)
def test_what_repeats_or_says_nothing_is_no_title(read, column, value):
    rows = [f"{value.format(i)},{'A' if i % 2 else 'B'},{'many words ' * 20} of row {i}" for i in range(20)]
    assert guess_columns(read("a.csv", table(f"{column},party,text", *rows))).title is None


def test_two_text_files_are_two_groups_with_titles(read):
    columns = guess_columns(read("left.txt", "one two three four", "right.txt", "five six seven"))
    assert columns == Columns(text="text", group="file", title="title")


def test_sixty_text_files_are_not_sixty_groups(read):
    files = [part for i in range(60) for part in (f"{i}.txt", f"some words {i}")]
    assert guess_columns(read(*files)).group is None


def test_no_text_names_the_columns(read):
    with pytest.raises(InputError, match="n and m"):
        guess_columns(read("a.csv", "n,m\n1,2\n3,4\n"))


def threads(name: str, values: list[str], header: str = "") -> str:
    """Rows of two groups, with a column of these values."""
    rows = [f"{'Left' if i % 2 else 'Right'},{value},some words about thing {i}" for i, value in enumerate(values)]
    return table(header or f"party,{name},text", *rows)


FOUR_EACH = [f"talk {i // 4}" for i in range(40)]


@pytest.mark.parametrize(
    "name", ["document_id", "doc_id", "DocID", "Thread ID", "thread-id", "speech", "conversation.id"]
)
def test_a_column_of_documents_is_guessed_by_its_plain_name(read, name):
    assert guess_columns(read("a.csv", threads(name, FOUR_EACH))).document == name


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", FOUR_EACH),
        ("thread_score", FOUR_EACH),
        ("doc_id", [f"t{i}" for i in range(40)]),
        ("doc_id", ["t1", "t2"] * 20),
        ("doc_id", [f"t{i // 2}" for i in range(40)]),
        ("doc_id", ["", "", "", "t1"] * 10),
    ],
    ids=[
        "another name",
        "more in the name",
        "a value for each row",
        "one to a group",
        "no repeat in a group",
        "mostly empty",
    ],
)
def test_a_column_of_documents_is_not_guessed_where_it_is_not_plain(read, name, values):
    assert guess_columns(read("a.csv", threads(name, values))).document is None


def test_a_column_with_another_part_is_no_column_of_documents(read):
    columns = guess_columns(read("a.csv", threads("", FOUR_EACH, "party,title,text")))
    assert (columns.title, columns.document) == ("title", None)
    rows = [f"t{i // 8},some words about thing {i}" for i in range(40)]
    assert guess_columns(read("a.csv", table("thread_id,text", *rows))) == Columns("text", "thread_id")


class TestMakeDocuments:
    def test_rows_without_text_or_group_and_repeats_are_noted_with_their_place(self, read):
        collection = read(
            "a.csv",
            table("party,text,extra", "A,one,1", "A,,2", "A, ,3", ",two,4", "B,one,5", "A,one,6", " A  x ,three,7"),
        )
        documents = make_documents(collection, Columns("text", "party"))
        assert documents.texts == ("one", "one", "three")
        assert documents.groups == ("A", "B", "A x")
        assert documents.fields["extra"].tolist() == ["1", "5", "7"]
        assert documents.titles == documents.dates == ("", "", "")
        told = {note.kind: note for note in documents.notes}
        assert told["empty"].count == 2 and "row 3 of a.csv" in told["empty"].text
        assert told["dropped"].count == 1 and "row 5 of a.csv" in told["dropped"].text
        assert told["duplicate"].count == 1 and "row 7 of a.csv" in told["duplicate"].text
        assert documents.notes[: len(collection.notes)] == collection.notes

    def test_without_a_group_all_are_one(self, read):
        documents = make_documents(read("a.csv", "t,text,d\nx,one,\ny,two,2020\n"), Columns("text", None, "t", "d"))
        assert documents.groups == ("All documents",) * 2
        assert documents.titles == ("x", "y")
        assert documents.dates == ("", "2020")
        assert documents.fields.shape == (2, 0)

    def test_more_than_fifty_groups(self, read):
        rows = [f"g{i},words {i}" for i in range(51)]
        with pytest.raises(InputError, match=r"51 different values .*g0.*choose another"):
            make_documents(read("a.csv", table("who,text", *rows)), Columns("text", "who"))

    @pytest.mark.parametrize(
        ("columns", "says"),
        [
            (Columns("nothing"), "no column 'nothing'"),
            (Columns("text", "nothing"), "no column 'nothing' for the group"),
            (Columns("text", "text"), "text and group at once"),
            (Columns("empty", "party"), "No row has text"),
        ],
    )
    def test_columns_that_cannot_be(self, read, columns, says):
        with pytest.raises(InputError, match=says):
            make_documents(read("a.csv", "party,text,empty\nA,one,\nB,two,\n"), columns)
