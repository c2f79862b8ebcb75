"""What a run leaves behind: tables that add up, a manifest that is JSON, and a zip of the five files."""

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
import pandas as pd
import pytest

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
from spdp_engine.results import (
    WORDS_IN_FILE,
    Associations,
    Result,
    averaged_in,
    averaging_began,
    documents_table,
    files,
    manifest,
    prevalence_table,
    quality_table,
    topics_table,
    zip_bytes,
)
from spdp_engine.sampling import Sampler, SamplerSettings, plain_settings
from spdp_engine.topics import measure_quality
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
        }
        for number in range(30)
    ]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


DATA = collection_bytes()


LINKS = b"group,word,base word,weight\n*,bara,bara,1\n*,bille,bara,2\n*,bille,bille,1\n*,zebra,bara,1\n"


def make_corpus(passages: bool = True) -> Corpus:
    collection = read_collection([InputFile("talk.jsonl", data=DATA)])
    documents = make_documents(collection, Columns("text", "camp", "head", "day"))
    return build_corpus(
        documents, CorpusSettings(language="none", passages=passages, passage_words=40, maximum_share=1.0)
    )


def make_result(passages: bool = True, links: bool = False, **settings: Any) -> Result:
    corpus = make_corpus(passages)
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
    assert list(table.columns) == ["topic", "group", "rank", "word", "probability"]
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
    assert list(table.columns) == ["topic", "group", "tokens", "share", "rank", "wording_gap"]
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
    assert told["columns"] == {"text": "text", "group": "camp", "title": "head", "date": "day"}
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
    assert (run["learn"], run["fixed"], run["repeats"]) == (True, ["gamma"], True)
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
    assert list(table.columns) == ["topic", "group", "npmi", "pmi"]
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
    assert list(table.columns) == ["topic", "group", "npmi", "pmi", "reference_npmi", "reference_pmi"]
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


def test_zip_holds_the_five_files(result: Result) -> None:
    with zipfile.ZipFile(io.BytesIO(zip_bytes(result))) as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == {
            "topics.csv",
            "prevalence.csv",
            "documents.csv",
            "quality.csv",
            "manifest.json",
        }
        content = {name: archive.read(name) for name in archive.namelist()}
    assert content == dict(files(result))


TABLES = [topics_table, prevalence_table, documents_table, quality_table]


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_a_table_comes_back_from_its_file_as_it_was(make, result: Result) -> None:
    name = f"{make.__name__.removesuffix('_table')}.csv"
    data = files(result)[name]
    assert data.startswith(b"\xef\xbb\xbf"), "spreadsheets tell UTF-8 by its mark"
    pd.testing.assert_frame_equal(
        pd.read_csv(io.BytesIO(data), encoding="utf-8-sig", keep_default_na=False, na_values={"npmi": [""], "pmi": [""]}),
        make(result), check_dtype=False, rtol=1e-6,
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
