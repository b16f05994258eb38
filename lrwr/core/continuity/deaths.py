"""Characters who act in the story after it has told of their death."""

import re
from collections.abc import Iterator, Sequence

from lrwr.core.bible.claims import VisibleFacts
from lrwr.core.continuity.statements import (
    Statement,
    StatementSource,
    find_enclosing_paragraph,
    find_enclosing_sentence,
    is_asserted_in_context,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.clauses import TITLE_WORDS

LIFE_ATTRIBUTE = "life"
_TITLES = frozenset(TITLE_WORDS.split())
_SPEAKS = (
    "said|asked|replied|answered|cried|exclaimed|whispered|shouted|muttered|murmured|"
    "remarked|observed|announced|called|answered|returned|added"
)
_MOVES = (
    "walked|came|went|entered|smiled|laughed|nodded|sat|stood|turned|looked|opened|closed|"
    "rose|ran|shook|took|picked|put|stepped|crossed|climbed|knelt|shrugged|sighed|leaned|"
    "hurried|rode|drove|arrived|returned|poured|lifted|pushed|pulled|kissed|handed|gave|"
    "bought|paid|laid|carried|ate|drank|shut|drew|lit|wiped|knocked|bowed|grinned|frowned|"
    "rubbed|glanced|stared|gazed|paused|crept|jumped|leapt|dropped|threw|caught|seized|"
    "snatched|swung|pointed|waved|whistled|coughed|yawned|stretched|strode|strolled|paced|"
    "counted|called|rang|filled|swept|locked|folded|wept|sang|danced|bent|"
    r"(?:was|were) (?:sitting|standing|waiting|walking|reading|talking|smiling|eating|"
    r"drinking|working|coming|looking)"
)
_ADVERB = r"(?:(?:[a-z]+ly|then|now|at last|at once|again|also) )?"
# The paragraph is about another time, a memory or a text
_ANOTHER_TIME = re.compile(
    r"\b(?:had|once|used to|ago|before|remember\w*|recall\w*|recollect\w*|memor\w+|years?|"
    r"would|when|while|since|as a (?:boy|girl|child)|in those days|formerly|letters?|wrote|"
    r"written|diary|journal|corpse|coffin|grave|body|bones|spirit|alive|lived|"
    r"brother|son|father|cousin|namesake|younger|elder|junior|senior|resurrect\w*|"
    r"play\w*|book|story|tale|history|anniversary|were he|were she)\b",
    re.I,
)
MAX_ACTING_DOCUMENTS = 2
"""Documents with acts after a death from which the death is the doubtful statement."""


def find_acts_after_death(
    statements: Sequence[Statement], material: VisibleFacts
) -> Iterator[tuple[Statement, Statement]]:
    """Yield (death, act): the narration tells of a death, and in a later document, not
    in a flashback, of an act of the same character.

    `statements` are in story order. For each character the first act after the first
    death counts. Somebody who acts in more than `MAX_ACTING_DOCUMENTS` later documents
    was not dead, and one whose name is a part of another character's is never judged.
    """
    deaths: dict[str, Statement] = {}
    for statement in statements:
        if _tells_death(statement):
            deaths.setdefault(statement.about, statement)
    forms = _find_own_forms(deaths, material) if deaths else {}
    for person, death in deaths.items():
        acts = _find_acts(death, forms[person], material) if forms[person] else []
        documents = {act.document for act in acts}
        if acts and len(documents) <= MAX_ACTING_DOCUMENTS:
            yield death, acts[0]


def _tells_death(statement: Statement) -> bool:
    return (
        statement.attribute == LIFE_ATTRIBUTE
        and statement.source is StatementSource.TEXT
        and statement.certain
        and statement.value == "dead"
        and "late " not in (statement.evidence.text if statement.evidence else "late ")
    )


def _find_own_forms(
    people: dict[str, Statement], material: VisibleFacts
) -> dict[str, list[str]]:
    """Return the names of each of `people`; none if another character shares a word."""
    words_by_person: dict[str, set[str]] = {}
    forms_by_person: dict[str, list[str]] = {}
    for person, visible in material.cast.visible.items():
        forms = [alias.name for alias in visible.character.aliases] or [person]
        forms_by_person[person] = forms
        words = {word.rstrip(".") for form in forms for word in form.split()}
        words_by_person[person] = words - _TITLES
    own: dict[str, list[str]] = {}
    for person in people:
        words = words_by_person.get(person, set())
        is_shared = any(
            words & others for name, others in words_by_person.items() if name != person
        )
        own[person] = [] if is_shared else forms_by_person.get(person, [])
    return own


def _find_acts(
    death: Statement, forms: Sequence[str], material: VisibleFacts
) -> list[Statement]:
    """Return the acts in later documents, one for each document."""
    names = "|".join(re.escape(f) for f in sorted(forms, key=len, reverse=True))
    act = re.compile(
        rf"(?<![\w’'-])(?:(?:{names}) {_ADVERB}(?:{_SPEAKS}|{_MOVES})|"
        rf"(?:{_SPEAKS}|stood|sat|came|entered|walked|ran|stepped) (?:{names}))(?![\w’'-])"
    )
    order = list(material.view.order.story)
    if death.document not in order:
        return []
    found = []
    for document in order[order.index(death.document) + 1 :]:
        if not material.view.is_document_visible(document):
            continue
        text = material.view.texts[document].text
        for match in act.finditer(text):
            if _is_present_act(text, Span(*match.span())):
                found.append(_build_act(death, document, Span(*match.span()), material))
                break
    return found


def _is_present_act(text: str, span: Span) -> bool:
    paragraph = find_enclosing_paragraph(text, span)
    if _ANOTHER_TIME.search(text, paragraph.start, paragraph.end):
        return False
    return is_asserted_in_context(text, span)


def _build_act(
    death: Statement, document: DocumentId, span: Span, material: VisibleFacts
) -> Statement:
    sentence = find_enclosing_sentence(material.view.texts[document].text, span)
    evidence = material.view.evidence(
        document, (sentence,), RULES_KEEPER, Certainty.VERIFIED
    )
    return Statement(
        about=death.about,
        attribute=LIFE_ATTRIBUTE,
        value="acts",
        source=StatementSource.TEXT,
        certain=True,
        rank=material.view.sort_key(document, span.start),
        evidence=evidence,
        span=span,
    )
