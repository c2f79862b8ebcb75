"""What the thesis prints, to stand beside what is measured here.

Source: the thesis "Multi-GPU Distributed Parallel Bayesian Differential Topic Modelling", chapter 4. All of it is on its data set
"RedState v.s DailyKos".
"""

from __future__ import annotations

from dataclasses import dataclass

DATA = "RedState v. DailyKos"

TOKENS = 2045 * 157 + 2146 * 103
"""Training tokens: blogs of each group times the mean length that section 13 gives."""

WORDS = 14_724
"""Words of its vocabulary."""

HYPERPARAMETERS = {"alpha": 0.1, "gamma": 0.1, "discount": 0.7, "concentration": 100.0}
"""Section 13."""

JAVA_SECONDS = {32: {"FX8150": 17.700, "i7 740QM": 16.510}, 64: {"FX8150": 35.024, "i7 740QM": 32.781},
                128: {"FX8150": 69.746, "i7 740QM": 66.230}}  # fmt: skip
"""Table 8: seconds an iteration of the original, in Java, by K and processor."""

OVER_TOPICS_SECONDS = {32: {"2 threads": 72.037, "4 threads": 192.815, "2 K work-items, GPU": 260.0},
                       128: {"2 threads": 109.563, "4 threads": 198.165, "2 K work-items, GPU": 334.0}}  # fmt: skip
"""Table 13: the same in parallel over topics, by K and number of threads; 64 threads took more than 600 s."""

OVER_TOKENS_SECONDS = {32: {"GTX460M": 0.518, "HD5850": 0.618}, 64: {"GTX460M": 0.678, "HD5850": 0.783},
                       128: {"GTX460M": 1.22, "HD5850": 2.164}}  # fmt: skip
"""Table 14: the same of GPU-SPDP, in parallel over tokens, by K and GPU."""

OVER_TOKENS_BASIS = {32: 16.510, 64: 35.024, 128: 66.230}
"""Table 14: the seconds of the original that its speed-ups divide."""

PERPLEXITIES = {1: 3514, 5: 2910, 10: 2449, 25: 2042, 100: 1817, 2000: 1790}
"""Table 6: perplexity of the original after so many iterations at K = 32 (FX8150; the other machine's are alike)."""


@dataclass(frozen=True)
class PrintedTopic:
    """A group's row of a topic in Table 19.

    Attributes:
        topic: its number there.
        group: the group.
        probability: share of the group's words.
        rank: among the group's topics.
        words: the twelve most probable ones.
    """

    topic: int
    group: str
    probability: float
    rank: int
    words: str


TOPICS = (
    PrintedTopic(13, "RedState", 0.014364, 22,
                 "campaign, money, york, corruption, paterson, murtha, foster, franken, culture, pay, democrat, party"),
    PrintedTopic(13, "DailyKos", 0.011071, 30,
                 "debbie, dccc, schultz, wasserman, florida, blue, fl, chair, joe, garcia, red, trauner"),
    PrintedTopic(10, "RedState", 0.014269, 23,
                 "senate, senator, legislation, vote, sen, committee, house, voted, floor, reid, number, democrats"),
    PrintedTopic(10, "DailyKos", 0.040049, 6,
                 "senate, vote, senators, fisa, dodd, amnesty, house, republicans, senator, reid, floor, votes"),
    PrintedTopic(27, "RedState", 0.013413, 15,
                 "oil, energy, global, gas, prices, food, change, production, gasoline, nuclear, warming, fuel"),
    PrintedTopic(27, "DailyKos", 0.019349, 17,
                 "energy, global, climate, oil, warming, water, change, science, years, california, earth, gas"),
    PrintedTopic(18, "RedState", 0.024284, 11,
                 "iraq, war, troops, qaeda, iraqi, military, surge, afghanistan, security, american, petraeus, general"),
    PrintedTopic(18, "DailyKos", 0.031108, 11,
                 "iraq, war, troops, military, kristol, bush, iraqi, american, surge, americans, violence, year"),
)  # fmt: skip
"""Table 19: Improved-GPU-SPDP after 2000 iterations at K = 32."""
