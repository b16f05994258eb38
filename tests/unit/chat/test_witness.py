from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.witness import WitnessFilter
from lrwr.core.chat.state import RetrievalResult
from tests.unit.bible.marsh import ONE, TWO, marsh


async def bible() -> Bible:
    return await marsh().service().read()


async def restrict(character: str) -> RetrievalResult:
    whole = await bible()
    result = RetrievalResult(
        character_profiles=whole.characters,
        world=whole.world,
        moments=whole.timeline,
        relations=whole.relations,
        scenes=whole.scenes,
        gaps=whole.gaps,
        lines=whole.quotes,
    )
    return WitnessFilter(character, whole).restrict(result)


async def test_whoever_was_not_there_does_not_know() -> None:
    found = await restrict("Corin Vale")
    assert found.scenes == ()
    assert found.lines == ()
    assert found.relations == ()
    (own,) = [one for one in found.character_profiles if one.name == "Corin Vale"]
    assert own in (await bible()).characters
    for other in found.character_profiles:
        if other is not own:
            assert (other.attributes, other.personality_traits) == ((), ())
            assert other.aliases == ()


async def test_whoever_was_there_knows_what_happened_there() -> None:
    found = await restrict("Nell Tallow")
    assert {scene.document for scene in found.scenes} == {ONE}
    assert {quote.evidence.document for quote in found.lines} >= {ONE}
    ochra = next(one for one in found.character_profiles if one.name == "OchraMags")
    assert all(e.document != TWO for c in ochra.attributes for e in c.evidence)


async def test_what_somebody_is_told_they_know() -> None:
    whole = await bible()
    (told,) = whole.told
    witness = WitnessFilter("Nell Tallow", whole)
    assert all(witness.knows(told.evidence.document, s) for s in told.evidence.spans)
    stranger = WitnessFilter("Corin Vale", whole)
    assert not any(
        stranger.knows(told.evidence.document, span) for span in told.evidence.spans
    )


async def test_gaps_of_others_are_no_knowledge_of_a_character() -> None:
    found = await restrict("Nell Tallow")
    assert {gap.about for gap in found.gaps} <= {"Nell Tallow"}
