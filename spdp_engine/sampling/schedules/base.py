"""What every schedule shares.

A schedule lays the training tokens out on the device in its own order, knows how to run the first pass and a sweep over any
model's state, and how to give the tokens' topics back in the corpus's order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.sampling.devices import Device
from spdp_engine.sampling.programs import build_program, context_of
from spdp_engine.sampling.repeats import Repeats, Seats
from spdp_engine.sampling.state import LANES, State, padded_topics
from spdp_engine.types import TokenArrays


class Schedule:
    """The tokens on the device, their topics, and the kernels of a pass.

    Attributes:
        file: the schedule's own kernel file, which stands after the headers of the state.
        orders: names of the orders in which tokens can be visited, the default first; none where there is no choice.
        takes_repeats: whether it can have documents repeat words (kernels/repeats.clh).
        takes_tempering: whether its sweeps can be tempered; see `sampling.tempering`.
        reproducible: whether the same seed and number of workers give the same bits again.
        lags: whether workers see what the others did with a delay, where there are several.
        shapes: preprocessor definitions of the work-groups' shapes that there are to choose from; see `sampling.tuning`.
    """

    file: ClassVar[str]
    orders: ClassVar[tuple[str, ...]] = ()
    takes_repeats: ClassVar[bool] = False
    takes_tempering: ClassVar[bool] = False
    reproducible: ClassVar[bool] = True
    lags: ClassVar[bool] = False
    shapes: ClassVar[tuple[Mapping[str, int], ...]] = ()

    @classmethod
    def workers(cls, wanted: int | None, device: Device) -> int:
        """How many keep sums of their own when so many are wanted (None: as many as suit the device)."""
        return 1

    @classmethod
    def shapes_for(cls, device: Device, topics: int) -> tuple[Mapping[str, int], ...]:
        """Those of `shapes` worth measuring: within the device's limits, and without idle members in a team."""
        strips = padded_topics(topics) // LANES
        most, local = device.handle.max_work_group_size, device.handle.local_mem_size
        fitting = (
            shape
            for shape in cls.shapes
            if math.prod(shape.values()) <= most
            and shape.get("TEAMS", 1) * 4 * LANES * strips <= local // 2
            and shape["TEAM"] <= strips
        )
        return tuple(fitting) or tuple(dict.fromkeys(shape, 1) for shape in cls.shapes[:1])

    @classmethod
    def memory_needed(cls, corpus: TokenArrays, topics: int) -> dict[str, int]:
        """Bytes of device memory that it takes beside the state, by purpose."""
        return {"tokens": 18 * len(corpus.token_word)}

    def __init__(
        self,
        state: State,
        corpus: TokenArrays,
        seed: int,
        order: str | None = None,
        shape: Mapping[str, int] | None = None,
        repeats: bool = False,
    ) -> None:
        """Lays out the tokens and builds the kernels.

        Args:
            state: an empty state.
            corpus: the training tokens.
            seed: decides every random number.
            order: one of `orders`; None: the first.
            shape: preprocessor definitions of the work-groups' shape, one of `shapes`; None: the first.
            repeats: whether documents repeat words; only where it `takes_repeats`.
        """
        self._state, self._seed, self._repeats = state, np.uint32(seed), repeats
        self._shape = dict(shape or (self.shapes[0] if self.shapes else {}))
        self._lay_out(corpus, self._arrange(corpus, seed, order))
        self.repeats = Repeats(state, corpus, self._order) if repeats else None
        if repeats:
            self._shape["REPEATS"] = 1

    def _arrange(self, corpus: TokenArrays, seed: int, order: str | None) -> NDArray[np.int64]:
        """The order in which the tokens are laid out: int64 [N]. By document, in shuffled order."""
        rank = shuffled_documents(len(corpus.document_group), seed)
        return np.argsort(rank[corpus.token_document], kind="stable")

    def _lay_out(self, corpus: TokenArrays, order: NDArray[np.int64]) -> None:
        """Copies the tokens in this order to the device, none with a topic yet."""
        state, size = self._state, 2 * len(order)
        self._corpus, self._order = corpus, order
        self._token_word = state.copied(corpus.token_word[order])
        self._token_document = state.copied(corpus.token_document[order])
        self._token_topic = cl.Buffer(context_of(state.device), cl.mem_flags.READ_WRITE, size)
        cl.enqueue_fill_buffer(state.queue, self._token_topic, np.zeros(1, np.uint16), 0, size)

    def _kernel(self, name: str, file: str | None = None, **constants: int) -> cl.Kernel:
        """A kernel of a schedule's file (its own unless named) over the state's headers."""
        state = self._state
        definitions = {**state.constants, **self._shape, **constants}
        return cl.Kernel(build_program(state.device, (*state.headers, file or self.file), definitions), name)

    _first: cl.Kernel
    _sweep: cl.Kernel

    def first(self) -> None:
        """Enqueues the first pass: each token gets its topic from the model, given the tokens before it."""
        self._pass(self._first, 0)

    def sweep(self, iteration: int) -> None:
        """Enqueues one sweep over all tokens."""
        self._pass(self._sweep, iteration)

    def tempered_sweep(self, iteration: int) -> None:
        """Enqueues one that is tempered; only where it `takes_tempering`."""
        self._pass(self._tempered, iteration)

    @cached_property
    def _tempered(self) -> cl.Kernel:
        """The kernel of a sweep, with weights raised to a power: built when it is first needed."""
        return self._kernel(self._sweep.function_name, TEMPERED=1)

    def _pass(self, kernel: cl.Kernel, iteration: int) -> None:
        """Enqueues a kernel over all tokens, and what the state does after it."""
        raise NotImplementedError

    @property
    def repeat_arguments(self) -> tuple[Any, ...]:
        """What REPEATS_ARGUMENTS declares: nothing where documents do not repeat words."""
        return self.repeats.arguments if self.repeats else ()

    @property
    def tokens(self) -> tuple[Any, ...]:
        """Words, documents and topics of the tokens, as kernels take them."""
        return self._token_word, self._token_document, self._token_topic

    def _launch(
        self, kernel: cl.Kernel, iteration: int, *arguments: Any, size: tuple[int, ...] = (1,),
        group: tuple[int, ...] | None = (1,),
    ) -> None:  # fmt: skip
        """Enqueues a kernel that takes `arguments`, the tokens, seed and iteration, and the model."""
        state = self._state
        kernel(state.queue, size, group, *arguments, *self.tokens, self._seed, np.uint32(iteration), *self.repeat_arguments,
               *state.arguments)  # fmt: skip

    def read_topics(self) -> NDArray[np.uint16]:
        """The topic of each token, in the order of the corpus: uint16 [N]. Waits for the device.

        A token that repeats has its table's; tokens of one word in one document are not told apart.
        """
        laid_out = self._read_places()
        if self.repeats:
            laid_out = self.repeats.spread(laid_out)
        topics = np.empty_like(laid_out)
        topics[self._order] = laid_out
        return topics

    def read_seats(self) -> Seats:
        """What `write_seats` takes back, to the bit. Waits for the device."""
        topics = np.empty(len(self._order), np.uint16)
        topics[self._order] = self._read_places()
        if not self.repeats:
            return Seats(topics)
        seated = np.empty(len(self._order), np.int32)
        seated[self._order] = self.repeats.read_seated()
        return Seats(topics, seated)

    def write_seats(self, seats: Seats) -> None:
        """Gives each token its topic, and its table. The state's counts are not touched."""
        cl.enqueue_copy(self._state.queue, self._token_topic, seats.topics[self._order])
        if self.repeats and seats.seated is not None:
            self.repeats.write_seated(seats.seated[self._order])

    def write_topics(self, topics: NDArray[np.uint16]) -> None:
        """Gives each token a topic: uint16 [N], in the order of the corpus. The state's counts are not touched.

        Where documents repeat words, their tokens of one word and topic sit at one table.
        """
        laid_out = topics[self._order].astype(np.uint16)
        if self.repeats:
            laid_out = self.repeats.write(laid_out)
        cl.enqueue_copy(self._state.queue, self._token_topic, laid_out)

    def modelled(self) -> tuple[TokenArrays, NDArray[np.uint16]]:
        """The tokens that the state counts, and their topics: all of them; with repeats, those that opened a table."""
        if self.repeats:
            return self.repeats.heads(self._read_places())
        return self._corpus, self.read_topics()

    def _read_places(self) -> NDArray[np.uint16]:
        topics = np.empty(len(self._order), np.uint16)
        cl.enqueue_copy(self._state.queue, topics, self._token_topic)
        return topics


def shuffled_documents(documents: int, seed: int) -> NDArray[np.int64]:
    """A rank for each document. Files often hold one group after another; the first pass should meet them mixed."""
    return np.random.default_rng([seed, 0x0D0C]).permutation(documents)
