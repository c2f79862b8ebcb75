"""Going on with other words: tokens that stay keep their topics, so that topics keep their numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from spdp_engine.continuing import continue_with
from spdp_engine.corpus import Columns, Corpus, CorpusSettings, Documents, InputFile, build_corpus, read_associations
from spdp_engine.corpus.changes import WordChange, change_words
from spdp_engine.errors import InputError, ParallaxError, SettingsError
from spdp_engine.jobs import Job, JobState, Queue
from spdp_engine.results import Associations
from spdp_engine.sampling import SamplerSettings
from spdp_engine.topics import read_topics
from spdp_engine.topics.changes import topic_changes

THINGS = (
    ["harbour", "ship", "ships", "crane", "cargo", "quay", "sailor", "anchor", "deck"],
    ["school", "teacher", "teachers", "lesson", "pupil", "class", "desk", "book", "exam"],
    ["budget", "tax", "taxes", "deficit", "minister", "vote", "bill", "debt", "loan"],
    ["match", "goal", "goals", "team", "coach", "league", "cup", "striker", "keeper"],
)
CHANGES = [WordChange("said"), WordChange("ships", "ship"), WordChange("taxes", "tax")]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    draw = random.Random(3)
    texts = [" ".join(draw.choices([*THINGS[n // 2 % 4], "said"], k=30)) for n in range(160)]
    documents = Documents(
        texts=tuple(texts), groups=("left", "right") * 80, titles=("",) * 160, dates=("",) * 160,
        fields=pd.DataFrame(index=pd.RangeIndex(160)), columns=Columns("text", "group"), sources=(), notes=(),
    )  # fmt: skip
    return build_corpus(documents, CorpusSettings("none", maximum_share=1.0, passages=False))


def finished(corpus: Corpus, settings: SamplerSettings, iterations: int = 60) -> Job:
    job = Job(corpus, settings, iterations, Queue())
    assert job.wait(60).state is JobState.FINISHED
    return job


@pytest.fixture(scope="module")
def job(corpus: Corpus) -> Iterator[Job]:
    job = finished(corpus, SamplerSettings(topics=6, seed=4, workers=1))
    yield job
    job.discard()


def topics_of(job: Job) -> NDArray[np.int32]:
    topics = job.topics()
    assert topics is not None
    return topics


def agreement(one: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Of the tokens that both runs trained on, the share with one topic number in both."""
    both = (one >= 0) & (other >= 0)
    return float((one[both] == other[both]).mean())


def test_topics_keep_their_numbers(job: Job) -> None:
    new, associations = continue_with(job, job.sample(), CHANGES, None, 40, Queue())
    assert new.wait(60).state is JobState.FINISHED and associations is None
    _, kept = change_words(job.corpus, CHANGES)
    before, after = topics_of(job)[kept], topics_of(new)
    assert agreement(before, after) > 0.85
    assert new.settings == replace(job.settings, tempering=False), "whose topics are to be kept"
    assert not {"said", "ships", "taxes"} & set(new.corpus.vocabulary)
    assert new.corpus.settings.joined_words == (("ship", "ships"), ("tax", "taxes"))
    readings = [read_topics(one.sample(), one.corpus.vocabulary, one.corpus.group_names) for one in (job, new)]
    went = {word for change in topic_changes(*readings, range(6)) for word in change.went}
    assert "said" in went
    new.discard()


def test_a_run_from_scratch_on_the_same_words_numbers_them_anew(job: Job) -> None:
    """The companion: were the start forgotten, the test above would not pass."""
    changed, kept = change_words(job.corpus, CHANGES)
    scratch = finished(changed, SamplerSettings(topics=6, seed=4, workers=1), 40)
    assert agreement(topics_of(job)[kept], topics_of(scratch)) < 0.6
    scratch.discard()


def test_it_goes_on_from_a_run_that_was_stopped_and_that_one_can_go_on_itself(corpus: Corpus) -> None:
    job = Job(corpus, SamplerSettings(topics=4, workers=1), 100_000, Queue())
    assert job.wait_for_sample(30)
    job.stop()
    assert job.wait(30).state is JobState.STOPPED
    new, _ = continue_with(job, job.sample(), CHANGES, None, 5, Queue())
    assert new.wait(60).state is JobState.FINISHED
    job.extend(2)
    assert job.wait(60).state is JobState.FINISHED
    for one in (job, new):
        one.discard()


def test_what_cannot_go_on_is_refused_and_nothing_is_started(job: Job, corpus: Corpus) -> None:
    waiting = Job(corpus, SamplerSettings(topics=4), 5, Queue(limit=0))
    with pytest.raises(SettingsError, match="no topics to go on from yet"):
        continue_with(waiting, job.sample(), CHANGES, None, 5, Queue())
    waiting.discard()
    few = [WordChange(word) for word in corpus.vocabulary[5:]]
    with pytest.raises(SettingsError, match="more topics"):
        continue_with(job, job.sample(), few, None, 5, Queue())
    with pytest.raises(InputError, match="1 word would be left"):
        continue_with(job, job.sample(), [WordChange(word) for word in corpus.vocabulary[1:]], None, 5, Queue())


def test_associations_are_matched_with_the_new_words(corpus: Corpus) -> None:
    rows = "group,word,base word,weight\n*,ship,harbour,1\n*,harbour,harbour,3\n*,said,ship,1\n*,ship,ship,1\n*,said,said,1\n"
    used = Associations.of(read_associations(InputFile("links.csv", data=rows.encode())), corpus)
    job = finished(corpus, SamplerSettings(topics=4, associations=used.matrices, workers=1), 5)
    new, associations = continue_with(job, job.sample(), [WordChange("said")], used, 5, Queue())
    assert new.wait(60).state is JobState.FINISHED
    assert associations is not None and associations.rows_used == 3
    assert new.settings.associations is associations.matrices
    with pytest.raises(ParallaxError):
        continue_with(
            job, job.sample(), [WordChange("harbour"), WordChange("said"), WordChange("ship")], used, 5, Queue()
        )
    for one in (job, new):
        one.discard()
