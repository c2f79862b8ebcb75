"""Bring documents: a sample, an upload or a project; see what was read; say which column is what; see the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import streamlit as st

from pages.parts.cards import group_bars_html, notes_html
from pages.parts.guard import guarded, show_problem
from pages.parts.style import plain_markdown
from pages.parts.workspace import Workspace, current, registry
from sample_data import SAMPLES, Sample
from spdp_engine.corpus import (
    LANGUAGE_NAMES,
    Columns,
    InputFile,
    build_corpus,
    guess_columns,
    make_documents,
    read_collection,
)
from spdp_engine.corpus.wording import counted
from spdp_engine.corpus.written import read_joined, read_words, write_joined, write_words
from spdp_engine.errors import InputError, ParallaxError
from spdp_engine.project import ENDING, read_project

FILE_TYPES = ["csv", "tsv", "jsonl", "ndjson", "json", "gz", "zip", "txt", ENDING.lstrip(".")]
PREVIEW_ROWS = 200
PREVIEW_CHARACTERS = 400
DOCUMENT = (
    "Where rows are passages of longer documents (chunks of a speech, comments of a thread, reviews by one person): the column "
    "that says of which. Rows of a group with the same value there are one document wherever it is told how sure something is."
)
LANGUAGES = {"auto": "find out", **LANGUAGE_NAMES, "none": "leave no words out"}


def page() -> None:
    """The page."""
    workspace = current()
    if workspace.collection is None:
        st.title("How differently do they say it?")
        st.html(
            '<p class="px-lead">Bring documents in groups: two newspapers, five parties, before and after. Parallax finds '
            "what they all talk about, and shows each topic in every group's own words. Nothing leaves this machine.</p>"
        )
        _bring(workspace)
        return
    _title_row(workspace)
    _build(workspace)
    if workspace.corpus:
        _next_step(workspace)
    if workspace.opened:
        _opened(workspace)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _columns(workspace)
        _preview(workspace)
    with right:
        if workspace.corpus:
            _report(workspace)
        _words(workspace)


def _title_row(workspace: Workspace) -> None:
    title, button = st.columns([4, 1], vertical_alignment="bottom")
    title.title(plain_markdown(workspace.name))
    with button.popover("Other documents", icon=":material/folder_open:", width="stretch"):
        _bring(workspace, narrow=True)


# --- bringing documents


def _bring(workspace: Workspace, narrow: bool = False) -> None:
    """Samples, and the uploader."""
    samples, upload = (st.container(), st.container()) if narrow else st.columns([1, 1], gap="large")
    with samples:
        st.subheader("Look at a sample")
        for sample in SAMPLES:
            with st.container(border=True):
                st.markdown(f"**{sample.name}**")
                st.caption(sample.description if narrow else f"{sample.description} {sample.look_for}")
                if st.button(
                    "Open this sample",
                    key=f"sample_{sample.key}_{narrow}",
                    type="primary" if sample is SAMPLES[0] and not narrow else "secondary",
                ):
                    _open_sample(workspace, sample)
    with upload:
        st.subheader("Or bring your own")
        _uploader(workspace, narrow)
        place = ", in the place of the run at hand" if workspace.job else ""
        st.caption(
            "**Tables**: one row a document, and a column that says the group; where rows are passages of documents, also one that "
            "says of which. **Texts**: a .zip with one folder a group. "
            f"**Several files at once**: one file a group. **A project** ({ENDING}): opens where it was left{place}."
        )


def _uploader(workspace: Workspace, narrow: bool) -> None:
    """Takes the files' bytes, reads them, and empties the uploader, which would otherwise keep a second copy."""
    turn = st.session_state.setdefault("upload_turn", 0)
    files = st.file_uploader(
        f"CSV, TSV, JSON or JSON Lines (also .gz), text, a .zip, or a {ENDING} project",
        type=FILE_TYPES,
        accept_multiple_files=True,
        key=f"upload_{turn}_{narrow}",
    )
    problem = st.session_state.pop("upload_problem", None)
    if problem:
        show_problem(problem)
    if files:
        inputs = [InputFile(file.name, data=file.getvalue()) for file in files]
        names = ", ".join(_without_ending(file.name) for file in inputs[:3])
        names += f" and {len(inputs) - 3} more" if len(inputs) > 3 else ""
        st.session_state["upload_turn"] = turn + 1
        try:
            if any(file.name.lower().endswith(ENDING) for file in inputs):
                _open_project(workspace, inputs)
            else:
                _take_in(workspace, inputs, names)
        except ParallaxError as error:
            st.session_state["upload_problem"] = str(error)
        st.rerun()


def _without_ending(name: str) -> str:
    """A file's name as a title: without .csv, .jsonl.gz and the like, but with any other dot."""
    path = Path(name)
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return path.stem if path.suffix.lower().lstrip(".") in FILE_TYPES else path.name


def _open_sample(workspace: Workspace, sample: Sample) -> None:
    _take_in(workspace, [sample.path], sample.name, sample.suggested_topics, Columns(**sample.columns))
    st.rerun()


def _open_project(workspace: Workspace, inputs: Sequence[InputFile]) -> None:
    """Opens a project where it was left.

    Raises:
        ParallaxError: it cannot be read, or is not the only file.
    """
    if len(inputs) > 1:
        raise InputError(
            f"A project is opened by itself; bring the {ENDING} file alone, or the other files without it."
        )
    with st.spinner("Opening the project …"):
        workspace.take_project(read_project(inputs[0]), registry().queue)


def _take_in(
    workspace: Workspace, inputs: Sequence[object], name: str, topics: int = 20, columns: Columns | None = None
) -> None:
    """Reads files into the workspace, with progress."""
    with _Progress("Reading …") as progress:
        collection = read_collection(inputs, progress)  # type: ignore[arg-type]
    if columns is None:
        try:
            columns = guess_columns(collection)
        except ParallaxError as error:  # the person can still choose
            workspace.bring(collection, None, name, topics)
            workspace.problem = str(error)
            return
    workspace.bring(collection, columns, name, topics)


class _Progress:
    """A progress bar that is there only while something long is done."""

    def __init__(self, text: str) -> None:
        self._bar = st.progress(0.0, text)

    def __enter__(self) -> _Progress:
        return self

    def __call__(self, text: str, share: float) -> None:
        self._bar.progress(min(max(share, 0.0), 1.0), plain_markdown(text))

    def __exit__(self, *_: object) -> None:
        self._bar.empty()


# --- what was brought


def _build(workspace: Workspace) -> None:
    """Makes the corpus from the chosen columns and word settings, unless it is there."""
    if workspace.corpus or workspace.columns is None or workspace.collection is None:
        if workspace.problem:
            show_problem(workspace.problem)
        return
    try:
        with _Progress("Finding the words …") as progress:
            workspace.documents = make_documents(workspace.collection, workspace.columns)
            workspace.corpus = build_corpus(workspace.documents, workspace.words, progress)
        workspace.problem = ""
    except ParallaxError as error:
        workspace.problem = str(error)
        show_problem(workspace.problem)


def _next_step(workspace: Workspace) -> None:
    corpus = workspace.corpus
    assert corpus is not None
    found = workspace.job is not None and workspace.job.corpus is corpus and workspace.reading() is not None
    text, *buttons = st.columns([3, 1, 1] if found else [4, 1], vertical_alignment="center")
    groups = f"{corpus.n_groups} groups" if corpus.n_groups > 1 else "one group, so there is nothing to compare"
    text.html(
        f'<p class="px-lead">{corpus.told} in {groups}, with {corpus.n_tokens:,} words '
        f"({corpus.n_words:,} different ones) to learn from.</p>"
    )
    if found and buttons.pop().button(
        "Compare the groups", type="primary", icon=":material/compare_arrows:", width="stretch"
    ):
        st.switch_page("pages/compare.py")
    if buttons[0].button(
        "Explore topics", type="secondary" if found else "primary", icon=":material/arrow_forward:", icon_position="right",
        width="stretch",
    ):  # fmt: skip
        st.switch_page("pages/explore.py")


def _opened(workspace: Workspace) -> None:
    """What was opened with a project, and what there is to know before one goes on with it."""
    st.info(" ".join(plain_markdown(sentence) for sentence in workspace.opened), icon=":material/folder_open:")


def _columns(workspace: Workspace) -> None:
    """Which column is what: guessed, and corrected here."""
    assert workspace.collection is not None
    names = [str(name) for name in workspace.collection.table.columns]
    chosen = workspace.columns
    st.subheader("Which column is what")
    row = st.columns(len(fields(Columns)))
    none = "(none)"

    def pick(place: int, label: str, value: str | None, optional: bool, help_text: str) -> str | None:
        options = [none, *names] if optional else names
        index = options.index(value) if value in options else (0 if optional else None)
        answer = row[place].selectbox(
            label, options, index, key=f"column_{label}_{id(workspace.collection)}", help=help_text
        )
        return None if answer == none else answer

    text = pick(0, "Text", chosen.text if chosen else None, False, "The words to be modelled.")
    group = pick(1, "Group", chosen.group if chosen else None, True, "Who is speaking: the groups to compare.")
    title = pick(2, "Title", chosen.title if chosen else None, True, "Shown above passages.")
    date = pick(3, "Date", chosen.date if chosen else None, True, "Shown above passages.")
    document = pick(4, "Document", chosen.document if chosen else None, True, DOCUMENT)
    if text is None:
        return
    wanted = Columns(text, group, title, date, document)
    if wanted != chosen:
        workspace.columns, workspace.documents, workspace.corpus, workspace.problem = wanted, None, None, ""
        st.rerun()


def _preview(workspace: Workspace) -> None:
    assert workspace.collection is not None
    table = workspace.collection.table
    head = table.head(PREVIEW_ROWS).apply(lambda column: column.str.slice(0, PREVIEW_CHARACTERS))
    columns = workspace.columns
    parts = columns.parts() if columns else {}
    order_of_parts = ("group", "document", "title", "date", "text")
    first = list(dict.fromkeys(parts[part] for part in order_of_parts if part in parts))  # a column may have two parts
    order = [*first, *(name for name in head.columns if name not in first)]
    st.dataframe(head[order], hide_index=True, height=420, row_height=38)
    if len(table) > PREVIEW_ROWS:
        st.caption(f"The first {PREVIEW_ROWS} of {len(table):,} rows.")


def _report(workspace: Workspace) -> None:
    """Group sizes, and every note from reading to vocabulary."""
    corpus = workspace.corpus
    assert corpus is not None
    st.subheader("Documents in each group")
    sizes, passages = corpus.group_originals(), corpus.group_sizes()
    labels = [
        f"{size:,} ({counted(passages[name], 'passage')})" if corpus.has_passages else f"{size:,}"
        for name, size in sizes.items()
    ]
    st.html(group_bars_html(list(sizes), list(sizes.values()), labels))
    st.subheader("What was read, and what was left out")
    st.html(notes_html(corpus.notes))


def _words(workspace: Workspace) -> None:
    """Word settings, folded away."""
    words = workspace.words
    with (
        st.expander("Words and passages", icon=":material/tune:", expanded=bool(workspace.problem)),
        st.form("words", border=False),
    ):
        language = st.selectbox(
            "Language, whose everyday words (the, and, of) are left out",
            list(LANGUAGES),
            list(LANGUAGES).index(words.language) if words.language in LANGUAGES else 0,
            format_func=lambda code: LANGUAGES[code],
        )
        extra = st.text_area(
            "More words to leave out", write_words(words.extra_stop_words), placeholder="separated by commas", height=68
        )
        joined = st.text_area(
            "Words that are read as one", write_joined(words.joined_words), placeholder="tax = taxes", height=68,
            help="A line each. All of its words count as the first.",
        )  # fmt: skip
        minimum = st.number_input(
            "A word must be in at least … documents (0: chosen by size)", 0, 1_000_000, words.minimum_documents or 0
        )
        maximum = st.slider(
            "… and in at most this share of them", 5, 100, round(100 * words.maximum_share), format="%d %%"
        )
        numbers = st.checkbox("Keep numbers", words.keep_numbers)
        choices = {None: "when a group has few documents", True: "always", False: "never"}
        passages = st.selectbox(
            "Cut long documents into passages",
            list(choices),
            list(choices).index(words.passages),
            format_func=choices.__getitem__,
        )
        prepared = st.checkbox("The text is prepared already: take every word as it is", words.pretokenised)
        if st.form_submit_button("Use these settings"):
            new = replace(
                words,
                language="none" if prepared else language,
                extra_stop_words=read_words(extra, words.extra_stop_words),
                joined_words=read_joined(joined, words.joined_words),
                minimum_documents=int(minimum) or None,
                maximum_share=maximum / 100,
                keep_numbers=numbers,
                passages=passages,
                pretokenised=prepared,
            )
            if new != words or workspace.corpus is None:
                workspace.words, workspace.corpus, workspace.problem = new, None, ""
                st.rerun()


with guarded():
    page()
