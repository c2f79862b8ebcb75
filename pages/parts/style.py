"""Colours, marks and style sheet. Each group has a colour AND a mark, so that nothing is told by colour alone."""

from __future__ import annotations

import html

import streamlit as st

# Light and dark variants of twelve hues that stay apart for colour-blind readers, alternating in lightness.
GROUP_COLOURS = (
    ("#00716B", "#54C4BA"), ("#B4501B", "#F39A63"), ("#5646A3", "#AFA1F0"), ("#876A00", "#DCBE4E"),
    ("#A12C60", "#EE8DB5"), ("#24629F", "#84B9F2"), ("#4E6B16", "#A9CB6A"), ("#8C3B2E", "#F0A397"),
    ("#3D5A6C", "#A3C0D2"), ("#7A3E8E", "#D19FE3"), ("#6B5A45", "#CDB99F"), ("#2D6B4B", "#86CFA8"),
)  # fmt: skip
GROUP_MARKS = "●▲■◆★⬟✚▼⬢◗♠♣"


def group_colour(group: int) -> str:
    """CSS colour of a group, for both themes."""
    light, dark = GROUP_COLOURS[group % len(GROUP_COLOURS)]
    return f"light-dark({light}, {dark})"


def chart_colour(group: int) -> str:
    """Colour of a group in a chart, for the theme in use."""
    return GROUP_COLOURS[group % len(GROUP_COLOURS)][1 if is_dark() else 0]


def group_mark(group: int) -> str:
    """The sign that stands for a group beside its name."""
    return GROUP_MARKS[group % len(GROUP_MARKS)]


def is_dark() -> bool:
    """Whether the page is shown in the dark theme."""
    return getattr(st.context.theme, "type", None) == "dark"


def escaped(text: str) -> str:
    """Text of documents is data: it reaches the page escaped, always."""
    return html.escape(text, quote=True)


def group_name_html(group: int, name: str) -> str:
    """A group's mark and name, in its colour."""
    return (
        f'<span class="px-group" style="--group:{group_colour(group)}">'
        f'<span aria-hidden="true">{group_mark(group)}</span> {escaped(name)}</span>'
    )


def apply_style() -> None:
    """Puts the style sheet on the page."""
    st.html(f"<style>{_STYLE}</style>")


_STYLE = """
:root { --px-line: color-mix(in srgb, currentColor 14%, transparent); }
.stMainBlockContainer { padding-top: 4.2rem; padding-bottom: 4rem; max-width: 1500px; }
.stApp [data-testid="stElementContainer"]:has(> .stHtml:empty) { display: none; }
.px-lead { font-size: 1.06rem; max-width: 46rem; opacity: .82; margin: -.4rem 0 .6rem; line-height: 1.55; }
.px-quiet { opacity: .68; }
.px-group { color: var(--group); font-weight: 650; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.px-cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: .9rem; }
.px-card { border: 1px solid color-mix(in srgb, currentColor 15%, transparent); border-radius: .6rem;
  padding: .75rem .9rem .8rem; background: color-mix(in srgb, currentColor 2.2%, transparent); min-width: 0; }
.px-card header { display: flex; align-items: baseline; gap: .55rem; margin-bottom: .5rem; min-width: 0; }
.px-card header b { font-size: .95rem; white-space: nowrap; }
.px-card header span { font-size: .84rem; opacity: .68; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.px-card header i { margin-left: auto; font-style: normal; font-size: .8rem; opacity: .68; white-space: nowrap; }
.px-columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(6.6rem, 1fr)); gap: .5rem 1rem; }
.px-columns > div { min-width: 0; }
.px-columns h6 { margin: 0 0 .15rem; padding: 0; font-size: .84rem; display: flex; justify-content: space-between; gap: .4rem; }
.px-columns h6 em { font-style: normal; font-weight: 500; opacity: .72; font-variant-numeric: tabular-nums; }
.px-share { height: 3px; border-radius: 2px; margin-bottom: .35rem; background: color-mix(in srgb, currentColor 10%, transparent); }
.px-share > div { height: 100%; border-radius: 2px; background: var(--group); }
.px-columns ol { list-style: none; margin: 0; padding: 0; font-size: .9rem; line-height: 1.5; }
.px-columns li { margin: 0; padding: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: .9rem; }
.px-own { color: var(--group); font-weight: 650; }
.px-own::before { content: "\\25B8\\00A0"; font-size: .8em; }
.px-stats { display: grid; grid-template-columns: repeat(auto-fit, minmax(6.2rem, 1fr)); gap: .6rem .9rem; margin: .2rem 0 .4rem; }
.px-stats div { min-width: 0; } .px-stats b { display: block; font-size: 1.18rem; font-variant-numeric: tabular-nums; line-height: 1.3; }
.px-stats span { font-size: .8rem; opacity: .7; }
.px-progress { height: 5px; border-radius: 3px; background: color-mix(in srgb, currentColor 12%, transparent); overflow: hidden; margin: .3rem 0 .6rem; }
.px-progress > div { height: 100%; background: light-dark(#0B6E69, #4DB8AF); }
.px-words { width: 100%; border-collapse: collapse; font-size: .93rem; }
.px-words td { padding: .13rem .3rem .13rem 0; border: 0; vertical-align: middle; }
.px-words td:first-child { width: 44%; max-width: 9rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.px-words td:last-child { width: 3.4rem; text-align: right; font-variant-numeric: tabular-nums; opacity: .7; font-size: .82rem; padding-right: 0; }
.px-bar { height: .72rem; border-radius: 2px; background: color-mix(in srgb, var(--group) 38%, transparent); min-width: 2px; }
.px-bar.own { background: var(--group); }
.px-bar.shared { background: repeating-linear-gradient(135deg, color-mix(in srgb, currentColor 46%, transparent) 0 2px, transparent 2px 5px); }
.px-shared::before { content: "\\25CB\\00A0"; font-size: .8em; opacity: .8; }
.px-passage { border-left: 3px solid var(--group); padding: .1rem 0 .1rem .8rem; margin: 0 0 1.1rem; overflow-wrap: anywhere; }
.px-passage h6 { margin: 0 0 .15rem; font-size: .96rem; padding: 0; }
.px-passage small { opacity: .7; } .px-passage p { margin: .3rem 0 0; line-height: 1.6; font-size: .93rem; }
.px-passage details summary { cursor: pointer; font-size: .84rem; opacity: .75; margin-top: .25rem; }
.px-passage mark { color: inherit; background: color-mix(in srgb, var(--group) 22%, transparent); font-weight: 650;
  border-bottom: 2px solid var(--group); border-radius: 2px; padding: 0 .1em; }
.px-sizes { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr max-content; gap: .3rem .8rem; align-items: center; font-size: .92rem; }
.px-sizes .px-bar { background: var(--group); }
.px-notes { margin: .2rem 0 0; padding-left: 1.1rem; font-size: .92rem; line-height: 1.55; }
.px-notes li { font-size: .92rem; } .px-notes li.warning { font-weight: 600; }
.px-legend { font-size: .84rem; opacity: .8; margin: .1rem 0 .6rem; }
@media (max-width: 640px) {
  .stMainBlockContainer { padding-left: 1rem; padding-right: 1rem; }
  .px-cards { grid-template-columns: 1fr; }
}
@media (prefers-reduced-motion: no-preference) { .px-progress > div, .px-share > div { transition: width .35s ease; } }
"""
