"""What is believed: priors, the state as whole numbers, the conditional, and the estimates."""

from spdp_engine.models.lda import LdaCounts, LdaPriors, LdaSample
from spdp_engine.models.matrices import Matrices
from spdp_engine.models.priors import Priors, make_priors
from spdp_engine.models.spdp import Counts, SpdpPriors, SpdpSample

__all__ = [
    "Counts",
    "LdaCounts",
    "LdaPriors",
    "LdaSample",
    "Matrices",
    "Priors",
    "SpdpPriors",
    "SpdpSample",
    "make_priors",
]
