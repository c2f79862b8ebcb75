"""Compare and Explore with what is known of how sure findings are, of one group, two, three and twelve."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from given import all_of, given, topics_of
from visitor import Visitor, as_csv, talk

from pages.parts.prevalence import shares_html
from pages.parts.wording import OWN
from pages.parts.words import Shown, hint, pick_of, read_pick
from spdp_engine.topics import Topics, Word
from spdp_engine.topics.findings import Findings, WordFinding
from spdp_engine.topics.telling import stands
from tests.unit.engine.hand_made import Known, drawn_shares

pytestmark = pytest.mark.timeout(60)

TWELVE = tuple(f"group {number}" for number in range(12))


@pytest.fixture(scope="module")
def three() -> str:
    rows = talk(72, ("left", "right", "middle"))
    return Visitor().upload(("talk.csv", as_csv(rows))).run_topics(2, 40).key


@pytest.fixture(scope="module")
def twelve() -> str:
    return Visitor().upload(("talk.csv", as_csv(talk(144, TWELVE)))).run_topics(2, 20).key


def chosen(visitor: Visitor) -> int:
    return int(visitor.widget("selectbox", "Topic").value)


def piece(visitor: Visitor, *signs: str) -> str:
    """The one piece of HTML that holds all of these."""
    (found,) = [html for html in visitor.markup if all(sign in html for sign in signs)]
    return found


def buttons(html: str, kind: str) -> list[str]:
    """The words in a piece of HTML that are shown as this kind."""
    return re.findall(rf'class="px-word px-{kind}" data-pick="[^"]*">([^<]+)<', html)


def assert_no_nan(visitor: Visitor) -> None:
    assert not re.search(r"\bnan\b", "\n".join(visitor.markup).lower())


# --- how much


def test_shares_without_evidence_have_no_interval_and_no_verdict(finished: str) -> None:
    visitor = Visitor(finished).go("compare")
    assert "px-whisker" not in piece(visitor, "px-shares")
    assert "of its words on" in visitor.text and "chance" not in piece(visitor, "of its words on")
    assert "interval" not in piece(visitor, "Share of each group")


def test_a_clear_difference_is_told_with_its_intervals(finished: str) -> None:
    visitor = Visitor(finished)
    topics = topics_of(visitor)
    with given(visitor, Known(prevalence_draws=drawn_shares(topics, 0.001))):
        visitor.go("compare")
        topic = chosen(visitor)
        shares = sorted(topics.prevalence[:, topic], reverse=True)
        sentence = re.sub(r"\s+", " ", visitor.text)
        if shares[0] - shares[1] > 0.01:
            assert re.search(
                r"of its words on topic \d+ \(\w+, \w+\), .* \(.* to .*%\): .*(as much|by chance)\.", sentence
            )
        assert piece(visitor, "px-shares", "px-bar").count("px-whisker") == 2
        assert "In percentage points" in visitor.text and "interval of 90%" in visitor.text
        assert_no_nan(visitor)


def test_an_unclear_difference_may_be_chance(finished: str) -> None:
    visitor = Visitor(finished)
    with given(visitor, Known(prevalence_draws=drawn_shares(topics_of(visitor), 0.4))):
        visitor.go("compare")
        assert "the difference may be chance" in piece(visitor, "of its words on")
        assert "may be chance" in piece(visitor, "px-about") and "px-hollow" in piece(visitor, "px-about")


def test_twelve_groups_by_share_and_against_one_another(twelve: str) -> None:
    visitor = Visitor(twelve)
    topics = topics_of(visitor)
    with given(visitor, all_of(topics)):
        visitor.go("compare")
        topic = chosen(visitor)
        names = re.findall(r'title="(group \d+)"', piece(visitor, "px-shares"))
        assert names == list(TWELVE)
        visitor.step(visitor.at.segmented_control(key="prevalence_order").set_value("By share").run)
        order = sorted(range(12), key=lambda i: -topics.prevalence[i, topic])
        assert re.findall(r'title="(group \d+)"', piece(visitor, "px-shares")) == [TWELVE[i] for i in order]
        assert not [html for html in visitor.markup if "px-about" in html]
        visitor.step(visitor.at.selectbox(key="prevalence_other").set_value(3).run)
        about = piece(visitor, "px-about")
        assert about.count("px-whisker") == 11 and "group 3" in about.split("px-sizes")[0]
        assert "for all pairs of groups at once" in visitor.text
        visitor.unfold("prevalence_table")
        pairs = [one.value for one in visitor.at.dataframe if "Other group" in one.value.columns]
        assert len(pairs[0]) == 66 and (pairs[0]["Points more"] >= 0).all()
        assert_no_nan(visitor)


def test_a_group_without_words_has_no_share(finished: str) -> None:
    """Such as one whose words are all left out of the vocabulary."""
    visitor = Visitor(finished)
    topics = topics_of(visitor)
    silent = replace(topics, tokens=topics.tokens * [[1], [0]])
    shares = shares_html(silent, Known(prevalence_draws=drawn_shares(silent, 0.001)), 0, [0, 1])
    assert shares.count("no words") == 1 and "nan" not in shares


# --- how


def test_words_are_marked_by_counts_until_more_is_known(finished: str) -> None:
    visitor = Visitor(finished).go("compare")
    topics = topics_of(visitor)
    html = piece(visitor, "px-abreast")
    own = {word.word for words in topics.top_words(chosen(visitor), 18) for word in words if word.own}
    assert set(buttons(html, "own")) == own and not buttons(html, "unsure") and "runs" not in html
    assert "z above 1.96" in visitor.text


def test_only_words_that_stand_are_called_own(finished: str) -> None:
    visitor = Visitor(finished)
    topics = topics_of(visitor)
    found = all_of(topics)
    with given(visitor, found):
        visitor.go("compare")
        topic, html = chosen(visitor), piece(visitor, "px-abreast")
        own = [
            word.word
            for group, words in enumerate(topics.top_words(topic, 18))
            for word in words
            if stands(found.word(topic, group, word.word))
        ]
        assert own and buttons(html, "own") == own
        doubtful = {
            word.word for group, words in enumerate(topics.top_words(topic, 18)) for word in words
            if word.own and not stands(found.word(topic, group, word.word))
        }  # fmt: skip
        assert doubtful == set(buttons(html, "unsure"))
        assert "5 of 5" in html and "log-odds against the other groups" in html
        assert "most runs with other seeds that have the topic" in visitor.text
        assert_no_nan(visitor)


def test_own_words_begin_with_those_that_stand(finished: str) -> None:
    visitor = Visitor(finished)
    topics = topics_of(visitor)
    with given(visitor, all_of(topics)):
        visitor.go("compare")
        visitor.step(visitor.at.segmented_control(key="compare_words").set_value(OWN).run)
        for column in piece(visitor, "px-abreast").split("<table")[1:]:
            kinds = re.findall(r'class="px-word px-(\w+)"', column)
            assert kinds == sorted(kinds, key=lambda kind: kind != "own") and set(kinds) <= {"own", "unsure"}


def test_the_gap_is_told_and_drawn(finished: str) -> None:
    visitor = Visitor(finished).go("compare")
    assert "0 alike, 1 no word in common" in piece(visitor, "px-scale")
    assert 'class="px-chance"' not in piece(visitor, "px-scale")
    for real, verdict in ((True, "the difference is real"), (False, "it may be chance")):
        with given(visitor, all_of(topics_of(visitor), real)):
            html = piece(visitor.reload(), "px-scale")
            assert verdict in html and "without what chance adds, 0.31 (0.28 to 0.34)" in html
            assert f'px-chance" style="width:{22 if real else 36}.0%' in html
            assert f'px-dot{"" if real else " px-hollow"}" style="left:31.0%' in html


def test_a_gap_that_cannot_be_judged_says_so(finished: str) -> None:
    visitor = Visitor(finished)
    found = all_of(topics_of(visitor))
    blank = Known(gap_baseline=found.gap_baseline, words=found.words)
    with given(visitor, blank):
        visitor.go("compare")
        assert "what of that may be chance is not known" in visitor.text
        assert "too few documents on this topic" in visitor.captions
        workspace = visitor.workspace
        before = workspace.view
        try:
            other = next(k for k in range(3) if k != chosen(visitor))
            workspace.view = before.merge([other], into=chosen(visitor))
            visitor.reload()
            assert "Topics are read as one here" in visitor.captions and not visitor.errors
            assert_no_nan(visitor)
        finally:
            workspace.view = before


def test_words_as_a_table(finished: str) -> None:
    visitor = Visitor(finished).go("compare").unfold("wording_table")

    def table() -> list[str]:
        (found,) = [one.value for one in visitor.at.dataframe if "Word" in one.value.columns]
        return list(found.columns)

    assert table() == ["Group", "Word", "Per 1,000", "z"]
    with given(visitor, all_of(topics_of(visitor))):
        visitor.reload()
        assert table() == ["Group", "Word", "Per 1,000", "z", "Log-odds", "From", "To", "Runs", "of", "Stands"]


@pytest.mark.parametrize(
    ("finding", "why"),
    [
        (WordFinding(1.0, 0.5, 1.5, True, 2, 5), "more than chance in this run, but most runs with other seeds"),
        (
            WordFinding(1.0, 0.5, 1.5, False, 5, 5),
            "by itself more than chance, but of the words that are used about as much",
        ),
        (WordFinding(1.0, -0.5, 2.5, False, 5, 5), "this may be chance"),
    ],
)
def test_a_word_that_does_not_stand_says_why(finding: WordFinding, why: str) -> None:
    told = hint(Shown(Word("pier", 0.01, 2.0, False), "unsure", finding))
    assert why in told


def test_three_groups_can_be_compared_two_by_two(three: str) -> None:
    visitor = Visitor(three).go("compare").unfold("wording_two")
    topics, topic = topics_of(visitor), chosen(visitor)
    matrix = piece(visitor, "px-matrix")
    assert matrix.count("<button") == 6
    first, second = (visitor.at.selectbox(key=f"two_groups_{which}") for which in ("first", "second"))
    distances = topics.distances[topic]
    assert distances[first.value, second.value] == distances.max()
    visitor.step(first.set_value(0).run)
    visitor.step(visitor.at.selectbox(key="two_groups_second").set_value(2).run)
    assert f"Their wordings are {distances[0, 2]:.2f} apart" in visitor.text
    expected = [[word.word for word in words] for words in topics.words_between(topic, 0, 2, 18)]
    found = [buttons(html, "own") for html in visitor.markup if "px-abreast" in html][-1]
    assert found == expected[0] + expected[1]
    visitor.step(visitor.at.selectbox(key="two_groups_second").set_value(0).run)
    assert "Choose two different groups" in visitor.captions


def test_words_between_two_groups_leave_the_others_out(three: str) -> None:
    """'weather' is said by the third group alone: it sets it apart from both others, and these two not from one another."""
    topics = topics_of(Visitor(three))
    for topic in range(topics.n_topics):
        left, right = topics.words_between(topic, *(topics.group_names.index(name) for name in ("left", "right")), 30)
        assert not {"weather", "tide", "storm"} & {word.word for word in (*left, *right)}


def test_one_group_and_a_model_that_words_alike_have_one_list() -> None:
    visitor = Visitor().upload(("one.csv", as_csv(talk(24, ("only",))))).run_topics(2, 5)
    topics = topics_of(visitor)
    with given(visitor, Known(prevalence_draws=drawn_shares(topics, 0.01))):
        visitor.go("compare")
        assert "px-for-all" in piece(visitor, "data-pick", "px-words") and "Their wordings" not in visitor.text
        assert "All documents spends" in re.sub(r"\s+", " ", visitor.text) and not visitor.errors
        assert_no_nan(visitor)
    lda = Visitor().upload(("two.csv", as_csv(talk()))).go("explore").choose_model("lda").run_topics(2, 5)
    with given(lda, all_of(topics_of(lda), real=False)):
        for page in ("compare", "trust", "explore"):
            assert not lda.go(page).errors
            assert_no_nan(lda)
        assert "their wordings cannot differ" in lda.go("compare").text and "px-scale" not in "".join(lda.markup)


def test_nothing_is_sure_while_the_run_goes_on() -> None:
    visitor = Visitor().upload(("talk.csv", as_csv(talk()))).go("explore")
    visitor.fill("number_input", "How many topics?", 2).fill("number_input", "Iterations", 100_000).press("Start")
    job = visitor.workspace.job
    assert job is not None
    while job.sample() is None:
        job.wait(0.01)
    with given(visitor, all_of(topics_of(visitor))):
        visitor.go("compare")
        assert "px-whisker" not in "".join(visitor.markup) and "px-unsure" not in piece(visitor, "px-abreast")
        assert "The run is not at its end" in visitor.go("trust").text
    job.discard()


def test_a_pick_names_group_and_word() -> None:
    for word in ("rent", "new york", "<b>", "3 4"):
        assert read_pick(pick_of(11, word)) == (11, word)
    assert read_pick(None) is None


# --- cards


def test_cards_mark_what_stands(finished: str) -> None:
    visitor = Visitor(finished)
    topics = topics_of(visitor)
    with given(visitor, all_of(topics, real=False)):
        visitor.go("explore")
        (cards,) = [html for html in visitor.markup if "<article" in html]
        assert cards.count("may be chance</i>") == topics.n_topics
        own = re.findall(r'<li class="px-own"><button[^>]*>([^<]+)<', cards)
        assert own and '<li class="px-unsure">' in cards
        counted = [word.word for k in range(3) for words in topics.top_words(k, 8) for word in words if word.own]
        assert len(own) + cards.count('<li class="px-unsure">') == len(counted)
    (cards,) = [html for html in visitor.reload().markup if "<article" in html]
    assert "px-unsure" not in cards and "may be chance" not in cards, re.findall(r".{80}px-unsure.{80}", cards)


def test_cards_have_the_names_and_the_topics_of_the_view(finished: str) -> None:
    visitor = Visitor(finished)
    workspace = visitor.workspace
    before = workspace.view
    try:
        workspace.view = before.named(1, "<b>Ports</b>").hide(0)
        (cards,) = [html for html in visitor.go("explore").markup if "<article" in html]
        assert cards.count("<article") == 2 and "&lt;b&gt;Ports" in cards and "Topic 1<" not in cards
    finally:
        workspace.view = before


def test_sentences_of_the_page_are_those_of_topics_and_findings(finished: str) -> None:
    """A companion: with other findings the page says otherwise."""
    visitor = Visitor(finished)
    topics: Topics = topics_of(visitor)
    said = []
    for found in (Findings(), all_of(topics), all_of(topics, real=False, deviation=0.4)):
        with given(visitor, found):
            said.append(re.sub(r"\s+", " ", visitor.go("compare").text))
    assert len(set(said)) == 3
