"""Cross-tabulation: sums that must agree, and which columns are offered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planted import belonging_of, corpus_of

from spdp_engine.topics.belonging import Belonging
from spdp_engine.topics.crosstab import NO_VALUE, CrossTable, cross_table, fields_with_few_values, values_of

KINDS = ["news", "opinion", None, "news", " news ", "opinion", "news", "  "]
GROUPS = ["left", "right"] * 4
SHARES = np.linspace(0.1, 0.8, 8)
LENGTHS = [2, 4, 6, 8, 10, 12, 14, 16]


def crossed(belonging: Belonging, field: str) -> CrossTable:
    return cross_table(belonging, 0, field, values_of(belonging.corpus.documents.fields[field]))


def table_of(origin: np.ndarray | None = None):
    corpus = corpus_of(["ship school " * (n // 2) for n in LENGTHS], GROUPS, fields={"kind": KINDS})
    if origin is not None:
        corpus = replace(corpus, origin=origin.astype(np.int32))
    return crossed(belonging_of(corpus, {}, np.column_stack([SHARES, 1 - SHARES]).tolist()), "kind")


def test_every_cell_is_the_share_of_its_documents_words() -> None:
    table = table_of()
    assert table.values == ("news", "opinion", NO_VALUE)
    values = ["" if kind is None else kind.strip() for kind in KINDS]
    for r, value in enumerate(table.values):
        for c, group in enumerate([None, "left", "right"]):
            cell = [d for d in range(8) if values[d] == value and group in (None, GROUPS[d])]
            assert table.documents[r, c] == len(cell)
            assert table.tokens[r, c] == sum(LENGTHS[d] for d in cell)
            if cell:
                expected = sum(SHARES[d] * LENGTHS[d] for d in cell) / sum(LENGTHS[d] for d in cell)
                assert table.share[r, c] == pytest.approx(expected)
            else:
                assert np.isnan(table.share[r, c])


def test_the_cells_add_up() -> None:
    table = table_of()
    assert (table.documents[:, 0] == table.documents[:, 1:].sum(axis=1)).all() and table.documents[:, 0].sum() == 8
    assert (table.tokens[:, 0] == table.tokens[:, 1:].sum(axis=1)).all() and table.tokens[:, 0].sum() == sum(LENGTHS)
    on_topic = np.nan_to_num(table.share) * table.tokens
    assert on_topic[:, 0] == pytest.approx(on_topic[:, 1:].sum(axis=1))
    assert on_topic[:, 0].sum() == pytest.approx((SHARES * LENGTHS).sum())


def test_passages_are_counted_once_and_their_words_all() -> None:
    table = table_of(np.array([0, 1, 2, 3, 4, 5, 4, 7]).cumsum() * 0 + np.array([0, 1, 2, 3, 3, 5, 6, 7]))
    assert table.documents[:, 0].sum() == 7 and table.tokens[:, 0].sum() == sum(LENGTHS)


def test_a_document_counts_for_each_value_that_its_passages_have() -> None:
    """Rows of one document need not be of one kind: documents 0 and 1 have both."""
    table = table_of(np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    assert table.documents[:, 0].tolist() == [2, 2, 2] and table.tokens[:, 0].sum() == sum(LENGTHS)


def test_columns_are_looked_at_in_every_passage() -> None:
    rows = 24
    corpus = corpus_of(
        ["ship sea"] * rows,
        fields={
            "kind": ["news", "opinion"] * 12,
            "document": [f"d{n // 6}" for n in range(rows)],
            "colour of a document": ["red", "red", "blue", "blue"] * 6,
        },
    )
    joined = replace(corpus, origin=(np.arange(rows) // 6).astype(np.int32))
    assert fields_with_few_values(joined) == ("kind", "colour of a document")
    assert fields_with_few_values(corpus) == ("kind", "document", "colour of a document")


def test_values_stand_in_the_order_that_people_expect() -> None:
    corpus = corpus_of(["ship sea"] * 6, fields={"week": ["Week 10", "Week 2", "week 1", None, "Week 2", "Week 10"]})
    assert crossed(belonging_of(corpus, {}, [[1.0]] * 6), "week").values == (
        "week 1",
        "Week 2",
        "Week 10",
        NO_VALUE,
    )


def test_columns_with_few_values_are_offered() -> None:
    rows = 80
    corpus = corpus_of(
        ["ship sea"] * rows,
        fields={
            "kind": ["news", "opinion"] * 40,
            "id": [str(number) for number in range(rows)],
            "same": ["x"] * rows,
            "empty": [None] * rows,
            "one and empty": ["x", None] * 40,
            "many": [str(number % 40) for number in range(rows)],
            "stars": [str(number % 5) for number in range(rows)],
            "few filled, each another": ["a", "b", "c", *[None] * (rows - 3)],
        },
    )
    assert fields_with_few_values(corpus) == ("kind", "stars")
    assert fields_with_few_values(corpus_of(["ship sea"] * 2)) == ()
