"""Questions about what is known of people and things: from profiles, names and dates."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice

from lrwr.core.bible.values import (
    AttributedQuote,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    TextEvidence,
)
from lrwr.pipeline.evaluation.question_generation.draft import QuestionDraft
from lrwr.pipeline.evaluation.question_generation.source_material import (
    SURE,
    SourceMaterial,
    TopicNoun,
    find_topics,
    get_first_evidence_place,
    is_plural_noun,
)
from lrwr.pipeline.evaluation.questions import AnswerPlace, QuestionKind

MADE = "a profile"
_NAME = "a name"
_DATE = "a date"

_ASKED: Mapping[str, str] = {
    "age": "How old is {name}?",
    "occupation": "What does {name} do for a living?",
    "eyes": "What colour are {name}’s eyes?",
    "hair": "What is {name}’s hair like?",
    "height": "How tall is {name}?",
    "build": "What build is {name}?",
    "hands": "What is peculiar about {name}’s hands?",
    "wants": "What is {name} after?",
    "fears": "What is {name} afraid of?",
    "money": "How is {name} off for money?",
    "has": "Which things belong to {name}?",
    "owns": "Which things belong to {name}?",
    "home": "Where does {name} live?",
    "born": "When was {name} born?",
    "clothes": "What does {name} wear?",
    "voice": "What does {name} sound like?",
    "scar": "What scar does {name} bear?",
}
_SHORT: Mapping[str, str] = {
    "age": "how old is {he}",
    "occupation": "what is {his} work",
    "eyes": "what colour are {his} eyes",
    "hair": "what is {his} hair like",
    "hands": "what is peculiar about {his} hands",
    "wants": "what is {he} after",
    "fears": "what is {he} afraid of",
    "money": "how is {he} off for money",
}
_PRONOUNS: Mapping[str, tuple[str, str]] = {
    "female": ("she", "her"),
    "male": ("he", "his"),
}

_TITLES_TEXT = "mr mrs miss ms lord lady sir dr doctor captain my dear old the"
_TITLES = frozenset(_TITLES_TEXT.split())
_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november"
    "|december"
)
_DATES = re.compile(
    r"\b(?:Day \d{1,5}"
    rf"|the \d{{1,2}}(?:st|nd|rd|th) of (?:{_MONTHS})"
    rf"|the (?:[a-z]+-)?[a-z]+(?:st|nd|rd|th) of (?:{_MONTHS})"
    rf"|\d{{1,2}} (?:{_MONTHS})(?: \d{{4}})?"
    rf"|(?:{_MONTHS}) \d{{1,2}}(?:, \d{{4}})?"
    r"|(?:Christmas|Midsummer|Michaelmas|Easter|New Year|Lady|Boxing)[ -](?:Day|Eve)"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b",
    re.IGNORECASE,
)
_FEW = 3
_TELLING = 5
"""Words of a description that tells what a thing is."""

_OFTEN = 2
"""Places of a date beyond which it tells none of them."""


def draft_fact_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield questions on what people are like, and what things are."""
    for profile in material.people():
        for label, claim in _attributes(profile):
            text = _ASKED[label].format(name=profile.name)
            yield _fact(profile.name, label, text, claim)
        for label, text, claims in _manners(profile):
            if claims:
                yield _fact(profile.name, label, text.format(profile.name), claims[0])
        yield from _notes_on(profile, material)
    yield from _things(material)


def draft_two_fact_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield questions on two attributes of one person."""
    for profile in material.people():
        attributes = [pair for pair in _attributes(profile) if pair[0] in _SHORT]
        he, his = _PRONOUNS.get(profile.gender.value, ("they", "their"))
        if he == "they":
            continue
        for (label, claim), (other_label, other_claim) in combinations(attributes, 2):
            second_question = _SHORT[other_label].format(he=he, his=his)
            text = f"{_ASKED[label].format(name=profile.name)[:-1]}, and {second_question}?"
            yield QuestionDraft(
                QuestionKind.SEVERAL,
                text,
                (
                    get_first_evidence_place(claim.evidence[0]),
                    get_first_evidence_place(other_claim.evidence[0]),
                ),
                MADE,
                answer=f"{claim.value}; {other_claim.value}",
                every=True,
                about=(profile.name,),
            )


def draft_relation_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield questions on people's relations, and on what they call each other."""
    relations_by_pair: dict[frozenset[str], list[CharacterRelation]] = defaultdict(list)
    kinds: dict[tuple[str, str], int] = defaultdict(int)
    for relation in material.bible.relations:
        if relation.kind and relation.certainty in SURE:
            relations_by_pair[frozenset((relation.source, relation.target))].append(
                relation
            )
            kinds[relation.source, relation.kind] += 1
    for relations in relations_by_pair.values():
        relation = relations[0]
        alone = kinds[relation.source, relation.kind] == 1
        text = (
            f"Who is {relation.source}’s {relation.kind}?"
            if alone and len(relations) > 1
            else f"How are {relation.source} and {relation.target} connected?"
        )
        yield QuestionDraft(
            QuestionKind.RELATIONSHIP,
            text,
            tuple(
                get_first_evidence_place(relation.evidence[0]) for relation in relations
            ),
            "a relation",
            answer=f"{relation.target} is {relation.source}’s {relation.kind}.",
            about=(relation.source, relation.target),
        )
    yield from _called(material)


def draft_first_appearance_questions(
    material: SourceMaterial,
) -> Iterator[QuestionDraft]:
    """Yield questions on where somebody comes up first."""
    for profile in material.people():
        place = _first_place(profile, material)
        if place is None:
            continue
        chapter = material.chapter_of(place)
        if chapter < 1:
            continue
        yield QuestionDraft(
            QuestionKind.TIMELINE,
            f"When does {profile.name} first come up in the story?",
            (place,),
            _NAME,
            answer=f"In chapter {chapter}: {material.said(place)}",
            about=(profile.name,),
        )


def draft_date_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield questions on what happens on a day that the text names."""
    places: dict[str, list[AnswerPlace]] = defaultdict(list)
    for document in material.order.story:
        for match in _DATES.finditer(material.texts.get(document, "")):
            place = material.sentence_at(document, match.start())
            if place is not None and place not in places[match.group()]:
                places[match.group()].append(place)
    for date, date_places in places.items():
        sentences = [material.said(place) for place in date_places]
        if len(date_places) > _OFTEN or not all(
            len(sentence.split()) >= 7 for sentence in sentences
        ):
            continue
        yield QuestionDraft(
            QuestionKind.TIMELINE,
            f"What happens on {date}, or is planned for it?"
            if date.casefold().endswith("day") and " " not in date
            else f"What is told of {date}?",
            tuple(date_places),
            _DATE,
            answer=" … ".join(sentences),
            about=(date,),
        )


def draft_thing_place_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield questions on where a thing comes up that is named in a few chapters."""
    topics_by_stem: dict[str, dict[AnswerPlace, TopicNoun]] = defaultdict(dict)
    for document in material.order.story:
        text = material.texts.get(document, "")
        for span in material.sentences.get(document, ()):
            for topic in find_topics(text, span, material):
                topics_by_stem[topic.stem][AnswerPlace(document, span)] = topic
    for stem, topics_by_place in topics_by_stem.items():
        places = tuple(sorted(topics_by_place, key=material.rank))
        chapters = [material.chapter_of(place) for place in places]
        count = material.stems.get(stem, 0)
        if not 2 <= count == len(places) <= _FEW or len(set(chapters)) < count:
            continue
        topic = topics_by_place[places[0]]
        do = "do" if is_plural_noun(topic.noun) else "does"
        the = "" if topic.noun[0].isupper() else "the "
        yield QuestionDraft(
            QuestionKind.SEVERAL,
            f"In which places of the story {do} {the}{topic.noun} come up?",
            places,
            "a word of several chapters",
            answer=" … ".join(material.said(place) for place in places),
            every=True,
            about=(stem,),
        )


def _notes_on(
    profile: CharacterProfile, material: SourceMaterial
) -> Iterator[QuestionDraft]:
    """Yield questions on a thing that a note connects with a person."""
    for claim in profile.attributes:
        evidence = claim.evidence[0] if claim.evidence else None
        if claim.label != "description" or evidence is None or not _is_whole(evidence):
            continue
        text = material.texts[evidence.document]
        for topic in islice(find_topics(text, evidence.spans[0], material), 1):
            question = f"What does {profile.name} have to do with {topic.said}?"
            yield _fact(profile.name, topic.stem, question, claim)


def _attributes(profile: CharacterProfile) -> Iterator[tuple[str, BibleClaim]]:
    """Yield label and claim of each certain attribute that is given once, in one span."""
    labels = [claim.label.casefold() for claim in profile.attributes]
    for claim in profile.attributes:
        label = claim.label.casefold()
        has_one_span = len(claim.evidence) == 1 == len(claim.evidence[0].spans)
        alone = label in _ASKED and labels.count(label) == 1
        if alone and has_one_span and claim.certainty in SURE:
            yield label, claim


def _manners(
    profile: CharacterProfile,
) -> Iterator[tuple[str, str, Sequence[BibleClaim]]]:
    yield "speech", "What is {}’s way of talking?", _told(profile.speech_patterns)
    yield "values", "What matters to {}?", _told(profile.stated_values)
    yield "habits", "What habits does {} have?", _told(profile.behavioral_patterns)
    yield "traits", "What kind of person is {}?", _told(profile.personality_traits)


def _told(claims: Sequence[BibleClaim]) -> Sequence[BibleClaim]:
    sure = [claim for claim in claims if claim.certainty in SURE and claim.evidence]
    return sure if len(sure) == 1 and _is_whole(sure[0].evidence[0]) else ()


def _is_whole(evidence: TextEvidence) -> bool:
    return len(evidence.spans) == 1


def _fact(name: str, label: str, text: str, claim: BibleClaim) -> QuestionDraft:
    return QuestionDraft(
        QuestionKind.FACT,
        text,
        (get_first_evidence_place(claim.evidence[0]),),
        MADE,
        answer=claim.value,
        about=(name, label),
    )


def _things(material: SourceMaterial) -> Iterator[QuestionDraft]:
    for thing in material.bible.world:
        descriptions = [
            description
            for description in thing.descriptions
            if description.certainty in SURE
        ]
        descriptions = [
            description
            for description in descriptions
            if description.evidence and _is_whole(description.evidence[0])
        ]
        descriptions = [
            description
            for description in descriptions
            if len(description.value.split()) >= _TELLING
        ]
        is_named = thing.name[:1].isupper() and not thing.name.endswith(("ed", "days"))
        if (
            descriptions
            and is_named
            and thing.element_types
            and thing.certainty in SURE
        ):
            verb = "are" if is_plural_noun(thing.name) else "is"
            name = f"{thing.name[:1].lower()}{thing.name[1:]}"
            shown = name if name.startswith("the ") or verb == "are" else thing.name
            yield _fact(thing.name, "thing", f"What {verb} {shown}?", descriptions[0])


def _called(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield what somebody calls somebody else, where it is said in few places."""
    people = {
        character_profile.name: character_profile
        for character_profile in material.people()
    }
    sure: dict[tuple[str, str], set[str]] = defaultdict(set)
    for quote in material.bible.quotes:
        if {quote.evidence.certainty, quote.addressee_certainty} <= SURE:
            for form in _forms_called(quote, people, material):
                sure[quote.speaker, quote.addressee].add(form)
    for (speaker, hearer), forms in sure.items():
        form = min(forms)
        places = _where_said(form, speaker, material)
        if len(forms) == 1 and 1 <= len(places) <= _FEW:
            yield QuestionDraft(
                QuestionKind.RELATIONSHIP,
                f"By what name does {speaker} call {hearer}?",
                places,
                _NAME,
                answer=f"{form}.",
                about=(speaker, hearer, "name"),
            )


def _forms_called(
    quote: AttributedQuote,
    people: Mapping[str, CharacterProfile],
    material: SourceMaterial,
) -> Iterator[str]:
    """Yield the names by which a quotation calls out to its hearer."""
    if quote.speaker in people and quote.addressee in people:
        for form in people[quote.addressee].aliases:
            calls = _calls_out(form.name, quote.evidence, material)
            if calls and _is_other(form.name, quote.addressee):
                yield form.name


def _where_said(
    form: str, speaker: str, material: SourceMaterial
) -> tuple[AnswerPlace, ...]:
    """Return every sentence in which the speaker may say a name."""
    named = re.compile(rf"(?<!\w){re.escape(form)}(?!\w)")
    places: dict[AnswerPlace, None] = {}
    for quote in material.bible.quotes:
        document = quote.evidence.document
        for span in quote.evidence.spans if quote.speaker == speaker else ():
            match = named.search(material.texts[document], span.start, span.end)
            place = material.sentence_at(document, match.start()) if match else None
            if place is not None:
                places[place] = None
    return tuple(places)


def _calls_out(form: str, evidence: TextEvidence, material: SourceMaterial) -> bool:
    calls = re.compile(rf"(?:^|, ){re.escape(form)}[,.!?]")
    text = material.texts[evidence.document]
    return any(calls.search(text[span.start : span.end]) for span in evidence.spans)


def _is_other(form: str, name: str) -> bool:
    """Return whether a form has words beyond the name that a question uses."""
    name_words = {word.strip(".").casefold() for word in name.split()}
    form_words = {word.strip(".").casefold() for word in form.split()} - _TITLES
    return bool(form_words - name_words) and form[:1].isupper()


def _first_place(
    profile: CharacterProfile, material: SourceMaterial
) -> AnswerPlace | None:
    """Return the first sentence that names a person, by any of their own names."""
    forms = material.forms(profile)
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)")
    for document in material.order.story:
        text = material.texts.get(document, "")
        for match in named.finditer(text) if forms else ():
            place = material.sentence_at(document, match.start())
            if place is not None:
                return place
    return None
