"""A project is saved in one session and opened in another: the same topics, names and numbers; and the run goes on as it would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from visitor import PATIENCE, Visitor, as_csv, talk

from pages.parts.changed_words import change_text
from pages.parts.workspace import Workspace
from spdp_engine.corpus import InputFile
from spdp_engine.corpus.changes import WordChange
from spdp_engine.jobs import JobState
from spdp_engine.project import ENDING, Project, project_bytes, read_project
from spdp_engine.topics.findings import Findings
from spdp_engine.topics.view import View

pytestmark = pytest.mark.timeout(120)

NAME = "harbour & <b>school"
PAGES = ("explore", "compare", "read", "trust", "download", "documents")


def save(visitor: Visitor) -> bytes:
    project = visitor.workspace.project()
    assert project is not None
    return project_bytes(project)


@pytest.fixture(scope="module")
def left() -> Iterator[Visitor]:
    """Somebody who has run topics, named one, hidden one, and read two as one."""
    visitor = Visitor().upload((f"{NAME}.csv", as_csv(talk())))
    visitor.run_topics(5, 45)
    visitor.workspace.change_view(View().named(1, "Ships <i>& docks</i>").hide(2).merge([4], into=3).pin(3))
    yield visitor.reload()
    visitor.workspace.let_go()


@pytest.fixture(scope="module")
def saved(left: Visitor) -> bytes:
    return save(left)


@pytest.fixture
def opened(saved: bytes) -> Iterator[Visitor]:
    visitor = Visitor().upload((f"colleague{ENDING}", saved))
    yield visitor
    visitor.workspace.let_go()


def job_of(visitor: Visitor) -> Any:
    assert visitor.workspace.job is not None
    return visitor.workspace.job


def test_a_project_of_version_1_opens_where_it_was_left() -> None:
    """Its rows are documents, until a column says otherwise."""
    saved = Path(__file__).parents[1] / "unit" / "version_1.parallax"
    visitor = Visitor().upload((saved.name, saved.read_bytes()))
    assert visitor.title == "Harbour" and not visitor.errors and "2 topics after 6 iterations" in visitor.infos
    assert "48 passages of 12 documents in 2 groups" in visitor.text
    assert visitor.widget("selectbox", "Document").value == "(none)"
    visitor.choose("Document", "issue")
    assert not visitor.errors and "48 passages of 6 documents in 2 groups" in visitor.text
    visitor.workspace.let_go()


def test_what_was_opened_is_told_and_leads_on(left: Visitor, opened: Visitor) -> None:
    assert opened.title == NAME == left.workspace.name
    assert "This project holds a run of 5 topics after 45 iterations" in opened.infos and not opened.errors
    corpus = opened.workspace.corpus
    assert corpus is not None and f"{corpus.n_documents:,} documents in 2 groups" in opened.text
    for note in corpus.notes:
        assert note.text in opened.text
    opened.press("Compare the groups")
    assert opened.title == "Compare the groups"


@pytest.fixture
def no_evidence(left: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is gathered in the background, where it may be further in one session than in the other."""
    monkeypatch.setattr(Workspace, "gather_evidence", Workspace.leave_evidence)
    left.workspace.leave_evidence()


@pytest.mark.usefixtures("no_evidence")
def test_every_page_says_what_it_said(left: Visitor, opened: Visitor) -> None:
    for page in PAGES:
        before, after = left.go(page), opened.go(page)
        assert (before.title, before.text, before.errors) == (after.title, after.text, after.errors), page
        assert before.captions == after.captions, page
        assert [label for label in before.buttons if label != "Undo"] == after.buttons, "only steps back are gone"


def test_what_is_read_is_what_was_read(left: Visitor, opened: Visitor) -> None:
    assert opened.workspace.view == left.workspace.view
    reading, other = left.workspace.reading(), opened.workspace.reading()
    assert reading is not None and other is not None
    np.testing.assert_array_equal(reading.topics.wordings, other.topics.wordings)
    np.testing.assert_array_equal(reading.topics.tokens, other.topics.tokens)
    np.testing.assert_array_equal(reading.topics.gap, other.topics.gap)
    assert [reading.name(k) for k in reading.shown] == [other.name(k) for k in other.shown]
    assert reading.name(1) == "Ships <i>& docks</i>" and reading.shown == (0, 1, 3)
    assert "Ships <i>& docks</i>" in opened.go("explore").text and "<i>& docks" not in "".join(opened.markup)
    assert job_of(opened).records() == job_of(left).records()
    assert job_of(opened).status().state is JobState.FINISHED


@pytest.mark.usefixtures("no_evidence")
def test_both_run_longer_to_the_same_end(saved: bytes, opened: Visitor) -> None:
    """Bit for bit: the sample, the records but for time, and the state that the next project would hold."""
    other = Visitor().upload((f"again{ENDING}", saved))
    for visitor in (opened, other):
        visitor.go("explore")
        (longer,) = [label for label in visitor.buttons if label.startswith("Run ") and label.endswith(" longer")]
        visitor.press(longer)
        assert job_of(visitor).wait(PATIENCE).state is JobState.FINISHED
        visitor.reload()
    one, two = (job_of(visitor) for visitor in (opened, other))
    assert one.status().iteration == two.status().iteration > 45
    assert [record.perplexity for record in one.records()] == [record.perplexity for record in two.records()]
    np.testing.assert_array_equal(one.sample().wordings, two.sample().wordings)
    np.testing.assert_array_equal(one.topics(), two.topics())
    other.workspace.let_go()


def test_what_was_opened_can_be_saved_again(saved: bytes, opened: Visitor) -> None:
    again = Visitor().upload((f"again{ENDING}", save(opened)))
    first, second = (visitor.workspace.reading() for visitor in (opened, again))
    assert first is not None and second is not None
    np.testing.assert_array_equal(first.topics.wordings, second.topics.wordings)
    assert again.title == NAME and again.workspace.view == opened.workspace.view
    again.workspace.let_go()


def test_how_sure_it_is_comes_with_the_project_and_is_not_measured_again(left: Visitor) -> None:
    """Where it was measured to the end; else it is measured anew."""
    project = left.workspace.project()
    assert project is not None
    draws = np.random.default_rng(3).random((40, 2, 5)).astype(np.float32)
    visitor = Visitor().upload(
        (f"sure{ENDING}", project_bytes(replace(project, findings=Findings(prevalence_draws=draws))))
    )
    for page in PAGES:
        assert not visitor.go(page).errors
    assert visitor.workspace.evidence is None
    known = visitor.workspace.findings().prevalence_draws
    assert known is not None
    np.testing.assert_array_equal(known[:, :, :3], draws[:, :, :3])
    again = visitor.workspace.project()
    assert again is not None and again.findings is not None and again.findings.prevalence_draws is not None
    np.testing.assert_array_equal(again.findings.prevalence_draws, draws)
    job_of(visitor).extend(1)
    job_of(visitor).wait(PATIENCE)
    longer = visitor.workspace.project()
    assert longer is not None and longer.findings is None, "they are of the run as it was"
    visitor.workspace.let_go()


def test_words_and_columns_can_still_be_changed(opened: Visitor) -> None:
    opened.fill("text_area", "More words to leave out", "harbour").press("Use these settings")
    corpus = opened.workspace.corpus
    assert corpus is not None and "harbour" not in corpus.vocabulary
    assert "harbour" in job_of(opened).corpus.vocabulary, "the run keeps its own"
    project = opened.workspace.project()
    assert project is not None and project.corpus is job_of(opened).corpus
    opened.choose("Group", "(none)")
    assert opened.workspace.corpus is not None and opened.workspace.corpus.n_groups == 1


def test_the_run_at_hand_is_laid_beside_what_is_opened(saved: bytes) -> None:
    visitor = Visitor().upload(("mine.csv", as_csv(talk(groups=("a", "b", "c")))))
    visitor.run_topics(2, 3)
    before = job_of(visitor)
    visitor.go("documents").upload((f"colleague{ENDING}", saved))
    assert visitor.title == NAME and job_of(visitor) is not before
    assert [run.collection for run in visitor.workspace.earlier][:1] == ["mine"]
    assert before.status().state is not JobState.RUNNING
    visitor.workspace.let_go()


def test_a_new_run_is_of_no_project_any_more(opened: Visitor) -> None:
    opened.go("explore")
    opened.fill("number_input", "How many topics?", 2).fill("number_input", "Iterations", 2).press("Start")
    job_of(opened).wait(PATIENCE)
    assert "This project holds" not in opened.go("documents").infos


# --- what cannot be opened


def test_a_damaged_project_is_told_of_and_leaves_everything_as_it_was(saved: bytes, opened: Visitor) -> None:
    job = job_of(opened)
    opened.upload((f"half{ENDING}", saved[: len(saved) // 2]))
    assert len(opened.errors) == 1 and f"half{ENDING}" in opened.errors[0] and "only part of one" in opened.errors[0]
    assert job_of(opened) is job and opened.title == NAME
    visitor = Visitor().upload((f"table{ENDING}", as_csv(talk())))
    assert "is not a Parallax project" in visitor.errors[0] and visitor.workspace.collection is None


def test_a_project_is_opened_by_itself(saved: bytes) -> None:
    visitor = Visitor().upload((f"a{ENDING}", saved), ("b.csv", as_csv(talk())))
    assert "opened by itself" in visitor.errors[0] and visitor.workspace.job is None


def test_what_there_is_to_know_is_told(left: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the run cannot go on to the bit, a sentence says so."""
    project = left.workspace.project()
    assert project is not None
    monkeypatch.setattr(Project, "remarks", ("It was computed on “Abacus *3000*”.",))
    visitor = Visitor().upload((f"elsewhere{ENDING}", project_bytes(project)))
    assert "Abacus \\*3000\\*" in visitor.infos, "text of a file is no markup"
    visitor.workspace.let_go()


def test_without_a_run_there_is_nothing_to_save() -> None:
    visitor = Visitor()
    assert visitor.workspace.project() is None
    assert visitor.press("Open this sample").workspace.project() is None


def test_changes_of_words_that_were_only_collected_are_there_again() -> None:
    visitor = Visitor().upload(("talk.csv", as_csv(talk()))).run_topics(3, 5)
    visitor.workspace.pending = (WordChange("strike"), WordChange("ship", "harbour"))
    other = Visitor().upload((f"talk{ENDING}", save(visitor))).go("compare")
    assert other.workspace.pending == visitor.workspace.pending
    assert {change_text(change) for change in visitor.workspace.pending} <= {plain(label) for label in other.buttons}
    other.press("Continue with these changes")
    corpus = job_of(other).corpus
    assert not {"strike", "ship"} & set(corpus.vocabulary) and other.workspace.pending == ()
    for one in (visitor, other):
        one.workspace.let_go()


def plain(label: str) -> str:
    """A label without the strokes that keep it from being read as Markdown."""
    return re.sub(r"\\(.)", r"\1", label)


def written(visitor: Visitor) -> tuple[str, str]:
    """Title and note of the report, as they stand in their fields."""
    visitor.go("download")
    return str(visitor.widget("text_input", "Title").value), str(visitor.widget("text_area", "Your own note").value)


def test_title_and_note_of_the_report_are_there_again_and_not_in_another_project(saved: bytes) -> None:
    author = Visitor().upload((f"left{ENDING}", saved))
    assert written(author) == (NAME, "")
    author.step(author.widget("text_input", "Title").set_value("Ships *and* schools").run)
    author.step(author.widget("text_area", "Your own note").set_value("What I asked.\n\nWhat I make of it.").run)
    data = save(author)
    assert written(author.go("explore")) == ("Ships *and* schools", "What I asked.\n\nWhat I make of it.")
    reader = Visitor().upload((f"left{ENDING}", data))
    assert written(reader) == written(author)
    again = save(reader)
    assert read_project(InputFile(f"a{ENDING}", data=again)).report_note == "What I asked.\n\nWhat I make of it."
    reader.go("documents").upload((f"other{ENDING}", saved))
    assert written(reader) == (NAME, ""), "a note is of one project"
    reader.go("documents").upload((f"left{ENDING}", data))
    assert written(reader)[0] == "Ships *and* schools"
    for one in (author, reader):
        one.workspace.let_go()
