"""What a run leaves behind: tables that add up, a manifest that is JSON, a zip of files and a workbook."""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from talking import made_up_findings, talk_corpus, talk_result

from spdp_engine.corpus import (
    Columns,
    Corpus,
    CorpusSettings,
    InputFile,
    build_corpus,
    make_documents,
    read_associations,
    read_collection,
    read_reference,
)
from spdp_engine.errors import InputError
from spdp_engine.models.mean import MeanSample
from spdp_engine.report import make_report
from spdp_engine.results import (
    COLUMNS,
    TABLES,
    WORDS_IN_FILE,
    Associations,
    Result,
    Table,
    averaged_in,
    averaging_began,
    differences_table,
    documents_table,
    files,
    manifest,
    overview_table,
    own_words_table,
    prevalence_table,
    quality_table,
    settings_table,
    topics_table,
    workbook,
    workbook_bytes,
    zip_bytes,
)
from spdp_engine.sampling import Sampler, SamplerSettings, plain_settings
from spdp_engine.topics import measure_quality
from spdp_engine.topics.telling import difference_intervals
from spdp_engine.topics.view import View
from spdp_engine.types import Iteration

pytestmark = pytest.mark.timeout(60)

TOPICS = 4
GROUPS = ("Ärzte, „alle“", '=cmd|"/c calc"', "two\\tfields")
"""Names with what trips up a CSV: commas, quotes, a formula, a backslash."""


def collection_bytes() -> bytes:
    draw = random.Random(5)
    words = [f"{letter}{ending}" for letter in "bcdfghklmn" for ending in ("ara", "ille", "oto", "üste")]
    rows = [
        {
            "camp": GROUPS[number % 3],
            "text": " ".join(draw.choices(words, k=90)),
            "head": f'A "title", no. {number}',
            "day": "2031-02-03",
            "issue": f"no. {number // 6}",
        }
        for number in range(30)
    ]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


DATA = collection_bytes()


LINKS = b"group,word,base word,weight\n*,bara,bara,1\n*,bille,bara,2\n*,bille,bille,1\n*,zebra,bara,1\n"


def make_corpus(passages: bool = True, document: str | None = None) -> Corpus:
    collection = read_collection([InputFile("talk.jsonl", data=DATA)])
    documents = make_documents(collection, Columns("text", "camp", "head", "day", document))
    return build_corpus(
        documents, CorpusSettings(language="none", passages=passages, passage_words=40, maximum_share=1.0)
    )


def make_result(passages: bool = True, links: bool = False, document: str | None = None, **settings: Any) -> Result:
    corpus = make_corpus(passages, document)
    associations = Associations.of(read_associations(InputFile("links.csv", data=LINKS)), corpus) if links else None
    given = {"workers": 2, "seed": 3, "held_out": 0.2, **settings}
    sampler = Sampler(corpus, plain_settings(TOPICS, associations=associations and associations.matrices, **given))
    records = sampler.run(6)
    return Result(corpus, sampler.settings, sampler.inspect(), tuple(records), sampler.training_tokens, associations)


@pytest.fixture(scope="module")
def result() -> Result:
    return make_result()


@pytest.fixture(scope="module")
def averaged() -> Result:
    """A run that learns, has settled, and has averaged some samples."""
    corpus = make_corpus()
    sampler = Sampler(corpus, SamplerSettings(TOPICS, workers=2, seed=3, held_out=0.2, fixed=("gamma",)))
    records: list[Iteration] = sampler.run(10)
    while averaged_in(sampler.inspect())[0] < 2:
        records += sampler.run(10)
        assert len(records) <= 300, "it never settles"
    return Result(corpus, sampler.settings, sampler.inspect(), tuple(records), sampler.training_tokens)


def test_topics_table(result: Result) -> None:
    table = topics_table(result)
    assert list(table.columns) == ["topic", "name", "group", "rank", "word", "probability"]
    count = min(WORDS_IN_FILE, result.corpus.n_words)
    assert len(table) == TOPICS * 3 * count
    assert set(table["topic"]) == set(range(1, TOPICS + 1)) and set(table["group"]) == set(GROUPS)
    for _, words in table.groupby(["topic", "group"]):
        assert list(words["rank"]) == list(range(1, count + 1))
        assert words["probability"].is_monotonic_decreasing and words["word"].is_unique
        # Every word of this small vocabulary is in the file, so that the probabilities are all there are.
        assert words["probability"].sum() == pytest.approx(1)


def test_prevalence_table(result: Result) -> None:
    table = prevalence_table(result)
    assert list(table.columns) == ["topic", "name", "group", "tokens", "share", "rank", "wording_gap"]
    assert len(table) == TOPICS * 3
    assert table["tokens"].sum() == result.training_tokens
    for _, topics in table.groupby("group"):
        assert topics["share"].sum() == pytest.approx(1)
        assert topics["share"].to_numpy() == pytest.approx(topics["tokens"] / topics["tokens"].sum())
        by_rank = topics.sort_values("rank")
        assert list(by_rank["rank"]) == list(range(1, TOPICS + 1)) and by_rank["share"].is_monotonic_decreasing
    assert (table.groupby("topic")["wording_gap"].nunique() == 1).all()
    assert table["wording_gap"].between(0, 1).all()


def test_documents_table(result: Result) -> None:
    table = documents_table(result)
    names = [f"topic_{topic}" for topic in range(1, TOPICS + 1)]
    assert list(table.columns) == ["document", "passage", "group", "title", "date", *names]
    assert len(table) == result.corpus.n_documents > 30, "long documents are cut into passages"
    assert table[names].sum(axis=1).to_numpy() == pytest.approx(np.ones(len(table)))
    assert set(table["document"]) == set(range(1, 31))
    for document, passages in table.groupby("document"):
        assert list(passages["passage"]) == list(range(1, len(passages) + 1))
        assert set(passages["title"]) == {f'A "title", no. {document - 1}'}
        assert set(passages["group"]) == {GROUPS[(document - 1) % 3]}
    assert set(table["date"]) == {"2031-02-03"}


def test_whole_documents_are_one_passage_each() -> None:
    assert set(documents_table(make_result(passages=False))["passage"]) == {1}


def test_rows_that_are_passages_of_a_document_are_told_so_everywhere() -> None:
    """Thirty rows of five issues in three groups: fifteen documents of two rows each, which were not neighbours."""
    result = make_result(passages=False, document="issue")
    table = documents_table(result)
    assert list(table.columns[:5]) == ["document", "document_id", "passage", "group", "title"]
    assert table["document"].tolist() == np.repeat(range(1, 16), 2).tolist() and set(table["passage"]) == {1, 2}
    numbers = table["title"].str.extract(r"(\d+)$", expand=False).astype(int)
    assert (table["document_id"] == "no. " + (numbers // 6).astype(str)).all()
    assert (numbers.diff()[1::2] == 3).all(), "rows of a document stand in the order of the table"
    told = manifest(result)
    assert told["columns"] == {"text": "text", "group": "camp", "title": "head", "date": "day", "document": "issue"}
    assert (told["run"]["documents"], told["run"]["originals"]) == (30, 15)
    assert told["run"]["groups"] == dict.fromkeys(sorted(GROUPS), 10)
    assert told["run"]["group_originals"] == dict.fromkeys(sorted(GROUPS), 5)
    assert any("30 rows are passages of 15 documents, by the column 'issue'" in note["text"] for note in told["notes"])
    report = make_report(result, "Issues")
    assert report.facts.startswith("30 passages of 15 documents in 3 groups")
    assert "30 passages of 15 documents" in report.methods[0] and "10 of 5" in report.methods[0]
    assert "the column “issue” are passages of one document, and are taken together" in report.methods[0]
    assert any("30 rows are passages of 15 documents" in note for note in report.notes)


def test_manifest_is_json_and_tells_everything(result: Result) -> None:
    text = files(result)["manifest.json"].decode("utf-8")
    told = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert told["inputs"] == [
        {"name": "talk.jsonl", "bytes": len(DATA), "sha256": hashlib.sha256(DATA).hexdigest(), "documents": 30}
    ]
    assert told["settings"]["device"] == result.settings.device and told["settings"]["workers"] == 2
    assert told["run"]["hyperparameters"] == pytest.approx(in_force(told["settings"]["priors"]))
    assert (told["run"]["learn"], told["run"]["fixed"], told["run"]["repeats"]) == (False, [], False)
    assert told["settings"]["learn"] is False and told["settings"]["repeats"] is False
    assert told["columns"] == {"text": "text", "group": "camp", "title": "head", "date": "day", "document": None}
    assert told["words"]["passages"] is True and told["words"]["language"] == "none"
    assert told["run"]["iterations"] == 6 == len(told["run"]["perplexity_trace"])
    assert list(told["run"]["groups"]) == list(result.corpus.group_names)
    assert sum(told["run"]["groups"].values()) == result.corpus.n_documents
    assert "Ärzte" in text, "names can be read as they are"
    assert told["notes"] and all(note["text"].endswith(".") for note in told["notes"])
    assert told["measures"].keys() >= {"probability", "share", "wording_gap", "npmi", "pmi", "diversity", "alphas"}
    assert told["run"]["quality"] == json.loads(json.dumps(measure_quality(result.topics(), result.corpus).summary()))
    assert told["reference_quality"] is None and told["reference_inputs"] == []


def in_force(priors: dict[str, float]) -> dict[str, float]:
    """Those of a run without repeats."""
    return {name: value for name, value in priors.items() if not name.startswith("repeat_")}


def test_before_samples_are_averaged_there_is_the_single_one(result: Result) -> None:
    summary = result.summary()
    assert (summary["samples_averaged"], summary["samples_since"]) == (0, None)
    assert (summary["averaging_began"], summary["averaged_perplexity"]) == (None, None)
    assert summary["held_out_perplexity"] == result.records[-1].perplexity
    assert prevalence_table(result)["tokens"].dtype.kind == "i", "whole words"


def test_averages_are_what_the_files_tell(averaged: Result) -> None:
    sample = averaged.sample
    assert isinstance(sample, MeanSample)
    summary, last = averaged.summary(), averaged.records[-1]
    assert summary["samples_averaged"] == sample.samples >= 2
    assert summary["samples_since"] == sample.since >= summary["averaging_began"]
    assert summary["averaging_began"] == averaging_began(averaged.records) > 1  # type: ignore[operator]
    assert [record.samples > 0 for record in averaged.records].index(True) + 1 == summary["averaging_began"]
    assert (summary["averaged_perplexity"], summary["held_out_perplexity"]) == (last.averaged, last.perplexity)
    topics = averaged.topics()
    table = prevalence_table(averaged)
    assert table["tokens"].to_numpy() == pytest.approx(sample.group_topic_tokens().T.ravel(), abs=0.051)
    assert (table["tokens"] * 10 % 1).to_numpy() == pytest.approx(0, abs=1e-6), "one decimal"
    assert table["tokens"].sum() == pytest.approx(averaged.training_tokens, abs=0.051 * len(table))
    assert table["share"].to_numpy() == pytest.approx(topics.prevalence.T.ravel())
    first = topics_table(averaged).iloc[0]
    assert first["probability"] == sample.group_wordings()[0, :, 0].max()
    shares = documents_table(averaged)[[f"topic_{topic}" for topic in range(1, TOPICS + 1)]]
    assert shares.to_numpy() == pytest.approx(sample.document_shares())


def test_what_was_learned_is_told(averaged: Result) -> None:
    told = json.loads(files(averaged)["manifest.json"])
    run = told["run"]
    assert (run["learn"], run["fixed"], run["repeats"], run["tempering"]) == (True, ["gamma"], True, True)
    assert run["hyperparameters"] == dict(averaged.records[-1].hyperparameters)
    given = told["settings"]["priors"]
    assert run["hyperparameters"].keys() == given.keys()
    assert run["hyperparameters"]["gamma"] == given["gamma"]
    assert all(run["hyperparameters"][name] != given[name] for name in ("alpha", "concentration", "repeat_discount"))
    alphas = told["alphas"]
    assert list(alphas) == list(averaged.corpus.group_names) and all(len(row) == TOPICS for row in alphas.values())
    assert np.mean(list(alphas.values())) == pytest.approx(run["hyperparameters"]["alpha"])
    assert len({tuple(row) for row in alphas.values()}) == 3, "each group has its own"


def test_quality_table(averaged: Result) -> None:
    table = quality_table(averaged)
    quality = measure_quality(averaged.topics(), averaged.corpus)
    assert list(table.columns) == ["topic", "name", "group", "npmi", "pmi"]
    assert len(table) == TOPICS * (1 + len(GROUPS))
    shared = table[table["group"] == ""]
    assert list(shared["topic"]) == list(range(1, TOPICS + 1))
    assert shared["npmi"].to_numpy() == pytest.approx(quality.npmi)
    assert shared["pmi"].to_numpy() == pytest.approx(quality.pmi)
    for i, group in enumerate(averaged.corpus.group_names):
        own = table[table["group"] == group]
        assert own["npmi"].to_numpy() == pytest.approx(quality.group_npmi[i])
        assert own["pmi"].to_numpy() == pytest.approx(quality.group_pmi[i])


def test_a_reference_is_told_of_beside_the_corpus(result: Result) -> None:
    text = InputFile("other.txt", data=("bara bille boto cara cille " * 40).encode())
    other = replace(result, reference=read_reference(text, result.corpus))
    table = quality_table(other)
    assert list(table.columns) == ["topic", "name", "group", "npmi", "pmi", "reference_npmi", "reference_pmi"]
    told = json.loads(files(other)["manifest.json"])
    assert told["run"]["quality"] == json.loads(json.dumps(result.quality.summary()))
    assert told["reference_quality"]["reference"]["name"] == "other.txt"
    assert told["reference_quality"]["topics"][0]["npmi"] == pytest.approx(table["reference_npmi"][0])
    (source,) = told["reference_inputs"]
    assert source["name"] == "other.txt" and len(source["sha256"]) == 64
    assert len(told["notes"]) == len(result.corpus.notes) + len(other.reference.notes)  # type: ignore[union-attr]


def test_manifest_names_the_file_of_associations_and_not_its_matrices() -> None:
    result = make_result(links=True)
    told = json.loads(files(result)["manifest.json"])
    assert told["associations"] == {
        "name": "links.csv", "sha256": hashlib.sha256(LINKS).hexdigest(), "rows_read": 4, "rows_used": 3,
    }  # fmt: skip
    assert "associations" not in told["settings"] and "base_word" not in files(result)["manifest.json"].decode()
    texts = [note["text"] for note in told["notes"]]
    assert any("4 associations were read" in text for text in texts) and any("zebra" in text for text in texts)
    assert len(texts) == len(result.corpus.notes) + len(result.associations.notes)  # type: ignore[union-attr]
    assert result.settings.associations is not None, "the run had them"


def test_what_a_run_was_is_told_by_its_names() -> None:
    told = manifest(make_result(schedule="token_parallel", order="document"))
    for place in (told["run"], told["settings"]):
        assert (place["model"], place["schedule"], place["order"]) == ("spdp", "token_parallel", "document")


def test_a_model_that_words_topics_alike_goes_through_the_same_tables() -> None:
    result = make_result(model="lda")
    topics, prevalence = topics_table(result), prevalence_table(result)
    for _, words in topics.groupby("topic"):
        (first, *others) = [
            own[["rank", "word", "probability"]].to_numpy().tolist() for _, own in words.groupby("group")
        ]
        assert len(others) == 2 and all(other == first for other in others)
        assert sum(probability for *_, probability in first) == pytest.approx(1)
    assert (prevalence["wording_gap"] == 0).all()
    assert prevalence["tokens"].sum() == result.training_tokens
    shares = documents_table(result)[[f"topic_{topic}" for topic in range(1, TOPICS + 1)]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(np.ones(len(shares)))
    told = json.loads(files(result)["manifest.json"])
    assert told["run"]["model"] == "lda" and told["run"]["hyperparameters"] == pytest.approx(
        {"alpha": 0.1, "beta": 0.01}
    )
    assert in_force(told["settings"]["priors"]) == {"alpha": 0.1, "beta": 0.01}


def test_topics_know_whether_groups_word_them_alike(result: Result) -> None:
    assert not result.topics().worded_alike and result.topics().gap.all()
    alike = make_result(model="lda").topics()
    assert alike.worded_alike and not alike.gap.any() and not alike.distances.any()


def test_without_a_measured_perplexity_the_manifest_says_null() -> None:
    told = json.loads(json.dumps(manifest(make_result(held_out=0.0)), allow_nan=False))
    assert told["run"]["held_out_perplexity"] is None and told["run"]["perplexity_trace"] == []
    assert told["run"]["averaged_perplexity"] is None


def test_zip_holds_all_files(result: Result) -> None:
    with zipfile.ZipFile(io.BytesIO(zip_bytes(result))) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            "overview.csv",
            "topics.csv",
            "own_words.csv",
            "prevalence.csv",
            "differences.csv",
            "documents.csv",
            "quality.csv",
            "manifest.json",
        ]
        content = {name: archive.read(name) for name in archive.namelist()}
    assert content == dict(files(result))


@pytest.mark.parametrize("table", [table for table in TABLES if table.in_csv], ids=lambda table: table.name)
def test_a_table_comes_back_from_its_file_as_it_was(table: Table, result: Result) -> None:
    """Names that begin with = and @ included: programs join by them."""
    data = files(result)[f"{table.name}.csv"]
    assert data.startswith(b"\xef\xbb\xbf"), "spreadsheets tell UTF-8 by its mark"
    pd.testing.assert_frame_equal(
        pd.read_csv(io.BytesIO(data), encoding="utf-8-sig", keep_default_na=False, na_values={"npmi": [""], "pmi": [""]}),
        table.make(result), check_dtype=False, rtol=1e-6,
    )  # fmt: skip


def test_summary_before_anything_was_measured(result: Result) -> None:
    summary = result.summary()
    assert summary["seconds"] == result.records[-1].elapsed
    rates = [record.tokens_per_second for record in result.records[1:]]
    assert min(rates) <= summary["tokens_per_second"] <= max(rates)


def test_a_folder_that_is_a_file(result: Result, tmp_path: Path) -> None:
    from spdp_engine.results import write_folder

    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match="could not be written"):
        write_folder(result, tmp_path / "taken")
    write_folder(result, tmp_path / "new" / "folder")
    assert {path.name for path in (tmp_path / "new/folder").iterdir()} == set(files(result))


# --- as a person reads the topics


VIEW = View(names={0: "=Harbour", 3: "@school"}, hidden=frozenset({1}), merged={2: 0}, pinned=(3,))


@pytest.fixture(scope="module")
def viewed(result: Result) -> Result:
    """The same run with topics that have names, one hidden, one read as part of another."""
    return replace(result, view=VIEW)


def test_every_table_tells_numbers_and_names(viewed: Result) -> None:
    for table in (topics_table, own_words_table, prevalence_table, differences_table, quality_table):
        rows = table(viewed)
        assert list(rows.columns[:2]) == ["topic", "name"]
        named = dict(zip(rows["topic"], rows["name"], strict=True))
        assert named.items() <= {1: "=Harbour", 2: "Topic 2", 4: "@school"}.items(), table.__name__
    assert set(prevalence_table(viewed)["topic"]) == {1, 2, 4}, "hidden topics have shares"
    columns = [name for name in documents_table(viewed).columns if name.startswith("topic")]
    assert columns == ["topic_1 =Harbour", "topic_2", "topic_4 @school"]


def test_shares_of_merged_topics_are_sums(result: Result, viewed: Result) -> None:
    alone, together = (table.pivot(index="topic", columns="group", values="share") for table in
                       (prevalence_table(result), prevalence_table(viewed)))  # fmt: skip
    assert together.loc[1].to_numpy() == pytest.approx((alone.loc[1] + alone.loc[3]).to_numpy())
    assert together.loc[[2, 4]].to_numpy() == pytest.approx(alone.loc[[2, 4]].to_numpy()), "the others stay"
    assert together.sum().to_numpy() == pytest.approx(np.ones(3))
    shares = documents_table(viewed).filter(like="topic_")
    assert shares.sum(axis=1).to_numpy() == pytest.approx(np.ones(len(shares)))


def test_overview_says_what_became_of_each_topic(viewed: Result) -> None:
    table = overview_table(viewed)
    assert list(table["topic"]) == [1, 2, 3, 4] and list(table["name"]) == ["=Harbour", "Topic 2", "Topic 3", "@school"]
    assert list(table["status"]) == ["read together with topic 3", "hidden", "read as part of topic 1", "pinned"]
    assert table["share"].sum() == pytest.approx(1) and table["share"].isna().tolist() == [False, False, True, False]
    assert table["words"][2] == "" and not (table["words"][[0, 1, 3]] == "").any()


def test_the_manifest_tells_the_view(viewed: Result) -> None:
    told = json.loads(files(viewed)["manifest.json"])
    assert View.from_plain(told["view"], TOPICS) == VIEW
    assert told["evidence"]["seeds"] is None and told["evidence"]["words"] is False


def test_own_words_and_differences() -> None:
    talk = talk_result(talk_corpus(("Ledger", "Lantern", "Herald")))
    topics = talk.topics()
    words = own_words_table(talk)
    assert {"strike", "roster", "storm"} <= set(words["word"])
    assert list(words.columns) == ["topic", "name", "group", "rank", "word", "probability", "tokens", "z"], (
        "nothing is known of them"
    )
    for (topic, group), rows in words.groupby(["topic", "group"]):
        i = topics.group_names.index(group)
        own = topics.own_words(topic - 1, WORDS_IN_FILE)[i]
        assert rows["word"].tolist() == [word.word for word in own] and rows["z"].tolist() == [word.z for word in own]
        counts = topics.sample.group_word_tokens(topic - 1)[i]
        places = [topics.vocabulary.index(word) for word in rows["word"]]
        assert rows["tokens"].to_numpy() == pytest.approx(counts[places], abs=0.051)
    table = differences_table(talk)
    assert len(table) == 3 * 3
    row = table.iloc[4]  # of the second topic, the first group and the third
    assert (row["topic"], row["group"], row["other_group"]) == (2, topics.group_names[0], topics.group_names[2])
    assert row["difference"] == pytest.approx(topics.prevalence[0, 1] - topics.prevalence[2, 1])
    assert row["wording_distance"] == pytest.approx(topics.distances[1, 0, 2])


def test_what_is_known_is_in_the_tables() -> None:
    talk = talk_result()
    findings = made_up_findings(talk)
    known = replace(talk, findings=findings)
    overview, words = overview_table(known), own_words_table(known)
    shares, differences = prevalence_table(known), differences_table(known)
    for topic in range(3):
        row = overview.iloc[topic]
        assert (row["gap_low"], row["gap_high"]) == findings.gap_interval(topic) and row[
            "gap_corrected"
        ] == findings.gap(topic)
        assert (row["gap_by_chance"], row["gap_by_chance_high"]) == findings.gap_by_chance(topic)
        assert (row["found"], row["of"]) == (5, 5) and row["gap_is_real"] == (topic < 2)
        own = shares[shares["topic"] == topic + 1]
        assert own[["share_low", "share_high"]].to_numpy() == pytest.approx(findings.prevalence_interval(topic))
        assert (own["share_low"] < own["share"]).all() and (own["share"] < own["share_high"]).all()
        ends = difference_intervals(findings, topic)
        assert ends is not None
        assert differences[["difference_low", "difference_high"]].iloc[topic].tolist() == pytest.approx(
            ends[0, 1].tolist()
        )
    assert list(words.columns)[8:] == ["log_odds", "log_odds_low", "log_odds_high", "sure", "found", "of"]
    first = words.iloc[0]
    finding = findings.word(0, talk.corpus.group_names.index(first["group"]), first["word"])
    assert finding and (first["log_odds"], first["log_odds_low"], first["log_odds_high"]) == (
        finding.log_odds,
        finding.low,
        finding.high,
    )
    assert 0 < words["sure"].sum() < len(words) and set(words["found"]) == {4} and set(words["of"]) == {5}
    book = sheets_of(known)
    (head, row), place = (
        list(book["own_words"].iter_rows(values_only=True, max_row=2)),
        list(words.columns).index("sure"),
    )
    assert head[place] == "sure" and row[place] is True, "a truth, not a text"
    told = json.loads(files(known)["manifest.json"])["evidence"]
    assert told == {
        "level": 0.9,
        "prevalence_draws": 200,
        "gap_draws": 200,
        "groups_dealt_out_at_random": 50,
        "words": True,
        "seeds": 5,
    }


# --- the workbook


def sheets_of(result: Result) -> dict[str, openpyxl.worksheet.worksheet.Worksheet]:
    """Its sheets, read by another library than wrote them."""
    book = openpyxl.load_workbook(io.BytesIO(workbook_bytes(result)))
    return {sheet.title: sheet for sheet in book.worksheets}


def test_a_workbook_has_a_sheet_for_each_table(viewed: Result) -> None:
    sheets = sheets_of(viewed)
    assert list(sheets) == ["about", *(table.name for table in TABLES)]
    for table in TABLES:
        sheet, expected = sheets[table.name], table.make(viewed)
        head, *rows = sheet.iter_rows(values_only=True)
        assert list(head) == list(expected.columns)
        assert len(rows) == len(expected), table.name
        assert sheet.freeze_panes and sheet.freeze_panes.endswith("2"), "the head stays in sight"
        assert bool(sheet.auto_filter.ref) == bool(rows) and sheet["A1"].font.bold
        assert all(8 <= sheet.column_dimensions[letter].width <= 62 for letter in ("A", "B")), table.name
        for column, name in enumerate(expected.columns):
            for row, value in zip(rows, expected[name].tolist(), strict=True):
                if value == "" or pd.isna(value):
                    assert row[column] is None
                else:
                    assert row[column] == (pytest.approx(value) if isinstance(value, float) else value)


def test_nothing_in_a_workbook_is_a_formula_or_a_link(viewed: Result) -> None:
    """A group is called =cmd|..., topics =Harbour and @school, a title begins with a plus, another is an address."""
    documents = viewed.corpus.documents
    titles = ("+1 for the harbour", "-1", "http://bad.example", "=1+1", *documents.titles[4:])
    corpus = replace(viewed.corpus, documents=replace(documents, titles=titles))
    sheets = sheets_of(replace(viewed, corpus=corpus))
    kinds = {cell.data_type for sheet in sheets.values() for row in sheet.iter_rows() for cell in row}
    assert kinds == {"s", "n", "b"} or kinds == {"s", "n"}
    assert not any(cell.hyperlink for sheet in sheets.values() for row in sheet.iter_rows() for cell in row)
    told = [row[3] for row in sheets["documents"].iter_rows(values_only=True, max_row=5)]
    assert told == ["title", "+1 for the harbour", "-1", "http://bad.example", "=1+1"]
    assert {row[2] for row in sheets["prevalence"].iter_rows(values_only=True, min_row=2)} == set(GROUPS)


def test_formats_of_numbers(viewed: Result) -> None:
    sheets = sheets_of(viewed)
    head = [cell.value for cell in sheets["prevalence"][1]]
    formats = dict(zip(head, (cell.number_format for cell in sheets["prevalence"][2]), strict=True))
    assert formats["share"] == "0.0%" and formats["tokens"] == "#,##0" and formats["wording_gap"] == "0.000"
    assert sheets["documents"].cell(2, 6).number_format == "0.0%"


def test_every_column_is_explained(viewed: Result) -> None:
    about = {(row[0], row[1]) for row in sheets_of(viewed)["about"].iter_rows(values_only=True, min_row=2)}
    for table in TABLES:
        for name in table.make(viewed).columns:
            assert name in COLUMNS or name.startswith("topic_"), name
            assert (table.name, name) in about or name.startswith("topic_")


def test_a_table_that_no_spreadsheet_holds_is_left_out_and_told_of(
    viewed: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "MOST_CELLS", viewed.corpus.n_documents * 8 - 1)
    sheets = sheets_of(viewed)
    assert "documents" not in sheets and "prevalence" in sheets
    (told,) = [row[2] for row in sheets["about"].iter_rows(values_only=True) if row[0] == "documents" and not row[1]]
    assert "documents.csv" in told and "too many" in told


def test_text_longer_than_a_cell_and_characters_that_are_none(viewed: Result) -> None:
    documents = viewed.corpus.documents
    titles = ("x" * 40_000, "a\x07bell", *documents.titles[2:])
    corpus = replace(viewed.corpus, documents=replace(documents, titles=titles))
    sheet = sheets_of(replace(viewed, corpus=corpus))["documents"]
    assert len(sheet["D2"].value) == 32_767 and sheet["D2"].value.endswith("…")
    assert sheet["D3"].value.startswith("a") and sheet["D3"].value.endswith("bell")


def test_settings_are_told_one_to_a_row(viewed: Result) -> None:
    told = dict(settings_table(viewed).itertuples(index=False))
    assert told["settings.seed"] == 3 and told["words.passage_words"] == 40 and told["view.names.1"] == "=Harbour"
    assert told["run.documents"] == viewed.corpus.n_documents and "run.perplexity_trace" not in told
