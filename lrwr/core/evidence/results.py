"""Results of the check of a draft: its statements with the closest passages."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from lrwr.core.attribution.quotations import occurs_in
from lrwr.core.evidence.comparison import Comparison, DetailDifference
from lrwr.core.evidence.judge import ClaimJudgement, EvidenceClaim, Verdict
from lrwr.core.evidence.statements import DraftStatement
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import Horizon
from lrwr.core.model.text import Span
from lrwr.core.ports.sources import WebPage
from lrwr.core.retrieval.story import StoryOrder


class StatementResult(StrEnum):
    """What a check without a language model finds out about a statement.

    It stands in the text word for word, gives details otherwise, has a closest passage,
    is told only after the horizon, is not about the story, or states nothing.
    `NOT_EVALUATED` is a closest passage about which a language model that was asked said
    nothing that counts.
    """

    QUOTED = "quoted"
    DETAILS_DIFFER = "details differ"
    CLOSEST = "closest passage"
    NOT_EVALUATED = "not evaluated"
    LATER = "later"
    OUTSIDE = "outside the book"
    NOTHING = "nothing to check"


NEEDS_AUTHOR = frozenset(
    (StatementResult.DETAILS_DIFFER, StatementResult.LATER, StatementResult.OUTSIDE)
)
"""Results that need the author, except outside the book with a cited page."""


_REFERENCE = re.compile(
    r"\b(?:he|she|it|they|him|her|his|hers|its|them|their|theirs|this|these|those)\b",
    re.IGNORECASE,
)
"""A word that may mean something in the sentence before."""

_JUDGED = frozenset((StatementResult.CLOSEST, StatementResult.DETAILS_DIFFER))
"""Results that only a language model can say more about."""


_VERBATIM = frozenset((StatementResult.QUOTED, StatementResult.LATER))
_UNDECIDED = frozenset((StatementResult.CLOSEST, StatementResult.OUTSIDE))


@dataclass(frozen=True, slots=True)
class ClosestPassage:
    """A passage with the sentences in it, at `span` of its document, that are closest to
    a statement; `share` is the share of its content words that they have.
    """

    passage: Passage
    span: Span
    share: float


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A statement with the result of its check.

    `passages` are the closest ones up to the horizon, best first. `chapter` is where it
    is told first, for `LATER` only; 0 if that is before the first chapter. `names` are
    lines with the names of the characters in it. `judgement` is that of a language
    model, None without one or if its quotation is not in a passage. `pages` are those
    that a web search found for it; nobody has compared them with it. `before` are the
    sentences of the draft before it. `is_repeated` says that the text has the sentence, or
    its quotation, nearly word for word, but for the differences. `absent_words` are
    content words that the story has nowhere. `probable_speaker` is who seems to say its
    quotation in the text, if it names somebody else. `closer_chapter` is the first
    chapter after the horizon that is clearly closer to it than all up to there.
    """

    statement: DraftStatement
    result: StatementResult
    passages: tuple[ClosestPassage, ...] = ()
    differences: tuple[DetailDifference, ...] = ()
    chapter: int | None = None
    names: tuple[str, ...] = ()
    judgement: ClaimJudgement | None = None
    pages: tuple[WebPage, ...] = ()
    before: str = ""
    is_repeated: bool = False
    absent_words: tuple[str, ...] = ()
    probable_speaker: str = ""
    closer_chapter: int | None = None

    @property
    def claim(self) -> EvidenceClaim | None:
        """What a language model can judge; None for the other results."""
        if self.result not in _JUDGED or not self.passages:
            return None
        texts = (closest.passage.chunk.text for closest in self.passages)
        before = self.before if _REFERENCE.search(self.statement.text) else ""
        places = tuple(_describe_place(closest.passage) for closest in self.passages)
        return EvidenceClaim(
            self.statement.text, tuple(texts), self.names, before, places=places
        )

    @property
    def claims_nothing(self) -> bool:
        """Whether it is a question that does not repeat the text, or an opinion that has no
        other detail than it.
        """
        if self.statement.is_question:
            return self.result not in _VERBATIM
        is_open = self.result in _UNDECIDED and self.closer_chapter is None
        return self.statement.is_opinion and is_open

    @property
    def needs_author(self) -> bool:
        """Whether the author has to look at it."""
        if self.closer_chapter is not None and self.judgement is None:
            return True
        if self.judgement is not None and self.result is StatementResult.CLOSEST:
            return self.judgement.verdict is not Verdict.SUPPORTED
        if self.result is StatementResult.OUTSIDE and self.statement.links:
            return False
        return self.result in NEEDS_AUTHOR


def _describe_place(passage: Passage) -> str:
    if passage.chapter is None:
        return "note"
    return f"chapter {passage.chapter}" if passage.chapter else "before chapter 1"


def withdraw_differences(checked: CheckedStatement) -> CheckedStatement:
    """Return a statement without its differences if a language model found it supported.

    They stay if the text has the statement nearly word for word, or if the words that the
    model quotes have the value that differs.
    """
    judgement = checked.judgement
    if (
        judgement is None
        or judgement.verdict is not Verdict.SUPPORTED
        or checked.is_repeated
        or any(
            d.found and occurs_in(d.found, [judgement.quote])
            for d in checked.differences
        )
    ):
        return checked
    if checked.result is not StatementResult.DETAILS_DIFFER:
        return checked
    return replace(checked, result=StatementResult.CLOSEST, differences=())


@dataclass(frozen=True, slots=True)
class KnownAttribute:
    """The `values` that text and notes give to the attribute `label`, such as "eyes", of
    the character with the names `forms`.
    """

    forms: tuple[str, ...]
    label: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownRelation:
    """`target`, the forms of a name, is the `kin`, such as "sister", of `source`."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    kin: str


@dataclass(frozen=True, slots=True)
class KnownQuotation:
    """Words that the text gives to a speaker, with the forms of the speaker's name.

    `is_sure` says that the text names the speaker beside them.
    """

    speaker: tuple[str, ...]
    text: str
    is_sure: bool


@dataclass(frozen=True, slots=True)
class CheckedStory:
    """The story that a draft is checked against, up to `horizon`; None is all of it.

    `cast` has for each character all forms of its name, `known_cast` those of the
    characters and forms that occur up to the horizon. `words` are all words of the story
    up to the horizon, folded; empty without one. `attributes` are those of characters
    up to the horizon, so are `relations` and `quotations`. `narrators` are those of
    `known_cast` who tell the story. `stems` are those of all words
    of the story up to the horizon, and of the notes without one.
    """

    order: StoryOrder
    pipeline: Pipeline
    cast: tuple[tuple[str, ...], ...] = ()
    horizon: Horizon | None = None
    known_cast: tuple[tuple[str, ...], ...] = ()
    words: frozenset[str] = frozenset()
    attributes: tuple[KnownAttribute, ...] = ()
    relations: tuple[KnownRelation, ...] = ()
    quotations: tuple[KnownQuotation, ...] = ()
    narrators: tuple[tuple[str, ...], ...] = ()
    stems: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ComparedPassage:
    """A passage compared with a statement, and whether it lies up to the horizon.

    `own` is its comparison with the words outside the quotations of the statement; None
    without quotations. `text` is that of its document, up to the horizon if it is
    visible. `unnamed` is its comparison with the words that are no names; None without
    a horizon or names.
    """

    passage: Passage
    compared: Comparison
    own: Comparison | None
    is_visible: bool
    text: str
    unnamed: Comparison | None = None

    @property
    def found(self) -> str:
        """The sentences that are closest to the statement."""
        span = self.compared.span
        return self.passage.chunk.text[span.start : span.end]

    @property
    def closeness(self) -> float:
        """How close it is to the statement, also if the statement has names where the
        text has none; as `Comparison.strength`.
        """
        strength = self.compared.strength
        return max(strength, self.unnamed.strength) if self.unnamed else strength

    @property
    def chapter(self) -> int:
        """The chapter, in story order; 0 outside the story."""
        return self.passage.chapter or 0
