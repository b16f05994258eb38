"""Question drafts made from templates, without a language model.

There are four sources: what notes and profiles state about people and things, a
sentence of the narration that names a person and a rare thing, a word that occurs in a
few chapters, and a fixed list of things that the text never mentions.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from random import Random

from lrwr.core.bible.values import BibleClaim, CharacterProfile
from lrwr.core.model.text import WORD_PATTERN
from lrwr.pipeline.evaluation.question_generation.source_material import (
    SURE,
    QuestionDraft,
    SourceMaterial,
    TopicNoun,
    find_topics,
    get_first_evidence_place,
    is_plural_noun,
)
from lrwr.pipeline.evaluation.questions import AnswerPlace, QuestionKind

PROFILE_SOURCE = "a profile"
SENTENCE_SOURCE = "a sentence"
CHAPTERS_SOURCE = "a word of several chapters"
ABSENT_SOURCE = "a word that the text does not hold"

_ATTRIBUTE_QUESTIONS: Mapping[str, str] = {
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
ABSENT = (
    ("Which instrument does {0} play?", "instrument violin fiddle piano flute guitar cello harp trumpet organ banjo play"),
    ("What is the name of {0}’s dog?", "dog hound puppy terrier spaniel"),
    ("Which university did {0} attend?", "university college undergraduate"),
    ("What is {0} allergic to?", "allerg"),
    ("Which stamps does {0} collect?", "stamp collector philatel"),
    ("What tattoo does {0} have?", "tattoo"),
    ("Which sport was {0} good at as a child?", "sport cricket football tennis rugby"),
    ("How many grandchildren does {0} have?", "grandchild grandson granddaughter"),
    ("Who is {0}’s godfather?", "godfather godmother godson godparent godchild"),
    ("What does {0} order at the restaurant?", "restaurant"),
    ("Who taught {0} to swim?", "swim swam"),
    ("How does {0} lose the game of chess?", "chess checkmate"),
    ("What does the fortune-teller predict for {0}?", "fortune-teller gypsy gipsy palmist"),
    ("Which newspaper does {0} write for?", "newspaper journalist"),
    ("When did {0} have the measles?", "measles"),
    ("What does {0} keep in the attic?", "attic garret"),
    ("What does {0} find in the cellar?", "cellar"),
    ("Who gave {0} the telescope?", "telescope spyglass"),
    ("Who inherits {0}’s vineyard?", "vineyard"),
    ("What does {0} grow in the greenhouse?", "greenhouse hothouse glasshouse"),
    ("Who takes the photograph of {0}?", "photograph camera"),
    ("What does {0} say over the telephone?", "telephone"),
    ("What is {0}’s parrot called?", "parrot"),
    ("How much does {0} win in the casino?", "casino roulette"),
    ("What does {0} knit for {1}?", "knit"),
    ("What cake does {0} bake for {1}?", "bake baking"),
    ("Since when does {0} stammer?", "stammer stutter"),
    ("What did {0} get the medal for?", "medal"),
    ("What is engraved in {0}’s wedding ring?", "engrav wedding-ring"),
    ("Where was {0} baptised?", "baptis baptiz christen"),
    ("Who wins the duel between {0} and {1}?", "duel"),
    ("Where do {0} and {1} spend their honeymoon?", "honeymoon"),
    ("Why was {0} expelled from school?", "expel expulsion"),
    ("Which prize does {0} win at the fair?", "prize"),
    ("What was {0}’s grandmother called?", "grandmother grandmama granny grandma"),
    ("Which train does {0} miss?", "train railway locomotive"),
    ("What colour is {0}’s umbrella?", "umbrella parasol"),
    ("What does {0} see in the museum?", "museum"),
    ("How does {0} get out of prison?", "prison jail gaol"),
    ("In which regiment did {0} serve?", "regiment"),
    ("What is the name of {0}’s twin?", "twin twins"),
    ("Where is {0} when the earthquake comes?", "earthquake"),
    ("Whom does {0} shoot with the pistol?", "pistol revolver gun rifle musket"),
    ("Who forges {0}’s signature?", "forge forger forgery"),
    ("What is in the telegram to {0}?", "telegram telegraph"),
    ("What does {0} go to the masquerade as?", "masquerade"),
    ("Why does {0} sell the farm?", "farm"),
    ("How many beehives does {0} keep?", "beehive bee bees hive"),
    ("Which hospital does {0} work at?", "hospital"),
    ("Which lullaby does {0} know?", "lullaby lullabies"),
    ("Which mountain does {0} climb?", "mountain"),
    ("What does the locksmith open for {0}?", "locksmith"),
    ("How long is {0} in quarantine?", "quarantine"),
    ("What does {0} trade the goat for?", "goat"),
    ("Who is {0}’s stepmother?", "stepmother stepfather stepson stepdaughter"),
    ("How did {0} break an ankle?", "ankle"),
    ("What does {0} write in the diary?", "diary diaries"),
    ("Where is {0}’s birthmark?", "birthmark"),
    ("Where did {0} learn to skate?", "skate skating"),
    ("Who gave {0} the compass?", "compass"),
    ("What does {0} plant in the orchard?", "orchard"),
    ("Who breaks {0}’s spectacles?", "spectacles eyeglass"),
    ("Which verdict does the jury give on {0}?", "jury juror verdict"),
    ("What does {0} confess to the priest?", "priest"),
    ("What did {0} pay the pawnbroker?", "pawn"),
    ("Who wins the sack race, {0} or {1}?", "sack"),
    ("What does {0} keep in the aquarium?", "aquarium goldfish"),
    ("How did {0} learn to juggle?", "juggl"),
    ("Which bridge did {0} design?", "architect engineer"),
    ("What does {0} bring back from Iceland?", "iceland"),
    ("Whom does {0} vote for?", "vote voting ballot election"),
    ("What is the password that {0} gives {1}?", "password watchword"),
    ("How many kittens does {0} drown?", "kitten"),
    ("What does {0} do with the inheritance?", "inherit"),
    ("Which puzzle does {0} solve for {1}?", "puzzle riddle"),
    ("Who finds {0}’s lost glove?", "glove"),
    ("What does {0} say about the eclipse?", "eclipse"),
    ("What does {0} buy at the auction?", "auction"),
    ("Why does {0} set the barn on fire?", "barn"),
    ("Where does {0} bury the treasure?", "treasure"),
)  # fmt: skip
"""Questions with the words that must not occur, as a whole or as a beginning, in any text."""

_MOST_PLACES = 3
"""Chapters in which a thing may occur to be asked about in all of them."""

_SHORTEST_DESCRIPTION = 5
"""Words of a description that says what a thing is."""

_SHORTEST_SENTENCE = 6
"""Words of a sentence that says something."""

_RAREST = 5
"""Occurrences of a noun in the whole text that still tell one sentence from others."""

_COMPARISON = re.compile(
    r"\b(?:like|as if|as though|as|than|without|would|could|might|if)\b"
)
"""Words before a thing that is only compared to, missing or imagined."""

_MAIN_CHARACTERS = 12
"""How many of the most mentioned people are asked about."""

_SHORT_WORD = 3
"""Letters of a word below which only the whole word counts; see `is_word_in_text`."""


def draft_profile_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield drafts of questions about people ("What habits does Nell have?") and named
    things of the story's world ("What is the Marsh Lantern?").

    Only confirmed and verified facts are used.
    """
    for profile in material.people():
        for label, claim in _list_attributes(profile):
            yield _draft_fact(
                profile.name,
                label,
                _ATTRIBUTE_QUESTIONS[label].format(name=profile.name),
                claim,
            )
        for label, text, claims in _list_manners(profile):
            if claims:
                yield _draft_fact(
                    profile.name, label, text.format(profile.name), claims[0]
                )
        yield from _draft_note_questions(profile, material)
    yield from _draft_world_questions(material)


def draft_sentence_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield drafts of questions on what a person has to do with a rare thing, from one
    sentence each, in story order.

    Only narration is used, and only sentences that name a single person.
    """
    patterns = {
        profile.name: _compile_names(material.forms(profile))
        for profile in material.people()
    }
    for document in material.order.story:
        text = material.texts.get(document, "")
        for span in material.narration(document):
            sentence = text[span.start : span.end]
            names = [
                name for name, pattern in patterns.items() if pattern.search(sentence)
            ]
            word_count = len(WORD_PATTERN.findall(sentence))
            if len(names) == 1 and word_count >= _SHORTEST_SENTENCE:
                place = AnswerPlace(document, span)
                yield from _draft_sentence(
                    names[0], patterns[names[0]], place, material
                )


def _draft_sentence(
    name: str, pattern: re.Pattern[str], place: AnswerPlace, material: SourceMaterial
) -> Iterator[QuestionDraft]:
    text = material.texts[place.document]
    for topic in find_topics(text, place.span, material, rare=_RAREST):
        before = text[place.span.start : topic.span.start]
        if pattern.search(before) and not _COMPARISON.search(before):
            yield QuestionDraft(
                QuestionKind.FACT,
                f"What does {name} have to do with {topic.phrase}?",
                (place,),
                SENTENCE_SOURCE,
                answer=material.text_at(place),
                about=(name, topic.stem),
            )
            return


def draft_chapters_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield a draft of a question for each thing that is named in two or three
    chapters, once in each: in which places of the story does it come up?
    """
    topics_by_stem: dict[str, dict[AnswerPlace, TopicNoun]] = defaultdict(dict)
    for document in material.order.story:
        text = material.texts.get(document, "")
        for span in material.sentences.get(document, ()):
            for topic in find_topics(text, span, material):
                topics_by_stem[topic.stem][AnswerPlace(document, span)] = topic
    for stem, topics_by_place in topics_by_stem.items():
        places = tuple(sorted(topics_by_place, key=material.rank))
        chapters = {material.chapter_of(place) for place in places}
        count = material.stems.get(stem, 0)
        # Every occurrence must be a place, each in a chapter of its own.
        if not 2 <= count == len(places) == len(chapters) <= _MOST_PLACES:
            continue
        noun = topics_by_place[places[0]].noun
        do = "do" if is_plural_noun(noun) else "does"
        the = "" if noun[0].isupper() else "the "
        yield QuestionDraft(
            QuestionKind.SEVERAL,
            f"In which places of the story {do} {the}{noun} come up?",
            places,
            CHAPTERS_SOURCE,
            answer=" … ".join(material.text_at(place) for place in places),
            every=True,
            about=(stem,),
        )


def draft_absent_word_questions(
    material: SourceMaterial, rng: Random
) -> Iterator[QuestionDraft]:
    """Yield drafts of unanswerable questions: those of `ABSENT` whose words the text
    lacks.

    Each is about one of the main characters, and some name a second one. `rng`
    determines the order and the second character.
    """
    names = [profile.name for profile in material.people()[:_MAIN_CHARACTERS]]
    if not names:
        return
    absent_patterns = [
        pattern
        for pattern, words in ABSENT
        if not any(is_word_in_text(material, word) for word in words.split())
    ]
    rng.shuffle(absent_patterns)
    for number, pattern in enumerate(absent_patterns):
        person = names[number % len(names)]
        others = [name for name in names if name != person]
        if "{1}" in pattern and not others:
            continue
        text = pattern.format(person, rng.choice(others) if others else "")
        yield QuestionDraft(
            QuestionKind.UNANSWERABLE, text, (), ABSENT_SOURCE, about=(person, pattern)
        )


def is_word_in_text(material: SourceMaterial, word: str) -> bool:
    """Return whether any text contains `word`, in lower case, or a word that begins
    with it.

    A word of three letters or fewer counts only as a whole or with an s.
    """
    if len(word) <= _SHORT_WORD:
        return bool({word, f"{word}s"} & material.words)
    return any(
        text_word.startswith(word) or f"-{word}" in text_word
        for text_word in material.words
    )


def bound_drafts_by_chapter(
    drafts: Iterable[QuestionDraft],
    material: SourceMaterial,
    first_chapters: Mapping[str, int],
) -> tuple[list[QuestionDraft], list[QuestionDraft]]:
    """Return drafts with a horizon after their answer, and drafts with one before it.

    A draft of the second kind has no answering places, and its answer is a spoiler; its
    person must have appeared before the horizon. `first_chapters` maps names of people
    to the number of the first chapter that names them.
    """
    after_telling, before_telling = [], []
    for draft in drafts:
        chapter = material.chapter_of(draft.places[0])
        if chapter < 1:
            continue
        # One half is asked in the chapter of the answer, the other a chapter later.
        after = min(material.order.last, chapter + draft.places[0].span.start % 2)
        after_telling.append(replace(draft, kind=QuestionKind.AS_OF, as_of=after))
        first = first_chapters.get(draft.about[0], chapter)
        # "Who …?" does not name the person who is asked about.
        if max(first, 1) < chapter and not draft.text.startswith("Who "):
            answer = f"Not told by then; in chapter {chapter}: {draft.answer}"
            before_telling.append(
                replace(
                    draft,
                    kind=QuestionKind.AS_OF,
                    places=(),
                    spoilers=draft.places,
                    as_of=chapter - 1,
                    answer=answer,
                )
            )
    return after_telling, before_telling


def _draft_note_questions(
    profile: CharacterProfile, material: SourceMaterial
) -> Iterator[QuestionDraft]:
    """Yield questions on a thing that a note connects with a person."""
    for claim in profile.attributes:
        if claim.label == "description" and _has_one_span(claim):
            evidence = claim.evidence[0]
            text = material.texts[evidence.document]
            for topic in islice(find_topics(text, evidence.spans[0], material), 1):
                question = f"What does {profile.name} have to do with {topic.phrase}?"
                yield _draft_fact(profile.name, topic.stem, question, claim)


def _list_attributes(profile: CharacterProfile) -> Iterator[tuple[str, BibleClaim]]:
    """Yield label and claim of each certain attribute that has one value and one span."""
    labels = [claim.label.casefold() for claim in profile.attributes]
    for claim in profile.attributes:
        label = claim.label.casefold()
        is_single = label in _ATTRIBUTE_QUESTIONS and labels.count(label) == 1
        if (
            is_single
            and len(claim.evidence) == 1
            and _has_one_span(claim)
            and claim.certainty in SURE
        ):
            yield label, claim


def _list_manners(
    profile: CharacterProfile,
) -> Iterator[tuple[str, str, Sequence[BibleClaim]]]:
    yield (
        "speech",
        "What is {}’s way of talking?",
        _single_claim(profile.speech_patterns),
    )
    yield "values", "What matters to {}?", _single_claim(profile.stated_values)
    yield (
        "habits",
        "What habits does {} have?",
        _single_claim(profile.behavioral_patterns),
    )
    yield (
        "traits",
        "What kind of person is {}?",
        _single_claim(profile.personality_traits),
    )


def _single_claim(claims: Sequence[BibleClaim]) -> Sequence[BibleClaim]:
    """Return the only certain claim in a list, if there is just one, in one span."""
    sure = [claim for claim in claims if claim.certainty in SURE and claim.evidence]
    return sure if len(sure) == 1 and _has_one_span(sure[0]) else ()


def _has_one_span(claim: BibleClaim) -> bool:
    return bool(claim.evidence) and len(claim.evidence[0].spans) == 1


def _draft_fact(name: str, label: str, text: str, claim: BibleClaim) -> QuestionDraft:
    return QuestionDraft(
        QuestionKind.FACT,
        text,
        (get_first_evidence_place(claim.evidence[0]),),
        PROFILE_SOURCE,
        answer=claim.value,
        about=(name, label),
    )


def _draft_world_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    for thing in material.bible.world:
        descriptions = [
            description
            for description in thing.descriptions
            if description.certainty in SURE
            and _has_one_span(description)
            and len(description.value.split()) >= _SHORTEST_DESCRIPTION
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
            yield _draft_fact(
                thing.name, "thing", f"What {verb} {shown}?", descriptions[0]
            )


def _compile_names(forms: list[str]) -> re.Pattern[str]:
    """Return a pattern of whole names, not as the surname after "Mr" or "Mrs"."""
    either = "|".join(map(re.escape, forms)) or "(?!)"
    titled = "".join(rf"(?<!{title} )" for title in ("Mr", r"Mr\.", "Mrs", r"Mrs\."))
    return re.compile(rf"(?<!\w){titled}(?:{either})(?!\w)")
