import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.bible.name_lookup import (
    EXACT_NAME_CONFIDENCE,
    NEAR_NAME_CONFIDENCE,
    UNKNOWN_NAME_CONFIDENCE,
)
from lrwr.core.bible.values import Bible
from lrwr.core.chat.planning.rules import build_search_text, plan_by_rules
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.facts import RULES_KEEPER
from lrwr.core.model.turns import (
    INTENTIONS_BY_SOURCE,
    AnswerIntent,
    AnswerSource,
    NarrativeState,
    QuestionEntity,
    QuestionPlan,
    SourceChoice,
    SourceIntention,
)

FIND = (AnswerSource.MANUSCRIPT, SourceIntention.FIND_PASSAGE)
SPOKEN = (AnswerSource.MANUSCRIPT, SourceIntention.DIALOGUE_OF)
TRAITS = (AnswerSource.PROFILES, SourceIntention.TRAITS)
VALUES = (AnswerSource.PROFILES, SourceIntention.VALUES)
BEHAVIOR = (AnswerSource.PROFILES, SourceIntention.BEHAVIOR)
RULE = (AnswerSource.WORLD, SourceIntention.RULE)


def pairs(plan: QuestionPlan) -> set[tuple[AnswerSource, SourceIntention]]:
    return {(one.source, one.intention) for one in plan.choices}


def names(plan: QuestionPlan) -> list[str]:
    return [one.name for one in plan.entities]


def test_what_somebody_says_of_a_thing_is_asked_of_the_story_alone(
    marsh_bible: Bible,
) -> None:
    question = TurnQuestion("What does PurpleFrog say about the marsh lantern?")
    plan = plan_by_rules(question, marsh_bible)
    assert pairs(plan) == {SPOKEN}
    assert names(plan) == ["PurpleFrog", "the marsh lantern"]
    assert (plan.intent, plan.planner) == (AnswerIntent.ANALYTICAL, RULES_KEEPER)


def test_two_wishes_in_one_question_are_both_planned(marsh_bible: Bible) -> None:
    question = TurnQuestion("Remind me who OchraMags is, and what PurpleFrog values")
    plan = plan_by_rules(question, marsh_bible)
    assert pairs(plan) == {TRAITS, VALUES, FIND}
    assert names(plan) == ["OchraMags", "PurpleFrog"]


def test_a_rule_and_who_breaks_it_are_asked_of_world_and_profiles(
    marsh_bible: Bible,
) -> None:
    question = TurnQuestion(
        "How do the tide rules work, and does PurpleFrog break them?"
    )
    plan = plan_by_rules(question, marsh_bible)
    assert pairs(plan) == {RULE, BEHAVIOR, FIND}
    assert names(plan) == ["tide rules", "PurpleFrog"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Who is Wren?", {TRAITS, FIND}),
        ("Tell me about Mrs. Gannet.", {TRAITS, FIND}),
        ("how does purplefrog talk", {(AnswerSource.PROFILES, SourceIntention.VOICE)}),
        ("What does Nell tell Mags?", {SPOKEN}),
        ("How does Nell change?", {(AnswerSource.PROFILES, SourceIntention.ARC)}),
        (
            "What is Mags's relationship with Nell?",
            {(AnswerSource.PROFILES, SourceIntention.RELATIONSHIPS)},
        ),
        ("Tell me about Gull Post", {(AnswerSource.WORLD, SourceIntention.SETTING)}),
        (
            "Does Nell know Gull Post?",
            {(AnswerSource.WORLD, SourceIntention.SETTING), BEHAVIOR},
        ),
        ("What happens?", {(AnswerSource.TIMELINE, SourceIntention.WHAT_HAPPENED)}),
        ("When did Mags open it?", {(AnswerSource.TIMELINE, SourceIntention.WHEN)}),
        (
            "What was before the flood?",
            {(AnswerSource.TIMELINE, SourceIntention.BEFORE_AFTER)},
        ),
        ("Who was there?", {(AnswerSource.TIMELINE, SourceIntention.WHO_WAS_THERE)}),
        (
            "Who was there when the lamp failed?",
            {(AnswerSource.TIMELINE, SourceIntention.WHO_WAS_THERE)},
        ),
        (
            "How do Nell and Mags stand to each other?",
            {(AnswerSource.PROFILES, SourceIntention.RELATIONSHIPS)},
        ),
        (
            "What does Nell think of Mags?",
            {(AnswerSource.PROFILES, SourceIntention.RELATIONSHIPS)},
        ),
        (
            "Why did I cut the ferry?",
            {(AnswerSource.NOTES, SourceIntention.AUTHOR_INTENT)},
        ),
        (
            "What did I note about Mags?",
            {(AnswerSource.NOTES, SourceIntention.AUTHOR_INTENT), TRAITS},
        ),
        ("Any loose ends?", {(AnswerSource.NOTES, SourceIntention.OPEN_QUESTION)}),
        ("Recap the story", {(AnswerSource.MANUSCRIPT, SourceIntention.RECAP)}),
        (
            "Compare the two floods",
            {(AnswerSource.MANUSCRIPT, SourceIntention.COMPARE_PASSAGES)},
        ),
        ("Which chapter has the flood?", {FIND}),
        ("Does Nell own a boat?", {FIND}),
        ("Boats?", {FIND}),
    ],
)
def test_words_and_names_tell_what_is_wanted(
    marsh_bible: Bible, text: str, wanted: set[tuple[AnswerSource, SourceIntention]]
) -> None:
    sources = {source for source, _ in wanted}
    if AnswerSource.MANUSCRIPT not in sources and sources != {AnswerSource.NOTES}:
        wanted = {*wanted, FIND}  # data of the story is cited by passages
    assert pairs(plan_by_rules(TurnQuestion(text), marsh_bible)) == wanted


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Who is Nell?", AnswerIntent.ANALYTICAL),
        ("How would you describe Nell?", AnswerIntent.ANALYTICAL),
        ("What would PurpleFrog do if the lantern went out?", AnswerIntent.SCENARIO),
        ("How would Nell Tallow react?", AnswerIntent.SCENARIO),
        ("Would Mags ever lie?", AnswerIntent.SCENARIO),
        ("Does the text say how old Mags is?", AnswerIntent.GAP_PROBE),
        ("Is it ever explained why Mags left?", AnswerIntent.GAP_PROBE),
        ("What is undefined about Nell?", AnswerIntent.GAP_PROBE),
        ("Is this trope tired?", AnswerIntent.EXTERNAL_REFERENCE),
        ("Is her end like in Macbeth?", AnswerIntent.EXTERNAL_REFERENCE),
        ("Is Nell's bargain like Faust?", AnswerIntent.EXTERNAL_REFERENCE),
        ("Does the Reeve resemble Falstaff?", AnswerIntent.EXTERNAL_REFERENCE),
        ("Is Nell like Mags?", AnswerIntent.ANALYTICAL),
        ("What does Nell like?", AnswerIntent.ANALYTICAL),
        ("Is her end like in Gull Post?", AnswerIntent.ANALYTICAL),
        ("What does the text on the door mean?", AnswerIntent.ANALYTICAL),
        ("Is the pacing of chapter 3 right?", AnswerIntent.JUDGEMENT),
        ("Does chapter 5 reveal too early who sold the oil?", AnswerIntent.JUDGEMENT),
        ("Is Mags consistent?", AnswerIntent.JUDGEMENT),
        ("Is Nell's voice distinct from PurpleFrog's?", AnswerIntent.JUDGEMENT),
        ("Should I cut the scene with the geese?", AnswerIntent.JUDGEMENT),
        ("Did Nell arrive too late?", AnswerIntent.ANALYTICAL),
        ("Is the ladder strong enough for Mags?", AnswerIntent.ANALYTICAL),
    ],
)
def test_intents_are_told_apart(
    marsh_bible: Bible, text: str, intent: AnswerIntent
) -> None:
    assert plan_by_rules(TurnQuestion(text), marsh_bible).intent is intent


def test_the_mode_says_who_answers(marsh_bible: Bible) -> None:
    asked = "What do you say about the tide rules, and would you break them?"
    question = TurnQuestion(asked, AnswerMode.IN_CHARACTER, character="PurpleFrog")
    plan = plan_by_rules(question, marsh_bible)
    assert plan.intent is AnswerIntent.IN_CHARACTER
    assert "PurpleFrog" in names(plan)
    assert {SPOKEN, BEHAVIOR} <= pairs(plan)


def test_you_is_nobody_of_the_story_to_the_analyst(marsh_bible: Bible) -> None:
    plan = plan_by_rules(TurnQuestion("Can you find the flood?"), marsh_bible)
    assert (pairs(plan), plan.entities) == ({FIND}, ())


def test_the_web_is_never_asked_instead_of_the_story(marsh_bible: Bible) -> None:
    plan = plan_by_rules(TurnQuestion("Is it like in Macbeth?"), marsh_bible)
    assert plan.sources == {AnswerSource.WEB, AnswerSource.MANUSCRIPT}


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("Where is mags?", []),
        ("where is mags?", [QuestionEntity("OchraMags", EXACT_NAME_CONFIDENCE)]),
        ("Is Wren OchraMags’s niece?", [("Nell Tallow", EXACT_NAME_CONFIDENCE), ("OchraMags", EXACT_NAME_CONFIDENCE)]),
        ("Did PurpelFrog lie?", [("PurpleFrog", NEAR_NAME_CONFIDENCE)]),
        ("Is Gannet rich?", [("Gannet", NEAR_NAME_CONFIDENCE)]),
        ("The Marsh Lantern's oil", [("the marsh lantern", EXACT_NAME_CONFIDENCE)]),
        ("a tide rule", [("tide rules", EXACT_NAME_CONFIDENCE)]),
        ("Does Zoltan Vex of the Fens meet Nell?",
         [("Zoltan Vex of the Fens", UNKNOWN_NAME_CONFIDENCE), ("Nell Tallow", EXACT_NAME_CONFIDENCE)]),
        ("Annabel’s boat", [("Annabel", UNKNOWN_NAME_CONFIDENCE)]),
        ("Boats, and why I like them", []),
        ("Nell? Nell! Wren.", [("Nell Tallow", EXACT_NAME_CONFIDENCE)]),
        ("The marsh. Lantern light.", []),
    ],
)  # fmt: skip
def test_names_are_known_as_the_bible_has_them(
    marsh_bible: Bible, text: str, entities: list[tuple[str, float]]
) -> None:
    found = plan_by_rules(TurnQuestion(text), marsh_bible).entities
    wanted = [
        one if isinstance(one, QuestionEntity) else QuestionEntity(*one)
        for one in entities
    ]
    assert list(found) == wanted


def test_a_pronoun_points_to_whom_the_talk_was_of_and_who_is_still_in_sight(
    marsh_bible: Bible,
) -> None:
    state = NarrativeState(entities=("Nell Tallow", "Somebody Later"))
    asked = TurnQuestion("What does she want?", state=state)
    assert names(plan_by_rules(asked, marsh_bible)) == ["Nell Tallow"]
    named = TurnQuestion("What does she want of Mags?", state=state)
    assert names(plan_by_rules(named, marsh_bible)) == ["OchraMags"]


def test_nobody_is_known_who_is_not_in_the_bible_yet() -> None:
    plan = plan_by_rules(TurnQuestion("Who is PurpleFrog?"), Bible(bounded=True))
    assert plan.entities == (QuestionEntity("PurpleFrog", UNKNOWN_NAME_CONFIDENCE),)


def test_the_surest_choice_comes_first_and_each_pair_once(marsh_bible: Bible) -> None:
    asked = "Who is Mags, how old is she, and what happened before the flood?"
    choices = plan_by_rules(TurnQuestion(asked), marsh_bible).choices
    assert list(choices) == sorted(choices, key=lambda one: -one.confidence)
    assert len({(c.source, c.intention) for c in choices}) == len(choices)


WORDS = st.lists(
    st.sampled_from(
        [
            "What",
            "does",
            "the",
            "text",
            "ever",
            "say",
            "explain",
            "when",
            "if",
            "would",
            "is",
            "Nell",
            "Mags",
            "Gull",
            "Post",
            "you",
            "tide",
            "rules",
            "like",
            "in",
            "Macbeth",
            "why",
            "did",
            "I",
            "who",
            "was",
            "before",
            "after",
            ".",
            ",",
            "?",
            "’s",
        ]
    ),
    max_size=40,
)


@given(WORDS.map(" ".join) | st.text(max_size=200), st.sampled_from(list(AnswerMode)))
def test_every_question_has_a_plan_that_can_be_carried_out(
    text: str, mode: AnswerMode
) -> None:
    question = TurnQuestion(text, mode, character="Nell Tallow")
    plan = plan_by_rules(question, Bible())
    assert plan.sources - {AnswerSource.WEB}
    assert all(
        one.intention in INTENTIONS_BY_SOURCE[one.source] for one in plan.choices
    )
    assert all(
        isinstance(one, SourceChoice) and 0.7 <= one.confidence < 1
        for one in plan.choices
    )
    assert all(one.name.strip() and 0.6 <= one.confidence < 1 for one in plan.entities)


def test_what_is_searched_for_is_what_is_asked_and_whom_it_points_to(
    marsh_bible: Bible,
) -> None:
    again = TurnQuestion("Remind me who OchraMags is, and what PurpleFrog values")
    words = build_search_text(again, marsh_bible)
    assert words == "who OchraMags is, and what PurpleFrog values"
    state = NarrativeState(entities=("PurpleFrog",))
    later = TurnQuestion("Where was she then?", state=state)
    assert build_search_text(later, marsh_bible) == "Where was she then? PurpleFrog"
    talked = TurnQuestion(
        "What do you value?", mode=AnswerMode.IN_CHARACTER, character="OchraMags"
    )
    assert build_search_text(talked, marsh_bible) == "What do you value? OchraMags"
    assert build_search_text(TurnQuestion("Tell me"), marsh_bible) == "Tell me"


def test_the_chapters_that_a_question_names_are_planned(marsh_bible: Bible) -> None:
    asked = TurnQuestion("Sum up chapter three and ch. 1, please")
    assert plan_by_rules(asked, marsh_bible).chapters == (1, 3)
