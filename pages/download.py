"""Take away: the five files of a run, as a zip."""

from __future__ import annotations

import re

import streamlit as st

from pages.parts.guard import guarded
from pages.parts.workspace import current
from spdp_engine.jobs import ACTIVE
from spdp_engine.results import prevalence_table, topics_table, zip_bytes

PREVIEW_WORDS = 10


def page() -> None:
    """The page."""
    workspace = current()
    result = workspace.result()
    st.title("Download")
    if result is None:
        st.html('<p class="px-lead">There is nothing to take away yet. Start a run first.</p>')
        if st.button("Find topics" if workspace.corpus else "Choose documents", type="primary"):
            st.switch_page("pages/explore.py" if workspace.corpus else "pages/documents.py")
        return
    assert workspace.job is not None
    if workspace.job.status().state in ACTIVE:
        st.info(
            f"The run is still going on; these files show it after {result.sample.iteration} iterations.",
            icon=":material/info:",
        )
    st.html(
        '<p class="px-lead">Everything the run has found, as five files in a zip: each topic\'s words in every group, how '
        "much each group talks about it, every document's topics, how coherent each topic is, and a manifest with all settings, so "
        "that the run can be done again.</p>"
    )
    name = re.sub(r"\W+", "-", workspace.job_name).strip("-").lower()[:60] or "topics"
    st.download_button(
        "Download the results",
        lambda: zip_bytes(result),
        f"parallax-{name}.zip",
        "application/zip",
        type="primary",
        icon=":material/download:",
    )
    words, shares = st.columns(2, gap="large")
    with words:
        st.subheader("topics.csv")
        table = topics_table(result)
        st.dataframe(table[table["rank"] <= PREVIEW_WORDS], hide_index=True, height=380)
    with shares:
        st.subheader("prevalence.csv")
        whole = {"tokens": st.column_config.NumberColumn(format="%.0f")}
        st.dataframe(prevalence_table(result), hide_index=True, height=380, column_config=whole)
    st.caption(
        "With them: documents.csv (one row a document, a column for each topic's share), quality.csv (how coherent each topic's "
        "words are) and manifest.json."
    )


with guarded():
    page()
