"""A book about a family, of numbered words and of facts about the people in it."""

from lrwr.core.bible.projection import project_bible
from lrwr.core.bible.values import CharacterRelation
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import (
    RELATION_CUE_FIELD,
    RULES_KEEPER,
    Certainty,
    CharacterField,
    FactAbout,
)
from tests.fakes.stories import Book, Stories

VERIFIED, PROBABLE = Certainty.VERIFIED, Certainty.PROBABLE
PEOPLE = {
    "Nell Tallow": Gender.FEMALE,
    "Mags Tallow": Gender.FEMALE,
    "Hob Tallow": Gender.MALE,
    "Mr. Tallow": Gender.MALE,
    "Mrs. Tallow": Gender.FEMALE,
    "Miss Vale": Gender.FEMALE,
    "Mr. Vale": Gender.MALE,
    "Mrs. Gannet": Gender.FEMALE,
}
WORDS = [f"word{n}" for n in range(40)]
HALF = len(WORDS) // 2


class Family:
    """A book of numbered words, and facts about the people in it."""

    def __init__(self, *names: str, swapped: bool = False) -> None:
        pages = {
            "book/1.md": "# Chapter 1\n\n" + ". ".join([*names, *WORDS[:HALF]]),
            "book/2.md": "# Chapter 2\n\n" + ". ".join(WORDS[HALF:]),
        }
        self.stories = Stories(
            Book(dict(reversed(pages.items())) if swapped else pages)
        )
        for name in names:
            self.stories.name(name, gender=PEOPLE[name])
        self.count = 0

    def states(
        self, target: str, kind: str, source: str, *, sure: Certainty = VERIFIED,
        keeper: str = RULES_KEEPER,
    ) -> None:  # fmt: skip
        self._add(
            FactAbout.CHARACTER, CharacterField.RELATIONSHIP, source, sure,
            (("target", target), ("kind", kind)), keeper,
        )  # fmt: skip

    def hints(
        self, sign: str, target: str, kind: str, source: str = "", *more: tuple[str, str],
        sure: Certainty = PROBABLE,
    ) -> None:  # fmt: skip
        details = (("target", target), ("kind", kind), ("sign", sign), *more)
        self._add(FactAbout.RELATION_CUE, RELATION_CUE_FIELD, source, sure, details)

    def _add(
        self, about: FactAbout, field: str, source: str, sure: Certainty,
        details: tuple[tuple[str, str], ...], keeper: str = RULES_KEEPER,
    ) -> None:  # fmt: skip
        word = WORDS[self.count % len(WORDS)]
        page = "book/1.md" if self.count % len(WORDS) < HALF else "book/2.md"
        self.count += 1
        self.stories.fact(
            page, word, about, field, "", source,
            keeper=keeper, certainty=sure, details=details,
        )  # fmt: skip

    def relations(self) -> tuple[CharacterRelation, ...]:
        return project_bible(self.stories.knowledge()).relations

    def shown(self) -> list[tuple[str, str, str]]:
        return [(r.target, r.kind, r.source) for r in self.relations()]
