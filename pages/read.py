"""Read the documents: search them, see words in their contexts, open one with its words coloured by topic."""

from __future__ import annotations

import streamlit as st

from pages.parts.guard import guarded


def page() -> None:
    """The page."""
    st.title("Read")


with guarded():
    page()
