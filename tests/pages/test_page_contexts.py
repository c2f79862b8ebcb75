"""From word to passage on the page Compare, a topic over time and by other columns."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import pytest
from test_page_escaping import Elements, assert_no_markdown_of_others, assert_only_our_elements
from visitor import Visitor, as_csv, talk

from pages.parts.document_view import OPEN, OpenDocument
from pages.parts.topic_list import CLICKED

pytestmark = pytest.mark.timeout(60)

NAMES = ("group", "title", "text", "date", "kind")


def dated(groups: tuple[str, ...] = ("left", "right"), documents: int = 48) -> bytes:
    """Four documents a month; every third is an opinion; the first date cannot be read, the second is missing."""
    rows = []
    for number, (group, title, text) in enumerate(talk(documents, groups)):
        date = ("soon", "")[number] if number < 2 else f"{1 + number // 4 % 12:02d}/15/2031"
        rows.append((group, title, text, date, ("news", "opinion")[number % 3 == 0]))
    return as_csv(rows, NAMES)


@pytest.fixture(scope="module")
def compared() -> str:
    """Key of a workspace whose documents have dates and kinds, with a finished run."""
    return Visitor().upload(("talk.csv", dated())).run_topics(3, 60).key


def with_word(key: str, word: str) -> Visitor:
    """Compare, where a word of the topic that is read was clicked."""
    visitor = Visitor(key).go("compare")
    visitor.at.session_state[CLICKED] = visitor.topic, word
    return visitor.reload()


def columns_of(visitor: Visitor) -> list[str]:
    return [piece for piece in visitor.markup if "px-contexts" in piece]


def test_without_a_word_there_are_passages(compared: str) -> None:
    visitor = Visitor(compared).go("compare")
    passages = [piece for piece in visitor.markup if "px-passage" in piece]
    assert len(passages) == 2 and not columns_of(visitor)
    assert all(passage.count('class="px-passage"') == 4 and passage.count("data-pick") == 4 for passage in passages)
    visitor.press("More passages")
    more = [piece for piece in visitor.markup if "px-passage" in piece]
    assert sorted(piece.count('class="px-passage"') for piece in more) == [4, 8]


def test_a_word_is_read_in_every_group(compared: str) -> None:
    visitor = with_word(compared, "strike")
    reading = visitor.reading
    uses = np.flatnonzero(reading.corpus.token_word == reading.corpus.vocabulary.index("strike"))
    groups = reading.corpus.document_group[reading.corpus.token_document[uses]]
    left, right = columns_of(visitor)
    assert f"{(groups == 0).sum():,} use" in left and "Never uses this word." in right
    contexts = re.findall(r'<div class="px-kwic" dir="auto">(.*?)</div>', left)
    assert len(contexts) == 8 and all("<b>strike</b>" in context for context in contexts)
    texts = {" ".join(text.split()) for text in reading.corpus.documents.texts}
    for context in contexts:
        plain = unescape(re.sub(r"<[^>]+>", "", context)).replace("… ", "").replace(" …", "")
        assert any(plain in text for text in texts)
    (more,) = [label for label in visitor.buttons if label.endswith("more")]
    assert columns_of(visitor.press(more))[0].count("px-kwic") == 16


def test_a_word_that_is_not_there_any_more_gives_passages(compared: str) -> None:
    visitor = with_word(compared, "submarine")
    assert not columns_of(visitor) and any("px-passage" in piece for piece in visitor.markup)


def test_back_to_passages_and_on_to_all_documents(compared: str) -> None:
    visitor = with_word(compared, "strike").press("Passages instead")
    assert not columns_of(visitor)
    topic = visitor.topic
    visitor.press("All documents with this topic")
    assert visitor.title == "Read" and visitor.widget("selectbox", "Topic").value == topic


def opened(visitor: Visitor) -> str:
    """The document in the drawer; '' where none is open."""
    found = re.findall(r'<div class="px-title"[^>]*>([^<]*)</div>', "".join(visitor.markup))
    return unescape(found[0]) if found else ""


def test_an_open_document_stays_open_when_the_page_is_drawn_again(compared: str) -> None:
    """As it is when something in the background is done."""
    visitor = with_word(compared, "strike")
    assert not opened(visitor)
    visitor.at.session_state[OPEN] = OpenDocument(8, (4, 8, 12), "strike")
    assert opened(visitor.reload()) == "Document 8" == opened(visitor.reload())
    assert "2 of 3 in this list" in visitor.text
    visitor.press("Next", -1)
    assert opened(visitor) == "Document 12" == opened(visitor.reload())
    visitor.go("read").go("compare")
    assert not opened(visitor), "it was left for the page Read"
    visitor.at.session_state[OPEN] = OpenDocument(48, (), None)
    assert not opened(visitor.reload()), "of other documents"


def figures(visitor: Visitor) -> list[dict]:
    """Pictures of the topic over time."""
    found = [json.loads(picture.proto.spec) for picture in visitor.at.get("plotly_chart")]
    return [figure for figure in found if any(trace["type"] == "bar" for trace in figure["data"])]


def test_over_time(compared: str) -> None:
    visitor = Visitor(compared).go("compare")
    (figure,) = figures(visitor)
    lines = [trace for trace in figure["data"] if trace.get("mode") == "lines+markers"]
    assert [line["name"] for line in lines] == ["left", "right"]
    assert lines[0]["marker"]["symbol"] != lines[1]["marker"]["symbol"], "not told by colour alone"
    assert visitor.widget("button_group", "Periods").value == "quarter"
    assert "1 without a date" in visitor.text and "1 whose date could not be read (such as “soon”)" in visitor.text
    table = next(one.value for one in visitor.unfold("periods_table").at.dataframe if "Period" in one.value)
    assert table["Documents"].sum() == 46 and set(table["Group"]) == {"left", "right"}
    belonging = visitor.reading.passages.belonging
    first = [d for d in range(2, 12) if belonging.corpus.document_group[d] == 0]
    said = belonging.lengths[first] @ belonging.shares[first, visitor.topic] / belonging.lengths[first].sum()
    assert table["Share"].iloc[0] == pytest.approx(100 * said)
    assert len(set(table["Period"])) == 4
    visitor.step(visitor.widget("button_group", "Periods").set_value("month").run)
    assert len(set(next(one.value for one in visitor.at.dataframe if "Period" in one.value)["Period"])) == 12


def test_how_the_wording_changed(compared: str) -> None:
    visitor = Visitor(compared).go("compare").unfold("periods_words")
    (told,) = [piece for piece in visitor.markup if "px-change" in piece]
    assert "from 15 June 2031 on" in told or "from 15 July 2031 on" in told
    for kind in ("Two periods", "First and second half"):
        visitor.step(visitor.widget("button_group", "Between").set_value(kind).run)
        visitor.step(visitor.widget("selectbox", "Whose words").set_value(1).run)
        assert [piece for piece in visitor.markup if "px-change" in piece] and not visitor.errors
    visitor.step(visitor.widget("button_group", "Between").set_value("Two periods").run)
    later = visitor.widget("selectbox", "Later")
    visitor.step(later.set_value(visitor.widget("selectbox", "Earlier").value).run)
    assert "of one time" in visitor.text


def test_dates_that_can_be_read_in_two_ways_are_asked_about() -> None:
    rows = [(g, t, text, f"{1 + n % 12:02d}/{1 + n % 11:02d}/2031", "x") for n, (g, t, text) in enumerate(talk())]
    visitor = Visitor().upload(("talk.csv", as_csv(rows, NAMES))).run_topics(2, 6).go("compare")
    choice = next(one for one in visitor.at.button_group if "two ways" in one.label)
    before = figures(visitor)
    visitor.step(choice.set_value(True).run)
    assert figures(visitor) != before and not visitor.errors


@pytest.mark.parametrize("dates", ["", "2031-05-05"])
def test_without_dates_or_with_one_there_is_nothing_over_time(dates: str) -> None:
    rows = [(g, t, text, dates, "x") for g, t, text in talk()]
    visitor = Visitor().upload(("talk.csv", as_csv(rows, NAMES))).run_topics(2, 6).go("compare")
    assert "Over time" not in [one.value for one in visitor.at.subheader]
    assert "By other columns" not in [one.value for one in visitor.at.subheader]


def test_many_groups_have_a_picture_each() -> None:
    groups = tuple(f"group {number}" for number in range(14))
    visitor = Visitor().upload(("talk.csv", dated(groups, 140))).run_topics(2, 6).go("compare")
    assert len(figures(visitor)) == 1, "at first those that talk about it most, in one picture"
    assert len(figures(visitor.unfold("periods_pictures"))) == 1 + 12
    visitor.step(visitor.widget("multiselect", "Groups that are shown").set_value([3, 13]).run)
    assert len(figures(visitor)) == 1 + 2


def test_by_other_columns(compared: str) -> None:
    visitor = Visitor(compared).go("compare")
    (table,) = [piece for piece in visitor.markup if "px-cross" in piece]
    belonging = visitor.reading.passages.belonging
    topic = visitor.topic
    kinds = np.array(belonging.corpus.documents.fields["kind"])
    rows = re.findall(r"<tr><th[^>]*>(\w+)</th>(.*?)</tr>", table.partition("<tbody>")[2])
    assert [value for value, _ in rows] == ["news", "opinion"]
    for value, cells in rows:
        shown = re.findall(r"<b>([\d.]+)%</b><small>(\d+)</small>", cells)
        for (percent, documents), group in zip(shown, (None, 0, 1), strict=True):
            cell = (kinds == value) & ((group is None) | (belonging.corpus.document_group == group))
            share = belonging.lengths[cell] @ belonging.shares[cell, topic] / belonging.lengths[cell].sum()
            assert int(documents) == cell.sum() and float(percent) == pytest.approx(100 * share, abs=0.51)


def test_few_documents_are_pale_and_the_table_can_be_sorted() -> None:
    rows = [(g, t, text, "", "rare" if n < 3 else "often") for n, (g, t, text) in enumerate(talk())]
    visitor = Visitor().upload(("talk.csv", as_csv(rows, NAMES))).run_topics(2, 6).go("compare")
    (table,) = [piece for piece in visitor.markup if "px-cross" in piece]
    assert table.count("px-few") == 3
    values = next(one.value for one in visitor.unfold("crosstab_table").at.dataframe if "Value" in one.value)
    assert values["Documents"].tolist() == [45, 22, 23, 3, 2, 1]


SCRIPT = "<script>window.taken=1</script>"
IMAGE = '<img src=x onerror="window.taken=1">'
MARKDOWN = "**bold** [link](http://bad.example) :red[red] $x^2$"


def test_markup_stays_text_wherever_documents_are_read() -> None:
    groups = (f"{IMAGE}left {MARKDOWN}", f"{SCRIPT}right")
    rows = [
        (
            group,
            f"{IMAGE}{title} {MARKDOWN}",
            f"{SCRIPT} {text} {IMAGE} {MARKDOWN}",
            f"2031-0{1 + n // 8}-05 {IMAGE}",
            f"{SCRIPT}{n % 2}",
        )
        for n, (group, title, text) in enumerate(talk(48, groups))
    ]
    data = as_csv(rows, ("group", "title", "text", "date", f"kind {IMAGE} {MARKDOWN}"))
    visitor = Visitor().upload(("talk.csv", data)).choose("Group", "group").run_topics(2, 10)
    key = visitor.key
    pages = [with_word(key, "strike"), Visitor(key).go("read"), Visitor(key).go("read")]
    pages[0].unfold("periods_words", "periods_table", "heat_map_to_save", "prevalence_table", "wording_table")
    pages[1].step(pages[1].widget("text_input", "Search titles").set_value('script "taken=1" bold').run)
    pages[2].at.query_params["document"] = "3"
    pages[2].reload()
    for page in pages:
        assert_only_our_elements(page)
        assert_no_markdown_of_others(page)
        told = "".join(Elements(piece).text for piece in page.markup)
        assert SCRIPT in told and f"{IMAGE}Document" in told + page.title and MARKDOWN in told, "shown as it is written"
        for picture in page.at.get("plotly_chart"):
            data = [
                {key: trace[key] for key in trace if key != "hovertemplate"}
                for trace in json.loads(picture.proto.spec)["data"]
            ]
            assert not re.findall(r"<(?:script|img|b|a)[ >]", json.dumps(data).replace("<br>", ""))
