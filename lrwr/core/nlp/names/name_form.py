"""Name forms: parsing, gender by given name, nicknames, and what the words beside a name say."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Character, Gender
from lrwr.core.nlp.names.lexicon import (
    BODY_NOUNS,
    DETERMINERS,
    DIRECTION_WORDS,
    FEMALE_NAMES,
    KIN_EITHER,
    KIN_FEMALE,
    KIN_MALE,
    MALE_NAMES,
    NAME_EPITHETS,
    PARTICLES,
    PEOPLE_SUFFIXES,
    PERSON_ACTION_VERBS,
    PLACE_PREPOSITIONS,
    STRICT_SPEECH,
    infer_title_gender,
    is_given_name,
    is_same_given_name,
    normalize_name_title,
    split_bare_words,
)
from lrwr.core.nlp.names.mentions import NameCandidate, TextSection

# The last two words before a name, and the punctuation between them and the name
_BEFORE = re.compile(r"(?:(\w+)(,?)\s+)?(\w+)([^\w]*)\Z")
_AFTER = re.compile(r"([^\w]*)(\w+)?(?:\s+(\w+))?")
# The first pronoun after a name; a new sentence's subject or a paragraph end first
# stops the search, because the pronoun would mean someone else.
_PRONOUN = re.compile(
    r"\b(?:([Hh]e|[Hh]is|himself)|([Ss]he|[Hh]er|hers|herself))\b"
    r"|[a-z,;.!?] (?!He\b|She\b|His\b|Her\b)[A-Z][a-z]+|\n\n",
)
_VOCATIVE_AFTER = re.compile(r"\s*[,.!?;:—”\"-]")
_ALIKE = re.compile(
    r",\s+(?:also |often |sometimes )?called\s+"
    r"|,?\s+\(?(?:also |often |better )?(?:known as|nicknamed|alias|otherwise)\s+(?:the\s+)?"
    r"|,?\s+whose (?:real|true|other|first) name was\s+"
)
_MARRIED = re.compile(r",?\s+\(?(?:now|formerly|née)\s+")
_QUOTE_NEAR = re.compile(r"[“”\"‘’]")
_NAMING = re.compile(r"\b(?:[Mm]y name is|I,|call(?:ed)? me|named me|I am) $")
_COPULAS = frozenset({"is", "was"})
_PREPOSED = {"a": DETERMINERS, "in": PLACE_PREPOSITIONS, "at": DIRECTION_WORDS}
_PRONOUN_WINDOW = 70
"""Characters after a name that are searched for a pronoun."""
_CUE_WINDOW = 40
"""Characters before a name that are searched for cues."""


def is_alias_phrase(gap: str, title: str) -> bool:
    """Return whether `gap`, the text between two names, says that both are one person,
    as in "Nell, called Wren".

    `title` is that of the second name: "Miss Tallow, now Mrs. Vale" is one woman.
    """
    if title in ("mrs", "miss", "lady") and _MARRIED.fullmatch(gap):
        return True
    return bool(_ALIKE.fullmatch(gap))


def count_name_cues(section: TextSection, candidate: NameCandidate) -> Counter[str]:
    """Count the cues beside one occurrence of a name; `n` is always 1.

    Cues: `inside` (not at a sentence start), `quoted` (in speech), `vocative` (is
    addressed), `tag` (in a dialogue tag), `speech` (beside a speech verb), `act`
    (subject of another verb), `who` (followed by "who"), `body` and `possessive`
    ("Nell's eyes"), `kin` ("her brother Corin"), `epithet` ("old Nell"), `the` and `a`
    (article), `in` and `at` (place preposition), `narrator` ("my name is"), `male` and
    `female` (pronouns).
    """
    text = section.text
    before = text[max(0, candidate.start - _CUE_WINDOW) : candidate.start]
    after = text[candidate.end : candidate.end + _PRONOUN_WINDOW + 30]
    cues = Counter(("n",))
    if not candidate.initial:
        cues["inside"] = 1
    if len(candidate.words) > 1 and candidate.words[0] == "The":
        cues["the"] = 1
    if candidate.quoted:
        cues["quoted"] = 1
        if _is_vocative(before, after):
            cues["vocative"] = 1
            return cues
    if candidate.possessive:
        cues["possessive"] = 1
        after = after[2:]
    _count_before(cues, before)
    _count_after(cues, after, possessive=candidate.possessive)
    _count_gender(cues, after)
    if not candidate.quoted and _NAMING.search(before):
        cues["narrator"] = 1
    return +cues


def _is_vocative(before: str, after: str) -> bool:
    if not _VOCATIVE_AFTER.match(after):
        return False
    if before.rstrip("_*")[-1:] in ("“", '"', "‘", "'"):
        return True
    lead = before.rstrip(" _*\n")
    words = lead.rstrip(",").split()
    last = words[-1].strip("“\"‘'—-").lower() if words else ""
    if lead.endswith(","):
        return not _has_kin(words) and after.lstrip()[:1] != "-"
    return last in (
        "dear",
        "dearest",
        "oh",
        "o",
        "ah",
        "my",
        "poor",
        "well",
        "no",
        "yes",
    )


def _has_kin(words: list[str]) -> bool:
    last = words[-1].lower() if words else ""
    return last in KIN_FEMALE or last in KIN_MALE or last in KIN_EITHER


def _count_before(cues: Counter[str], before: str) -> None:
    match = _BEFORE.search(before)
    if match is None:
        return
    earlier, last = (match[1] or "").lower(), match[3].lower()
    gap = match[4].strip(" \n\t_*")
    if gap:
        if gap == "," and _has_kin([last]):
            _count_kin(cues, last)
        return
    if last in _COPULAS and _has_kin([earlier]):
        _count_kin(cues, earlier)  # "Nell's brother was Corin"
        return
    if last in NAME_EPITHETS:
        cues["epithet"] = 1
        last, earlier = earlier, ""
    if last == "the":
        cues["the"] = 1
        last = earlier
    _count_word_before(cues, last, before)


def _count_word_before(cues: Counter[str], word: str, before: str) -> None:
    if word in STRICT_SPEECH and word != "called":
        cues["speech"] = 1
        if _QUOTE_NEAR.search(before[-28:]):
            cues["tag"] = 1
    elif _has_kin([word]):
        _count_kin(cues, word)
    else:
        for cue, words in _PREPOSED.items():
            if word in words:
                cues[cue] = 1


def _count_kin(cues: Counter[str], word: str) -> None:
    cues["kin"] = 1
    if word in KIN_FEMALE:
        cues["female"] += 3
    elif word in KIN_MALE:
        cues["male"] += 3


def _count_after(cues: Counter[str], after: str, *, possessive: bool) -> None:
    match = _AFTER.match(after)
    if match is None or not match[2]:
        return
    gap, word, second = match[1].strip(" _*"), match[2], match[3] or ""
    if possessive:
        cues["body"] += not gap and (word in BODY_NOUNS or second in BODY_NOUNS)
    elif gap:
        cues["who"] += gap == "," and word in ("who", "whom")
    else:
        _count_verb(cues, second if word.endswith("ly") else word, after)


def _count_verb(cues: Counter[str], word: str, after: str) -> None:
    if word in STRICT_SPEECH:
        cues["speech"] += 1
        cues["tag"] += bool(_QUOTE_NEAR.search(after[:40]))
    elif word in PERSON_ACTION_VERBS or word in ("who", "whom", "himself", "herself"):
        cues["act"] = 1


def _count_gender(cues: Counter[str], after: str) -> None:
    match = _PRONOUN.search(after[:_PRONOUN_WINDOW])
    if match is None:
        return
    if match[1]:
        cues["male"] += 1
    elif match[2]:
        cues["female"] += 1


# Two or more capitalised parts in one word: NellTallow
_JOINED = re.compile(r"([A-Z][a-z]+)(?:[A-Z][a-z]+)+")
_CAPITAL = re.compile(r"[A-Z][a-z]+")
_PREFIXES = frozenset({"Mc", "Mac", "Fitz", "De", "Di", "La", "Le", "Van", "Von"})


@dataclass(slots=True)
class NameForm:
    """One spelling of a name ("Mr. Vale"), counted over all documents.

    `title` is normalized ("mr") or empty, `words` are the words after it, `of` is what
    follows an "of" ("Duke of Thole"). `counts` holds cue counts as described at
    `NameEvidence.forms`. `first` is the first occurrence: index of the document and
    character offset. `by_document` has, for each document with this form, by index, the
    numbers of occurrences in all and outside quoted speech. `male` and `female` are the gender votes
    of the given name.

    `given_name` and `last` are the given name and the surname of two or more words, else
    empty: the first word, and the last one with its particles ("de"), in lower case.
    `parts` are the words of a name written without a space ("BrineHob"), in lower case;
    else empty.
    """

    name: str
    title: str
    words: tuple[str, ...]
    of: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    first: tuple[int, int] = (0, 0)
    by_document: dict[int, tuple[int, int]] = field(default_factory=dict)
    male: int = 0
    female: int = 0
    given_name: str = field(init=False, default="")
    last: str = field(init=False, default="")
    parts: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.parts = _split_joined(self.words)
        if len(self.words) > 1:
            self.given_name = self.words[0].lower()
            self.last = _surname_with_particles(self.words)

    @classmethod
    def of_name(cls, name: str) -> "NameForm":
        """Return the form of `name` with its title and words; all counts are 0."""
        title, words, of = parse_name_form(name)
        return cls(name, title, words, of)

    @property
    def n(self) -> int:
        """Number of occurrences of this form in all documents."""
        return self.counts["n"]

    @property
    def narrated(self) -> int:
        """Number of occurrences outside quoted speech."""
        return self.counts["n"] - self.counts["quoted"]

    @property
    def documents(self) -> int:
        """Number of documents with this form."""
        return len(self.by_document)


def _split_joined(words: Sequence[str]) -> frozenset[str]:
    name = words[0] if len(words) == 1 else ""
    match = _JOINED.fullmatch(name)
    if match is None or match[1] in _PREFIXES:
        return frozenset()
    return frozenset(word.lower() for word in _CAPITAL.findall(name))


def unlisp(word: str) -> tuple[str, ...]:
    """Return what a lisped word may mean, in lower case: "Mith" gives "mis" and "miss".

    Empty for a word without "th".
    """
    low = word.lower()
    if "th" not in low:
        return ()
    return low.replace("th", "s"), low.replace("th", "ss")


def is_single_word(form: NameForm) -> bool:
    """Return whether a form is one word without a title, such as "Nell"."""
    return not form.title and len(form.words) == 1 and not form.of


def is_joined_word(form: NameForm) -> bool:
    """Return whether a form is several words without a space, such as "NellTallow"."""
    return is_single_word(form) and bool(form.parts)


def is_titled_word(form: NameForm) -> bool:
    """Return whether a form is a title and one word, such as "Mr. Vale"."""
    return bool(form.title) and len(form.words) == 1 and not form.of


def is_full_name(form: NameForm) -> bool:
    """Return whether a form has several words after its title, or an "of"."""
    return bool(form.of) or len(form.words) > 1


def is_titled_initial(form: NameForm) -> bool:
    """Return whether a form is a title and an initial, such as "Mr. V"."""
    return len(form.words[-1].rstrip(".")) == 1


def _surname_with_particles(words: Sequence[str]) -> str:
    at = len(words) - 1
    while at > 1 and words[at - 1].lower() in PARTICLES:
        at -= 1
    return " ".join(words[at:]).lower()


def parse_name_form(name: str) -> tuple[str, tuple[str, ...], str]:
    """Split a name into its title, its words, and the words after "of".

    "the Duke of Thole" gives ("duke", (), "Thole"). The title is normalized. Articles,
    epithets ("old") and suffixes ("Jr.") are dropped.
    """
    body, _, of = name.partition(" of ")
    words = body.split(" ")
    if len(words) > 1 and words[0].lower() in ("the", "a", "an"):
        words.pop(0)
    title = ""
    while len(words) > 1 and words[0].lower() in NAME_EPITHETS:
        words.pop(0)
    while words and normalize_name_title(words[0]) and (len(words) > 1 or not title):
        title = normalize_name_title(words.pop(0))
    while len(words) > 1 and words[-1].lower().rstrip(".") in PEOPLE_SUFFIXES:
        words.pop()
    return title, tuple(words), of


_LISTED_NAME_VOTES = 6
"""Votes of a given name from the lists; a pronoun near the name is one vote."""
_AGAINST_LIST = 4
"""A vote for a listed given name weighs this many times as much as one against it."""
_TITLE_VOTES = 5
"""Votes of a title before the given name."""
_MIN_MAJORITY = 0.72
"""Minimum share of the votes for a gender to be assigned."""


def score_given_name_gender(forms: Collection[NameForm]) -> None:
    """Set the gender votes `male` and `female` of each form.

    Votes come from pronouns, titles and lists of common names; those of all forms with
    the same given name are added up.
    """
    words = {id(form): find_given_word(form) for form in forms}
    males, females = Counter[str](), Counter[str]()
    for form in forms:
        if word := words[id(form)]:
            male, female = _gender_votes(form)
            males[word] += male
            females[word] += female
    for form in forms:
        if word := words[id(form)]:
            form.male, form.female = _weigh_votes(word, males[word], females[word])


def _weigh_votes(word: str, male: int, female: int) -> tuple[int, int]:
    """Return the votes (male, female) of a given name with those of the lists of names.

    Pronouns near a name often mean someone else: unless they outvote the list, the
    votes against it count little.
    """
    male += _LISTED_NAME_VOTES * (word in MALE_NAMES)
    female += _LISTED_NAME_VOTES * (word in FEMALE_NAMES)
    if word in MALE_NAMES - FEMALE_NAMES and male >= female:
        return male, min(female, male // _AGAINST_LIST)
    if word in FEMALE_NAMES - MALE_NAMES and female >= male:
        return min(male, female // _AGAINST_LIST), female
    return male, female


def is_named_after_husband(form: NameForm) -> bool:
    """Return whether a form is a wife's with her husband's given name: "Mrs. Corin
    Vale".
    """
    return form.title == "mrs" and form.given_name in MALE_NAMES - FEMALE_NAMES


def find_given_word(form: NameForm) -> str:
    """Return the given name of a form in lower case, by which gender votes are added
    up; "" if it may have none.
    """
    if not form.words or form.title == "mrs" or form.of:
        return ""
    if form.given_name:
        return form.given_name
    if not form.title or form.title in ("sir", "aunt", "uncle", "sister", "brother"):
        return form.words[0].lower()
    return ""


def _gender_votes(form: NameForm) -> tuple[int, int]:
    title_gender = infer_title_gender(form.title)
    if title_gender is Gender.UNKNOWN:
        return form.counts["male"], form.counts["female"]
    is_male = title_gender is Gender.MALE
    return _TITLE_VOTES * is_male, _TITLE_VOTES * (not is_male)


def resolve_gender_votes(male: int, female: int) -> tuple[Gender, bool]:
    """Return the gender with at least 72 % of the votes, and whether that is certain.

    `male` and `female` are numbers of votes. Unknown with fewer than 2 votes or a
    smaller majority; certain from 5 votes.
    """
    total = male + female
    if total < 2 or max(male, female) / total < _MIN_MAJORITY:
        return Gender.UNKNOWN, False
    return (Gender.MALE if male > female else Gender.FEMALE), total >= 5


def infer_form_gender(form: NameForm) -> Gender:
    """Return the gender of the form's title, else of its votes if they are certain,
    else unknown.
    """
    title_gender = infer_title_gender(form.title)
    if title_gender is not Gender.UNKNOWN:
        return title_gender
    male = max(form.male, form.counts["male"])
    gender, sure = resolve_gender_votes(male, max(form.female, form.counts["female"]))
    return gender if sure else Gender.UNKNOWN


@dataclass(frozen=True, slots=True)
class NameParts:
    """The first names and surnames of a character, folded, and the gender."""

    givens: frozenset[str]
    surnames: frozenset[str]
    gender: Gender

    @classmethod
    def of(cls, character: Character) -> "NameParts":
        """Split all names of a character into their parts.

        A single word is a surname after a title such as "Mr.", else a first name, unless
        it is the surname in another of the names.
        """
        givens, singles, surnames = set[str](), set[str](), set[str]()
        gender = character.gender
        for name in list_name_forms(character):
            title, _, _ = parse_name_form(name)
            words = split_bare_words(name)
            if gender is Gender.UNKNOWN:
                gender = infer_title_gender(title)
            if len(words) > 1:
                givens.add(words[0])
            if len(words) > 1 or (words and title):
                surnames.add(words[-1])
            else:
                singles.update(words)
        surnames -= givens
        return cls(frozenset(givens | singles - surnames), frozenset(surnames), gender)

    def may_be_called(self, words: Sequence[str]) -> bool:
        """Return whether no part contradicts a name of folded words, surname last."""
        has_other_surname = self.surnames and self.surnames.isdisjoint(words)
        has_other_gender = (
            self.gender is Gender.MALE and words[0] in FEMALE_NAMES - MALE_NAMES
        ) or (self.gender is Gender.FEMALE and words[0] in MALE_NAMES - FEMALE_NAMES)
        return (
            not has_other_surname
            and not has_other_gender
            and self.has_first_name(words)
        )

    def has_first_name(self, words: Sequence[str]) -> bool:
        """Return whether a first name, or a short form of one, is among folded words;
        true if no first name is known.
        """
        return not self.givens or any(
            is_same_given_name(own, word) for own in self.givens for word in words
        )


def list_name_forms(character: Character) -> tuple[str, ...]:
    """Return the name and all aliases of a character."""
    return character.name, *(alias.name for alias in character.aliases)


def is_called_by_given_name(character: Character, word: str) -> bool:
    """Return whether `word`, a common given name, is a name of the character by itself:
    "Mr. Tom" is Tom, so that it is no surname.
    """
    return is_given_name(word) and word in list_name_forms(character)
