"""How the groups word a topic: what all say, each group's own words, how far apart the wordings are, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.cards import COHERENCE, GAP, coherence, html_pen
from pages.parts.live_html import live_html
from pages.parts.prevalence import whisker_html
from pages.parts.style import escaped, group_name_html
from pages.parts.two_groups import two_groups
from pages.parts.words import Pick, Shown, read_pick, word_table_html, words_shown
from pages.parts.workspace import Reading, Workspace
from spdp_engine.topics import TopicQuality, Topics
from spdp_engine.topics.findings import Findings
from spdp_engine.topics.telling import gap_sentence, own_words_sentence, stands, words_are_known

MOST_FREQUENT, OWN = "Most frequent words", "Own words"

THEIR_WORDINGS = "Their wordings"
WITHOUT_CHANCE = (
    "Two piles of documents never use quite the same words, even if one pen wrote them all; the fewer they are, the more so. That "
    "is taken off once it is measured."
)
TOO_FEW = "Some groups have too few documents on this topic to tell what of the distance chance adds."
MERGED = (
    "Topics are read as one here. What of their wording may be chance was measured for each of them alone, so it is not known of "
    "all together."
)

BESIDE = 2
"""So many columns of words fit beside what is told of them."""

WORDS_IN_TABLE = 40
"""Words of a group in the table, of each kind."""


def wording_section(workspace: Workspace, reading: Reading, topic: int, groups: Sequence[int]) -> Pick | None:
    """The words of the topic in each of these groups.

    Returns:
        The group and the word that were clicked just now, None without a click.
    """
    topics = reading.topics
    if topics.worded_alike:
        return _in_one_list(topics, topic, groups)
    findings = workspace.findings()
    st.subheader("How they word it")
    told, lists = (st.container(), st.container()) if len(groups) > BESIDE else st.columns([2, 3], gap="large")
    with told:
        st.html(_sentences_html(reading, findings, topic, groups))
        st.html(gap_html(topics, findings, topic))
        if findings.gap_baseline is not None and findings.gap(topic) is None:
            st.caption(MERGED if topic in reading.view.merged.values() else TOO_FEW)
    with lists:
        order = st.segmented_control(
            "Which words", (MOST_FREQUENT, OWN), default=MOST_FREQUENT, required=True, key="compare_words",
            label_visibility="collapsed", persist_state="session",
        )  # fmt: skip
        rested = workspace.resting()
        words = words_shown(topics, findings, topic, order == OWN)
        columns = _columns_html(topics, topic, groups, words, rested.quality if rested else None)
        pick = read_pick(live_html(columns, key="words"))
    told.html(f'<p class="px-legend">{_legend(findings)}</p>')
    if len(topics.group_names) > 2:
        two = st.expander(
            "Any two groups against one another", icon=":material/compare_arrows:", on_change="rerun", key="wording_two"
        )
        if two.open:
            with two:
                pick = two_groups(topics, topic) or pick
    table = st.expander("Words as a table", icon=":material/table:", on_change="rerun", key="wording_table")
    if table.open:
        with table:
            _table(topics, findings, topic, groups)
    return pick


def gap_html(topics: Topics, findings: Findings, topic: int) -> str:
    """The wording gap in a sentence and on a scale: the value, its interval, and what groups dealt out at random have."""
    gap, interval, chance = findings.gap(topic), findings.gap_interval(topic), findings.gap_by_chance(topic)
    marks, key, real = "", "", findings.gap_is_real(topic)
    if chance is not None:
        marks = f'<div class="px-chance" style="width:{100 * chance[1]:.1f}%"></div>'
        key = '<span class="px-chance"></span> as far as chance goes'
    if interval is not None:
        marks += whisker_html(*interval)
    at = 100 * (float(topics.gap[topic]) if gap is None else gap)
    marks += f'<div class="px-dot{" px-hollow" if real is False else ""}" style="left:{at:.1f}%"></div>'
    sentence = escaped(gap_sentence(topics, findings, topic))
    hint = f'<span class="px-hint" title="{GAP}. {WITHOUT_CHANCE}">{THEIR_WORDINGS}</span>'
    return (
        f"<p>{sentence.replace(THEIR_WORDINGS, hint, 1)}</p>"
        f'<div class="px-scale" role="img" aria-label="{sentence}"><div class="px-track">{marks}</div>'
        f"<div><span>0 alike</span><span>{key}</span><span>1 no word in common</span></div></div>"
    )


def _in_one_list(topics: Topics, topic: int, groups: Sequence[int]) -> Pick | None:
    """The words of a topic that all groups word alike, with bars in no group's colour."""
    st.subheader("The words of this topic")
    words = [Shown(word, "", None) for word in topics.top_words(topic, WORDS_IN_TABLE // 2)[0]]
    if len(topics.group_names) > 1:
        st.html("<p>The model gives all groups the same words on a topic, so their wordings cannot differ.</p>")
    largest = max((one.word.probability for one in words), default=1.0)
    table = word_table_html(words, groups[0], largest, "currentColor")
    return read_pick(live_html(f'<div class="px-for-all">{table}</div>', key="words_of_all"))


def _sentences_html(reading: Reading, findings: Findings, topic: int, groups: Sequence[int]) -> str:
    """What all say, and each group's own words."""
    topics = reading.topics
    shared = escaped(", ".join(topics.shared_words(topic, 8)))
    own = own_words_sentence(topics, findings, topic, reading.called(topic), groups, html_pen(topics))
    return f"<p>All of them say <b>{shared}</b>. {own or 'No word leans to one group.'}</p>"


def _columns_html(
    topics: Topics, topic: int, groups: Sequence[int], words: Sequence[Sequence[Shown]], quality: TopicQuality | None
) -> str:
    """A column of words to each group."""
    largest = max((one.word.probability for i in groups for one in words[i]), default=1.0)
    columns = []
    for i in groups:
        figure = ""
        if quality:
            figure = (
                f'<div class="px-caption"><span class="px-hint" title="{COHERENCE}.">coherence '
                f"{coherence(quality.group_npmi[i, topic])}</span></div>"
            )
        if topics.tokens[i, topic] < 1:
            body = '<p class="px-quiet">It says nothing on this topic.</p>'
        elif not words[i]:
            body = '<p class="px-quiet">No word is clearly its own.</p>'
        else:
            body = word_table_html(words[i], i, largest)
        columns.append(f"<div>{group_name_html(i, topics.group_names[i])}{figure}{body}</div>")
    return f'<div class="px-abreast">{"".join(columns)}</div>'


def _legend(findings: Findings) -> str:
    """What marks, bars and figures are."""
    method = "log-odds with an informative prior (Monroe et al. 2008)"
    own = f"the group uses it clearly more than the others ({method}, z above 1.96)"
    if words_are_known(findings):
        own = (
            f"the group uses it more than the others by more than chance ({method}), and most runs with other seeds that have "
            "the topic find that, too"
        )
    return (
        f'<span class="px-own">own word</span>, solid bar: {own}. <span class="px-shared">shared word</span>, hatched bar: every '
        'group uses it much. <span class="px-unsure">pale word</span>: it leans to the group, but that may be chance. Bars and '
        "figures: out of 1,000 words that the group says on this topic. A click on a word shows it in its contexts."
    )


def _table(topics: Topics, findings: Findings, topic: int, groups: Sequence[int]) -> None:
    """The words of these groups in numbers; a click on a column's head sorts, cells can be copied."""
    number = st.column_config.NumberColumn
    st.dataframe(
        words_table(topics, findings, topic, groups), hide_index=True,
        column_config={
            "Per 1,000": number(format="%.1f", help="Out of 1,000 words that the group says on this topic."),
            "z": number(format="%.2f", help="Of the log-odds against the other groups (Monroe et al. 2008)."),
            "Log-odds": number(format="%.2f", help="Against the other groups; above 0: it says the word more than they do."),
            "From": number(format="%.2f", help="Lower end of the interval of the log-odds."),
            "To": number(format="%.2f", help="Upper end of the interval of the log-odds."),
            "Runs": number(help="In so many of the runs that have the topic, each with another seed, the word is the group's own."),
            "of": number(help="So many runs have the topic."),
            "Stands": st.column_config.CheckboxColumn(help="More than chance, and found in most runs."),
        },
    )  # fmt: skip


def words_table(topics: Topics, findings: Findings, topic: int, groups: Sequence[int]) -> pd.DataFrame:
    """A row to each word of a group that is frequent or leans to it; columns of what was not measured are left out."""
    rows: list[dict[str, Any]] = []
    lists = [words_shown(topics, findings, topic, own, WORDS_IN_TABLE) for own in (True, False)]
    for i in groups:
        for one in {one.word.word: one for words in lists for one in words[i]}.values():
            row = {
                "Group": topics.group_names[i],
                "Word": one.word.word,
                "Per 1,000": 1000 * one.word.probability,
                "z": one.word.z,
            }
            if one.finding:
                row |= {"Log-odds": one.finding.log_odds, "From": one.finding.low, "To": one.finding.high}
                row |= {"Runs": one.finding.found, "of": one.finding.of}
                row["Stands"] = stands(one.finding) if words_are_known(findings) else None
            rows.append(row)
    return pd.DataFrame(rows).dropna(axis="columns", how="all") if rows else pd.DataFrame(columns=["Group", "Word"])
