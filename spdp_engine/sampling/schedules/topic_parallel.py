"""One token at a time, its topics weighed at once."""

from __future__ import annotations

from spdp_engine.sampling.schedules.sequential import Sequential


class TopicParallel(Sequential):
    """One token at a time, its topics weighed by a team of work-items: exact Gibbs sampling (the thesis's 11.1.1 and 14.1)."""

    file = "topic_parallel.cl"
    takes_repeats = False
    takes_tempering = False
    shapes = tuple({"TEAM": team} for team in (4, 8, 16, 32, 2))
