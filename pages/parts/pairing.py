"""Two runs side by side: which two, a further one in the background, and how well each of them fits."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.cards import COHERENCE, coherence
from pages.parts.guard import guarded, show_problem
from pages.parts.live_html import live_html
from pages.parts.pairing_view import counted_topics, forget_topics, pairing_view
from pages.parts.quality import DIVERSITY
from pages.parts.style import escaped, plain_markdown
from pages.parts.workspace import REFRESH_SECONDS, Reading, Workspace, registry
from spdp_engine.jobs import ACTIVE, JobState, JobStatus
from spdp_engine.runs import MOST_RUNS, FurtherRun, Run, incomparable, names_of

PRESENT = "present"
"""What the present run is called among the choices; it is another `Run` each time that its topics are read anew."""

FIRST, SECOND = "pairing_first", "pairing_second"
"""Where the session keeps which runs are laid beside one another."""

PERPLEXITY = "How surprised the model is by words it has not seen: lower is better"


def pairing_section(workspace: Workspace, reading: Reading) -> None:
    """Lays the present run beside an earlier or a further one.

    Args:
        workspace: which holds the runs.
        reading: of the present one.
    """
    st.subheader("Two runs side by side")
    if workspace.resting() is reading:
        _ = reading.quality  # measured here, so that the run has its coherence
    _section(workspace)


@st.fragment
def _section(workspace: Workspace) -> None:
    """All of it, drawn by itself when something in it is chosen."""
    with guarded():
        if came := workspace.collect():
            st.session_state[SECOND] = came.key
            forget_topics()
        present = workspace.present()
        if present is None:
            return
        if not workspace.earlier:
            st.html(
                '<p class="px-lead">Every run begins from chance. What another run finds again, with another seed or another '
                "number of topics, is in the texts; what it does not find may be chance.</p>"
            )
        going_on = _further(workspace)
        if workspace.earlier:
            _beside(workspace, present, going_on)
        elif not going_on:
            _offer(workspace, present)


# --- a further run


def _further(workspace: Workspace) -> bool:
    """How far the run beside the present one is, or why it failed; returns whether it goes on."""
    further = workspace.further
    if further is None:
        return False
    status = further.status()
    if status.state in ACTIVE:
        _going_on(further)
        if st.button("Cancel this run", icon=":material/close:", key="pairing_cancel"):
            workspace.run_beside(None)
            st.rerun()
        return True
    if status.error:
        show_problem(status.error)
    return False


@st.fragment(run_every=REFRESH_SECONDS)
def _going_on(further: FurtherRun) -> None:
    """How far it is, again and again until it is over."""
    with guarded():
        status = further.status()
        live_html(_progress_html(further, status), key="pairing_progress")
        if status.state not in ACTIVE:
            st.rerun()


def _progress_html(further: FurtherRun, status: JobStatus) -> str:
    words = "getting ready"
    if status.state is JobState.WAITING:
        before = status.waiting_before
        words = (
            f"waiting: {before} run{'s' if before > 1 else ''} before this one" if before else "waiting for its turn"
        )
    elif status.state is JobState.RUNNING and status.seconds_left is not None:
        words = f"running, {_duration(status.seconds_left)} left"
    what = f"{counted_topics(further.settings.topics)}, seed {further.settings.seed}"
    share = 100 * status.iteration / max(1, status.target)
    return (
        f'<div role="group" aria-label="Run beside this one"><div class="px-quiet">Beside this run, {what}: {words}</div>'
        f'<div class="px-progress"><div style="width:{min(100.0, share):.1f}%"></div></div></div>'
    )


def _offer(workspace: Workspace, present: Run) -> None:
    """What a further run begins with, and the button that begins it."""
    job = workspace.job
    assert job is not None
    taken = {run.settings.seed for run in (present, *workspace.earlier)}
    free = next(seed for seed in range(present.settings.seed + 1, 2**33) if seed % 2**32 not in taken) % 2**32
    with st.container(horizontal=True, vertical_alignment="bottom"):
        topics = st.number_input(
            "Topics", 1, 1000, present.settings.topics, key=f"pairing_topics_{present.settings.topics}", width=130,
            help="Another number shows which topics are cut in two, or read as one. With the seed of this run, the fit of both is "
            "measured on the same words.",
        )  # fmt: skip
        seed = st.number_input(
            "Seed", 0, 2**32 - 1, free, key=f"pairing_seed_{free}", width=130,
            help="Another seed begins from other chance. All other settings are those of this run.",
        )  # fmt: skip
        begin = st.button("Run beside this one", icon=":material/play_arrow:", key="pairing_begin")
    about = f", for about as long as this one did ({_duration(present.records[-1].elapsed)})" if present.records else ""
    st.caption(
        f"It runs in the background{about}. This run and its topics stay as they are; up to {MOST_RUNS} others are kept beside it."
    )
    if begin:
        associations = workspace.job_associations.table.name if workspace.job_associations else ""
        status = job.status()
        further = FurtherRun(
            job.corpus, replace(job.settings, topics=int(topics), seed=int(seed)),
            status.target if status.state in ACTIVE else max(1, present.iterations), registry().queue, workspace.job_name,
            associations,
        )  # fmt: skip
        workspace.run_beside(further)
        st.rerun()


def _duration(seconds: float) -> str:
    return f"{max(1, round(seconds)):,} s" if seconds < 90 else f"{seconds / 60:.0f} min"


# --- which two runs


def _beside(workspace: Workspace, present: Run, going_on: bool) -> None:
    """The choice of two runs, and what comes of it."""
    runs = {PRESENT: present, **{run.key: run for run in workspace.earlier}}
    names = dict(zip(runs, names_of(list(runs.values())), strict=True))
    names[PRESENT] += " (this run)"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first, second = _choose(names)
        if not going_on:
            with st.popover("Run again", icon=":material/restart_alt:"):
                _offer(workspace, present)
        with st.popover("Kept runs", icon=":material/inventory_2:"):
            _kept(workspace, names)
    chosen = names[first], names[second]
    pairing_view(workspace.pairing(runs[first], runs[second]), chosen)
    _fit((runs[first], runs[second]), chosen)


def _choose(names: dict[str, str]) -> tuple[str, str]:
    """The keys of the two runs: at first the present one and the newest of the others."""
    keys = list(names)
    chosen = []
    for place, label in ((FIRST, "First run"), (SECOND, "Second run")):
        there = [key for key in keys if key not in chosen]
        if st.session_state.get(place) not in there:
            st.session_state[place] = there[0]
            forget_topics()
        st.selectbox(
            label, there, key=place, format_func=names.__getitem__, on_change=forget_topics, persist_state="session", width=350
        )  # fmt: skip
        chosen.append(str(st.session_state[place]))
    return chosen[0], chosen[1]


def _kept(workspace: Workspace, names: dict[str, str]) -> None:
    """Lets runs go that are kept."""
    st.caption("Their topics are kept, not their samplers. The oldest make room for new ones.")
    for run in workspace.earlier:
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(plain_markdown(names[run.key]))
            if st.button("Delete", icon=":material/delete:", key=f"pairing_delete_{run.key}"):
                workspace.forget(run)
                st.rerun()


# --- how well they fit


def _fit(runs: tuple[Run, Run], names: tuple[str, str]) -> None:
    """Both runs' figures beside one another, and why they cannot be compared where that is so."""

    def row(name: str, hint: str, values: list[str]) -> str:
        cells = "".join(f"<td>{value}</td>" for value in values)
        return f'<tr><td><span class="px-hint" title="{escaped(hint)}.">{name}</span></td>{cells}</tr>'

    rows = (
        row("Topics", "The number that was asked for", [f"{run.settings.topics:,}" for run in runs]),
        row("Seed", "What chance began from", [f"{run.settings.seed}" for run in runs]),
        row("Iterations", "Sweeps over all words", [f"{run.iterations:,}" for run in runs]),
        row("Vocabulary", "Different words that the model knows", [f"{len(run.topics.vocabulary):,}" for run in runs]),
        row("Perplexity", PERPLEXITY, ["–" if run.perplexity is None else f"{run.perplexity:,.0f}" for run in runs]),
        row("Coherence", f"{COHERENCE}. The mean over topics; higher is better",
            ["–" if run.coherence is None else coherence(run.coherence) for run in runs]),
        row("Diversity", DIVERSITY, ["–" if run.diversity is None else f"{run.diversity:.2f}" for run in runs]),
    )  # fmt: skip
    head = f"<th></th>{''.join(f'<th>{escaped(name)}</th>' for name in names)}"
    st.markdown("**How well they fit**")
    st.html(f'<table class="px-table px-two-fit"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>')
    for reason in incomparable(*runs):
        st.caption(f":material/warning: {plain_markdown(reason)}")
    for run, name in zip(runs, names, strict=True):
        if not run.averaged:
            st.caption(
                f":material/info: “{plain_markdown(name)}” is one sample, which has chance in it. Of a longer run, whose samples "
                "are averaged, more topics are found again."
            )
