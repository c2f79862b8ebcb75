"""Topics read as one: a sample around another, so that everything that reads samples works unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spdp_engine.types import Sample


def merge_topics(sample: Sample, merged: Mapping[int, int]) -> Sample:
    """The sample with some topics read as part of others; the sample itself where there are none.

    Args:
        sample: of a model.
        merged: {part: whole}, as a `View` has it.
    """
    return MergedSample(sample, merged) if merged else sample


@dataclass(frozen=True, eq=False)
class MergedSample:
    """A sample in which topics are read as part of others.

    Tokens and documents' shares of a whole are the sums over its topics, and its wording is the mixture of theirs by tokens: the
    probability of a word, given that it is on one of them. Every topic keeps its column; those of parts are empty (zero), but
    for the base wording, which log-odds take as a prior.

    Attributes:
        sample: of the model.
        merged: {part: whole}; a whole is never a part.
    """

    sample: Sample
    merged: Mapping[int, int] = field(repr=False)

    @cached_property
    def _parts(self) -> list[int]:
        return sorted(self.merged)

    @cached_property
    def _wholes(self) -> dict[int, list[int]]:
        """The topics of each whole, itself first."""
        return {
            whole: [whole, *(part for part in self._parts if self.merged[part] == whole)]
            for whole in sorted(set(self.merged.values()))
        }

    @property
    def iteration(self) -> int:
        """Iterations done when it was taken."""
        return self.sample.iteration

    @property
    def priors(self) -> Any:
        """Hyperparameters in force."""
        return self.sample.priors

    @property
    def counts(self) -> Any:
        """The model's counts, in which nothing is merged."""
        return self.sample.counts

    def base_wording(self) -> NDArray[np.float64]:
        """What the groups share: float64 [V, K], columns sum to 1; that of a whole by the tokens of all groups."""
        base = self.sample.base_wording().copy()
        tokens = self.sample.group_topic_tokens().sum(axis=0)
        for whole, topics in self._wholes.items():
            base[:, whole] = base[:, topics] @ _weights(tokens[topics])
        return base

    def group_wordings(self) -> NDArray[np.float64]:
        """Of a whole by the tokens of each group: float64 [I, V, K], each [i, :, k] sums to 1, or to 0 for a part.

        A model that words each topic alike for all groups goes on doing so: there the tokens of all groups count, as they do for a
        group without any.
        """
        of_model = self.sample.group_wordings()
        tokens = self.sample.group_topic_tokens()
        alike = all(np.array_equal(of_model[0], other) for other in of_model[1:])
        wordings = of_model.copy()
        for whole, topics in self._wholes.items():
            for group, wording in enumerate(of_model):
                own = tokens[group, topics]
                counts = tokens[:, topics].sum(axis=0) if alike or not own.any() else own
                wordings[group, :, whole] = wording[:, topics] @ _weights(counts)
        wordings[:, :, self._parts] = 0.0
        return wordings

    def group_topic_tokens(self) -> NDArray[Any]:
        """Tokens of each group in each topic: [I, K]."""
        return self._added(self.sample.group_topic_tokens())

    def group_word_tokens(self, topic: int) -> NDArray[Any]:
        """Tokens of each word of each group in one topic: [I, V]."""
        own = self.sample.group_word_tokens(topic)
        if topic in self.merged:
            return np.zeros_like(own)
        others = self._wholes.get(topic, [topic])[1:]
        return np.sum([own, *(self.sample.group_word_tokens(part) for part in others)], axis=0)

    def document_shares(self) -> NDArray[np.float64]:
        """[D, K], rows sum to 1."""
        return self._added(self.sample.document_shares())

    def _added(self, values: NDArray[Any]) -> NDArray[Any]:
        """[.., K] with the values of parts in the columns of their wholes."""
        values = values.copy()
        for whole, topics in self._wholes.items():
            values[..., whole] = values[..., topics].sum(axis=-1)
        values[..., self._parts] = 0
        return values


def _weights(tokens: NDArray[Any]) -> NDArray[np.float64]:
    """Weights in proportion to tokens, equal where there are none: float64, summing to 1."""
    counts = tokens.astype(np.float64)
    total = counts.sum()
    return counts / total if total > 0 else np.full(len(counts), 1.0 / len(counts))
