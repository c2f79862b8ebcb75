"""How far it is checked how sure a run's findings are: one quiet line, and all of it with buttons."""

from __future__ import annotations

import streamlit as st

from pages.parts.guard import guarded, show_problem
from pages.parts.workspace import Workspace
from spdp_engine.evidence import Evidence, EvidenceStatus, Phase
from spdp_engine.jobs import ACTIVE, JobState
from spdp_engine.topics.findings import Findings

REFRESH_SECONDS = 1.0
"""Pace at which the checking is looked at: it takes a minute, and the cores have better to do."""

CHECKS = {
    Phase.SAMPLES: (
        "Samples of the run",
        "The sampler goes on a little from where the run rests. How much shares and words vary from sample to sample, and how much "
        "they hang on single documents, gives the intervals.",
    ),
    Phase.CHANCE: (
        "Groups dealt out at random",
        "Documents are dealt out to the groups at random, and the topics follow. Whatever difference shows then is chance; a "
        "difference that is told has to be larger.",
    ),
    Phase.SEEDS: (
        "Other seeds",
        "Runs from other beginnings, with another seed each: which topics, and which of each group’s own words, they find again.",
    ),
}
"""What is done in each phase, and what for."""


def evidence_line(workspace: Workspace) -> None:
    """How far the checking is, in one quiet line; nothing where there is none, or it is finished."""
    evidence = workspace.evidence
    if evidence and evidence.status().state in ACTIVE:
        _line(evidence, evidence.findings())


def evidence_section(workspace: Workspace) -> None:
    """What is checked and how far it is, with buttons that end it and begin it again."""
    evidence, findings = workspace.evidence, workspace.findings()
    if not workspace.at_rest:
        st.html(
            '<p class="px-lead">The run is not at its end. Once it is finished or stopped, what it has found is checked in the '
            "background, and told here.</p>"
        )
        return
    st.html(
        '<p class="px-lead">Every finding is put to three tests, in the background and without touching the run. Pages fill in as '
        "they are done.</p>"
    )
    status = evidence.status() if evidence else None
    if evidence and status and status.state in ACTIVE:
        _progress(evidence, evidence.findings())
        if st.button("Cancel", icon=":material/close:", key="evidence_cancel"):
            evidence.cancel()
            st.rerun()
        return
    st.html(checks_html(status, findings))
    if status and status.state is JobState.FAILED:
        show_problem(status.error)
    if (status is None or status.state is not JobState.FINISHED) and st.button(
        "Check again", icon=":material/restart_alt:", key="evidence_again"
    ):
        workspace.gather_evidence()
        st.rerun()


@st.fragment(run_every=REFRESH_SECONDS)
def _line(evidence: Evidence, known: Findings) -> None:
    with guarded():
        status = evidence.status()
        st.html(
            f'<p class="px-quiet px-legend" role="status">How sure this is, is being checked: {_how_far(status)}.</p>'
        )
        _when_more_is_known(evidence, status, known)


@st.fragment(run_every=REFRESH_SECONDS)
def _progress(evidence: Evidence, known: Findings) -> None:
    with guarded():
        status = evidence.status()
        st.html(checks_html(status, evidence.findings()))
        _when_more_is_known(evidence, status, known)


def _when_more_is_known(evidence: Evidence, status: EvidenceStatus, known: Findings) -> None:
    """Draws the whole page again once it is over, or there is more to show than there was."""
    if status.state not in ACTIVE or evidence.findings() is not known:
        st.rerun()


def checks_html(status: EvidenceStatus | None, findings: Findings) -> str:
    """The three tests and what became of each, and how far all of it is; without a status, of findings that came with a project."""
    rows = "".join(
        f"<tr><td>{'✓' if _is_done(phase, status, findings) else ''}</td>"
        f'<td><span class="px-hint" title="{about}">{name}</span></td><td>{_told(phase, status, findings)}</td></tr>'
        for phase, (name, about) in CHECKS.items()
    )
    bar = ""
    if status and status.state in ACTIVE:
        far = _how_far(status)
        bar = (
            f'<div class="px-progress"><div style="width:{100 * status.share:.1f}%"></div></div>'
            f'<p class="px-caption">{far[:1].upper()}{far[1:]}.</p>'
        )
    table = f'<table class="px-table"><tbody>{rows}</tbody></table>'
    return f'<div role="group" aria-label="Checks" class="px-checks">{table}{bar}</div>'


def _is_done(phase: Phase, status: EvidenceStatus | None, findings: Findings) -> bool:
    """Whether all of a phase is known."""
    if phase is Phase.SAMPLES:
        return findings.prevalence_draws is not None
    if phase is Phase.CHANCE:
        return findings.gap_baseline is not None
    return findings.seeds is not None and (status is None or status.state is JobState.FINISHED)


def _told(phase: Phase, status: EvidenceStatus | None, findings: Findings) -> str:
    """What became of a phase, in some words."""
    active, so_far = bool(status and status.state in ACTIVE), "not done"
    if active and status:
        so_far = "under way" if status.phase is phase else "to come"
    if phase is Phase.SAMPLES and findings.prevalence_draws is not None:
        return f"intervals of {findings.level:.0%}"
    if phase is Phase.CHANCE and findings.gap_baseline is not None:
        return f"dealt out {len(findings.gap_baseline)} times"
    if phase is Phase.CHANCE and (findings.seeds or (status and status.state is JobState.FINISHED)):
        return "does not apply to this run"
    if phase is Phase.SEEDS and findings.seeds:
        return f"{findings.seeds.of} runs compared{', more to come' if active else ''}"
    return so_far


def _how_far(status: EvidenceStatus) -> str:
    """What is being done and how long it will take, without a full stop."""
    if status.state is JobState.WAITING and status.waiting_before:
        runs = "one run" if status.waiting_before == 1 else f"{status.waiting_before} runs"
        return f"waiting, {runs} before it"
    words = f"{CHECKS[status.phase][0].lower()}, {status.share:.0%} done"
    left = status.seconds_left
    if left is None:
        return words
    return f"{words}, {left:.0f} s left" if left < 90 else f"{words}, {left / 60:.0f} min left"
