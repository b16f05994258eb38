"""Reviews of a draft: only words of the draft and of the brief count."""

import json

import pytest

from lrwr.core.drafting.board import SceneCard
from lrwr.core.drafting.brief import Brief, render_brief
from lrwr.core.drafting.brief_items import BriefItem, BriefSection
from lrwr.core.drafting.prompts import PromptTexts
from lrwr.core.drafting.review import (
    COMPARED_TOKENS,
    PASSAGE_TOKENS,
    build_review_prompt,
    parse_review,
    select_compared,
)
from lrwr.core.model.documents import Horizon
from lrwr.core.model.language_model import MalformedReply, estimate_tokens

DRAFT = (
    "# Bell\n\nNell rang it twice.\n\nMags laid down the four keys, and Hob heard it."
)
CARD = SceneCard("bell", "Bell", beats=("Nell rings", "Hob hears"))
KEYS = BriefItem(BriefSection.ABOUT, "“There were five of them: keys.”", 3, "9.md:99")
RULE = BriefItem(BriefSection.RULES, "never: Hob speaks", 2, "intent.md:4")
VOICE = BriefItem(BriefSection.VOICE, "“The four keys hung there.”", 5, "1.md:2")
BRIEF = Brief(CARD, Horizon(chapter=9), 4_000, (RULE, KEYS, VOICE))
COMPARED = select_compared(BRIEF)


def reply(*quotes: str, conflicts: object = ()) -> str:
    rows = [{"beat": n, "quote": quote} for n, quote in enumerate(quotes, start=1)]
    return json.dumps({"beats": rows, "conflicts": conflicts})


def conflict(draft: str, entry: object, brief: str) -> dict[str, object]:
    return {"draft": draft, "entry": entry, "brief": brief}


def test_a_beat_is_shown_by_words_of_the_draft() -> None:
    review = parse_review(reply("“Nell rang it twice”", ""), COMPARED, DRAFT)
    assert [proof.quote for proof in review.proofs] == ["Nell rang it twice", ""]
    assert (review.conflicts, review.dropped) == ((), ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (reply("Nell rang it thrice", ""), "the quote of beat 1 is not in the draft"),
        (reply("Nell rang"), "each of the 2 beats once"),
        (reply("", "", ""), "each of the 2 beats once"),
        ('{"beats": [{"beat": 1}], "conflicts": []}', "a beat is not"),
        ('{"beats": []}', "an object of `beats` and `conflicts`"),
        (reply("", "", conflicts=[{"entry": 1}]), "a conflict is not"),
        (reply("", "", conflicts=[conflict("it", "1", "it")]), "a conflict is not"),
    ],
)
def test_a_reply_of_another_shape_is_malformed(text: str, problem: str) -> None:
    with pytest.raises(MalformedReply, match=problem):
        parse_review(text, COMPARED, DRAFT)


def test_a_conflict_has_the_words_as_they_stand_in_draft_and_brief() -> None:
    row = conflict("The  four keys", 2, "five of them, keys")
    review = parse_review(reply("", "", conflicts=[row, row]), COMPARED, DRAFT)
    (found,) = review.conflicts
    assert DRAFT[found.span.start : found.span.end] == "the four keys"
    assert (found.words, found.item) == ("five of them: keys", KEYS)


@pytest.mark.parametrize(
    "row",
    [
        conflict("the three keys", 2, "five of them"),
        conflict("the four keys", 2, "six of them"),
        conflict("the four keys", 1, "five of them"),
        conflict("the four keys", 3, "The four keys hung"),
        conflict("the four keys", 0, "five of them"),
        conflict("keys", 2, "five of them"),
        conflict("down the", 2, "of them"),
        conflict("", 2, ""),
    ],
)
def test_a_conflict_with_other_words_is_dropped(row: dict[str, object]) -> None:
    review = parse_review(reply("", "", conflicts=[row]), COMPARED, DRAFT)
    (reason,) = review.dropped
    assert review.conflicts == ()
    assert any(words in reason for words in ("is not in", "no entry", "too short"))


def test_what_is_wrong_with_a_dropped_conflict_is_said() -> None:
    rows = [
        conflict("the nine keys", 2, "five of them"),
        conflict("the four keys", 2, "nine of them"),
        conflict("the four keys", 99, "five of them"),
        conflict("keys", 2, "five of them"),
    ]
    review = parse_review(reply("", "", conflicts=rows), COMPARED, DRAFT)
    assert [reason.partition(":")[0] for reason in review.dropped] == [
        "“the nine keys” is not in the draft",
        f"“nine of them” is not in entry 2, “{KEYS.text.partition(':')[0]}",
        "there is no entry 99",
        "“keys” is too short",
    ]


def test_of_contradictions_of_the_same_words_the_first_counts() -> None:
    rows = [
        conflict("the four keys", 2, "five of them"),
        conflict("laid down the four keys", 2, "them: keys"),
        conflict("Hob heard it", 1, "Hob speaks"),
    ]
    review = parse_review(reply("", "", conflicts=rows), COMPARED, DRAFT)
    assert [found.words for found in review.conflicts] == ["five of them", "Hob speaks"]


def test_passages_follow_the_brief_unless_it_has_them_and_within_its_tokens() -> None:
    note = BriefItem(BriefSection.NOTES, "Hob: deaf in the left ear", 3, "n.md:1")
    same = BriefItem(BriefSection.STORY, "There were five of them: keys.", 3, "9.md:99")
    long = BriefItem(BriefSection.STORY, "word " * 5 * PASSAGE_TOKENS, 3, "2.md:1")
    compared = select_compared(BRIEF, [long, same, note])
    assert compared.items == (RULE, KEYS, note)


def test_the_entries_are_numbered_as_they_are_sent_and_limited() -> None:
    prompt = build_review_prompt(PromptTexts(), COMPARED, DRAFT)
    sent = dict(prompt.blocks)
    assert f"[2] {KEYS.text}" in sent["brief"]
    assert VOICE.text not in sent["brief"]
    many = tuple(
        BriefItem(BriefSection.ABOUT, f"{n} {'word ' * 100}", n, "1.md:1")
        for n in range(100)
    )
    compared = select_compared(Brief(CARD, Horizon(chapter=9), 90_000, many))
    assert compared.items[0] == many[0]
    assert estimate_tokens(render_brief(compared)) < COMPARED_TOKENS + 100
