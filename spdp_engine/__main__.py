"""The command line: `python -m spdp_engine devices`, `... methods`, `... fit PATH...`, `... continue PROJECT`."""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import NoReturn

from tqdm import tqdm

from spdp_engine.corpus import (
    Collection,
    Columns,
    Corpus,
    CorpusSettings,
    Documents,
    Note,
    build_corpus,
    guess_columns,
    make_documents,
    match_scored,
    read_associations,
    read_collection,
    read_reference,
)
from spdp_engine.corpus.written import read_joined
from spdp_engine.errors import InputError, ParallaxError, SettingsError
from spdp_engine.models import make_priors
from spdp_engine.project import ENDING, Project, read_project, write_project
from spdp_engine.report import write_report
from spdp_engine.results import Associations, Result, version, write_folder
from spdp_engine.sampling import (
    MODELS,
    Sampler,
    SamplerSettings,
    choose_device,
    list_devices,
    methods_of,
    model_named,
)
from spdp_engine.sampling.tempering import LAST
from spdp_engine.topics import Topics
from spdp_engine.types import Iteration

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""

HELD_OUT = 0.1
"""Share of the documents whose words measure the fit, where nothing is said of it."""

BAD_INPUT = 2
"""Exit status for whatever the person who called can put right."""


class _Parser(argparse.ArgumentParser):
    """argparse, but with one sentence instead of the usage and an error."""

    def error(self, message: str) -> NoReturn:
        sentence = message[:1].upper() + message[1:]
        print(f"{sentence.rstrip('.')}. See “{self.prog} --help”.", file=sys.stderr)
        sys.exit(BAD_INPUT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.DEBUG if options.verbose else logging.CRITICAL, format="%(name)s: %(message)s")
    try:
        status: int = options.command(options)
        return status
    except ParallaxError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m spdp_engine", description="Differential topics of grouped documents.")
    parser.add_argument("--version", action="version", version=version())
    parser.add_argument(
        "--verbose", action="store_true", help="write the log, kernel build logs included, to standard error"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    devices = commands.add_parser("devices", help="list the OpenCL devices; the first is the default")
    devices.set_defaults(command=_devices)

    methods = commands.add_parser("methods", help="list the models, and the schedules under which each can be run")
    methods.set_defaults(command=_methods)

    fit = commands.add_parser("fit", help="fit topics to documents in groups")
    fit.set_defaults(command=_fit)
    fit.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help=".csv .tsv .jsonl .json (each also .gz), .txt, a folder or .zip of .txt",
    )
    columns = fit.add_argument_group("columns (guessed when not given)")
    columns.add_argument("--text", metavar="COLUMN")
    columns.add_argument("--group", metavar="COLUMN")
    columns.add_argument("--title", metavar="COLUMN")
    columns.add_argument("--date", metavar="COLUMN")
    columns.add_argument("--document", metavar="COLUMN",
                         help="rows of a group with the same value there are passages of one document")  # fmt: skip
    columns.add_argument("--no-document", dest="document", action="store_const", const="",
                         help="each row is a document, whatever the columns are called")  # fmt: skip

    words = fit.add_argument_group("words")
    words.add_argument(
        "--pretokenised", action="store_true", help="words are what white space separates, all kept as they are"
    )
    words.add_argument(
        "--language", default="auto", help="language of the stop words: en, de, fr, ..., auto (guessed), none"
    )
    words.add_argument(
        "--stop-word", action="append", default=[], metavar="WORD", help="one more stop word; may be repeated"
    )
    words.add_argument(
        "--join", action="append", default=[], metavar="WORD=WORD",
        help="read words as the first of them, as in tax=taxes; may be repeated",
    )  # fmt: skip
    words.add_argument("--minimum-documents", type=int, metavar="N", help="a word must be in at least N documents")
    words.add_argument(
        "--maximum-share", type=float, metavar="X", default=0.5, help="and in at most this share of the documents"
    )
    words.add_argument("--passages", action=argparse.BooleanOptionalAction, default=None,
                       help="cut long documents into passages (default: where a group has fewer than 20 documents)")  # fmt: skip

    model = fit.add_argument_group("model")
    model.add_argument(
        "--model", default=next(iter(MODELS)), metavar="NAME",
        help="; ".join(f"{one.name}: {one.about}" for one in MODELS.values()) + " (default %(default)s)",
    )  # fmt: skip
    model.add_argument("--topics", type=int, default=20, metavar="K", help="default %(default)s")
    model.add_argument("--learn", action=argparse.BooleanOptionalAction, default=True,
                       help="learn the priors that are not given below (default), or leave them at their defaults")  # fmt: skip
    model.add_argument("--repeats", action=argparse.BooleanOptionalAction, default=None,
                       help="let documents repeat words beyond their topics (default: in spdp, where it can be had)")  # fmt: skip
    for name, help_text in _prior_helps().items():
        model.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="X", help=f"fix the {help_text}")
    model.add_argument("--associations", type=Path, metavar="FILE",
                       help="table of group (or *), word, base word, weight: what groups say for a base word")  # fmt: skip

    run = fit.add_argument_group("run")
    run.add_argument("--iterations", type=int, default=200, metavar="N", help="default %(default)s")
    run.add_argument("--seed", type=int, default=1, metavar="S", help="default %(default)s")
    run.add_argument(
        "--tempering",
        action=argparse.BooleanOptionalAction,
        default=None,
        help=f"temper some of the first {LAST} sweeps, so that topics form sooner (default: where it can be)",
    )
    run.add_argument(
        "--schedule",
        metavar="NAME",
        help="one of the model's; see the command “methods” (default: what suits the device)",
    )
    run.add_argument("--order", metavar="NAME", help="in which a schedule that has orders visits the words")
    run.add_argument("--device", metavar="NAME", help="part of a device's name; see the command “devices”")
    run.add_argument("--workers", type=int, metavar="P",
                     help="how many sample at once in the schedule blocks (default: every core)")  # fmt: skip

    fit_measure = fit.add_argument_group("what measures the fit: words that are not trained on")
    fit_measure.add_argument("--held-out", type=float, metavar="FRACTION_OF_DOCUMENTS",
                             help=f"half the words of this share of the documents (default {HELD_OUT:g}; 0: none)")  # fmt: skip
    fit_measure.add_argument("--score", type=Path, metavar="PATH",
                             help="or the words of this file, whose rows belong to documents of the others")  # fmt: skip
    fit_measure.add_argument("--id", metavar="COLUMN", help="in both, says which row belongs to which document")

    fit_measure.add_argument("--reference", type=Path, metavar="FILE",
                             help="look for the topics' words in this text, too, to tell how coherent they are")  # fmt: skip

    _add_output(fit)

    go_on = commands.add_parser("continue", help="go on with the run of a project")
    go_on.set_defaults(command=_continue)
    go_on.add_argument("file", metavar="PROJECT", help=f"a {ENDING} file, of the app or of “fit --project”")
    go_on.add_argument("--iterations", type=int, required=True, metavar="N", help="how many more")
    _add_output(go_on)
    return parser


def _add_output(parser: argparse.ArgumentParser) -> None:
    """What becomes of a run."""
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="write the tables as CSV, and manifest.json with every setting",
    )
    output.add_argument(
        "--report", type=Path, metavar="FILE", help="write a report as one HTML file that opens anywhere"
    )
    output.add_argument("--project", type=Path, metavar="FILE",
                        help=f"save documents and run as a {ENDING} file, which the app and “continue” open")  # fmt: skip
    output.add_argument("--json", action="store_true", help="print the figures as one JSON object on the last line")


def _prior_helps() -> dict[str, str]:
    """Every prior of every model by name: what it is, and its default in the models that have it."""
    about: dict[str, str] = {}
    defaults: dict[str, dict[str, str]] = {}
    for model in MODELS.values():
        for prior in fields(model.priors):
            about.setdefault(prior.name, prior.metadata["help"])
            defaults.setdefault(prior.name, {})[model.name] = f"{prior.default:g}"

    def default(values: dict[str, str]) -> str:
        if len(values) == len(MODELS) and len(set(values.values())) == 1:
            return next(iter(values.values()))
        return ", ".join(f"{value} in {model}" for model, value in values.items())

    return {name: f"{text} (default {default(defaults[name])})" for name, text in about.items()}


def _devices(_: argparse.Namespace) -> int:
    """Lists devices."""
    devices = list_devices()
    for device in devices:
        print(
            f"{device.name}\t{device.kind}\t{device.compute_units} units\t{device.memory / 2**20:,.0f} MB\t{device.platform}"
        )
    if not devices:
        choose_device()  # says what to do
    return 0


def _methods(_: argparse.Namespace) -> int:
    """Lists models and schedules as a table."""
    rows = [
        (
            "model", "schedule", "orders", "result", "associations", "repeats", "tempering",
            "what it is, and where it comes from",
        )
    ]  # fmt: skip
    rows += [
        (
            method.model,
            method.schedule,
            ", ".join(method.orders) or "-",
            method.exactness,
            "yes" if method.associations else "-",
            ("yes" if method.repeats else "if asked for") if method.runner.takes_repeats else "-",
            ("yes" if method.tempering else "if asked for") if method.runner.takes_tempering else "-",
            method.source,
        )
        for model in MODELS
        for method in methods_of(model)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _fit(options: argparse.Namespace) -> int:
    """Reads, fits, tells."""
    _check_run(options)
    model = model_named(options.model)
    _check_score(options)
    priors = {name: getattr(options, name) for name in _prior_helps()}
    settings = SamplerSettings(
        model=options.model,
        topics=options.topics,
        priors=make_priors(model.priors, priors, options.model),
        learn=options.learn,
        fixed=tuple(name for name, value in priors.items() if value is not None),
        repeats=options.repeats,
        tempering=options.tempering,
        schedule=options.schedule,
        order=options.order,
        workers=options.workers,
        device=options.device,
        seed=options.seed,
        held_out=_held_out(options),
    )
    # What is small is read before what takes longer.
    table = read_associations(options.associations) if options.associations else None
    held = read_collection([options.score]) if options.score else None
    collection = read_collection(options.paths)
    documents, words, corpus = _read(options, collection)
    scored = match_scored(held, options.id, collection, corpus) if held else None
    _print_notes(scored.notes if scored else ())
    settings.check_makes_sense_for(corpus)
    associations = Associations.of(table, corpus) if table else None
    if associations:
        _print_notes(associations.notes)
        settings = replace(settings, associations=associations.matrices)
    reference = read_reference(options.reference, corpus) if options.reference else None
    sampler = Sampler(corpus, settings, scored.tokens if scored else None)
    records = _sample(sampler, options.iterations)
    result = Result(
        corpus, sampler.settings, sampler.inspect(), tuple(records), sampler.training_tokens, associations, reference, scored
    )  # fmt: skip
    name = ", ".join(path.name.split(".")[0] for path in map(Path, options.paths))
    if options.project:
        project = Project(
            name, collection, documents, words, corpus, sampler.settings, tuple(records), sampler.snapshot(), associations, scored,
            reference,
        )  # fmt: skip
        write_project(project, options.project)
    return _tell(options, result, name)


def _continue(options: argparse.Namespace) -> int:
    """Goes on with the run of a project, tells."""
    _check_run(options)
    project = read_project(options.file)
    for sentence in (project.told, *project.remarks):
        print(sentence)
    scored = project.scored
    sampler = Sampler(project.corpus, project.settings_here, scored.tokens if scored else None, project.snapshot)
    records = (*project.records, *_sample(sampler, options.iterations))
    if options.project:
        # What was found out about how sure the topics are is of the run as it was.
        now = replace(project, settings=sampler.settings, records=records, snapshot=sampler.snapshot(), findings=None)
        write_project(now, options.project)
    result = Result(
        project.corpus, sampler.settings, sampler.inspect(), records, sampler.training_tokens, project.associations,
        project.reference, scored, project.view,
    )  # fmt: skip
    return _tell(options, result, project.name)


def _check_run(options: argparse.Namespace) -> None:
    """Refuses a run of none, and one that could not be saved when it is over."""
    if options.iterations < 1:
        raise SettingsError(f"The number of iterations must be at least 1; it is {options.iterations}.")
    if options.project and not options.project.name.lower().endswith(ENDING):
        raise SettingsError(f"The name of a project ends in {ENDING}; write {options.project}{ENDING}.")
    for what, path in (("report", options.report), ("project", options.project)):
        if path and not path.absolute().parent.is_dir():
            raise InputError(f"There is no folder for the {what} “{path}”. Make it, or choose another file.")


def _tell(options: argparse.Namespace, result: Result, name: str) -> int:
    """Writes and prints what was asked for of a run. name: what its collection is called."""
    if options.project:
        print(f"Saved the project to {options.project}.")
    if options.output:
        names = write_folder(result, options.output)
        print(f"Wrote {', '.join(names[:-1])} and {names[-1]} to {options.output}.")
    if options.report:
        write_report(result, options.report, name)
        print(f"Wrote the report to {options.report}.")
    if options.json:
        print(json.dumps(result.summary(), ensure_ascii=False))
    elif not (options.output or options.report or options.project):
        _print_topics(result)
    return 0


def _check_score(options: argparse.Namespace) -> None:
    """Refuses halves of what makes up a split of one's own, and a second way to measure the fit."""
    if options.score is None and options.id is not None:
        raise SettingsError(
            "The option --id says by which column a file of scored words is matched; give it with --score."
        )
    if options.score is not None and options.id is None:
        raise SettingsError(
            "The option --score needs --id: the column, in both files, that says which row belongs to which document."
        )
    if options.score is not None and options.held_out is not None:
        raise SettingsError(
            "With --score the words of that file measure the fit, and nothing else is held out; leave out --held-out, or --score."
        )


def _held_out(options: argparse.Namespace) -> float:
    """The share of the documents that are held out."""
    if options.score is not None:
        return 0.0
    return HELD_OUT if options.held_out is None else float(options.held_out)


def _read(options: argparse.Namespace, collection: Collection) -> tuple[Documents, CorpusSettings, Corpus]:
    """The documents, how they become words, and the corpus, with the guesses and the report printed on the way."""
    given = {role.name: getattr(options, role.name) for role in fields(Columns)}
    try:
        guess = guess_columns(collection)
    except InputError:
        if not given["text"]:
            raise
        guess = Columns(text=given["text"])
    taken = {role: set(given.values()) for role in given}
    for role in ("title", "date"):  # a title may well say which document it is of
        taken[role] -= {given["document"]}
    if options.id is not None:  # what tells documents apart is known, and is no guess at anything else
        for role in given:
            taken[role].add(options.id)
    if given["document"] == "":
        taken["document"].add(guess.document)
    group, title, date, document = (
        given[role] or _unless(getattr(guess, role), taken[role]) for role in given if role != "text"
    )
    columns = Columns(given["text"] or guess.text, group, title, date, document)
    guessed = [f"{role} = {column}" for role, column in columns.parts().items() if not given[role]]
    if guessed:
        others = ", ".join(f"--{role}" for role in given)
        no = " or --no-document" if "document" in columns.parts() and not given["document"] else ""
        print(f"Columns guessed: {', '.join(guessed)}. Name others with {others}{no}.")
    language = "none" if options.pretokenised else options.language
    words = CorpusSettings(
        language=language,
        extra_stop_words=tuple(options.stop_word),
        joined_words=read_joined("\n".join(options.join)),
        minimum_documents=options.minimum_documents,
        maximum_share=options.maximum_share,
        pretokenised=options.pretokenised,
        passages=options.passages,
    )
    documents = make_documents(collection, columns)
    corpus = build_corpus(documents, words)
    _print_notes(corpus.notes)
    return documents, words, corpus


def _print_notes(notes: Sequence[Note]) -> None:
    for note in notes:
        print(note.text)


def _unless(column: str | None, taken: set[str | None]) -> str | None:
    """A guessed column, unless the person gave it another part."""
    return None if column in taken else column


def _sample(sampler: Sampler, iterations: int) -> list[Iteration]:
    """Runs with a progress bar on standard error; Ctrl-C ends it after the present iteration and keeps what there is."""
    records: list[Iteration] = []
    with tqdm(total=iterations, unit="it", file=sys.stderr, dynamic_ncols=True) as bar, _interruption() as interrupted:
        while len(records) < iterations and not interrupted():
            record = sampler.step()
            records.append(record)
            perplexity = f"{record.perplexity:.1f}" if record.perplexity is not None else "not measured"
            if record.averaged is not None:
                perplexity += f", averaged {record.averaged:.1f}"
            bar.set_postfix_str(
                f"perplexity {perplexity}, {record.tokens_per_second / 1e6:.1f}M tokens/s", refresh=False
            )
            bar.update()
        if interrupted():
            bar.write("Interrupted; what was found so far is kept.", file=sys.stderr)
    return records


@contextmanager
def _interruption() -> Iterator[Callable[[], bool]]:
    """Tells whether Ctrl-C was pressed, which takes effect at once only when it is pressed again: an iteration that is left half
    done would be no state to go on from."""
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def press(*_: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def _print_topics(result: Result) -> None:
    """The topics as text, the most prevalent first."""
    topics = result.topics()
    for topic in topics.order("prevalence"):
        gap = "" if topics.worded_alike else f"   (wording gap {topics.gap[topic]:.2f})"
        print(f"\nTopic {topic + 1}: {topics.label(topic)}{gap}")
        for line in _lines(topics, int(topic)):
            print(f"  {line}")


def _lines(topics: Topics, topic: int) -> list[str]:
    """Each group's share and words of a topic; the words only once where the groups word it alike."""
    shares = [f"{name} {topics.prevalence[i, topic]:.1%}" for i, name in enumerate(topics.group_names)]
    words = [" ".join(word.word for word in column) for column in topics.top_words(topic, 12)]
    if topics.worded_alike:
        return [", ".join(shares), words[0]]
    return [f"{share}: {column}" for share, column in zip(shares, words, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
