"""How sure are the findings, and would another run find them again?"""

from __future__ import annotations

import streamlit as st

from pages.parts.evidence import evidence_section
from pages.parts.guard import guarded
from pages.parts.pairing import pairing_section
from pages.parts.standing import standing_sections
from pages.parts.workspace import current


def page() -> None:
    """The page."""
    workspace = current()
    st.title("How sure is it?")
    reading = workspace.reading()
    if reading is None:
        st.html(
            '<p class="px-lead">There are no topics yet. Start a run; once it has come to rest, what it has found is checked '
            "here.</p>"
        )
        target = "pages/explore.py" if workspace.corpus else "pages/documents.py"
        if st.button("Find topics" if workspace.corpus else "Choose documents", type="primary"):
            st.switch_page(target)
        return
    evidence_section(workspace)
    if workspace.resting():
        standing_sections(workspace, reading)
    pairing_section(workspace, reading)


with guarded():
    page()
