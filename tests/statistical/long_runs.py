"""Hundreds of thousands of sweeps in one launch, so that tests see a sampler's long-run distribution.

A launch takes as long as thousands of sweeps of a few tokens. So one kernel, `chain`, is built over the sampler's own
sources, the schedule's file among them, and calls what the host would launch one after another: the schedule's kernels,
and those that end a phase and a sweep. It records the state every `thin` sweeps.
`test_exact_posterior.test_long_runs_are_what_the_schedule_does` holds it to the sampler as it is used, state for state.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from spdp_engine.sampling import programs, schedules
from spdp_engine.sampling.devices import Device
from spdp_engine.sampling.methods import Method
from spdp_engine.sampling.programs import context_of
from spdp_engine.sampling.sampler import Sampler, plain_settings
from spdp_engine.sampling.spdp_bases import AssociationBase, VariationalBase

from .exact import Case, P, State

CHAIN = """
#define EVERYONE barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define PASS token_word, token_document, token_topic, seed, iteration

/* One work-group. What a work-item of a launch does is done by the work-item of that number. */
__kernel void chain(const int samples, const int thin, const uint first, const int workers, const int totals_count,
                    const int tokens, const int cells, const int entries, __global const int *token_word,
                    __global const int *token_document, __global ushort *token_topic, const uint seed,
                    __global int *records, %(declarations)s MODEL_ARGUMENTS)
{
    const Model model = MODEL_GATHER;
    const int me = get_global_id(0), all = get_global_size(0);
    uint iteration = first;
    %(locals)s
    for (int sample = 0; sample < samples; ++sample) {
        for (int sweep = 0; sweep < thin; ++sweep) {
            %(sweep)s
            ++iteration;
        }
        __global int *record = records + (size_t)sample * (2 * tokens + cells + entries);
        for (int x = me; x < tokens; x += all) {
            record[x] = token_topic[x];
            record[tokens + x] = %(seated)s;
        }
        for (int x = me; x < cells; x += all)
            record[2 * tokens + x] = %(tables)s;
        for (int x = me; x < entries; x += all)
            record[2 * tokens + cells + x] = %(entry_tables)s;
    }
}
"""

PHASE_ENDS = """
            EVERYONE;
            merge_totals(workers, totals_count, worker_totals, (__global int *)totals);
            %(merge_copies)s
            EVERYONE;
"""


@dataclass(frozen=True)
class Part:
    """What a schedule or a base measure adds to the chain.

    Attributes:
        text: OpenCL C, where it belongs.
        declarations: kernel parameters of its own, each followed by a comma.
        arguments: what is passed for them, from the schedule or the base.
        locals: local memory.
        files: kernel files beside the schedule's own.
        constants: preprocessor definitions.
        items: how many work-items it needs, by the schedule.
    """

    text: str = ""
    declarations: str = ""
    arguments: Callable[[Any], tuple[Any, ...]] = lambda owner: ()
    locals: str = ""
    files: tuple[str, ...] = ()
    constants: Callable[[Any], Mapping[str, int]] = lambda owner: {}
    items: Callable[[Any], int] = lambda schedule: 1


def block_starts(blocks: schedules.Blocks) -> tuple[Any, ...]:
    """The starts of all phases' blocks in one buffer."""
    starts = np.empty((len(blocks._starts), len(blocks._starts) + 1), np.int32)
    for row, buffer in zip(starts, blocks._starts, strict=True):
        cl.enqueue_copy(blocks._state.queue, row, buffer)
    return (blocks._state.copied(starts),)


def blocked(name: str) -> Part:
    return Part(
        f"if (me == 0) {name}(blocks, starts, scratch, PASS, MODEL_PASSED); PHASE_ENDS",
        "const int blocks, __global const int *starts, __global float *scratch,",
        lambda schedule: (schedule._blocks, schedule._starts, schedule._scratch),
        constants=lambda schedule: {"TREE": 1 << (schedule._state.padded - 1).bit_length()},
    )


SWEEPS: dict[type[schedules.Schedule], Part] = {
    schedules.Sequential: Part(
        "if (me == 0) sequential(tokens, PASS, REPEATS_PASSED MODEL_PASSED); PHASE_ENDS SWEEP_ENDS"
    ),
    schedules.TopicParallel: Part(
        "pass(0, tokens, PASS, &model, weights); PHASE_ENDS SWEEP_ENDS",
        locals="__local float8 weights[STRIPS];",
    ),
    schedules.Blocks: Part(
        """for (int phase = 0; phase < workers; ++phase) {
            if (me < workers)
                blocks(starts + phase * (workers + 1), PASS, REPEATS_PASSED MODEL_PASSED);
            PHASE_ENDS
        } SWEEP_ENDS""",
        "__global const int *starts,",
        block_starts,
    ),
    schedules.BlockedBackward: blocked("blocked_backward"),
    schedules.BlockedNested: blocked("blocked_nested"),
    schedules.DataAugmentation: Part(
        """draw_shares(documents, document_topics, alpha, seed, iteration, shares);
        draw_wordings(words, word_topics, beta, seed, iteration, wordings);
        EVERYONE;
        if (me < TOPICS) scale_wordings(words, wordings, scale);
        EVERYONE;
        data_augmentation(tokens, PASS, alpha, shares, wordings, scale);
        for (int x = me; x < documents * TOPICS; x += all) document_topics[x] = 0.0f;
        for (int x = me; x < words * TOPICS; x += all) word_topics[x] = 0.0f;
        EVERYONE;
        count_tokens(tokens, token_word, token_document, token_topic, document_topics, word_topics);
        EVERYONE;
        if (me < TOPICS) lda_correct(words, word_topics, (__global int *)totals);
        EVERYONE;""",
        "const int documents, __global float *shares, __global float *wordings, __global float *scale,",
        lambda schedule: (np.int32(schedule._state.documents), schedule._shares, schedule._wordings, schedule._scale),
        files=("data_augmentation.cl", "lda_correct.cl"),
        constants=lambda schedule: {"SHARED": 1},
        items=lambda schedule: max(
            len(schedule._order), schedule._state.padded * max(schedule._state.documents, schedule._state.words)
        ),
    ),
}
"""A sweep of each schedule, by the kernels of its file."""

COPIES = Part(
    "EVERYONE; if (me < shared_count * TOPICS) spdp_base_merge(words, shared, copy_starts, before, base_tables);",
    """const int shared_count, __global const int *shared, __global const int *copy_starts,
    __global float *before,""",
    lambda base: (np.int32(base._shared_count), *base._copy_arguments[1:]),
    files=("spdp_base_merge.cl",),
    items=lambda schedule: schedule._state.base._shared_count * schedule._state.padded,
)
"""What ends a phase where base words have copies."""

EXPECTATION = Part(
    """spdp_expectation(words, gamma, seats, base_wordings, column_starts, column_entries, entry_row, entry_weight, base);
    EVERYONE;
    if (me < TOPICS) spdp_expectation_scale(words, base);
    EVERYONE;
    spdp_expectation_wordings(groups * words, entry_starts, entry_base, entry_weight, base, (__global float *)base_wordings);
    EVERYONE;""",
    """__global const int *column_starts, __global const int *column_entries, __global const int *entry_row,
    __global const float *entry_weight, __global const int *entry_starts, __global const int *entry_base,
    __global float *base,""",
    lambda base: (*base._columns, *base._entries[:2], base._base),
    files=("spdp_expectation.cl",),
    items=lambda schedule: schedule._state.groups * schedule._state.words * schedule._state.padded,
)
"""What ends a sweep of the hybrid sampler."""

REPEATS = Part(declarations="REPEATS_ARGUMENTS ", arguments=lambda repeats: repeats.arguments)
"""What every step takes where documents repeat words."""


Change = tuple[tuple[str, str], ...]
"""Texts of the kernels, each of which stands there once, and what stands there instead: a sampler made wrong on purpose."""


@dataclass(frozen=True, eq=False)
class Run:
    """States of a long run, every `thin` sweeps.

    Attributes:
        topics: int32 [samples, N], in the order of the corpus. Where documents repeat words they are those of tables, and mean
            nothing where `seated` is 0.
        tables: int32 [samples, I, V, K]; no column for LDA, which has none.
        associated: int32 [samples, E, K], tables by entry of the matrices' pattern; none where they are not kept.
        seated: int32 [samples, N], how many tokens sit at that table of the document; 1 where documents do not repeat words.
    """

    topics: NDArray[np.int32]
    tables: NDArray[np.int32]
    associated: NDArray[np.int32]
    seated: NDArray[np.int32]

    def states(self) -> list[State]:
        """As `exact` writes them."""
        parts = [part.reshape(len(part), -1) for part in (self.topics, self.tables, self.associated)]
        return list(map(tuple, np.hstack(parts).tolist()))


def passed(source: str, arguments: str) -> str:
    """The names that MODEL_ARGUMENTS or REPEATS_ARGUMENTS declares, in their order, to hand them on."""

    def declared(macro: str) -> str:
        found = re.search(rf"#define {macro} ((?:.*\\\n)*.*)", source)
        assert found, macro
        return found.group(1).replace("\\\n", " ")

    text = declared(arguments).rstrip().removesuffix(",")
    if "BASE_ARGUMENTS" in text:
        text = text.replace("BASE_ARGUMENTS", declared("BASE_ARGUMENTS"))
    return ", ".join(re.findall(r"\w+", declaration)[-1] for declaration in text.split(","))


@cache
def chain_program(
    device: Device, files: tuple[str, ...], constants: tuple[tuple[str, int], ...], text: str, change: Change
) -> cl.Program:
    """`chain` over these kernel files.

    Pointers are not `restrict` here: what single launches may take for granted does not hold for all of them in one.
    """
    seen: set[str] = set()
    source = "\n".join(programs._expand(name, seen) for name in files)
    for old, new in change:
        assert source.count(old) == 1, f"the text to change stands {source.count(old)} times in the sources: {old}"
        source = source.replace(old, new)
    repeats = passed(source, "REPEATS_ARGUMENTS") + ", " if ("REPEATS", 1) in constants else ""
    text = text.replace("REPEATS_PASSED", repeats).replace("MODEL_PASSED", passed(source, "MODEL_ARGUMENTS"))
    definitions = [f"-D{name}={value}" for name, value in constants]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        return cl.Program(context_of(device), source + text).build([*programs.OPTIONS, "-Drestrict=", *definitions])


def long_run(sampler: Sampler, samples: int, thin: int, change: Change = ()) -> Run:
    """Goes on from where a sampler is, which itself is no good afterwards.

    Args:
        sampler: after its first pass, or started from a state.
        samples: how many states.
        thin: sweeps before each.
        change: what to make wrong.
    """
    state, schedule = sampler._state, sampler._schedule
    base, sweep = getattr(state, "base", None), SWEEPS[type(schedule)]
    copies = COPIES if isinstance(base, AssociationBase) and base._copies else Part()
    expectation = EXPECTATION if isinstance(base, VariationalBase) else Part()
    repeats = REPEATS if schedule.repeats else Part()
    entries = len(state.matrices.base_word) if isinstance(base, AssociationBase) else 0
    cells = state.groups * state.words if base else 0
    text = sweep.text.replace("PHASE_ENDS", PHASE_ENDS % {"merge_copies": copies.text})
    text = CHAIN % {
        "sweep": text.replace("SWEEP_ENDS", expectation.text),
        "locals": sweep.locals,
        "declarations": "".join(part.declarations for part in (sweep, copies, expectation, repeats)),
        "seated": "seated[x]" if schedule.repeats else "1",
        "tables": "seats[x].y" if cells else "0",
        "entry_tables": "entry_tables[x]" if entries else "0",
    }
    files = (*state.headers, schedule.file, "merge_totals.cl", *sweep.files, *copies.files, *expectation.files)
    constants = {**state.constants, **schedule._shape, **sweep.constants(schedule)}
    program = chain_program(sampler.device, files, tuple(sorted(constants.items())), text, change)

    tokens = len(schedule._order)
    items = max(state.totals_count, state.workers, *(part.items(schedule) for part in (sweep, copies, expectation)))
    group = -(-items // 32) * 32  # drivers compile once for each size
    records = np.empty((samples, 2 * tokens + (cells + entries) * state.padded), np.int32)
    there = cl.Buffer(context_of(sampler.device), cl.mem_flags.WRITE_ONLY, records.nbytes)
    numbers = (samples, thin, sampler.iteration, state.workers, state.totals_count, tokens, cells * state.padded,
               entries * state.padded)  # fmt: skip
    kernel = cl.Kernel(program, "chain")
    kernel(
        state.queue, (group,), (group,), *map(np.int32, numbers), *schedule.tokens, schedule._seed, there,
        *sweep.arguments(schedule), *copies.arguments(base), *expectation.arguments(base), *repeats.arguments(schedule.repeats),
        *state.arguments,
    )  # fmt: skip
    cl.enqueue_copy(state.queue, records, there)
    of_places = np.empty((samples, 2, tokens), np.int32)
    of_places[:, :, schedule._order] = records[:, : 2 * tokens].reshape(samples, 2, tokens)
    counts = records[:, 2 * tokens :].reshape(samples, -1, state.padded)[:, :, : state.topics]
    tables = counts[:, :cells].reshape(samples, state.groups if cells else 0, state.words, state.topics)
    return Run(of_places[:, 0], tables, counts[:, cells:], of_places[:, 1])


# ---- on the cases that can be enumerated ----------------------------------------------------------------------------


def start(
    case: Case[P], method: Method, seed: int, workers: int = 1, order: str | None = None, repeats: bool = False
) -> Sampler:
    """A sampler of a case, after its first pass."""
    settings = plain_settings(
        case.topics, case.priors, method.schedule, workers, seed=seed, held_out=0.0, measure_every=0, model=method.model,
        order=order, associations=case.associations, repeats=repeats,
    )  # fmt: skip
    sampler = Sampler(case.corpus, settings)
    sampler.step()
    return sampler


def steps(sampler: Sampler, samples: int, thin: int = 1) -> Run:
    """The same as `long_run`, by steps of the sampler as it is used."""
    schedule = sampler._schedule
    order, repeats = schedule._order, schedule.repeats
    topics, tables, associated, seated = [], [], [], []
    for _ in range(samples):
        for _ in range(thin):
            sampler.step()
        sample: Any = sampler.inspect()
        of_places = np.stack(
            [schedule._read_places(), repeats.read_seated() if repeats else np.ones(len(order), np.int32)]
        )
        of_tokens = np.empty_like(of_places)
        of_tokens[:, order] = of_places
        topics.append(of_tokens[0])
        seated.append(of_tokens[1])
        tables.append(getattr(sample.counts, "tables", np.zeros((0, 1), np.int32)))
        by_entry = getattr(sample.counts, "associated", None)
        associated.append(np.zeros((0, 1), np.int32) if by_entry is None else by_entry)
    return Run(np.array(topics), np.array(tables), np.array(associated), np.array(seated))
