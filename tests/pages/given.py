"""Evidence that is given, in place of what takes a minute to gather."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from visitor import Visitor

from spdp_engine.evidence import EvidenceStatus, Phase
from spdp_engine.jobs import JobState
from spdp_engine.topics import Topics
from spdp_engine.topics.findings import Findings, SeedEvidence
from tests.unit.engine.hand_made import Known, drawn_shares, measured, sure, unsure


class Given:
    """Stands where `Evidence` stands on a workspace."""

    def __init__(self, findings: Findings, state: JobState, phase: Phase = Phase.SEEDS, error: str = "") -> None:
        self.known, self.state, self.phase, self.error = findings, state, phase, error

    def findings(self) -> Findings:
        return self.known

    def status(self) -> EvidenceStatus:
        return EvidenceStatus(self.state, self.phase, 0.4, 0, 12.0, self.error)

    def give_way(self, seconds: float) -> None:
        pass

    def cancel(self) -> None:
        if self.state is JobState.RUNNING:
            self.state = JobState.STOPPED


@contextmanager
def given(visitor: Visitor, findings: Findings, state: JobState = JobState.FINISHED, **more: Any) -> Iterator[Given]:
    """The workspace with this evidence of its run, and without it afterwards, since tests share runs."""
    workspace = visitor.workspace
    assert workspace.job is not None
    evidence = Given(findings, state, **more)
    workspace.evidence, workspace._evidence_of = evidence, workspace.job.sample()  # type: ignore[assignment]
    try:
        yield evidence
    finally:
        workspace.leave_evidence()


def topics_of(visitor: Visitor) -> Topics:
    reading = visitor.workspace.reading()
    assert reading is not None
    return reading.topics


def all_of(topics: Topics, real: bool = True, deviation: float = 0.003) -> Known:
    """Findings of everything: of each group's own words by counts, those at even places stand and the others may be chance."""
    told = {
        (topic, group, word.word): unsure(1, 5) if place % 2 else sure(5, 5)
        for topic in range(topics.n_topics)
        for group, words in enumerate(topics.own_words(topic, 60, 0.0))
        for place, word in enumerate(words)
    }
    every = range(topics.n_topics)
    words = np.zeros((0, len(topics.group_names)), np.int32)
    return measured(
        topics,
        prevalence_draws=np.maximum(drawn_shares(topics, deviation), 0),
        seeds=SeedEvidence(5, np.full(topics.n_topics, 5, np.int32), words),
        gap_draws=np.full((9, topics.n_topics), 0.31, np.float32),
        gaps=dict.fromkeys(every, (0.28, 0.34)),
        chance=dict.fromkeys(every, (0.05, 0.22 if real else 0.36)),
        real=dict.fromkeys(every, real),
        told=told,
        found=dict.fromkeys(every, (5, 5)),
    )
