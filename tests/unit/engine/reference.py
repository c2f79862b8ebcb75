"""The samplers once more, one token after another in plain Python: what the kernels must agree with, token for token.

Weights are the conditionals as they stand in the literature; SPDP's are `spdp_engine.models.spdp.topic_weights`. From the
kernels the samplers here have only what decides which of several right ones they are: random numbers, the order of tokens,
the order in which topics, base words and shares of a block are tried, and which sums a worker sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from spdp_engine.models.lda import LdaCounts, LdaPriors
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.spdp import Counts, SpdpPriors, of_first_pass, topic_weights
from spdp_engine.models.stirling import seating
from spdp_engine.sampling.state import Sample
from spdp_engine.types import TokenArrays

from .corpora import Tokens

LANES = 8
LARGEST_FLOAT = float(np.finfo(np.float32).max)
SMALLEST_FLOAT = float(np.finfo(np.float32).tiny)

Float = NDArray[np.float64]


# ---- random numbers -------------------------------------------------------------------------------------------------


def pcg3d(seed: Any, iteration: Any, token: Any) -> NDArray[np.float32]:
    """Three uniform numbers of each key (Jarzynski and Olano, JCGT 9(3), 2020): float32 [keys, 3]."""
    keys = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(part).astype(np.uint32)) for part in (seed, iteration, token))
    )
    x, y, z = np.stack(keys) * np.uint32(1664525) + np.uint32(1013904223)
    x += y * z
    y += z * x
    z += x * y
    x, y, z = (value ^ (value >> np.uint32(16)) for value in (x, y, z))
    x += y * z
    y += z * x
    z += x * y
    return (np.stack([x, y, z], axis=1) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)


def uniforms(seed: int, iteration: int, tokens: int) -> NDArray[np.float32]:
    """The numbers of each token: float32 [tokens, 3]."""
    return pcg3d(seed, iteration, np.arange(tokens))


def further_numbers(seed: int, iteration: int, token: int) -> Callable[[], float]:
    """The numbers that one token has for more than its own step, one at each call."""
    draw = 0

    def following() -> float:
        nonlocal draw
        draw += 1
        return float(pcg3d((seed + 0x9E3779B9 * draw) % 2**32, iteration, token)[0, 0])

    return following


def draw_topic(weights: Float, u: float) -> int:
    """The topic that u falls on when topics are laid end to end: 0, 8, 16, ..., 1, 9, ..., 7, 15, ..."""
    padded = np.zeros(padded_topics(len(weights)))
    padded[: len(weights)] = weights
    order = np.arange(len(padded)).reshape(-1, LANES).T.ravel()
    ends = padded[order].cumsum()
    return int(order[np.searchsorted(ends, u * ends[-1], side="right")])


def padded_topics(topics: int, multiple: int = LANES) -> int:
    """K rounded up to whole vectors."""
    return -(-topics // multiple) * multiple


def first_beyond(weights: NDArray[Any], goal: float) -> int:
    """The first of some weights laid end to end that ends beyond `goal`; the last where none does."""
    return min(int(np.searchsorted(weights.cumsum(), goal, side="right")), len(weights) - 1)


# ---- orders ---------------------------------------------------------------------------------------------------------


def document_rank(documents: int, seed: int) -> NDArray[np.int64]:
    """The places of documents in the first pass, as the schedules shuffle them."""
    return np.random.default_rng([seed, 0x0D0C]).permutation(documents)


def by_document(corpus: TokenArrays, seed: int) -> NDArray[np.int64]:
    """The order of tokens in `sequential`."""
    rank = document_rank(len(corpus.document_group), seed)
    return np.argsort(rank[corpus.token_document], kind="stable")


def linked_words(matrices: Matrices) -> NDArray[np.int64]:
    """The smallest word that each word is linked with by base words, directly or over others: int64 [V]."""
    linked = np.eye(matrices.n_words, dtype=bool)
    for group in range(matrices.n_groups):
        linked |= matrices.dense(group) > 0
    linked |= linked.T
    for _ in range(matrices.n_words.bit_length()):
        linked = linked @ linked
    return linked.argmax(axis=1)


# ---- samplers -------------------------------------------------------------------------------------------------------


class Reference:
    """A state on the host, and how it is passed over.

    Attributes:
        counts: the model's, as they are.
        topics: int [N], the topic of each token, -1 before it has one.
        power: to which weights are raised before a topic is drawn; 1 but in a tempered sweep.
    """

    counts: Any
    power = 1.0

    def __init__(self, corpus: Tokens, topics: int, seed: int) -> None:
        self.corpus, self.seed = corpus, seed
        self.shape = (corpus.n_groups, corpus.n_words, topics)
        self.topics = np.full(len(corpus), -1)
        self.first = True  # pass

    def visit(self, counts: Any, token: int, u: NDArray[np.float32]) -> None:
        """Gives a token its first topic, or samples it again; u are the numbers of its place on the device."""
        raise NotImplementedError

    def end_sweep(self) -> None:
        """What the model does after each sweep."""

    def pass_in_order(self, order: NDArray[np.int64], iteration: int) -> None:
        """One iteration of `sequential`."""
        self.first = iteration == 0
        for token, u in zip(order.tolist(), uniforms(self.seed, iteration, len(order)), strict=True):
            self.visit(self.counts, token, u)
        self.end_sweep()

    def pass_in_blocks(
        self, order: NDArray[np.int64], starts: NDArray[np.int32], visits: NDArray[np.int32] | None, iteration: int
    ) -> None:
        """One iteration of `blocks`.

        Each worker of a phase has counts of its own, as they were when the phase began. Since no two share a document
        or a word, what it sees of the others' work late is sums over words and shared base words, and nothing else.
        """
        self.first = iteration == 0
        numbers = uniforms(self.seed, iteration, len(order))
        for bounds in starts:
            before = _copy_of(self.counts)
            for worker in range(len(starts)):
                own = _copy_of(before)
                for place in range(bounds[worker], bounds[worker + 1]):
                    at = int(visits[place]) if visits is not None else place
                    self.visit(own, int(order[at]), numbers[at])
                for merged, after, start in zip(_arrays(self.counts), _arrays(own), _arrays(before), strict=True):
                    merged += after - start
        self.end_sweep()

    def _place(self, token: int) -> tuple[int, int, int]:
        """Group, word and document of a token."""
        word, document = int(self.corpus.token_word[token]), int(self.corpus.token_document[token])
        return int(self.corpus.document_group[document]), word, document


class SpdpReference(Reference):
    """SPDP, with any transformation matrices."""

    counts: Counts

    def __init__(
        self, corpus: Tokens, topics: int, priors: SpdpPriors, seed: int, matrices: Matrices | None = None
    ) -> None:
        super().__init__(corpus, topics, seed)
        self.priors, self.matrices = priors, matrices
        cells = corpus.token_group.astype(np.int64) * corpus.n_words + corpus.token_word
        self.seating = seating(priors.discount, int(np.bincount(cells).max()))
        self.counts = Counts(
            np.zeros((len(corpus.document_group), topics), np.int32),
            np.zeros(self.shape, np.int32),
            np.zeros(self.shape, np.int32),
            None if matrices is None else np.zeros((len(matrices.weight), topics), np.int32),
        )

    def weights(self, counts: Counts, group: int, word: int, document: int) -> Float:
        """float64 [K, 1 + E], as of `topic_weights`."""
        priors = of_first_pass(self.priors) if self.first else self.priors
        return topic_weights(counts, priors, group, word, document, self.matrices)

    def visit(self, counts: Counts, token: int, u: NDArray[np.float32]) -> None:
        """See `Reference.visit`."""
        group, word, document = self._place(token)
        if self.topics[token] >= 0:
            self.take_out(counts, token, u[0])
        weights = self.weights(counts, group, word, document)
        new = draw_topic(weights.sum(axis=1) ** self.power, float(u[1]))
        goal, at_new_table = float(u[2]) * weights[new].sum(), weights[new, 1:]
        opened = goal < at_new_table.sum()
        self._add(counts, group, word, document, new, 1, int(opened), first_beyond(at_new_table, goal))
        self.topics[token] = new

    def take_out(self, counts: Counts, token: int, u: np.float32) -> None:
        """Takes a token out of the counts, with its table if it sits alone by the number u."""
        group, word, document = self._place(token)
        topic = int(self.topics[token])
        m, t = counts.customers[group, word, topic], counts.tables[group, word, topic]
        alone = self.seating.alone[self.seating.index(m, t)]
        closes = bool(u < alone)
        served, entry = self._entries(counts, group, word), 0
        if closes and served is not None:
            entry = first_beyond(served[:, topic], float(u / alone * np.float32(t)))
        self._add(counts, group, word, document, topic, -1, -int(closes), entry)

    def _entries(self, counts: Counts, group: int, word: int) -> NDArray[np.int32] | None:
        """c of the entries of a row: a view, [entries, K]."""
        if self.matrices is None or counts.associated is None:
            return None
        row = group * self.matrices.n_words + word
        return counts.associated[self.matrices.starts[row] : self.matrices.starts[row + 1]]

    def _add(
        self, counts: Counts, group: int, word: int, document: int, topic: int, token: int, table: int, entry: int
    ) -> None:
        counts.document_topics[document, topic] += token
        counts.customers[group, word, topic] += token
        counts.tables[group, word, topic] += table
        served = self._entries(counts, group, word)
        if served is not None:
            served[entry, topic] += table


class HybridReference(SpdpReference):
    """SPDP with base wordings held at their variational expectation for a sweep.

    Attributes:
        base: phi0, float64 [V, K].
    """

    def __init__(
        self, corpus: Tokens, topics: int, priors: SpdpPriors, seed: int, matrices: Matrices | None = None
    ) -> None:
        super().__init__(corpus, topics, priors, seed)
        self.reaching = matrices or Matrices.identity(corpus.n_groups, corpus.n_words)
        self.base = np.full(self.shape[1:], 1 / corpus.n_words)
        self.wordings = self.reaching.apply(self.base)

    def weights(self, counts: Counts, group: int, word: int, document: int) -> Float:
        """As of SPDP with identity matrices, with another base measure in the place of theirs."""
        weights = super().weights(counts, group, word, document)
        q, gamma = counts.tables.sum(axis=0, dtype=np.float64), self.priors.gamma
        weights[:, 1] *= self.wordings[group, word] * (gamma * len(q) + q.sum(axis=0)) / (gamma + q[word])
        return weights

    def end_sweep(self) -> None:
        """See `Reference.end_sweep`."""
        self.base = expected_base(self.base, self.counts.tables, self.priors.gamma, self.reaching)
        self.wordings = self.reaching.apply(self.base)


def expected_base(before: Float, tables: NDArray[np.int32], gamma: float, matrices: Matrices) -> Float:
    """Equation 8.8 of the thesis, with matrices as they stand on paper: float64 [V, K].

    Args:
        before: phi0, [V, K].
        tables: t, [I, V, K].
        gamma: prior of base words.
        matrices: P^i.
    """
    expected = np.full_like(before, gamma)
    for group in range(matrices.n_groups):
        shares = matrices.dense(group)[:, :, None] * before  # [w, v, k]
        with np.errstate(invalid="ignore"):
            shares /= shares.sum(axis=1, keepdims=True)
        expected += np.nan_to_num(shares * tables[group][:, None, :]).sum(axis=0)
    logarithm = digamma(expected)
    base = np.exp(logarithm - logarithm.max(axis=0))
    return base / base.sum(axis=0)


class LdaReference(Reference):
    """LDA, token by token or block by block."""

    counts: LdaCounts

    def __init__(self, corpus: Tokens, topics: int, priors: LdaPriors, seed: int) -> None:
        super().__init__(corpus, topics, seed)
        self.priors = priors
        self.counts = LdaCounts(
            np.zeros((len(corpus.document_group), topics), np.int32), np.zeros(self.shape, np.int32)
        )

    def start_at(self, topics: NDArray[np.uint16]) -> None:
        """Begins from given topics."""
        self.topics = topics.astype(np.int64)
        for token, topic in enumerate(self.topics.tolist()):
            self._add(self.counts, token, topic, 1)

    def visit(self, counts: LdaCounts, token: int, u: NDArray[np.float32]) -> None:
        """See `Reference.visit`."""
        if self.topics[token] >= 0:
            self._add(counts, token, int(self.topics[token]), -1)
        self.topics[token] = draw_topic(self.factors(counts, token, 1)[1] ** self.power, float(u[1]))
        self._add(counts, token, int(self.topics[token]), 1)

    def factors(self, counts: LdaCounts, token: int, count: int) -> Float:
        """f_k(j) for the block of a token that has been taken out: float64 [count + 1, K]; f_k(1) are a token's weights."""
        _, word, document = self._place(token)
        alpha, beta = self.priors.alpha, self.priors.beta
        words = counts.group_words.sum(axis=0)
        a, b = alpha + counts.document_topics[document], beta + words[word]
        c = beta * len(words) + words.sum(axis=0)
        j = np.arange(count + 1)[:, None]
        rising = [gammaln(x + j) - gammaln(x) for x in (a, b, c)]
        return np.exp(rising[0] + rising[1] - rising[2] - gammaln(j + 1))

    def pass_in_word_blocks(
        self, order: NDArray[np.int64], starts: NDArray[np.int64], iteration: int, draw: BlockDraw
    ) -> int:
        """One iteration of a blocked sampler, blocks [starts[x], starts[x + 1]). Returns how many were drawn token by token."""
        numbers, fallen_back = uniforms(self.seed, iteration, len(order)), 0
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            tokens = order[start:end].tolist()
            drawn = None
            if len(tokens) > 1:
                old = self.topics[tokens].tolist()
                for token, topic in zip(tokens, old, strict=True):
                    self._add(self.counts, token, topic, -1)
                factors = scaled_factors(self.factors(self.counts, tokens[0], len(tokens)))
                drawn = draw(factors, further_numbers(self.seed, iteration, start))
                fallen_back += drawn is None
                for token, topic in zip(tokens, old if drawn is None else drawn, strict=True):
                    self._add(self.counts, token, topic, 1)
                    self.topics[token] = topic
            if drawn is None:
                # Tokens that have the topics of a block in their order are picked at random.
                for u in numbers[start:end]:
                    self.visit(self.counts, tokens[int(u[0] * np.float32(len(tokens)))], u)
        return fallen_back

    def _add(self, counts: LdaCounts, token: int, topic: int, change: int) -> None:
        group, word, document = self._place(token)
        counts.document_topics[document, topic] += change
        counts.group_words[group, word, topic] += change


def _arrays(counts: Any) -> list[NDArray[np.int32]]:
    return [array for array in vars(counts).values() if array is not None]


def _copy_of(counts: Any) -> Any:
    return replace(counts, **{name: array.copy() for name, array in vars(counts).items() if array is not None})


# ---- repeats --------------------------------------------------------------------------------------------------------


class Repeating(Reference):
    """A model whose documents repeat words: each a restaurant, whose tables are the model's tokens (kernels/repeats.clh).

    Stands before a model's class. Tokens of one word in one document are a run, and lie side by side; the topic of the token at a
    place is that of the place's table, and means nothing where the place has none.

    Attributes:
        seated: int [N], by place: tokens at the table of a place, 0 where there is none.
        document_tables: int [D].
        events: how often a token of a run opened a table, joined one, closed its own.
    """

    priors: Any

    def __init__(self, corpus: Tokens, *arguments: Any) -> None:
        super().__init__(corpus, *arguments)
        self.seated = np.zeros(len(corpus), int)
        self.document_tables = np.zeros(len(corpus.document_group), int)
        self.events = dict.fromkeys(("opened", "joined", "closed"), 0)

    def pass_in_order(self, order: NDArray[np.int64], iteration: int) -> None:
        """See `Reference.pass_in_order`."""
        self._begin(order, iteration)
        super().pass_in_order(order, iteration)

    def pass_in_blocks(
        self, order: NDArray[np.int64], starts: NDArray[np.int32], visits: NDArray[np.int32] | None, iteration: int
    ) -> None:
        """See `Reference.pass_in_blocks`."""
        self._begin(order, iteration)
        super().pass_in_blocks(order, starts, visits, iteration)

    def _begin(self, order: NDArray[np.int64], iteration: int) -> None:
        self._order, self._iteration = order.tolist(), iteration
        self._place_of = np.argsort(order)
        self._numbers = uniforms(self.seed, iteration, len(order))
        runs = [len(list(run)) for _, run in groupby(self._place(token)[1:] for token in self._order)]
        self._lengths = np.zeros(len(order), int)
        self._lengths[np.cumsum(runs) - runs] = runs

    def visit(self, counts: Any, token: int, u: NDArray[np.float32]) -> None:
        """Seats a whole run when its first token is visited, and does nothing when another is."""
        place = int(self._place_of[token])
        length = int(self._lengths[place])
        first = self.seated[place] == 0
        if length == 1:
            super().visit(counts, token, u)
            self.seated[place] = 1
            self.document_tables[self._place(token)[2]] += int(first)
        for turn in range(length if length > 1 else 0):
            if not first:
                self._stand_up(counts, place, turn, length)
            self._sit_down(counts, place, turn if first else length - 1, self._numbers[place + turn])
        if length > 1 and not first:
            for at in range(place, place + length):
                if self.seated[at] > 1:
                    super().visit(counts, self._order[at], self._further(at, 2))

    def _stand_up(self, counts: Any, place: int, turn: int, length: int) -> None:
        seated = self.seated[place : place + length]
        table = first_beyond(seated, int(self._numbers[place + turn, 0] * np.float32(length)))
        if seated[table] > 1:
            seated[table] -= 1
            return
        token = self._order[place + table]
        self.take_out(counts, token, self._further(place + turn, 1)[0])
        self.events["closed"] += 1
        self.document_tables[self._place(token)[2]] -= 1
        last = np.flatnonzero(seated)[-1]
        self.topics[token] = self.topics[self._order[place + last]]
        seated[table], seated[last] = seated[last], 0

    def _sit_down(self, counts: Any, place: int, others: int, u: NDArray[np.float32]) -> None:
        token = self._order[place]
        document, priors = self._place(token)[2], self.priors
        a, b, tables = priors.repeat_discount, priors.repeat_concentration, self.document_tables[document]
        seated = self.seated[place : place + int(self._lengths[place])]
        here = int(np.count_nonzero(seated))
        probability = self.weigh(counts, token).sum() / (tables + self.shape[2] * priors.alpha)
        opened, joined = (b + a * tables) * probability, others - a * here
        goal = float(u[1]) * (opened + joined)
        if here and goal >= opened:
            seated[first_beyond(seated[:here] - a, goal - opened)] += 1
            self.events["joined"] += 1
            return
        table = self._order[place + here]
        self.topics[table] = -1
        super().visit(counts, table, np.array([0, goal / opened if here else u[1], u[2]]))
        seated[here] = 1
        self.document_tables[document] += 1
        self.events["opened"] += 1

    def _further(self, place: int, draw: int) -> NDArray[np.float32]:
        numbers: NDArray[np.float32] = pcg3d((self.seed + 0x9E3779B9 * draw) % 2**32, self._iteration, place)[0]
        return numbers

    def token_topics(self) -> NDArray[np.int64]:
        """The topic of each token, with those that repeat at their tables: int64 [N], in the order of the corpus."""
        topics = np.empty_like(self.topics)
        topics[self._order] = np.repeat(self.topics[self._order], self.seated)
        return topics

    def weigh(self, counts: Any, token: int) -> Float:
        """The model's weight of every topic for a table that is not there: float64 [K]."""
        raise NotImplementedError

    def take_out(self, counts: Any, token: int, u: np.float32) -> None:
        """Takes a table out of the model's counts."""
        raise NotImplementedError


class RepeatingSpdpReference(Repeating, SpdpReference):
    """SPDP of documents that repeat words."""

    def weigh(self, counts: Counts, token: int) -> Float:
        """See `Repeating.weigh`."""
        weights: Float = self.weights(counts, *self._place(token)).sum(axis=1)
        return weights

    def take_out(self, counts: Counts, token: int, u: np.float32) -> None:
        """See `Repeating.take_out`."""
        SpdpReference.take_out(self, counts, token, u)


class RepeatingLdaReference(Repeating, LdaReference):
    """LDA of documents that repeat words."""

    def weigh(self, counts: LdaCounts, token: int) -> Float:
        """See `Repeating.weigh`."""
        return self.factors(counts, token, 1)[1]

    def take_out(self, counts: LdaCounts, token: int, u: np.float32) -> None:
        """See `Repeating.take_out`."""
        LdaReference._add(self, counts, token, int(self.topics[token]), -1)


# ---- blocked sampling of LDA ----------------------------------------------------------------------------------------

BlockDraw = Callable[[Float, Callable[[], float]], "list[int] | None"]
"""From the scaled factors of a block and its numbers to the topics of its tokens; None where products leave single precision."""


def word_blocks(corpus: TokenArrays, seed: int, largest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order of tokens in a blocked sampler and where its blocks begin: int64 [N] and [blocks + 1].

    A block is all tokens of a word in a document; one of more than `largest` tokens is cut into parts of nearly equal length.
    """
    rank = document_rank(len(corpus.document_group), seed)[corpus.token_document]
    order = np.lexsort((corpus.token_word, rank))
    starts, place = [], 0
    for _, run in groupby(zip(rank[order].tolist(), corpus.token_word[order].tolist(), strict=True)):
        size = len(list(run))
        parts = -(-size // largest)
        starts += [place + part * size // parts for part in range(parts)]
        place += size
    return order, np.array([*starts, place])


def scaled_factors(factors: Float) -> Float:
    """s^j f_k(j), padded to whole cache lines with topics that take no token.

    s is the smaller of what makes the largest f_k(C) 1, and what makes the f_k(1) sum to C. (The kernel is content with a
    rough logarithm for the former, see `test_blocked`; no share's probability depends on s.)
    """
    count = len(factors) - 1
    scale = min(factors[-1].max() ** (-1 / count), count / factors[1].sum())
    padded = np.zeros((count + 1, padded_topics(factors.shape[1], 2 * LANES)))
    padded[:, : factors.shape[1]] = factors * scale ** np.arange(count + 1)[:, None]
    padded[0] = 1.0
    return padded


def convolve(left: Float, right: Float) -> Float:
    """sum_j left[j] right[c - j] for c = 0 .. C: float64 [C + 1]."""
    return np.convolve(left, right)[: len(left)]


def backward_table(factors: Float) -> Float:
    """h_1:k(c): float64 [C + 1, TOPICS]."""
    columns = [factors[:, 0]]
    for k in range(1, factors.shape[1]):
        columns.append(convolve(columns[-1], factors[:, k]))
    return np.stack(columns, axis=1)


def nested_levels(factors: Float) -> list[Float]:
    """The levels of the tree, from the root [C + 1, 1] down to f [C + 1, TREE]; node x joins nodes x and x + width below."""
    topics = factors.shape[1]
    tree = 1 << (topics - 1).bit_length()
    lowest = np.zeros((len(factors), tree))
    lowest[0] = 1.0
    lowest[:, :topics] = factors
    levels = [lowest]
    while (width := levels[0].shape[1] // 2) > 0:
        below = levels[0]
        levels.insert(0, np.stack([convolve(below[:, x], below[:, width + x]) for x in range(width)], axis=1))
    return levels


def draw_share(left: Float, right: Float, most: int, u: float) -> int:
    """j in 0 .. most, in proportion to left[j] right[most - j]."""
    weights = left[: most + 1] * right[most::-1]
    return first_beyond(weights, u * weights.sum())


def is_single_precision(total: float) -> bool:
    """Whether a sum of products lies within the normal range of single precision."""
    return SMALLEST_FLOAT < total < LARGEST_FLOAT


def draw_backward(factors: Float, number: Callable[[], float]) -> list[int] | None:
    """Topics of a block's tokens by backward simulation, those of the last topic first."""
    left, topics = len(factors) - 1, []
    with np.errstate(over="ignore"):
        h = backward_table(factors)
    if not is_single_precision(h[-1, -1]):
        return None
    for k in range(factors.shape[1] - 1, 0, -1):
        if left > 0:
            j = draw_share(factors[:, k], h[:, k - 1], left, number())
            topics += [k] * j
            left -= j
    return topics + [0] * left


def draw_nested(factors: Float, number: Callable[[], float]) -> list[int] | None:
    """Topics of a block's tokens by nested simulation: from the root down, a node's first half before its second."""
    levels = nested_levels(factors)
    if not is_single_precision(levels[0][-1, 0]):
        return None
    topics: list[int] = []
    waiting = [(0, 0, len(factors) - 1)]
    while waiting:
        level, place, left = waiting.pop()
        while level < len(levels) - 1:
            below, width = levels[level + 1], levels[level].shape[1]
            first = draw_share(below[:, place], below[:, place + width], left, number())
            level += 1
            if 0 < first < left:
                waiting.append((level, place + width, left - first))
            place += 0 if first > 0 else width
            left = first or left
        topics += [place] * left
    return topics


# ---- measures -------------------------------------------------------------------------------------------------------


def numpy_likelihoods(sample: Sample, corpus: TokenArrays, held_out: NDArray[np.bool_]) -> Float:
    """sum_k theta[d,k] phi[i,k,w] of each held-out token in the corpus's order: float64 [held-out tokens]."""
    words, documents = corpus.token_word[held_out], corpus.token_document[held_out]
    theta, phi = sample.document_shares(), sample.group_wordings()
    likelihoods: Float = (theta[documents] * phi[corpus.document_group[documents], words]).sum(axis=1)
    return likelihoods


def numpy_perplexity(sample: Sample, corpus: TokenArrays, held_out: NDArray[np.bool_]) -> float:
    """Held-out perplexity."""
    return float(np.exp(-np.log(numpy_likelihoods(sample, corpus, held_out)).mean()))


def numpy_repeat_likelihoods(
    probability: Float, sample: Any, runs: Mapping[tuple[int, int], Sequence[int]], words: Any, documents: Any
) -> Float:
    """What documents that repeat words make of the model's probabilities of one more token each: float64 [tokens].

    Args:
        probability: the model's, [tokens].
        sample: whose priors, and whose counts of tables.
        runs: tokens at each table of a (document, word).
        words: [tokens].
        documents: [tokens].
    """
    a, b = sample.priors.repeat_discount, sample.priors.repeat_concentration
    tables, lengths = np.zeros((2, len(sample.counts.document_topics)))
    for (document, _), seated in runs.items():
        tables[document] += len(seated)
        lengths[document] += sum(seated)
    at_tables = [runs.get(key, ()) for key in zip(documents.tolist(), words.tolist(), strict=True)]
    joined = np.array([sum(seated) - a * len(seated) for seated in at_tables])
    return (joined + (b + a * tables[documents]) * probability) / (b + lengths[documents])
