"""Statements of an answer that cite nothing although each statement should."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lrwr.core.attribution.answer_sentences import (
    AnswerSentence,
    iter_answer_sentences,
    states_nothing,
)
from lrwr.core.attribution.claims import (
    COMMON_WORDS,
    CheckedAnswer,
    CitationFinding,
    add_equivalents,
)
from lrwr.core.attribution.details import has_negation, stem_words
from lrwr.core.attribution.names import find_missing_names
from lrwr.core.attribution.sources import StoryContext
from lrwr.core.model.text import SentenceSplitter

MIN_INVENTED_WORDS = 3
"""Content words from which on a sentence that shares none with the passages says something
new, though it names nobody but whom the question names."""

_EVENT_WORDS = (
    "die dies died dying dead death kill kills killed murder murders murdered murderer drown"
    " drowns drowned poison poisons poisoned shot shoot stab stabbed hanged suicide marry"
    " marries married marriage wedding bride groom engaged husband wife widow pregnant child"
    " son daughter father mother parent brother sister uncle aunt nephew niece cousin heir"
    " lover loves betray betrays betrayed traitor thief steal steals stole stolen rob robbed"
    " guilty culprit criminal disguise disguised impostor spy secret secretly ghost forged"
    " prison arrested hanged escape escapes escaped flee flees fled elope elopes eloped"
)
"""Words of what a reader would not want to be told too early: deaths, marriages, kin,
crimes and disguises."""

_COMMENT = re.compile(
    r"^\W*(?:so|thus|hence|yet|still|both|altogether|overall|clearly|again|this|that|these"
    r"|(?:all|most|none|neither|much) of (?:this|that|it|them|these))\b"
    r"|\b(?:in (?:short|sum|brief|all|effect|other words|this way|that sense)"
    r"|on the whole|taken together|therefore|(?:this|that|which) is (?:why|how|what)"
    r"|after (?:this|that)|from then on|one (?:may|might|can|could|would)|seem(?:s|ed|ingly)?"
    r"|appear(?:s|ed)?|apparently|perhaps|probably|presumably|plain(?:ly)?|evident(?:ly)?"
    r"|obvious(?:ly)?|as (?:a|the) result|suggests?|impl(?:y|ies)|mean(?:s|t)?"
    r"|must|jokes?|puns?|iron(?:y|ic)|humou?r|satire|comic(?:al)?|metaphors?|contradicts?|contrasts?|confirm(?:s|ed)?|sums? up)\b",
    re.IGNORECASE,
)
"""Words with which an answer connects, concludes or comments."""

_OUTCOME = re.compile(
    r"\b(?:later|eventually|finally|ultimately|at last|(?:in|at|by) the (?:very )?end|will"
    r"|ends? up|turns? out)\b",
    re.IGNORECASE,
)
"""Words that announce how something goes on."""

_READ_ON = re.compile(
    r"^\W*(?:(?:but|so|then|for (?:that|this|more)),? )?(?:you\b.*?\b)?"
    r"(?:read(?:ing)? (?:on|further)|keep reading)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that only asks the reader to read on."""


@dataclass(frozen=True)
class _Passages:
    """What a statement without a number may rest on: the `texts` of the cited passages and
    of what was shown with the question, and the names that need no passage.
    """

    texts: Sequence[str]
    allowed_names: str
    question_stems: frozenset[str]
    story: StoryContext

    def support(self, sentence: AnswerSentence) -> bool:
        """Return whether a statement needs no citation.

        One that names others than the question does, or tells an event or an outcome,
        needs a passage with its names and most of its words; a lead sentence may sum up
        all passages.
        Another one may say in its own words what the passages say.
        """
        claim, cast = sentence.claim, self.story.cast
        names = stem_words(" ".join(form for forms in cast for form in forms))
        stems = stem_words(claim) - stem_words(COMMON_WORDS) - names
        words = add_equivalents(claim, stems - self.question_stems or stems)
        if not words:
            return True
        whole = "\n".join(self.texts)
        if self._tells_something(claim):
            return any(
                not find_missing_names(claim, f"{text}\n{self.allowed_names}", cast)
                and 2 * _count_shared(words.values(), text) > len(words)
                for text in ([whole] if sentence.is_lead else self.texts)
            )
        return (
            len(words) < MIN_INVENTED_WORDS
            or _COMMENT.search(claim) is not None
            or _READ_ON.search(claim) is not None
            or _count_shared(words.values(), whole) > 0
        )

    def is_comment(self, sentence: AnswerSentence) -> bool:
        """Return whether a statement concludes or comments, and tells nothing else."""
        is_comment = _COMMENT.search(sentence.claim) is not None
        return is_comment and not self._tells_something(sentence.claim)

    def _tells_something(self, claim: str) -> bool:
        """Return whether a statement names others than the question, or tells an event or
        an outcome.
        """
        events = stem_words(_EVENT_WORDS) - self.question_stems
        names = find_missing_names(claim, self.allowed_names, self.story.cast)
        is_outcome = bool(_OUTCOME.search(claim)) and not _READ_ON.search(claim)
        return bool(names) or is_outcome or not events.isdisjoint(stem_words(claim))


def judge_uncited_claims(
    checked: CheckedAnswer,
    sentences: SentenceSplitter,
    question: str,
    shown: Sequence[str],
    story: StoryContext,
) -> tuple[CitationFinding, ...]:
    """Return the findings on an answer in which each statement needs a number, in text
    order: those of `checked`, and one for each statement without a number that no single
    passage supports.

    `shown` are texts that the model had beside the passages that the answer cites. The
    findings of `check_citations` on statements without a number are kept if they name
    words, except on comments.
    """
    narrators = (form for forms in story.narrators for form in forms)
    passages = _Passages(
        (*(citation.text for citation in checked.citations), *shown),
        "\n".join((question, *narrators)),
        stem_words(question),
        story,
    )
    uncited = [
        sentence
        for sentence in iter_answer_sentences(checked.text, sentences)
        if not (sentence.numbers or sentence.quotations or sentence.web)
    ]
    spans = {sentence.span for sentence in uncited}
    comments = {s.span for s in uncited if passages.is_comment(s)}
    others = [
        finding
        for finding in checked.findings
        if finding.span not in (comments if finding.words else spans)
    ]
    reported = {finding.span for finding in others}
    claims = [
        CitationFinding(sentence.span)
        for sentence in uncited
        if sentence.span not in reported
        and _is_claim(checked.text, sentence)
        and not passages.support(sentence)
    ]
    return tuple(sorted((*others, *claims), key=lambda finding: finding.span))


def _is_claim(text: str, sentence: AnswerSentence) -> bool:
    """Return whether a sentence states something of the story, and denies nothing."""
    is_remark = sentence.is_of_answer or sentence.is_opinion
    is_refusal = sentence.is_abstention or has_negation(sentence.own_text)
    return not (is_remark or is_refusal or states_nothing(text, sentence))


def _count_shared(words: Iterable[frozenset[str]], text: str) -> int:
    """Return how many of `words`, each with its equivalents, `text` has."""
    stems = stem_words(text)
    return sum(not stems.isdisjoint(forms) for forms in words)
