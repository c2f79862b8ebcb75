"""Topics of two runs beside one another: what is found again, what is split, by which words, and when nothing can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from sample_data import SAMPLES, Sample
from spdp_engine.corpus import Columns, Corpus, CorpusSettings, build_corpus, make_documents, read_collection
from spdp_engine.errors import InputError
from spdp_engine.measures.matching import topic_distances
from spdp_engine.sampling import Sampler, SamplerSettings
from spdp_engine.topics import read_topics
from spdp_engine.topics.pairing import (
    SAME,
    SIMILAR,
    USUALLY_UNRELATED,
    Pairing,
    RunTopics,
    Verdict,
    pair_runs,
)

GROUPS, WORDS, TOPICS = 2, 60, 6
Wordings = NDArray[np.float64]


def wordings(seed: int = 0, groups: int = GROUPS, words: int = WORDS, topics: int = TOPICS) -> Wordings:
    """[R, V, K], unlike one another."""
    return np.random.default_rng(seed).dirichlet(np.full(words, 0.1), (groups, topics)).swapaxes(-1, -2)


def made(
    worded: Wordings,
    vocabulary: Sequence[str] | None = None,
    groups: tuple[str, ...] = ("left", "right"),
    tokens: NDArray[np.float64] | None = None,
) -> RunTopics:
    """A run of these wordings, each group with as many tokens on each topic where they are not given."""
    topics = worded.shape[-1]
    tokens = np.full((len(groups), topics), 100.0) if tokens is None else tokens
    totals = tokens.sum(axis=1)
    return RunTopics(
        vocabulary=tuple(vocabulary or (f"w{word}" for word in range(worded.shape[1]))),
        group_names=groups,
        numbers=tuple(range(topics)),
        names=tuple(f"Topic {topic + 1}" for topic in range(topics)),
        wordings=worded.astype(np.float32),
        shares=tokens / totals[:, None],
        group_tokens=totals,
        gaps=np.zeros(topics),
    )


def pairs_of(pairing: Pairing) -> dict[int, int]:
    return {pair.first: pair.second for pair in pairing.pairs}


# --- finding again


def test_a_run_whose_topics_were_shuffled_is_found_exactly() -> None:
    order = np.array([3, 0, 5, 1, 4, 2])
    worded = wordings()
    pairing = pair_runs(made(worded), made(worded[..., order]))
    assert pairing.by_group and pairing.words is None
    assert pairs_of(pairing) == {int(topic): place for place, topic in enumerate(order)}
    assert {pair.verdict for pair in pairing.pairs} == {Verdict.SAME} and pairing.found == TOPICS
    assert max(pair.distance for pair in pairing.pairs) < 1e-3
    assert pairing.alone_in_first == pairing.alone_in_second == ()


def test_verdicts_follow_what_unrelated_topics_are_apart() -> None:
    """One distance may be near in one collection and far in another."""
    distances = np.full((3, 3), 0.8)
    distances[[0, 1, 2], [0, 1, 2]] = SAME * 0.8 - 1e-9, SIMILAR * 0.8 - 1e-9, SIMILAR * 0.8 + 1e-9
    run = made(wordings(topics=3))
    pairing = Pairing(run, run, distances, np.arange(3), by_group=True, words=None)
    assert [pair.verdict for pair in pairing.pairs] == [Verdict.SAME, Verdict.SIMILAR, Verdict.LOST]
    assert pairing.unrelated == pytest.approx(0.8) and pairing.found == 2
    near = replace(pairing, distances=np.where(distances == 0.8, 0.5, distances))
    assert [pair.verdict for pair in near.pairs] == [Verdict.LOST] * 3


def test_one_topic_each_is_compared_with_what_is_usual() -> None:
    worded = wordings(topics=1)
    (pair,) = pair_runs(made(worded), made(worded)).pairs
    assert pair.unrelated == USUALLY_UNRELATED and pair.verdict is Verdict.SAME
    (pair,) = pair_runs(made(worded), made(wordings(1, topics=1))).pairs
    assert pair.verdict is Verdict.LOST


def test_pairs_lie_on_the_diagonal_the_nearest_first_and_others_follow() -> None:
    worded = wordings(topics=9)
    first, second = worded[..., [4, 0, 7]], worded[..., [1, 7, 2, 0, 4]].copy()
    second[..., 1] = 0.8 * second[..., 1] + 0.2 * worded[..., 5]  # the pair of topic 7 is the last
    pairing = pair_runs(made(first), made(second))
    rows, columns = pairing.order
    assert rows.tolist()[-1] == 2 and set(rows.tolist()) == {0, 1, 2}
    assert columns.tolist()[:3] == [pairs_of(pairing)[row] for row in rows.tolist()]
    assert sorted(columns.tolist()) == [0, 1, 2, 3, 4]
    turned = pair_runs(made(second), made(first))
    np.testing.assert_allclose(turned.distances, pairing.distances.T, atol=1e-6)
    assert turned.match.tolist() == [-1, 2, -1, 1, 0]
    assert [pair.verdict for pair in turned.pairs] == [pair.verdict for pair in pairing.pairs]


# --- split topics


def test_a_topic_that_was_cut_in_two_is_told_of() -> None:
    worded = wordings(topics=7)
    whole = np.concatenate([0.6 * worded[..., [0]] + 0.4 * worded[..., [1]], worded[..., 2:]], axis=-1)
    tokens = np.full((GROUPS, 7), 100.0)
    tokens[:, 0], tokens[:, 1] = 60.0, 40.0
    pairing = pair_runs(made(whole), made(worded, tokens=tokens))
    assert pairing.found == 6 and pairing.alone_in_first == ()
    (part,) = pairing.alone_in_second
    assert {part.topic, part.sibling} == {0, 1} and (part.nearest.first, part.nearest.second) == (0, part.topic)
    assert part.together is not None and part.by_itself is not None
    assert part.together < 0.01 < part.by_itself
    (turned,) = pair_runs(made(worded, tokens=tokens), made(whole)).alone_in_first
    assert (turned.topic, turned.sibling) == (part.topic, part.sibling)


def test_a_topic_that_is_only_there_is_no_part() -> None:
    worded = wordings(topics=7)
    pairing = pair_runs(made(worded[..., 1:]), made(worded))
    (alone,) = pairing.alone_in_second
    assert alone.topic == 0 and alone.sibling is None and alone.together is None
    assert alone.nearest.distance == pytest.approx(pairing.distances[:, 0].min())


def test_topics_that_are_not_found_again_are_alone_on_both_sides() -> None:
    worded, strange = wordings(), wordings(9)
    other = worded.copy()
    other[..., 3] = strange[..., 3]
    pairing = pair_runs(made(worded), made(other))
    assert pairing.found == TOPICS - 1
    assert [one.topic for one in pairing.alone_in_first] == [one.topic for one in pairing.alone_in_second] == [3]
    assert pairing.pair(3, 3).verdict is Verdict.LOST


# --- groups and models


def test_groups_are_found_by_their_names() -> None:
    worded = wordings()
    pairing = pair_runs(made(worded), made(worded[::-1], groups=("right", "left")))
    assert pairing.by_group and pairs_of(pairing) == {topic: topic for topic in range(TOPICS)}
    distances = pairing.group_distances(2, 2)
    assert distances is not None and distances.shape == (2,) and distances.max() < 1e-3
    apart = pairing.group_distances(2, 3)
    assert apart is not None and apart.mean() == pytest.approx(pairing.distances[2, 3], abs=1e-6)


@pytest.mark.parametrize("groups", [("left", "middle", "right"), ("up", "down"), ("all",)])
def test_other_groups_are_compared_by_what_all_say_together(groups: tuple[str, ...]) -> None:
    """Pooled by tokens, so that cutting the same text into other groups changes nothing."""
    worded, tokens = wordings(), np.array([[10.0, 50, 20, 30, 40, 5], [90.0, 50, 80, 70, 60, 95]])
    first = made(worded, tokens=tokens)
    both = (worded * tokens[:, None]).sum(axis=0) / tokens.sum(axis=0)
    np.testing.assert_allclose(first.pooled, both, atol=1e-6)
    second = made(np.repeat(both[None], len(groups), axis=0), groups=groups)
    pairing = pair_runs(first, second)
    assert not pairing.by_group and pairing.group_distances(0, 0) is None
    np.testing.assert_allclose(pairing.distances, topic_distances(both, both), atol=1e-3)


def test_a_model_without_wordings_of_groups_is_compared_with_one_that_has_them() -> None:
    worded = wordings()
    pairing = pair_runs(made(worded), made(worded.mean(axis=0, keepdims=True)))
    assert not pairing.by_group and pairing.found == TOPICS


def test_a_topic_that_nobody_speaks_of_has_the_mean_of_its_wordings() -> None:
    tokens = np.full((GROUPS, TOPICS), 100.0)
    tokens[:, 2] = 0
    run = made(wordings(), tokens=tokens)
    np.testing.assert_allclose(run.pooled[:, 2], run.wordings[:, :, 2].mean(axis=0), atol=1e-6)
    assert pair_runs(run, run).found == TOPICS


# --- vocabularies


def test_words_in_both_runs_are_compared_and_what_is_left_out_is_told() -> None:
    """The second run is without word 0 and has another order and a word of its own."""
    worded = wordings()
    worded[:, 0] = 0.5
    worded[:, 1:] *= 0.5 / worded[:, 1:].sum(axis=1, keepdims=True)
    order = np.random.default_rng(3).permutation(np.arange(1, WORDS))
    rest = np.concatenate([0.8 * 2 * worded[:, order], np.full((GROUPS, 1, TOPICS), 0.2)], axis=1)
    second = made(rest, [*(f"w{word}" for word in order), "new"])
    pairing = pair_runs(made(worded), second)
    assert pairing.found == TOPICS and max(pair.distance for pair in pairing.pairs) < 2e-3
    words = pairing.words
    assert words is not None and len(words.first) == WORDS - 1
    assert words.first_share == pytest.approx(0.5, abs=1e-5) and words.second_share == pytest.approx(0.8, abs=1e-5)
    assert words.only_first == ("w0",) and words.only_second == ("new",)
    for mine, theirs in zip(words.first, words.second, strict=True):
        assert made(worded).vocabulary[mine] == second.vocabulary[theirs]
    told = pairing.words_of(0, 0, 3)
    assert told.first[0].word == "w0" and told.first[0].second is None
    assert told.first[0].first == pytest.approx(0.5, abs=1e-5)
    assert told.second[0].word == "new" and told.second[0].first is None
    assert "w0" not in [one.word for one in told.both] and all(one.first and one.second for one in told.both)


def test_a_topic_of_which_no_word_is_left_is_as_far_as_can_be() -> None:
    worded = np.zeros((1, 4, 2))
    worded[0, :2, 0] = worded[0, 2:, 1] = 0.5
    pairing = pair_runs(made(worded, "abcd"), made(worded[:, 2:, 1:], "cd"))
    assert pairing.distances[0, 0] == 1 and pairing.distances[1, 0] < 1e-3
    assert pairing.words is not None and pairing.words.first_share == pytest.approx(0.5)


def test_runs_without_a_word_in_common_are_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match=r"no word in common.*Choose runs on texts"):
        pair_runs(made(wordings(words=2), ("ship", "quay")), made(wordings(words=2), ("Schiff", "Kai")))


def test_a_run_whose_topics_are_all_hidden_is_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match="no topics that are shown"):
        pair_runs(made(wordings()), made(wordings()[..., :0]))


# --- words of a pair


def test_words_of_a_pair_are_those_of_both_and_those_of_one() -> None:
    first = np.array([0.4, 0.3, 0.2, 0.1, 0.0, 0.0])[None, :, None]
    second = np.array([0.3, 0.4, 0.05, 0.0, 0.25, 0.0])[None, :, None]
    words = pair_runs(made(first, "abcdef"), made(second, "abcdef")).words_of(0, 0)
    assert [one.word for one in words.both] == ["a", "b", "c"]
    assert [one.word for one in words.first] == ["d", "c"], "by sqrt(p) - sqrt(q), at least twice as probable"
    assert [one.word for one in words.second] == ["e"]
    assert words.first[1].first == pytest.approx(0.2) and words.first[1].second == pytest.approx(0.05)


# --- real runs


def sample_corpus(sample: Sample, settings: CorpusSettings = CorpusSettings()) -> Corpus:  # noqa: B008
    return build_corpus(make_documents(read_collection([sample.path]), Columns(**sample.columns)), settings)


def fitted(corpus: Corpus, topics: int, seed: int, model: str = "spdp") -> RunTopics:
    """Averages of samples, as people read them."""
    sampler = Sampler(corpus, SamplerSettings(topics=topics, seed=seed, workers=1, model=model))
    sampler.run(300)
    return RunTopics.of(read_topics(sampler.inspect(), corpus.vocabulary, corpus.group_names))


@pytest.fixture(scope="module")
def newspapers() -> RunTopics:
    return fitted(sample_corpus(SAMPLES[0]), 20, 1)


@pytest.fixture(scope="module")
def hotels() -> RunTopics:
    return fitted(sample_corpus(SAMPLES[1]), 12, 1)


def test_another_seed_finds_most_topics_again(newspapers: RunTopics, hotels: RunTopics) -> None:
    """With these seeds 18 of 20 and 12 of 12. Chance alone would find next to none: see the next test."""
    for run, sample, least in ((newspapers, SAMPLES[0], 14), (hotels, SAMPLES[1], 9)):
        pairing = pair_runs(run, fitted(sample_corpus(sample), run.n_topics, 2))
        verdicts = [pair.verdict for pair in pairing.pairs]
        assert pairing.by_group and pairing.found >= least
        assert verdicts.count(Verdict.SAME) >= least // 2


def test_two_collections_on_other_things_have_no_topic_in_common(newspapers: RunTopics, hotels: RunTopics) -> None:
    """The companion: the same rule on runs that have nothing to find again. Of 2,380 such pairs of seven collections none was the
    same and five were similar, so that of twelve two are, by chance alone, less than once in a thousand times."""
    pairing = pair_runs(newspapers, hotels)
    assert pairing.words is not None and 0.1 < pairing.words.first_share < 0.9
    verdicts = [pair.verdict for pair in pairing.pairs]
    assert verdicts.count(Verdict.SAME) == 0 and verdicts.count(Verdict.SIMILAR) <= 1


def test_the_same_wordings_of_other_words_are_not_found_again(hotels: RunTopics) -> None:
    for seed in range(3):
        shuffled = np.random.default_rng(seed).permutation(len(hotels.vocabulary))
        pairing = pair_runs(hotels, replace(hotels, wordings=hotels.wordings[:, shuffled]))
        verdicts = [pair.verdict for pair in pairing.pairs]
        assert verdicts.count(Verdict.SAME) == 0 and verdicts.count(Verdict.SIMILAR) <= 1


def test_a_bare_distance_would_call_different_topics_the_same(newspapers: RunTopics) -> None:
    """Why the rule is a share: with 40 topics for so little text, four in ten pairs of topics of one run, different by definition,
    are nearer to one another than topics of larger collections that are the same."""
    many = fitted(sample_corpus(SAMPLES[1]), 40, 1)
    apart = topic_distances(many.wordings, many.wordings)
    enough_elsewhere = SAME * 0.78
    own = Pairing(many, many, apart, np.arange(40), True, None)
    verdicts = [own.pair(k, j).verdict for k in range(40) for j in range(40) if k != j]
    assert np.mean(apart[np.triu_indices(40, 1)] <= enough_elsewhere) > 0.2
    assert verdicts.count(Verdict.SAME) <= 2 and verdicts.count(Verdict.SIMILAR) <= 0.02 * len(verdicts)


def test_topics_of_a_handful_of_tokens_are_not_the_same_by_being_empty() -> None:
    """Near by the figure, since all words are about as probable, but without main words in common."""
    worded, flat = wordings(topics=8), np.full(WORDS, 1 / WORDS)
    first, second = worded.copy(), worded.copy()
    first[:, :, 0] = 0.95 * flat + 0.05 * np.eye(WORDS)[:10].mean(axis=0)
    second[:, :, 0] = 0.95 * flat + 0.05 * np.eye(WORDS)[20:30].mean(axis=0)
    (pair,) = [pair for pair in pair_runs(made(first), made(second)).pairs if pair.first == 0]
    assert pair.second == 0 and pair.ratio < SAME and pair.shared == 0
    assert pair.verdict is Verdict.LOST


def test_lda_finds_topics_of_spdp(newspapers: RunTopics) -> None:
    pairing = pair_runs(newspapers, fitted(sample_corpus(SAMPLES[0]), 20, 1, "lda"))
    assert not pairing.by_group and pairing.found >= 12


def test_without_two_words_most_topics_are_found_again(newspapers: RunTopics) -> None:
    corpus = sample_corpus(SAMPLES[0], CorpusSettings(extra_stop_words=("city", "port")))
    pairing = pair_runs(newspapers, fitted(corpus, 20, 2))
    assert pairing.words is not None and set(pairing.words.only_first) == {"city", "port"}
    assert pairing.words.first_share > 0.9 and pairing.found >= 12
