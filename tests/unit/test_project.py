"""Project files: everything comes back as it was, the run goes on to the bit, and files that are broken, strange or meant to harm
get a sentence."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine.alike import differences
from engine.test_sampler import assert_sentences

from spdp_engine import jobs, packing
from spdp_engine import project as project_module
from spdp_engine.corpus import (
    Columns,
    Corpus,
    CorpusSettings,
    InputFile,
    build_corpus,
    make_documents,
    match_scored,
    read_associations,
    read_collection,
    read_reference,
)
from spdp_engine.corpus.changes import WordChange, change_words
from spdp_engine.errors import InputError
from spdp_engine.jobs import Job, JobState, Queue
from spdp_engine.models.mean import MeanSample
from spdp_engine.project import ENDING, FORMAT_VERSION, Project, project_bytes, read_project, write_project
from spdp_engine.results import Associations, Result
from spdp_engine.results import files as result_files
from spdp_engine.runs import Run
from spdp_engine.sampling import Sampler, SamplerSettings
from spdp_engine.topics import read_topics
from spdp_engine.topics.findings import Findings, SeedEvidence, WordEvidence
from spdp_engine.topics.pairing import RunTopics
from spdp_engine.topics.view import View

pytestmark = pytest.mark.timeout(60)

TOPICS, PATIENCE = 4, 30.0
BEFORE, AFTER = 65, 20
"""After so many iterations this little chain averages samples and has learned everything."""

COLUMNS = Columns("text", "paper", "title", "date")


PENDING = WordChange("strike"), WordChange("teacher", "school")


def rows(documents: int = 40, words: int = 25) -> bytes:
    """Documents that are as messy as people's are: markup, quotes, emoji, right to left, nothing at all, twice the same."""
    draw = random.Random(4)
    things = [["harbour", "ship", "crane", "cargo", "quay"], ["school", "teacher", "lesson", "pupil", "class"]]
    odd = ["<b>bold</b>", "“quoted”", "naïve", "Ærø", "日本語", "שלום", "🚢", "it’s", "a\u2028b"]
    told = []
    for n in range(documents):
        text = " ".join(
            draw.choices([*things[n // 2 % 2], odd[n % len(odd)], "and", ("strike", "roster")[n % 2]], k=words)
        )
        told.append({"paper": ("Left", "Right <i>")[n % 2], "title": f"No. {n}", "date": f"2024-01-{n % 28 + 1:02}", "text": text,
                     "id": str(n), "note": None if n % 3 else "é\n\t\"'", "blank": None})  # fmt: skip
    told += [told[0], {"paper": "Left", "text": ""}, {"text": "nobody said this", "id": "x"}]
    return "\n".join(json.dumps(row) for row in told).encode()


LINKS = b"group,word,base word,weight\n*,ship,ship,3\n*,cargo,ship,1\n*,cargo,cargo,1\nLeft,strike,strike,1\n"


def make_project(
    words: CorpusSettings | None = None, linked: bool = False, iterations: int = BEFORE, **settings: Any
) -> tuple[Project, Sampler]:
    """A project of a run, and the sampler that made it."""
    words = words or CorpusSettings(minimum_documents=2, maximum_share=1.0, language="en")
    collection = read_collection([InputFile("harbour.jsonl", data=rows())])
    documents = make_documents(collection, COLUMNS)
    corpus = build_corpus(documents, words)
    associations = Associations.of(read_associations(InputFile("links.csv", data=LINKS)), corpus) if linked else None
    given = {"topics": TOPICS, "seed": 3, "held_out": 0.3, "workers": 2, **settings}
    sampler = Sampler(corpus, SamplerSettings(**given, associations=associations.matrices if associations else None))
    records = sampler.run(iterations)
    return (
        Project("Harbour & school", collection, documents, words, corpus, sampler.settings, tuple(records), sampler.snapshot(),
                associations),
        sampler,
    )  # fmt: skip


def full_project() -> tuple[Project, Sampler]:
    """One with everything that there can be."""
    project, sampler = make_project(linked=True)
    corpus, topics = (
        project.corpus,
        read_topics(sampler.inspect(), project.corpus.vocabulary, project.corpus.group_names),
    )
    draw = np.random.default_rng(5)
    pairs = 7
    words = WordEvidence(
        corpus.vocabulary, np.sort(draw.integers(0, TOPICS, pairs)).astype(np.int32),
        draw.integers(0, corpus.n_words, pairs).astype(np.int32),
        *(draw.random((pairs, corpus.n_groups)).astype(np.float32) for _ in range(3)), draw.random((pairs, corpus.n_groups)) > 0.5,
    )  # fmt: skip
    findings = Findings(
        prevalence_draws=draw.random((5, corpus.n_groups, TOPICS)).astype(np.float32),
        gap_draws=draw.random((5, TOPICS)).astype(np.float32),
        gap_baseline=draw.random((6, TOPICS)).astype(np.float32),
        gap_limit=draw.random(TOPICS).astype(np.float32),
        words=words,
        seeds=SeedEvidence(3, np.full(TOPICS, 2, np.int32), np.ones((pairs, corpus.n_groups), np.int32)),
    )
    reference = read_reference([InputFile("other.txt", data=b"the ship left the quay with cargo")], corpus)
    run = Run.of(corpus, project.settings, project.records, RunTopics.of(topics), None, "Harbour & school", "links.csv")
    view = View().named(2, "Ships <b>").hide(0).merge([3], into=1).pin(2)
    return replace(
        project,
        findings=findings,
        reference=reference,
        earlier=(run, run),
        view=view,
        pending=PENDING,
        report_title="Ships & <b>",
        report_note="é\n\nShips.",
    ), sampler


@pytest.fixture(scope="module")
def full() -> tuple[Project, Sampler]:
    return full_project()


def again(project: Project, **more: Any) -> Project:
    return read_project(InputFile(f"saved{ENDING}", data=project_bytes(project)), **more)


# ---- everything comes back ------------------------------------------------------------------------------------------


def test_everything_comes_back_as_it_was(full: tuple[Project, Sampler]) -> None:
    project, sampler = full
    opened = again(project)
    assert opened.versions["parallax"] and opened.versions["numpy"] == np.__version__
    assert differences(replace(opened, versions={}), project) == []
    assert differences(opened.sample, sampler.inspect()) == []
    assert opened.remarks == () and f"{TOPICS} topics after {BEFORE} iterations" in opened.told
    assert_sentences(opened.told)


def test_what_is_made_of_it_is_the_same_file_for_file(full: tuple[Project, Sampler]) -> None:
    """Tables and manifest, of which times alone are the run's own anyway."""
    project, sampler = full

    def made(of: Project) -> dict[str, bytes]:
        return dict(result_files(Result(of.corpus, of.settings, of.sample, of.records, sampler.training_tokens, of.associations,
                                        of.reference, of.scored, of.view)))  # fmt: skip

    assert made(again(project)) == made(project)


@pytest.mark.parametrize(
    "words",
    [
        CorpusSettings(passages=True, passage_words=10, maximum_share=1.0, minimum_documents=1),
        CorpusSettings(pretokenised=True, language="none", extra_stop_words=("and", "<b>bold</b>")),
        CorpusSettings(keep_numbers=True, joined_words=(("ship", "cargo"),), maximum_share=1.0, minimum_documents=1),
    ],
    ids=["passages", "prepared text", "words read as one"],
)
def test_documents_come_back_however_they_became_words(words: CorpusSettings) -> None:
    project, _ = make_project(words, iterations=2)
    opened = again(project)
    assert differences(replace(opened, versions={}), project) == []
    assert opened.remarks == ()
    assert opened.corpus.documents.texts == project.corpus.documents.texts
    changed = build_corpus(opened.documents, replace(opened.words, extra_stop_words=("crane",)))
    assert "crane" in project.corpus.vocabulary and "crane" not in changed.vocabulary, "they can be read anew, too"


def test_passages_are_not_kept_twice() -> None:
    whole = len(project_bytes(make_project(iterations=1)[0]))
    cut = len(
        project_bytes(
            make_project(CorpusSettings(passages=True, passage_words=10, minimum_documents=2), iterations=1)[0]
        )
    )
    assert cut < 1.25 * whole


def test_a_corpus_of_other_documents_is_kept_in_full(full: tuple[Project, Sampler]) -> None:
    """Where texts are no parts of the documents', they are told themselves."""
    project, _ = full
    texts = tuple(f"{text} and more" for text in project.corpus.documents.texts)
    other = replace(project, corpus=replace(project.corpus, documents=replace(project.corpus.documents, texts=texts)))
    assert again(other).corpus.documents.texts == texts


def test_words_that_were_changed_under_way_come_back() -> None:
    """As in a run that goes on without some words: documents that have none left are gone, passages are still parts of theirs."""
    for words in (None, CorpusSettings(passages=True, passage_words=10, minimum_documents=2, maximum_share=1.0)):
        project, _ = make_project(words, iterations=1)
        corpus, _kept = change_words(project.corpus, [WordChange("quay"), WordChange("cargo", "ship")])
        sampler = Sampler(corpus, project.settings)
        records = tuple(sampler.run(3))
        changed = replace(project, corpus=corpus, records=records, snapshot=sampler.snapshot(), words=corpus.settings)
        opened = again(changed)
        assert differences(replace(opened, versions={}), changed) == [] and opened.remarks == ()


def test_the_table_of_everything_that_was_read_comes_back(full: tuple[Project, Sampler]) -> None:
    opened = again(full[0])
    assert len(opened.collection.table) == 43 and len(opened.documents) == 40
    assert opened.collection.where(42) == "row 43 of harbour.jsonl"
    other = make_documents(opened.collection, replace(COLUMNS, group=None))
    assert len(other) == 41, "what was left out for want of a group is there still"


CHUNKS = Columns("text", "paper", "title", "date", "issue")


def in_issues(words: CorpusSettings) -> Project:
    """A project whose rows are passages of six issues, which do not stand together, and some of none."""
    table = "\n".join(
        json.dumps(json.loads(line) | {"issue": f"issue {n % 6}" if n % 10 else ""})
        for n, line in enumerate(rows().decode().splitlines())
    )
    collection = read_collection([InputFile("harbour.jsonl", data=table.encode())])
    documents = make_documents(collection, CHUNKS)
    corpus = build_corpus(documents, words)
    sampler = Sampler(corpus, SamplerSettings(TOPICS, seed=3, workers=2))
    records = tuple(sampler.run(3))
    return Project("Issues", collection, documents, words, corpus, sampler.settings, records, sampler.snapshot())


@pytest.mark.parametrize("cut", [False, True], ids=["rows", "rows that were cut"])
def test_rows_that_are_passages_come_back(cut: bool) -> None:
    words = CorpusSettings("en", passages=cut, passage_words=10, minimum_documents=1, maximum_share=1.0)
    project = in_issues(words)
    corpus = project.corpus
    assert corpus.has_passages and corpus.n_originals == 10 and (corpus.n_documents > 40) == cut
    opened = again(project)
    assert differences(replace(opened, versions={}), project) == [] and opened.remarks == ()
    assert build_corpus(make_documents(opened.collection, opened.documents.columns), words).notes == corpus.notes
    with zipfile.ZipFile(io.BytesIO(project_bytes(project))) as archive:
        assert np.load(io.BytesIO(archive.read("passages.npy"))).shape == (corpus.n_documents, 3), (
            "no text is kept twice"
        )


def test_a_project_of_version_1_opens() -> None:
    """Saved by the last Parallax whose rows were documents, each: twelve, cut into 48 passages, after 6 iterations."""
    opened = read_project(Path(__file__).with_name("version_1.parallax"))
    assert (
        opened.documents.columns == Columns("text", "paper", "title", "date")
        and opened.documents.columns.document is None
    )
    corpus = opened.corpus
    assert len(opened.documents) == 12 and corpus.origin.tolist() == np.repeat(range(12), 4).tolist()
    built = build_corpus(opened.documents, opened.words)
    assert corpus.documents.texts == built.documents.texts and np.array_equal(corpus.token_word, built.token_word)
    assert opened.snapshot.iteration == len(opened.records) == 6 and "2 topics after 6 iterations" in opened.told
    assert differences(replace(again(opened), versions={}), replace(opened, versions={})) == []
    with_issues = make_documents(opened.collection, replace(opened.documents.columns, document="issue"))
    assert build_corpus(with_issues, opened.words).n_originals == 6


# ---- the run goes on ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "linked"),
    [({}, True), ({"repeats": False}, False), ({"schedule": "hybrid"}, True), ({"model": "lda"}, False), ({"learn": False}, False),
     ({"model": "lda", "schedule": "data_augmentation", "held_out": 0.0}, False), ({"measure_every": 0}, False)],
    ids=str,
)  # fmt: skip
def test_a_run_goes_on_to_the_bit_through_a_file(settings: dict[str, Any], linked: bool) -> None:
    project, whole = make_project(linked=linked, **settings)
    job = again(project).job(Queue())
    try:
        job.extend(AFTER)
        assert job.wait(PATIENCE).state is JobState.FINISHED
        rest = whole.run(AFTER)
        assert differences(job.records(), (*project.records, *rest)) == []
        assert differences(job.sample(), whole.inspect()) == []
        assert differences(job.snapshot(PATIENCE), whole.snapshot()) == []
        topics = job.topics()
        assert topics is not None
        np.testing.assert_array_equal(topics[topics >= 0], whole.topics())
    finally:
        job.discard()


def test_these_circumstances_are_those_that_were_meant(full: tuple[Project, Sampler]) -> None:
    project, sampler = full
    assert isinstance(sampler.inspect(), MeanSample) and project.snapshot.settled
    assert project.corpus.n_groups == 2 and project.settings.repeats and project.snapshot.held_out.any()


def test_an_opened_run_is_there_at_once_and_does_without_the_device(
    full: tuple[Project, Sampler], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, sampler = full

    def touched(*_: object) -> None:
        raise AssertionError("a sampler was made")

    monkeypatch.setattr(jobs, "Sampler", touched)
    job = again(project).job(Queue())
    try:
        status = job.status()
        assert (status.state, status.iteration, status.target, status.last) == (
            JobState.FINISHED, BEFORE, BEFORE, project.records[-1]
        )  # fmt: skip
        assert job.wait_for_sample(0) and differences(job.sample(), sampler.inspect()) == []
        assert job.training_tokens == sampler.training_tokens and differences(job.settings, project.settings) == []
        topics = job.topics()
        assert topics is not None
        np.testing.assert_array_equal(topics[~sampler.held_out], sampler.topics())
        kept = job.snapshot(0)
        assert kept is not None and differences(kept, project.snapshot) == []
        assert job.status().state is JobState.FINISHED
    finally:
        job.discard()


def test_saved_words_of_a_file_of_their_own_measure_on() -> None:
    collection = read_collection([InputFile("a.jsonl", data=rows())])
    held = read_collection([InputFile("b.csv", data=b"id,text\n3,ship quay crane\n5,teacher lesson\n")])
    words = CorpusSettings(minimum_documents=2, maximum_share=1.0, passages=False)
    documents = make_documents(collection, COLUMNS)
    corpus = build_corpus(documents, words)
    scored = match_scored(held, "id", collection, corpus)
    whole = Sampler(corpus, SamplerSettings(TOPICS, held_out=0.0), scored.tokens)
    records = tuple(whole.run(BEFORE))
    project = Project(
        "", collection, documents, words, corpus, whole.settings, records, whole.snapshot(), scored=scored
    )
    opened = again(project)
    assert differences(opened.scored, scored) == []
    job = opened.job(Queue())
    job.extend(3)
    job.wait(PATIENCE)
    job.discard()
    assert differences(job.records()[BEFORE:], tuple(whole.run(3))) == []


def test_elsewhere_it_goes_on_and_says_so(full: tuple[Project, Sampler]) -> None:
    project, _ = full
    kept = project.snapshot
    foreign = again(replace(project, snapshot=replace(kept, origin=replace(kept.origin, device="Abacus 3000"))))
    (remark,) = foreign.remarks
    assert "Abacus 3000" in remark
    assert_sentences(remark)
    job = foreign.job(Queue())
    job.extend(2)
    assert job.wait(PATIENCE).iteration == BEFORE + 2
    job.discard()


def test_a_tokeniser_that_finds_other_words_is_told_of(full: tuple[Project, Sampler]) -> None:
    """As it would be after a change of this house's own; the corpus is as it was."""
    project, _ = full
    tokeniser = replace(project.corpus.tokeniser, stop_words=project.corpus.tokeniser.stop_words | {"quay"})
    opened = again(replace(project, corpus=replace(project.corpus, tokeniser=tokeniser)))
    (remark,) = opened.remarks
    assert "finds other words" in remark
    assert_sentences(remark)
    np.testing.assert_array_equal(opened.corpus.token_word, project.corpus.token_word)


# ---- on disk --------------------------------------------------------------------------------------------------------


def test_a_file_is_replaced_only_by_a_whole_one(
    full: tuple[Project, Sampler], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"späte Rede{ENDING}"
    write_project(full[0], path)
    before = path.read_bytes()
    assert read_project(path).name == read_project(str(path)).name == "Harbour & school"

    def halfway(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(project_module, "project_bytes", halfway)
    with pytest.raises(InputError, match="No space left") as refusal:
        write_project(full[0], path)
    assert_sentences(str(refusal.value))
    assert path.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_folder_that_is_not_there(full: tuple[Project, Sampler], tmp_path: Path) -> None:
    with pytest.raises(InputError) as refusal:
        write_project(full[0], tmp_path / "nowhere" / f"a{ENDING}")
    assert_sentences(str(refusal.value))
    with pytest.raises(InputError, match="cannot be opened: No such file or directory"):
        read_project(tmp_path / f"a{ENDING}")


# ---- files that are none, broken, or meant to harm ------------------------------------------------------------------


def refused(data: bytes, **more: Any) -> str:
    with pytest.raises(InputError) as refusal:
        read_project(InputFile(f"bad{ENDING}", data=data), **more)
    sentence = str(refusal.value)
    assert sentence.startswith(f"bad{ENDING} ")
    assert_sentences(sentence[:1].upper() + sentence[1:])
    return sentence


def a_zip(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "data",
    [b"", b"text,group\na,b\n", a_zip(letter__txt=b"dear all"), a_zip(about__json=b'{"format": "something else", "version": 1}'),
     a_zip(about__json=b'{"format": "parallax project"}')],
    ids=["nothing", "a table", "an archive", "another format", "no version"],
)  # fmt: skip
def test_what_is_no_project(data: bytes) -> None:
    assert "is not a Parallax project" in refused(data)


def test_half_a_project(full: tuple[Project, Sampler]) -> None:
    data = project_bytes(full[0])
    assert "only part of one" in refused(data[: len(data) // 2])
    assert "is not a Parallax project" in refused(data[len(data) // 2 :][:-30])


def test_a_project_of_a_newer_parallax(full: tuple[Project, Sampler], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_module, "FORMAT_VERSION", FORMAT_VERSION + 1)
    monkeypatch.setattr(project_module, "version", lambda: "9.9")
    data = project_bytes(full[0])
    monkeypatch.undo()
    sentence = refused(data)
    assert "newer Parallax (9.9)" in sentence


def test_a_project_from_before_all_of_this_was_kept_opens(full: tuple[Project, Sampler]) -> None:
    data = without(project_bytes(full[0]), "pending", "report_title", "report_note")
    opened = read_project(InputFile(f"old{ENDING}", data=data))
    assert (opened.pending, opened.report_title, opened.report_note) == ((), None, "")
    assert opened.view == full[0].view


def without(data: bytes, *fields: str) -> bytes:
    """A project file as a Parallax wrote it that did not know these fields yet."""

    def older(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: older(one) for key, one in value.items() if key not in fields}
        return [older(one) for one in value] if isinstance(value, list) else value

    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as now, zipfile.ZipFile(buffer, "w") as before:
        for name in now.namelist():
            values = now.read(name)
            if name == packing.VALUES:
                assert all(f'"{field}"' in values.decode() for field in fields)
                values = json.dumps(older(json.loads(values))).encode()
            before.writestr(name, values)
    return buffer.getvalue()


def test_a_project_that_memory_cannot_hold(full: tuple[Project, Sampler]) -> None:
    assert "more in memory" in refused(project_bytes(full[0]), limit=100_000)


def test_topics_of_nothing_that_would_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """LDA keeps no counts in the file, so that a small one could ask for as many words and topics as it likes."""
    project, _ = make_project(iterations=1, model="lda", learn=False)
    words = tuple(f"w{n}" for n in range(50_000))
    kept = project.snapshot
    corpus = replace(project.corpus, vocabulary=words)
    many = replace(project, corpus=corpus, settings=replace(project.settings, topics=4096),
                   snapshot=replace(kept, alphas=np.full((1, 4096), 0.1)))  # fmt: skip
    with monkeypatch.context() as somebody_else:
        somebody_else.setattr(project_module, "_checked", lambda project, _limit: project)
        data = project_bytes(many)
    assert len(data) < 10**6
    assert "more in memory" in refused(data, limit=2**30)


def wrong_corpus(**parts: Callable[[Corpus], Any]) -> Callable[[Project], Project]:
    return lambda project: replace(
        project, corpus=replace(project.corpus, **{name: make(project.corpus) for name, make in parts.items()})
    )


def wrong_snapshot(**parts: Callable[[Any], Any]) -> Callable[[Project], Project]:
    return lambda project: replace(
        project, snapshot=replace(project.snapshot, **{name: make(project.snapshot) for name, make in parts.items()})
    )


def plus(array: Any, change: int) -> Any:
    return (array.astype(np.int64) + change).astype(array.dtype)


HARMFUL: dict[str, Callable[[Project], Project]] = {
    "words beyond the vocabulary": wrong_corpus(token_word=lambda corpus: plus(corpus.token_word, 10**6)),
    "words below the first": wrong_corpus(token_word=lambda corpus: plus(corpus.token_word, -1)),
    "documents beyond the last": wrong_corpus(token_document=lambda corpus: plus(corpus.token_document, 5)),
    "documents that fall": wrong_corpus(token_document=lambda corpus: corpus.token_document[::-1].copy()),
    "groups beyond the last": wrong_corpus(document_group=lambda corpus: plus(corpus.document_group, 1)),
    "fewer documents of words": wrong_corpus(token_document=lambda corpus: corpus.token_document[1:]),
    "fewer origins": wrong_corpus(origin=lambda corpus: corpus.origin[1:]),
    "no words": wrong_corpus(
        token_word=lambda corpus: corpus.token_word[:0], token_document=lambda corpus: corpus.token_document[:0]
    ),
    "origins beyond the documents": wrong_corpus(origin=lambda corpus: plus(corpus.origin, 10**6)),
    "origins that fall": wrong_corpus(origin=lambda corpus: corpus.origin[::-1].copy()),
    "a column of documents that they do not have": lambda project: replace(
        project,
        documents=replace(
            project.documents, columns=replace(COLUMNS, document="id"), fields=project.documents.fields[["note"]]
        ),
    ),
    "documents without titles": lambda project: replace(project, documents=replace(project.documents, titles=())),
    "columns that are not there": lambda project: replace(
        project, documents=replace(project.documents, columns=Columns("nothing"))
    ),
    "rows from nowhere": lambda project: replace(
        project, collection=replace(project.collection, origins=replace(project.collection.origins, file=np.ones(43, np.int32)))
    ),
    "topics beyond the last": wrong_snapshot(
        seats=lambda kept: replace(kept.seats, topics=plus(kept.seats.topics, TOPICS))
    ),
    "tables of nobody": wrong_snapshot(seats=lambda kept: replace(kept.seats, seated=plus(kept.seats.seated, 1))),
    "more tables than there can be": wrong_snapshot(own=lambda kept: {**kept.own, "tables": plus(kept.own["tables"], 9)}),
    "base words of no tables": wrong_snapshot(own=lambda kept: {**kept.own, "associated": 0 * kept.own["associated"]}),
    "other words held out": wrong_snapshot(held_out=lambda kept: ~kept.held_out),
    "averages of none": wrong_snapshot(averages=lambda kept: replace(kept.averages, samples=0)),
    "averages of other words": wrong_snapshot(
        averages=lambda kept: replace(kept.averages, wordings=kept.averages.wordings[:, 1:])
    ),
    "alphas of another model": wrong_snapshot(alphas=lambda kept: kept.alphas[:1]),
    "iterations that are not told": lambda project: replace(project, records=project.records[1:]),
    "hyperparameters of strange names": lambda project: replace(
        project, records=(*project.records[:-1], replace(project.records[-1], hyperparameters={"<b>": 1.0}))
    ),
    "another model": lambda project: replace(
        project, settings=SamplerSettings(TOPICS, model="lda", schedule="blocks", repeats=True), associations=None
    ),
    "matrices of no file": lambda project: replace(project, associations=None),
    "a topic that is not there": lambda project: replace(project, view=View().pin(TOPICS)),
    "a whole that is a part": lambda project: replace(project, view=View(merged={1: 2, 2: 3})),
    "a change of a word that is not there": lambda project: replace(project, pending=(WordChange("ship", "nowhere"),)),
    "a change told twice": lambda project: replace(project, pending=2 * (WordChange("ship"),)),
    "a word joined with one that goes": lambda project: replace(
        project, pending=(WordChange("ship"), WordChange("crane", "ship"))
    ),
    "findings on other topics": lambda project: replace(
        project, findings=Findings(gap_draws=np.zeros((2, TOPICS + 1), np.float32))
    ),
    "findings on other words": lambda project: replace(
        project, findings=replace(project.findings, words=replace(project.findings.words, vocabulary=("a", "b")))
    ),
    "a run of other topics": lambda project: replace(
        project, earlier=tuple(replace(run, topics=replace(run.topics, names=())) for run in project.earlier)
    ),
    "a reference of words that are not there": lambda project: replace(
        project, reference=replace(project.reference, token_word=plus(project.reference.token_word, 10**5))
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HARMFUL)
def test_parts_that_do_not_belong_together_never_reach_the_device(
    case: str, full: tuple[Project, Sampler], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels trust their arrays, so that a wrong number in one would read and write where it has no business."""
    harmful = HARMFUL[case](full[0])
    with pytest.raises(packing.PackingError):
        project_bytes(harmful)  # nothing that could not be opened again is saved
    with monkeypatch.context() as somebody_else:
        somebody_else.setattr(project_module, "_checked", lambda project, _limit: project)
        somebody_else.setattr(
            project_module, "_passages", lambda project: (project.corpus.documents.texts, np.empty((0, 2), np.int32))
        )
        data = project_bytes(harmful)
    assert "is damaged" in refused(data)


def test_passages_from_beyond_their_documents(full: tuple[Project, Sampler], monkeypatch: pytest.MonkeyPatch) -> None:
    count = full[0].corpus.n_documents
    beyond = np.zeros((count, 3), np.int32)
    beyond[:, 0] = 10**6
    for places in (
        np.zeros((count - 1, 2), np.int32),
        np.zeros((count, 3), np.int32),
        np.zeros((count, 4), np.int32),
        beyond,
    ):
        monkeypatch.setattr(project_module, "_passages", lambda _project, places=places: ((), places))
        assert "is damaged" in refused(project_bytes(full[0]))


def test_nothing_in_a_project_is_executed(full: tuple[Project, Sampler]) -> None:
    """No member is a pickle, and no class is looked up but those that are named in one place."""
    with zipfile.ZipFile(io.BytesIO(project_bytes(full[0]))) as archive:
        kinds = {name.rsplit(".", 1)[-1] for name in archive.namelist()}
        assert kinds == {"json", "npy", "txt"}
        assert all(archive.read(name)[:6] == b"\x93NUMPY" for name in archive.namelist() if name.endswith(".npy"))
    source = Path(packing.__file__).read_text(encoding="utf-8") + Path(project_module.__file__).read_text(
        encoding="utf-8"
    )
    assert not any(
        f"{word}(" in source or f"import {word}" in source
        for word in ("eval", "exec", "pickle", "__import__", "getattr(builtins")
    )
    assert "allow_pickle=True" not in source


def test_every_class_that_is_kept_is_a_frozen_dataclass() -> None:
    for kind in project_module.KINDS:
        assert kind.__dataclass_params__.frozen, kind  # type: ignore[attr-defined]
        assert fields(kind) is not None


def test_a_job_can_be_saved_while_it_runs(full: tuple[Project, Sampler]) -> None:
    """The state is that after a whole iteration, and goes on as the run did."""
    project, _ = full
    job = Job(project.corpus, project.settings, 10**9, Queue())
    try:
        assert job.wait_for_sample(PATIENCE)
        kept = job.snapshot(PATIENCE)
        assert kept is not None and kept.iteration >= 1
        saved = replace(project, snapshot=kept, records=job.records()[: kept.iteration])
        job.stop()
        job.wait(PATIENCE)
        last = job.snapshot(PATIENCE)
        assert last is not None
    finally:
        job.discard()
    later = Sampler(project.corpus, project.settings, snapshot=again(saved).snapshot)
    later.run(last.iteration - kept.iteration)
    assert differences(later.snapshot(), last) == []
