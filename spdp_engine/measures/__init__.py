"""Pure functions of arrays that compare distributions over words, or say how good topics are."""

from spdp_engine.measures.coherence import Coherence, WindowCounts, npmi, pmi, topic_coherence, window_counts
from spdp_engine.measures.diversity import topic_diversity
from spdp_engine.measures.hellinger import hellinger_between_groups, mean_gap
from spdp_engine.measures.log_odds import log_odds_z

__all__ = [
    "Coherence",
    "WindowCounts",
    "hellinger_between_groups",
    "log_odds_z",
    "mean_gap",
    "npmi",
    "pmi",
    "topic_coherence",
    "topic_diversity",
    "window_counts",
]
