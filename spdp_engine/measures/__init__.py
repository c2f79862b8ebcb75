"""Pure functions of arrays that compare distributions over words."""

from spdp_engine.measures.hellinger import hellinger_between_groups, mean_gap
from spdp_engine.measures.log_odds import log_odds_z

__all__ = ["hellinger_between_groups", "log_odds_z", "mean_gap"]
