"""Parallax in the browser: `streamlit run app.py`. Page set-up and navigation; what is seen is in pages/."""

from __future__ import annotations

import streamlit as st

from pages.parts.style import apply_style, logo
from pages.parts.workspace import open_workspace

st.set_page_config(page_title="Parallax", page_icon="◐", layout="wide", initial_sidebar_state="collapsed")
apply_style()
st.logo(logo(), size="large")
open_workspace()

PAGES = [
    st.Page("pages/documents.py", title="Documents", icon=":material/library_books:", default=True),
    st.Page("pages/explore.py", title="Explore", icon=":material/travel_explore:"),
    st.Page("pages/compare.py", title="Compare", icon=":material/compare_arrows:"),
    st.Page("pages/read.py", title="Read", icon=":material/article:"),
    st.Page("pages/trust.py", title="Trust", icon=":material/verified:"),
    st.Page("pages/download.py", title="Download", icon=":material/download:"),
    st.Page("pages/guide.py", title="Guide", icon=":material/help:"),
]

st.navigation(PAGES, position="top").run()
