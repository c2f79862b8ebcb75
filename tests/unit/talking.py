"""A small run that has something to tell: groups that speak of a harbour, a school and a garden, in partly different words."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from spdp_engine.corpus import Columns, Corpus, CorpusSettings, InputFile, build_corpus, make_documents, read_collection
from spdp_engine.results import Result
from spdp_engine.sampling import Sampler, SamplerSettings
from spdp_engine.topics.findings import Findings, SeedEvidence, WordEvidence

THINGS = (
    ("harbour", "ship", "crane", "cargo", "quay", "sailor", "anchor", "deck"),
    ("school", "teacher", "lesson", "pupil", "class", "desk", "book", "exam"),
    ("garden", "rose", "spade", "hedge", "bee", "apple", "lawn", "seed"),
)
OWN = (("strike", "union", "picket"), ("stoppage", "employer", "roster"), ("weather", "tide", "storm"))
"""What each group says beside these, whatever it speaks of."""

GROUPS = ("The Ledger", "The Lantern")


def talk_corpus(
    groups: Sequence[str] = GROUPS, documents: int = 90, words: int = 60, title: str = "Document"
) -> Corpus:
    """Documents of `words` words; the groups speak of the things by turns."""
    draw = random.Random(11)
    rows = []
    for number in range(documents):
        group = number % len(groups)
        said = THINGS[number // len(groups) % len(THINGS)] + OWN[group % len(OWN)]
        text = f"{' '.join(draw.choices(said, k=words))}."
        rows.append(
            {"group": groups[group], "title": f"{title} {number}", "day": f"2031-02-{number % 28 + 1:02}", "text": text}
        )
    data = "\n".join(json.dumps(row) for row in rows).encode()
    collection = read_collection([InputFile("talk.jsonl", data=data)])
    columns = Columns("text", "group", "title", "day")
    return build_corpus(
        make_documents(collection, columns), CorpusSettings(language="none", passages=False, maximum_share=1.0)
    )


def talk_result(corpus: Corpus | None = None, topics: int = 3, iterations: int = 60, **settings: Any) -> Result:
    """A run on it."""
    corpus = corpus or talk_corpus()
    sampler = Sampler(corpus, SamplerSettings(topics, workers=1, seed=2, held_out=0.2, **settings))
    records = sampler.run(iterations)
    return Result(corpus, sampler.settings, sampler.inspect(), tuple(records), sampler.training_tokens)


def made_up_findings(result: Result) -> Findings:
    """Everything that can be known of a result, made up: shares and gaps that scatter a little around what was read, own words
    that are sure but for the last of each, found in 4 of 5 runs; in the last topic no gap is more than chance."""
    draw = np.random.default_rng(5)
    topics = result.topics()
    shares = topics.prevalence * draw.uniform(0.9, 1.1, (200, *topics.prevalence.shape))
    gaps = topics.gap * draw.uniform(0.95, 1.05, (200, topics.n_topics))
    limit = np.where(np.arange(topics.n_topics) == topics.n_topics - 1, 2.0, 0.3) * topics.gap
    number = {word: place for place, word in enumerate(topics.vocabulary)}
    pairs, sure = [], []
    for topic in range(topics.n_topics):
        own = [[number[word.word] for word in words] for words in topics.own_words(topic, 50)]
        for word in sorted({word for words in own for word in words}):
            pairs.append((topic, word))
            sure.append([word not in words[-1:] for words in own])
    z = np.array([topics.log_odds(topic)[:, word] for topic, word in pairs], np.float32)
    topic, word = np.array(pairs, np.int32).T
    words = WordEvidence(topics.vocabulary, topic, word, z / 2, z / 2 - 0.4, z / 2 + 0.4, np.array(sure))
    seeds = SeedEvidence(5, np.full(topics.n_topics, 5, np.int32), np.full(z.shape, 4, np.int32))
    baseline = limit * draw.uniform(0.0, 0.5, (50, topics.n_topics))
    return Findings(
        prevalence_draws=shares.astype(np.float32),
        gap_draws=gaps.astype(np.float32),
        gap_baseline=baseline.astype(np.float32),
        words=words,
        seeds=seeds,
        gap_limit=limit.astype(np.float32),
    )
