"""Transformation matrices against dense ones made entry by entry."""

from __future__ import annotations

import numpy as np
import pytest

from spdp_engine.errors import SettingsError
from spdp_engine.models.matrices import SMALLEST_WEIGHT, Matrices

GROUPS, WORDS, TOPICS = 3, 7, 37


def random_entries(n=60, seed=0, n_groups=GROUPS, n_words=WORDS):
    """Group, word, base word and weight of entries, many of them twice."""
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, n_groups, n),
        rng.integers(0, n_words, n),
        rng.integers(0, n_words, n),
        rng.gamma(1.0, 3.0, n),
    )


def dense_of(entries, n_groups=GROUPS, n_words=WORDS):
    """The same matrices [GROUPS, WORDS, WORDS], plainly."""
    dense = np.zeros((n_groups, n_words, n_words))
    for i, w, v, weight in zip(*entries, strict=True):
        dense[i, w, v] += weight
    for i in range(n_groups):
        for v in range(n_words):
            if dense[i, :, v].any():
                dense[i, :, v] /= dense[i, :, v].sum()
            else:
                dense[i, v, v] = 1
    return dense


def stacked(matrices):
    return np.stack([matrices.dense(i) for i in range(matrices.n_groups)])


CASES = {
    "many": random_entries(),
    "few, so that much is the identity": random_entries(6, seed=1),
    "none": (np.zeros(0, int), [], [], []),
    "one": ([2], [0], [6], [5.0]),
    "a column that leads everywhere": ([1] * WORDS, range(WORDS), [3] * WORDS, [1.0] * WORDS),
    "a row that everything leads to": ([0] * WORDS, [4] * WORDS, range(WORDS), [2.0] * WORDS),
}


@pytest.mark.parametrize("entries", CASES.values(), ids=CASES)
def test_entries_make_the_dense_matrices(entries):
    matrices = Matrices.from_entries(GROUPS, WORDS, *entries)
    np.testing.assert_allclose(stacked(matrices), dense_of(entries), rtol=1e-14)
    np.testing.assert_allclose(stacked(matrices).sum(axis=1), 1, rtol=1e-14)


@pytest.mark.parametrize("entries", CASES.values(), ids=CASES)
def test_entries_are_in_order_and_none_is_zero(entries):
    matrices = Matrices.from_entries(GROUPS, WORDS, *entries)
    group, word = np.divmod(matrices.row, WORDS)
    key = (group * WORDS + word) * WORDS + matrices.base_word
    assert np.all(np.diff(key) > 0)
    assert np.all(matrices.weight > 0)
    assert len(key) == np.count_nonzero(dense_of(entries))
    for i in range(GROUPS):
        for w in range(WORDS):
            here = slice(matrices.starts[i * WORDS + w], matrices.starts[i * WORDS + w + 1])
            assert matrices.base_word[here].tolist() == np.flatnonzero(dense_of(entries)[i, w]).tolist()
    assert (matrices.starts.dtype, matrices.base_word.dtype, matrices.row.dtype) == (np.int32,) * 3
    assert matrices.weight.dtype == np.float64


@pytest.mark.parametrize("entries", CASES.values(), ids=CASES)
def test_apply_is_the_dense_product(entries):
    base = np.random.default_rng(2).dirichlet(np.ones(WORDS), TOPICS).T
    words = Matrices.from_entries(GROUPS, WORDS, *entries).apply(base)
    assert words.shape == (GROUPS, WORDS, TOPICS)
    assert words.dtype == np.float64
    np.testing.assert_allclose(words, dense_of(entries) @ base, rtol=1e-13)
    np.testing.assert_allclose(words.sum(axis=1), 1, rtol=1e-13)


@pytest.mark.parametrize("entries", CASES.values(), ids=CASES)
@pytest.mark.parametrize("topics", [0, 1, 16, TOPICS])
def test_base_tables_sum_the_entries_of_a_base_word(entries, topics):
    matrices = Matrices.from_entries(GROUPS, WORDS, *entries)
    associated = np.random.default_rng(3).integers(0, 2**31 - 1, (len(matrices.weight), topics)).astype(np.int32)
    q = np.zeros((WORDS, topics), dtype=np.int64)
    np.add.at(q, matrices.base_word, associated)
    assert np.array_equal(matrices.base_tables(associated), q)
    assert matrices.base_tables(associated).dtype == np.int64


def test_only_the_ratios_of_weights_count():
    group, word, base_word, weight = random_entries()
    plain = Matrices.from_entries(GROUPS, WORDS, group, word, base_word, weight)
    scale = np.array([1e300, 1e-300, 1.0])[group]
    scaled = Matrices.from_entries(GROUPS, WORDS, group, word, base_word, weight * scale)
    np.testing.assert_allclose(scaled.weight, plain.weight, rtol=1e-13)


def test_the_order_of_entries_does_not_matter():
    entries = random_entries()
    order = np.random.default_rng(4).permutation(60)
    one, other = (
        Matrices.from_entries(GROUPS, WORDS, *entries),
        Matrices.from_entries(GROUPS, WORDS, *(x[order] for x in entries)),
    )
    np.testing.assert_allclose(other.weight, one.weight, rtol=1e-14)
    assert np.array_equal(other.base_word, one.base_word)


def test_the_largest_weights_do_not_overflow():
    largest = np.finfo(float).max
    matrices = Matrices.from_entries(1, 2, [0, 0, 0], [0, 1, 1], [0, 0, 0], [largest] * 3)
    np.testing.assert_allclose(matrices.dense(0)[:, 0], [1 / 3, 2 / 3])


def test_the_identity_changes_nothing():
    identity = Matrices.identity(GROUPS, WORDS)
    base = np.random.default_rng(5).random((WORDS, TOPICS))
    assert all(np.array_equal(words, base) for words in identity.apply(base))
    assert np.array_equal(stacked(identity), np.broadcast_to(np.eye(WORDS), (GROUPS, WORDS, WORDS)))
    empty = Matrices.from_entries(GROUPS, WORDS, [], [], [], [])
    for name in ("starts", "base_word", "weight", "row"):
        assert np.array_equal(getattr(empty, name), getattr(identity, name))
    tables = np.random.default_rng(6).integers(0, 9, (GROUPS, WORDS, TOPICS))
    assert np.array_equal(identity.base_tables(tables.reshape(GROUPS * WORDS, TOPICS)), tables.sum(axis=0))
    assert not identity.unreachable().any()


def test_rows_without_an_entry_are_unreachable():
    matrices = Matrices.from_entries(2, 3, [1, 1], [0, 1], [1, 2], [1.0, 1.0])
    assert matrices.unreachable().tolist() == [[False] * 3, [False, False, True]]
    assert matrices.apply(np.ones((3, 1)))[1, :, 0].tolist() == [2, 1, 0]


def test_many_entries_as_a_sparse_library_has_them():
    from scipy import sparse

    n_words = 40_000
    rng = np.random.default_rng(7)
    word, base_word = rng.integers(0, n_words, (2, 500_000))
    group, weight = rng.integers(0, 2, 500_000), rng.random(500_000) + 0.1
    matrices = Matrices.from_entries(2, n_words, group, word, base_word, weight)
    base = rng.random((n_words, 3))
    for i in range(2):
        mine = group == i
        p = sparse.csc_matrix((weight[mine], (word[mine], base_word[mine])), (n_words, n_words))
        sums = np.asarray(p.sum(axis=0)).ravel()
        expected = p @ (base / np.where(sums > 0, sums, 1)[:, None]) + base * (sums == 0)[:, None]
        np.testing.assert_allclose(matrices.apply(base)[i], expected, rtol=1e-10)


def test_its_arrays_cannot_be_changed():
    matrices = Matrices.identity(1, 2)
    with pytest.raises(ValueError, match="read-only"):
        matrices.weight[0] = 2


@pytest.mark.parametrize(
    ("sizes", "entries", "sentence"),
    [
        ((0, 2), ([], [], [], []), "at least one group and one word; there are 0 groups and 2 words"),
        ((2, 0), ([], [], [], []), "at least one group and one word"),
        ((60_000, 60_000), ([], [], [], []), "60,000 groups of 60,000 words are too many"),
        ((1, 2), ([1], [0], [0], [1.0]), "Every group of the matrices' entries must be from 0 to 0"),
        ((1, 2), ([0], [2], [0], [1.0]), "Every word of the matrices' entries must be from 0 to 1"),
        ((1, 2), ([0], [0], [-1], [1.0]), "Every base word of the matrices' entries must be from 0 to 1"),
        ((1, 2), ([0], [0.5], [0], [1.0]), "The words of the matrices' entries must be a flat array of whole numbers"),
        ((1, 2), ([[0]], [0], [0], [1.0]), "The groups of the matrices' entries must be a flat array"),
        ((1, 2), ([0, 0], [0], [0], [1.0]), "must be of one length; they have 2, 1, 1 and 1"),
        ((1, 2), ([0], [0], [0], [[1.0]]), "must be of one length"),
        ((1, 2), ([0], [0], [0], [0.0]), "finite and above 0; there is one of 0"),
        ((1, 2), ([0], [0], [0], [-2.0]), "there is one of -2"),
        ((1, 2), ([0], [0], [0], [np.nan]), "there is one of nan"),
        ((1, 2), ([0], [0], [0], [np.inf]), "there is one of inf"),
        ((1, 2), ([0, 0], [0, 1], [0, 0], [1.0, SMALLEST_WEIGHT / 2]), "A weight is less than 1e-12 of the sum"),
        ((1, 2), ([0, 0], [0, 1], [0, 0], [1e300, 1e-300]), "A weight is less than 1e-12 of the sum"),
    ],
)
def test_impossible_entries_are_refused(sizes, entries, sentence):
    with pytest.raises(SettingsError) as error:
        Matrices.from_entries(*sizes, *entries)
    assert sentence in str(error.value)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"starts": np.array([0, 3], np.int32)}, "must be 3 int32 numbers that rise from 0 to 3"),
        ({"starts": np.array([0, 1, 3])}, "must be 3 int32 numbers"),
        ({"starts": np.array([1, 1, 3], np.int32)}, "rise from 0"),
        ({"starts": np.array([0, 1, 2], np.int32)}, "rise from 0 to 3"),
        ({"starts": np.array([0, 4, 3], np.int32)}, "rise from 0 to 3"),
        ({"base_word": np.array([0, 0, 1])}, "base words must be 3 int32 numbers"),
        ({"base_word": np.array([0, 0, 2], np.int32)}, "Every base word of the matrices' entries must be from 0 to 1"),
        ({"base_word": np.array([0, 1, 0], np.int32)}, "must rise, and none may come twice"),
        ({"base_word": np.array([0, 1, 1], np.int32)}, "must rise, and none may come twice"),
        ({"weight": np.array([0.5, 0.5, 1], np.float32)}, "weights must be 3 float64 numbers"),
        ({"weight": np.array([1.0, 0.0, 1.0])}, "there is one of 0"),
        ({"weight": np.array([0.5, 0.25, 1.0])}, "that of base word 0 in group 0 sums to 0.75"),
        ({"n_words": 0}, "at least one group and one word"),
    ],
)
def test_arrays_of_another_form_are_refused(wrong, sentence):
    good = {
        "n_groups": 1,
        "n_words": 2,
        "starts": np.array([0, 1, 3], np.int32),
        "base_word": np.array([0, 0, 1], np.int32),
        "weight": np.array([0.5, 0.5, 1.0]),
    }
    assert Matrices(**good).dense(0).tolist() == [[0.5, 0], [0.5, 1]]
    with pytest.raises(SettingsError) as error:
        Matrices(**{**good, **wrong})
    assert sentence in str(error.value)


def test_arguments_that_do_not_fit_are_refused():
    matrices = Matrices.identity(2, 3)
    with pytest.raises(
        SettingsError, match=r"base wording must have 3 rows and a column for each topic; it is \(2, 4\)"
    ):
        matrices.apply(np.ones((2, 4)))
    with pytest.raises(SettingsError, match=r"must have 6 rows .*; it is \(6,\)"):
        matrices.base_tables(np.ones(6, np.int32))
    with pytest.raises(SettingsError, match="Every group of the matrices' entries must be from 0 to 1"):
        matrices.dense(2)
