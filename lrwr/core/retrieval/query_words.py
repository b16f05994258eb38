"""Words to search for besides those of a question: phrases, forms and related words.

For English. The lists are small and hand-written: they hold irregular forms, kinship,
and everyday words that writers use for one another ("wed" for "married").
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise

from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    Span,
    extract_capitalized_words,
    extract_content_words,
    normalize_word,
    stem_lightly,
)

MAX_RELATED_WORDS = 40
"""Related words searched for at most, so that a long question stays fast."""

MAX_PHRASES = 24
"""Phrases of one question searched for at most."""

_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"|«([^»]+)»")

_NAMES = frozenset({"may", "will"})
"""Function words that are also names."""

_TITLE = re.compile(r"\b(?:Mr|Mrs|Miss|Ms|Dr|Sir|Lady)\b\.?\s+(?=[A-Z])")

_SPEECH = """
say says said saying tell tells told telling ask asks asked asking
speak speaks spoke spoken talk talks talked reply replies replied
answer answers answered promise promises promised explain explains explained
word words character characters anyone anybody everyone everybody people
first last mr mrs miss ms dr
"""
"""Words of a question about who says what that tell nothing about the topic."""

_FORMS = """
arise arose arisen
awake awoke awoken
bear bore borne born birth
beat beaten
become became
begin began begun beginning
bend bent
bind bound
bite bit bitten
bleed bled blood
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen choice
cling clung
come came
creep crept
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed food
feel felt
fight fought
find found
flee fled flight
fling flung
fly flew flown flight
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
give gave given gift
go went gone
grind ground
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known knowledge
lay laid
lead led
lean leant
leap leapt
learn learnt
leave left
lend lent loan
lie lay lain
light lit
lose lost loss
make made
mean meant
meet met meeting
mistake mistook mistaken
pay paid
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold sale
send sent
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung song
sink sank sunk
sit sat
sleep slept asleep
slide slid
sling slung
smell smelt
speak spoke spoken speech
spend spent
spin spun
spit spat
spring sprang sprung
stand stood
steal stole stolen theft thief
stick stuck
sting stung
strike struck stricken
strive strove
swear swore sworn oath
sweep swept
swell swelled swollen
swim swam swum
swing swung
take took taken
teach taught teacher
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
weave wove woven
weep wept tears
win won
wind wound
write wrote written letter
die died dies dead death dying
kill killed murder slay slew slain
foot feet
man men
woman women
child children
tooth teeth
mouse mice
wife wives
knife knives
life lives live
person people
"""
"""Words that are forms of one another and do not share a stem, one group a line."""

_RELATED = """
home house live lodging lodgings dwell dwelling reside residence address abode
marry marriage married wedding wed engaged engagement betrothed bride bridegroom propose proposal
husband wife spouse married
money pay paid wage wages salary income fortune pounds cost price fee
rich wealthy wealth fortune
poor poverty debt debts owe owed
job work profession occupation trade employ employed employment
old age aged young years
born birth birthday
sick ill illness sickness disease fever ailing
doctor physician surgeon apothecary
kill murder murdered poison stab
grave buried burial bury funeral
mother mamma mama mum mom
father papa dad
parents mother father
brother brothers sibling siblings
sister sisters sibling siblings
son sons boy child
daughter daughters girl child
child children boy girl baby infant
uncle aunt nephew niece cousin relation relative
grandmother grandfather grandson granddaughter grandmamma grandpapa
ship boat vessel
car carriage coach motor
horse pony mare
dog hound
road street lane
inn tavern hotel
church chapel parish
parson clergyman vicar rector curate priest minister
police policeman constable inspector detective
servant maid footman butler housekeeper
boss master employer
friend companion acquaintance
enemy foe rival
love loved adore affection fond
hate hatred detest despise dislike
angry anger rage fury
happy glad pleased joy
sad unhappy sorrow grief
afraid fear frightened scared terror
cry weep tears sob
laugh smile
beautiful handsome pretty beauty
ugly plain
clothes dress coat gown wearing wore
hair beard whiskers moustache curls
eyes eye gaze
steal stole theft thief rob robbed robbery
lie lied false falsehood deceive deceived untrue
secret hidden conceal concealed
letter note wrote write written message
gift present gave
begin start started beginning
end finish finished
big large great huge
small little tiny
quick fast swift hurry
buy bought purchase purchased
sell sold
meal dinner breakfast supper lunch tea
drink wine beer brandy
room chamber bedroom
evening night
morning dawn
holiday trip journey travel voyage
school pupil teacher taught lesson governess tutor
soldier officer army regiment captain colonel
fight quarrel quarrelled dispute argue argued
help helped assist aid
promise vow swore oath
reason because cause
inherit heir estate will legacy bequeath entail
argument quarrel
job position situation post
fire burn burned burnt flames
hurt injured wound wounded injury
arrest arrested prison jail gaol imprisoned
escape fled flee ran
"""
"""Words of related meaning, one group a line; a word may be in several groups."""


def extract_quoted_phrases(question: str) -> list[str]:
    """Return the texts of two words or more that `question` puts in double quotation
    marks, as typed except for white space, which becomes single spaces.

    Each once, ignoring case and marks, in order.
    """
    phrases: dict[tuple[str, ...], str] = {}
    for match in _QUOTED.finditer(question):
        phrase = " ".join("".join(match.groups(default="")).split())
        words = tuple(WORD_PATTERN.findall(phrase.lower().replace("’", "'")))
        if len(words) > 1:
            phrases.setdefault(words, phrase)
    return list(phrases.values())[:MAX_PHRASES]


def has_search_words(question: str) -> bool:
    """Return whether `question` says what to search for: with a content word, a quoted
    phrase, which may consist of function words, or a function word that is a name.

    Such a name has a capital and does not begin a sentence, or is "Will" or "May" alone.
    """
    words = extract_content_words(question)
    return bool(
        not STOP_WORDS.issuperset(words)
        or (len(words) == 1 and words[0] in _NAMES and find_possible_names(question))
        or extract_capitalized_words(question)
        or extract_quoted_phrases(question)
    )


def find_possible_names(question: str) -> list[str]:
    """Return the words of `question` with a capital, as typed, in order."""
    return [word for word in WORD_PATTERN.findall(question) if word[0].isupper()]


def extract_search_words(question: str) -> list[str]:
    """Return the words to search for: the content words of `question`, and "will" and
    "may" where a capital inside a sentence makes them a name.

    In lower case and without possessive endings, each once.
    """
    names = _NAMES.intersection(extract_capitalized_words(question))
    if not names:
        return extract_content_words(question)
    words = dict.fromkeys(_words(question))
    return [word for word in words if word in names or word not in STOP_WORDS]


def extract_adjacent_words(question: str) -> list[str]:
    """Return every two adjacent words of `question` of which one at least is a content
    word, as "first second" in lower case, each once, in order.
    """
    pairs = (
        f"{first} {second}"
        for first, second in pairwise(_words(question))
        if first not in STOP_WORDS or second not in STOP_WORDS
    )
    return list(dict.fromkeys(pairs))[:MAX_PHRASES]


def find_topic_words(question: str, names: Iterable[Span]) -> list[str]:
    """Return the content words of a question about who says what that say what it is
    about: no names, verbs of saying or words such as "first".

    `names` are the spans of known names; other capitalized words count as names, too.
    """
    rest = question
    for span in sorted(names, reverse=True):
        rest = rest[: span.start] + " " * len(span) + rest[span.end :]
    words = WORD_PATTERN.findall(rest)
    capitalized = {normalize_word(word) for word in words[1:] if word[0].isupper()}
    ignored = {*STOP_WORDS, *_SPEECH.split(), *capitalized}
    return [word for word in extract_content_words(rest) if word not in ignored]


def hide_names(question: str) -> str:
    """Return `question` with "they" or "their" in place of names and their titles.

    Names are capitalized words that do not begin a sentence. The embedding of the result
    compares what happens, not who is named. A question that is about nothing else, such
    as "What does Nell say to Mags?", is returned unchanged.
    """
    untitled = _TITLE.sub("", question)
    names = set(extract_capitalized_words(untitled)) - STOP_WORDS
    if not names or not find_topic_words(question, []):
        return question

    def replace_name(match: re.Match[str]) -> str:
        word = match.group()
        if not word[0].isupper() or normalize_word(word) not in names:
            return word
        return "they" if word.lower() in names else "their"

    return WORD_PATTERN.sub(replace_name, untitled)


def find_related_words(words: Sequence[str]) -> list[str]:
    """Return other forms and related words of the lower-case `words`, without those
    that share a stem with one of `words`, each once, in the order of `words`.
    """
    table = _load_related_words()
    stems = {_stem(word) for word in words}
    related = (
        other
        for word in words
        for other in table.get(_stem(word), ())
        if _stem(other) not in stems
    )
    return list(dict.fromkeys(related))[:MAX_RELATED_WORDS]


def list_word_forms(word: str) -> tuple[str, ...]:
    """Return the irregular forms of a lower-case word, itself included, such as "ran"
    for "run"; empty if it has none.
    """
    return _load_word_forms().get(word, ())


@cache
def _load_word_forms() -> Mapping[str, tuple[str, ...]]:
    forms: dict[str, tuple[str, ...]] = {}
    for line in _FORMS.split("\n"):
        group = tuple(line.split())
        for word in group:
            forms[word] = tuple(dict.fromkeys((*forms.get(word, ()), *group)))
    return forms


def _words(text: str) -> list[str]:
    return [normalize_word(word) for word in WORD_PATTERN.findall(text)]


def _stem(word: str) -> str:
    # `stem_lightly` turns "marriages" into "marriag", but leaves "marriage".
    return stem_lightly(word).rstrip("e")


@cache
def _load_related_words() -> Mapping[str, Iterable[str]]:
    """Return the words of all groups of each stem, in the order of the lists."""
    table: dict[str, dict[str, None]] = {}
    for line in (_FORMS + _RELATED).split("\n"):
        group = line.split()
        for word in group:
            table.setdefault(_stem(word), {}).update(dict.fromkeys(group))
    return table
