"""Take away: a report for colleagues, tables for spreadsheets and for programs, and the project itself."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from pages.parts.evidence import evidence_line
from pages.parts.guard import guarded
from pages.parts.pictures import HOW, choose_format, file_name
from pages.parts.workspace import Reading, Workspace, current
from spdp_engine.errors import InputError
from spdp_engine.jobs import ACTIVE, JobState
from spdp_engine.project import ENDING, MIME, project_bytes
from spdp_engine.report import MOST_TOPICS, report_bytes
from spdp_engine.results import Result, workbook_bytes, zip_bytes

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

ALL, PINNED, CHOSEN = "All", "Pinned", "Chosen"
"""Which topics go into the report."""

LONGEST_TITLE = 200
"""Characters of the report's title."""

ON_ITS_WAY = 0.3
"""Seconds that a report, or a project, waits for what was typed last: leaving a field and pressing the button are one click."""


def page() -> None:
    """The page."""
    workspace = current()
    reading, result = workspace.reading(), workspace.result()
    st.title("Download")
    if reading is None or result is None:
        st.html('<p class="px-lead">There is nothing to take away yet. Start a run first.</p>')
        if st.button("Find topics" if workspace.corpus else "Choose documents", type="primary"):
            st.switch_page("pages/explore.py" if workspace.corpus else "pages/documents.py")
        return
    assert workspace.job is not None
    if workspace.job.status().state in ACTIVE:
        st.info(
            f"The run is still going on; what you take away shows it after {result.sample.iteration} iterations.",
            icon=":material/info:",
        )
    evidence_line(workspace)
    told, rest = st.columns([3, 2], gap="large")
    with told:
        _report(workspace, reading, result)
        _pictures()
    with rest:
        _tables(result)
        _project(workspace)


def _report(workspace: Workspace, reading: Reading, result: Result) -> None:
    """A report: what goes in, and the button that makes it."""
    st.subheader("A report for colleagues")
    st.html(
        '<p class="px-quiet">One file that opens in any browser, without a network, and prints: for every topic how much '
        "each group talks about it, how it words it, and passages; how all of it was done, and whom to cite.</p>"
    )
    _title_and_note(workspace)
    topics = _choose_topics(reading)
    if not topics:
        st.caption("Choose at least one topic.")
    elif len(topics) > MOST_TOPICS:
        st.caption(f"A report tells of at most {MOST_TOPICS} topics: the first in its order.")
    st.download_button(
        "Download the report",
        lambda: _report_bytes(workspace, result, topics),
        f"{file_name('report')}.html",
        "text/html",
        type="primary",
        icon=":material/description:",
        on_click="ignore",
        disabled=not topics,
    )


@st.fragment
def _title_and_note(workspace: Workspace) -> None:
    """Two fields. Drawn by themselves when they change, so that the button beside them stays as it is while it is pressed."""
    with guarded():
        usual, whose = workspace.job_name[:LONGEST_TITLE], f"{workspace.key}_{workspace.report_turn}"
        written = usual if workspace.report_title is None else workspace.report_title[:LONGEST_TITLE]
        title = st.text_input(
            "Title", written, key=f"report_title_{whose}", max_chars=LONGEST_TITLE, persist_state="session"
        )
        workspace.report_title = None if title == usual else title
        workspace.report_note = st.text_area(
            "Your own note (optional)", workspace.report_note, key=f"report_note_{whose}", height=120, persist_state="session",
            placeholder="What the documents are, what you asked, what you make of it.",
            help="Stands at the beginning. An empty line begins a paragraph.",
        )  # fmt: skip


def _report_bytes(workspace: Workspace, result: Result, topics: Sequence[int]) -> bytes:
    """The report, with what was written until now."""
    time.sleep(ON_ITS_WAY)
    title = workspace.job_name if workspace.report_title is None else workspace.report_title
    return report_bytes(result, title, workspace.report_note, topics)


def _choose_topics(reading: Reading) -> list[int]:
    """The topics that go into the report, in a row of choices; hidden ones never do."""
    shown = list(reading.shown)
    pinned = [topic for topic in reading.view.pinned if topic in shown]
    which = st.segmented_control(
        "Topics", [ALL, PINNED, CHOSEN] if pinned else [ALL, CHOSEN], default=ALL, required=True,
        key="report_topics_pinned" if pinned else "report_topics", persist_state="session",
    )  # fmt: skip
    if which == PINNED:
        return pinned
    if which == ALL:
        hidden = len(reading.view.hidden - set(reading.view.merged))
        if hidden:
            many = "One topic is" if hidden == 1 else f"{hidden} topics are"
            st.caption(f"{many} hidden and left out; shares still include what is said on hidden topics.")
        return shown
    order = reading.view.arranged(int(topic) for topic in reading.topics.order("prevalence") if topic in shown)

    def name(topic: int) -> str:
        return f"{reading.name(topic)}: {reading.topics.label(topic)}"

    return st.multiselect(
        "Topics in the report", order, order[:5], format_func=name, key="report_chosen", persist_state="session"
    )


def _tables(result: Result) -> None:
    """The same tables in two forms."""
    st.subheader("The figures")
    st.html(
        '<p class="px-quiet"><b>A workbook</b> for Excel, LibreOffice or Numbers: a sheet for each table, from all topics at a '
        "glance to every document, and one that explains every column.</p>"
    )
    st.download_button(
        "Download the workbook",
        lambda: workbook_bytes(result),
        f"{file_name('results')}.xlsx",
        XLSX,
        icon=":material/table_view:",
        on_click="ignore",
    )
    st.html(
        '<p class="px-quiet"><b>CSV files</b> in a zip for R, Python or SPSS, with manifest.json, which holds every setting, so '
        "that the run can be done again. Names and words are exactly as in the documents; a spreadsheet would take one that begins "
        "with =, +, − or @ for a formula, so open the workbook there.</p>"
    )
    st.download_button(
        "Download the CSV files",
        lambda: zip_bytes(result),
        f"{file_name('results')}.zip",
        "application/zip",
        icon=":material/folder_zip:",
        on_click="ignore",
    )


def _project(workspace: Workspace) -> None:
    """All of it in one file."""
    st.subheader("The project")
    st.html(
        '<p class="px-quiet">Documents, run, names and findings in one file, which the Documents page opens again where you left '
        "off, on this machine or another.</p>"
    )
    assert workspace.job is not None
    failed = workspace.job.status().state is JobState.FAILED
    if failed:
        st.caption("This run has failed, so there is nothing that could go on.")
    st.download_button(
        "Save the project",
        lambda: _project_bytes(workspace),
        f"{file_name('project')}{ENDING}",
        MIME,
        icon=":material/save:",
        on_click="ignore",
        disabled=failed,
    )


def _project_bytes(workspace: Workspace) -> bytes:
    """The project as it stands when it is asked for.

    Raises:
        InputError: the run has no state that could be saved.
    """
    time.sleep(ON_ITS_WAY)
    project = workspace.project()
    if project is None:
        raise InputError(
            "The run cannot tell its state while it waits for its turn, or has failed. Try again when it rests."
        )
    return project_bytes(project)


def _pictures() -> None:
    """How pictures are saved."""
    st.subheader("Pictures")
    st.html(f'<p class="px-quiet">{HOW}</p>')
    choose_format("download")


with guarded():
    page()
