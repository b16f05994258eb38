from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.cast import Alias, Cast, Character, Gender, Quotation
from lrwr.core.model.chunks import ChunkId, SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.ports.story_stores import Appearance, AppearanceRole, DocumentQuotation
from lrwr.core.retrieval.people import (
    asks_first,
    asks_last,
    find_question_characters,
    find_unknown_question_names,
)
from lrwr.core.retrieval.proximity import (
    CharacterProximity,
    Spot,
)
from lrwr.core.retrieval.proximity_levels import (
    COMPANY_BONUS,
    CONVERSATION_BONUS,
    CONVERSATION_REACH,
    FIRST_OF_KIND_LEVELS,
    NAMED_SPEAKER_WEIGHT,
    PROXIMITY_LEVELS,
    UTTERANCE_LEVELS,
    UTTERANCE_SHARES,
)

ONE = DocumentId("01.md")
TOLD = "What does Nell say to Corin?"


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
        person("the Heron King", "King"),
    ),
    {"Tallow": ("Nell Tallow", "Corin Vale")},
)


def asked(question: str) -> list[tuple[str, AppearanceRole]]:
    return [
        (one.people[0], one.role) for one in find_question_characters(question, CAST)
    ]


def at(ordinal: int, who: str, role: AppearanceRole) -> Appearance:
    span = Span(ordinal * 10, ordinal * 10 + 10)
    return Appearance(ChunkId(f"c{ordinal}"), ONE, span, ordinal, who, role, 1)


def nell_says(start: int, addressee: str = "", *mentions: str) -> DocumentQuotation:
    spans = (Span(start, start + 4),)
    quotation = Quotation(
        spans, speaker="Nell Tallow", addressee=addressee, mentions=mentions
    )
    return DocumentQuotation(ONE, quotation)


def scored(
    question: str,
    found: list[Appearance],
    *said: DocumentQuotation,
    scope: SearchScope | None = None,
    named: dict[Spot, float] | None = None,
) -> CharacterProximity:
    people = find_question_characters(question, CAST)
    return CharacterProximity(
        people,
        found,
        said,
        scope or SearchScope(),
        total=100,
        speaker_named=named,
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What does Nell say to Corin about Mrs. Gannet?",
            [
                ("Nell Tallow", AppearanceRole.SPEAKS),
                ("Corin Vale", AppearanceRole.HEARS),
                ("Mrs. Gannet", AppearanceRole.MENTIONED),
            ],
        ),
        (
            "What does Wren tell Corin?",
            [
                ("Nell Tallow", AppearanceRole.SPEAKS),
                ("Corin Vale", AppearanceRole.HEARS),
            ],
        ),
        ("what is said by corin?", [("Corin Vale", AppearanceRole.SPEAKS)]),
        ("What does Corin Tallow say?", []),
        ("Where does Corin sleep?", []),
        ("Who keeps the lantern?", []),
        ("What happened after Nell spoke to Corin?", []),
        ("What did Nell's aunt say to Corin?", [("Corin Vale", AppearanceRole.HEARS)]),
        ("What did a king say to Corin?", [("Corin Vale", AppearanceRole.HEARS)]),
    ],
)
def test_a_question_says_who_speaks_and_who_hears(
    question: str, expected: list[tuple[str, AppearanceRole]]
) -> None:
    assert asked(question) == expected


def test_a_name_that_nobody_bears_is_a_stranger() -> None:
    question = "What does Nell say to Inspector Brook about the Ledger?"
    strangers = find_unknown_question_names(
        question, find_question_characters(question, CAST)
    )
    assert strangers == [
        ("Brook", AppearanceRole.HEARS),
        ("Ledger", AppearanceRole.MENTIONED),
    ]
    assert find_unknown_question_names("Where does Inspector Brook sleep?", []) == []


def test_the_passage_where_each_does_what_is_asked_scores_best() -> None:
    people = scored(
        TOLD,
        [
            at(0, "Nell Tallow", AppearanceRole.SPEAKS),
            at(0, "Corin Vale", AppearanceRole.HEARS),
            at(20, "Corin Vale", AppearanceRole.SPEAKS),
            at(20, "Nell Tallow", AppearanceRole.HEARS),
            at(40, "Nell Tallow", AppearanceRole.MENTIONED),
        ],
    )
    right, turned, named, far = (people.score((ONE, n)) for n in (0, 20, 40, 90))
    assert right > turned > named
    assert right > 0 > far
    assert people.is_plain((ONE, 0))
    assert not people.is_plain((ONE, 90))


def test_who_is_in_few_passages_counts_more() -> None:
    common = [at(n, "Nell Tallow", AppearanceRole.SPEAKS) for n in range(0, 60, 3)]
    people = scored(
        "What do Nell and Corin say?",
        [*common, at(90, "Corin Vale", AppearanceRole.SPEAKS)],
    )
    assert people.score((ONE, 90)) > people.score((ONE, 0))


def test_a_passage_beside_the_right_one_is_better_than_any() -> None:
    people = scored(TOLD, [at(5, "Nell Tallow", AppearanceRole.SPEAKS)])
    here, beside, far = (people.score((ONE, n)) for n in (5, 6, 50))
    assert here > beside > far


def test_an_utterance_that_fits_the_whole_question_counts_again() -> None:
    found = [
        at(n, who, role)
        for n in (0, 20)
        for who, role in (
            ("Nell Tallow", AppearanceRole.SPEAKS),
            ("Corin Vale", AppearanceRole.HEARS),
            ("Mrs. Gannet", AppearanceRole.MENTIONED),
        )
    ]
    question = "What does Nell say to Corin about Mrs. Gannet?"
    people = scored(
        question,
        found,
        nell_says(0, "Corin Vale", "Mrs. Gannet"),
        nell_says(200, "Corin Vale"),
    )
    apart = scored(question, found, nell_says(0), nell_says(200))
    assert people.score((ONE, 0)) > people.score((ONE, 20)) > apart.score((ONE, 20))


def test_a_long_utterance_near_its_speaker_and_hearer_beats_a_short_one() -> None:
    found = [at(n, "Nell Tallow", AppearanceRole.PRESENT) for n in (0, 20, 40)]
    question = "What does Nell say to Corin about Mrs. Gannet?"
    remark = Quotation((Span(200, 205),), speaker="Corin Vale")
    story = replace(remark, spans=(Span(400, 400 + 90),), speaker="Corin Vale")
    people = scored(
        question,
        found,
        nell_says(0),
        DocumentQuotation(ONE, remark),
        *(nell_says(300 + n) for n in range(9)),
        DocumentQuotation(ONE, story),
    )
    assert people.score((ONE, 40)) > people.score((ONE, 20))


def test_an_answer_near_an_utterance_to_the_hearer_beats_one_far_from_it() -> None:
    found = [at(n, "Nell Tallow", AppearanceRole.SPEAKS) for n in (0, 20, 60)]
    people = scored(
        TOLD,
        found,
        nell_says(0, "Corin Vale"),
        nell_says(200),
        *(nell_says(300 + n, "Mrs. Gannet") for n in range(20)),
        nell_says(600),
    )
    here, near, far = (people.score((ONE, n)) for n in (0, 20, 60))
    assert here > near > far


def test_a_conversation_of_speaker_and_hearer_counts_though_neither_speaks_there() -> (
    None
):
    middle, reach = 50, CONVERSATION_REACH
    # Everybody else of this name is elsewhere, so that the levels are the same.
    speaks, hears = AppearanceRole.SPEAKS, AppearanceRole.MENTIONED
    apart = [
        at(middle - reach, "Nell Tallow", speaks),
        at(middle + reach, "Corin Vale", hears),
    ]
    together = [replace(one, role=speaks) for one in apart]

    alone, both = scored(TOLD, apart), scored(TOLD, together)

    spot, beyond = (ONE, middle), (ONE, middle + 1)
    assert both.score(spot) - both.score(beyond) == pytest.approx(
        alone.score(spot) - alone.score(beyond) + CONVERSATION_BONUS
    )


def test_the_company_of_all_characters_counts_in_any_role() -> None:
    def company(ordinal: int) -> float:
        mentioned = AppearanceRole.MENTIONED
        found = [at(10, "Nell Tallow", mentioned), at(ordinal, "Corin Vale", mentioned)]
        return scored(TOLD, found).score((ONE, 11))

    assert company(12) == pytest.approx(company(13) + COMPANY_BONUS)


def test_a_passage_with_the_name_of_the_speaker_as_asked_scores_higher() -> None:
    found = [at(n, "Nell Tallow", AppearanceRole.SPEAKS) for n in (1, 5, 6, 9)]
    people = scored(TOLD, found, named={(ONE, 5): 1.0})
    plain, named, beside = (people.score((ONE, n)) for n in (1, 5, 6))

    assert named == pytest.approx(plain + 2 * NAMED_SPEAKER_WEIGHT)
    assert beside == pytest.approx(plain + NAMED_SPEAKER_WEIGHT)


def test_nothing_out_of_scope_counts() -> None:
    found = [
        at(0, "Nell Tallow", AppearanceRole.SPEAKS),
        at(1, "Nell Tallow", AppearanceRole.SPEAKS),
    ]
    bounded = SearchScope(frozenset({ONE}), {ONE: 10})
    assert scored(TOLD, found, scope=bounded).chunks == {(ONE, 0): "c0"}
    elsewhere = SearchScope(frozenset({DocumentId("02.md")}))
    people = scored(TOLD, found, nell_says(0, "Corin Vale"), scope=elsewhere)
    assert people.chunks == {}
    assert people.score((ONE, 0)) == people.score((ONE, 90))


def test_every_level_leaves_room_for_what_is_at_none() -> None:
    for role, levels in PROXIMITY_LEVELS.items():
        assert 0 < sum(level.share for level in levels) < 1
        assert 0 < FIRST_OF_KIND_LEVELS[role] <= len(levels)
        assert len(UTTERANCE_SHARES[role]) == len(UTTERANCE_LEVELS[role]) + len(levels)
        assert 0 < sum(UTTERANCE_SHARES[role]) < 1


def test_first_and_last_are_told_apart() -> None:
    first, last = "Nell's first words?", "What does Nell say last?"
    assert asks_first(first) and not asks_last(first)
    assert asks_last(last) and not asks_first(last)
    assert not asks_first("What does Nell say?")


@given(
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from(AppearanceRole)), max_size=9)
)
def test_a_passage_is_at_the_first_level_that_is_near_enough(
    found: list[tuple[int, AppearanceRole]],
) -> None:
    levels = PROXIMITY_LEVELS[AppearanceRole.HEARS]
    plain = FIRST_OF_KIND_LEVELS[AppearanceRole.HEARS]
    people = scored(
        "What is said to Corin?", [at(n, "Corin Vale", role) for n, role in found]
    )
    nearest = {
        spot: next(
            (
                number
                for number, level in enumerate(levels)
                for n, role in found
                if role in level.roles and abs(n - spot) <= level.away
            ),
            len(levels),
        )
        for spot in range(45)
    }
    scores = {level: people.score((ONE, spot)) for spot, level in nearest.items()}
    for spot, level in nearest.items():
        assert people.is_plain((ONE, spot)) == (level < plain)
        assert people.score((ONE, spot)) == scores[level]
