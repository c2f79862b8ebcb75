"""The tables of a run. Topics count from 1 and keep their numbers; names are those that a person gave them.

Topics that are read as part of another have no rows: their words and shares are in the other's. Hidden topics have, since shares
are over all topics; the table `overview` tells of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from spdp_engine.results.result import Result, manifest
from spdp_engine.topics.telling import difference_intervals

WORDS_IN_FILE = 50
"""Words of each topic and group in a table."""

MOST_GROUPS_IN_PAIRS = 24
"""With more groups than this there is no table of pairs: it would be long, and all of it follows from the table of shares."""


@dataclass(frozen=True)
class Table:
    """A table of a result.

    Attributes:
        name: of the sheet, and of the CSV file.
        about: what a row is, in a few words.
        make: makes it.
        in_csv: whether it has a CSV file; what has none is in manifest.json.
    """

    name: str
    about: str
    make: Callable[[Result], pd.DataFrame]
    in_csv: bool = True


def overview_table(result: Result) -> pd.DataFrame:
    """One row for each topic: number, name, words, what became of it, mean share, wording gap and what is known of it."""
    topics, known = result.topics(), result.findings
    status = result.status
    numbers = range(topics.n_topics)
    table = pd.DataFrame(
        {
            "topic": [topic + 1 for topic in numbers],
            "name": [result.name(topic) for topic in numbers],
            "words": ["" if topic in result.view.merged else topics.label(topic, 5) for topic in numbers],
            "status": [status(topic) for topic in numbers],
            "share": topics.overall,
            "wording_gap": topics.gap,
        }
    )
    empty = [topic in result.view.merged for topic in numbers]
    table.loc[empty, ["share", "wording_gap"]] = np.nan
    found = [known.topic_found(topic) for topic in numbers]
    return _with(
        table,
        {
            "gap_corrected": [known.gap(topic) for topic in numbers],
            "gap_low": [_part(known.gap_interval(topic), 0) for topic in numbers],
            "gap_high": [_part(known.gap_interval(topic), 1) for topic in numbers],
            "gap_by_chance": [_part(known.gap_by_chance(topic), 0) for topic in numbers],
            "gap_by_chance_high": [_part(known.gap_by_chance(topic), 1) for topic in numbers],
            "gap_is_real": [known.gap_is_real(topic) for topic in numbers],
            "found": [_part(one, 0) for one in found],
            "of": [_part(one, 1) for one in found],
        },
    )


def topics_table(result: Result) -> pd.DataFrame:
    """One row for each of the top words of each topic in each group."""
    topics = result.topics()
    rows: list[tuple[Any, ...]] = []
    for topic in result.kept:
        for group, words in zip(topics.group_names, topics.top_words(topic, WORDS_IN_FILE), strict=True):
            own = (topic + 1, result.name(topic), group)
            rows += [(*own, rank, word.word, word.probability) for rank, word in enumerate(words, 1)]
    return pd.DataFrame(rows, columns=["topic", "name", "group", "rank", "word", "probability"])


def own_words_table(result: Result) -> pd.DataFrame:
    """One row for each word that sets a group apart in a topic, the strongest first, with what is known of it."""
    topics = result.topics()
    number = {word: index for index, word in enumerate(topics.vocabulary)}
    rows: list[tuple[Any, ...]] = []
    findings = []
    for topic in result.kept:
        counts = topics.sample.group_word_tokens(topic)
        for i, words in enumerate(topics.own_words(topic, WORDS_IN_FILE)):
            for rank, word in enumerate(words, 1):
                tokens = round(float(counts[i, number[word.word]]), 1)
                rows.append(
                    (topic + 1, result.name(topic), topics.group_names[i], rank, word.word, word.probability, tokens, word.z)
                )  # fmt: skip
                findings.append(result.findings.word(topic, i, word.word))
    columns = ["topic", "name", "group", "rank", "word", "probability", "tokens", "z"]
    names = {
        "log_odds": "log_odds",
        "log_odds_low": "low",
        "log_odds_high": "high",
        "sure": "sure",
        "found": "found",
        "of": "of",
    }
    return _with(
        pd.DataFrame(rows, columns=columns),
        {column: [None if one is None else getattr(one, name) for one in findings] for column, name in names.items()},
    )


def prevalence_table(result: Result) -> pd.DataFrame:
    """One row for each topic and group: tokens, share within the group, rank within the group, the topic's wording gap.

    Tokens are whole numbers in a single sample, and means with one decimal in an average.
    """
    topics = result.topics()
    tokens = topics.tokens.round(1)
    rows = [
        (
            topic + 1, result.name(topic), group, tokens[i, topic], topics.prevalence[i, topic], int(topics.group_rank[i, topic]),
            topics.gap[topic],
        )
        for topic in result.kept
        for i, group in enumerate(topics.group_names)
    ]  # fmt: skip
    columns = ["topic", "name", "group", "tokens", "share", "rank", "wording_gap"]
    intervals = [result.findings.prevalence_interval(topic) for topic in result.kept]
    ends = {
        name: [
            None if interval is None else float(interval[i, end])
            for interval in intervals
            for i in range(len(topics.group_names))
        ]
        for end, name in enumerate(("share_low", "share_high"))
    }
    return _with(pd.DataFrame(rows, columns=columns), ends)


def differences_table(result: Result) -> pd.DataFrame:
    """One row for each topic and pair of groups: both shares, their difference, and how far apart the wordings are.

    Intervals of differences hold for all pairs of a topic at once.
    """
    topics, names = result.topics(), result.corpus.group_names
    pairs = list(combinations(range(len(names)), 2)) if len(names) <= MOST_GROUPS_IN_PAIRS else []
    shares = topics.prevalence
    rows = [
        (
            topic + 1, result.name(topic), names[i], names[j], shares[i, topic], shares[j, topic],
            shares[i, topic] - shares[j, topic], topics.distances[topic, i, j],
        )
        for topic in result.kept
        for i, j in pairs
    ]  # fmt: skip
    columns = ["topic", "name", "group", "other_group", "share", "other_share", "difference", "wording_distance"]
    known = [difference_intervals(result.findings, topic) for topic in result.kept]
    intervals = [None if one is None else (float(one[i, j, 0]), float(one[i, j, 1])) for one in known for i, j in pairs]
    ends = {
        name: [_part(one, end) for one in intervals] for end, name in enumerate(("difference_low", "difference_high"))
    }
    return _with(pd.DataFrame(rows, columns=columns), ends)


def documents_table(result: Result) -> pd.DataFrame:
    """One row for each document (or passage of one): number, group, title, date, and the topics' shares, which sum to 1.

    Where a column says which rows are passages of one document, its values are there as document_id. Topics are columns: topic_1,
    topic_2 and so on, with the name behind it where a person gave one ("topic_3 Housing").
    """
    corpus = result.corpus
    passage = pd.Series(corpus.origin).groupby(corpus.origin).cumcount() + 1
    table = pd.DataFrame(
        {
            "document": corpus.origin + 1,
            "passage": passage,
            "group": corpus.documents.groups,
            "title": corpus.documents.titles,
            "date": corpus.documents.dates,
        }
    )
    by = corpus.documents.columns.document
    if by is not None:
        table.insert(1, "document_id", corpus.documents.cells(by))
    kept = list(result.kept)
    shares = result.topics().sample.document_shares()[:, kept]
    names = [" ".join(filter(None, (f"topic_{topic + 1}", result.view.names.get(topic)))) for topic in kept]
    return pd.concat([table, pd.DataFrame(shares, columns=names)], axis=1)


def quality_table(result: Result) -> pd.DataFrame:
    """Coherence in one row for each topic's words that all groups share, with no group, and one for each group's own.

    npmi and pmi: mean over pairs of the most probable words; empty for a topic of fewer than two. With a reference there are
    reference_npmi and reference_pmi, too.
    """
    measured = {"": result.quality, "reference_": result.reference_quality}
    names, kept = ("", *result.corpus.group_names), list(result.kept)
    table = pd.DataFrame(
        [(topic + 1, result.name(topic), name) for topic in kept for name in names], columns=["topic", "name", "group"]
    )
    for prefix, quality in measured.items():
        if quality:
            table[f"{prefix}npmi"] = np.vstack([quality.npmi, quality.group_npmi]).T[kept].ravel()
            table[f"{prefix}pmi"] = np.vstack([quality.pmi, quality.group_pmi]).T[kept].ravel()
    return table


def settings_table(result: Result) -> pd.DataFrame:
    """Two columns: each setting and figure of the run by its place in manifest.json, and its value."""
    told = manifest(result)
    run = {name: value for name, value in told["run"].items() if name not in ("perplexity_trace", "quality")}
    parts = {"run": run, **{name: told[name] for name in ("settings", "words", "columns", "view", "versions")}}
    return pd.DataFrame([("parallax", told["parallax"]), *_leaves(parts)], columns=["setting", "value"])


def read_table(result: Result) -> pd.DataFrame:
    """What was read, left out and made, one row to a sentence, and one to each file with its SHA-256."""
    told = manifest(result)
    notes = [(note["kind"], note["text"], note["count"] or None) for note in told["notes"]]
    inputs = [
        ("input", f"{source['name']}, {source['bytes']:,} bytes, SHA-256 {source['sha256']}", source["documents"])
        for source in told["inputs"]
    ]
    return _with(pd.DataFrame([one[:2] for one in notes + inputs], columns=["kind", "text"]),
                 {"count": [one[2] for one in notes + inputs]})  # fmt: skip


TABLES = (
    Table("overview", "a topic, with its words, what became of it, its mean share and its wording gap", overview_table),
    Table("topics", "one of the most probable words of a topic in a group", topics_table),
    Table("own_words", "a word that sets a group apart in a topic", own_words_table),
    Table("prevalence", "a topic and a group, with how much the group talks about it", prevalence_table),
    Table(
        "differences",
        "a topic and two groups, with their shares and how far apart they word it (there is none where there are more than "
        f"{MOST_GROUPS_IN_PAIRS} groups)",
        differences_table,
    ),
    Table("documents", "a document, or a passage of one, with each topic's share of its words", documents_table),
    Table(
        "quality", "a topic's words, those that all groups share or a group's, and how coherent they are", quality_table
    ),
    Table("settings", "a setting or a figure of the run", settings_table, in_csv=False),
    Table("read", "something that was read, left out or made, or a file", read_table, in_csv=False),
)
"""All of them, in the order in which a person would look at them."""

COLUMNS = {
    "topic": "The topic's number, which it keeps for the life of a run.",
    "name": "What it is called: the name that a person gave it, or its number.",
    "words": "Words that all groups use much in it.",
    "status": "Whether it is pinned, hidden, or read as part of another topic; hidden topics count in all shares.",
    "group": "The group of documents; in quality, none for the words that all groups share.",
    "other_group": "The group that it is compared with.",
    "rank": "Its place, 1 for the first: of a word by probability (own words: by z), of a topic by its share in the group.",
    "word": "As it stands in the vocabulary.",
    "probability": "Of the word among the group's words on the topic.",
    "tokens": "Words of the group in the topic (of a word: its uses there), a mean where samples were averaged.",
    "z": "How clearly the group uses the word more than the others: log-odds in standard deviations; above 1.96 it is its own.",
    "log_odds": "Natural logarithm of the odds ratio of the word, the group against the others.",
    "log_odds_low": "Lower end of the interval of the log-odds.",
    "log_odds_high": "Upper end of it.",
    "sure": "Whether it is more than chance.",
    "found": "Runs with other seeds that found the same, this one included.",
    "of": "Runs in all.",
    "share": "The part of the group's words that is on the topic; in overview the mean over groups.",
    "share_low": "Lower end of the interval of the share.",
    "share_high": "Upper end of it.",
    "other_share": "The other group's share.",
    "difference": "The share less the other's.",
    "difference_low": "Lower end of the interval of the difference; intervals of a topic hold for all its pairs at once.",
    "difference_high": "Upper end of it.",
    "wording_gap": "Hellinger distance between the groups' wordings, mean over pairs: 0 alike, 1 no word in common.",
    "wording_distance": "Hellinger distance between the two groups' wordings.",
    "gap_corrected": "The wording gap without what chance adds to it: where there are few words, wordings look further apart.",
    "gap_low": "Lower end of the interval of the gap so corrected.",
    "gap_high": "Upper end of it.",
    "gap_by_chance": "The same of groups that were dealt out to the documents at random, on average.",
    "gap_by_chance_high": "Above this a gap is called real; of those so called chance would give one in 20 at most.",
    "gap_is_real": "Whether the wording gap is larger than chance makes it, and its interval leaves out none.",
    "document": "The number of the document, as they were read.",
    "passage": "Which passage of it, where long documents were cut.",
    "title": "As in the documents.",
    "date": "As in the documents.",
    "npmi": "Coherence: mean normalised pointwise mutual information of pairs of main words, -1 to 1.",
    "pmi": "The same, not normalised.",
    "reference_npmi": "Coherence in the reference text.",
    "reference_pmi": "The same, not normalised.",
    "setting": "Its place in manifest.json.",
    "value": "What it was.",
    "kind": "What kind of thing is told.",
    "text": "The sentence.",
    "count": "How many things it is about.",
}
"""What each column holds. The columns topic_1, topic_2 and so on of documents hold the shares of topics in the document."""


def _with(table: pd.DataFrame, columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """The table with those columns for which at least one value is known; whole numbers and truths stay what they are."""
    for name, values in columns.items():
        if known := [value for value in values if value is not None]:
            kinds = (("boolean", bool | np.bool_), ("Int64", int | np.integer), ("Float64", object))
            kind = next(dtype for dtype, types in kinds if isinstance(known[0], types))
            table[name] = pd.array(values, dtype=kind)
    return table


def _part(pair: tuple[Any, Any] | None, which: int) -> Any:
    return None if pair is None else pair[which]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The plain values in nested dictionaries with their places, lists in one piece."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        yield path, ", ".join(map(str, value))
    else:
        yield path, value
