"""How much is said on a topic by another column than the group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.guard import guarded
from pages.parts.library import library
from pages.parts.style import escaped, group_name_html
from pages.parts.workspace import Reading, Workspace
from spdp_engine.corpus.wording import counted
from spdp_engine.topics.crosstab import CrossTable, cross_table
from spdp_engine.topics.telling import percent

FEW = 5
"""Shares of fewer documents are pale."""

NOTHING = "(empty)"
"""What stands for empty cells."""


def crosstab_section(workspace: Workspace, reading: Reading, topic: int) -> None:
    """The section of the page Compare; nothing where no other column has few values."""
    if library(reading.corpus).fields:
        _guarded_section(reading, topic)


@st.fragment
def _guarded_section(reading: Reading, topic: int) -> None:
    with guarded():
        _section(reading, topic)


def _section(reading: Reading, topic: int) -> None:
    st.subheader("By other columns")
    books = library(reading.corpus)
    fields = books.fields
    if st.session_state.get("crosstab_field") not in fields:
        st.session_state["crosstab_field"] = fields[0]
    field = st.selectbox("Column", fields, key="crosstab_field", persist_state="session", width=360)
    field = field or fields[0]
    table = cross_table(reading.passages.belonging, topic, field, books.values(field))
    st.html(_table_html(reading, table))
    st.html(
        '<p class="px-legend">The share of words on this topic, and how many documents there are. The darker, the larger the '
        f"share; pale figures are of fewer than {FEW} documents.</p>"
    )
    more = st.expander("As a table", icon=":material/table:", on_change="rerun", key="crosstab_table")
    if more.open:
        with more:
            _data_table(reading, table)


def _names(reading: Reading) -> list[str]:
    """Columns of the table: all groups together, unless there is one, and each."""
    names = list(reading.topics.group_names)
    return names if len(names) == 1 else ["All", *names]


def _table_html(reading: Reading, table: CrossTable) -> str:
    names = _names(reading)
    first = table.share.shape[1] - len(names)  # one group is all groups
    heads = "".join(
        f"<th>{escaped(name) if len(names) > 1 and column == 0 else group_name_html(column - (len(names) > 1), name)}</th>"
        for column, name in enumerate(names)
    )
    trusted = np.where(table.documents >= FEW, table.share, 0.0)
    largest = max(float(np.nanmax(trusted)), 1e-12) if trusted.size else 1.0
    rows = []
    for r, value in enumerate(table.values):
        cells = "".join(_cell_html(table, r, c, largest) for c in range(first, table.share.shape[1]))
        rows.append(f'<tr><th title="{escaped(value or NOTHING)}">{escaped(value or NOTHING)}</th>{cells}</tr>')
    return (
        f'<div class="px-scroll" tabindex="0" role="group" aria-label="Shares by {escaped(table.field)}"><table class="px-cross">'
        f"<thead><tr><th>{escaped(table.field)}</th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell_html(table: CrossTable, row: int, column: int, largest: float) -> str:
    documents, share = int(table.documents[row, column]), float(table.share[row, column])
    if not documents:
        return '<td class="px-few" title="No documents.">–</td>'
    told = f"{percent(share)} of {table.tokens[row, column]:,} words in {counted(documents, 'document')}"
    few = documents < FEW
    strength = 0.0 if few else min(1.0, share / largest)
    return (
        f'<td{" class=px-few" if few else ""} style="--strength:{62 * strength:.0f}%" title="{told}."><b>{percent(share)}</b>'
        f"<small>{documents:,}</small></td>"
    )


def _data_table(reading: Reading, table: CrossTable) -> None:
    """A row for each value and group."""
    names = _names(reading)
    first = table.share.shape[1] - len(names)
    rows = [
        {
            "Value": value or NOTHING,
            "Group": name,
            "Share": 100 * table.share[r, first + c],
            "Documents": table.documents[r, first + c],
            "Words": table.tokens[r, first + c],
        }
        for r, value in enumerate(table.values)
        for c, name in enumerate(names)
    ]
    columns = {
        "Share": st.column_config.NumberColumn(format="%.2f %%", help="Of these words, those on this topic."),
        "Words": st.column_config.NumberColumn(help="Of the vocabulary, on whatever topic."),
    }
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config=columns)
