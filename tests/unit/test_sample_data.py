"""The collections are what their README says, and the engine finds in them what it promises.

Where the engine is run the seeds and the number of workers are fixed, so that on one kind of device the result is always the same;
bounds leave room for other devices.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import sample_data
from sample_data import SAMPLES, Sample, sample
from spdp_engine.corpus import Columns, build_corpus, make_documents, read_collection
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.types import Sample as ModelSample

SEEDS = (1, 2, 3)
ITERATIONS = 200
MOST_APART = 25


@dataclass(frozen=True)
class Expected:
    rows: int
    groups: int
    subjects: int
    each: int
    words: tuple[int, int]
    years: tuple[int, int]


EXPECTED = {
    "two_newspapers": Expected(rows=224, groups=2, subjects=16, each=7, words=(80, 160), years=(2031, 2031)),
    "hotel_reviews": Expected(rows=210, groups=3, subjects=10, each=7, words=(40, 100), years=(2030, 2031)),
}
AGREEMENT = {"two_newspapers": 0.7, "hotel_reviews": 0.6}

each_sample = pytest.mark.parametrize("one", SAMPLES, ids=lambda one: one.key)


def rows_of(one: Sample) -> list[dict[str, str]]:
    with one.path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def sentences(text: str) -> list[str]:
    """Sentences of a text, in lower case and without punctuation."""
    parts = re.split(r"(?<=[.!?])[\"”’')]*\s+|\n+", text)
    return [found for part in parts if (found := " ".join(re.findall(r"\w+", part.lower())))]


# The files


def test_keys_and_paths() -> None:
    assert len({one.key for one in SAMPLES}) == len(SAMPLES)
    assert sample("hotel_reviews").path.name == "hotel_reviews.csv"
    with pytest.raises(KeyError):
        sample("no such sample")


@each_sample
def test_sizes(one: Sample) -> None:
    rows, expected = rows_of(one), EXPECTED[one.key]
    assert len(rows) == expected.rows
    cells = Counter((row[one.group], row[one.subject]) for row in rows)
    assert len(cells) == expected.groups * expected.subjects
    assert set(cells.values()) == {expected.each}


@each_sample
def test_lengths_of_texts(one: Sample) -> None:
    shortest, longest = EXPECTED[one.key].words
    for row in rows_of(one):
        assert shortest <= len(row[one.text].split()) <= longest, row[one.title]


@each_sample
def test_no_two_texts_share_a_sentence(one: Sample) -> None:
    owner: dict[str, str] = {}
    for row in rows_of(one):
        for sentence in sentences(row[one.text]):
            assert owner.setdefault(sentence, row[one.title]) == row[one.title], sentence


@each_sample
def test_titles_are_unique(one: Sample) -> None:
    titles = Counter(row[one.title].lower() for row in rows_of(one))
    assert max(titles.values()) == 1, titles.most_common(1)


@each_sample
def test_dates_parse_and_rise(one: Sample) -> None:
    dates = [date.fromisoformat(row[one.date]) for row in rows_of(one)]
    first, last = EXPECTED[one.key].years
    assert dates == sorted(dates)
    assert dates[0].year == first
    assert dates[-1].year == last


@each_sample
def test_every_cell_is_filled_and_clean(one: Sample) -> None:
    for row in rows_of(one):
        for name, value in row.items():
            assert value
            assert value == value.strip()
            assert "\ufffd" not in value and "  " not in value, (name, row[one.title])
        assert re.search(r"[.!?”\"')a-z]$", row[one.text])


def test_stars_are_from_one_to_five() -> None:
    assert {row["stars"] for row in rows_of(sample("hotel_reviews"))} == set("12345")


# What the engine finds


@dataclass(frozen=True, eq=False)
class Found:
    """A sample's corpus, and where the sampler stood with each seed."""

    subjects: NDArray[np.str_]
    groups: tuple[str, ...]
    group_names: tuple[str, ...]
    vocabulary: NDArray[np.str_]
    states: tuple[ModelSample, ...]


@cache
def found(key: str) -> Found:
    one = sample(key)
    documents = make_documents(read_collection([one.path]), Columns(**one.columns))
    corpus = build_corpus(documents)
    assert len(corpus.documents) == len(documents)
    states = []
    for seed in SEEDS:
        settings = plain_settings(one.suggested_topics, seed=seed, workers=2, held_out=0.0, measure_every=0)
        sampler = Sampler(corpus, settings)
        sampler.run(ITERATIONS)
        states.append(sampler.inspect())
    subjects = np.array(corpus.documents.fields[one.subject], dtype=str)
    return Found(subjects, corpus.documents.groups, corpus.group_names, np.array(corpus.vocabulary), tuple(states))


def agreement(one: NDArray[np.generic], other: NDArray[np.generic]) -> float:
    """Normalised mutual information of two labellings: 2 I(X; Y) / (H(X) + H(Y)), from 0 to 1."""
    rows, columns = (np.unique(labels, return_inverse=True)[1] for labels in (one, other))
    joint = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(joint, (rows, columns), 1 / len(rows))

    def entropy(shares: NDArray[np.float64]) -> float:
        shares = shares[shares > 0]
        return float(-(shares * np.log(shares)).sum())

    left, right = entropy(joint.sum(axis=1)), entropy(joint.sum(axis=0))
    return 2 * (left + right - entropy(joint.ravel())) / (left + right)


def strongest(state: ModelSample) -> NDArray[np.int64]:
    return state.document_shares().argmax(axis=1)


@each_sample
def test_topics_follow_the_subjects(one: Sample) -> None:
    here = found(one.key)
    values = [agreement(strongest(state), here.subjects) for state in here.states]
    print(f"{one.key}: agreement of topics and subjects {np.round(values, 3)}")
    assert np.mean(values) > AGREEMENT[one.key]


@each_sample
def test_topics_follow_neither_shuffled_subjects_nor_groups(one: Sample) -> None:
    here = found(one.key)
    shuffled = np.random.default_rng(1).permutation(here.subjects)
    by_chance = [agreement(strongest(state), shuffled) for state in here.states]
    by_group = [agreement(strongest(state), np.array(here.groups)) for state in here.states]
    print(f"{one.key}: shuffled {np.round(by_chance, 3)}, groups {np.round(by_group, 3)}")
    assert np.mean(by_chance) < AGREEMENT[one.key] / 2
    assert np.mean(by_group) < 0.1


README = (Path(sample_data.__file__).parent / "README.md").read_text(encoding="utf-8")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split("|")]


def promises(one: Sample) -> dict[str, list[set[str]]]:
    """The table of the README: of each subject, the words of all groups, then those of each group in `group_names` order."""
    section = README.split(f"## {one.path.name}\n")[1].split("\n## ")[0]
    header, _, *body = [cells(line) for line in section.splitlines() if line.startswith("|")]
    order = [1, *(header.index(name) for name in found(one.key).group_names)]
    return {row[0]: [set(row[place].split(", ")) for place in order] for row in body}


def topic_of(state: ModelSample, members: NDArray[np.bool_]) -> int:
    return int(state.document_shares()[members].sum(axis=0).argmax())


def words_apart(state: ModelSample, topic: int, group: int, vocabulary: NDArray[np.str_]) -> set[str]:
    """The words that a group has in a topic more than the other groups have, each weighed by p log(p / q)."""
    wordings = state.group_wordings()[:, :, topic]
    own, others = wordings[group], np.delete(wordings, group, axis=0).mean(axis=0)
    return set(vocabulary[np.argsort(-own * np.log(own / others))[:MOST_APART]])


def share_kept(one: Sample, shift: int) -> float:
    """The share of lists of which two or more words are found, each list looked for in the group `shift` places on."""
    here, kept = found(one.key), []
    groups = len(here.group_names)
    for subject, (_, *lists) in promises(one).items():
        for state in here.states:
            topic = topic_of(state, here.subjects == subject)
            for group, words in enumerate(lists):
                kept.append(len(words & words_apart(state, topic, (group + shift) % groups, here.vocabulary)) >= 2)
    return float(np.mean(kept))


@each_sample
def test_readme_counts_right(one: Sample) -> None:
    rows = rows_of(one)
    groups = Counter(row[one.group] for row in rows)
    lengths = [len(row[one.text].split()) for row in rows]
    line = next(line for line in README.splitlines() if line.startswith(f"| `{one.path.name}` "))
    assert cells(line)[1:] == [
        str(len(rows)),
        f"{len(groups)} of {max(groups.values())} each",
        f"{min(lengths)} to {max(lengths)}",
        str(one.suggested_topics),
    ]


def test_code_of_the_readme_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        names: dict[str, object] = {}
        exec(block, names)
    assert getattr(names["found"], "shape", None) == getattr(names["truth"], "shape", ())


@each_sample
def test_readme_promises_every_subject(one: Sample) -> None:
    here = found(one.key)
    assert set(promises(one)) == set(here.subjects)
    assert not set().union(*(set().union(*lists) for lists in promises(one).values())) - set(here.vocabulary)


@each_sample
def test_groups_word_the_subjects_as_promised(one: Sample) -> None:
    kept = share_kept(one, shift=0)
    print(f"{one.key}: {kept:.0%} of the lists of words are found")
    assert kept > 0.8


@each_sample
def test_the_words_of_one_group_are_not_found_in_another(one: Sample) -> None:
    kept = share_kept(one, shift=1)
    print(f"{one.key}: {kept:.0%} of the lists of words are found in the wrong group")
    assert kept < 0.2


@each_sample
def test_words_of_all_groups_lead_the_topics(one: Sample) -> None:
    here, kept = found(one.key), []
    for subject, (shared, *_) in promises(one).items():
        for state in here.states:
            wordings = state.group_wordings()[:, :, topic_of(state, here.subjects == subject)]
            leading = here.vocabulary[np.argsort(-wordings.mean(axis=0))[:20]]
            kept.append(len(shared & set(leading)) >= 2)
    assert np.mean(kept) > 0.8
