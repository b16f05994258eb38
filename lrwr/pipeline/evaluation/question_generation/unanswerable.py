"""Questions that the text does not answer, and how that is made sure.

A question of the list asks after something that no text of the library has a word
for. The others ask what somebody says of a thing which comes up only in chapters that
do not name them.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from random import Random

from lrwr.core.bible.values import CharacterProfile
from lrwr.pipeline.evaluation.question_generation.draft import QuestionDraft
from lrwr.pipeline.evaluation.question_generation.quotes import TopicQuote
from lrwr.pipeline.evaluation.question_generation.source_material import SourceMaterial
from lrwr.pipeline.evaluation.questions import QuestionKind

NO_WORD = "a word that the text does not hold"
NOT_THERE = "a thing that comes up where its speaker does not"

MAIN = 12
"""How many of the most mentioned are asked about."""
_WELL_KNOWN = 8
"""Mentions of somebody who would have been noticed."""
_SHORT = 3
"""Letters of a word below which it must stand alone to count; see `is_word_in_text`."""

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
"""What is asked, with words none of which, nor any that begins with them, may stand."""


def draft_absent_word_questions(
    material: SourceMaterial, rng: Random
) -> Iterator[QuestionDraft]:
    """Yield questions from the fixed list whose words the text lacks, each on one person."""
    names = [character_profile.name for character_profile in material.people()[:MAIN]]
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
            QuestionKind.UNANSWERABLE, text, (), NO_WORD, about=(person, pattern)
        )


def draft_unsaid_topic_questions(
    material: SourceMaterial, sayings: Sequence[TopicQuote], rng: Random
) -> Iterator[QuestionDraft]:
    """Yield questions on what a person says about a thing they never appear near."""
    chapters_by_name = _near(material)
    well_known = [
        character_profile
        for character_profile in material.people()
        if character_profile.mentions >= _WELL_KNOWN
    ]
    well_known = [profile for profile in well_known if not profile.narrator]
    order = sorted(sayings, key=lambda topic_quote: material.rank(topic_quote.place))
    rng.shuffle(order)
    for saying in order:
        chapters = _chapters_with(saying.topic.stem, material)
        absent_profiles = [
            profile
            for profile in well_known
            if not chapters_by_name[profile.name] & chapters
        ]
        if not absent_profiles:
            continue
        speaker = rng.choice(absent_profiles).name
        text = f"What does {speaker} say about {saying.topic.said}?"
        about = (speaker, saying.topic.stem)
        yield QuestionDraft(QuestionKind.UNANSWERABLE, text, (), NOT_THERE, about=about)


def is_word_in_text(material: SourceMaterial, word: str) -> bool:
    """Return whether a text has a word, or one that begins with it.

    A word of three letters or fewer counts alone and with an s only.
    """
    if len(word) <= _SHORT:
        return bool({word, f"{word}s"} & material.words)
    text_words = material.words
    return any(
        text_word.startswith(word) or f"-{word}" in text_word
        for text_word in text_words
    )


def _near(material: SourceMaterial) -> dict[str, set[tuple[str, int]]]:
    """Return the chapters that name each person by any form of the name."""
    near: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for profile in material.people():
        named = _named(profile)
        for chapter, text in _chapters(material):
            if named.search(text):
                near[profile.name].add(chapter)
    return near


def _named(profile: CharacterProfile) -> re.Pattern[str]:
    """Return a pattern that finds any word of any name of a person; may match too much."""
    words = {word for form in profile.aliases for word in form.name.split()}
    name_words = sorted(word for word in words if word[:1].isupper() and len(word) > 2)
    alternatives = "|".join(map(re.escape, name_words)) or "(?!)"
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)")


def _chapters(material: SourceMaterial) -> Iterator[tuple[tuple[str, int], str]]:
    for document, chapter, _ in material.order.iter_chapters():
        text = material.texts.get(document, "")
        span = chapter.span
        yield (document, span.start), text[span.start : span.end]


def _chapters_with(stem: str, material: SourceMaterial) -> set[tuple[str, int]]:
    pattern = re.compile(rf"\b{re.escape(stem)}", re.IGNORECASE)
    notes = set(material.texts) - set(material.order.story)
    if any(pattern.search(material.texts[note]) for note in notes):
        return {place for place, _ in _chapters(material)}
    return {place for place, text in _chapters(material) if pattern.search(text)}
