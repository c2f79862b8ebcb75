"""`python -m benchmarks evidence`: its corpora are what they are said to be, and its page says what was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import evidence
from benchmarks.evidence_corpora import KINDS, PROLIFIC, TOPICS, PlantedCorpus, planted_corpus
from benchmarks.evidence_page import COLUMNS, Share, describe
from benchmarks.evidence_runs import INTERVALS, OF_TOPICS, OF_WORDS, WAYS
from benchmarks.options import Options
from benchmarks.report import read_rows
from spdp_engine.measures.hellinger import hellinger_between_groups, mean_gap

Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def corpora() -> dict[str, PlantedCorpus]:
    return {name: planted_corpus(kind, 3) for name, kind in KINDS.items()}


def test_corpora_are_drawn_from_their_truth(corpora: dict[str, PlantedCorpus]) -> None:
    """Shares and main words of each group, within six standard errors or so."""
    for name, planted in corpora.items():
        corpus, groups = planted.corpus, planted.corpus.n_groups
        assert np.allclose(planted.wordings.sum(axis=1), 1) and np.allclose(planted.shares.sum(axis=1), 1)
        token_group = corpus.document_group[corpus.token_document]
        for group in range(groups):
            own = token_group == group
            shares = np.bincount(planted.topics[own], minlength=TOPICS) / own.sum()
            assert np.abs(shares - planted.shares[group]).max() < 0.2, name
            largest = int(shares.argmax())
            said = corpus.token_word[own & (planted.topics == largest)]
            words = np.bincount(said, minlength=corpus.n_words) / len(said)
            assert np.abs(words - planted.wordings[group, :, largest]).sum() < 0.8


def test_groups_differ_as_they_are_said_to(corpora: dict[str, PlantedCorpus]) -> None:
    alike, planted, model = (corpora[name] for name in ("alike", "planted", "model"))
    assert not alike.gaps.any() and np.allclose(alike.shares[0], alike.shares[1])
    assert planted.gaps[0] < 1e-7 and planted.gaps[-1] > 0.25 and (np.diff(planted.gaps[[0, 2, 4, 7]]) > 0).all()
    assert not np.allclose(planted.shares[0], planted.shares[1], atol=0.05)
    assert (model.gaps > 0.1).all()
    assert np.allclose(planted.gaps, mean_gap(hellinger_between_groups(planted.wordings)), atol=1e-7)
    lengths = np.bincount(corpora["bursty"].corpus.token_document)
    assert lengths[-1] == PROLIFIC == lengths.max() and np.bincount(planted.corpus.token_document).max() < PROLIFIC


def test_true_log_odds_weigh_the_others_by_their_tokens(corpora: dict[str, PlantedCorpus]) -> None:
    three = planted_corpus(KINDS["model"], 4)
    assert three.corpus.n_groups == 3
    tokens = np.array([100.0, 300.0, 100.0])
    (own,), others = three.wordings[:1, 5, 2], three.wordings[1:, 5, 2] @ [0.75, 0.25]
    expected = np.log(own / (1 - own)) - np.log(others / (1 - others))
    assert three.log_odds(2, np.array([5]), tokens)[0, 0] == pytest.approx(expected)


def test_the_same_seed_draws_the_same_corpus() -> None:
    one, other, third = (planted_corpus(KINDS["bursty"], seed) for seed in (1, 1, 2))
    assert np.array_equal(one.corpus.token_word, other.corpus.token_word) and np.array_equal(one.shares, other.shares)
    assert not np.array_equal(one.wordings, third.wordings)


# --- the page


def row(kind: str = "bursty", way: str = "as it is", seed: int = 1, **figures: float) -> dict[str, str]:
    """A run that is right about everything, but for what is given."""
    sums: dict[str, float] = {f"{name}, {what}": 10 for name in INTERVALS for what in ("all", "held")}
    sums |= {f"{name}, held": 9 for name in INTERVALS} | dict.fromkeys(OF_WORDS + OF_TOPICS, 0.0)
    sums |= {"tested": 1000, "shown": 100, "sure": 50, "differing": 7, "real": 4, "same": 1, "topics": 0, "found": 0}
    sums |= {"order": 0.9, "plain order": 0.8} | figures
    return {"kind": kind, "way": way, "seed": str(seed), **{name: str(value) for name, value in sums.items()}}


def everything(**figures: float) -> Rows:
    return [row(kind, seed=seed, **figures) for kind in KINDS for seed in (1, 2)]


def test_a_share_has_the_error_that_corpora_give_it() -> None:
    rows = [{"part": str(part), "whole": "10"} for part in (8, 9, 10, 9)]
    share = Share.of(rows, "part", "whole")
    assert share is not None and share.value == pytest.approx(0.9)
    assert share.error == pytest.approx(np.std([0.8, 0.9, 1.0, 0.9], ddof=1) / 2)
    assert Share.of([{"part": "0", "whole": "0"}], "part", "whole") is None


def test_the_page_says_what_holds() -> None:
    text = "\n".join(describe(everything(), quick=False))
    assert "does not hold" not in text and text.count("holds") == 9
    assert all(column in text for column in COLUMNS.values()) and "2 of each kind" in text
    assert "| bursty" in text and "90.0 ± 0.0 %" in text and "8 of 14" in text


@pytest.mark.parametrize(
    ("figures", "sentence"),
    [
        ({"gap, held": 8}, "`bursty`: **does not hold** of wording gaps."),
        ({"word, held": 10, "share, held": 8}, "`alike`: **does not hold** of shares, log-odds."),
        ({"false sure": 6}, "are at most 5% of those shown as own: **does not hold** (6.0"),
        ({"false sure": 4}, "5% of the words called sure are false: **does not hold** (8.0"),
        ({"order": 0.7}, "agree with the truth by 0.8 or more: **does not hold**"),
        ({"false real": 1}, "gaps that are called real are false: **does not hold** (20.0 %)."),
        ({"false real": 1}, "seen in 2 of 2."),
    ],
)
def test_the_page_says_what_does_not(figures: dict[str, float], sentence: str) -> None:
    assert sentence in "\n".join(describe(everything(**figures), quick=False))


def test_gaps_of_nought_are_not_judged() -> None:
    assert "does not hold" not in "\n".join(describe(everything(**{"no gap, held": 10}), quick=False))


def test_a_shortened_run_judges_nothing() -> None:
    text = "\n".join(describe(everything(**{"gap, held": 0}), quick=True))
    assert "hold**" not in text and text.count("says nothing about the claims") == 3


def test_the_command_runs_and_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evidence, "KINDS", {"bursty": KINDS["bursty"]})
    options = Options(TOPICS, iterations=6, output=tmp_path, quick=True)
    evidence.measure(options)
    text = (tmp_path / "evidence-quick.md").read_text(encoding="utf-8")
    assert text in capsys.readouterr().out and "tokens apart" in text and "says nothing about the claims" in text
    rows = read_rows(tmp_path / "evidence-quick.csv")
    assert [one["way"] for one in rows] == list(WAYS) and all(one["device"] and one["date"] for one in rows)
    assert all(int(one["share, all"]) == 16 and int(one["tested"]) > 500 for one in rows)
    wide, narrow = (int(one["share, held"]) for one in rows[:2])
    assert wide > narrow

    def again(*_: object) -> None:
        raise AssertionError("A run that the file holds was run again.")

    monkeypatch.setattr("benchmarks.evidence_runs.measured", again)
    evidence.measure(options)
