"""Bringing documents: samples, uploads, columns and words, and a sentence for everything that cannot be used."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest
from visitor import Visitor, as_csv, talk

from sample_data import SAMPLES

pytestmark = pytest.mark.timeout(60)

GOOD = as_csv(talk())


def zipped(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/") + ".txt", text)
    return buffer.getvalue()


def columns_of(visitor: Visitor) -> dict[str, object]:
    return {label: visitor.widget("selectbox", label).value for label in ("Text", "Group", "Title", "Date", "Document")}


# --- the way in


def test_home_shows_every_sample_and_the_uploader() -> None:
    visitor = Visitor()
    shown = " ".join(str(one.value) for one in (*visitor.at.markdown, *visitor.at.caption))
    for sample in SAMPLES:
        assert sample.name in shown and sample.description in shown
    assert visitor.buttons.count("Open this sample") == len(SAMPLES)
    assert len(visitor.at.file_uploader) == 1 and not visitor.errors


@pytest.mark.parametrize("number", range(len(SAMPLES)), ids=[sample.key for sample in SAMPLES])
def test_opening_a_sample(number: int) -> None:
    sample = SAMPLES[number]
    visitor = Visitor().press("Open this sample", number)
    assert visitor.title == sample.name
    assert columns_of(visitor) == {
        "Text": sample.text, "Group": sample.group, "Title": sample.title, "Date": sample.date, "Document": "(none)",
    }  # fmt: skip
    corpus = visitor.workspace.corpus
    assert corpus is not None and f"{corpus.n_documents:,} documents" in visitor.text
    for group, size in corpus.group_sizes().items():
        assert group in visitor.text and str(size) in visitor.text
    for note in corpus.notes:
        assert note.text in visitor.text, "everything that was read or left out is told"
    visitor.go("explore")
    assert visitor.widget("number_input", "How many topics?").value == sample.suggested_topics


def test_an_upload_is_read_and_the_uploader_lets_go_of_it() -> None:
    visitor = Visitor().upload(("talk.csv", GOOD))
    assert visitor.title.startswith("talk")
    assert columns_of(visitor) == {
        "Text": "text",
        "Group": "group",
        "Title": "title",
        "Date": "(none)",
        "Document": "(none)",
    }
    corpus = visitor.workspace.corpus
    assert corpus is not None and corpus.group_sizes() == {"left": 24, "right": 24}
    kept = [name for name, value in visitor.at.session_state.to_dict().items() if name.startswith("upload_") and value]
    assert kept == ["upload_turn"], "a second copy of the upload stays in the session"


def test_dots_in_the_name_of_a_file_stay() -> None:
    assert Visitor().upload(("v1.2 of talk.csv", GOOD)).title.startswith("v1.2 of talk")


def test_several_files_are_a_group_each() -> None:
    files = [
        (f"{group}.csv", as_csv([row for row in talk() if row[0] == group], ("x", "title", "text")))
        for group in ("left", "right")
    ]
    visitor = Visitor().upload(*files)
    assert visitor.title.startswith("left") and "right" in visitor.title
    assert visitor.workspace.corpus is not None and visitor.workspace.corpus.n_groups == 2


def test_folders_in_a_zip_are_groups() -> None:
    files = {f"{group}__{title.replace(' ', '-')}": text for group, title, text in talk()}
    visitor = Visitor().upload(("talk.zip", zipped(**files)))
    corpus = visitor.workspace.corpus
    assert corpus is not None and corpus.group_names == ("left", "right")


def test_packed_json_lines() -> None:
    lines = "\n".join(json.dumps({"party": group, "body": text}) for group, _, text in talk())
    visitor = Visitor().upload(("talk.jsonl.gz", gzip.compress(lines.encode())))
    assert columns_of(visitor) == {
        "Text": "body",
        "Group": "party",
        "Title": "(none)",
        "Date": "(none)",
        "Document": "(none)",
    }


def test_other_documents_take_the_place_of_the_first() -> None:
    visitor = Visitor().press("Open this sample")
    visitor.upload(("talk.csv", GOOD))
    assert visitor.title.startswith("talk")
    assert visitor.workspace.corpus is not None and visitor.workspace.corpus.n_documents == 48


# --- columns


def test_a_wrong_guess_can_be_corrected() -> None:
    rows = [("harbour talk", group, text) for group, _, text in talk()]
    visitor = Visitor().upload(("talk.csv", as_csv(rows, ("type", "side x", "text"))))
    visitor.choose("Group", "side x").choose("Title", "type")
    corpus = visitor.workspace.corpus
    assert corpus is not None and corpus.group_names == ("left", "right")
    assert set(corpus.documents.titles) == {"harbour talk"}


def chunks(name: str = "which") -> bytes:
    """48 rows of twelve speeches, six in each group, whose rows do not stand together."""
    rows = [(group, f"speech {n // 2 % 6}", text) for n, (group, _, text) in enumerate(talk())]
    return as_csv(rows, ("group", name, "text"))


def test_rows_can_be_passages_of_documents() -> None:
    visitor = Visitor().upload(("chunks.csv", chunks()))
    assert columns_of(visitor)["Document"] == "(none)" and "48 documents in 2 groups" in visitor.text
    visitor.choose("Document", "which")
    assert not visitor.errors and "48 passages of 12 documents in 2 groups" in visitor.text
    assert "48 rows are passages of 12 documents, by the column 'which'" in visitor.text
    assert visitor.text.count("6 (24 passages)") == 2
    corpus = visitor.workspace.corpus
    assert corpus is not None and corpus.origin.tolist() == [n // 4 for n in range(48)]
    visitor.go("explore")
    assert "48 passages of 12 documents are ready" in visitor.text
    visitor.run_topics(2, 5).go("read")
    assert "48 passages" in visitor.text and "Passage 3 of 4" in visitor.text
    visitor.at.query_params["document"] = "2"
    assert visitor.reload().title == "speech 0" and "Passage 2 of 4" in visitor.text
    visitor.press("Later passage")
    assert str(visitor.at.query_params["document"]) == "3" and "Passage 3 of 4" in visitor.text
    del visitor.at.query_params["document"]
    visitor.go("documents").choose("Document", 0)
    assert "48 documents in 2 groups" in visitor.text


def test_a_column_of_documents_that_is_guessed_is_shown_and_told() -> None:
    visitor = Visitor().upload(("chunks.csv", chunks("speech_id")))
    assert columns_of(visitor)["Document"] == "speech_id"
    assert "48 rows are passages of 12 documents, by the column 'speech_id'" in visitor.text


def test_a_column_that_says_nothing_of_documents_is_answered_in_a_sentence() -> None:
    visitor = Visitor().upload(("chunks.csv", chunks())).choose("Document", "group")
    assert len(visitor.errors) == 1 and "'group' cannot be group and document at once" in visitor.errors[0]
    visitor.choose("Document", "which").choose("Title", "which")
    assert not visitor.errors and "48 passages of 12 documents" in visitor.text


def test_without_a_group_it_says_so_and_still_runs() -> None:
    visitor = Visitor().upload(("talk.csv", GOOD)).choose("Group", 0)
    assert visitor.widget("selectbox", "Group").value == "(none)"
    assert "nothing to compare" in visitor.text and not visitor.errors
    assert "Explore topics" in visitor.buttons
    visitor.run_topics(2, 3)
    assert visitor.workspace.job is not None and visitor.workspace.job.status().iteration == 3
    assert visitor.text.count("All documents") >= 2
    visitor.go("compare")
    assert "nothing to compare" in visitor.infos and visitor.title != "Compare the groups"
    visitor.go("download")
    assert visitor.at.get("download_button")


def test_one_column_as_two_is_answered_in_a_sentence() -> None:
    visitor = Visitor().upload(("talk.csv", GOOD)).choose("Title", "text")
    assert len(visitor.errors) == 1 and "'text' cannot be" in visitor.errors[0]
    visitor.choose("Title", "title")
    assert not visitor.errors and visitor.workspace.corpus is not None


def test_too_many_groups_are_answered_in_a_sentence_and_can_be_put_right() -> None:
    rows = [(group, f"{number}", text) for number, (group, _, text) in enumerate(talk(120))]
    visitor = Visitor().upload(("talk.csv", as_csv(rows, ("group", "number", "text")))).choose("Group", "number")
    assert len(visitor.errors) == 1 and "50 groups" in visitor.errors[0]
    assert "Explore topics" not in visitor.buttons
    assert "Explore topics" in visitor.choose("Group", "group").buttons


def test_a_table_without_text_lets_the_person_choose() -> None:
    lines = "a,b\n" + "".join(f"{number},{number % 7}\n" for number in range(60))
    visitor = Visitor().upload(("numbers.csv", lines.encode()))
    assert len(visitor.errors) == 1 and "text" in visitor.errors[0]
    visitor.choose("Text", "b")
    assert not any("looks like text" in sentence for sentence in visitor.errors)


# --- words


def test_word_settings_change_the_corpus() -> None:
    visitor = Visitor().upload(("talk.csv", GOOD))
    before = visitor.workspace.corpus
    assert before is not None and "harbour" in before.vocabulary
    visitor.fill("text_area", "More words", "harbour, Ship\ncrane").press("Use these settings")
    after = visitor.workspace.corpus
    assert after is not None and after is not before
    assert not {"harbour", "ship", "crane"} & set(after.vocabulary)
    assert after.settings.extra_stop_words == ("harbour", "Ship", "crane")
    assert set(before.vocabulary) - set(after.vocabulary) == {"harbour", "ship", "crane"}


def test_prepared_text_is_taken_as_it_is() -> None:
    rows = [(group, title, "The A of " + text + " 42") for group, title, text in talk()]
    visitor = Visitor().upload(("talk.csv", as_csv(rows)))
    assert visitor.workspace.corpus is not None and "42" not in visitor.workspace.corpus.vocabulary
    visitor.fill("checkbox", "The text is prepared", True).press("Use these settings")
    assert {"The", "A", "of", "42"} <= set(visitor.workspace.corpus.vocabulary)


def test_the_same_settings_again_keep_the_corpus() -> None:
    visitor = Visitor().upload(("talk.csv", GOOD))
    before = visitor.workspace.corpus
    assert visitor.press("Use these settings").workspace.corpus is before


def test_settings_that_leave_no_words_are_answered_in_a_sentence_and_can_be_put_right() -> None:
    visitor = Visitor().upload(("talk.csv", GOOD))
    visitor.fill("number_input", "A word must be in at least", 1000).press("Use these settings")
    assert len(visitor.errors) == 1 and "minimum number of documents" in visitor.errors[0]
    assert visitor.workspace.corpus is None and "Explore topics" not in visitor.buttons
    visitor.fill("number_input", "A word must be in at least", 1).press("Use these settings")
    assert not visitor.errors and "Explore topics" in visitor.buttons


# --- what cannot be used

DAMAGED_ZIP = bytearray(zipped(left__a=" ".join(text for _, _, text in talk())))
DAMAGED_ZIP[60:90] = b"\xff" * 30

UNREADABLE: dict[str, tuple[str, bytes]] = {
    "empty": ("empty.csv", b""),
    "white space": ("blank.csv", b"\n \n"),
    "header alone": ("header.csv", b"group,text\n"),
    "binary": ("binary.csv", bytes(range(256)) * 64),
    "an image": ("picture.csv", b"\x89PNG\r\n\x1a\n" + b"\x00\x01\x02\xff" * 500),
    "one column": ("one.csv", b"text\nharbour\nship\n"),
    "damaged gzip": ("broken.csv.gz", b"\x1f\x8b\x08 and no more"),
    "damaged zip": ("broken.zip", b"PK\x03\x04 and no more"),
    "a zip with damaged files": ("damaged.zip", bytes(DAMAGED_ZIP)),
    "an empty zip": ("nothing.zip", zipped()),
    "no JSON": ("broken.json", b"{this is none"),
    "JSON without rows": ("number.json", b"42"),
    "no JSON lines": ("broken.jsonl", b"neither\nis this\n"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_answered_in_a_sentence(name: str) -> None:
    visitor = Visitor().upload(UNREADABLE[name])
    (sentence,) = visitor.errors
    assert sentence.endswith(".") and "\n" not in sentence
    assert UNREADABLE[name][0].split(".")[0] in sentence, "it says which file"
    assert visitor.workspace.collection is None
    assert not visitor.upload(("talk.csv", GOOD)).errors and visitor.title.startswith("talk")


NOT_ENOUGH: dict[str, bytes] = {
    "one document": b"group,text\nleft,harbour ship crane cargo strike union picket\n",
    "one document many times": b"group,text\n" + b"left,harbour ship crane cargo strike union\n" * 30,
    "stop words alone": b"group,text\n" + b"left,the and of it is was the\nright,and of the to in it\n" * 20,
    "no text": b"group,text\n" + b"left,\nright,   \n" * 20,
}


@pytest.mark.parametrize("name", NOT_ENOUGH)
def test_documents_that_are_not_enough_are_answered_in_a_sentence(name: str) -> None:
    visitor = Visitor().upload(("little.csv", NOT_ENOUGH[name]))
    assert len(visitor.errors) == 1 and visitor.errors[0].endswith(".")
    assert "Explore topics" not in visitor.buttons
    assert visitor.at.file_uploader, "other documents can be brought"
    visitor.go("explore")
    assert "There are no documents yet" in visitor.text


def test_a_file_that_cannot_be_read_loses_nothing(finished: str) -> None:
    visitor = Visitor(finished)
    workspace = visitor.workspace
    corpus, job, name = workspace.corpus, workspace.job, workspace.name
    visitor.upload(UNREADABLE["binary"])
    assert len(visitor.errors) == 1
    assert (workspace.corpus, workspace.job, workspace.name) == (corpus, job, name)
    assert not visitor.reload().errors, "told once"
