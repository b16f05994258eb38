"""Finds the dead who act: deaths that the narration tells, and later acts.

Deaths come from the facts of the library and, for names that a chapter alone does not
make sure to be a person's, from the text, compared with the names of the whole cast.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from lrwr.core.bible.profiles import VisibleFacts
from lrwr.core.continuity.rules import LIFE_ATTRIBUTE
from lrwr.core.continuity.statements import (
    Statement,
    StatementSource,
    find_enclosing_paragraph,
    find_enclosing_sentence,
    is_asserted_in_context,
    is_narrated,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.clauses import TITLE_WORDS

_TITLES = frozenset(TITLE_WORDS.split())
_SPEAKS = (
    "said|asked|replied|answered|cried|exclaimed|whispered|shouted|muttered|murmured|"
    "remarked|observed|announced|called|answered|returned|added"
)
_MOVES = (
    "walked|came|went|entered|smiled|laughed|nodded|sat|stood|turned|looked|opened|closed|"
    "rose|ran|shook|took|picked|put|stepped|crossed|climbed|knelt|shrugged|sighed|leaned|"
    "hurried|rode|drove|arrived|returned|poured|lifted|pushed|pulled|kissed|handed|gave|"
    "bought|paid|passed(?! away)|laid|carried|ate|drank|shut|drew|lit|wiped|knocked|bowed|grinned|frowned|"
    "rubbed|glanced|stared|gazed|paused|crept|jumped|leapt|dropped|threw|caught|seized|"
    "snatched|swung|pointed|waved|whistled|coughed|yawned|stretched|strode|strolled|paced|"
    "counted|called|rang|filled|swept|locked|folded|wept|sang|danced|bent|"
    r"stopped|spread|tied|tore|read|wrote|played|slept|woke|moved|followed|joined|met|"
    r"found|led|raised|set|swam|dug|cut|hung|held|broke|began|mounted|dismounted|untied|"
    r"trotted|galloped|cantered|plodded|neighed|whinnied|snorted|barked|growled|bleated|"
    r"unlocked|mended|washed|signed|hid|helped|listened|thanked|offered|promised|"
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
# The same, in sentences before the one with the act: a memory may go on
_MEMORY = re.compile(
    r"\b(?:once|used to|ago|remember\w*|recall\w*|recollect\w*|memor\w+|as a (?:boy|girl|"
    r"child)|in those days|formerly|diary|journal|corpse|coffin|grave|spirit|namesake|"
    r"junior|senior|resurrect\w*|anniversary)\b",
    re.I,
)
_PLUPERFECT = re.compile(r"\bhad\b", re.I)
MAX_ACTING_DOCUMENTS = 2
"""Documents with acts after a death from which the death is the doubtful statement."""
MAX_ACTING_BEFORE_DRAFT = 1
"""Documents between a death and a draft in which somebody may act and still count as dead."""
_NAME = re.compile(r"(?<![\w’'-])[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+)+")
"""A name of several words, also of somebody whom the cast does not have."""
_LISTED = r"(?:Drowned|Dead|Killed|Died|Buried|Hanged|Murdered|Lost): [^\n:!?“”]{{0,120}}?{}\b"
_OWN_NOTE = re.compile(
    r"(?:Dead|Died|Killed|Drowned|Murdered|Hanged|Buried)\b(?! (?:tired|set|drunk))"
)
_END = (
    r"(?=[.,;!]| (?:in|at|on|before|after|of|a|with|upon|when|this|that|last|from|"
    r"beneath|under|beside|by|within|almost|quietly|peacefully|alone|there|during|soon|"
    r"and|without|among|near|not long)\b)"
)
_PASSIVE = (
    r"drowned|murdered|hanged|killed|beheaded|buried|shot (?:dead|through the "
    r"(?:heart|head))|dead(?! (?:tired|set|drunk|asleep|beat|sure|silent|certain|on|to"
    r"|with|against)\b)"
)
_PREDICATE = (
    r"(?:(?:had |has )?(?:quietly |peacefully |then |already )?(?:died(?! (?:away|down|"
    r"out|of laugh\w*)\b)|drowned|passed away|expired|perished)|(?:lay|fell) dead|"
    r"breathed h(?:is|er) last|(?:closed|shut) h(?:is|er) eyes (?:for ever|forever)|"
    rf"never woke again|(?:is|was) no more|(?:was|had been) (?:now |found |already |quite )?"
    rf"(?:{_PASSIVE}))"
)
_ILLNESS = (
    r"(?:fever|cholera|plague|consumption|smallpox|illness|sickness|pestilence|disease|"
    r"pneumonia|typhus|sea|river|flood)"
)
_DEATH_WORDS = re.compile(
    r"\b(?:died|dead|drowned|killed|murdered|hanged|expired|perished|passed away|buried|"
    r"no more|woke again|breathed h\w+ last|eyes for ?ever|death|funeral|burial|beheaded|grave|"
    rf"live to see|shot (?:dead|through)|{_ILLNESS} (?:took|carried off))\b"
)
"""Words of which a sentence that tells of a death has one."""
_SPEECH = re.compile(r"“[^”]*”|\"[^\"]*\"")
_CAPITALIZED = re.compile(r"(?<![\w’'-])[A-ZÀ-Þ][\w.]*")
_LEAD = re.compile(
    r"^\W*(?:Before|By|When|After) (?:the )?\w+(?: \w+){0,4}?(?: (?:was|were|is) "
    r"(?:out|over|up|done)| came| ended| arrived|,)",
)
"""A time at the start of a sentence, whose words are no words of doubt."""
_UNSURE = re.compile(
    r"\b(?:event|case|rumou?rs?|report|fear\w*|hope\w*|wish\w*|expect\w*|"
    r"until|till|should|shall|will|must|may|almost|nearly|would|if|perhaps|thought|"
    r"supposed|half|as good as|play\w*|every|often|late|like|not(?! live to)|never(?! woke)|"
    r"as (?:if|though))\b|\?",
    re.I,
)
"""Words of a sentence that may mean that nobody has died."""


def find_acts_after_death(
    statements: Sequence[Statement], material: VisibleFacts
) -> Iterator[tuple[Statement, Statement]]:
    """Yield (death, act): the narration tells of a death, and in a later document, not
    in a flashback, of an act of the same character.

    `statements` are in story order. For each character the first act after the first
    death counts. Somebody who acts in more than `MAX_ACTING_DOCUMENTS` later documents
    was not dead, and one whose name is a part of another character's is never judged.
    """
    own_forms = _find_own_forms(material)
    deaths: dict[str, Statement] = {}
    for statement in statements:
        if _tells_death(statement):
            deaths.setdefault(statement.about, statement)
    for statement in _find_told_deaths(own_forms, material):
        if statement.about not in deaths:
            deaths[statement.about] = statement
    for person, death in deaths.items():
        forms = own_forms.get(person, ())
        acts = _find_acts(death, forms, material) if forms else []
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


def _find_own_forms(material: VisibleFacts) -> dict[str, list[str]]:
    """Return the names of each character who shares no word of a name with another."""
    words_by_person: dict[str, set[str]] = {}
    forms_by_person: dict[str, list[str]] = {}
    owners: dict[str, int] = {}
    for person, visible in material.cast.visible.items():
        forms = [alias.name for alias in visible.character.aliases] or [person]
        forms_by_person[person] = forms
        words = {word.rstrip(".") for form in forms for word in form.split()} - _TITLES
        words_by_person[person] = words
        for word in words:
            owners[word] = owners.get(word, 0) + 1
    return {
        person: forms_by_person[person]
        for person, words in words_by_person.items()
        if all(owners[word] == 1 for word in words)
    }


def _find_told_deaths(
    own_forms: Mapping[str, Sequence[str]], material: VisibleFacts
) -> Iterator[Statement]:
    """Yield the first death of each character that a sentence of the narration tells."""
    people = {form: person for person, forms in own_forms.items() for form in forms}
    dead: set[str] = set()
    for document, name, sentence in _iter_names_near_death(people, material):
        text = material.view.texts[document].text
        person = people[text[name.start : name.end]]
        if person not in dead and is_told_dead(text, sentence, name):
            dead.add(person)
            yield _build_statement(person, "dead", document, name, material)


def _iter_names_near_death(
    names: Collection[str], material: VisibleFacts
) -> Iterator[tuple[DocumentId, Span, Span]]:
    """Yield each of `names` in a sentence with a word of death: document, place of the
    name, place of the sentence; in story order.
    """
    by_first: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        by_first.setdefault(name.split()[0].rstrip("."), []).append(name)
    for document in filter(
        material.view.is_document_visible, material.view.order.story
    ):
        text = material.view.texts[document].text
        for word, start, sentence in _find_words_near_death(text):
            forms = by_first.get(word)
            if forms and (end := _match_name(text, start, forms)):
                yield document, Span(start, end), sentence


@lru_cache(maxsize=8_192)
def _find_words_near_death(text: str) -> tuple[tuple[str, int, Span], ...]:
    """Return the capitalized words in sentences with a word of death: the word without
    a period, its offset, and the place of the sentence.
    """
    return tuple(
        (word.group().rstrip("."), word.start(), sentence)
        for sentence in find_death_sentences(text)
        for word in _CAPITALIZED.finditer(text, sentence.start, sentence.end)
    )


@lru_cache(maxsize=8_192)
def find_death_sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences with a word of death; remembered, as most saves change one
    document.
    """
    words = (Span(*match.span()) for match in _DEATH_WORDS.finditer(text))
    return tuple(dict.fromkeys(find_enclosing_sentence(text, word) for word in words))


def _match_name(text: str, start: int, names: Sequence[str]) -> int:
    """Return the end of the first of `names` that stands at `start`; 0 if none does."""
    for name in names:
        end = start + len(name)
        if text.startswith(name, start) and not re.match(r"[\w-]", text[end : end + 1]):
            return end
    return 0


@lru_cache(maxsize=8_192)
def is_told_dead(text: str, sentence: Span, name: Span) -> bool:
    """Return whether the sentence says of the person at `name` that they died;
    remembered, as `find_death_sentences` is.
    """
    words = text[sentence.start : sentence.end]
    form = re.escape(text[name.start : name.end])
    if not _compile_death(form).search(words):
        return False
    lead = _LEAD.match(words)
    rest = words[lead.end() :] if lead else words
    return not _UNSURE.search(rest) and is_narrated(text, name)


@lru_cache(maxsize=1_024)
def _compile_death(form: str) -> re.Pattern[str]:
    name = rf"(?<![\w’'-]){form}"
    between = r"(?:, [^.;:!?“”\"]{2,40},)?"
    return re.compile(
        rf"{name}{between} {_PREDICATE}{_END}"
        rf"|{name} (?:(?!which |who |whose |that |when )[a-z]+,? ){{1,8}}and (?:then )?"
        rf"{_PREDICATE}{_END}"
        rf"|\b{_ILLNESS} (?:took|carried off) {form}{_END}"
        rf"|\b(?:[Tt]hey|[Ww]e) (?:had )?buried {form}{_END}"
        rf"|{form}, who (?:fell dead|died|was (?:killed|drowned|murdered)){_END}"
        rf"|{name} was (?:struck|hit|run over|crushed|thrown) [^.;:!?]{{2,40}} and killed{_END}"
        rf"|{name} was carried to h?(?:is|er|the) grave\b|{name} did not live to see\b"
        rf"|(?:fall|blow|bullet|shot|wound|fever|accident|explosion|knife)\b[^.;:!?]{{0,30}} "
        rf"killed {form}{_END}|came the (?:funeral|burial) of {form}{_END}"
        rf"|{name}['’]s (?:death|funeral|burial) (?:was|had|reached|took place|came|is)\b"
        rf"|\b[Tt]he (?:death|funeral|burial) of {form} (?:was|had|took place|came)\b"
        rf"|news of {form}['’]s death (?:reached|came|was)\b"
    )


def _find_acts(
    death: Statement, forms: Sequence[str], material: VisibleFacts
) -> list[Statement]:
    """Return the acts in later documents, one for each document."""
    order = list(material.view.order.story)
    if death.document not in order:
        return []
    found = []
    for document in order[order.index(death.document) + 1 :]:
        if not material.view.is_document_visible(document):
            continue
        span = next(find_present_acts(material.view.texts[document].text, forms), None)
        if span is not None:
            found.append(
                _build_statement(death.about, "acts", document, span, material)
            )
    return found


def find_present_acts(
    text: str, forms: Sequence[str], *, after_background: bool = False
) -> Iterator[Span]:
    """Yield the places where the narration tells an act of somebody with the names
    `forms` as present: the name and a verb of acting or speaking.

    A paragraph with a word of another time, such as "had", has none; `after_background`
    says that only such words of the same sentence, of a memory and of the same person
    count.
    """
    for span in _iter_acts(text, tuple(forms)):
        if _is_asserted_act(text, span) and not (
            _is_in_memory(text, span, forms)
            if after_background
            else _is_in_another_time(text, span)
        ):
            yield span


def _iter_acts(text: str, forms: tuple[str, ...]) -> Iterator[Span]:
    after, before = _compile_acts()  # once: with the names of each they take long
    for name in _compile_names(forms).finditer(text):
        act = after.match(text, name.end())
        inverted = before.search(text, max(0, name.start() - 15), name.start())
        if act is not None:
            yield Span(name.start(), act.end())
        elif inverted is not None:
            yield Span(inverted.start(), name.end())


@lru_cache(maxsize=1_024)
def _compile_names(forms: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or "(?!)"
    return re.compile(rf"(?<![\w’'-])(?:{names})(?![\w’'-])")


@cache
def _compile_acts() -> tuple[re.Pattern[str], re.Pattern[str]]:
    verbs = rf"(?:{_SPEAKS}|stood|sat|came|entered|walked|ran|stepped)"
    after = re.compile(rf" {_ADVERB}(?:{_SPEAKS}|{_MOVES})(?![\w’'-])")
    return after, re.compile(rf"(?<![\w’'-]){verbs} $")


def _is_in_another_time(text: str, span: Span) -> bool:
    paragraph = find_enclosing_paragraph(text, span)
    return _ANOTHER_TIME.search(text, paragraph.start, paragraph.end) is not None


def _is_in_memory(text: str, span: Span, forms: Sequence[str]) -> bool:
    """Return whether the sentence at `span` is about another time, or the narration before
    it in the paragraph about a memory or what somebody with a name of `forms` had done.
    """
    sentence = find_enclosing_sentence(text, span)
    if _ANOTHER_TIME.search(text, sentence.start, sentence.end):
        return True
    start = find_enclosing_paragraph(text, span).start
    before = _hide_speech(text[start : sentence.start])
    if _MEMORY.search(before):
        return True
    ends = [
        0,
        *(match.end() for match in re.finditer(r"[.!?]\s+", before)),
        len(before),
    ]
    sentences = (before[a:b] for a, b in pairwise(ends))
    names = _compile_names(tuple(forms))
    return any(_PLUPERFECT.search(words) and names.search(words) for words in sentences)


def _is_asserted_act(text: str, span: Span) -> bool:
    """Return whether the narration asserts the act at `span`; what people say in the
    paragraph does not count.
    """
    paragraph = find_enclosing_paragraph(text, span)
    words = _hide_speech(text[paragraph.start : paragraph.end])
    start = span.start - paragraph.start
    place = Span(start, start + len(span))
    is_narration = words[place.start : place.end] == text[span.start : span.end]
    return is_narration and is_asserted_in_context(words, place)


def _hide_speech(text: str) -> str:
    """Return `text` with blanks for what is between quotation marks."""
    return _SPEECH.sub(lambda speech: " " * len(speech.group()), text)


def _build_statement(
    person: str, value: str, document: DocumentId, span: Span, material: VisibleFacts
) -> Statement:
    sentence = find_enclosing_sentence(material.view.texts[document].text, span)
    evidence = material.view.evidence(
        document, (sentence,), RULES_KEEPER, Certainty.VERIFIED
    )
    return Statement(
        about=person,
        attribute=LIFE_ATTRIBUTE,
        value=value,
        source=StatementSource.TEXT,
        certain=True,
        rank=material.view.sort_key(document, span.start),
        evidence=evidence,
        span=span,
    )


@dataclass(frozen=True, slots=True)
class DeadActor:
    """Somebody who acts at `act` of a draft, though their death is told at `death` of
    `document`.
    """

    name: str
    act: Span
    document: DocumentId
    death: Span


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """A character or animal with the forms of the name that nobody else has.

    `nouns` mean it, too, where a death is told: "the pony" of a story with one that has a
    name. `notes` are sentences of the author's notes about them, each with its document
    and place. `is_present` says that they are there in a scene before the draft.
    """

    name: str
    forms: tuple[str, ...]
    nouns: tuple[str, ...] = ()
    notes: tuple[tuple[str, DocumentId, Span], ...] = ()
    is_present: bool = False


def find_dead_actors(
    draft: str, before: Mapping[DocumentId, str], people: Sequence[KnownPerson]
) -> Iterator[DeadActor]:
    """Yield those who act in the text `draft` though they are dead, each once.

    `before` are the documents of the story before the draft, in story order. A death
    counts if the narration tells of it, if a list names the dead, or if a note begins
    with it and they are in no scene before the draft. Names of several words need not be
    those of a character.
    """
    forms = {form for person in people for form in person.forms}
    names = {match[0] for match in _NAME.finditer(draft)} - forms
    others = [KnownPerson(name, (name,)) for name in sorted(names)]
    for person in (*people, *others):
        act = _find_act(draft, person)
        death = _find_death(person, before) if act is not None else None
        if act is not None and death is not None:
            yield DeadActor(person.name, act, *death)


def _find_act(text: str, person: KnownPerson) -> Span | None:
    return next(find_present_acts(text, person.forms, after_background=True), None)


def _find_death(
    person: KnownPerson, before: Mapping[DocumentId, str]
) -> tuple[DocumentId, Span] | None:
    documents = list(before)
    for at, document in enumerate(documents):
        span = _find_told_death(before[document], (*person.forms, *person.nouns))
        if span is None:
            continue
        acting = [
            other
            for other in documents[at + 1 :]
            if _find_act(before[other], person) is not None
        ]
        return (document, span) if len(acting) <= MAX_ACTING_BEFORE_DRAFT else None
    if person.is_present:
        return None
    dead = (row for row in person.notes if _OWN_NOTE.match(row[0]))
    return next(((document, span) for _, document, span in dead), None)


def _find_told_death(text: str, forms: Sequence[str]) -> Span | None:
    """Return the first sentence of `text` that tells of the death of somebody."""
    for form in forms:
        listed = re.search(_LISTED.format(re.escape(form)), text)
        if listed is not None:
            return find_enclosing_sentence(text, Span(*listed.span()))
    names = "|".join(map(re.escape, forms))
    name = re.compile(rf"(?<![\w’'-])(?:{names})(?![\w-])")
    sentences = (
        sentence
        for sentence in find_death_sentences(text)
        for match in name.finditer(text, sentence.start, sentence.end)
        if is_told_dead(text, sentence, Span(*match.span()))
    )
    return next(sentences, None)
