"""Who is meant by a relation cue, and what names say about a family."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from lrwr.core.bible.horizon import HorizonCast
from lrwr.core.bible.kin_terms import (
    MARRIED_TITLES,
    NAME_TITLES,
    guess_title_gender,
    has_title,
    is_untitled_name,
    read_kin_term,
    split_name,
)
from lrwr.core.model.cast import Character, Gender
from lrwr.core.model.facts import CUE_PARTIES, CharacterField, Fact, FactAbout
from lrwr.core.nlp.facts.clauses import FEMALE_TITLE_WORDS, MALE_TITLE_WORDS
from lrwr.core.nlp.names.name_form import is_called_by_given_name

_F, _M = Gender.FEMALE, Gender.MALE

_RELATIVES_TITLES = {_F: ("Mrs.", "Mrs", "Lady"), _M: ("Mr.", "Mr")}
_SURNAMED_TITLES = frozenset({"Mrs", "Madame", "Mme"})
_MAIDEN_TITLES = frozenset({"Miss", "Mademoiselle", "Mlle"})
_HEADS = NAME_TITLES - FEMALE_TITLE_WORDS - {"Master", "Young"}
"""Titles by which the head of a family may be known: "General Vale"."""


@dataclass(frozen=True, slots=True)
class NamedPerson:
    """What the forms of a character's name say about the family.

    `surnames` are the last words of full names. `married`, `maiden` and `head` say
    whether a title of a married woman, of an unmarried one, or of a man stands directly
    before a surname; `has_given` whether there is a given name. `born` are the surnames
    that are not only those of a husband. `knight` is a "Sir" or a "Lord", `lady` the
    wife of one: "Lady" stands directly before the surname. `titled` is anybody with a
    title there, also "Captain".
    """

    name: str
    gender: Gender
    surnames: frozenset[str] = frozenset()
    born: frozenset[str] = frozenset()
    married: bool = False
    maiden: bool = False
    head: bool = False
    has_given: bool = False
    knight: bool = False
    lady: bool = False
    titled: bool = False


def _is_head(person: NamedPerson) -> bool:
    return person.gender is Gender.MALE and (person.titled or person.knight)


def _are_children(person: NamedPerson, other: NamedPerson) -> bool:
    """Return whether both have one surname by birth."""
    return not person.born.isdisjoint(other.born)


def _is_parent(person: NamedPerson) -> bool:
    """Return whether the name is that of the head of a family: "Mrs. Vale"."""
    is_head = person.head and (person.knight or not person.has_given)
    return person.married or is_head


def _may_be_mother(person: NamedPerson, other: NamedPerson) -> bool:
    return other.married and _has_name_of(person, other)


def _may_be_father(person: NamedPerson, other: NamedPerson) -> bool:
    is_father = other.gender is Gender.MALE and _is_parent(other)
    is_head = _is_parent(person) and not person.married
    return is_father and not is_head and _has_name_of(person, other)


def _has_name_of(child: NamedPerson, parent: NamedPerson) -> bool:
    return not child.born.isdisjoint(parent.surnames)


def _may_be_wife(person: NamedPerson, other: NamedPerson) -> bool:
    is_man = person.gender is Gender.MALE
    return other.married and is_man and _agree_in_rank(person, other)


def _agree_in_rank(husband: NamedPerson, wife: NamedPerson) -> bool:
    """Return whether both have a title of rank, or neither: of Sir Hob and Mr. Vale, only
    the first can be the husband of Lady Vale.
    """
    return husband.knight is wife.lady


def _may_be_husband(person: NamedPerson, other: NamedPerson) -> bool:
    names = person.surnames - person.born or person.surnames
    is_man = other.gender is Gender.MALE and _agree_in_rank(other, person)
    return person.married and is_man and not names.isdisjoint(other.surnames)


def _may_be_sister(person: NamedPerson, other: NamedPerson) -> bool:
    return other.gender is Gender.FEMALE and _are_children(person, other)


def _may_be_brother(person: NamedPerson, other: NamedPerson) -> bool:
    return other.gender is Gender.MALE and _are_children(person, other)


def _may_be_son(person: NamedPerson, other: NamedPerson) -> bool:
    return other.gender is Gender.MALE and other.has_given and _is_parent(person)


def _may_be_daughter(person: NamedPerson, other: NamedPerson) -> bool:
    is_woman = other.gender is Gender.FEMALE
    return is_woman and _is_parent(person) and _has_name_of(other, person)


_NAMESAKE_TESTS = {
    "mother": _may_be_mother,
    "father": _may_be_father,
    "wife": _may_be_wife,
    "husband": _may_be_husband,
    "sister": _may_be_sister,
    "brother": _may_be_brother,
    "son": _may_be_son,
    "daughter": _may_be_daughter,
}
"""Whether the second person, who has the same surname, may be the kin of the first.

A married woman has her husband's name: she shares it with her husband and her children,
not with her brothers."""


class KinDirectory:
    """Looks up the characters of a cast by family name, gender and title."""

    def __init__(self, cast: HorizonCast) -> None:
        self.cast = cast
        characters = [visible.character for visible in cast.visible.values()]
        wives = frozenset(
            words[0]
            for character in characters
            for titles, words in _list_own_names(character)
            if len(words) == 1 and titles and titles[0] in _SURNAMED_TITLES
        )
        self._people = {c.name: _read_person(c, wives) for c in characters}
        self._by_surname: dict[str, list[NamedPerson]] = {}
        for person in self._people.values():
            for surname in person.surnames:
                self._by_surname.setdefault(surname, []).append(person)

    def gender(self, name: str) -> Gender:
        """Return the gender of a character by displayed name."""
        person = self._people.get(name)
        return person.gender if person else guess_title_gender(name)

    def fits(self, source: str, target: str, kind: str) -> bool:
        """Return whether both genders allow that `target` is the `kind` of `source`."""
        term = read_kin_term(kind)
        if term is None:
            return True
        genders = self.gender(source), self.gender(target)
        if (
            Gender.UNKNOWN not in (term.gender, genders[1])
            and term.gender is not genders[1]
        ):
            return False
        couple = term.base in ("spouse", "engaged", "widowed")
        return not (
            couple and Gender.UNKNOWN not in genders and genders[0] is genders[1]
        )

    def resolve(self, name: str) -> str:
        """Return the displayed name of a character of the cast; "" for anybody else."""
        person = self.cast.resolve_name(name)
        if not person or read_kin_term(person):
            return ""
        return self.cast.display_name(name)

    def find_namesake(self, name: str, kind: str) -> str:
        """Return the only character with a surname of `name` who may be the `kind` of
        that character; "" if there are none or several.
        """
        person, test = self._people.get(name), _NAMESAKE_TESTS.get(kind)
        if person is None or test is None:
            return ""
        matches = {
            other.name
            for surname in person.surnames
            for other in self._by_surname[surname]
            if other.name != name and test(person, other)
        }
        if len(matches) > 1 and kind == "brother":
            # Of a General and a Captain Vale, the first is rather her father.
            matches = {m for m in matches if not _is_parent(self._people[m])}
        return matches.pop() if len(matches) == 1 else ""

    def shares_surname(self, name: str, other: str) -> bool:
        """Return whether two characters have a surname in common."""
        first, second = self._people.get(name), self._people.get(other)
        return bool(first and second and first.surnames & second.surnames)

    def share_birth_name(self, name: str, other: str) -> bool:
        """Return whether two characters have a surname by birth in common."""
        first, second = self._people.get(name), self._people.get(other)
        return bool(first and second and _are_children(first, second))

    def are_sure_couple(self, husband: str, wife: str) -> bool:
        """Return whether "Mr. and Mrs. X" can only be these two: no other man has the
        surname, and his name has no given name, unless he is a lord or a knight.
        """
        man = self._people.get(husband)
        surname = wife.split(" ")[-1]
        woman = self._people.get(wife) or NamedPerson(wife, Gender.FEMALE)
        men = {
            other.name
            for name in _list_common_names({surname, *woman.surnames}, man)
            for other in self._by_surname.get(name, ())
            if other.gender is Gender.MALE and _agree_in_rank(other, woman)
        }
        is_named = man is not None and man.has_given and not man.knight
        return men <= {husband} and not is_named

    def are_sure(self, first: str, second: str) -> bool:
        """Return whether two of a surname can only be a couple; see above."""
        if self.gender(first) is Gender.FEMALE:
            first, second = second, first
        return (
            self.are_titled_heads(first, second)
            or self.has_married(second, first)
            or self.are_sure_couple(first, second)
        )

    def are_titled_heads(self, first: str, second: str) -> bool:
        """Return whether two are the heads of a family and the man's given name is not
        known, unless he is a lord or a knight.
        """
        if self.gender(first) is Gender.FEMALE:
            first, second = second, first
        man = self._people.get(first)
        is_only_titled = bool(man and (man.knight or not man.has_given))
        return is_only_titled and self.are_heads(first, second)

    def are_heads(self, husband: str, wife: str) -> bool:
        """Return whether two are the only "Mr. Vale" and "Mrs. Vale", or the only knight
        of the name and its only Lady: they may be mother and son, but seldom are.
        """
        woman, man = self._people.get(wife), self._people.get(husband)
        if woman is None or man is None or not woman.married:
            return False
        namesakes = {
            other.name: other
            for surname in woman.surnames & man.surnames
            for other in self._by_surname.get(surname, ())
        }.values()
        men = {p.name for p in namesakes if _is_head(p) and _agree_in_rank(p, woman)}
        women = {
            p.name
            for p in namesakes
            if p.married and p.lady is woman.lady and woman.surnames - p.born
        }
        return men == {husband} and women == {wife}

    def may_be_wife(self, mother: str, child: str) -> bool:
        """Return whether `child` is a man, and `mother` may as well be his wife."""
        woman = self._people.get(mother)
        is_man = self.gender(child) is Gender.MALE
        return is_man and bool(woman and woman.married)

    def outranks_mother(self, mother: str, child: str) -> bool:
        """Return whether `mother` is a Miss, or has no title although `child` has that
        of a married woman.
        """
        woman, daughter = self._people.get(mother), self._people.get(child)
        is_wife = bool(daughter and daughter.married)
        return bool(woman and not woman.married and (woman.maiden or is_wife))

    def is_married(self, name: str) -> bool:
        """Return whether a name of the character has the title of a married woman."""
        person = self._people.get(name) or _read_stranger(name)
        return person.married

    def has_married(self, wife: str, husband: str) -> bool:
        """Return whether a woman with another name has that of `husband` by marriage,
        and no other man has it.
        """
        woman = self._people.get(wife) or NamedPerson(wife, Gender.UNKNOWN)
        men = {
            other.name
            for surname in (woman.surnames - woman.born if woman.born else ())
            for other in self._by_surname.get(surname, ())
            if other.gender is Gender.MALE
        }
        return men == {husband}

    def differ_in_surname(self, first: str, second: str) -> bool:
        """Return whether two have different surnames by birth, as far as these are
        known: "Mrs. Vale" may have any, unless she is also Nell Tallow.
        """
        pair = [self._people.get(n) or _read_stranger(n) for n in (first, second)]
        return all(p.born for p in pair) and not pair[0].born & pair[1].born

    def find_pair(self, fact: Fact) -> tuple[str, str] | None:
        """Return the displayed names of the two whom a relationship or a relation cue
        is about; None for another fact, and if it is not clear who is meant.
        """
        if fact.about is FactAbout.RELATION_CUE:
            return self._resolve_cue(fact)
        if fact.field != CharacterField.RELATIONSHIP:
            return None
        source, target = self._display(fact.subject), fact.detail("target")
        target = self._resolve_relative(target, fact) or self._display(target)
        return (source, target) if source and target and source != target else None

    def _display(self, name: str) -> str:
        """Return the displayed name; of somebody who is not in the cast, that in "the
        Mr. Vale of Thole".
        """
        if self.cast.resolve_name(name) or not has_title(name.removeprefix("the ")):
            return self.cast.display_name(name)
        return self.cast.display_name(name.removeprefix("the ").split(" of ")[0])

    def _resolve_relative(self, name: str, fact: Fact, *, is_whole: bool = True) -> str:
        """Return the only "Mrs. Vale" or "Lady Vale" for "her aunt Vale", and "Mr. Vale"
        for "my brother Vale"; "" for a name that is a character's own.
        """
        term = read_kin_term(fact.detail("kind"))
        is_own = is_whole and bool(self.cast.resolve_name(name))
        if " " in name or term is None or is_own:
            return ""
        titles = _RELATIVES_TITLES.get(term.gender, ())
        people = {self.resolve(f"{title} {name}") for title in titles} - {""}
        return people.pop() if len(people) == 1 else ""

    def _resolve_cue(self, fact: Fact) -> tuple[str, str] | None:
        subject, target = fact.subject, fact.detail("target")
        if not CUE_PARTIES.isdisjoint((subject, target)):
            return None
        source = self.resolve_owner(fact)
        if not source and target and is_untitled_name(subject):
            source = self.cast.display_name(subject)
        if not source and (target or not is_untitled_name(subject)):
            return None
        if target:
            person = self.resolve(target) or self.resolve(target.split(" of ")[0])
            person = person or self._resolve_relative(target, fact)
            person = person or self.resolve(f"{fact.detail('kind').title()} {target}")
            if not person and " " in target and len(self.cast.list_owners(target)) < 2:
                person = self.cast.display_name(target)
        elif not source and is_untitled_name(subject):
            # "Farmer Vale", whom no other sentence names, has a wife: "Mrs. Vale".
            source = self.cast.display_name(subject)
            person = self._resolve_relative(
                subject.split(" ")[-1], fact, is_whole=False
            )
        else:
            person = self.find_namesake(source, fact.detail("kind"))
        return (source, person) if person and person != source else None

    def resolve_owner(self, fact: Fact) -> str:
        """Return the displayed name of the one whose kin a relation cue is about; "" if
        it is not clear who is meant.
        """
        subject = fact.subject
        if not subject:
            return self._resolve_pronoun(fact)
        return self.resolve(subject) or self._resolve_rank(subject)

    def is_name_word(self, word: str) -> bool:
        """Return whether `word` is a word of any name of a visible character."""
        return word in self._name_words

    @cached_property
    def _name_words(self) -> frozenset[str]:
        return frozenset(
            word
            for visible in self.cast.visible.values()
            for alias in visible.character.aliases
            for word in alias.name.split(" ")
        )

    @cached_property
    def _by_first_word(self) -> Mapping[str, frozenset[str]]:
        names: dict[str, set[str]] = {}
        for name in self._people:
            names.setdefault(name.split(" ")[0], set()).add(name)
        return {word: frozenset(named) for word, named in names.items()}

    def _resolve_rank(self, subject: str) -> str:
        """Return the only character with the title in "the duchess"; "" for others."""
        article, _, rank = subject.partition(" ")
        if article != "the" or not rank.islower():
            return ""
        named = self._by_first_word.get(rank.title(), frozenset[str]())
        return next(iter(named)) if len(named) == 1 else ""

    def _resolve_pronoun(self, fact: Fact) -> str:
        """Return the only one of the possible owners whom the pronoun may mean."""
        possible = fact.all_details("possible")
        names = {
            self.resolve(name)
            for name in possible
            # A word that is nobody's name is a place, or a person with a title.
            if self.resolve(name) or has_title(name)
        }
        names = {name for name in names if not self.contradicts_pronoun(fact, name)}
        return names.pop() if len(names) == 1 else ""

    def contradicts_pronoun(self, fact: Fact, name: str) -> bool:
        """Return whether the pronoun in a fact, if it has one, cannot mean `name`."""
        wrong = {"her": Gender.MALE, "his": Gender.FEMALE}.get(fact.detail("pronoun"))
        return wrong is not None and self.gender(name) is wrong


_FLAGS = ("married", "maiden", "head", "has_given", "knight", "lady", "titled")


def _read_person(character: Character, wives: Collection[str]) -> NamedPerson:
    """Return what the names of a character say; `wives` are words after "Mrs." alone,
    which are surnames even if they are common given names, such as "Cole".
    """
    surnames, born, bare_names = set[str](), set[str](), set[str]()
    flags = dict.fromkeys(_FLAGS, False)
    for titles, names in _list_own_names(character):
        is_wife = bool(titles) and titles[0] in MARRIED_TITLES
        # "Sir Hob" has a given name.
        is_lone = len(names) == 1 and names[0] not in wives
        is_first = is_lone and is_called_by_given_name(character, names[0])
        if len(names) > 1 or (titles and titles[0] != "Sir" and not is_first):
            surnames.add(names[-1])
            born |= set() if is_wife else {names[-1]}
        flags["married"] |= is_wife
        # "Mrs. John Vale" has the given name of her husband.
        flags["has_given"] |= len(names) > 1 and not is_wife
        if not titles and len(names) == 1:
            bare_names.add(names[0])
        flags["knight"] |= bool(titles) and titles[0] in ("Sir", "Lord")
        flags["lady"] |= is_wife and titles[0] == "Lady" and not is_first
        if titles and len(names) == 1:
            flags["titled"] |= not is_first
            flags["maiden"] |= titles[0] in _MAIDEN_TITLES
            is_man = character.gender is Gender.MALE and titles[0] in _HEADS
            flags["head"] |= is_man or titles[0] in MALE_TITLE_WORDS
    flags["has_given"] |= not bare_names <= surnames
    return NamedPerson(
        character.name, character.gender, frozenset(surnames), frozenset(born), **flags
    )


def _list_own_names(character: Character) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the titles and the other words of each name.

    Left out are a married woman's given name with her husband's name, which says no more
    than "Mrs. Vale", and two names in a row: "Mrs. Vale Mags Tallow".
    """
    names = {character.name, *(alias.name for alias in character.aliases)}
    parts = [split_name(name) for name in names]
    husbands = {
        words[-1]
        for titles, words in parts
        if words
        and titles
        and titles[0] in MARRIED_TITLES
        and (titles[0] == "Mrs" or len(words) == 1)
    }
    for titles, words in parts:
        if not words or not words[-1][:1].isupper():
            continue
        is_married = not titles and len(words) > 1 and words[-1] in husbands
        is_row = len(words) > 2 and bool(titles) and words[0] in husbands
        if not is_married and not is_row:
            yield titles, words


def _list_common_names(names: set[str], man: NamedPerson | None) -> set[str]:
    """Return those of a woman's `names` that a man has, too, or all: of a woman with
    several surnames, only a common one can be that of their marriage.
    """
    return (names & man.surnames if man else set()) or names


def _read_stranger(name: str) -> NamedPerson:
    """Return what the full name of somebody who is not in the cast says."""
    words = name.removeprefix("the ").split(" ")
    married = words[0].rstrip(".") in MARRIED_TITLES
    surnames = frozenset(words[-1:]) if len(words) > 1 else frozenset[str]()
    born = frozenset[str]() if married else surnames
    return NamedPerson(name, guess_title_gender(name), surnames, born, married=married)
