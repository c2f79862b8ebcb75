"""Compare the groups on one topic: their words side by side, how much each talks about it, and the passages that show it."""

from __future__ import annotations

import streamlit as st

from pages.parts.cards import (
    COHERENCE,
    alike_sentence,
    averaging_html,
    coherence,
    group_bars_html,
    passage_html,
    percent,
    topic_name,
    words_html,
    words_of_all_html,
)
from pages.parts.charts import balance_figure, prevalence_figure
from pages.parts.guard import guarded
from pages.parts.style import escaped, group_name_html
from pages.parts.workspace import Reading, Workspace, current
from spdp_engine.jobs import ACTIVE, Job
from spdp_engine.sampling import model_named
from spdp_engine.topics import TopicQuality, Topics, Word

WORDS = 18
PASSAGES = 4
ORDERS = {"gap": "Most differently worded", "prevalence": "Most talked about"}
LEANING_Z = 1.0
"""Words that lean to a group are shown from here on, pale until they are clearly its own."""

ABREAST = 5
"""Columns of words that fit beside one another."""

BESIDE = 2
"""... and beside the pictures."""


def page() -> None:
    """The page."""
    workspace = current()
    reading = workspace.reading()
    if reading is None:
        st.title("Compare")
        st.html(
            '<p class="px-lead">There are no topics yet. Start a run; as soon as it has begun, its topics can be compared here.</p>'
        )
        target = "pages/explore.py" if workspace.corpus else "pages/documents.py"
        if st.button("Find topics" if workspace.corpus else "Choose documents", type="primary"):
            st.switch_page(target)
        return
    job = workspace.job
    assert job is not None
    _going_on(job)
    topics = reading.topics
    alone = len(topics.group_names) == 1
    st.title("Compare the groups" if not alone else "Read the topics")
    if alone:
        st.info("There is one group, so there is nothing to compare; these are its topics.", icon=":material/info:")
    elif sentence := alike_sentence(model_named(job.settings.model).title, topics):
        st.html(f'<p class="px-lead">{escaped(sentence)}</p>')
    topic = _choose(topics)
    quality = None if job.status().state in ACTIVE else reading.quality
    _told(workspace, reading, topic, quality)
    groups = _groups(topics)
    if len(groups) <= BESIDE or topics.worded_alike:
        overview, words = st.columns([2, 3], gap="large")
        with overview:
            _how_much(topics, topic)
            _at_a_glance(topics, topic)
        with words:
            _wording(topics, topic, groups, quality)
    else:  # more columns of words than fit beside something else
        shares, glance = st.columns([2, 3], gap="large")
        with shares:
            _how_much(topics, topic)
        with glance:
            _at_a_glance(topics, topic)
        _wording(topics, topic, groups, quality)
    _passages(reading, topic, groups)


def _groups(topics: Topics) -> list[int]:
    """The groups whose words (where they have their own) and passages are shown: all, or a choice where there are many."""
    everyone = list(range(len(topics.group_names)))
    if len(everyone) <= ABREAST:
        return everyone
    return st.multiselect(
        f"Groups whose {'passages' if topics.worded_alike else 'words'} are shown", everyone, everyone[:ABREAST],
        format_func=topics.group_names.__getitem__, max_selections=ABREAST, key="compare_groups", persist_state="session",
    ) or everyone[:ABREAST]  # fmt: skip


def _going_on(job: Job) -> None:
    status = job.status()
    if status.state in ACTIVE:
        text, button = st.columns([4, 1], vertical_alignment="center")
        text.caption(f"The run goes on in the background ({status.iteration:,} of {status.target:,} iterations).")
        button.button(
            "Show its newest state", icon=":material/refresh:", width="stretch"
        )  # pressing draws the page again


def _choose(topics: Topics) -> int:
    """The topic to read: from the list, or by a click in the picture."""
    by: str | None = "prevalence"
    topic_place = st.container()
    if not topics.worded_alike:
        by_place, topic_place = st.columns([2, 3], vertical_alignment="bottom", gap="large")
        by = by_place.segmented_control(
            "Topics in the list", list(ORDERS), default="gap", required=True, format_func=ORDERS.__getitem__, key="compare_order",
            persist_state="session",
        )  # fmt: skip
    order = [int(topic) for topic in topics.order(by or "gap")]
    picked = st.session_state.pop("picked_topic", None)
    if picked is not None and picked in order:
        st.session_state["compare_topic"] = picked
    if st.session_state.get("compare_topic") not in order:
        st.session_state["compare_topic"] = order[0]

    def name(topic: int) -> str:
        gap = "" if topics.worded_alike else f", gap {topics.gap[topic]:.2f}"
        figures = f"{percent(topics.overall[topic])}{gap}"
        return f"{topic_name(topic)} ({figures}): {topics.label(topic, 5)}"

    chosen = topic_place.selectbox("Topic", order, format_func=name, key="compare_topic", persist_state="session")
    return int(chosen if chosen is not None else order[0])


def _told(workspace: Workspace, reading: Reading, topic: int, quality: TopicQuality | None) -> None:
    """How coherent the topic is, once the run rests, and whether topics are averages."""
    told = ""
    if quality:
        told = f'<span class="px-hint" title="{COHERENCE}.">Coherence {coherence(quality.npmi[topic])}</span>'
        if workspace.reference:
            other = reading.quality_by(workspace.reference).npmi[topic]
            told += f", in {escaped(workspace.reference.name)} {coherence(other)}"
        told += " · "
    assert workspace.job is not None
    st.html(f'<p class="px-legend">{told}{averaging_html(reading.topics.sample, workspace.job.records())}</p>')


def _how_much(topics: Topics, topic: int) -> None:
    """Shares of this topic."""
    st.subheader("How much they talk about it")
    shares = topics.prevalence[:, topic]
    labels = [
        f"{percent(share)} · rank {rank}" for share, rank in zip(shares, topics.group_rank[:, topic], strict=True)
    ]
    st.html(group_bars_html(topics.group_names, shares.tolist(), labels))
    st.caption("Share of each group's words. Groups of unequal size can be compared.")


def _at_a_glance(topics: Topics, topic: int) -> None:
    """All topics in a picture; a click chooses one."""
    st.subheader("All topics at a glance")
    if len(topics.group_names) == 2:
        figure, where = balance_figure(topics, topic), lambda point: int(point["point_index"])
        up = "talked about more" if topics.worded_alike else "worded more differently"
        st.caption(f"Up: {up}. Left or right: who talks about it more. Click a topic to read it.")
    else:
        order = [int(k) for k in topics.order("prevalence")]
        figure, where = prevalence_figure(topics, order), lambda point: int(point["x"]) - 1
        st.caption("The darker, the larger the topic's share of a group's words.")
    event = st.plotly_chart(
        figure, key="overview", on_select="rerun", selection_mode="points", config={"displayModeBar": False}
    )
    points = event["selection"]["points"] if event else []
    if points:
        picked = where(points[0])
        if picked != topic and st.session_state.get("last_pick") != picked:
            st.session_state["picked_topic"] = st.session_state["last_pick"] = picked
            st.rerun()
    else:
        st.session_state.pop("last_pick", None)


def _wording(topics: Topics, topic: int, groups: list[int], quality: TopicQuality | None) -> None:
    """How: each group's words with bars, own and shared words marked; or one list, where all groups word it alike."""
    if topics.worded_alike:
        st.subheader("The words of this topic")
        st.html(words_of_all_html(topics.top_words(topic, WORDS)[0]))
        st.caption("The figures: out of 1,000 words on this topic.")
        return
    st.subheader("How they word it")
    top, own = topics.top_words(topic, WORDS), topics.own_words(topic, WORDS)
    shared = set(topics.shared_words(topic, WORDS))
    st.html(
        f"<p>All of them say <b>{escaped(', '.join(topics.shared_words(topic, 8)))}</b>. {_sentences(topics, own, groups)} "
        f"Their wordings are {topics.gap[topic]:.2f} apart (0: alike, 1: no word in common).</p>"
        '<p class="px-legend"><span class="px-own">own word</span>, solid bar: the group uses it clearly more than the '
        'others. <span class="px-shared">shared word</span>, hatched bar: every group uses it much.</p>'
    )
    kinds = ["Most frequent", "Own and leaning words"]
    kind = st.segmented_control(
        "Which words", kinds, default=kinds[0], required=True, key="compare_words", label_visibility="collapsed",
        persist_state="session",
    )  # fmt: skip
    lists = topics.own_words(topic, WORDS, LEANING_Z) if kind == kinds[1] else top
    largest = max((word.probability for i in groups for word in lists[i]), default=1.0)
    for place, i in zip(st.columns(len(groups)), groups, strict=True):
        body = (
            words_html(lists[i], i, shared, largest)
            if lists[i]
            else '<p class="px-quiet">No word is clearly its own.</p>'
        )
        figure = ""
        if quality:
            figure = f'<small title="{COHERENCE}.">coherence {coherence(quality.group_npmi[i, topic])}</small>'
        place.html(f"{group_name_html(i, topics.group_names[i])} {figure}{body}")
    st.caption(
        "The figures: out of 1,000 words the group says on this topic. Own words: log-odds with an informative prior "
        "(Monroe et al. 2008), z above 1.96; a pale bar without a mark may be chance."
    )


def _sentences(topics: Topics, own: tuple[tuple[Word, ...], ...], groups: list[int]) -> str:
    """The groups' own words, in a sentence each."""
    return " ".join(
        f"{group_name_html(i, topics.group_names[i])} says {escaped(', '.join(word.word for word in own[i][:5]))}."
        for i in groups
        if own[i]
    )


def _passages(reading: Reading, topic: int, groups: list[int]) -> None:
    """Documents in which the topic is strongest, in each group."""
    st.subheader("Where it shows")
    for place, i in zip(st.columns(len(groups), gap="large" if len(groups) < 4 else "medium"), groups, strict=True):
        passages = reading.passages.strongest(topic, i, PASSAGES)
        name = group_name_html(i, reading.topics.group_names[i])
        place.html(name + "".join(passage_html(passage, i) for passage in passages))


with guarded():
    page()
