"""What the pages of `blocking` share: names, what was found on a corpus, the paper's findings, and how numbers are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.blocking_findings import Difference, Traces, difference
from benchmarks.blocking_runs import AVERAGED
from benchmarks.data import NamedCorpus
from benchmarks.report import counted

SINGLE, NESTED, BACKWARD, AUGMENTED, BLOCKS = (
    "single_site", "blocked_nested", "blocked_backward", "data_augmentation", "blocks",
)  # fmt: skip

AGREES, DIRECTION, MISSING, OTHER = "Agrees", "Agrees in direction only", "Did not appear", "Not in the paper"


@dataclass(frozen=True, eq=False)
class Study:
    """What was found on one corpus.

    Attributes:
        corpus: with its held-out tokens.
        topics: K.
        iterations: of each run.
        traces: of each sampler.
        bars_found: how many true topics each run found, by sampler and in the order of seeds; empty where none are known.
        held_out: tokens held out.
        held_out_documents: of how many documents, which are the last.
        lone: share of all tokens whose word appears once in its document.
        lone_training: the same of the training tokens.
        seconds: sampling time of a run; median of each sampler.
        figure: Markdown that shows its figure.
    """

    corpus: NamedCorpus
    topics: int
    iterations: int
    traces: Mapping[str, Traces]
    bars_found: Mapping[str, Sequence[int]]
    held_out: int
    held_out_documents: int
    lone: float
    lone_training: float
    seconds: Mapping[str, float]
    figure: str

    def posterior_apart(self, one: str, other: str) -> Difference:
        """Final log posterior of one sampler less another's, over the seeds that both ran."""
        return self._apart(one, other, lambda traces: traces.final)

    def perplexity_apart(self, one: str, other: str) -> Difference:
        """Last perplexity of one sampler less another's, over the seeds that both ran."""
        return self._apart(one, other, lambda traces: traces.final_perplexity)

    def _apart(self, one: str, other: str, of: Callable[[Traces], NDArray[np.float64]]) -> Difference:
        first, second = self.traces[one], self.traces[other]
        _, in_first, in_second = np.intersect1d(first.seeds, second.seeds, return_indices=True)
        return difference(of(first)[in_first], of(second)[in_second])

    def introduction(self) -> str:
        """Corpus, settings and what is held out, as a sentence."""
        return (
            f"{self.corpus}. K = {self.topics}; {counted(self.iterations, 'iteration')}; held out: half the words of each of the "
            f"last {self.held_out_documents:,} documents, {self.held_out:,} tokens."
        )


@dataclass(frozen=True)
class Finding:
    """One of the paper's findings, and what was found here."""

    verdict: str
    paper: str
    here: str

    def __str__(self) -> str:
        return f"- **{self.verdict}.** {self.paper} Here: {self.here}"


def listed(findings: Sequence[Finding]) -> str:
    """Findings as a Markdown list."""
    return "\n".join(map(str, findings))


def signed(apart: Difference, digits: int) -> str:
    """'−12.3 (standard error 4.5, 30 pairs)'."""
    error = "" if np.isnan(apart.error) else f"standard error {apart.error:,.{digits}f}, "
    return f"{minus(f'{apart.mean:+,.{digits}f}')} ({error}{counted(apart.pairs, 'pair')})"


def minus(text: str) -> str:
    """A written number with the sign for minus that people read."""
    return text.replace("-", "−")


def clearly(apart: Difference) -> str:
    """Whether a difference is one."""
    if apart.pairs < 2:
        return "which one pair cannot tell from chance"
    return "beyond what chance does" if apart.clear else "within what chance does"


def verdict_of(signs: Sequence[float], clear: Sequence[bool]) -> str:
    """Whether all differences have the paper's sign, made positive, and are beyond chance."""
    if all(sign > 0 for sign in signs):
        return AGREES if all(clear) else DIRECTION
    return MISSING


INTRODUCTION = (
    "The samplers of LDA as in “Blocking Collapsed Gibbs Sampler for Latent Dirichlet Allocation Models”, measured with this "
    "engine. `single_site` redraws one token after another (Griffiths and Steyvers 2004), `blocked_nested` and `blocked_backward` "
    "redraw all tokens of a word in a document at once, `data_augmentation` draws θ and φ and then all topics. α = 0.1, β = 0.01. "
    "In a run, all samplers begin at the same random topics and hold out the same words. The log posterior is the paper's "
    f"equation 12. Perplexity is its equation 13: the probability of each held-out word is averaged over every {AVERAGED} sweeps, "
    "with θ and φ estimated from the counts (for `data_augmentation` too), before the logarithm is taken. “Beyond what chance "
    "does” is a paired t test at 95 %."
)
