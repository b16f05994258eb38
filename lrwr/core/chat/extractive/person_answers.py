"""Finds the person a question asks for: a relative of somebody, or who says certain words."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from lrwr.core.bible.kin_terms import KinTerm, choose_noun, read_kin_term
from lrwr.core.bible.values import AttributedQuote, CharacterRelation
from lrwr.core.chat.context.items import ContextItem, build_quote_item, is_sure
from lrwr.core.model.cast import Gender
from lrwr.core.model.chunks import Chunk, Passage
from lrwr.core.model.text import extract_content_words
from lrwr.core.retrieval.excerpts import PassageSource, weigh_question_words
from lrwr.core.retrieval.query_words import extract_quoted_phrases

MIN_SPOKEN_SHARE = 0.75
"""Share of the weight of the question's words that a line must have to be the one asked
for, unless the question quotes it."""

SPOKEN_PASSAGES = 5
"""First passages of a search whose quotations are compared with the question."""

_SPEAKER_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?who\s+(?:(?:first|then|also|once|actually|really|later)\s+)*"
    r"(?P<verb>say|says|said|ask|asks|asked|tell|tells|told|answer|answers|answered"
    r"|repl(?:y|ies|ied)|claims?|claimed|declares?|declared|remarks?|remarked|exclaims?"
    r"|exclaimed|shouts?|shouted|whispers?|whispered|cries|cried|insists?|insisted"
    r"|speaks?\s+(?:the|these|those)|spoke\s+(?:the|these|those)|utters?|uttered)\b"
    r"(?-i:\s+(?:[A-Z][a-z]+\.?\s+){1,3}(?=that\b|“|\"))?"
    r"|^\W*whose\s+(?:words?|lines?)\b",
    re.IGNORECASE,
)

_KIN_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:"
    r"(?:who|what)(?:['’]s|\s+(?:is|was|are|were))\s+(?:the\s+names?\s+of\s+)?(?:"
    r"(?:.{1,40}?['’]s?|his|her|their|its)\s+(?P<owned>[\w-]+)"
    r"|the\s+(?P<of>[\w-]+)\s+of\s+.{1,40}?)(?:['’]s?\s+names?|\s+called|\s+named)?"
    r"|(?:does|did|do|has|have|had)\s+.{1,40}?\s+(?:have\s+)?(?:any|an?)\s+(?P<has>[\w-]+)"
    r"|whose\s+(?P<whose>[\w-]+)\s+(?:is|was|are|were)\s+.{1,40}?)\W*$",
    re.IGNORECASE,
)
"""Asks who is related to somebody in one way ("Who is Nell's mother?"), and no more."""

_PLURALS = {"children": "child", "wives": "wife"}


def find_kin_asked(question: str) -> KinTerm | None:
    """Return the relationship to whom `question` names that it asks for, as in "Who is
    Nell's mother?"; None if it asks for anything else.
    """
    match = _KIN_QUESTION.match(question)
    if match is None:
        return None
    noun = next(filter(None, match.groups())).lower()
    term = read_kin_term(noun) or read_kin_term(_PLURALS.get(noun, noun.rstrip("s")))
    if term is None or not match["whose"]:
        return term
    return replace(term, side=-term.side, gender=Gender.UNKNOWN)


def select_kin(
    asked: KinTerm,
    people: Collection[str],
    relations: Iterable[CharacterRelation],
    genders: Mapping[str, Gender],
) -> list[CharacterRelation]:
    """Return who is in the relationship `asked` to one of `people`, each once, in the
    order of `relations`: the person asked about is the source.

    A relationship stated the other way round is turned: who has a daughter is her
    mother or father, as the `genders` of characters tell, or a noun such as "husband".
    If the gender is unknown, it is returned as stated, and only if nobody else fits.
    """
    relations = list(relations)
    called = {
        relation.target: term.gender
        for relation in relations
        if (term := read_kin_term(relation.kind)) is not None
        and term.gender is not Gender.UNKNOWN
    }
    genders = {**genders, **called}
    certain: dict[tuple[str, str], CharacterRelation] = {}
    possible: list[CharacterRelation] = []
    for relation in relations:
        if relation.source in people and _names_kin(asked, relation):
            certain.setdefault((relation.source, relation.target), relation)
        elif relation.target in people and _implies_kin(asked, relation, genders):
            gender = genders.get(relation.source, Gender.UNKNOWN)
            if gender is Gender.UNKNOWN:
                possible.append(relation)
                continue
            turned = _turn_around(asked, relation, gender)
            certain.setdefault((turned.source, turned.target), turned)
    return list(certain.values()) or list(dict.fromkeys(possible))


def _turn_around(
    kin: KinTerm, relation: CharacterRelation, gender: Gender
) -> CharacterRelation:
    """Return "Nell's mother: Ada" for "Ada's daughter: Nell"; `gender` is Ada's."""
    noun = choose_noun(kin.base, kin.side, gender)
    return replace(relation, source=relation.target, target=relation.source, kind=noun)


def _names_kin(asked: KinTerm, relation: CharacterRelation) -> bool:
    """Return whether the target of `relation` is what is asked for."""
    term = read_kin_term(relation.kind)
    return (
        term is not None
        and (term.base, term.side) == (asked.base, asked.side)
        and _may_be_same(asked.gender, term.gender)
    )


def _implies_kin(
    asked: KinTerm, relation: CharacterRelation, genders: Mapping[str, Gender]
) -> bool:
    """Return whether the source of `relation` is what is asked for."""
    term = read_kin_term(relation.kind)
    return (
        term is not None
        and (term.base, -term.side) == (asked.base, asked.side)
        and _may_be_same(asked.gender, genders.get(relation.source, Gender.UNKNOWN))
    )


def _may_be_same(first: Gender, second: Gender) -> bool:
    return first is second or Gender.UNKNOWN in (first, second)


def find_words_spoken(question: str) -> str:
    """Return the words of `question` whose speaker it asks for; "" if it asks for none."""
    match = _SPEAKER_QUESTION.match(question)
    return question[match.end() :].strip() if match else ""


def select_spoken_chunks(question: str, passages: Sequence[Passage]) -> list[Chunk]:
    """Return the first of `passages` if `question` asks who says something; else none."""
    if not find_words_spoken(question):
        return []
    return [passage.chunk for passage in passages[:SPOKEN_PASSAGES]]


def gather_spoken_lines(
    question: str, passages: Sequence[Passage], quotes: Iterable[AttributedQuote]
) -> tuple[AttributedQuote, ...]:
    """Return those of `quotes` in the first `passages`, if `question` asks who says
    something.
    """
    chunks = select_spoken_chunks(question, passages)
    return tuple(
        quote
        for quote in quotes
        if any(
            quote.evidence.document == chunk.document
            and any(chunk.span.holds(span) for span in quote.evidence.spans)
            for chunk in chunks
        )
    )


async def find_spoken_item(
    question: str, lines: Sequence[AttributedQuote], source: PassageSource
) -> ContextItem | None:
    """Return that one of `lines` whose speaker `question` asks for; None if it asks for
    none, or if no line of a known speaker has the words in question.

    It has a phrase that the question quotes, or most of its words. Of lines that have
    as much, it is one whose speaker is certain, else the first one.

    Raises:
        StoreProblem: The library cannot be read.
    """
    words = find_words_spoken(question)
    attributed = [line for line in lines if line.speaker]
    if not words or not attributed:
        return None
    phrases = [_join_words(phrase) for phrase in extract_quoted_phrases(words)]
    weights = await weigh_question_words(extract_content_words(words), source)

    def rank(line: AttributedQuote) -> tuple[float, bool]:
        text = line.evidence.text
        has_phrase = any(phrase in _join_words(text) for phrase in phrases)
        return weights.coverage(text) + has_phrase, is_sure(line.evidence)

    best = max(attributed, key=rank)
    share, _ = rank(best)
    return build_quote_item(best) if share >= MIN_SPOKEN_SHARE else None


def _join_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
