"""Drafts: parts that fit, citations that stay with their sentences, exports."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.evidence.drafts import (
    CitationStyle,
    DraftPart,
    DraftSentence,
    PostDraft,
    convert_citations,
    count_post_words,
    fit_parts,
    list_posts,
    map_sentences,
    pack_parts,
    render_draft,
)
from lrwr.core.evidence.kinds import KIND_RULES, PostKind, check_horizon_choice
from lrwr.core.evidence.limits import Platform, fits
from lrwr.core.evidence.pack import EvidenceFact, EvidencePack
from lrwr.core.evidence.prompts import FlaggedSentence
from lrwr.core.evidence.revision import apply_revisions
from lrwr.core.evidence.sources import EvidenceSource
from lrwr.core.model.errors import SettingsProblem

PACK = EvidencePack(
    tuple(
        EvidenceFact(
            n,
            f"Fact {n}.",
            f"words of {n}",
            EvidenceSource("t", "1.md")
            if n < 3
            else EvidenceSource("t", url=f"https://a.example/{n}", title="A page"),
        )
        for n in range(1, 5)
    )
)
PIECES = [
    "a",
    "fog",
    "marsh,",
    "日本",
    "👨‍👩‍👧‍👦",
    "https://a.example/x",
    "x" * 40,
    "é",
    "lamp.",
]
SENTENCE = st.builds(
    DraftSentence,
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=60).map(" ".join),
    st.lists(st.integers(1, 4), max_size=2, unique=True).map(tuple),
)
DRAFT = st.builds(
    PostDraft,
    st.just("Title"),
    st.lists(
        st.lists(SENTENCE, min_size=1, max_size=4).map(tuple).map(DraftPart),
        min_size=1,
        max_size=5,
    ).map(tuple),
)


@given(DRAFT, st.sampled_from(Platform))
def test_no_part_is_over_its_limit_and_no_word_is_lost(
    draft: PostDraft, platform: Platform
) -> None:
    fitted = fit_parts(draft, platform, find_sentence_spans)
    assert all(fits(part.text, platform) for part in fitted.parts)
    before = " ".join(part.text for part in draft.parts).split()
    assert " ".join(part.text for part in fitted.parts).split() == before
    assert fitted.cited == draft.cited


@given(DRAFT, st.sampled_from(Platform), st.sampled_from(CitationStyle))
def test_no_exported_post_is_over_its_limit(
    draft: PostDraft, platform: Platform, style: CitationStyle
) -> None:
    text = render_draft(draft, PACK, PostKind.THREAD)
    posts = list_posts(text, platform, style, find_sentence_spans)
    assert posts
    assert all(fits(post, platform) for post in posts)
    assert ("Sources:" in "\n".join(posts)) == (
        bool({3, 4} & {*draft.cited}) and style is not CitationStyle.REMOVE
    )
    assert "1.md" not in "\n".join(posts)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("It rose.", "It rose [1][2]."),
        ("Did it?!", "Did it [1][2]?!"),
        ("It rose", "It rose [1][2]"),
        ("“It rose.”", "“It rose.” [1][2]"),
        ("It rose…", "It rose [1][2]…"),
    ],
)
def test_marks_stand_before_the_full_stop(text: str, marked: str) -> None:
    assert DraftSentence(text, (1, 2)).marked == marked
    assert DraftSentence(text).marked == text


def test_sources_are_those_that_are_cited_and_last() -> None:
    parts = (DraftPart((DraftSentence("It rose.", (2,)), DraftSentence("Why?"))),)
    text = render_draft(PostDraft("Fog", parts), PACK, PostKind.NEWSLETTER)
    assert text == (
        "# Fog\n\nIt rose [2]. Why?\n\n## Sources\n\n- [2] 1.md:1 (note): “words of 2”\n"
    )
    assert convert_citations(text, CitationStyle.REMOVE) == "# Fog\n\nIt rose. Why?\n"
    end = convert_citations(text, CitationStyle.END)
    assert end == (
        "# Fog\n\nIt rose. Why?\n\n## Sources\n\n- 1.md:1 (note): “words of 2”\n"
    )
    assert count_post_words(text) == 3
    assert convert_citations(text, CitationStyle.KEEP) == text


def test_a_part_without_sentences_goes() -> None:
    first, second = DraftSentence("One."), DraftSentence("Two.")
    draft = PostDraft("", (DraftPart((first,)), DraftPart((second,))))
    assert map_sentences(draft, {first: None}).parts == (DraftPart((second,)),)
    swapped = map_sentences(draft, {first: DraftSentence("Eins.")})
    assert [s.text for s in swapped.sentences] == ["Eins.", "Two."]


@pytest.mark.parametrize("kind", PostKind)
def test_a_kind_for_readers_needs_a_choice(kind: PostKind) -> None:
    check_horizon_choice(kind, "ch3", whole=False)
    check_horizon_choice(kind, "", whole=True)
    with pytest.raises(SettingsProblem):
        check_horizon_choice(kind, "ch3", whole=True)
    rules = KIND_RULES[kind]
    assert rules.words[0] < rules.words[1]
    assert rules.questions
    if rules.needs_horizon:
        with pytest.raises(SettingsProblem, match=re.escape(rules.name)):
            check_horizon_choice(kind, "", whole=False)
    else:
        check_horizon_choice(kind, "", whole=False)


def test_a_thread_with_too_many_parts_is_packed_at_ends_of_sentences() -> None:
    sentences = [DraftSentence(f"Sentence {n} is here. " + "x" * 80) for n in range(6)]
    draft = PostDraft("", tuple(DraftPart((s,)) for s in sentences))
    packed = pack_parts(draft, Platform.X)
    assert packed.sentences == draft.sentences
    assert [len(part.sentences) for part in packed.parts] == [2, 2, 2]


@pytest.mark.parametrize(
    ("texts", "remaining"),
    [
        (("The lamp is old.", "It hangs from a hook.", "Nell climbs."), (2,)),
        (("Nell has a lamp.", "She climbs.", "This takes an hour."), ()),
        (("The lamp is old.", "It was Nell who lit it."), (1,)),
        (("The lamp is old.", "Nell lit it."), (1,)),
    ],
)
def test_no_sentence_refers_to_one_that_was_left_out(
    texts: tuple[str, ...], remaining: tuple[int, ...]
) -> None:
    sentences = tuple(DraftSentence(text, (1,)) for text in texts)
    flagged = [FlaggedSentence(sentences[0], "wrong")]
    draft = PostDraft("", (DraftPart(sentences),))
    final, revisions = apply_revisions(draft, flagged, [DraftSentence("")], {})
    assert final.sentences == tuple(sentences[at] for at in remaining)
    assert len(revisions) == len(sentences) - len(remaining)
    assert all("was left out" in revision.reason for revision in revisions[1:])


def test_a_pronoun_may_refer_to_a_sentence_before_the_one_left_out() -> None:
    texts = ("Nell fills the lamp.", "Nell drinks tea.", "She climbs.", "She sings.")
    _, tea, climbs, _ = sentences = [DraftSentence(t, (1,)) for t in texts]
    draft = PostDraft("", (DraftPart(tuple(sentences)),))
    for left_out in (tea, climbs):
        flagged = [FlaggedSentence(left_out, "wrong")]
        final, _ = apply_revisions(draft, flagged, [DraftSentence("")], {})
        assert final.sentences == tuple(s for s in sentences if s != left_out)
