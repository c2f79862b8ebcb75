"""How the figures of a report came about: in sentences, setting by setting, and whom to cite for what was used."""

from __future__ import annotations

from dataclasses import dataclass

from spdp_engine.corpus import LANGUAGE_NAMES
from spdp_engine.results import Result, averaged_in, settings_table, version
from spdp_engine.sampling import model_named
from spdp_engine.sampling.tempering import LAST, is_tempered
from spdp_engine.topics.telling import words_are_known

VALUE_LENGTH = 300
"""Characters of a value in the table of settings; longer lists are in manifest.json."""


@dataclass(frozen=True)
class Citation:
    """A source: what it was used for, its text, and its DOI ('' where it has none)."""

    used_for: str
    text: str
    doi: str = ""


SPDP = Citation(
    "the model SPDP",
    "C. Chen, W. Buntine, N. Ding, L. Xie, L. Du: Differential topic models. IEEE Transactions on Pattern Analysis and Machine "
    "Intelligence 37(2), 230–242, 2015.",
    "10.1109/TPAMI.2014.2313127",
)
PITMAN_YOR = Citation(
    "the Pitman-Yor process, from which each group’s wording is drawn",
    "W. Buntine, M. Hutter: A Bayesian view of the Poisson-Dirichlet process. arXiv 1007.0296, 2010.",
    "10.48550/arXiv.1007.0296",
)
REPEATS = Citation(
    "documents that repeat words",
    "I. Sato, H. Nakagawa: Topic models with power-law using Pitman-Yor process. Proceedings of KDD, 673–682, 2010.",
    "10.1145/1835804.1835890",
)
TEMPERING = Citation(
    "warming a chain again and again, and averaging what lies between",
    "R. Zhang, C. Li, J. Zhang, C. Chen, A. G. Wilson: Cyclical stochastic gradient MCMC for Bayesian deep learning. "
    "Proceedings of ICLR, 2020.",
    "10.48550/arXiv.1902.03932",
)
LDA = Citation(
    "the model LDA",
    "D. M. Blei, A. Y. Ng, M. I. Jordan: Latent Dirichlet allocation. Journal of Machine Learning Research 3, 993–1022, 2003.",
)
COLLAPSED = Citation(
    "sampling LDA one word at a time",
    "T. L. Griffiths, M. Steyvers: Finding scientific topics. PNAS 101 (suppl. 1), 5228–5235, 2004.",
    "10.1073/pnas.0307752101",
)
BLOCKED = Citation(
    "sampling all uses of a word in a document at once",
    "X. Zhang, S. A. Sisson: Blocking collapsed Gibbs sampler for latent Dirichlet allocation models. 2016.",
)
LOG_ODDS = Citation(
    "words that set a group apart",
    "B. L. Monroe, M. P. Colaresi, K. M. Quinn: Fightin’ words: lexical feature selection and evaluation for identifying the "
    "content of political conflict. Political Analysis 16(4), 372–403, 2008.",
    "10.1093/pan/mpn018",
)
HELD_OUT = Citation(
    "held-out perplexity by document completion",
    "H. M. Wallach, I. Murray, R. Salakhutdinov, D. Mimno: Evaluation methods for topic models. Proceedings of ICML, 1105–1112, "
    "2009.",
    "10.1145/1553374.1553515",
)
COHERENCE = Citation(
    "coherence (NPMI over sliding windows)",
    "M. Röder, A. Both, A. Hinneburg: Exploring the space of topic coherence measures. Proceedings of WSDM, 399–408, 2015.",
    "10.1145/2684822.2685324",
)
DIVERSITY = Citation(
    "diversity",
    "A. B. Dieng, F. J. R. Ruiz, D. M. Blei: Topic modeling in embedding spaces. Transactions of the ACL 8, 439–453, 2020.",
    "10.1162/tacl_a_00325",
)
IMPUTED = Citation(
    "intervals over many samples of the run",
    "D. B. Rubin: Multiple imputation for nonresponse in surveys. Wiley, 1987.",
    "10.1002/9780470316696",
)
SIMULTANEOUS = Citation(
    "intervals of differences, which hold for all pairs of groups at once",
    "J. L. Montiel Olea, M. Plagborg-Møller: Simultaneous confidence bands: theory, implementation, and an application to SVARs. "
    "Journal of Applied Econometrics 34(1), 1–17, 2019.",
    "10.1002/jae.2656",
)
FALSE_DISCOVERIES = Citation(
    "own words and wording gaps that are more than chance",
    "J. D. Storey, R. Tibshirani: Statistical significance for genomewide studies. PNAS 100(16), 9440–9445, 2003.",
    "10.1073/pnas.1530509100",
)


def citations_of(result: Result) -> tuple[Citation, ...]:
    """Sources of all that the run and its figures use."""
    settings, topics = result.settings, result.topics()
    used = [SPDP, PITMAN_YOR] if settings.model == "spdp" else [LDA]
    if settings.schedule == "single_site":
        used.append(COLLAPSED)
    elif (settings.schedule or "").startswith("blocked"):
        used.append(BLOCKED)
    if settings.repeats:
        used.append(REPEATS)
    if _tempered(result):
        used.append(TEMPERING)
    if not topics.worded_alike:
        used.append(LOG_ODDS)
    if result.perplexity_trace:
        used.append(HELD_OUT)
    used += [COHERENCE, DIVERSITY]
    findings = result.findings
    if findings.prevalence_draws is not None:
        used += [IMPUTED, SIMULTANEOUS]
    if findings.gap_limit is not None or words_are_known(findings):
        used.append(FALSE_DISCOVERIES)
    return tuple(used)


def methods_of(result: Result) -> tuple[str, ...]:
    """Paragraphs that say how it was done."""
    return _texts(result), _model(result), _measures(result)


def _tempered(result: Result) -> int:
    """How many of its iterations were tempered."""
    return sum(map(is_tempered, range(result.sample.iteration + 1))) if result.settings.tempering else 0


def _texts(result: Result) -> str:
    """What was read, and which words were kept."""
    corpus, words = result.corpus, result.corpus.settings
    things, by = corpus.things, corpus.documents.columns.document
    sizes = ", ".join(f"{name}: {size:,}" for name, size in corpus.group_sizes().items())
    if corpus.has_passages:
        originals = corpus.group_originals()
        sizes = ", ".join(f"{name}: {size:,} of {originals[name]:,}" for name, size in corpus.group_sizes().items())
    if words.pretokenised:
        kept = "Words are what white space separates, as they were."
    else:
        stop = LANGUAGE_NAMES.get(words.language, words.language)
        left_out = (
            "No stop words were left out" if words.language == "none" else f"The everyday words of {stop} were left out"
        )
        own = f", with {len(words.extra_stop_words):,} more named by the author" if words.extra_stop_words else ""
        share = f", and words in more than {words.maximum_share:.0%} of the {things}" if words.maximum_share < 1 else ""
        kept = f"{left_out}{own}, as were words in fewer than {words.minimum_documents} {things}{share}."
    if words.joined_words:
        kept += f" Read as one word: {'; '.join(' = '.join(joined) for joined in words.joined_words)}."
    cut = f" Long documents were cut into passages of about {words.passage_words} words." if words.passages else ""
    together = (
        f" Rows of a group with the same value in the column “{by}” are passages of one document, and are taken together wherever "
        "documents are drawn anew or dealt out."
        if by is not None
        else ""
    )
    files = ", ".join(source.name for source in corpus.documents.sources)
    return (
        f"Texts came from {files}: {corpus.told} ({sizes}) with {corpus.n_tokens:,} words of a vocabulary of "
        f"{corpus.n_words:,}.{together}{cut} {kept}"
    )


def _model(result: Result) -> str:
    """The model and how it was sampled."""
    settings = result.settings
    model = model_named(settings.model)
    samples, since = averaged_in(result.sample)
    order = f", order {settings.order}" if settings.order else ""
    fixed = f", except {', '.join(settings.fixed)}, which were fixed" if settings.fixed else ""
    learned = (
        f"Hyperparameters were drawn from their conditionals between sweeps{fixed}."
        if settings.learn
        else "Hyperparameters were fixed."
    )
    repeats = " A document may repeat a word beyond what its topics say." if settings.repeats else ""
    warm = _tempered(result)
    tempered = f" {warm} of the first {LAST} iterations were tempered." if warm else ""
    averages = (
        f" Words and shares are means over {samples:,} samples since iteration {since:,}."
        if since
        else " Words and shares are of one sample."
    )
    return (
        f"The model is {model.title} ({model.about}) with {settings.topics:,} topics, sampled by Gibbs sampling for "
        f"{result.sample.iteration:,} iterations with seed {settings.seed} (schedule {settings.schedule}{order}, "
        f"{settings.device}). {learned}{repeats}{tempered}{averages} Made with Parallax {version()}."
    )


def _measures(result: Result) -> str:
    """How good the fit and the topics are, and what was measured of chance."""
    summary, quality, known = result.summary(), result.quality, result.findings
    perplexity, averaged = summary["held_out_perplexity"], summary["averaged_perplexity"]
    parts = []
    if perplexity is not None:
        mean = f" ({averaged:,.0f} of the averages)" if averaged is not None else ""
        what = (
            "the words of a second file"
            if result.scored
            else f"half the words of {result.settings.held_out:.0%} of the documents"
        )
        parts.append(
            f"Held-out perplexity is {perplexity:,.0f}{mean}, measured on {what}, which were not learned from."
        )
    parts.append(
        f"Mean coherence (NPMI) of the topics is {quality.mean_npmi:.2f}, their diversity {quality.diversity:.2f}.".replace(
            "-", "−"
        )
    )
    if not result.topics().worded_alike:
        parts.append(
            "Own words are found by log-odds with an informative Dirichlet prior; the wording gap is the Hellinger distance "
            "between the groups’ wordings, the mean over pairs."
        )
    if known.prevalence_draws is not None:
        parts.append(f"Intervals are {known.level:.0%} intervals of {len(known.prevalence_draws):,} draws.")
    if known.gap_baseline is not None:
        parts.append(
            f"What chance gives was found by dealing out groups to documents at random, {len(known.gap_baseline):,} times; words "
            "are judged among those used about as much."
        )
    if known.seeds:
        parts.append(f"“Found in” counts {known.seeds.of} runs with different seeds, this one included.")
    return " ".join(parts)


def setting_rows(result: Result) -> tuple[tuple[str, str], ...]:
    """Every setting and figure of the run with its value, as text."""
    rows = []
    for name, value in settings_table(result).itertuples(index=False):
        text = _plain(value)
        rows.append((name, text if len(text) <= VALUE_LENGTH else f"{text[:VALUE_LENGTH]}…"))
    return tuple(rows)


def _plain(value: object) -> str:
    """A value as people write it; '' where there is none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
