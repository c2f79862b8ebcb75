"""Reading a run: Compare and Download, for one, two and many groups."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from visitor import Visitor, as_csv, talk

from spdp_engine.topics import Topics

pytestmark = pytest.mark.timeout(60)


def topics_of(visitor: Visitor) -> Topics:
    reading = visitor.workspace.reading()
    assert reading is not None
    return reading.topics


def words_of(visitor: Visitor) -> list[list[str]]:
    """Words of each group's table, whose columns stand in one piece of HTML."""
    (columns,) = [piece for piece in visitor.markup if "px-abreast" in piece]
    return [re.findall(r"<button[^>]*>([^<]+)</button>", table) for table in columns.split("<table")[1:]]


@pytest.mark.parametrize("page", ["compare", "download"])
def test_without_a_run_it_leads_to_one(page: str) -> None:
    visitor = Visitor().go(page)
    assert "yet" in visitor.text
    visitor.press("Choose documents")
    assert "Open this sample" in visitor.buttons
    visitor.upload(("talk.csv", as_csv(talk()))).go(page).press("Find topics")
    assert "Start" in visitor.buttons


def test_compare_shows_the_most_differently_worded_topic_first(finished: str) -> None:
    visitor = Visitor(finished).go("compare")
    topics = topics_of(visitor)
    box = visitor.widget("selectbox", "Topic")
    assert box.value == topics.order("gap")[0] and len(box.options) == topics.n_topics
    assert f"{topics.gap[box.value]:.2f} apart" in visitor.text
    visitor.step(visitor.at.selectbox(key="compare_order").set_value("prevalence").run)
    assert [re.match(r"Topic (\d+)", option)[1] for option in visitor.widget("selectbox", "Topic").options] == [  # type: ignore[index]
        str(topic + 1) for topic in topics.order("prevalence")
    ]
    assert visitor.widget("selectbox", "Topic").value == box.value, "the topic that is read stays"


def test_another_topic_brings_its_words_and_passages(finished: str) -> None:
    visitor = Visitor(finished).go("compare")
    topics = topics_of(visitor)
    seen = set()
    for place in range(topics.n_topics):
        visitor.choose("Topic", place)
        topic = visitor.widget("selectbox", "Topic").value
        seen.add(topic)
        speaking = [i for i in range(2) if topics.tokens[i, topic] >= 1]
        for words, i in zip(words_of(visitor), speaking, strict=True):
            assert words == [word.word for word in topics.top_words(topic, 18)[i]]
        passages = [piece for piece in visitor.markup if "px-passage" in piece]
        assert len(passages) == 2, "a column of passages for each group"
        for passage in passages:
            assert 1 <= passage.count('class="px-passage"') <= 4 and "Document " in passage
            assert set(re.findall(r"<mark>([^<]+)</mark>", passage)) <= set(topics.vocabulary)
    assert seen == set(range(topics.n_topics))
    assert any("<mark>" in piece for piece in visitor.markup)


def test_own_words(finished: str) -> None:
    visitor = Visitor(finished).go("compare")
    topics = topics_of(visitor)
    control = visitor.at.segmented_control(key="compare_words")
    (own,) = [option for option in control.options if option.startswith("Own")]
    visitor.step(control.set_value(own).run)
    topic = visitor.widget("selectbox", "Topic").value
    expected = [[word.word for word in words] for words in topics.own_words(topic, 18)]
    assert {"strike", "union", "picket"} & set(expected[0]) and {"stoppage", "employer", "roster"} & set(expected[1])
    for shown, words in zip(words_of(visitor), expected, strict=True):
        assert shown[: len(words)] == words, "words that are clearly its own come first"


def test_the_topic_and_the_view_are_kept_when_the_page_changes(finished: str) -> None:
    visitor = Visitor(finished).go("compare").choose("Topic", 2)
    topic = visitor.widget("selectbox", "Topic").value
    visitor.go("download").go("compare")
    assert visitor.widget("selectbox", "Topic").value == topic


def test_shares_are_within_groups(finished: str) -> None:
    visitor = Visitor(finished).go("compare")
    topics = topics_of(visitor)
    topic = visitor.widget("selectbox", "Topic").value
    for group, rank in zip(range(2), topics.group_rank[:, topic], strict=True):
        share = topics.prevalence[group, topic]
        shown = f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"
        told = f'title="Share of the group’s words. The topic is its number {rank} of 3.">{shown}</span>'
        assert any(told in piece for piece in visitor.markup)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("page", ["documents", "explore", "compare", "download"])
def test_every_page_in_both_themes(page: str, theme: str, finished: str) -> None:
    visitor = Visitor(finished, theme).go(page)
    assert visitor.title and not visitor.errors
    if page in ("explore", "compare"):
        assert visitor.at.get("plotly_chart")


def many_groups() -> bytes:
    """Thirteen groups, one with a single document of a word that the others do not use."""
    rows = talk(130, tuple(f"group {number}" for number in range(12)))
    return as_csv([*rows, ("the thirteenth", "Alone", "zebra zebra zebra"), ("group 0", "Too", "zebra harbour zebra")])


def one_long_group_name() -> bytes:
    return as_csv(talk(48, ("A" * 300, "b")))


def twins() -> bytes:
    """Two groups that say the very same: no difference anywhere."""
    rows = talk(48)
    return as_csv([*(("left", t, text) for _, t, text in rows), *(("right", t, text) for _, t, text in rows)])


@pytest.mark.parametrize("make", [many_groups, one_long_group_name, twins], ids=lambda make: make.__name__)
def test_unusual_groups_are_shown_on_every_page(make: Callable[[], bytes]) -> None:
    visitor = Visitor().upload(("groups.csv", make())).run_topics(3, 6)
    for page in ("explore", "compare", "download", "documents"):
        assert not visitor.go(page).errors


def test_groups_with_names_that_begin_alike_keep_rows_of_their_own() -> None:
    """What is left of long names would not tell them apart."""
    names = ("The Corran Bay Ledger on Monday", "The Corran Bay Ledger on Sunday", "The Dockside Lantern")
    visitor = Visitor().upload(("talk.csv", as_csv(talk(72, names)))).run_topics(2, 6).go("compare")
    (picture,) = visitor.unfold("heat_map_to_save").at.get("plotly_chart")
    labels = json.loads(picture.proto.spec)["layout"]["xaxis"]["ticktext"]
    assert len(set(labels)) == 3


def test_compare_while_the_run_goes_on() -> None:
    visitor = Visitor().upload(("talk.csv", as_csv(talk()))).go("explore")
    visitor.fill("number_input", "How many topics?", 2).fill("number_input", "Iterations", 100_000).press("Start")
    job = visitor.workspace.job
    assert job is not None
    while job.sample() is None:
        job.wait(0.01)
    visitor.go("compare")
    assert len(words_of(visitor)) == 2
    assert "still going on" in visitor.go("download").infos
    job.discard()
