"""What is believed: priors, the state as whole numbers, the conditional, and the estimates."""

from spdp_engine.models.spdp import Counts, Priors, SpdpSample

__all__ = ["Counts", "Priors", "SpdpSample"]
