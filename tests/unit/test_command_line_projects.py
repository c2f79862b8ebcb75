"""The command line saves projects and goes on from them, to the bit."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Answer, Call
from engine.alike import differences

from sample_data import sample
from spdp_engine.project import ENDING, read_project
from spdp_engine.sampling import Sampler
from spdp_engine.types import Iteration

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = sample("two_newspapers")
FIT = ("fit", SAMPLE.path, "--topics", 4, "--seed", 7, "--workers", 2)


def test_a_run_goes_on_from_a_project_as_if_it_had_not_been_interrupted(call: Call, tmp_path: Path) -> None:
    """Through two files, the second in another process; figures and tables are those of one run."""
    first, second = tmp_path / f"first{ENDING}", tmp_path / f"second{ENDING}"
    saved = call(*FIT, "--iterations", 33, "--project", first)
    assert saved.status == 0 and saved.out[-1] == f"Saved the project to {first}."
    went_on = call("continue", first, "--iterations", 7, "--project", second)
    assert went_on.status == 0 and "a run of 4 topics after 33 iterations" in went_on.out[0]
    assert len(went_on.out) == 2, "where bits are the same nothing is said of them"
    words = "continue", str(second), "--iterations", "20", "--json", "--output", str(tmp_path / "a")
    again = subprocess.run(
        [sys.executable, "-m", "spdp_engine", *words],
        cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=60, check=True,
    )  # fmt: skip
    whole = call(*FIT, "--iterations", 60, "--json", "--output", tmp_path / "b")
    assert Answer(0, again.stdout.splitlines(), []).figures == whole.figures
    for name in ("topics", "prevalence", "documents", "quality"):
        assert (tmp_path / "a" / f"{name}.csv").read_bytes() == (tmp_path / "b" / f"{name}.csv").read_bytes()


def test_a_project_of_version_1_goes_on(call: Call, tmp_path: Path) -> None:
    """It is saved in the present format, and goes on as what it was: rows that are documents."""
    now = tmp_path / f"now{ENDING}"
    went_on = call(
        "continue", Path(__file__).with_name("version_1.parallax"), "--iterations", 2, "--project", now, "--json"
    )
    assert went_on.status == 0, went_on.err
    assert (went_on.figures["iterations"], went_on.figures["documents"], went_on.figures["originals"]) == (8, 48, 12)
    assert read_project(now).corpus.n_originals == 12


def test_a_project_of_everything_that_fit_takes(call: Call, tmp_path: Path) -> None:
    """Associations, words that are scored, a reference: all are there when it goes on."""
    links, held, texts = tmp_path / "links.csv", tmp_path / "held.csv", tmp_path / "other.txt"
    table, project = tmp_path / "table.csv", tmp_path / f"all{ENDING}"
    rows = [f"{n},{'ab'[n % 2]},ship crane harbour quay {'strike' if n % 3 else 'lesson'} teacher" for n in range(24)]
    table.write_text("\n".join(["id,group,text", *rows]), encoding="utf-8")
    links.write_text("group,word,base word,weight\n*,ship,ship,1\n*,crane,ship,1\n*,crane,crane,2\n", encoding="utf-8")
    held.write_text("id,text\n1,ship quay\n2,teacher crane\n", encoding="utf-8")
    texts.write_text("the ship and the crane at the quay", encoding="utf-8")
    fit = ("fit", table, "--text", "text", "--group", "group", "--associations", links, "--score", held, "--id", "id",
           "--reference", texts, "--topics", 2, "--maximum-share", 1, "--workers", 2)  # fmt: skip
    assert call(*fit, "--iterations", 10, "--project", project).status == 0
    saved = read_project(project)
    assert saved.associations and saved.scored and saved.reference and saved.name == "table"
    went_on = call("continue", project, "--iterations", 15, "--json")
    assert went_on.status == 0 and went_on.figures == call(*fit, "--iterations", 25, "--json").figures


def test_going_on_can_be_saved_in_the_same_file(call: Call, tmp_path: Path) -> None:
    path = tmp_path / f"one{ENDING}"
    call(*FIT, "--iterations", 3, "--project", path)
    assert call("continue", path, "--iterations", 2, "--project", path).status == 0
    saved = read_project(path)
    assert (saved.snapshot.iteration, len(saved.records)) == (5, 5)


def test_without_a_wish_topics_are_printed(call: Call, tmp_path: Path) -> None:
    path = tmp_path / f"one{ENDING}"
    call(*FIT, "--iterations", 3, "--project", path)
    answer = call("continue", path, "--iterations", 2)
    assert answer.status == 0 and sum(line.startswith("Topic ") for line in answer.out) == 4


def test_an_interrupted_run_is_saved_after_a_whole_iteration(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of the third iteration: it is finished, and the run goes on from there as any other."""
    path, step = tmp_path / f"one{ENDING}", Sampler.step

    def pressed(self: Sampler) -> Iteration:
        if self.iteration == 2:
            signal.raise_signal(signal.SIGINT)
        return step(self)

    with monkeypatch.context() as somebody:
        somebody.setattr(Sampler, "step", pressed)
        answer = call(*FIT, "--iterations", 50, "--project", path)
    assert answer.status == 0 and any("Interrupted" in line for line in answer.err)
    saved = read_project(path)
    assert saved.snapshot.iteration == 3
    alone = Sampler(saved.corpus, saved.settings)
    alone.run(3)
    assert differences(saved.snapshot, alone.snapshot()) == []


def test_ctrl_c_twice_ends_at_once(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(_: Sampler) -> Iteration:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("it went on")

    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # what a terminal's process has, whoever runs the tests
    monkeypatch.setattr(Sampler, "step", pressed)
    path = tmp_path / f"one{ENDING}"
    try:
        assert call(*FIT, "--iterations", 50, "--project", path).status == 130 and not path.exists()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("continue", "nowhere.parallax", "--iterations", 1), "cannot be opened"),
        (("continue", SAMPLE.path, "--iterations", 1), "is not a Parallax project"),
        (("continue", "nowhere.parallax", "--iterations", 0), "at least 1"),
        (("continue", "nowhere.parallax"), "--iterations"),
        ((*FIT, "--project", "results.zip"), f"write results.zip{ENDING}"),
        ((*FIT, "--project", f"no/such/folder/a{ENDING}"), "no folder"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence_before_anything_is_run(
    words: tuple[object, ...], says: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sampler, "step", lambda _: pytest.fail("it was run"))
    answer = call(*words)
    assert answer.status == 2 and len(answer.err) == 1 and says in answer.err[0]
