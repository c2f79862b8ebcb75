"""The enumerated posteriors against drawing tokens one by one, and the samplers' conditionals against the posteriors.

No device and no chance is involved, but in the last section, which tests the tests of uniformity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pytest

from spdp_engine.models.lda import LdaCounts, LdaPriors, LdaSample
from spdp_engine.models.readings import count_tokens
from spdp_engine.models.spdp import Counts, SpdpPriors, topic_weights

from .exact import (
    ASSOCIATED_CASES,
    CROWDED,
    LDA_CASES,
    LEVEL,
    MIXED,
    MIXING,
    SPDP_CASES,
    Case,
    Float,
    Integer,
    Posterior,
    State,
    block_counts,
    block_distribution,
    blocks,
    chi_square,
    lda_posterior,
    log_beta,
    log_stirling,
    marginal,
    rank_uniformity,
    spdp_posterior,
    total_variation,
)
from .exact_repeats import LDA_REPEATS, SPDP_REPEATS, code, repeats_posterior

ALL_SPDP = SPDP_CASES | ASSOCIATED_CASES


@cache
def spdp(name: str) -> Posterior:
    return spdp_posterior(ALL_SPDP[name])


@cache
def lda(name: str) -> Posterior:
    return lda_posterior(LDA_CASES[name])


def agree(one: Posterior, other: Posterior) -> None:
    assert one.keys() == other.keys()
    assert [other[state] for state in one] == pytest.approx(list(one.values()), rel=1e-9)


# ---- the joint distribution, by drawing tokens one by one -----------------------------------------------------------

Table = tuple[int, int, int, int, int]
"""Topic, group, word, base word, customers."""


def next_spdp(
    case: Case[SpdpPriors], group: int, word: int, tables: list[Table]
) -> Iterator[tuple[float, int, list[Table]]]:
    """Every way in which the next token, of a known topic, is of its word: probability, topic, and the tables then.

    A topic's and group's tables are a restaurant's: the token joins one of s customers with probability (s - a)/(b + M), or opens
    one with (b + a T)/(b + M), whose base word is drawn in proportion to gamma + q, and then its word from the matrix.
    """
    a, b, gamma = case.priors.discount, case.priors.concentration, case.priors.gamma
    words = case.corpus.n_words
    dense = np.eye(words) if case.matrices is None else case.matrices[group]
    for k in range(case.topics):
        here = [table for table in tables if table[:2] == (k, group)]
        customers = b + sum(table[4] for table in here)
        for at, table in enumerate(tables):
            if table[:3] == (k, group, word):
                joined = [*tables[:at], (*table[:4], table[4] + 1), *tables[at + 1 :]]
                yield (table[4] - a) / customers, k, joined
        of_base = [sum(table[0] == k and table[3] == v for table in tables) for v in range(words)]
        for v in range(words):
            if dense[word, v]:
                base = (gamma + of_base[v]) / (gamma * words + sum(of_base))
                opened = (b + a * len(here)) / customers * base * dense[word, v]
                yield opened, k, [*tables, (k, group, word, v, 1)]


def tables_of(case: Case[SpdpPriors], seated: tuple[Table, ...]) -> tuple[Integer, Integer]:
    """How many there are of each cell [I, V, K], and of each entry of the matrices' pattern [E, K]."""
    corpus, (entry_group, entry_word, entry_base, _) = case.corpus, case.entries
    entry = {key: e for e, key in enumerate(zip(entry_group, entry_word, entry_base, strict=True))}
    t = np.zeros((corpus.n_groups, corpus.n_words, case.topics), int)
    c = np.zeros((len(entry), case.topics), int)
    for k, i, w, v, _ in seated:
        t[i, w, k] += 1
        c[entry[i, w, v], k] += 1
    return t, c


def spdp_drawn(case: Case[SpdpPriors]) -> Posterior:
    """The posterior again: each token draws its topic, its table and its word from what those before it have."""
    drawn: dict[tuple[State, tuple[Table, ...]], float] = {((), ()): 1.0}
    for at, (group, document, word) in enumerate(case.tokens):
        before = [earlier for earlier in range(at) if case.tokens[earlier][1] == document]
        after: dict[tuple[State, tuple[Table, ...]], float] = defaultdict(float)
        for (z, seated), p in drawn.items():
            for seat, k, tables in next_spdp(case, group, word, list(seated)):
                topic = case.priors.alpha + sum(z[earlier] == k for earlier in before)
                topic /= case.priors.alpha * case.topics + len(before)
                after[(*z, k), tuple(sorted(tables))] += p * topic * seat
        drawn = after
    posterior: Posterior = defaultdict(float)
    for (z, seated), p in drawn.items():
        posterior[case.pack(np.array(z), *tables_of(case, seated))] += p
    evidence = sum(posterior.values())
    return {state: posterior[state] / evidence for state in posterior}


def lda_drawn(case: Case[LdaPriors]) -> Posterior:
    """The posterior again: each token draws its topic and its word from what those before it have."""
    alpha, beta, words = case.priors.alpha, case.priors.beta, case.corpus.n_words
    posterior = {}
    for z in product(range(case.topics), repeat=len(case.tokens)):
        p = 1.0
        for at, (_, document, word) in enumerate(case.tokens):
            before = list(zip(z, case.tokens[:at], strict=False))
            of_document = [k for k, token in before if token[1] == document]
            of_topic = [token[2] for k, token in before if k == z[at]]
            p *= (alpha + of_document.count(z[at])) / (alpha * case.topics + len(of_document))
            p *= (beta + of_topic.count(word)) / (beta * words + len(of_topic))
        posterior[z] = p
    evidence = sum(posterior.values())
    return {state: p / evidence for state, p in posterior.items()}


@pytest.mark.parametrize("name", ALL_SPDP)
def test_spdp_is_what_comes_of_drawing_tokens_one_by_one(name: str) -> None:
    agree(spdp(name), spdp_drawn(ALL_SPDP[name]))


@pytest.mark.parametrize("name", LDA_CASES)
def test_lda_is_what_comes_of_drawing_tokens_one_by_one(name: str) -> None:
    agree(lda(name), lda_drawn(LDA_CASES[name]))


Seat = tuple[int, int, int, int]
"""A document's table: document, word, topic, tokens."""


def next_model(
    case: Case[Any], group: int, word: int, own: list[Seat], tables: list[Table]
) -> Iterator[tuple[float, int, list[Table]]]:
    """Every way in which the model's next token, of a known topic, is of its word: as `next_spdp`; LDA has no tables of its own."""
    if isinstance(case.priors, SpdpPriors):
        yield from next_spdp(case, group, word, tables)
        return
    for k in range(case.topics):
        of_topic = [seat[1] for seat in own if seat[2] == k]
        p = (case.priors.beta + of_topic.count(word)) / (case.priors.beta * case.corpus.n_words + len(of_topic))
        yield p, k, tables


def repeats_drawn(case: Case[Any]) -> Posterior:
    """The posterior with repeats again: each token joins a table of its document, or opens one, which is a token of the model."""
    a, b, alpha = case.priors.repeat_discount, case.priors.repeat_concentration, case.priors.alpha
    drawn: dict[tuple[tuple[Seat, ...], tuple[Table, ...]], float] = {((), ()): 1.0}
    for group, document, word in case.tokens:
        after: dict[tuple[tuple[Seat, ...], tuple[Table, ...]], float] = defaultdict(float)
        for (seats, tables), p in drawn.items():
            of_document = [seat for seat in seats if seat[0] == document]
            tokens, own = sum(seat[3] for seat in of_document), list(seats)
            for at, seat in enumerate(own):
                if seat[:2] == (document, word):
                    joined = [*own[:at], (*seat[:3], seat[3] + 1), *own[at + 1 :]]
                    after[tuple(sorted(joined)), tables] += p * (seat[3] - a) / (b + tokens)
            opened = p * (b + a * len(of_document)) / (b + tokens)
            for word_p, k, then in next_model(case, group, word, own, list(tables)):
                topic = alpha + sum(seat[2] == k for seat in of_document)
                topic /= alpha * case.topics + len(of_document)
                key = tuple(sorted([*own, (document, word, k, 1)])), tuple(sorted(then))
                after[key] += opened * topic * word_p
        drawn = after
    runs = {token[1:]: case.tokens.count(token) for token in case.tokens}
    posterior: Posterior = defaultdict(float)
    for (seats, tables), p in drawn.items():
        state: State = ()
        for run in sorted(runs):
            state += code(case.topics, ((seat[3], seat[2]) for seat in seats if seat[:2] == run), runs[run])
        if isinstance(case.priors, SpdpPriors):
            state += case.pack(np.zeros(0, int), *tables_of(case, tables))
        posterior[state] += p
    evidence = sum(posterior.values())
    return {state: p / evidence for state, p in posterior.items()}


@pytest.mark.parametrize("cases", [SPDP_REPEATS, LDA_REPEATS], ids=["spdp", "lda"])
def test_repeats_are_what_comes_of_drawing_tokens_one_by_one(cases: dict[str, Case[Any]]) -> None:
    for case in cases.values():
        agree(repeats_posterior(case), repeats_drawn(case))


def test_topics_are_as_probable_as_once_computed_by_other_code() -> None:
    """Numbers of an enumeration of topics alone, written before and apart from this one."""
    topics = marginal(spdp("dense beside the identity"), lambda state: state[: len(MIXED)])
    once = {
        (0, 0, 0, 0, 0, 0): 0.0236745682736433,
        (0, 0, 0, 0, 0, 1): 0.022629011028764853,
        (0, 0, 0, 1, 0, 1): 0.007696041763795808,
        (0, 0, 1, 1, 0, 1): 0.00669906481419855,
        (0, 1, 0, 1, 0, 1): 0.00570657476481934,
        (0, 1, 1, 1, 1, 1): 0.00761147367125902,
    }
    assert {z: topics[z] for z in once} == pytest.approx(once, rel=1e-12)


@pytest.mark.parametrize("name", SPDP_CASES)
def test_identity_matrices_leave_one_base_word_to_a_table(name: str) -> None:
    """Summed over base words, their posterior is that without matrices, and every table's base word is its word."""
    case = SPDP_CASES[name]
    identity = Case(case.tokens, case.topics, case.priors, [np.eye(case.corpus.n_words)] * case.corpus.n_groups)
    posterior = spdp_posterior(identity)
    for state in posterior:
        _, tables, associated = identity.unpack(state)
        assert np.array_equal(associated, tables.reshape(-1, case.topics))
    length = len(next(iter(spdp(name))))
    agree(spdp(name), marginal(posterior, lambda state: state[:length]))


def test_base_words_drop_out_where_matrices_forget_them() -> None:
    """With equal columns x a table is of word w with probability x[w], whatever other tables are of.

    So summed over base words the posterior is that of the identity with prod_w x[w]^t in place of B(gamma + q)/B(gamma).
    """
    share, plain = np.array([0.3, 0.7]), Case(CROWDED[:6], 2, SpdpPriors(0.5, 0.4, 0.6, 1.5))
    case = Case(plain.tokens, plain.topics, plain.priors, [np.stack([share, share], axis=1)] * 2)
    expected = {}
    for state, p in spdp_posterior(plain).items():
        _, tables, _ = plain.unpack(state)
        q = tables.sum(axis=0)
        of_base = sum(log_beta(plain.priors.gamma + q[:, k]) - log_beta(np.full(2, 0.4)) for k in range(2))
        expected[state] = p * float(np.prod(share ** q.sum(axis=1))) / exp(of_base)
    evidence = sum(expected.values())
    length = len(next(iter(expected)))
    found = marginal(spdp_posterior(case), lambda state: state[:length])
    agree(found, {state: p / evidence for state, p in expected.items()})


# ---- SPDP's conditionals --------------------------------------------------------------------------------------------

Move = tuple[int, int]
"""The topic a token takes, and where it sits: -1 at an old table, else at a new one, of the entry's base word."""


def conditional(
    case: Case[SpdpPriors], token: int, topics: Integer, tables: Integer, associated: Integer
) -> dict[Move, float]:
    """The weight of every move of a token that has been taken out: those of a Chinese restaurant, one topic after another.

    old table        (alpha + n)/(b + M) (m - a t)
    new, base word v (alpha + n)(b + a T)/(b + M) P[w, v] (gamma + q_v)/(gamma V + q)
    """
    a, b, alpha, gamma = (getattr(case.priors, x) for x in ("discount", "concentration", "alpha", "gamma"))
    entry_group, entry_word, entry_base, weight = case.entries
    i, d, w = case.tokens[token]
    words = case.corpus.n_words
    weights = {}
    for k in range(case.topics):
        others = [other for at, other in enumerate(case.tokens) if at != token and topics[at] == k]
        n = sum(other[1] == d for other in others)
        m, total_m = sum(other[::2] == (i, w) for other in others), sum(other[0] == i for other in others)
        t, total_t = int(tables[i, w, k]), int(tables[i, :, k].sum())
        q = np.bincount(entry_base, associated[:, k], words)
        ratio = (alpha + n) / (b + total_m)
        if m:
            weights[k, -1] = ratio * (m - a * t)
        opened = ratio * (b + a * total_t)
        for e in np.nonzero((entry_group == i) & (entry_word == w))[0]:
            v = entry_base[e]
            weights[k, int(e)] = opened * weight[e] * (gamma + q[v]) / (gamma * words + q.sum())
    return weights


@cache
def weights_after(case: Case[SpdpPriors], token: int, left: State) -> dict[Move, float]:
    """`conditional`, of what is left: computed once for all tests."""
    return conditional(case, token, *case.unpack(left))


def lone(case: Case[SpdpPriors], m: int, t: int) -> float:
    """The share of seatings of m customers at t tables in which one of them, whichever, sits alone."""
    if t == 1:
        return float(m == 1)
    a = case.priors.discount
    return exp(log_stirling(a, m - 1, t - 1) - log_stirling(a, m, t))


def removals(
    case: Case[SpdpPriors], token: int, state: State, alone: Callable[[Case[SpdpPriors], int, int], float] = lone
) -> Iterator[tuple[float, State]]:
    """What may come of taking a token out, with its table if it sits alone, and how probable it is.

    What is left has topic -1 for the token.
    """
    z, t, c = case.unpack(state)
    k, (i, _, w) = z[token], case.tokens[token]
    m = sum(other[::2] == (i, w) and topic == k for other, topic in zip(case.tokens, z, strict=True))
    entry_group, entry_word, *_ = case.entries
    tables = t[i, w, k]
    left = np.where(np.arange(len(z)) == token, -1, z)
    share = alone(case, m, tables)
    if share < 1:
        yield 1 - share, case.pack(left, t, c)
    if share == 0:
        return
    for e in np.nonzero((entry_group == i) & (entry_word == w) & (c[:, k] > 0))[0]:
        fewer, fewer_by_entry = t.copy(), c.copy()
        fewer[i, w, k] -= 1
        if case.matrices is not None:
            fewer_by_entry[e, k] -= 1
        yield share * c[e, k] / tables, case.pack(left, fewer, fewer_by_entry)


def after(case: Case[SpdpPriors], token: int, left: State, move: Move) -> State:
    """The state after a move from what was left."""
    z, t, c = (array.copy() for array in case.unpack(left))
    (k, entry), (i, _, w) = move, case.tokens[token]
    z[token] = k
    if entry >= 0:
        t[i, w, k] += 1
        if case.matrices is not None:
            c[entry, k] += 1
    return case.pack(z, t, c)


def situations(case: Case[SpdpPriors], posterior: Posterior, token: int) -> set[State]:
    """All that may be left when the token is taken out."""
    return {left for state in posterior for _, left in removals(case, token, state)}


@pytest.mark.parametrize("name", ALL_SPDP)
def test_ratios_of_spdp_weights_are_ratios_of_joint_probabilities(name: str) -> None:
    """For every token, all that can be left without it, and every pair of moves from there.

    The joint probability of a state and of what is left of it is the state's times that of being left with it.
    """
    case, posterior = ALL_SPDP[name], spdp(name)
    for token in range(len(case.tokens)):
        reached = set()
        for left in situations(case, posterior, token):
            weights = weights_after(case, token, left)
            states = [after(case, token, left, move) for move in weights]
            assert len(set(states)) == len(states)
            expected = np.array(
                [
                    posterior[state] * sum(share for share, other in removals(case, token, state) if other == left)
                    for state in states
                ]
            )
            found = np.array(list(weights.values()))
            # A vector's direction says all ratios of its pairs.
            np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-9)
            reached.update(states)
        assert len(reached) > 1


@pytest.mark.parametrize("name", ALL_SPDP)
def test_topic_weights_are_the_conditional(name: str) -> None:
    """The engine's own."""
    case, corpus = ALL_SPDP[name], ALL_SPDP[name].corpus
    matrices, (entry_group, entry_word, *_) = case.associations, case.entries
    for token, (group, document, word) in enumerate(case.tokens):
        row = [-1, *np.nonzero((entry_group == group) & (entry_word == word))[0].tolist()]
        others = np.delete(np.arange(len(case.tokens)), token)
        for left in situations(case, spdp(name), token):
            z, t, c = case.unpack(left)
            n, m = count_tokens(
                corpus.token_word[others], corpus.token_document[others], corpus.document_group, z[others], t.shape
            )
            counts = Counts(n, m, t.astype(np.int32), c.astype(np.int32))
            found = topic_weights(counts, case.priors, group, word, document, matrices)
            weights = weights_after(case, token, left)
            expected = [[weights.get((k, entry), 0.0) for entry in row] for k in range(case.topics)]
            np.testing.assert_allclose(found, expected, rtol=1e-12)


Removals = Callable[[Case[SpdpPriors], int, State], Iterator[tuple[float, State]]]
Conditional = Callable[[Case[SpdpPriors], int, State], dict[Move, float]]


def moved(
    case: Case[SpdpPriors],
    posterior: Posterior,
    token: int,
    take_out: Removals = removals,
    weigh: Conditional = weights_after,
) -> Posterior:
    """The distribution of the state after one token has been sampled, where it was the posterior before."""
    of_left: dict[State, float] = defaultdict(float)
    found: Posterior = dict.fromkeys(posterior, 0.0)
    for state, p in posterior.items():
        for share, left in take_out(case, token, state):
            of_left[left] += p * share
    for left, p in of_left.items():
        weights = weigh(case, token, left)
        total = sum(weights.values())
        for move, weight in weights.items():
            state = after(case, token, left, move)
            found[state] = found.get(state, 0.0) + p * weight / total
    return found


@pytest.mark.parametrize("name", ALL_SPDP)
def test_sampling_a_token_again_leaves_the_posterior_as_it_is(name: str) -> None:
    case, posterior = ALL_SPDP[name], spdp(name)
    for token in range(len(case.tokens)):
        agree(posterior, moved(case, posterior, token))


def by_openers(case: Case[SpdpPriors], token: int, state: State) -> Iterator[tuple[float, State]]:
    """A token takes its table along as often as it opened one, though others may have sat down there."""
    return removals(case, token, state, lambda _, m, t: t / m if t > 1 or m == 1 else 0.0)


def without_base(case: Case[SpdpPriors], token: int, left: State) -> dict[Move, float]:
    """A new table's base word is not weighed by the tables it has."""
    z, t, c = case.unpack(left)
    return conditional(case, token, z, t, np.zeros_like(c))


def without_discount(case: Case[SpdpPriors], token: int, left: State) -> dict[Move, float]:
    """Old tables are weighed by all their customers."""
    i, _, w = case.tokens[token]
    z, t, _ = case.unpack(left)
    weights = dict(weights_after(case, token, left))
    for k in range(case.topics):
        m = sum(other[::2] == (i, w) and topic == k for other, topic in zip(case.tokens, z, strict=True))
        if m:
            weights[k, -1] *= m / (m - case.priors.discount * int(t[i, w, k]))
    return weights


@pytest.mark.parametrize("name", ["crowded cells", "dense, crowded cells"])
@pytest.mark.parametrize(
    ("take_out", "weigh"),
    [(by_openers, weights_after), (removals, without_base), (removals, without_discount)],
    ids=["by openers", "without base", "without discount"],
)
def test_a_wrong_move_does_not(name: str, take_out: Removals, weigh: Conditional) -> None:
    case, posterior = ALL_SPDP[name], spdp(name)
    found = moved(case, posterior, 0, take_out, weigh)
    assert 0.5 * sum(abs(found[state] - p) for state, p in posterior.items()) > 1e-3


# ---- LDA's conditionals ---------------------------------------------------------------------------------------------


def lda_counts(case: Case[LdaPriors], z: State, without: Integer) -> tuple[Integer, Integer, Integer]:
    """n_dk [D, K], n_kv [V, K] and n_k [K], some tokens left out."""
    corpus, kept = case.corpus, np.setdiff1d(np.arange(len(z)), without)
    n = np.zeros((len(corpus.document_group), case.topics), np.int64)
    of_words = np.zeros((corpus.n_words, case.topics), np.int64)
    topics = np.array(z)[kept]
    np.add.at(n, (corpus.token_document[kept], topics), 1)
    np.add.at(of_words, (corpus.token_word[kept], topics), 1)
    return n, of_words, of_words.sum(axis=0)


def alternatives(case: Case[LdaPriors], block: Integer, posterior: Posterior) -> Iterator[list[State]]:
    """The states that differ in the topics of some tokens alone, for all topics of the others."""
    groups: dict[State, list[State]] = defaultdict(list)
    for state in posterior:
        groups[tuple(np.delete(np.array(state), block).tolist())].append(state)
    return iter(groups.values())


@pytest.mark.parametrize("name", LDA_CASES)
def test_ratios_of_lda_weights_are_ratios_of_joint_probabilities(name: str) -> None:
    """For every token and all topics of the others: (n_dk + alpha)(n_kv + beta)/(n_k + beta V)."""
    case, posterior = LDA_CASES[name], lda(name)
    alpha, beta, words = case.priors.alpha, case.priors.beta, case.corpus.n_words
    for token, (_, document, word) in enumerate(case.tokens):
        for states in alternatives(case, np.array([token]), posterior):
            n, of_words, totals = lda_counts(case, states[0], np.array([token]))
            weights = (alpha + n[document]) * (beta + of_words[word]) / (beta * words + totals)
            expected = np.array([posterior[state] for state in sorted(states, key=lambda state: state[token])])
            np.testing.assert_allclose(weights / weights.sum(), expected / expected.sum(), rtol=1e-9)


@pytest.mark.parametrize("name", LDA_CASES)
def test_the_sample_s_log_posterior_is_that_of_the_joint(name: str) -> None:
    """But for one constant."""
    case, corpus = LDA_CASES[name], LDA_CASES[name].corpus
    shape = (corpus.n_groups, corpus.n_words, case.topics)
    constants = []
    for z, p in lda(name).items():
        counts = count_tokens(corpus.token_word, corpus.token_document, corpus.document_group, np.array(z), shape)
        constants.append(LdaSample(1, case.priors, LdaCounts(*counts)).log_posterior() - log(p))
    np.testing.assert_allclose(constants, constants[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", LDA_CASES)
def test_the_distribution_of_a_block_is_that_of_the_joint(name: str) -> None:
    """For every block and all topics of the others: the joint, summed over the orders of the block's tokens."""
    case, posterior = LDA_CASES[name], lda(name)
    for block in blocks(case):
        _, document, word = case.tokens[block[0]]
        for states in alternatives(case, block, posterior):
            n, of_words, totals = lda_counts(case, states[0], block)
            found = block_distribution(
                case.priors, len(block), n[document], of_words[word], totals, case.corpus.n_words
            )
            joint: Posterior = defaultdict(float)
            for z in states:
                joint[tuple(np.bincount(np.array(z)[block], minlength=case.topics).tolist())] += posterior[z]
            of_others = sum(joint.values())
            agree(found, {j: p / of_others for j, p in joint.items()})


def test_blocks_of_every_size_are_among_the_cases() -> None:
    assert {len(block) for case in LDA_CASES.values() for block in blocks(case)} == {1, 2, 3, 4, 5}


def test_counts_of_blocks_keep_all_that_is_not_the_order_within_them() -> None:
    """Tokens of a block are exchangeable: of the states with the same counts none is more probable than another."""
    for name, case in LDA_CASES.items():
        alike = defaultdict(list)
        for state, p in lda(name).items():
            alike[block_counts(case, state)].append(p)
        assert all(p == pytest.approx(values[0], rel=1e-9) for values in alike.values() for p in values)


# ---- the comparisons themselves -------------------------------------------------------------------------------------


def draws(p: Float, exact: Posterior, rng: np.random.Generator) -> list[State]:
    """Independent states, 20,000 of them, of probabilities p."""
    counts = rng.multinomial(20_000, p)
    return [state for state, count in zip(exact, counts, strict=True) for _ in range(count)]


@pytest.mark.false_alarms(LEVEL)
def test_chi_square_accepts_draws_from_the_posterior() -> None:
    """False alarms: LEVEL, for twenty comparisons together."""
    exact, rng = spdp("two words"), np.random.default_rng(1)
    assert all(chi_square(draws(np.array(list(exact.values())), exact, rng), exact) > LEVEL / 20 for _ in range(20))


def test_chi_square_and_total_variation_reject_other_draws() -> None:
    exact, rng = spdp("two words"), np.random.default_rng(1)
    flatter = np.array(list(exact.values())) ** 0.9
    drawn = draws(flatter / flatter.sum(), exact, rng)
    assert chi_square(drawn, exact) < 1e-6
    assert total_variation(drawn, exact, lambda state: state) > 0.03
    impossible = (9,) * len(drawn[0])
    assert chi_square([*drawn, impossible], exact) == 0.0


@pytest.mark.false_alarms(LEVEL / 10)
@pytest.mark.parametrize(("ranks", "levels"), [(200, 100), (1000, 21), (400, 8), (90, 10)])
def test_p_values_of_uniform_ranks_are_uniform(ranks: int, levels: int) -> None:
    """A thousand of them. False alarms: below LEVEL / 10, ten standard deviations for the mean and six for the share."""
    rng = np.random.default_rng(2)
    values = np.array([rank_uniformity(rng.integers(0, levels, ranks), levels) for _ in range(1000)])
    assert abs(values.mean() - 0.5) < 0.1
    assert (values < 0.01).mean() < 0.03


@pytest.mark.parametrize(
    "share", [np.linspace(1.5, 0.5, 20), 1 + np.square(np.linspace(-1, 1, 20)), 2 - np.square(np.linspace(-1, 1, 20))]
)
def test_rank_uniformity_rejects_other_ranks(share: Float) -> None:
    """Too many at one end (biased), at both ends (too narrow a posterior) and in the middle (too wide)."""
    rng = np.random.default_rng(3)
    ranks = rng.choice(20, 1000, p=share / share.sum())
    assert rank_uniformity(ranks, 20) < LEVEL


def test_rank_uniformity_wants_ranks_that_can_be() -> None:
    with pytest.raises(ValueError, match="between 0 and 9"):
        rank_uniformity([0, 10] * 20, 10)
    with pytest.raises(ValueError, match="twenty ranks"):
        rank_uniformity([0, 1, 2], 10)


@pytest.mark.parametrize(
    ("matrices", "problem"),
    [
        ((MIXING, MIXING.T), "sum to 1"),
        ((MIXING,), r"\[I, V, V\]"),
        ((MIXING, np.array([[0.0, 0.0], [1.0, 1.0]])), "no base word"),
    ],
)
def test_wrong_matrices_make_no_case(matrices: tuple[Float, ...], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Case(MIXED, 2, SpdpPriors(), matrices)


@pytest.mark.parametrize("name", ASSOCIATED_CASES)
def test_states_have_the_order_of_the_engine_s_matrices(name: str) -> None:
    """By row (group, word), then by base word; taken apart and put together a state is the same."""
    case = ASSOCIATED_CASES[name]
    group, word, base_word, weight = case.entries
    sparse = case.associations
    assert sparse is not None and case.matrices is not None
    assert np.array_equal(sparse.row, group * case.corpus.n_words + word)
    assert np.array_equal(sparse.base_word, base_word)
    np.testing.assert_allclose(sparse.weight, weight, rtol=1e-15)
    np.testing.assert_allclose([sparse.dense(i) for i in range(sparse.n_groups)], case.matrices, rtol=1e-15)
    for state in spdp(name):
        assert case.pack(*case.unpack(state)) == state
