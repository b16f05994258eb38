"""Checks the sentences of a draft against its evidence, and applies their revision."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.attribution.details import find_missing_numbers, stem_words
from lrwr.core.attribution.names import (
    find_missing_names,
    fold_words,
    list_named_characters,
)
from lrwr.core.attribution.quotations import occurs_in
from lrwr.core.evidence.checker import DraftChecker
from lrwr.core.evidence.comparison import DetailKind
from lrwr.core.evidence.drafts import DraftSentence, PostDraft, map_sentences
from lrwr.core.evidence.judge import (
    ClaimJudge,
    EvidenceClaim,
    Verdict,
    verify_judgement,
)
from lrwr.core.evidence.limits import LIMITS, Platform, fits
from lrwr.core.evidence.pack import (
    EvidenceFact,
    EvidencePack,
    cut_quote,
    iter_source_texts,
)
from lrwr.core.evidence.prompts import FlaggedSentence
from lrwr.core.evidence.results import (
    CheckedStatement,
    CheckedStory,
    StatementResult,
)
from lrwr.core.evidence.statement_search import find_subject
from lrwr.core.evidence.statements import (
    MIN_CLAUSE_STEMS,
    DraftStatement,
    iter_statements,
)
from lrwr.core.model.text import STOP_WORDS, LineIndex, SentenceSplitter
from lrwr.core.ports.stores import DocumentText

_SUPERLATIVE = re.compile(
    r"\b(?:best[- ]?selling|greatest|finest|unforgettable|breathtaking|stunning|gripping"
    r"|masterpiece|masterful|must[- ]read|page[- ]turner|unputdownable|incredible"
    r"|amazing|spellbinding|unmatched|unparalleled|the (?:most|best|worst) \w+"
    r"|(?:most|best) \w+ ever|never before)\b",
    re.IGNORECASE,
)


_BACKWARD = re.compile(
    r"\W*(?P<word>(?:he|she|they|his|her|their|its|this|these|those)\b"
    r"|it\b(?!\s+(?:is|was)\b[^.]*\b(?:that|who|when|where)\b))",
    re.IGNORECASE,
)
"""The beginning of a sentence that needs the one before; "it was Nell who" does not."""

_PERSONAL = frozenset(("he", "she", "they", "his", "her", "their"))
_NAME = re.compile(r"\b[A-Z]\w{2,}")

_STATEMENT_BEFORE_QUESTION = re.compile(
    r"(?P<statement>[^?]+?)(?:[:;–—]\s|\s?—\s?)[^?]*\?\W*"
)

_ADDRESS = re.compile(
    r"\W*(?:dear|hello|hi) (?:[A-Z][\w.’'-]*|[a-z]+)(?: [A-Z][\w.’'-]*){0,3}[,.:!]?\s*\Z"
    r"|\W*(?:(?:many )?thanks|thank you)(?: (?:so|very) much)?"
    r"(?: for (?:(?:you|your|the|time|and|consideration|considering|attention|interest"
    r"|reading|this|letter|it|patience)\b ?)+)?[.,!]?\s*\Z"
    r"|\W*(?:yours?(?: (?:sincerely|faithfully|truly|ever))?|sincerely|(?:kind|best|warm)"
    r" (?:regards|wishes))[.,!]?\s*\Z",
    re.IGNORECASE,
)
"""The address or the end of a letter, which say nothing: "Dear Ms. Bell," "Best wishes,"."""

_BOOK_WORDS = (
    "am book complete consider consideration enclose entitled fiction length long"
    " manuscript novel offer pleased representation seek story submission submit title"
    " word"
)
"""What a sentence about the book as a book may say besides the words of the brief."""

_PROMISE = re.compile(
    r"\b(?:nothing|everything|no one|nobody|everyone) (?:will|is|may|can)\b[^.?!]*"
    r"|(?:life|lives|world) will (?:never|change)\b[^.?!]*|chang\w+ (?:everything|forever)"
    r"|(?:secrets?|truth|danger|betrayal|lies)\b|about to (?:change|discover|learn|lose)"
    r"|before (?:it is|it’s|it's) too late|against (?:time|the clock)|will never forget"
    r"|more than (?:he|she|they) bargained for|stakes|twists?\b|shocking|until now\b"
    r"|put (?:it|this book) down|keep you (?:up|guessing|reading)|page after page",
    re.IGNORECASE,
)
"""Phrases of a text without facts that promise a plot, or what reading it is like."""

_PAST_QUESTION = re.compile(
    r"\W*(?:and |but |so )?(?:who|whom|whose|why|what|when|where|how)\b"
    r".*\b(?:did|was|were|had|\w+ed)\b",
    re.IGNORECASE,
)
"""A question that takes for granted that something happened."""

_THIRD_PERSON = re.compile(r"\b(?:he|she|him|her|his|hers)\b", re.IGNORECASE)

MIN_TOLD_WORDS = 3
"""Content words of the facts, besides those of the brief, with which a sentence tells of
the story."""

_NO_FACT = "it names no fact that it rests on"
_DANGLING = "it refers to a sentence that was left out"

_CHECKED_KINDS = (DetailKind.NUMBER, DetailKind.NAME, DetailKind.NEGATION)
"""Details that a draft must have as the text has them; its words are its own."""


@dataclass(frozen=True, slots=True)
class SentenceRevision:
    """A sentence that was flagged for `reason`, and what replaced it; empty if nothing
    did: it was left out.
    """

    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class DraftCheck:
    """The flagged sentences of a draft.

    `supported` counts sentences that a language model found supported, `unjudged` are
    those with facts of which it said nothing that counts. `stopped` says why.
    `citations` has for supported sentences whose facts do not quote the words that
    decide a further fact that does; its number is 0.
    """

    flagged: tuple[FlaggedSentence, ...] = ()
    supported: int = 0
    unjudged: tuple[str, ...] = ()
    stopped: str = ""
    citations: Mapping[DraftSentence, EvidenceFact] = field(default_factory=dict)

    def __add__(self, other: "DraftCheck") -> "DraftCheck":
        """Return the check of the sentences of both."""
        return DraftCheck(
            self.flagged + other.flagged,
            self.supported + other.supported,
            self.unjudged + other.unjudged,
            self.stopped or other.stopped,
            {**self.citations, **other.citations},
        )


@dataclass(frozen=True, slots=True)
class SentenceCheckParts:
    """What the check of a draft uses.

    `brief` may name what no fact does. Without `judge`, only rules check. `split`
    divides a text into sentences. Each sentence must fit into a post of `platform`;
    None for no limit.
    """

    checker: DraftChecker
    story: CheckedStory
    split: SentenceSplitter
    brief: str = ""
    judge: ClaimJudge | None = None
    platform: Platform | None = None


@dataclass(slots=True)
class RuleCheck:
    """What rules say of the sentences of a draft, in their order.

    `names` are the lines with names of the present sentence, `before` is the sentence
    before it. `claims` are left to the language model, `doubts` are reasons to flag one
    of them unless the model finds it supported.
    """

    subject: str = ""
    names: tuple[str, ...] = ()
    before: str = ""
    flagged: list[FlaggedSentence] = field(default_factory=list)
    claims: dict[DraftSentence, EvidenceClaim] = field(default_factory=dict)
    doubts: dict[DraftSentence, str] = field(default_factory=dict)


async def check_draft_sentences(
    sentences: Sequence[DraftSentence], pack: EvidencePack, parts: SentenceCheckParts
) -> DraftCheck:
    """Check sentences: each statement has facts, and says no more than their sources.

    Empty sentences are left out.

    Raises:
        StoreProblem: The library cannot be read.
    """
    by_rules = await check_by_rules(sentences, pack, parts)
    return await judge_sentences(by_rules, pack, parts)


async def check_by_rules(
    sentences: Sequence[DraftSentence], pack: EvidencePack, parts: SentenceCheckParts
) -> RuleCheck:
    """Compare numbers, names, quotations and details of sentences with their sources,
    and with the manuscript.

    Raises:
        StoreProblem: The library cannot be read.
    """
    progress = RuleCheck()
    for sentence in filter(lambda s: s.text, dict.fromkeys(sentences)):
        reason = await _find_fault(sentence, pack, parts, progress)
        if reason:
            progress.flagged.append(FlaggedSentence(sentence, reason))
        elif sentence.facts:
            texts = tuple(iter_source_texts(pack.select(sentence.facts)))
            progress.claims[sentence] = EvidenceClaim(
                sentence.text, texts, progress.names, progress.before
            )
        progress.before = sentence.text
    return progress


async def judge_sentences(
    progress: RuleCheck, pack: EvidencePack, parts: SentenceCheckParts
) -> DraftCheck:
    """Let the language model, if there is one, judge what the rules accept; what it
    flags follows what they flag.

    Raises:
        StoreProblem: The library cannot be read.
    """
    if parts.judge is None or not progress.claims:
        return DraftCheck(tuple(progress.flagged), unjudged=_list_texts(progress))
    return await _judge_claims(parts.judge, progress, pack)


async def _find_fault(
    sentence: DraftSentence,
    pack: EvidencePack,
    parts: SentenceCheckParts,
    progress: RuleCheck,
) -> str:
    """Return why rules flag a sentence, as a clause; empty if they do not."""
    text, platform = sentence.text, parts.platform
    if platform is not None and not fits(text, platform):
        return f"it is longer than a post of {LIMITS[platform].characters} characters"
    draft = DocumentText(text, LineIndex.of(text))
    statements = list(iter_statements(draft, parts.split))
    results = []
    for statement in statements:
        results.append(
            await parts.checker.check(
                statement, parts.story, progress.subject, progress.before
            )
        )
        progress.subject = find_subject(statement, parts.story) or progress.subject
    progress.names = tuple(dict.fromkeys(line for r in results for line in r.names))
    later = next((r for r in results if r.result is StatementResult.LATER), None)
    if later is not None:
        return f"the story tells it only in chapter {later.chapter}"
    if not sentence.facts:
        if _ADDRESS.match(text) or _repeats_brief(text, parts.brief):
            return ""
        has_claim = any(r.result is not StatementResult.NOTHING for r in results)
        has_claim = has_claim or _claims_before_question(text)
        return _NO_FACT if has_claim else _describe_framing(text, pack, parts)
    sources = pack.select(sentence.facts)
    texts = list(iter_source_texts(sources))
    reason = _compare_with_sources(text, statements, texts, parts, pack)
    is_quoted = any(quotation.is_long for s in statements for quotation in s.quotations)
    if not reason and not is_quoted and any(fact.source.is_own for fact in sources):
        differing = [r for r in results if _describe_difference(r)]
        reason = next(map(_describe_difference, differing), "")
        if parts.judge is not None and all(map(_lacks_negation_only, differing)):
            progress.doubts[sentence], reason = reason, ""
    return reason


def _repeats_brief(text: str, brief: str) -> bool:
    """Return whether a sentence says no more than the author's brief, in its words."""
    stems = stem_words(text) - stem_words(_BOOK_WORDS)
    return bool(stems) and stems <= stem_words(brief) and not _PROMISE.search(text)


def _find_praise(text: str, source: str) -> str:
    """Return why a sentence praises more than `source` does; empty if it does not."""
    superlative = _SUPERLATIVE.search(text)
    if superlative and superlative[0].casefold() not in source.casefold():
        return f"“{superlative[0]}” is praise that no source gives"
    return ""


def _describe_framing(text: str, pack: EvidencePack, parts: SentenceCheckParts) -> str:
    """Return why a greeting, question or invitation without facts needs some; empty if it
    does not.

    It may have words of the brief, but no praise, promise or person of the story, and no
    question about what happened there.
    """
    source = "\n".join((*iter_source_texts(pack.facts), parts.brief))
    if praise := _find_praise(text, source):
        return praise
    promise = _PROMISE.search(text)
    if promise and promise[0].casefold() not in source.casefold():
        return f"“{promise[0]}” promises what no fact says"
    if text.rstrip('”"’) ').endswith("?"):
        named = list_named_characters(text, parts.story.cast)
        asks = named and _PAST_QUESTION.match(text)
        return f"it asks about what happened, and {_NO_FACT[3:]}" if asks else ""
    fact_stems = stem_words(" ".join(f"{f.statement} {f.quote}" for f in pack.facts))
    shared = (fact_stems & stem_words(text)) - stem_words(parts.brief)
    is_told = _THIRD_PERSON.search(text) or len(shared) >= MIN_TOLD_WORDS
    return _NO_FACT if is_told else ""


def _claims_before_question(text: str) -> bool:
    """Return whether a question follows a statement in its sentence: "A mule, a lamp and a
    false name: how long can it last?"
    """
    match = _STATEMENT_BEFORE_QUESTION.fullmatch(text)
    return match is not None and len(stem_words(match["statement"])) > MIN_CLAUSE_STEMS


def _compare_with_sources(
    text: str,
    statements: Sequence[DraftStatement],
    texts: Sequence[str],
    parts: SentenceCheckParts,
    pack: EvidencePack,
) -> str:
    source = "\n".join(texts)
    for statement in statements:
        for quotation in statement.quotations:
            if not occurs_in(quotation.text, texts):
                return f"“{quotation.text}” is not in the sources of its facts"
    if praise := _find_praise(text, source):
        return praise
    facts = [fact.statement for fact in pack.facts]
    numbers = find_missing_numbers(text, f"{source}\n{parts.brief}")
    if numbers:
        return f"“{numbers[0]}” is not in the sources of its facts"
    everything = "\n".join(
        (source, parts.brief, *facts, *iter_source_texts(pack.facts))
    )
    cast = parts.story.known_cast
    cast_words = {w for forms in cast for form in forms for w in fold_words(form)}
    for name in find_missing_names(text, everything, parts.story.cast):
        if not cast_words.intersection(fold_words(name.text)):
            return f"“{name.text}” is not in the sources of its facts"
    return ""


def _lacks_negation_only(checked: CheckedStatement) -> bool:
    """Return whether only a negation differs from a text in other words: these may say
    it without one.
    """
    kinds = {d.kind for d in checked.differences if d.kind in _CHECKED_KINDS}
    return not checked.is_repeated and kinds == {DetailKind.NEGATION}


def _describe_difference(checked: CheckedStatement) -> str:
    """Return how a statement differs from the manuscript; empty if it does not."""
    differences = [
        d
        for d in checked.differences
        if d.kind in _CHECKED_KINDS and (d.found or d.kind is DetailKind.NEGATION)
    ]
    if checked.result is not StatementResult.DETAILS_DIFFER or not differences:
        return ""
    first = differences[0]
    if not first.stated:
        return f"it leaves out “{first.found}” of the text"
    if not first.found:
        is_negation = first.kind is DetailKind.NEGATION
        missing = "does not negate it" if is_negation else "does not say that"
        return f"it says “{first.stated}”, the text {missing}"
    return f"it says “{first.stated}”, the text has “{first.found}”"


def _list_texts(progress: RuleCheck) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in progress.claims)


async def _judge_claims(
    judge: ClaimJudge, progress: RuleCheck, pack: EvidencePack
) -> DraftCheck:
    session = await judge.judge(list(dict.fromkeys(progress.claims.values())))
    verified = {
        claim: judgement
        for claim, raw in session.judged
        if (judgement := verify_judgement(claim, raw)) is not None
    }
    flagged = list(progress.flagged)  # these are revised at the same time
    supported = 0
    citations: dict[DraftSentence, EvidenceFact] = {}
    for sentence, claim in progress.claims.items():
        judgement = verified.get(claim)
        if judgement is None:
            if doubt := progress.doubts.get(sentence):
                flagged.append(FlaggedSentence(sentence, doubt))
            continue
        if judgement.verdict is Verdict.SUPPORTED:
            supported += 1
            if fact := _cite_deciding_words(sentence, judgement.quote, pack):
                citations[sentence] = fact
            continue
        contradicted = judgement.verdict is Verdict.CONTRADICTED
        verdict = (
            "a source contradicts it" if contradicted else "its facts do not say it"
        )
        why = f": {judgement.why}" if judgement.why else ""
        flagged.append(FlaggedSentence(sentence, f"{verdict}{why}"))
    unjudged = tuple(s.text for s, c in progress.claims.items() if c not in verified)
    return DraftCheck(tuple(flagged), supported, unjudged, session.stopped, citations)


def _cite_deciding_words(
    sentence: DraftSentence, words: str, pack: EvidencePack
) -> EvidenceFact | None:
    """Return a fact that quotes `words`, which decide that `sentence` is supported; None
    if one of its facts quotes most of them, or they stand in no source of its facts.
    """
    facts, stems = pack.select(sentence.facts), stem_words(words)
    for fact in facts:
        quoted = stem_words(fact.quote)
        if 2 * len(stems & quoted) >= min(len(stems), len(quoted)):
            return None
    for fact in facts:
        if quote := cut_quote(words, fact.source.text, sentence.text):
            return EvidenceFact(0, sentence.text, quote, fact.source)
    return None


def apply_revisions(
    draft: PostDraft,
    flagged: Sequence[FlaggedSentence],
    revised: Sequence[DraftSentence],
    still_flagged: Mapping[DraftSentence, str],
) -> tuple[PostDraft, tuple[SentenceRevision, ...]]:
    """Return `draft` with its flagged sentences replaced by `revised` ones, and what
    changed; a sentence that is in `still_flagged` after its revision is left out.
    """
    replacements: dict[DraftSentence, DraftSentence | None] = {}
    revisions: list[SentenceRevision] = []
    for flag, sentence in zip(flagged, revised, strict=True):
        if flag.sentence not in draft.sentences:
            continue
        is_usable = bool(sentence.text) and sentence not in still_flagged
        replacements[flag.sentence] = sentence if is_usable else None
        reason = flag.reason
        if sentence.text and not is_usable:
            reason = f"{reason}; after revision: {still_flagged[sentence]}"
        after = sentence.text if is_usable else ""
        revisions.append(SentenceRevision(flag.sentence.text, after, reason))
    for sentence in _iter_dangling(draft, replacements):
        replacements[sentence] = None
        revisions.append(SentenceRevision(sentence.text, "", _DANGLING))
    return map_sentences(draft, replacements), tuple(revisions)


def _iter_dangling(
    draft: PostDraft, replacements: Mapping[DraftSentence, DraftSentence | None]
) -> Iterator[DraftSentence]:
    """Yield the sentences that begin with a word for something in the sentence before
    which was left out, or which begins so itself.
    """
    for part in draft.parts:
        before, left_out = "", ""
        for sentence in part.sentences:
            final = replacements.get(sentence, sentence)
            if final is None:
                left_out = left_out or sentence.text
            elif left_out and _is_dangling(final.text, left_out, before):
                yield sentence
            else:
                before, left_out = final.text, ""


def _is_dangling(text: str, left_out: str, before: str) -> bool:
    """Return whether the first word of `text` means something that only the sentence
    `left_out` named, not the one `before` that.
    """
    backward, same = _BACKWARD.match(text), _BACKWARD.match(left_out)
    if backward is None:
        return False
    if same and before and same["word"].lower() == backward["word"].lower():
        return False
    names, earlier = (
        {name for name in _NAME.findall(words) if name.lower() not in STOP_WORDS}
        for words in (left_out, before)
    )
    is_person = backward["word"].lower() in _PERSONAL
    return not (is_person and names and names <= earlier)
