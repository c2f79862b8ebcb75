"""Any two groups against one another on a topic: how far apart all pairs are, and the words that set two of them apart."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.live_html import live_html
from pages.parts.style import escaped, group_colour, group_mark, group_name_html
from pages.parts.words import WORDS, Pick, Shown, read_pick, word_table_html
from spdp_engine.topics import Topics, Word

FIRST, SECOND = "two_groups_first", "two_groups_second"
"""Where the session keeps the groups that are compared."""


def two_groups(topics: Topics, topic: int) -> Pick | None:
    """The gaps between all pairs of groups; of two of them, the words that each uses more than the other.

    Returns:
        The group and the word that were clicked just now, None without a click.
    """
    picked = live_html(matrix_html(topics, topic), key="matrix")
    everyone = range(len(topics.group_names))
    if picked is not None:
        st.session_state[FIRST], st.session_state[SECOND] = (int(part) for part in picked.split())
    if FIRST not in st.session_state or {st.session_state[FIRST], st.session_state[SECOND]} - {*everyone}:
        furthest = np.unravel_index(np.argmax(topics.distances[topic]), topics.distances[topic].shape)
        st.session_state[FIRST], st.session_state[SECOND] = (int(one) for one in sorted(furthest))
    with st.container(horizontal=True):
        first, second = (
            st.selectbox(
                label, everyone, format_func=topics.group_names.__getitem__, key=key, persist_state="session", width=300
            )
            for label, key in (("One group", FIRST), ("Another group", SECOND))
        )
    if first == second:
        st.caption("Choose two different groups.")
        return None
    words = topics.words_between(topic, first, second, WORDS)
    largest = max((word.probability for one in words for word in one), default=1.0)
    columns = "".join(
        f"<div>{group_name_html(group, topics.group_names[group])}{_words_html(topics, topic, group, [*one], largest)}</div>"
        for group, one in zip((first, second), words, strict=True)
    )
    st.html(
        f"<p>Their wordings are {topics.distances[topic, first, second]:.2f} apart. Words that each uses clearly more than the "
        "other, whatever the rest say (log-odds, z above 1.96):</p>"
    )
    return read_pick(live_html(f'<div class="px-abreast">{columns}</div>', key="words_of_two"))


def _words_html(topics: Topics, topic: int, group: int, words: list[Word], largest: float) -> str:
    if topics.tokens[group, topic] < 1:
        return '<p class="px-quiet">It says nothing on this topic.</p>'
    if not words:
        return '<p class="px-quiet">No word is clearly its own.</p>'
    return word_table_html([Shown(word, "own", None) for word in words], group, largest)


def matrix_html(topics: Topics, topic: int) -> str:
    """The wording gap of every two groups, the darker the further apart; a click takes the two."""
    gaps = topics.distances[topic]
    largest = max(float(gaps.max()), 1e-12)
    names = topics.group_names
    head = "".join(
        f'<th title="{escaped(name)}" style="color:{group_colour(i)}"><span aria-hidden="true">{group_mark(i)}</span></th>'
        for i, name in enumerate(names)
    )
    rows = []
    for i, name in enumerate(names):
        cells = "".join(
            "<td></td>" if i == j else
            f'<td style="--part:{55 * gaps[i, j] / largest:.0f}%"><button type="button" tabindex="-1" data-pick="{i} {j}" '
            f'title="{escaped(name)} and {escaped(names[j])}: {gaps[i, j]:.2f} apart">{_short(float(gaps[i, j]))}</button></td>'
            for j in range(len(names))
        )  # fmt: skip
        rows.append(f"<tr><th>{group_name_html(i, name)}</th>{cells}</tr>")
    return (
        '<p class="px-legend">How far apart the wordings of every two groups are, 0 alike to 1 no word in common. A click on a '
        "figure compares the two.</p>"
        f'<div class="px-wide"><table class="px-matrix"><thead><tr><th></th>{head}</tr></thead><tbody>{"".join(rows)}</tbody>'
        "</table></div>"
    )


def _short(gap: float) -> str:
    """With two decimals, and no nought before the point."""
    return f"{gap:.2f}".removeprefix("0")
