from lrwr.core.bible.timeline import FactChange
from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty, Fact, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentSnapshot, QuotedFact
from lrwr.pipeline.watch.events import (
    DocumentDelta,
    KnowledgeDelta,
    KnowledgeSnapshot,
    diff_knowledge,
)

ONE, TWO = DocumentId("1.md"), DocumentId("2.md")
EYES = (("attribute", "eyes"),)


def a_fact(
    value: str,
    about: FactAbout = FactAbout.CHARACTER,
    *,
    subject: str = "Nell",
    field: str = "attribute",
    details: tuple[tuple[str, str], ...] = EYES,
    at: int = 0,
) -> QuotedFact:
    span = (Span(at, at + 4),)
    fact = Fact(
        about, subject, field, value, span, RULES_KEEPER, Certainty.VERIFIED, details
    )
    return QuotedFact(fact, f"words of {value}")


def a_cast(*names: str) -> Cast:
    return Cast(tuple(map(a_character, names)))


def a_character(names: str) -> Character:
    name, *others = names.split("/")
    aliases = tuple(Alias(one, 1, Certainty.VERIFIED) for one in (name, *others))
    unknown = Gender.UNKNOWN, Certainty.NOT_EVALUATED
    return Character(name, aliases, *unknown, Certainty.VERIFIED)


def between(
    before: DocumentSnapshot | None, after: DocumentSnapshot | None
) -> KnowledgeDelta:
    return diff_knowledge(
        KnowledgeSnapshot({ONE: before} if before else {}),
        KnowledgeSnapshot({ONE: after} if after else {}),
        {},
    )


def test_nothing_changed_is_nothing_learned() -> None:
    held = DocumentSnapshot(("a", "b"), (a_fact("grey"),))
    found = between(held, held)
    assert found == KnowledgeDelta(documents=(DocumentDelta(ONE),))
    assert not found.changed


def test_passages_are_counted_as_new_changed_and_gone() -> None:
    (more,) = between(
        DocumentSnapshot(("a", "b")), DocumentSnapshot(("a", "c", "d"))
    ).documents
    assert (more.passages_new, more.passages_changed, more.passages_gone) == (1, 1, 0)
    (less,) = between(
        DocumentSnapshot(("a", "a", "b")), DocumentSnapshot(("a",))
    ).documents
    assert (less.passages_new, less.passages_changed, less.passages_gone) == (0, 0, 2)


def test_a_document_comes_and_goes() -> None:
    (new,) = between(None, DocumentSnapshot(("a",))).documents
    assert (new.gone, new.passages_new) == (False, 1)
    (gone,) = between(DocumentSnapshot(("a",)), None).documents
    assert (gone.gone, gone.passages_gone) == (True, 1)


def test_a_renamed_document_is_told_once_and_with_its_former_name() -> None:
    found = diff_knowledge(
        KnowledgeSnapshot({ONE: DocumentSnapshot(("a",))}),
        KnowledgeSnapshot({TWO: DocumentSnapshot(("a",))}),
        {TWO: ONE},
    )
    assert found.documents == (DocumentDelta(TWO, was="1.md"),)
    assert found.changed


def test_one_value_in_the_place_of_another_is_a_change() -> None:
    found = between(
        DocumentSnapshot(facts=(a_fact("grey"),)),
        DocumentSnapshot(facts=(a_fact("brown"),)),
    )
    shift = FactChange(FactAbout.CHARACTER, "Nell", "eyes", "grey", "brown")
    assert found.facts_changed == (shift,)
    assert (found.facts_new, found.facts_gone) == ((), ())


def test_a_second_value_beside_the_first_is_new() -> None:
    both = DocumentSnapshot(facts=(a_fact("grey"), a_fact("brown", at=90)))
    found = between(DocumentSnapshot(facts=(a_fact("grey"),)), both)
    assert [shift.after for shift in found.facts_new] == ["brown"]
    assert found.facts_changed == ()


def test_a_fact_that_moves_has_not_changed() -> None:
    fact, moved = a_fact("grey"), a_fact("grey", at=700)
    assert not between(
        DocumentSnapshot(facts=(fact,)), DocumentSnapshot(facts=(moved,))
    ).changed
    found = diff_knowledge(
        KnowledgeSnapshot(
            {ONE: DocumentSnapshot(facts=(fact,)), TWO: DocumentSnapshot()}
        ),
        KnowledgeSnapshot(
            {ONE: DocumentSnapshot(), TWO: DocumentSnapshot(facts=(moved,))}
        ),
        {},
    )
    assert not found.changed


def test_gaps_open_and_close_and_are_no_facts() -> None:
    gap = a_fact("", FactAbout.GAP, field="marked", details=())
    opened = between(DocumentSnapshot(), DocumentSnapshot(facts=(gap,)))
    assert opened.gaps_opened == (
        FactChange(FactAbout.GAP, "Nell", "", after="words of"),
    )
    assert opened.facts_new == ()
    closed = between(DocumentSnapshot(facts=(gap,)), DocumentSnapshot())
    assert [shift.before for shift in closed.gaps_closed] == ["words of"]


def test_relationships_and_tellings_are_told_apart_by_whom_they_concern() -> None:
    details = (("target", "OchraMags"), ("kind", "aunt"))
    tie = a_fact("", field="relationship", details=details)
    told = a_fact("a lie", FactAbout.TOLD, field="told", details=(("hearer", "Corin"),))
    found = between(DocumentSnapshot(), DocumentSnapshot(facts=(tie, told)))
    assert found.facts_new == (
        FactChange(FactAbout.CHARACTER, "Nell", "aunt", after="OchraMags"),
        FactChange(FactAbout.TOLD, "Nell", "told Corin", after="a lie"),
    )


def test_a_name_is_new_when_nobody_went_by_any_form_of_it() -> None:
    before = a_cast("Nell/Nell Tallow", "Mr. Vale")
    after = a_cast("Nell Tallow/Nell", "Corin Vale/Mr. Vale", "PurpleFrog")
    found = diff_knowledge(
        KnowledgeSnapshot(cast=before), KnowledgeSnapshot(cast=after), {}
    )
    assert (found.names_new, found.names_gone) == (("PurpleFrog",), ())
    back = diff_knowledge(
        KnowledgeSnapshot(cast=after), KnowledgeSnapshot(cast=before), {}
    )
    assert (back.names_new, back.names_gone) == ((), ("PurpleFrog",))


def test_less_text_has_no_new_name_and_more_text_loses_none() -> None:
    one, other = a_cast("Nell"), a_cast("Camilla")
    text = {DocumentId("1.md"): DocumentSnapshot(("Nell sang.",))}
    less = diff_knowledge(
        KnowledgeSnapshot(text, cast=one), KnowledgeSnapshot(cast=other), {}
    )
    assert (less.names_new, less.names_gone) == ((), ("Nell",))
    more = diff_knowledge(
        KnowledgeSnapshot(cast=one), KnowledgeSnapshot(text, cast=other), {}
    )
    assert (more.names_new, more.names_gone) == (("Camilla",), ())
