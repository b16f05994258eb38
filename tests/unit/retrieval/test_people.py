import pytest

from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.search import Scope
from lrwr.core.model.text import Span
from lrwr.core.ports.story_store import Appearance, Role
from lrwr.core.retrieval.people import (
    earliness,
    people_asked,
    scores_of_people,
)

ONE = DocumentId("01.md")


def person(name: str, *aliases: str) -> Character:
    return Character(
        name=name,
        aliases=tuple(
            Alias(form, 3, Certainty.VERIFIED)
            for form in dict.fromkeys((name, *aliases))
        ),
        gender=Gender.UNKNOWN,
        gender_certainty=Certainty.NOT_EVALUATED,
        certainty=Certainty.VERIFIED,
    )


CAST = Cast(
    (
        person("Nell Tallow", "Nell", "Wren"),
        person("Corin Vale", "Corin"),
        person("Mrs. Gannet"),
    ),
    {"Tallow": ("Nell Tallow", "Corin Vale")},
)


def asked(question: str) -> list[tuple[str, Role | None]]:
    return [(one.people[0], one.role) for one in people_asked(question, CAST)]


def at(chunk: str, who: str, role: Role, start: int = 0) -> Appearance:
    return Appearance(ChunkId(chunk), ONE, Span(start, start + 10), who, role, 1)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What does Nell say to Corin about Mrs. Gannet?",
            [
                ("Nell Tallow", Role.SPEAKS),
                ("Corin Vale", Role.HEARS),
                ("Mrs. Gannet", Role.MENTIONED),
            ],
        ),
        (
            "What does Wren tell Corin?",
            [("Nell Tallow", "speaks"), ("Corin Vale", "hears")],
        ),
        ("Where does Corin sleep?", [("Corin Vale", None)]),
        ("what is said by corin?", [("Corin Vale", Role.SPEAKS)]),
        ("Who keeps the lantern?", []),
    ],
)
def test_a_question_says_who_speaks_and_who_hears(
    question: str, expected: list[tuple[str, Role | None]]
) -> None:
    assert asked(question) == expected


def test_names_side_by_side_are_one_person() -> None:
    assert asked("What does Corin Tallow want?") == [("Corin Vale", None)]


def test_the_passage_where_each_does_what_is_asked_scores_best() -> None:
    people = people_asked("What does Nell say to Corin?", CAST)
    scores = scores_of_people(
        people,
        [
            at("right", "Nell Tallow", Role.SPEAKS),
            at("right", "Corin Vale", Role.HEARS),
            at("turned", "Corin Vale", Role.SPEAKS),
            at("turned", "Nell Tallow", Role.HEARS),
            at("named", "Nell Tallow", Role.MENTIONED),
        ],
        Scope(),
        total=100,
    )
    assert max(scores, key=lambda chunk: scores[chunk]) == "right"
    assert scores[ChunkId("right")] == pytest.approx(1.0)
    assert scores[ChunkId("turned")] > scores[ChunkId("named")] > 0


def test_whom_fewer_passages_have_counts_more() -> None:
    people = people_asked("Where are Nell and Corin?", CAST)
    common = [at(f"c{n}", "Nell Tallow", Role.PRESENT) for n in range(20)]
    rare = at("rare", "Corin Vale", Role.PRESENT)
    scores = scores_of_people(people, [*common, rare], Scope(), total=100)
    assert scores[ChunkId("rare")] > scores[ChunkId("c0")]


def test_nothing_out_of_scope_is_scored() -> None:
    people = people_asked("Where is Nell?", CAST)
    found = [
        at("seen", "Nell Tallow", Role.PRESENT, start=0),
        at("late", "Nell Tallow", Role.PRESENT, start=5),
    ]
    bounded = Scope(frozenset({ONE}), {ONE: 10})
    assert list(scores_of_people(people, found, bounded, total=9)) == ["seen"]
    elsewhere = Scope(frozenset({DocumentId("02.md")}))
    assert scores_of_people(people, found, elsewhere, total=9) == {}


def test_first_and_last_are_told_by_the_place_in_the_story() -> None:
    scores = {ChunkId("a"): 1.0, ChunkId("b"): 0.95, ChunkId("c"): 0.2}
    places = {ChunkId("a"): (1, 0), ChunkId("b"): (0, 7), ChunkId("c"): (0, 0)}
    first = earliness("What are the first words of Nell?", scores, places)
    assert sorted(first, key=lambda chunk: -first[chunk]) == ["b", "a"]
    last = earliness("What does Nell say last?", scores, places)
    assert sorted(last, key=lambda chunk: -last[chunk]) == ["a", "b"]
    assert earliness("What does Nell say?", scores, places) == {}
