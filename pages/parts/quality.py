"""How good the topics of a resting run are: figures, a table that can be sorted, and a text of one's own to judge them by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from pages.parts.cards import COHERENCE, coherence, notes_html
from pages.parts.guard import show_problem
from pages.parts.style import escaped, plain_markdown
from pages.parts.workspace import Reading, Workspace
from spdp_engine.corpus import InputFile, Note, read_reference
from spdp_engine.errors import ParallaxError
from spdp_engine.topics import TopicQuality

REFERENCE_TYPES = ["csv", "tsv", "jsonl", "ndjson", "json", "gz", "zip", "txt"]
GROUPS_IN_TABLE = 6
"""So many groups have a column of their own."""

DIVERSITY = "Diversity: how many of the topics' main words belong to one topic alone; 1 all, the more the better"
PMI = "PMI: coherence on an open scale, summed over the topics; it grows with their number"


def quality_html(workspace: Workspace, reading: Reading) -> str:
    """Coherence, diversity and PMI of all topics together, and coherence by the person's own text."""
    quality = reading.quality
    figures = [
        (coherence(quality.mean_npmi), "coherence", f"{COHERENCE}. The mean over topics"),
        (f"{quality.diversity:.2f}", "diversity", DIVERSITY),
        (f"{quality.total_pmi:,.0f}".replace("-", "−"), "total PMI", PMI),
    ]
    cells = "".join(
        f'<div title="{escaped(about)}."><b>{value}</b><span class="px-hint">{label}</span></div>'
        for value, label, about in figures
    )
    other = ""
    if workspace.reference:
        found = reading.quality_by(workspace.reference)
        other = (
            f'<div class="px-method">Coherence in {escaped(workspace.reference.name)}: '
            f"<b>{coherence(found.mean_npmi)}</b></div>"
        )
    return f'<div role="group" aria-label="Quality"><div class="px-stats">{cells}</div>{other}</div>'


def quality_section(workspace: Workspace, reading: Reading) -> None:
    """Every topic's figures, and the reference text."""
    quality = reading.quality
    words = f"a topic's {quality.coherence_words} main words"
    near = f"within {quality.window} words of one another" if quality.window else "in the same document"
    st.html(
        f'<p class="px-quiet">Coherence asks how much oftener than by chance {words} stand {near}: in the documents themselves, '
        "and in a text of your own if you bring one.</p>"
    )
    table, columns = quality_table(reading, workspace)
    st.dataframe(table, hide_index=True, column_config=columns)
    st.caption("A click on a column's head sorts by it.")
    _bring_reference(workspace, reading)


def quality_table(reading: Reading, workspace: Workspace) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A row for each topic that is shown, and how its columns are shown."""
    topics, quality, shown = reading.topics, reading.quality, list(reading.shown)
    number = st.column_config.NumberColumn
    table: dict[str, Any] = {"Topic": [topic + 1 for topic in shown]}
    if reading.view.names or reading.view.merged:
        table["Name"] = [reading.name(topic) for topic in shown]
    table["Coherence"] = _rounded(quality.npmi[shown])
    columns: dict[str, Any] = {
        "Topic": number(width="small", help="As on its card."),
        "Coherence": number(format="%.2f", help=f"{COHERENCE}."),
        "PMI": number(format="%.2f", help="The same on an open scale."),
        "Share": number(format="%.1f %%", help="Of the words, the mean over groups."),
    }
    if workspace.reference:
        found, name = reading.quality_by(workspace.reference), "In the reference"
        table[name] = _rounded(found.npmi[shown])
        columns[name] = number(format="%.2f", help=f"The coherence in {plain_markdown(workspace.reference.name)}.")
    table["PMI"] = quality.pmi[shown]
    table["Words"] = [topics.label(topic, 5) for topic in shown]
    table["Share"] = 100 * topics.overall[shown]
    if not topics.worded_alike:
        table["Wording gap"] = topics.gap[shown]
        columns["Wording gap"] = number(format="%.2f", help="0: alike, 1: no word in common.")
        for group, values in zip(topics.group_names[:GROUPS_IN_TABLE], quality.group_npmi, strict=False):
            name = f"Coherence: {group}"
            table[name] = _rounded(values[shown])
            columns[name] = number(format="%.2f", help="Of the words that this group uses most.")
    return pd.DataFrame(table), columns


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two decimals, and no minus before a nought."""
    return values.round(2) + 0.0


def _bring_reference(workspace: Workspace, reading: Reading) -> None:
    """The uploader, or what was brought and what is told of it."""
    reference = workspace.reference
    if reference:
        st.markdown(f"Reference: {plain_markdown(reference.name)}")
        found = reading.quality_by(reference)
        st.html(_beside_html(reading.quality, found) + notes_html((*reference.notes, *_missing(found))))
        if st.button("Leave the reference out", icon=":material/close:"):
            workspace.reference = None
            st.rerun()
        return
    turn = st.session_state.setdefault("reference_turn", 0)
    files = st.file_uploader(
        "A reference text (optional)", REFERENCE_TYPES, accept_multiple_files=True, key=f"reference_{turn}",
        help="Texts in the language of the documents, such as articles of an encyclopedia: the more, the better. Tables, JSON, "
        "plain text, or a .zip of these.",
    )  # fmt: skip
    problem = st.session_state.pop("reference_problem", None)
    if problem:
        show_problem(problem)
    if files:
        inputs = [InputFile(file.name, data=file.getvalue()) for file in files]
        st.session_state["reference_turn"] = turn + 1  # an empty uploader, which would otherwise keep a second copy
        bar = st.progress(0.0, "Reading …")

        def tell(text: str, done: float) -> None:
            bar.progress(min(1.0, done), plain_markdown(text))

        try:
            workspace.reference = read_reference(inputs, reading.corpus, progress=tell)
        except ParallaxError as error:
            st.session_state["reference_problem"] = str(error)
        st.rerun()


def _beside_html(own: TopicQuality, other: TopicQuality) -> str:
    """Mean coherence by the corpus and by the reference, beside one another."""
    rows = "".join(
        f'<tr><td class="px-name">{escaped(one.reference)}</td><td>{coherence(one.mean_npmi)}</td>'
        f"<td>{one.reference_tokens:,}</td></tr>"
        for one in (own, other)
    )
    head = "<th>Looked for in</th><th>Coherence</th><th>Words</th>"
    return f'<table class="px-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _missing(quality: TopicQuality) -> tuple[Note, ...]:
    """Says which of the topics' words the reference never holds: these count as never together with others."""
    words = quality.missing
    if not words:
        return ()
    some = ", ".join(words[:8]) + (" and others" if len(words) > 8 else "")
    many = f"{len(words):,} of the topics' main words are" if len(words) > 1 else "One of the topics' main words is"
    return (Note("warning", f"{many} nowhere in it, which lowers the coherence of their topics: {some}.", len(words)),)
