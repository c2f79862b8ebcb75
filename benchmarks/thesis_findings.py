"""What the figures say beside the thesis's: sentences that follow from the values, whichever way they fall."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import thesis_printed as printed
from benchmarks.report import counted
from benchmarks.schedules import NamedSchedule
from benchmarks.speed import THESIS
from benchmarks.thesis_topics import Matched

Curve = Mapping[int, float]
"""Perplexity by iteration."""

EXCESSIVE = 1.5
"""A largest topic is called excessive where it is so many times as large as `sequential`'s."""

ALMOST = 0.1
"""A distance is called almost as good as another where it exceeds it by this share at most."""


@dataclass(frozen=True)
class Speed:
    """A contestant at one K.

    Attributes:
        seconds: an iteration, median of its turns.
        shortest: of its turns.
        longest: of its turns.
        turns: how many it had.
        over_thesis: times as fast as Algorithm 1 as printed.
        over_sequential: times as fast as the reference schedule.
    """

    seconds: float
    shortest: float
    longest: float
    turns: int
    over_thesis: float
    over_sequential: float


Speeds = Mapping[str, Mapping[int, Speed]]
"""By contestant and K."""


def read_speeds(rows: Iterable[Mapping[str, str]]) -> Speeds:
    """From the rows of `thesis_speed.SpeedTable`."""
    speeds: dict[str, dict[int, Speed]] = {}
    for row in rows:
        speeds.setdefault(row["contestant"], {})[int(row["topics"])] = Speed(
            float(row["seconds"]), float(row["seconds_min"]), float(row["seconds_max"]), int(row["turns"]),
            float(row["times_thesis"]), float(row["times_sequential"]),
        )  # fmt: skip
    return speeds


def read_curves(points: Iterable[Mapping[str, str]]) -> dict[str, dict[int, Curve]]:
    """Perplexity by contestant, seed and iteration, from the traces of `thesis_runs.MeasuredRun`."""
    curves: dict[str, dict[int, dict[int, float]]] = {}
    for point in points:
        curve = curves.setdefault(point["contestant"], {}).setdefault(int(point["seed"]), {})
        curve[int(point["iteration"])] = float(point["perplexity"])
    return {name: dict(seeds) for name, seeds in curves.items()}


def mean_curve(seeds: Mapping[int, Curve]) -> Curve:
    """The mean over seeds, as far as all of them go."""
    common = sorted(set.intersection(*(set(curve) for curve in seeds.values())))
    return {iteration: statistics.fmean(curve[iteration] for curve in seeds.values()) for iteration in common}


def spread(values: Iterable[float], form: str = ".3g") -> str:
    """“2.1 to 4.0”, or one number where they do not differ as written."""
    ordered = sorted(values)
    low, high = format(ordered[0], form), format(ordered[-1], form)
    return low if low == high else f"{low} to {high}"


def speed_findings(speeds: Speeds, schedules: Sequence[NamedSchedule], device: str) -> list[str]:
    """On seconds an iteration: the thesis's Tables 8, 13 and 14."""
    return [
        _fastest(speeds, schedules),
        *(_over_topics(speeds, one.name, schedules[0].name) for one in schedules if one.schedule == "topic_parallel"),
        *(_over_tokens(speeds, one.name, device) for one in schedules if one.schedule == "token_parallel"),
        *_growth(speeds),
        "(The thesis's speed-ups at K = 64 divide 35.024 s, though its Table 8 has a faster original with 32.781 s.)",
    ]


def _fastest(speeds: Speeds, schedules: Sequence[NamedSchedule]) -> str:
    reference = schedules[0].name
    best = {
        topics: max((one.name for one in schedules), key=lambda name: speeds[name][topics].over_thesis)
        for topics in speeds[reference]
    }
    parts = []
    for name in dict.fromkeys(best.values()):
        where = [topics for topics in best if best[topics] == name]
        own = [speeds[name][topics] for topics in where]
        parts.append(
            f"`{name}` at K = {_listed(where)} ({spread(one.over_thesis for one in own)} times as fast as Algorithm 1 as printed, "
            f"{spread(one.over_sequential for one in own)} times as fast as `{reference}`)"
        )
    return f"The fastest is {_listed(parts)}."


def _over_topics(speeds: Speeds, name: str, reference: str) -> str:
    own = speeds[name]
    slower = [topics for topics, one in own.items() if one.over_sequential < 1]
    printed_times = [
        seconds / printed.OVER_TOKENS_BASIS[topics]
        for topics, threads in printed.OVER_TOPICS_SECONDS.items()
        for seconds in threads.values()
    ]
    if len(slower) == len(own):
        verdict = "As in the thesis, sharing out the topics of one token does not pay."
    elif not slower:
        verdict = "Unlike in the thesis, sharing out the topics of one token pays here."
    else:
        others = [topics for topics in own if topics not in slower]
        verdict = f"So it does not pay at K = {_listed(slower)}, as in the thesis, but does at K = {_listed(others)}."
    return (
        f"`{name}` takes {spread(1 / one.over_sequential for one in own.values())} times as long as `{reference}`, and "
        f"{spread(1 / one.over_thesis for one in own.values())} times as long as Algorithm 1; in the thesis's Table 13 it is "
        f"{spread(printed_times)} times as long as the original on one thread. {verdict}"
    )


def _over_tokens(speeds: Speeds, name: str, device: str) -> str:
    own = [one.over_thesis for one in speeds[name].values()]
    theirs = [
        printed.OVER_TOKENS_BASIS[topics] / seconds
        for topics, gpus in printed.OVER_TOKENS_SECONDS.items()
        for seconds in gpus.values()
    ]
    if max(own) < 1:
        verdict = "here it is slower, unlike in the thesis"
    elif min(own) <= 1:
        verdict = "here it is not faster at every K, unlike in the thesis"
    elif max(own) < min(theirs):
        verdict = "faster in both, but by less here"
    elif min(own) > max(theirs):
        verdict = "faster in both, and by more here"
    else:
        verdict = "faster in both, by a like factor"
    return (
        f"`{name}` is {spread(own)} times as fast as Algorithm 1 (on {device}); the thesis's GPU-SPDP is {spread(theirs)} times as "
        f"fast as the original (on its GPUs, Table 14): {verdict}."
    )


def _growth(speeds: Speeds) -> list[str]:
    numbers = sorted(speeds[THESIS])
    low, high = numbers[0], numbers[-1]
    if low == high:
        return []
    ours = [f"{own[high].seconds / own[low].seconds:.1f} (`{name}`)" for name, own in speeds.items()]
    text = f"From K = {low} to K = {high} an iteration takes so many times as long: {', '.join(ours)}"
    if {low, high} <= printed.JAVA_SECONDS.keys():
        java = [printed.JAVA_SECONDS[high][cpu] / printed.JAVA_SECONDS[low][cpu] for cpu in printed.JAVA_SECONDS[low]]
        gpus = {
            gpu: printed.OVER_TOKENS_SECONDS[high][gpu] / one for gpu, one in printed.OVER_TOKENS_SECONDS[low].items()
        }
        text += f"; in the thesis {spread(java, '.1f')} (original), " + ", ".join(
            f"{n:.1f} ({gpu})" for gpu, n in gpus.items()
        )
    return [text + "."]


@dataclass(frozen=True)
class Ending:
    """Where a contestant's perplexity ends.

    Attributes:
        iteration: the last that it and the reference have in common.
        perplexity: there, the mean over seeds.
        excess: by how much that is above the reference's there, as a share of it.
    """

    iteration: int
    perplexity: float
    excess: float


def endings(curves: Mapping[str, Mapping[int, Curve]], reference: str) -> dict[str, Ending]:
    """Where each contestant ends, beside the reference: over the seeds that both have, as far as both go."""
    found = {}
    for name, seeds in curves.items():
        common = seeds.keys() & curves[reference].keys()
        own, other = (mean_curve({seed: curves[one][seed] for seed in common}) for one in (name, reference))
        last = max(own.keys() & other.keys())
        found[name] = Ending(last, own[last], own[last] / other[last] - 1)
    return found


def chance(seeds: Mapping[int, Curve]) -> float:
    """How far the seeds of one contestant are apart at the end: (largest - smallest) / mean."""
    last = max(mean_curve(seeds))
    values = [curve[last] for curve in seeds.values()]
    return (max(values) - min(values)) / statistics.fmean(values)


def perplexity_findings(
    curves: Mapping[str, Mapping[int, Curve]],
    largest: Mapping[str, float],
    schedules: Sequence[NamedSchedule],
    iterations: int,
) -> list[str]:
    """On perplexity against iteration: the thesis's Table 6 and Figures 14.4 to 14.9.

    Args:
        curves: by contestant, seed and iteration.
        largest: share of the largest topic at the end, by contestant.
        schedules: the contestants, the reference first.
        iterations: how many were wanted.
    """
    reference = schedules[0].name
    ends, noise = endings(curves, reference), chance(curves[reference])
    seeds = len(curves[reference])
    scale = f"the spread of `{reference}` over {counted(seeds, 'seed')}, {noise:.1%}"
    reached = {name: max(mean_curve(own)) for name, own in curves.items()}
    short = {name: last for name, last in reached.items() if last < iterations}
    findings = [
        *_fall(mean_curve(curves[reference]), reference),
        *(
            f"`{name}` ends {_above(end.excess)} `{reference}` after {counted(end.iteration, 'iteration')}: "
            f"{_against(end.excess, noise)} {scale}."
            for name, end in ends.items()
            if name != reference
        ),
        *_orders(ends, largest, schedules, noise),
        *(_hybrid(ends[one.name], one.name, noise) for one in schedules if one.schedule == "hybrid"),
    ]
    if short:
        stopped = [f"`{name}` after {number}" for name, number in short.items()]
        findings.append(f"Some runs used up their time before {iterations} iterations: {_listed(stopped)}.")
    return findings


def _fall(curve: Curve, reference: str) -> list[str]:
    last, mark = max(curve), 25
    if last <= mark:
        return []
    theirs = printed.PERPLEXITIES
    end = max(theirs)
    ours_done, theirs_done = (
        (values[1] - values[mark]) / (values[1] - values[stop]) for values, stop in ((curve, last), (theirs, end))
    )
    ours_left, theirs_left = (1 - values[stop] / values[mark] for values, stop in ((curve, last), (theirs, end)))
    verdict = "Here too most of the fall is early." if ours_done > 0.5 else "Here most of the fall is later than that."
    return [
        f"By iteration {mark} `{reference}` has made {ours_done:.0%} of its fall from {curve[1]:.0f} (after 1) to "
        f"{curve[last]:.0f} (after {last}), and falls by {ours_left:.1%} afterwards; the thesis's original had made "
        f"{theirs_done:.0%} of its own, from {theirs[1]} to {theirs[end]} (after {end}), and fell by {theirs_left:.1%} "
        f"afterwards. {verdict}"
    ]


def _orders(
    ends: Mapping[str, Ending], largest: Mapping[str, float], schedules: Sequence[NamedSchedule], noise: float
) -> list[str]:
    names = {one.order: one.name for one in schedules if one.schedule == "token_parallel"}
    if not {"document", "interleaved"} <= names.keys():
        return []
    plain, mixed = (ends[names[order]].excess for order in ("document", "interleaved"))
    first = {
        -1: "fits better than exact sampling, unlike in the thesis",
        0: "cannot be told from exact sampling, while the thesis finds it slightly worse",
        1: "fits worse than exact sampling, as in the thesis",
    }[_sign(plain, noise)]
    second = {
        -1: "better than exact sampling",
        0: "almost as good as exact sampling, as in the thesis",
        1: "still worse than exact sampling, while the thesis finds it almost as good",
    }[_sign(mixed, noise)]
    change = (1 + mixed) / (1 + plain) - 1
    third = {
        -1: "in the thesis's direction",
        0: "which is within chance, while the thesis finds it better",
        1: "against the thesis's direction",
    }[_sign(change, noise)]
    text = (
        f"`token_parallel` in the order of documents {first} (“only slightly worse”, its Figure 14.4); interleaved it is {second} "
        f"(Figure 14.7). Interleaving changes perplexity by {change:+.1%}, {third}."
    )
    shares = [largest[name] for name in (schedules[0].name, names["document"], names["interleaved"])]
    grown = shares[1] > EXCESSIVE * shares[0]
    return [
        text,
        "The thesis sees the first topic grow out of measure without interleaving. Here the largest topic has "
        f"{shares[1]:.1%} of the words in the order of documents, {shares[2]:.1%} interleaved, and {shares[0]:.1%} "
        f"with `{schedules[0].name}`: " + ("the same is seen." if grown else "that is not seen."),
    ]


def _hybrid(end: Ending, name: str, noise: float) -> str:
    verdict = "which agrees" if _sign(end.excess, noise) > 0 else "which this does not show"
    return (
        f"The thesis calls the variational base of `{name}` not very accurate (section 8.5, without a figure); here it ends "
        f"{_above(end.excess)} exact sampling, {verdict}."
    )


def mean_distance(pairs: Sequence[Matched]) -> float:
    """Mean distance of matched topics over pairs of runs."""
    return statistics.fmean(pair.mean for pair in pairs)


def distance_findings(
    seeds: Sequence[Matched], schedules: Mapping[str, Sequence[Matched]], reference: str
) -> list[str]:
    """On the distance between runs' topics: the thesis's Figure 14.14.

    Args:
        seeds: pairs of the reference's own runs.
        schedules: runs of the other schedules beside the reference's, by contestant.
        reference: name of the reference.
    """
    usual = max(pair.mean for pair in seeds)
    base = f"two seeds of `{reference}` ({spread((pair.mean for pair in seeds), '.3f')})"
    means = {name: mean_distance(pairs) for name, pairs in schedules.items()}
    near = [f"`{name}` ({mean:.3f})" for name, mean in means.items() if mean <= usual]
    far = [f"`{name}` ({mean:.3f}, {mean / usual - 1:+.1%})" for name, mean in means.items() if mean > usual]
    findings = []
    if near:
        findings.append(f"The distance between schedules does not exceed that between {base} for {_listed(near)}.")
    if far:
        findings.append(f"The distance between schedules exceeds that between {base} for {_listed(far)}.")
    apart = [f"`{name}`" for name, mean in means.items() if mean > (1 + ALMOST) * usual]
    verdict = f"does not hold here for {_listed(apart)}" if apart else "holds here"
    findings.append(
        "The thesis prints no numbers with its Figure 14.14, and says that the distances “look almost as good as "
        f"comparing two runs of the original SPDP”. Taken as at most {ALMOST:.0%} farther than two seeds, that "
        f"{verdict}."
    )
    return findings


def _sign(excess: float, noise: float) -> int:
    return 0 if abs(excess) <= noise else 1 if excess > 0 else -1


def _above(excess: float) -> str:
    return f"{abs(excess):.1%} {'above' if excess >= 0 else 'below'}"


def _against(excess: float, noise: float) -> str:
    return "within" if _sign(excess, noise) == 0 else "more than"


def _listed(things: Sequence[object]) -> str:
    """“a”, “a and b”, “a, b and c”."""
    words = [str(thing) for thing in things]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
