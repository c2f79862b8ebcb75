"""The command line: what it prints, what it writes, and the one sentence it answers with when it cannot go on.

Runs that show the whole way are processes of their own. Starting one takes seconds, so what only concerns arguments and files
calls `main` in this process, with the file descriptors watched, which sees the same lines.
"""

from __future__ import annotations

import csv
import dataclasses
import gzip
import hashlib
import io
import json
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import Answer, Call

from sample_data import sample
from spdp_engine.models import SpdpPriors
from spdp_engine.sampling import METHODS, MODELS, Method

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = sample("two_newspapers")
TOPICS, ITERATIONS, SEED = 5, 12, 7
FIT = ("--topics", str(TOPICS), "--iterations", str(ITERATIONS), "--seed", str(SEED), "--workers", "2")
KEYS = {
    "documents", "groups", "tokens", "vocabulary", "topics", "iterations", "seconds", "tokens_per_second",
    "held_out_perplexity", "averaged_perplexity", "averaging_began", "samples_averaged", "perplexity_trace", "model", "schedule",
    "order", "workers", "device", "seed", "learn", "fixed", "repeats", "tempering", "hyperparameters", "quality",
}  # fmt: skip
FILES = {
    "overview.csv",
    "topics.csv",
    "own_words.csv",
    "prevalence.csv",
    "differences.csv",
    "documents.csv",
    "quality.csv",
    "manifest.json",
}


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "spdp_engine", *words],
        cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip


@dataclass(frozen=True)
class Run:
    answer: subprocess.CompletedProcess[str]
    folder: Path

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads(self.answer.stdout.splitlines()[-1])

    def rows(self, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO((self.folder / name).read_text(encoding="utf-8-sig"))))

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("fit") / "deep" / "results"
    return Run(command("fit", str(SAMPLE.path), *FIT, "--json", "--output", str(folder)), folder)


def sentences(documents: int, words: int = 12) -> list[tuple[str, str]]:
    """(group, text) of two groups that speak of two things in partly different words."""
    draw = random.Random(3)
    shared = [["harbour", "ship", "crane", "cargo"], ["school", "teacher", "lesson", "pupil"]]
    own = {"left": ["strike", "union", "picket"], "right": ["stoppage", "employer", "roster"]}
    rows = []
    for number in range(documents):
        group = ("left", "right")[number % 2]
        rows.append((group, " ".join(draw.choices(shared[number // 2 % 2] + own[group], k=words))))
    return rows


def as_csv(rows: list[tuple[str, str]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["group", "text"])
    writer.writerows(rows)
    return buffer.getvalue()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "talk.csv"
    path.write_text(as_csv(sentences(60)), encoding="utf-8")
    return path


# --- the whole way, in a process of its own


def test_devices_are_listed() -> None:
    done = command("devices")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()
    for line in done.stdout.splitlines():
        name, kind, units, memory, platform = line.split("\t")
        assert name and platform and kind in ("GPU", "CPU", "accelerator")
        assert int(units.split()[0]) >= 1 and memory.endswith(" MB")


def test_the_last_line_is_one_json_object(run: Run) -> None:
    assert run.answer.returncode == 0, run.answer.stderr
    assert run.summary.keys() >= KEYS


def test_the_figures_agree_with_what_was_asked_and_with_one_another(run: Run) -> None:
    figures = run.summary
    assert (figures["topics"], figures["iterations"], figures["seed"]) == (TOPICS, ITERATIONS, SEED)
    assert (figures["model"], figures["schedule"], figures["order"], figures["workers"]) == ("spdp", "blocks", None, 2)
    assert figures["documents"] == 224 == sum(figures["groups"].values())
    assert set(figures["groups"]) == {"The Corran Bay Ledger", "The Dockside Lantern"}
    assert figures["tokens"] > figures["vocabulary"] > 1000
    trace = figures["perplexity_trace"]
    assert [iteration for iteration, _ in trace] == list(range(1, ITERATIONS + 1))
    assert figures["held_out_perplexity"] == trace[-1][1]
    assert all(1 < perplexity < 2 * figures["vocabulary"] for _, perplexity in trace)
    assert 0 < figures["seconds"] < 60
    # The rate is a median over iterations of sampling alone, so it is no less than what the whole took, within a wide margin.
    assert figures["tokens_per_second"] > 0.3 * figures["tokens"] * ITERATIONS / figures["seconds"] / 2
    assert figures["learn"] and not figures["fixed"] and figures["repeats"] and figures["tempering"]
    learned = figures["hyperparameters"]
    assert learned.keys() == {field.name for field in dataclasses.fields(SpdpPriors)}
    assert learned["concentration"] != SpdpPriors().concentration
    assert learned["discount"] == SpdpPriors().discount, "which is drawn later"
    assert figures["device"] in command_devices()


def command_devices() -> list[str]:
    from spdp_engine.sampling import list_devices

    return [device.name for device in list_devices()]


def test_guessed_columns_and_the_report_are_printed(run: Run) -> None:
    lines = run.answer.stdout.splitlines()
    (guess,) = [line for line in lines if line.startswith("Columns guessed")]
    assert "text = text" in guess and "group = newspaper" in guess and "--group" in guess
    assert any("224 rows were read from two_newspapers.csv" in line for line in lines)


def test_progress_goes_to_standard_error_and_no_warnings_do(run: Run) -> None:
    assert "perplexity" in run.answer.stderr
    assert "Warning" not in run.answer.stderr and "Traceback" not in run.answer.stderr


def test_files_are_written_into_a_new_folder(run: Run) -> None:
    assert {path.name for path in run.folder.iterdir()} == FILES


def test_topics_file(run: Run) -> None:
    rows = run.rows("topics.csv")
    assert list(rows[0]) == ["topic", "name", "group", "rank", "word", "probability"]
    assert {int(row["topic"]) for row in rows} == set(range(1, TOPICS + 1))
    columns: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows:
        columns.setdefault((row["topic"], row["group"]), []).append(row)
    assert len(columns) == 2 * TOPICS
    for words in columns.values():
        assert [int(row["rank"]) for row in words] == list(range(1, 51))
        values = [float(row["probability"]) for row in words]
        assert values == sorted(values, reverse=True) and 0 < sum(values) <= 1
        assert len({row["word"] for row in words}) == len(words)


def test_prevalence_file(run: Run) -> None:
    rows = run.rows("prevalence.csv")
    assert list(rows[0]) == ["topic", "name", "group", "tokens", "share", "rank", "wording_gap"]
    for group in run.summary["groups"]:
        own = [row for row in rows if row["group"] == group]
        assert [int(row["topic"]) for row in own] == list(range(1, TOPICS + 1))
        assert sum(float(row["share"]) for row in own) == pytest.approx(1)
        assert sorted(int(row["rank"]) for row in own) == list(range(1, TOPICS + 1))
    assert sum(int(row["tokens"]) for row in rows) == run.summary["training_tokens"]
    assert all(0 <= float(row["wording_gap"]) <= 1 for row in rows)


def test_documents_file(run: Run) -> None:
    rows = run.rows("documents.csv")
    names = [f"topic_{topic}" for topic in range(1, TOPICS + 1)]
    assert list(rows[0]) == ["document", "passage", "group", "title", "date", *names]
    assert len(rows) == run.summary["documents"]
    for row in rows:
        assert sum(float(row[name]) for name in names) == pytest.approx(1, abs=1e-6)
    with SAMPLE.path.open(encoding="utf-8-sig", newline="") as file:
        given = list(csv.DictReader(file))
    for row in rows:
        source = given[int(row["document"]) - 1]
        assert (row["group"], row["title"], row["date"]) == (source["newspaper"], source["title"], source["date"])


def test_manifest_holds_what_is_needed_to_do_it_again(run: Run) -> None:
    told = run.manifest
    (source,) = told["inputs"]
    assert source["name"] == "two_newspapers.csv" and source["documents"] == 224
    assert source["sha256"] == hashlib.sha256(SAMPLE.path.read_bytes()).hexdigest()
    assert source["bytes"] == SAMPLE.path.stat().st_size
    assert told["run"] == run.summary
    assert told["settings"]["topics"] == TOPICS and told["settings"]["seed"] == SEED
    assert told["columns"] == {"text": "text", "group": "newspaper", "title": "title", "date": "date", "document": None}
    assert told["words"]["language"] == "en"
    assert told["associations"] is None
    assert {"python", "system", "numpy", "pyopencl"} <= told["versions"].keys()
    assert any(note["kind"] == "read" for note in told["notes"])


def test_the_same_seed_gives_the_same_topics_in_another_process(run: Run, call: Call, tmp_path: Path) -> None:
    again = call("fit", SAMPLE.path, *FIT, "--output", tmp_path)
    assert again.status == 0
    for name in ("topics.csv", "prevalence.csv", "documents.csv"):
        assert (tmp_path / name).read_bytes() == (run.folder / name).read_bytes(), name
    other = call("fit", SAMPLE.path, *FIT[:-3], "8", *FIT[-2:], "--output", tmp_path)
    assert other.status == 0
    assert (tmp_path / "topics.csv").read_bytes() != (run.folder / "topics.csv").read_bytes()


def test_a_report_is_written_beside_the_files_or_alone(call: Call, tmp_path: Path) -> None:
    answer = call("fit", SAMPLE.path, *FIT, "--report", tmp_path / "report.html")
    assert answer.status == 0 and answer.out[-1].startswith("Wrote the report to")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>two_newspapers</h1>" in report and report.count('class="topic"') == TOPICS
    lost = call("fit", SAMPLE.path, *FIT, "--report", tmp_path / "nowhere" / "report.html")
    assert lost.status == 2 and len(lost.err) == 1 and "no folder" in lost.err[0], "before it is fitted"


@pytest.mark.parametrize(
    "words", [("fit", str(SAMPLE.path), "--device", "abacus"), ("fit",)], ids=["device", "arguments"]
)
def test_a_process_ends_with_status_2_and_one_sentence(words: tuple[str, ...]) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert_one_sentence(done.stderr.splitlines())


# --- what is read


def test_without_output_or_json_the_topics_are_printed(table: Path, call: Call) -> None:
    answer = call("fit", table, "--topics", 2, "--iterations", 3)
    assert answer.status == 0
    assert sum(line.startswith("Topic ") for line in answer.out) == 2
    assert any(line.strip().startswith("left ") for line in answer.out)


def test_columns_by_name(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{text},{group},{number}" for number, (group, text) in enumerate(sentences(40))]
    path.write_text("\n".join(["words of theirs,camp,when", *rows]), encoding="utf-8")
    answer = call(
        "fit", path, "--text", "words of theirs", "--group", "camp", "--date", "when",
        "--topics", 2, "--iterations", 1, "--json",
    )  # fmt: skip
    assert answer.status == 0, answer.err
    assert json.loads(answer.out[-1])["groups"] == {"left": 20, "right": 20}
    assert not any(line.startswith("Columns guessed") for line in answer.out)


def chunks(folder: Path, name: str) -> Path:
    """40 rows of ten speeches, in a table whose column of speeches has this name."""
    path = folder / "chunks.csv"
    rows = [f"{text},{group},speech {number // 2 % 5},{number}" for number, (group, text) in enumerate(sentences(40))]
    path.write_text("\n".join([f"text,group,{name},row", *rows]), encoding="utf-8")
    return path


def test_rows_that_are_passages_of_a_document(tmp_path: Path, call: Call) -> None:
    path, short = chunks(tmp_path, "which"), ("--topics", 2, "--iterations", 2, "--json")
    answer = call("fit", path, "--document", "which", *short, "--output", tmp_path / "out")
    assert answer.status == 0, answer.err
    assert "40 rows are passages of 10 documents, by the column 'which'; rows of one document" in "\n".join(answer.out)
    assert answer.figures["documents"] == 40 and answer.figures["originals"] == 10
    assert answer.figures["group_originals"] == {"left": 5, "right": 5}
    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["columns"]["document"] == "which"
    rows = list(csv.DictReader((tmp_path / "out/documents.csv").open(encoding="utf-8-sig")))
    assert [row["document_id"] for row in rows[:5]] == ["speech 0"] * 4 + ["speech 0"]
    assert [row["group"] for row in rows[:8]] == ["left"] * 4 + ["right"] * 4
    without = call("fit", path, *short)
    assert without.figures["originals"] == 40 and "passages" not in "\n".join(without.out[:-1])


def test_a_plain_column_of_documents_is_guessed_and_can_be_declined(tmp_path: Path, call: Call) -> None:
    path, short = chunks(tmp_path, "speech_id"), ("--topics", 2, "--iterations", 1, "--json")
    guessed = call("fit", path, *short)
    assert guessed.out[0].startswith(
        "Columns guessed: text = text, group = group, document = speech_id. Name others with --text"
    )
    assert guessed.out[0].endswith(" or --no-document.") and guessed.figures["originals"] == 10
    declined = call("fit", path, "--no-document", *short)
    assert "document" not in declined.out[0].split(".")[0] and declined.figures["originals"] == 40
    titled = call("fit", path, "--title", "speech_id", "--document", "speech_id", *short)
    assert titled.status == 0 and titled.figures["originals"] == 10
    for wrong, says in ((("--document", "nothing"), "no column 'nothing' for the document"),
                        (("--group", "group", "--document", "group"), "'group' cannot be group and document")):  # fmt: skip
        answer = call("fit", path, *wrong, *short)
        assert answer.status == 2 and says in answer.err[0]
        assert_one_sentence(answer.err)


def test_rows_of_a_document_are_scored_by_their_own_ids(tmp_path: Path, call: Call) -> None:
    held = tmp_path / "held.csv"
    held.write_text("row,text\n1,ship cargo\n7,teacher\n", encoding="utf-8")
    fit = (
        "fit",
        chunks(tmp_path, "speech_id"),
        "--score",
        held,
        "--topics",
        2,
        "--iterations",
        2,
        "--json",
        "--no-passages",
    )
    answer = call(*fit, "--id", "row")
    assert answer.status == 0 and (answer.figures["scored_documents"], answer.figures["originals"]) == (2, 10)
    wrong = call(*fit, "--id", "speech_id", "--document", "speech_id")
    assert wrong.status == 2 and "does not tell rows apart" in wrong.err[0]


def test_one_column_as_two_is_named(table: Path, call: Call) -> None:
    assert call("fit", table, "--group", "text").err == [
        "The column 'text' cannot be text and group at once; choose another one."
    ]


def test_pretokenised_text_keeps_every_word(tmp_path: Path, call: Call) -> None:
    """Stop words, single letters, numbers, words of one document and words of every document."""
    texts = [f"the I 42 C++ <b>Bold</b> only{number} and" for number in range(30)]
    path = tmp_path / "words.jsonl"
    lines = [json.dumps({"group": f"g{n % 2}", "text": text}) for n, text in enumerate(texts)]
    path.write_text("\n".join(lines), encoding="utf-8")
    answer = call(
        "fit", path, "--pretokenised", "--topics", 2, "--iterations", 2, "--json", "--output", tmp_path / "out"
    )
    assert answer.status == 0, answer.err
    figures = json.loads(answer.out[-1])
    assert figures["tokens"] == 30 * 7
    assert figures["vocabulary"] == 6 + 30
    words = {row["word"] for row in csv.DictReader((tmp_path / "out/topics.csv").open(encoding="utf-8-sig"))}
    assert words >= {"the", "I", "42", "C++", "<b>Bold</b>", "and", "only7"}


def several_files(folder: Path, rows: list[tuple[str, str]]) -> list[Path]:
    paths = []
    for group in ("left", "right"):
        path = folder / f"{group}.csv"
        lines = [f"{n},{text}" for n, (one, text) in enumerate(rows) if one == group]
        path.write_text("\n".join(["number,text", *lines]), encoding="utf-8")
        paths.append(path)
    return paths


def a_folder(folder: Path, rows: list[tuple[str, str]]) -> list[Path]:
    for number, (group, text) in enumerate(rows):
        (folder / "talks" / group).mkdir(parents=True, exist_ok=True)
        (folder / "talks" / group / f"{number}.txt").write_text(text, encoding="utf-8")
    return [folder / "talks"]


def a_zip(folder: Path, rows: list[tuple[str, str]]) -> list[Path]:
    with zipfile.ZipFile(folder / "talks.zip", "w") as archive:
        for number, (group, text) in enumerate(rows):
            archive.writestr(f"{group}/{number}.txt", text)
    return [folder / "talks.zip"]


def a_gz(folder: Path, rows: list[tuple[str, str]]) -> list[Path]:
    path = folder / "talks.jsonl.gz"
    lines = "\n".join(json.dumps({"group": group, "text": text}) for group, text in rows)
    path.write_bytes(gzip.compress(lines.encode()))
    return [path]


@pytest.mark.parametrize("make", [several_files, a_folder, a_zip, a_gz], ids=lambda make: make.__name__)
def test_every_way_to_bring_the_same_documents(
    make: Callable[[Path, list[tuple[str, str]]], list[Path]], tmp_path: Path, call: Call
) -> None:
    paths = make(tmp_path, sentences(60))
    answer = call("fit", *paths, "--topics", 2, "--iterations", 2, "--json", "--output", tmp_path / "out")
    assert answer.status == 0, answer.err
    figures = json.loads(answer.out[-1])
    assert figures["groups"] == {"left": 30, "right": 30}
    assert figures["tokens"] == 60 * 12
    inputs = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))["inputs"]
    assert [source["name"] for source in inputs] == [path.name for path in paths]
    for source, path in zip(inputs, paths, strict=True):
        if path.is_file():
            assert source["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_one_group_has_nothing_to_compare_and_still_runs(table: Path, call: Call) -> None:
    path = table.with_name("one.csv")
    path.write_text("\n".join(["number,text", *(f"{n},{text}" for n, (_, text) in enumerate(sentences(40)))]), "utf-8")
    answer = call("fit", path, "--topics", 2, "--iterations", 2, "--json")
    assert answer.status == 0
    assert any("nothing to compare" in line for line in answer.out)
    assert len(json.loads(answer.out[-1])["groups"]) == 1


def test_nothing_held_out_and_nothing_measured(table: Path, call: Call) -> None:
    answer = call("fit", table, "--topics", 2, "--iterations", 3, "--held-out", 0, "--json")
    figures = json.loads(answer.out[-1])
    assert figures["held_out_perplexity"] is None and figures["perplexity_trace"] == []
    assert figures["training_tokens"] == figures["tokens"]


def test_settings_reach_the_run(table: Path, call: Call) -> None:
    answer = call(
        "fit", table, "--topics", 3, "--iterations", 2, "--schedule", "sequential", "--alpha", 0.5, "--gamma", 0.2,
        "--discount", 0, "--concentration", 5, "--repeat-discount", 0.2, "--stop-word", "harbour", "--join", "ship=crane", "--json",
    )  # fmt: skip
    figures = json.loads(answer.out[-1])
    given = {"alpha": 0.5, "gamma": 0.2, "discount": 0.0, "concentration": 5.0, "repeat_discount": 0.2}
    assert figures["hyperparameters"].items() >= given.items()
    assert set(figures["fixed"]) == set(given)
    assert (figures["schedule"], figures["workers"]) == ("sequential", 1)
    assert figures["vocabulary"] == 12


# --- words of a second file are scored


@dataclass(frozen=True)
class TwoFiles:
    """Two files of the same 60 documents: seven words of each are trained on, five are scored."""

    training: Path
    held: Path

    def score(self, call: Call, *words: object, held: Path | None = None) -> Answer:
        run = ("--topics", 2, "--iterations", 20, "--workers", 1)
        return call("fit", self.training, "--score", held or self.held, *run, *words)


@pytest.fixture
def two_files(tmp_path: Path) -> TwoFiles:
    files = TwoFiles(tmp_path / "train.csv", tmp_path / "held.csv")
    rows = [(number, group, text.split()) for number, (group, text) in enumerate(sentences(60))]
    training = [f"d{number},{group},{' '.join(words[:7])}" for number, group, words in rows]
    held = [f"d{number},{' '.join(words[7:])}" for number, _, words in rows]
    files.training.write_text("\n".join(["number,group,text", *training]), encoding="utf-8")
    files.held.write_text(
        "\n".join(["number,text", *held, "d99,harbour ship", "d1,harbour submarine"]), encoding="utf-8"
    )
    return files


def test_words_of_a_second_file_are_scored_and_not_trained_on(two_files: TwoFiles, call: Call) -> None:
    answer = two_files.score(call, "--id", "number", "--json")
    assert answer.status == 0, answer.err
    figures = json.loads(answer.out[-1])
    assert figures["documents"] == 60 and figures["tokens"] == figures["training_tokens"] == 60 * 7
    assert (figures["scored_documents"], figures["scored_tokens"]) == (60, 60 * 5 + 1)
    assert (figures["unscored_tokens"], figures["unscored_rows"]) == (1, 1)
    assert figures["held_out"] == 0 and len(figures["perplexity_trace"]) == 20
    assert 1 < figures["held_out_perplexity"] < 1.2 * figures["vocabulary"]
    assert "301 tokens of 60 documents, from held.csv, are scored and never trained on." in answer.out
    assert any("an id that is not in the training file" in line for line in answer.out)
    assert any(line.endswith("outside the vocabulary: submarine.") for line in answer.out)
    assert not any("number" in line for line in answer.out if line.startswith("Columns guessed"))


def test_words_are_scored_in_the_documents_they_belong_to(two_files: TwoFiles, call: Call) -> None:
    """Documents 0 and 1 of four speak of the harbour, 2 and 3 of the school: their words fit one another's badly."""
    header, *rows = two_files.held.read_text(encoding="utf-8").splitlines()[:61]
    ids, words = zip(*(row.split(",") for row in rows), strict=True)
    wrong = two_files.held.with_name("wrong.csv")
    wrong.write_text(
        "\n".join([header, *map(",".join, zip(ids, words[2:] + words[:2], strict=True))]), encoding="utf-8"
    )
    right = json.loads(two_files.score(call, "--id", "number", "--json").out[-1])
    swapped = json.loads(two_files.score(call, "--id", "number", "--json", held=wrong).out[-1])
    assert swapped["held_out_perplexity"] > 1.5 * right["held_out_perplexity"]


BAD_SCORES: dict[str, tuple[tuple[object, ...], str]] = {
    "no id": ((), "needs --id"),
    "an id that is not there": (("--id", "who"), "no column 'who' for the id"),
    "words held out besides": (("--id", "number", "--held-out", 0.2), "leave out --held-out"),
    "passages": (("--id", "number", "--minimum-documents", 1, "--passages"), "give --no-passages"),
}


@pytest.mark.parametrize("name", BAD_SCORES)
def test_a_score_that_cannot_be_taken(name: str, two_files: TwoFiles, call: Call) -> None:
    given, sentence = BAD_SCORES[name]
    if name == "passages":
        header, first, *rows = two_files.training.read_text(encoding="utf-8").splitlines()
        two_files.training.write_text("\n".join([header, first + " harbour. ship" * 500, *rows]), encoding="utf-8")
    answer = two_files.score(call, *given)
    assert answer.status == 2
    assert_one_sentence(answer.err)
    assert sentence in answer.err[0]


def test_a_score_of_nothing_and_an_id_without_a_score(two_files: TwoFiles, call: Call) -> None:
    strangers = two_files.held.with_name("strangers.csv")
    strangers.write_text("number,text\ne1,harbour\n", encoding="utf-8")
    answers = [
        two_files.score(call, "--id", "number", held=strangers),
        two_files.score(call, "--id", "number", held=strangers.with_name("bad.csv")),
        call("fit", two_files.training, "--id", "number"),
    ]
    for answer, sentence in zip(
        answers, ("Nothing of strangers.csv can be scored", "bad.csv", "with --score"), strict=True
    ):
        assert answer.status == 2
        assert_one_sentence(answer.err)
        assert sentence in answer.err[0]


# --- models and schedules

RUNS = [(method, order) for method in METHODS for order in (None, *method.orders)]


@pytest.mark.parametrize(("method", "order"), RUNS, ids=[f"{m.model}-{m.schedule}-{order}" for m, order in RUNS])
def test_every_method_runs_by_its_name(method: Method, order: str | None, table: Path, call: Call) -> None:
    given = ("--model", method.model, "--schedule", method.schedule, *(("--order", order) if order else ()))
    answer = call("fit", table, "--topics", 3, "--iterations", 3, "--workers", 2, *given, "--json")
    assert answer.status == 0, answer.err
    figures = json.loads(answer.out[-1])
    assert (figures["model"], figures["schedule"]) == (method.model, method.schedule)
    assert figures["order"] == (order or next(iter(method.orders), None))
    names = {field.name for field in dataclasses.fields(MODELS[method.model].priors)}
    assert figures["hyperparameters"].keys() == {name for name in names if method.repeats or "repeat" not in name}
    # Better than words drawn from a hat is not asked for after three iterations, but nothing absurd either.
    assert 1 < figures["held_out_perplexity"] < 5 * figures["vocabulary"]


def test_methods_are_listed_as_a_table(call: Call) -> None:
    answer = call("methods")
    assert answer.status == 0 and not answer.err
    header, *lines = answer.out
    named = "model", "schedule", "orders", "result", "associations", "repeats", "tempering", "what it is"
    cut = [header.index(name) for name in named]
    rows = [tuple(line[start:end].strip() for start, end in zip(cut, [*cut[1:], None], strict=True)) for line in lines]
    assert [row[:2] for row in rows] == [(method.model, method.schedule) for method in METHODS]
    for method, (_, _, orders, result, associations, repeats, tempering, source) in zip(METHODS, rows, strict=True):
        assert orders == (", ".join(method.orders) or "-")
        assert result == method.exactness
        assert associations == ("yes" if method.associations else "-")
        assert (repeats != "-") == method.runner.takes_repeats and (repeats == "yes") == method.repeats
        assert (tempering != "-") == method.runner.takes_tempering and (tempering == "yes") == method.tempering
        assert source == method.source


def test_help_tells_every_prior_and_its_default(call: Call) -> None:
    told = " ".join(" ".join(call("fit", "--help").out).split())
    for model in MODELS.values():
        assert f"{model.name}: {model.about}" in told
        for field in dataclasses.fields(model.priors):
            name = field.name.replace("_", "-")
            assert f"--{name} X fix the {field.metadata['help']} (default {field.default:g}" in told


def test_priors_of_another_model_reach_it(table: Path, call: Call) -> None:
    answer = call(
        "fit", table, "--model", "lda", "--topics", 2, "--iterations", 2, "--alpha", 0.3, "--beta", 0.2, "--json"
    )
    assert json.loads(answer.out[-1])["hyperparameters"] == {"alpha": 0.3, "beta": 0.2}


def test_words_that_groups_share_are_printed_once(table: Path, call: Call) -> None:
    answer = call("fit", table, "--model", "lda", "--topics", 2, "--iterations", 3)
    first = next(number for number, line in enumerate(answer.out) if line.startswith("Topic "))
    assert "wording gap" not in " ".join(answer.out)
    _, shares, words, *_ = answer.out[first:]
    assert [share.split()[0] for share in shares.split(",")] == ["left", "right"]
    assert len(words.split()) == 12


# --- associations

LINKS = "group,word,base word,weight\n*,strike,strike,1\n*,stoppage,strike,1\nright,stoppage,stoppage,2\n"
LINKS += "left,stoppage,stoppage,1\n*,zebra,strike,1\n"


@pytest.fixture
def links(tmp_path: Path) -> Path:
    path = tmp_path / "links.csv"
    path.write_text(LINKS, encoding="utf-8")
    return path


@pytest.mark.parametrize("method", [one for one in METHODS if one.associations], ids=lambda method: method.schedule)
def test_associations_are_used_and_told_of(method: Method, table: Path, links: Path, call: Call) -> None:
    out = table.parent / "out"
    answer = call(
        "fit", table, "--associations", links, "--model", method.model, "--schedule", method.schedule,
        "--topics", 2, "--iterations", 3, "--output", out,
    )  # fmt: skip
    assert answer.status == 0, answer.err
    assert any(line.startswith("4 of 5 associations of links.csv were used") for line in answer.out)
    assert any("zebra" in line for line in answer.out)
    told = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert told["associations"] == {
        "name": "links.csv", "sha256": hashlib.sha256(LINKS.encode()).hexdigest(), "rows_read": 5, "rows_used": 4,
    }  # fmt: skip
    notes = [note["text"] for note in told["notes"]]
    assert [text for text in notes if "links.csv" in text] == [line for line in answer.out if "links.csv" in line]
    assert "associations" not in told["settings"], "the file is told of, not its matrices"


def test_associations_change_the_topics(table: Path, links: Path, call: Call) -> None:
    for name, given in (("with", ("--associations", links)), ("without", ())):
        call("fit", table, *given, "--topics", 2, "--iterations", 3, "--output", table.parent / name)
    one, other = ((table.parent / name / "topics.csv").read_bytes() for name in ("with", "without"))
    assert one != other


BAD_LINKS = {
    "no such file": None,
    "an empty file": "",
    "no weight": "group,word,base word,weight\n*,strike,strike,\n",
    "a column too few": "group,word,weight\n*,strike,1\n",
    "an unknown group": "group,word,base word,weight\nmiddle,strike,strike,1\n",
    "unknown words": "group,word,base word,weight\n*,zebra,strike,1\n",
    "a word that nothing leads to": "group,word,base word,weight\n*,strike,stoppage,1\n",
}


@pytest.mark.parametrize("name", BAD_LINKS)
def test_associations_that_cannot_be_used(name: str, table: Path, call: Call) -> None:
    path, content = table.with_name("bad.csv"), BAD_LINKS[name]
    if content is not None:
        path.write_text(content, encoding="utf-8")
    answer = call("fit", table, "--associations", path, "--topics", 2, "--iterations", 1)
    assert answer.status == 2
    assert "bad.csv" in answer.err[0] and len(answer.err) == 1 and answer.err[0].endswith(".")


# --- what cannot be done


def assert_one_sentence(lines: list[str]) -> None:
    assert len(lines) == 1, lines
    (line,) = lines
    assert line[0].isupper() or line.split()[0] in (*BAD_NAMES, "bad.csv"), line  # names of files stay as they are
    assert line.endswith(".") and "Traceback" not in line, line


BAD_FILES: dict[str, bytes | None] = {
    "no such file": None,
    "an empty file": b"",
    "white space alone": b" \n\n  \n",
    "a header and no rows": b"group,text\n",
    "a binary file": bytes(range(256)) * 40,
    "an image called .csv": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x04\x00\x00\x00\x03\x00" * 20,
    "one document": b"group,text\nleft,a single document about harbours and ships\n",
    "all stop words": b"group,text\n" + b"left,the and of it is was the\nright,and the of to in it\n" * 20,
    "one column": b"text\n" + b"harbour ship crane\n" * 5,
    "no column of text": b"group,number\n" + b"left,1\nright,2\n" * 20,
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_cannot_be_used(name: str, tmp_path: Path, call: Call) -> None:
    path = tmp_path / "bad.csv"
    content = BAD_FILES[name]
    if content is not None:
        path.write_bytes(content)
    answer = call("fit", path, "--topics", 2, "--iterations", 1)
    assert answer.status == 2
    assert_one_sentence(answer.err)


BAD_NAMES = ["bad.zip", "bad.jsonl.gz", "bad.json", "bad.docx", "nothing"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_file_of_another_kind_than_its_name_says(name: str, tmp_path: Path, call: Call) -> None:
    (tmp_path / name).write_bytes(b"{this is none of them")
    answer = call("fit", tmp_path / name)
    assert answer.status == 2
    assert_one_sentence(answer.err)


BAD_SETTINGS: dict[str, tuple[object, ...]] = {
    "no topics": ("--topics", 0),
    "more topics than different words": ("--topics", 15),
    "more topics than tokens": ("--topics", 800),
    "a number of topics no device could hold": ("--topics", 10**9),
    "topics that are no number": ("--topics", "many"),
    "unknown text column": ("--text", "speech"),
    "unknown group column": ("--group", "party"),
    "one column as two": ("--group", "text"),
    "unknown schedule": ("--schedule", "random"),
    "unknown device": ("--device", "abacus"),
    "no workers": ("--workers", 0),
    "held-out above 1": ("--held-out", 1.5),
    "held-out below 0": ("--held-out", -0.1),
    "discount 1": ("--discount", 1),
    "alpha 0": ("--alpha", 0),
    "gamma not a number": ("--gamma", "nan"),
    "concentration 0": ("--concentration", 0),
    "no iterations": ("--iterations", 0),
    "a negative seed": ("--seed", -1),
    "unknown language": ("--language", "xx"),
    "maximum share 2": ("--maximum-share", 2),
    "minimum documents 0": ("--minimum-documents", 0),
    "all words left out": ("--minimum-documents", 1000),
    "an unknown option": ("--colour", "red"),
}


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_a_setting_that_cannot_be_used(name: str, table: Path, call: Call) -> None:
    answer = call("fit", table, *BAD_SETTINGS[name])
    assert answer.status == 2
    assert_one_sentence(answer.err)


WRONG_METHODS: dict[str, tuple[tuple[object, ...], str]] = {
    "unknown model": (("--model", "plsa"), "no model called “plsa”"),
    "unknown schedule": (("--schedule", "random"), "no schedule called “random”"),
    "a schedule of another model": (("--schedule", "single_site"), "spdp has no schedule called “single_site”"),
    "a schedule that the model has not": (
        ("--model", "lda", "--schedule", "hybrid"),
        "lda has no schedule called “hybrid”",
    ),
    "an unknown order": (("--schedule", "token_parallel", "--order", "alphabetical"), "no order “alphabetical”"),
    "an order where there is no choice": (("--schedule", "sequential", "--order", "document"), "no order “document”"),
    "an order without a schedule": (("--order", "document"), "Name the schedule, too"),
    "a prior of another model": (("--beta", 0.1), "The model spdp has no beta"),
    "priors that the model has not": (("--model", "lda", "--gamma", 0.1), "The model lda has no gamma"),
    "a prior out of range": (("--model", "lda", "--beta", 0), "Beta must lie between"),
}


@pytest.mark.parametrize("name", WRONG_METHODS)
def test_what_does_not_go_together(name: str, table: Path, call: Call) -> None:
    given, sentence = WRONG_METHODS[name]
    answer = call("fit", table, "--topics", 2, "--iterations", 1, *given)
    assert answer.status == 2
    assert_one_sentence(answer.err)
    assert sentence in answer.err[0]


@pytest.mark.parametrize(
    "method", [one for one in METHODS if not one.associations], ids=lambda one: f"{one.model}-{one.schedule}"
)
def test_associations_where_they_have_no_use(method: Method, table: Path, links: Path, call: Call) -> None:
    given = ("--model", method.model, "--schedule", method.schedule, "--topics", 2)
    answer = call("fit", table, "--associations", links, *given)
    assert answer.status == 2
    assert_one_sentence(answer.err)
    assert method.schedule in answer.err[0] and "associations" in answer.err[0]


def test_a_damaged_gzip(tmp_path: Path, call: Call) -> None:
    (tmp_path / "bad.csv.gz").write_bytes(b"\x1f\x8b\x08 and no more")
    answer = call("fit", tmp_path / "bad.csv.gz")
    assert answer.status == 2 and len(answer.err) == 1


def test_a_folder_that_cannot_be_written(table: Path, call: Call) -> None:
    answer = call("fit", table, "--topics", 2, "--iterations", 1, "--output", table / "below a file")
    assert answer.status == 2
    assert "could not be written" in answer.err[-1]


def test_a_reference_text_is_looked_through(table: Path, tmp_path: Path, call: Call) -> None:
    reference, folder = tmp_path / "reference.txt", tmp_path / "results"
    reference.write_text("The harbour and the ship. " * 20, encoding="utf-8")
    answer = call(
        "fit", table, "--topics", 2, "--iterations", 2, "--reference", reference, "--output", folder, "--json"
    )
    assert answer.status == 0, answer.err
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert told["reference_quality"] and told["reference_inputs"][0]["name"] == "reference.txt"
    assert "reference_npmi" in (folder / "quality.csv").read_text(encoding="utf-8").splitlines()[0]


def test_a_reference_without_any_of_the_words_is_refused(table: Path, tmp_path: Path, call: Call) -> None:
    reference = tmp_path / "Other.txt"
    reference.write_text("Quite another subject.", encoding="utf-8")
    answer = call("fit", table, "--topics", 2, "--iterations", 2, "--reference", reference)
    assert answer.status == 2
    assert_one_sentence(answer.err)
