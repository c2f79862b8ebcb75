"""What two runs have in common: how many topics are found again, a picture, two topics beside one another, and all in a table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from pages.parts.cards import percent
from pages.parts.chosen import chosen_number
from pages.parts.live_html import live_html
from pages.parts.pairing_picture import SIGNS, has_marks, pairing_figure
from pages.parts.pictures import draw
from pages.parts.style import escaped, group_name_html, plain_markdown
from spdp_engine.topics.pairing import (
    MAIN_WORDS,
    MOST_LEFT_OUT,
    ONLY_IN_ONE,
    SAME,
    SIMILAR,
    WORDS_OF_SAME,
    WORDS_OF_SIMILAR,
    Alone,
    Pair,
    Pairing,
    PairWord,
    RunTopics,
    Verdict,
)

TOPICS = ("pairing_topic_first", "pairing_topic_second")
"""Where the session keeps which topics are looked at, by their places."""

WANTED = "pairing_wanted"
"""... and those that are to be looked at from the next time on."""

MAP, TABLE = "pairing_map", "pairing_table"

WORDS = 7
"""Words of two topics in each of three lists."""

WORDS_IN_TABLE = 5

ALONE_AT_ONCE = 6
"""Topics without a pair that are told of at once; a click shows the rest."""

Names = tuple[str, str]
"""What the two runs are called."""

DISTANCE = "Hellinger distance of their wordings: 0 where every word is as probable in both, 1 where they have no word in common"
FOUND = (
    f"The same: at most {SAME:.0%} as far apart as topics that have nothing to do with one another, and {WORDS_OF_SAME} of their "
    f"{MAIN_WORDS} main words in common or more; mostly it is 6 or more. Similar: at most {SIMILAR:.0%}, and {WORDS_OF_SIMILAR} "
    "words or more"
)


def pairing_view(pairing: Pairing, names: Names) -> None:
    """All of it, for two runs of these names."""
    _summary(pairing)
    if wanted := st.session_state.pop(WANTED, None):
        _look_at(*wanted)
    sizes = (pairing.first.n_topics, pairing.second.n_topics)
    chosen = [chosen_number(key) for key in TOPICS]
    if not all(topic is not None and topic < size for topic, size in zip(chosen, sizes, strict=True)):
        _look_at(pairing.pairs[0].first, pairing.pairs[0].second)
    picture, pair = st.columns([3, 2], gap="large")
    with picture:
        _map(pairing, names)
    with pair:
        _two_topics(pairing)
    _table(pairing, names)
    _left_over(pairing)


def forget_topics() -> None:
    """Lets go of which topics were looked at, since they belong to other runs."""
    for key in TOPICS:
        st.session_state.pop(key, None)


def counted_topics(number: int) -> str:
    """Such as "20 topics"."""
    return f"{number:,} topic" if number == 1 else f"{number:,} topics"


def _look_at(first: int, second: int) -> None:
    st.session_state[TOPICS[0]], st.session_state[TOPICS[1]] = int(first), int(second)


# --- all in a sentence


def _summary(pairing: Pairing) -> None:
    """How many topics are found again, and by what they are compared."""
    sizes = (pairing.first.n_topics, pairing.second.n_topics)
    found = [pair for pair in pairing.pairs if pair.verdict is not Verdict.LOST]
    if sizes[0] == sizes[1]:
        head = f"<b>{len(found)} of {counted_topics(sizes[0])}</b> {_are(len(found))} found again"
    else:
        fewer, more = ("first", "second") if sizes[0] < sizes[1] else ("second", "first")
        head = (
            f"<b>{len(found)} of the {counted_topics(min(sizes))}</b> of the {fewer} run {_are(len(found))} found again among the "
            f"{max(sizes):,} of the {more}"
        )
    verdicts = [pair.verdict for pair in pairing.pairs]
    told = _listed([f"{count} {_are(count)} {verdict}" for verdict in Verdict if (count := verdicts.count(verdict))])
    head += f': <span class="px-hint" title="{FOUND}.">{told}</span>.' if found else "."
    if found:
        first = pairing.first.overall[[pair.first for pair in found]].sum()
        second = pairing.second.overall[[pair.second for pair in found]].sum()
        held = f'<span class="px-hint" title="The mean over groups.">{first:.0%} of the words</span>'
        head += f" Those that are found hold {held} in the first run and {second:.0%} in the second."
    st.html(f'<p class="px-lead">{head}</p><p class="px-legend">{_compared_html(pairing)}</p>')


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _listed(parts: list[str]) -> str:
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def _compared_html(pairing: Pairing) -> str:
    """What distances are between, and which words are compared where the vocabularies differ."""
    told = (
        "Distances are means over the groups’ own wordings."
        if pairing.by_group
        else "Distances are between wordings over all groups together."
    )
    words = pairing.words
    if words is None:
        return told
    told += (
        f" They are compared by the {len(words.first):,} words that both have: {_share(words.first_share)} of the text in the "
        f"first run and {_share(words.second_share)} in the second."
    )
    for only, which in ((words.only_first, "first"), (words.only_second, "second")):
        if only:
            told += f" Only in the {which}: {escaped(', '.join(only))}{' and others' if len(only) == MOST_LEFT_OUT else ''}."
    if min(words.first_share, words.second_share) < 0.5:
        told += " <b>That is little: most of what one of the runs is about is left out.</b>"
    return told


def _share(share: float) -> str:
    """A share in per cent, which is 100 only where it is all."""
    return f"{min(share, 0.999):.1%}" if share < 1 - 1e-9 else "100%"


# --- the picture


def _map(pairing: Pairing, names: Names) -> None:
    """All distances; a click on a cell shows its two topics."""
    signs = ": " + " · ".join(f"{SIGNS[verdict]} {verdict}" for verdict in Verdict) if has_marks(pairing) else ""
    st.html(
        '<p class="px-legend">The stronger the colour, the nearer two topics. Pairs lie on the diagonal, the nearest first'
        f"{signs}. Point at a cell for its words; click it to see its two topics.</p>"
    )
    figure = pairing_figure(pairing, names, (st.session_state[TOPICS[0]], st.session_state[TOPICS[1]]))
    draw(figure, "two runs", MAP, on_select=partial(_cell_clicked, pairing.order), selection_mode="points")


def _cell_clicked(order: tuple[NDArray[np.int64], NDArray[np.int64]]) -> None:
    points = st.session_state[MAP]["selection"]["points"]
    if points:
        row, column = divmod(int(points[0]["point_index"]), len(order[1]))
        _look_at(order[0][row], order[1][column])


# --- two topics


def _two_topics(pairing: Pairing) -> None:
    """Two topics beside one another: their words, shares and gaps."""

    def take_partner() -> None:
        first = chosen_number(TOPICS[0])
        if first is None:
            return
        match = int(pairing.match[first])
        st.session_state[TOPICS[1]] = match if match >= 0 else int(pairing.distances[first].argmin())

    for side, (which, run) in enumerate((("first", pairing.first), ("second", pairing.second))):
        st.selectbox(
            f"Topic of the {which} run", range(run.n_topics), key=TOPICS[side], format_func=partial(_topic_words, run),
            on_change=None if side else take_partner,
        )  # fmt: skip
    pair = pairing.pair(*(int(st.session_state[key]) for key in TOPICS))
    st.html(f"<p>{_verdict_html(pairing, pair)}</p>{_words_html(pairing, pair)}{_figures_html(pairing, pair)}")


def _topic_words(run: RunTopics, place: int) -> str:
    return f"{run.names[place]}: {', '.join(run.top_words(place, 4))}"


def _verdict_html(pairing: Pairing, pair: Pair) -> str:
    """What two topics are to each other, and how that is known."""
    if int(pairing.match[pair.first]) == pair.second:
        head = {
            Verdict.SAME: "They are the same topic.",
            Verdict.SIMILAR: "They are similar.",
            Verdict.LOST: "The nearest that were left, but not the same topic.",
        }[pair.verdict]
        head = f"<b>{SIGNS[pair.verdict]} {head}</b>"
    else:
        head = "<b>They are not a pair.</b>" + (
            "" if pair.verdict is Verdict.LOST else " Yet they are near each other."
        )
    hint = "What these two are from the other topics of the other’s run, in the middle."
    unrelated = f'<span class="px-hint" title="{hint}">unrelated topics</span> are {pair.unrelated:.2f} apart'
    return (
        f'{head} Their wordings are <span class="px-hint" title="{DISTANCE}.">{pair.distance:.2f} apart</span>; {unrelated}. Of '
        f"their {MAIN_WORDS} main words, {pair.shared or 'none'} {_are(pair.shared or 1)} in common."
    )


def _words_html(pairing: Pairing, pair: Pair) -> str:
    """What both say, and what is more the one's or the other's, with a bar for each."""
    words = pairing.words_of(pair.first, pair.second, WORDS)
    every = (*words.both, *words.first, *words.second)
    largest = max((value or 0.0 for word in every for value in (word.first, word.second)), default=1.0)
    more = f"At least {ONLY_IN_ONE:g} times as probable there."
    body = "".join(
        f'<tbody><tr><th colspan="3"><span class="px-hint" title="{hint}">{title}</span></th></tr>'
        f"{''.join(_word_row(word, largest) for word in rows)}</tbody>"
        for title, hint, rows in (
            ("Both say", "The words that both use most.", words.both),
            ("More in the first", more, words.first),
            ("More in the second", more, words.second),
        )
        if rows
    )
    hint = "Of 1,000 words that all groups together say on the topic, so many are this one."
    head = f'<td><span class="px-hint" title="{hint}">Of 1,000 words</span></td><td>First</td><td>Second</td>'
    return f'<table class="px-two"><thead><tr>{head}</tr></thead>{body}</table>'


def _word_row(word: PairWord, largest: float) -> str:
    cells = ""
    for value, kind in ((word.first, "own"), (word.second, "shared")):
        if value is None:
            cells += '<td><small title="It is not among the words of this run.">not there</small></td>'
        else:
            width = f"calc({value / max(largest, 1e-12):.3f} * (100% - 3.2rem))"
            cells += f'<td><div class="px-bar {kind}" style="width:{width}"></div> {1000 * value:.1f}</td>'
    return f'<tr><td title="{escaped(word.word)}">{escaped(word.word)}</td>{cells}</tr>'


def _figures_html(pairing: Pairing, pair: Pair) -> str:
    """Shares of both topics, by group where both runs have the same groups, and their wording gaps."""
    one, other = pairing.first, pairing.second
    apart = pairing.group_distances(pair.first, pair.second)
    rows = [("All groups", one.overall[pair.first], other.overall[pair.second], "")]
    if len(one.group_names) > 1 and sorted(one.group_names) == sorted(other.group_names):
        places = [other.group_names.index(name) for name in one.group_names]
        rows = [
            (
                group_name_html(i, name), one.shares[i, pair.first], other.shares[there, pair.second],
                "" if apart is None else f"<td>{apart[i]:.2f}</td>",
            )
            for i, (name, there) in enumerate(zip(one.group_names, places, strict=True))
        ]  # fmt: skip
    body = "".join(
        f"<tr><td>{name}</td><td>{percent(mine)}</td><td>{percent(theirs)}</td>{far}</tr>"
        for name, mine, theirs, far in rows
    )
    gaps = [None if run.worded_alike else run.gaps[place] for run, place in ((one, pair.first), (other, pair.second))]
    blank = "<td></td>" if apart is not None else ""
    if any(gap is not None for gap in gaps):
        hint = "How far apart the groups word the topic: 0 alike, 1 no word in common."
        cells = "".join(f"<td>{'alike' if gap is None else f'{gap:.2f}'}</td>" for gap in gaps)
        body += f'<tr><td><span class="px-hint" title="{hint}">Wording gap</span></td>{cells}{blank}</tr>'
    hint = "So much of what a group says is on the topic."
    head = f'<th><span class="px-hint" title="{hint}">Share of the words</span></th><th>First</th><th>Second</th>'
    head += f'<th><span class="px-hint" title="{DISTANCE}.">Apart</span></th>' if blank else ""
    return f'<table class="px-table px-two-shares"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


# --- all pairs


def _table(pairing: Pairing, names: Names) -> None:
    """All pairs as a table that can be sorted; a row that is chosen is shown above."""
    st.markdown("**All pairs**")
    table, columns = pairs_table(pairing)
    st.dataframe(
        table, hide_index=True, column_config=columns, key=TABLE, selection_mode="single-row",
        on_select=partial(_row_chosen, pairing),
    )  # fmt: skip
    st.caption(
        f"First: {plain_markdown(names[0])}. Second: {plain_markdown(names[1])}. A click on a column’s head sorts by it; a click "
        "at the left of a row shows its two topics above."
    )


def _row_chosen(pairing: Pairing) -> None:
    rows = st.session_state[TABLE]["selection"]["rows"]
    if rows:
        pair = pairing.pairs[rows[0]]
        _look_at(pair.first, pair.second)


def pairs_table(pairing: Pairing) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A row for each pair, the nearest first, and how its columns are shown."""
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    sides = (
        ("first", pairing.first, [pair.first for pair in pairing.pairs]),
        ("second", pairing.second, [pair.second for pair in pairing.pairs]),
    )
    words = [pairing.words_of(pair.first, pair.second, WORDS_IN_TABLE) for pair in pairing.pairs]
    table: dict[str, Any] = {
        "Found": [f"{SIGNS[pair.verdict]} {pair.verdict}" for pair in pairing.pairs],
        "Apart": [pair.distance for pair in pairing.pairs],
    }
    columns: dict[str, Any] = {
        "Found": text(help=f"{FOUND}."),
        "Apart": number(format="%.2f", help=f"{DISTANCE}."),
    }
    for which, run, places in sides:
        table[f"Topic, {which}"] = [run.names[place] for place in places]
        columns[f"Topic, {which}"] = text(help=f"The topic of the {which} run.")
    for name, hint, lists in (
        ("Both say", "The words that both use most.", [one.both for one in words]),
        ("More in the first", f"At least {ONLY_IN_ONE:g} times as probable there.", [one.first for one in words]),
        ("More in the second", f"At least {ONLY_IN_ONE:g} times as probable there.", [one.second for one in words]),
    ):
        table[name] = [", ".join(word.word for word in one) for one in lists]
        columns[name] = text(help=hint)
    for which, run, places in sides:
        table[f"Share, {which}"] = 100 * run.overall[places]
        columns[f"Share, {which}"] = number(format="%.1f %%", help="Of the words, the mean over groups.")
    for which, run, places in sides:
        if not run.worded_alike:
            table[f"Gap, {which}"] = run.gaps[places]
            columns[f"Gap, {which}"] = number(
                format="%.2f", help="How far apart the groups word it: 0 alike, 1 no word in common."
            )
    return pd.DataFrame(table), columns


# --- topics without a pair


def _left_over(pairing: Pairing) -> None:
    """Topics that only one of the runs has, each with what is nearest to it, and of which it may be a part."""
    for side, alone in enumerate((pairing.alone_in_first, pairing.alone_in_second)):
        if not alone:
            continue
        st.markdown(f"**Only in the {('first', 'second')[side]} run**")
        lines = [f"<li>{_alone_html(pairing, one, bool(side))}</li>" for one in alone]
        more = lines[ALONE_AT_ONCE:]
        rest = f"<details><summary>{len(more)} more</summary><ul>{''.join(more)}</ul></details>" if more else ""
        picked = live_html(
            f'<div class="px-alone"><ul>{"".join(lines[:ALONE_AT_ONCE])}</ul>{rest}</div>', f"pairing_alone_{side}"
        )
        if picked:
            first, second = picked.split(",")
            st.session_state[WANTED] = int(first), int(second)
            st.rerun(scope="fragment")


def _alone_html(pairing: Pairing, alone: Alone, turned: bool) -> str:
    own, others = (pairing.second, pairing.first) if turned else (pairing.first, pairing.second)
    pair = alone.nearest
    there = pair.first if turned else pair.second

    def told(run: RunTopics, place: int, words: int) -> str:
        return f"{escaped(run.names[place])} ({escaped(', '.join(run.top_words(place, words)))})"

    topic = f'<button class="px-word" data-pick="{pair.first},{pair.second}">{escaped(own.names[alone.topic])}</button>'
    topic += f" ({escaped(', '.join(own.top_words(alone.topic, 4)))})"
    if alone.sibling is None or alone.together is None or alone.by_itself is None:
        return f"{topic} is nearest to {told(others, there, 4)}: {pair.distance:.2f} apart."
    return (
        f"{topic} is a <b>part</b> of {told(others, there, 4)}: together with {told(own, alone.sibling, 3)} it is "
        f"{alone.together:.2f} from it, while {escaped(own.names[alone.sibling])} alone is {alone.by_itself:.2f}."
    )
