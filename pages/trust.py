"""How sure are the findings, and would another run find them again?"""

from __future__ import annotations

import streamlit as st

from pages.parts.guard import guarded


def page() -> None:
    """The page."""
    st.title("Trust")


with guarded():
    page()
