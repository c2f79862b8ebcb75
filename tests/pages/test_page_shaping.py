"""Shaping topics on the page Compare: names, places, merging, hiding, links, and going on with other words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1.element_tree import Selectbox
from visitor import PATIENCE, Visitor, as_csv, talk

from pages.parts.workspace import PARAMETER, Reading
from spdp_engine.corpus import CorpusSettings, build_corpus
from spdp_engine.corpus.changes import WordChange
from spdp_engine.jobs import JobState
from spdp_engine.topics.view import View

pytestmark = pytest.mark.timeout(90)

TOPICS = 4


@pytest.fixture(scope="module", autouse=True)
def lists_take_what_is_written() -> Iterator[None]:
    """AppTest only sends what a list offers; a browser also sends what was written where the list takes that."""

    def state(box: Selectbox[Any]) -> WidgetState:
        value = box.value
        if value is None:
            return WidgetState(id=box.id)
        return WidgetState(id=box.id, string_value=value if value in box.options else str(box.format_func(value)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Selectbox, "_widget_state", property(state))
        yield


@pytest.fixture(scope="module")
def key() -> str:
    """Of a workspace with a finished run of four topics."""
    return Visitor().upload(("talk.csv", as_csv(talk(72)))).run_topics(TOPICS, 40).key


@pytest.fixture
def at_compare(key: str) -> Visitor:
    """At the page Compare of that run, with nothing made of its topics."""
    visitor = Visitor(key)
    visitor.workspace.view, visitor.workspace.view_history, visitor.workspace.pending = View(), (), ()
    return visitor.go("compare")


def offered(visitor: Visitor) -> list[str]:
    """The topics of the list, without figures."""
    return [option.split(" (")[0] for option in visitor.widget("selectbox", "Topic").options]


def name_field(visitor: Visitor) -> Any:
    return visitor.widget("text_input", "Name of topic")


def rename(visitor: Visitor, name: str) -> Visitor:
    return visitor.step(name_field(visitor).set_value(name).run)


def merge(visitor: Visitor, *others: int) -> Visitor:
    visitor.step(visitor.widget("multiselect", "Read as one with").set_value(list(others)).run)
    return visitor.press("Read them as one")


def picture(visitor: Visitor) -> dict[str, Any]:
    (found, *_) = visitor.at.get("plotly_chart")
    return json.loads(found.proto.spec)


def figures_of(heat_map: str) -> list[list[str]]:
    """What is written in the cells, row by row."""
    return [re.findall(r"<td [^>]*>([^<]*)</td>", row) for row in heat_map.split("<tr ")[1:]]


def others(visitor: Visitor) -> list[int]:
    return [topic for topic in range(TOPICS) if topic != visitor.topic]


class TestNames:
    def test_a_name_is_there_on_every_page_and_after_a_reload(self, at_compare: Visitor) -> None:
        topic = at_compare.topic
        rename(at_compare, "  The  port of <b>Corran</b> ")
        name = "The port of <b>Corran</b>"
        assert at_compare.workspace.view.names == {topic: name}
        assert name in offered(at_compare) and name_field(at_compare).value == name
        assert "port of" in json.dumps(picture(at_compare)) and "<b>Corran" not in json.dumps(
            picture(at_compare)["data"]
        )
        for page in ("explore", "read", "compare"):
            assert name in at_compare.go(page).text or name in offered(at_compare), page
        again = Visitor(at_compare.key).go("compare")
        assert name in offered(again)
        again.workspace.job.extend(2)  # type: ignore[union-attr]
        again.workspace.job.wait(PATIENCE)  # type: ignore[union-attr]
        assert name in offered(again.reload()), "a longer run keeps it"

    def test_the_suggestion_is_one_click_away(self, at_compare: Visitor) -> None:
        topic = at_compare.topic
        suggestion = at_compare.reading.labels.suggest(topic)
        (button,) = [one for one in at_compare.at.button if one.key == "suggestion"]
        assert button.label.replace("\\", "") == f"“{suggestion}”"
        at_compare.step(button.click().run)
        assert at_compare.workspace.view.names == {topic: suggestion}
        assert not [one for one in at_compare.at.button if one.key == "suggestion"], "there is nothing more to suggest"

    def test_an_empty_name_gives_the_number_back(self, at_compare: Visitor) -> None:
        rename(at_compare, "Ports")
        rename(at_compare, "")
        assert not at_compare.workspace.view.names and "Ports" not in offered(at_compare)

    def test_what_was_worked_out_is_kept_when_only_a_name_changes(self, at_compare: Visitor) -> None:
        before = at_compare.reading
        rename(at_compare, "Ports").press("Pin")
        after = at_compare.reading
        assert after.topics is before.topics and after.quality is before.quality and after.passages is before.passages
        merge(at_compare, others(at_compare)[0])
        assert at_compare.reading.quality is not before.quality

    def test_each_topic_has_its_own_field(self, at_compare: Visitor) -> None:
        rename(at_compare, "Ports")
        at_compare.press("Next")
        assert name_field(at_compare).value == ""
        assert name_field(at_compare.press("Previous")).value == "Ports"


class TestUndo:
    def test_every_change_can_be_taken_back_one_by_one(self, at_compare: Visitor) -> None:
        assert "Undo" not in at_compare.buttons
        rename(at_compare, "Ports")
        at_compare.press("Pin")
        merge(at_compare, others(at_compare)[0])
        views = [*at_compare.workspace.view_history, at_compare.workspace.view]
        assert len(views) == 4
        for view in reversed(views[:-1]):
            assert at_compare.press("Undo").workspace.view == view
        assert "Undo" not in at_compare.buttons and name_field(at_compare).value == ""


class TestHiding:
    def test_a_hidden_topic_is_nowhere_but_in_its_place_and_shares_include_it(self, at_compare: Visitor) -> None:
        topic, before = at_compare.topic, at_compare.reading.topics
        at_compare.press("Hide")
        assert at_compare.topic != topic and len(offered(at_compare)) == TOPICS - 1
        assert f"Topic {topic + 1}" not in offered(at_compare)
        texts = picture(at_compare)["data"][0]["text"]
        assert str(topic + 1) not in texts and len(texts) == TOPICS - 1
        assert "Shares of the others still include them" in at_compare.captions
        np.testing.assert_array_equal(at_compare.reading.topics.prevalence, before.prevalence)
        cards = at_compare.go("explore").text
        assert f"Topic {topic + 1} " not in cards and "1 topic is hidden" in cards
        at_compare.go("compare").press("Show again")
        assert len(offered(at_compare)) == TOPICS and "Shares of the others" not in at_compare.captions

    def test_the_last_topic_cannot_be_hidden(self, at_compare: Visitor) -> None:
        for _ in range(TOPICS - 1):
            at_compare.press("Hide")
        (hide,) = [one for one in at_compare.at.button if one.label == "Hide"]
        assert hide.disabled and len(offered(at_compare)) == 1
        assert not at_compare.go("explore").errors


class TestMerging:
    def test_topics_are_read_as_one_and_apart_again(self, at_compare: Visitor) -> None:
        topic, other = at_compare.topic, others(at_compare)[0]
        before = at_compare.reading.topics
        rename(at_compare, "Ports")
        merge(at_compare, other)
        after = at_compare.reading.topics
        assert at_compare.topic == topic and len(offered(at_compare)) == TOPICS - 1
        np.testing.assert_allclose(
            after.prevalence[:, topic], before.prevalence[:, [topic, other]].sum(axis=1), atol=1e-12
        )
        assert f"Topic {topic + 1} + {other + 1}" in at_compare.text and "Read as one" in at_compare.captions
        assert at_compare.reading.model is not after
        for page in ("explore", "read", "trust", "download", "compare"):
            assert not at_compare.go(page).errors, page
        at_compare.press("Split")
        assert at_compare.reading.topics is at_compare.reading.model
        np.testing.assert_array_equal(at_compare.reading.topics.prevalence, before.prevalence)

    def test_all_in_one(self, at_compare: Visitor) -> None:
        merge(at_compare, *others(at_compare))
        assert len(offered(at_compare)) == 1
        assert at_compare.reading.topics.prevalence[:, at_compare.topic] == pytest.approx([1, 1])
        for page in ("explore", "read", "trust", "download"):
            assert not at_compare.go(page).errors, page

    def test_the_most_alike_are_offered_first(self, at_compare: Visitor) -> None:
        reading, topic = at_compare.reading, at_compare.topic
        options = at_compare.widget("multiselect", "Read as one with").options
        likeness = reading.topics.likeness(topic)
        nearest = sorted(others(at_compare), key=lambda other: -likeness[other])
        assert [int(re.match(r"Topic (\d+)", option)[1]) - 1 for option in options] == nearest  # type: ignore[index]


class TestPinning:
    def test_pinned_topics_come_first_everywhere(self, at_compare: Visitor) -> None:
        order = at_compare.reading.order("gap")
        at_compare.choose("Topic", 2).press("Pin").choose("Topic", 3).press("Pin")
        wanted = [order[2], order[3], order[0], order[1]]
        assert at_compare.workspace.view.pinned == (order[2], order[3])
        assert [name.removeprefix("⚑ ") for name in offered(at_compare)] == [f"Topic {topic + 1}" for topic in wanted]
        at_compare.press("Move up")
        assert at_compare.workspace.view.pinned == (order[3], order[2])
        cards = re.findall(r"<b><button[^>]*>Topic (\d+)<", "".join(at_compare.go("explore").markup))
        assert [int(number) - 1 for number in cards[:2]] == [order[3], order[2]]
        at_compare.go("compare").press("Unpin")
        assert at_compare.workspace.view.pinned == (order[2],)


class TestLink:
    def test_an_address_leads_to_a_topic_and_is_kept(self, key: str, at_compare: Visitor) -> None:
        wanted = others(at_compare)[-1]
        visitor = Visitor(key)
        visitor.at.query_params["topic"] = str(wanted + 1)
        visitor.go("compare")
        assert visitor.topic == wanted
        visitor.press("Next")
        assert visitor.topic != wanted and visitor.at.query_params["topic"] == str(visitor.topic + 1)
        (link,) = [code.value for code in visitor.at.code]
        assert f"?{PARAMETER}={key}&topic={visitor.topic + 1}" in link

    @pytest.mark.parametrize("address", ["0", "99", "x", "", "-1", "1.5", "²"])
    def test_an_address_that_leads_nowhere_does_no_harm(self, address: str, key: str, at_compare: Visitor) -> None:
        visitor = Visitor(key)
        visitor.at.query_params["topic"] = address
        assert visitor.go("compare").topic in range(TOPICS)

    def test_a_part_leads_to_its_whole(self, key: str, at_compare: Visitor) -> None:
        topic, other = at_compare.topic, others(at_compare)[0]
        merge(at_compare, other)
        visitor = Visitor(key)
        visitor.at.query_params["topic"] = str(other + 1)
        assert visitor.go("compare").topic == topic


def test_the_table_tells_what_the_picture_does(at_compare: Visitor) -> None:
    reading = at_compare.reading
    rename(at_compare, "Ports").press("Pin")
    topic = at_compare.topic
    at_compare.step(at_compare.at.segmented_control(key="compare_glance").set_value("Table").run)
    table = at_compare.at.dataframe[0].value
    assert table["Name"].tolist()[0] == "⚑ Ports" and table["Number"].tolist()[0] == topic + 1
    order = [number - 1 for number in table["Number"]]
    assert table["Wording gap"].to_numpy() == pytest.approx(reading.topics.gap[order])
    assert table["left"].to_numpy() == pytest.approx(100 * reading.topics.prevalence[0, order])
    assert table["Coherence"].to_numpy() == pytest.approx(reading.quality.npmi[order], abs=0.0051)
    for wanted, expected in (("PORT", 1), ("zebra", 0)):
        at_compare.step(at_compare.widget("text_input", "Find topics").set_value(wanted).run)
        names = [one.value["Name"].tolist() for one in at_compare.at.dataframe if "Name" in one.value]
        assert sum(map(len, names)) == expected
    assert "No topic has that" in at_compare.captions


@pytest.mark.parametrize("step", ["reload", "Next", "Pin"])
def test_what_is_done_while_a_name_is_on_its_way_is_done_to_the_same_topic(at_compare: Visitor, step: str) -> None:
    """The browser then still calls the topic in the list what it was called before."""
    order = at_compare.reading.order("gap")
    at_compare.press("Next")
    called = at_compare.widget("selectbox", "Topic").options[1]

    class CalledAsBefore(Selectbox[int]):
        @property
        def _widget_state(self) -> Any:
            state = super()._widget_state
            state.string_value = called
            return state

    rename(at_compare, "Ports")
    topics = at_compare.widget("selectbox", "Topic")
    assert called != topics.options[1]
    topics.__class__ = CalledAsBefore
    at_compare.reload() if step == "reload" else at_compare.press(step)
    assert at_compare.topic == (order[2] if step == "Next" else order[1])
    assert at_compare.workspace.view.names == {order[1]: "Ports"}


def test_walking_goes_round(at_compare: Visitor) -> None:
    order = at_compare.reading.order("gap")
    assert at_compare.topic == order[0]
    assert at_compare.press("Previous").topic == order[-1]
    assert at_compare.press("Next").topic == order[0]


@pytest.mark.parametrize("groups", [1, 3, 12])
def test_one_and_many_groups(groups: int) -> None:
    names = tuple(f"group {number}" for number in range(groups))
    visitor = Visitor().upload(("talk.csv", as_csv(talk(12 * max(groups, 4), names)))).run_topics(3, 6).go("compare")
    assert not visitor.errors
    if groups > 1:
        topics, topic = visitor.reading.topics, visitor.topic
        (shares,) = [html for html in visitor.markup if "px-heat" in html]
        assert figures_of(shares) == [
            [f"{100 * share:.0f}" for share in topics.prevalence[:, k]] for k in visitor.reading.order("prevalence")
        ]
        assert re.findall(r'<tr data-pick="(\d+)" aria-current="true"', shares) == [str(topic)]
        visitor.step(visitor.at.segmented_control(key="compare_heat").set_value("How differently").run)
        (gaps,) = [html for html in visitor.markup if "px-heat" in html]
        distance = topics.distances.sum(axis=2) / (groups - 1)
        assert figures_of(gaps) == [
            [f"{gap:.2f}".removeprefix("0") for gap in distance[k]] for k in visitor.reading.order("gap")
        ]
        (to_save,) = picture(visitor.unfold("heat_map_to_save"))["data"]
        assert to_save["text"] == figures_of(gaps)
    rename(visitor, "Ports")
    visitor.step(visitor.at.segmented_control(key="compare_glance").set_value("Table").run)
    assert not visitor.errors and "Ports" in "".join(visitor.at.dataframe[0].value["Name"])


class TestWords:
    @pytest.fixture
    def visitor(self) -> Visitor:
        visitor = Visitor().upload(("talk.csv", as_csv(talk(72)))).run_topics(TOPICS, 40).go("compare")
        return rename(visitor, "Ports").press("Pin")

    @staticmethod
    def choose_word(visitor: Visitor, word: str) -> Visitor:
        return visitor.step(visitor.widget("selectbox", "Word").set_value(word).run)

    def stop(self, visitor: Visitor, word: str) -> Visitor:
        self.choose_word(visitor, word)
        return visitor.step(visitor.at.button(key="stop_chosen").click().run)

    def join(self, visitor: Visitor, word: str, into: str) -> Visitor:
        self.choose_word(visitor, word)
        visitor.step(visitor.at.selectbox(key="join_chosen_into").set_value(into).run)
        return visitor.step(visitor.at.button(key="join_chosen").click().run)

    def go_on(self, visitor: Visitor) -> Visitor:
        visitor.press("Continue with these changes")
        job = visitor.workspace.job
        assert job is not None and job.wait(PATIENCE).state is JobState.FINISHED
        return visitor.reload()

    def test_the_run_goes_on_with_changed_words_and_comes_back(self, visitor: Visitor) -> None:
        before = visitor.workspace.job
        assert before is not None
        topic, view, earlier = visitor.topic, visitor.workspace.view, visitor.reading
        self.stop(visitor, "Harbour")
        self.join(visitor, "ship", "cargo")
        self.stop(visitor, "lesson")
        assert visitor.workspace.pending == (WordChange("harbour"), WordChange("ship", "cargo"), WordChange("lesson"))
        visitor.step(visitor.at.button(key="pending_2").click().run)
        assert visitor.workspace.pending == (WordChange("harbour"), WordChange("ship", "cargo"))
        self.go_on(visitor)
        after = visitor.reading
        assert not {"harbour", "ship"} & set(after.corpus.vocabulary) and "lesson" in after.corpus.vocabulary
        assert visitor.workspace.view == view and visitor.topic == topic and "⚑ Ports" in offered(visitor)
        likeness = [self.likeness(earlier, after, k) for k in range(TOPICS)]
        # Of four topics on two subjects some are much alike, so that they are matched with one another, all at once.
        _, matched = linear_sum_assignment(likeness, maximize=True)
        assert matched.tolist() == list(range(TOPICS)), "topics keep their numbers"
        (told,) = [one for one in visitor.at.expander if "With changed words" in one.label]
        assert "harbour" in told.label
        tables = [one.value for one in visitor.at.dataframe if "Went" in one.value]
        assert "harbour" in ", ".join(tables[0]["Went"])

        words = visitor.workspace.words
        assert words.extra_stop_words == ("harbour",) and words.joined_words == (("cargo", "ship"),)
        assert visitor.workspace.corpus is after.corpus
        visitor.go("documents")
        assert visitor.widget("text_area", "More words to leave out").value == "harbour"
        assert visitor.widget("text_area", "Words that are read as one").value == "cargo = ship"
        assert visitor.workspace.documents is not None
        built = build_corpus(visitor.workspace.documents, words)
        np.testing.assert_array_equal(built.token_word, after.corpus.token_word)
        visitor.press("Use these settings")
        assert visitor.workspace.words == words and visitor.workspace.corpus is after.corpus, "nothing comes back"

        visitor.go("compare").press("Bring the earlier words back")
        assert visitor.workspace.job is before and visitor.reading.model.sample is earlier.model.sample
        assert visitor.workspace.words == CorpusSettings() and visitor.workspace.corpus is before.corpus
        assert visitor.workspace.view == view and len(visitor.workspace.pending) == 2
        before.extend(2)
        assert before.wait(PATIENCE).state is JobState.FINISHED, "and can be run longer"
        visitor.workspace.let_go()

    @staticmethod
    def likeness(before: Reading, after: Reading, topic: int) -> np.ndarray:
        """How much a topic of before is like each of after, by the words that both know."""
        known = {word: number for number, word in enumerate(after.corpus.vocabulary)}
        words = [word for word in before.corpus.vocabulary if word in known]
        one = before.model.mean_wording[[before.corpus.vocabulary.index(word) for word in words], topic]
        other = after.model.mean_wording[[known[word] for word in words]]
        return one @ other / np.linalg.norm(other, axis=0)

    def test_a_running_run_is_stopped_first_and_a_new_one_begins_anew(self, visitor: Visitor) -> None:
        job = visitor.workspace.job
        assert job is not None
        job.extend(100_000)
        self.stop(visitor.reload(), "harbour")
        self.go_on(visitor)
        assert job.status().state is JobState.STOPPED
        visitor.press("Keep the changes")
        assert visitor.workspace.before_changes is None
        self.stop(visitor, "lesson")
        visitor.go("explore").run_topics(3, 4)
        assert visitor.workspace.view == View() and not visitor.workspace.pending and not visitor.workspace.view_history
        corpus = visitor.workspace.job.corpus  # type: ignore[union-attr]
        assert "harbour" not in corpus.vocabulary and "lesson" in corpus.vocabulary

    @pytest.mark.parametrize(
        ("act", "says"),
        [
            (lambda self, visitor: self.choose_word(visitor, "zebra"), "“zebra” is not among the words"),
            (lambda self, visitor: self.join(visitor, "ship", "Ship"), "cannot be joined with itself"),
            (lambda self, visitor: self.join(visitor, "ship", "ships ahoy"), "not among the words"),
            (lambda self, visitor: self.join(self.stop(visitor, "ship"), "cargo", "ship"), "left out itself"),
        ],
    )
    def test_what_makes_no_sense_is_answered_in_a_sentence(
        self, act: Callable[[TestWords, Visitor], Visitor], says: str, at_compare: Visitor
    ) -> None:
        act(self, at_compare)
        assert any(says in sentence for sentence in at_compare.errors)

    def test_what_would_leave_nothing_is_refused(self, at_compare: Visitor) -> None:
        workspace = at_compare.workspace
        job, corpus = workspace.job, at_compare.reading.corpus
        workspace.pending = tuple(WordChange(word) for word in corpus.vocabulary[1:])
        at_compare.reload().press("Continue with these changes")
        assert any("1 word would be left" in sentence for sentence in at_compare.errors)
        assert workspace.job is job and len(workspace.pending) == corpus.n_words - 1
