"""Who takes part in an event: names in a clause, and pronouns with one candidate; and
who tells whom what.
"""

import re
from collections import Counter
from collections.abc import Iterator

from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    clean_name,
    ends_in_question,
    extract_clause_before,
    extract_verbatim,
    find_matches_at,
    has_place_preposition,
    infer_title_possessive,
    is_asserted,
    is_known_person,
    make_fact,
    may_be_person,
    to_text_span,
)
from lrwr.core.nlp.names.lexicon import FEMALE_NAMES, MALE_NAMES
from lrwr.core.nlp.text.prose import (
    MASK_CHARACTER,
    AnnotatedProse,
    ProseSentence,
)

_DEEDS_TEXT = (
    "died drowned perished expired fell slipped stumbled tripped collapsed "
    "fainted arrived returned came entered left departed fled escaped vanished "
    "disappeared ran rushed hurried hastened followed pursued chased caught "
    "seized grabbed snatched met found discovered noticed recognised recognized "
    "locked unlocked broke smashed tore burst struck hit "
    "slapped attacked fought wrestled killed murdered shot stabbed poisoned "
    "strangled wounded buried married proposed accepted refused promised swore "
    "confessed kissed embraced betrayed deserted abandoned rescued saved released "
    "freed arrested captured stole robbed hid threw flung "
    "dropped picked pulled pushed dragged lifted brought sent wrote "
    "read burned burnt lit sprang jumped leapt leaped climbed crept "
    "crossed knelt woke awoke whispered ordered summoned "
    "dismissed visited joined won lost sold bought paid quarrelled quarreled"
    " put set led drove rode sailed swam dived dug cut tied untied poured drank "
    "ate moved walked went marched reached passed landed boarded mounted ascended "
    "descended retired withdrew gathered danced sang inherited succeeded "
    "recovered gained struck fetched flew sank swung "
    "shot slammed knocked rang interrupted replaced removed drained "
    "filled emptied lifted laid sprang advanced retreated surrendered yielded"
)
EVENT_VERBS = frozenset(_DEEDS_TEXT.split())
"""Simple-past verbs of single, completed actions."""
_VERBS = "told informed assured warned reminded notified advised persuaded convinced"
_TO_VERBS = (
    "confessed explained admitted mentioned confided announced revealed remarked "
    "whispered reported repeated related described declared"
)
_WHEN = (
    r"(?:then |also |once |had |has |had once |had already |afterwards |"
    r"later |at last |now |again |frankly |quietly |solemnly )*"
)
# "Nell told Corin that …", "Nell confessed to Corin that …"
_REPORT = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<teller>{NAME_PATTERN}) {_WHEN}(?:(?:{'|'.join(_VERBS.split())}) "
    rf"|(?:{'|'.join(_TO_VERBS.split())}) to )(?P<hearer>{NAME_PATTERN})(?!['\w-]),? "
    r"(?P<what>(?:that|about|of|how|why|what|where|who|all about) [^;:!?\x01]{8,})"
)
_END = re.compile(r"[.,\s—–-]+$")
_TELLING_TRIGGERS = frozenset(f"{_VERBS} {_TO_VERBS}".split())


def find_reported_speech_facts(prose: AnnotatedProse) -> Iterator[Fact]:
    """Yield a fact for each "Nell told Corin that …", with the reported words verbatim
    as its value.
    """
    for sentence in prose.sentences:
        if sentence.words.isdisjoint(_TELLING_TRIGGERS):
            continue
        for match in find_matches_at(_REPORT, sentence.narration, sentence.starts):
            teller = clean_name(match["teller"], prose)
            hearer = clean_name(match["hearer"], prose)
            if not (teller and hearer and _is_stated(match)):
                continue
            end = match.end() - len(_ending(match["what"]))
            start = match.end("teller") - len(teller)
            text_span = to_text_span(sentence, match.start("what"), end)
            yield make_fact(
                FactAbout.TOLD,
                "told",
                extract_verbatim(prose, text_span),
                to_text_span(sentence, start, end),
                Certainty.VERIFIED,
                subject=teller,
                details=(("hearer", hearer),),
            )


def _is_stated(match: re.Match[str]) -> bool:
    words = match.string
    if (
        has_place_preposition(words, match.start())
        or MASK_CHARACTER in words[match.end() : match.end() + 1]
    ):
        return False
    before = extract_clause_before(words, match.start())
    return is_asserted(before) and not ends_in_question(words, match.end())


def _ending(phrase: str) -> str:
    match = _END.search(phrase)
    return match.group() if match else ""


_NAME = LazyPattern(NAME_PATTERN)
_PRONOUN = re.compile(r"\b(?:he|him|himself|she|her|herself|his)\b", re.I)
_OBJECT_PRONOUN = re.compile(r"\b(?:him|her)\b")
_GENDERS = {"he": "his", "him": "his", "himself": "his", "his": "his"}
_OPENS_WITH_PRONOUN = re.compile(r"[\x01\s]*(?P<who>[Hh]e|[Ss]he)\b")
_PEOPLE_TEXT = (
    "man woman girl boy child gentleman lady stranger father mother sister brother son "
    "daughter wife husband uncle aunt cousin nephew niece doctor captain baby infant "
    "mamma papa widow orphan colonel king queen prince princess sisters brothers "
    "friends couple parents party family lovers pair"
)
PEOPLE_NOUNS = tuple(_PEOPLE_TEXT.split())
"""Common nouns for people who may be the subject of a life event."""
_MENS_RANKS = frozenset(
    ["Captain", "Colonel", "Admiral", "General", "Major", "Inspector", "Rev"]
)
"""Titles of men, unless pronouns say otherwise."""
_PERSONAL_PRONOUNS = frozenset({"he", "she", "i", "they", "we"})
_OWNED = re.compile(r"\b(?:is|was|were|been) (?P<owner>[A-Z][\w -]*)'s(?=[.,;!]|\s*\Z)")
# "It was Nell's": she is who is spoken of
_SPEECH = r"(?:said|cried|asked|answered|replied|returned)"
_MEMORY = 2
"""Sentences after which a pronoun no longer means the last subject."""


class ParticipantTracker:
    """Resolves names and pronouns to people, sentence by sentence in text order.

    A pronoun stands for the only person of its gender that is named before it in its
    sentence, or else for the subject of the sentences just before. The gender of a name
    comes from its title or from the pronouns in sentences that name nobody else.
    """

    def __init__(self, prose: AnnotatedProse) -> None:
        self._prose = prose
        self._names: dict[int, list[tuple[int, str]]] = {}
        self._genders = self._vote_genders()
        self._subjects = {"his": "", "her": ""}
        self._ages = {"his": 0, "her": 0}

    def leave(self, sentence: ProseSentence) -> None:
        """Remember the people whom the narration of `sentence` names."""
        words = sentence.narration
        owner = _OWNED.search(words)
        owner_at = owner.start("owner") if owner else -1
        names = [
            (at, name)
            for at, name in self._named(sentence)
            if at == owner_at or words[at + len(name) : at + len(name) + 2] != "'s"
        ]
        for gender in self._subjects:
            self._remember_subject(gender, words, names)
        if owner and owner_at not in dict(names):
            self._subjects = dict.fromkeys(self._subjects, "")

    def _remember_subject(
        self, gender: str, words: str, names: list[tuple[int, str]]
    ) -> None:
        fitting = [item for item in names if self.gender_of(item[1]) in ("", gender)]
        opening = len(words) - len(words.lstrip("\x01 \n“\"'"))
        people = {name for _, name in fitting}
        match = _OPENS_WITH_PRONOUN.match(words)
        continues = bool(match and _GENDERS.get(match["who"].lower(), "her") == gender)
        if continues and self._subjects[gender]:
            self._ages[gender] = 0
        elif fitting and (
            fitting[0][0] == opening
            or (len(people) == 1 and not self._is_mixed(gender, words, fitting[0][0]))
        ):
            self._subjects[gender] = fitting[0][1]
            self._ages[gender] = 0
        elif people or self._ages[gender] >= _MEMORY:
            self._subjects[gender] = ""
        else:
            self._ages[gender] += 1

    def _is_mixed(self, gender: str, words: str, at: int) -> bool:
        """Return whether a pronoun before offset `at` may mean somebody else than the
        name there.
        """
        return any(
            _GENDERS.get(match.group().lower(), "her") == gender
            for match in _PRONOUN.finditer(words, 0, at)
        )

    def gender_of(self, name: str) -> str:
        """Return "his" or "her" for the gender of `name`; "" if unknown."""
        words = name.removeprefix("the ").split(" ")
        title = infer_title_possessive(name)
        if not title and words[0].rstrip(".") in _MENS_RANKS:
            is_woman = any(word.lower() in FEMALE_NAMES for word in words[1:])
            title = "her" if is_woman else "his"
        given = words[0].lower()
        if not title and (given in MALE_NAMES) != (given in FEMALE_NAMES):
            title = "his" if given in MALE_NAMES else "her"
        return title or self._genders.get(words[0], "")

    def is_actor(self, who: str) -> bool:
        """Return whether the subject `who` of narration is a person: a name, a personal
        pronoun or a word for a person.
        """
        word = who.lower()
        return (
            word in _PERSONAL_PRONOUNS
            or self.is_person(who)
            or who.split(" ")[-1].lower() in PEOPLE_NOUNS
        )

    def is_person(self, who: str) -> bool:
        """Return whether `who` is a name that may be a person's."""
        if not who or not who[0].isupper() or who.lower() in _PERSONAL_PRONOUNS:
            return False
        name = clean_name(who, self._prose)
        return bool(name) and (
            is_known_person(name, self._prose)
            if self._prose.known
            else may_be_person(name, self._prose)
        )

    def is_known(self, who: str) -> bool:
        """Return whether `who` is the name of a character or has a title."""
        return is_known_person(who, self._prose)

    def resolve_subject(self, words: str, at: int, who: str) -> list[str]:
        """Return the people whom the subject `who` means, which ends before offset `at`
        of `words`: names, or the person of "he" or "she"; empty if unclear.
        """
        if who.lower() in ("he", "she"):
            start = words.rfind(who, 0, at)
            name = self.resolve_pronoun(words, max(0, start), who)
            return [name] if name else []
        if who.lower() in _PERSONAL_PRONOUNS:
            return []
        return [name for _, name in self.find_names(who)]

    def resolve_pronoun(self, words: str, at: int, pronoun: str) -> str:
        """Return the person of `pronoun` at offset `at` of the narration `words`: the
        only fitting name before it in the sentence, else the subject of the sentences
        just before; "" if unclear.
        """
        gender = _GENDERS.get(pronoun.lower(), "her")
        found = self.find_names(words[:at])
        owners = [n for p, n in found if words.startswith("'s", p + len(n))]
        if any(self.gender_of(name) == gender for name in owners):
            return ""
        named = [name for _, name in found if name not in owners]
        if len(named) == 1 and has_place_preposition(
            words, words.rfind(named[0], 0, at)
        ):
            return ""
        fitting = [n for n in dict.fromkeys(named) if self.gender_of(n) in ("", gender)]
        if len(fitting) == 1:
            return fitting[0]
        return "" if fitting else self._subjects[gender]

    def speaks_after(self, name: str, sentence: ProseSentence) -> bool:
        """Return whether `name` is that of a speaker in a sentence after `sentence`."""
        speaker = re.escape(name)
        tag = re.compile(rf"\b{_SPEECH} {speaker}(?!'s|\w)|\b{speaker} {_SPEECH}\b")
        return any(
            later.speech and tag.search(later.narration)
            for later in self._prose.sentences
            if later.span.start >= sentence.span.end
        )

    def list_objects(
        self, words: str, start: int, end: int, *, pronouns: bool
    ) -> list[str]:
        """Return the people whom `words` from `start` to `end` name, and those whom its
        pronouns mean, if `pronouns`.
        """
        phrase = words[start:end]
        people = [
            name
            for at, name in self.find_names(phrase)
            if "'s" not in words[start + at : start + at + len(name) + 2]
            and (
                not has_place_preposition(phrase, at)
                or is_known_person(name, self._prose)
            )
        ]
        if not pronouns:
            return list(dict.fromkeys(people))
        people += (
            self.resolve_pronoun(words, start + match.start(), match.group())
            for match in _OBJECT_PRONOUN.finditer(phrase)
        )
        return list(dict.fromkeys(filter(None, people)))

    def find_names(self, words: str) -> list[tuple[int, str]]:
        """Return the names of people in `words`, each with its offset, in text order."""
        return self._find_names(words, ())

    def _named(self, sentence: ProseSentence) -> list[tuple[int, str]]:
        key = sentence.span.start
        if key not in self._names:
            self._names[key] = self._find_names(sentence.narration, sentence.starts)
        return self._names[key]

    def _find_names(self, words: str, starts: tuple[int, ...]) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        end = 0
        for at in starts or _capitals(words):
            if at < end:
                continue
            match = _NAME.match(words, at)
            name = clean_name(match.group(), self._prose) if match else ""
            if match and name and may_be_person(name, self._prose):
                place = words.find(name, at)
                found.append((place if place >= 0 else at, name))
                end = match.end()
        return found

    def _vote_genders(self) -> dict[str, str]:
        votes: dict[str, Counter[str]] = {}
        for sentence in self._prose.sentences:
            if not sentence.starts:
                continue
            names = self._named(sentence)
            if len({name for _, name in names}) != 1:
                continue
            at, name = names[0]
            words = sentence.narration
            match = _PRONOUN.search(words, at)
            if match and not words.startswith("'s", at + len(name)):
                gender = _GENDERS.get(match.group().lower(), "her")
                votes.setdefault(name.split(" ")[0], Counter())[gender] += 1
        genders = {}
        for word, counts in votes.items():
            (best, count), *_ = counts.most_common()
            if count >= 2 and count >= 0.7 * sum(counts.values()):
                genders[word] = best
        return genders


_CAPITAL = re.compile(r"(?<![\w'])(?<!\w-)[A-ZÀ-Þ]")


def _capitals(words: str) -> tuple[int, ...]:
    return tuple(match.start() for match in _CAPITAL.finditer(words))
