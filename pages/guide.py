"""What a topic is, what the model assumes, how to read the figures, and how to be fooled."""

from __future__ import annotations

import streamlit as st

from pages.parts.guard import guarded
from pages.parts.workspace import by_way_of_the_app

SECTIONS = (
    (
        "What a topic is",
        "A topic is a set of words that keep company: *harbour, ship, crane*. Parallax finds topics from which words stand in "
        "the same documents; nobody tells it what to look for. It gives them numbers; the names are yours.",
    ),
    (
        "What the model assumes",
        "A document is a bag of words, whose order does not count, and a mixture of topics. The groups share the topics. Each "
        "group has its own measure of a topic and its own words for it, scattered around a wording that all share.",
    ),
    (
        "Two readings",
        "**How much** a group talks about a topic is the share of its words that are on it. **How** it talks about it is which "
        "words these are. The two are apart: a group can say little about a topic in very different words, or much in the same "
        "ones.",
    ),
    (
        "How sure",
        "With other documents of the same kind, figures would come out a little otherwise; nine in ten times they would lie "
        "within the **interval**. The **baseline** is the wording gap that chance alone can bring about, found by dealing out the "
        "groups to documents at random; a gap no larger says nothing. Own words are put to the same test, each among words used "
        "about as much. **Found in 5 of 5** says that every run, each from another seed, found the same; what only one or two "
        "found, leave alone.",
    ),
)
"""Headings and what stands below them, in Markdown."""

FOOLED = (
    ("Too few documents.", "With fewer than some fifty to a group, chance writes the findings."),
    ("One prolific author.", "Their pet words become the group’s."),
    (
        "Passages.",
        "Chunks of one speech are not independent: on Documents, choose the column that says which belong together.",
    ),
    ("Boilerplate.", "Bylines, footers and disclaimers make tidy topics about nothing."),
    ("Duplicates.", "A text copied a hundred times counts a hundred times."),
    ("Dates.", "Where one group’s documents are older, you compare years, not groups."),
    ("Hidden topics.", "Hiding a topic changes no share: its words still count in the hundred per cent."),
    ("Labels.", "Three words are not what a topic is about. Read its passages."),
    ("Too many topics.", "One subject falls into slivers that differ by accident."),
    (
        "Group sizes.",
        "Shares can be compared, but a small group’s are less certain and fewer of its own words are found.",
    ),
)
"""Ways to be fooled, and how."""


FIGURES = (
    ("Share", "the part of a group’s words, or of a document’s, that is on a topic"),
    ("Rank", "the place of a topic among its group’s, 1 the largest"),
    ("Wording gap", "how far apart the groups’ wordings are: 0 alike, 1 no word in common"),
    ("By chance", "the baseline: the gap of groups dealt out at random"),
    ("Interval", "in brackets: within it nine in ten collections like this one would lie"),
    ("Found in", "runs with other seeds that found the same"),
    ("Per 1,000", "uses of a word out of 1,000 words on the topic"),
    ("Own word", "used clearly more by this group: a log-odds z above 1.96"),
    ("Coherence", "whether main words stand near one another: 1 always, 0 as by chance"),
    ("PMI", "coherence on an open scale"),
    ("Diversity", "how many main words belong to one topic alone: 1 all"),
    ("Stability", "whether another seed finds the same gaps: 1 the same"),
    ("Perplexity", "how surprising unseen words are; lower is better"),
    ("Averages", "topics are means over many samples, which fit better than one"),
    ("Learned", "settings of the model that it finds by itself"),
)
"""Figures that the pages explain to those who point at them, and what each says."""


def page() -> None:
    """The page."""
    by_way_of_the_app()
    st.title("Guide")
    text, figures = st.columns([3, 2], gap="large")
    with text:
        for heading, paragraph in SECTIONS:
            st.subheader(heading)
            st.markdown(paragraph)
        st.subheader("How to be fooled")
        st.markdown("\n".join(f"- **{name}** {how}" for name, how in FOOLED))
    with figures:
        st.subheader("The figures")
        rows = "".join(f"<tr><th scope='row'>{name}</th><td>{about}</td></tr>" for name, about in FIGURES)
        st.html(f'<table class="px-table px-figures"><tbody>{rows}</tbody></table>')


with guarded():
    page()
