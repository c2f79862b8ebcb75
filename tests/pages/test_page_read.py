"""The page Read: searching, narrowing down, and a document with its words coloured by topic."""

from __future__ import annotations

import datetime
import re

import pytest
from visitor import Visitor, as_csv, talk

from pages.parts.workspace import Reading

pytestmark = pytest.mark.timeout(60)

NAMES = ("group", "title", "text", "date", "kind")


def dated() -> list[tuple[str, ...]]:
    """The talk of harbour and school with dates, and a column of two kinds; document 5 says more than others."""
    rows = []
    for number, (group, title, text) in enumerate(talk(48)):
        text = f"{text} A café strike, a harbour strike." if number == 5 else text
        rows.append((group, title, text, f"2031-{1 + number // 4:02d}-15", ("news", "opinion")[number % 3 == 0]))
    return rows


@pytest.fixture(scope="module")
def read() -> str:
    """Key of a workspace whose documents have dates and kinds, with a finished run."""
    return Visitor().upload(("talk.csv", as_csv(dated(), NAMES))).run_topics(3, 60).key


def reading_of(visitor: Visitor) -> Reading:
    reading = visitor.workspace.reading()
    assert reading is not None
    return reading


def at_read(key: str, search: str = "") -> Visitor:
    visitor = Visitor(key).go("read")
    return look_for(visitor, search) if search else visitor


def look_for(visitor: Visitor, words: str) -> Visitor:
    return visitor.step(visitor.widget("text_input", "Search titles").set_value(words).run)


def results(visitor: Visitor) -> list[int]:
    """Numbers of the documents in the list."""
    (found,) = [piece for piece in visitor.markup if "px-results" in piece] or [""]
    return [int(number) for number in re.findall(r'class="px-open" data-pick="(\d+)"', found)]


def counted(visitor: Visitor) -> int:
    (told,) = [piece for piece in visitor.markup if "px-found" in piece] or ["<b>0"]
    number = re.search(r"<b>([\d,]+)", told)
    assert number
    return int(number[1].replace(",", ""))


def test_without_documents_it_leads_to_some_and_without_a_run_it_searches() -> None:
    visitor = Visitor().go("read").press("Choose documents")
    assert "Open this sample" in visitor.buttons
    visitor.upload(("talk.csv", as_csv(talk()))).go("read")
    assert counted(visitor) == 48 and len(results(visitor)) == 10
    assert not [piece for piece in visitor.markup if "px-topics" in piece]
    look_for(visitor, '"document 7"')
    assert results(visitor) == [7]
    visitor.at.query_params["document"] = "8"
    assert "Document 7" in visitor.reload().title


def test_words_phrases_and_accents(read: str) -> None:
    visitor = at_read(read, "CAFE strike")
    assert results(visitor) == [5] and counted(visitor) == 1
    (found,) = [piece for piece in visitor.markup if "px-results" in piece]
    assert "<mark>café</mark> <mark>strike</mark>" in found
    assert results(look_for(visitor, '"harbour strike"')) and 5 in results(visitor)
    assert counted(look_for(visitor, "harbour strike")) >= counted(look_for(visitor, '"harbour strike"'))


def test_how_many_there_are_in_each_group(read: str) -> None:
    visitor = at_read(read, "picket")
    reading = reading_of(visitor)
    texts, groups = reading.corpus.documents.texts, reading.corpus.document_group
    found = [d for d, text in enumerate(texts) if re.search(r"\bpicket\b", text)]
    left = sum(groups[d] == 0 for d in found)
    assert (
        counted(visitor) == len(found)
        and f"{left} of 24" in visitor.text
        and f"{len(found) - left} of 24" in visitor.text
    )


def test_nothing_found_is_said(read: str) -> None:
    visitor = at_read(read, "submarine")
    assert not results(visitor) and "No document has submarine" in " ".join(visitor.text.split())
    assert not visitor.errors


def test_words_with_a_hyphen_are_found_beside_one_another_and_it_says_so(read: str) -> None:
    visitor = at_read(read, "harbour-strike")
    assert sorted(results(visitor)) == [
        number for number, (_, _, text, *_) in enumerate(dated()) if "harbour strike" in text
    ]
    assert 'Looked for harbour-strike or "harbour strike".' in as_one(visitor.text)
    assert visitor.captions == (
        "Topics have no “harbour-strike”, since texts are cut into words at hyphens. Search for “harbour” and “strike” alone to "
        "see the topics of that word."
    )
    assert 'No document has school-crane or "school crane".' in as_one(at_read(read, "school-crane").text)


def as_one(text: str) -> str:
    """With single blanks, and none before punctuation."""
    return re.sub(r" (?=[.,])", "", " ".join(text.split()))


def test_the_address_says_what_is_searched_for(read: str) -> None:
    visitor = at_read(read, "picket")
    assert visitor.at.query_params["search"] == "picket"
    visitor.at.query_params["search"] = "teacher"
    visitor.reload()
    assert visitor.widget("text_input", "Search titles").value == "teacher"
    assert "search" not in look_for(visitor, "").at.query_params


def test_the_best_match_comes_first_and_other_orders_can_be_chosen(read: str) -> None:
    visitor = at_read(read)
    order = visitor.widget("selectbox", "Order")
    assert order.value == "file" and results(visitor) == list(range(10))
    visitor.step(order.set_value("new").run)
    assert results(visitor) == [44, 45, 46, 47, 40, 41, 42, 43, 36, 37]
    look_for(visitor, "strike")
    assert visitor.widget("selectbox", "Order").value == "match"
    visitor.step(visitor.widget("selectbox", "Order").set_value("old").run)
    assert results(visitor) == sorted(results(visitor))


def test_more_than_a_page(read: str) -> None:
    visitor = at_read(read)
    visitor.step(visitor.at.pagination[0].set_value(5).run)
    assert results(visitor) == list(range(40, 48))
    assert results(look_for(visitor, "document")) and len(results(visitor)) == 10, (
        "other documents begin on their first page"
    )


def test_conditions(read: str) -> None:
    visitor = at_read(read)
    reading = reading_of(visitor)
    shares = reading.passages.belonging.shares
    visitor.step(visitor.widget("selectbox", "Topic").set_value(1).run)
    visitor.step(visitor.widget("slider", "At least").set_value(50).run)
    expected = {d for d in range(48) if shares[d, 1] >= 0.5}
    assert counted(visitor) == len(expected) > 0 and visitor.widget("selectbox", "Order").value == "topic"
    listed = results(visitor)
    assert set(listed) <= expected and listed == sorted(listed, key=lambda d: -shares[d, 1])
    assert "Topic 2 at least 50%" in visitor.text

    visitor.step(visitor.widget("multiselect", "Groups").set_value([0]).run)
    assert counted(visitor) == sum(reading.corpus.document_group[d] == 0 for d in expected)
    visitor.press("Leave all filters out")
    assert counted(visitor) == 48

    visitor.step(visitor.widget("multiselect", "kind").set_value(["opinion"]).run)
    assert counted(visitor) == 16
    visitor.step(visitor.widget("date_input", "From").set_value(datetime.date(2031, 6, 1)).run)
    expected = {d for d in range(0, 48, 3) if 1 + d // 4 >= 6}
    assert counted(visitor) == len(expected) and set(results(visitor)) <= expected
    assert "from 2031-06-01" in visitor.text and "kind opinion" in visitor.text


def test_a_word_says_in_which_topics_it_lives(read: str) -> None:
    visitor = at_read(read, "teacher")
    (told,) = [piece for piece in visitor.markup if "px-lives" in piece]
    reading = reading_of(visitor)
    number = reading.corpus.vocabulary.index("teacher")
    wording = reading.topics.wordings[0, number]
    strongest = int(re.findall(r'data-pick="(\d+)"', told)[0])
    assert wording[strongest] == wording.max()
    parts = [float(value.rstrip("%")) for value in re.findall(r"<em>([\d.]+%)</em>", told)]
    assert parts == sorted(parts, reverse=True) and 50 < sum(parts) <= 101
    assert "everyday word" in look_for(visitor, "and").captions
    assert "everyday word" not in look_for(visitor, "harbour school").captions


def test_results_as_a_table(read: str) -> None:
    visitor = at_read(read, "teacher")
    visitor.at.session_state["read_table"] = True
    visitor.reload()
    (table,) = (one.value for one in visitor.at.dataframe)
    assert len(table) == counted(visitor) and list(table.columns) == ["Document", "Title", "Group", "Date"]


def document_of(visitor: Visitor, number: int) -> str:
    visitor.at.query_params["document"] = str(number + 1)
    (shown,) = [piece for piece in visitor.reload().markup if "px-document" in piece]
    return shown


def test_a_document_has_its_words_in_the_colours_of_their_topics(read: str) -> None:
    visitor = at_read(read)
    reading = reading_of(visitor)
    shown = document_of(visitor, 7)
    assert visitor.title == "Document 7" and "2031-02-15" in visitor.text and "kind" in visitor.text
    legend, _, text = shown.partition('<div class="px-texts">')
    slots = {int(slot): int(topic) for topic, slot in re.findall(r'data-pick="(\d+)".*?px-t px-t(\d)"', legend)}
    belonging = reading.passages.belonging
    coloured = re.findall(r'<span class="px-t px-t(\d)" title="[^"]*">([^<]+)</span>', text)
    assert len(coloured) >= 10
    for slot, word in coloured:
        likely = belonging.of(belonging.number[word.lower()], 7)[0]
        assert likely.argmax() == slots[int(slot)] and likely.max() > 0.5
    assert re.sub(r"<[^>]+>", "", text) == reading.corpus.documents.texts[7]
    shares = [float(value.rstrip("%")) for value in re.findall(r"<em>([\d.]+)%</em>", legend)]
    assert shares == sorted(shares, reverse=True) and shares[0] == pytest.approx(
        100 * belonging.shares[7].max(), abs=0.6
    )


def test_one_topic_can_be_singled_out(read: str) -> None:
    visitor = at_read(read)
    topic = int(reading_of(visitor).passages.belonging.shares[7].argmax())
    visitor.at.session_state["open_document_topic"] = topic
    shown = document_of(visitor, 7)
    assert f'data-pick="{topic}" aria-pressed="true"' in shown
    kinds = set(re.findall(r'<span class="(px-t[^"]*)" title', shown.partition("px-texts")[2]))
    assert len(kinds) == 1 and "px-only" in kinds.pop()


def test_from_one_result_to_the_next_with_the_words_marked(read: str) -> None:
    visitor = at_read(read, "strike")
    found = counted(visitor)
    first, second = results(visitor)[:2]
    shown = document_of(visitor, first)
    assert re.search(r"<mark>(<span[^>]*>)?strike", shown)
    assert f"1 of {found} in this list" in visitor.text
    visitor.press("Next")
    assert visitor.at.query_params["document"] == str(second + 1)
    visitor.press("Previous").press("Back to the documents")
    assert results(visitor)[0] == first and "document" not in visitor.at.query_params


@pytest.mark.parametrize("number", ["0", "49", "-1", "x", "9" * 5000, "1.5"])
def test_an_address_of_no_document_shows_the_search(read: str, number: str) -> None:
    visitor = at_read(read)
    visitor.at.query_params["document"] = number
    assert visitor.reload().title == "Read" and counted(visitor) == 48


def test_passages_of_a_long_document_are_read_in_order() -> None:
    harbour, school = ("harbour ship crane cargo quay. " * 300, "school teacher lesson pupil class. " * 300)
    rows = [("left", "Long", harbour + school), ("right", "Other", school + harbour)]
    visitor = Visitor().upload(("long.csv", as_csv(rows))).run_topics(2, 30).go("read")
    reading = reading_of(visitor)
    last = int((reading.corpus.origin == 0).sum())
    assert last > 3 and f"of {last}" in visitor.text, "passages are told apart"
    document_of(visitor, 0)
    assert f"Passage 1 of {last}" in visitor.text
    visitor.press("Later passage").press("Later passage").press("Earlier passage")
    assert visitor.at.query_params["document"] == "2" and f"Passage 2 of {last}" in visitor.text
    visitor.step(visitor.widget("toggle", "All passages").set_value(True).run)
    (shown,) = [piece for piece in visitor.markup if "px-document" in piece]
    assert shown.count('class="px-text"') == last and shown.count("aria-current") == 1
