"""How a fact is told that a search found beside its passages."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lrwr.wording.cleaning import one_line

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.core.model.documents import DocumentId
    from lrwr.core.model.facts import Fact
    from lrwr.core.ports.record_store import DocumentText
    from lrwr.core.ports.story_store import Known

    Texts = Mapping[DocumentId, DocumentText]


def show_facts(facts: "Sequence[Known]", texts: "Texts", output: "Output") -> None:
    """Print what is known besides the passages, a line each; nothing for none."""
    from lrwr.cli.stream import Styled
    from lrwr.wording.places import place_of

    if not facts:
        return
    output.answer("Known of it:")
    for known in facts:
        text = texts[known.document]
        place = place_of(known.document, text.lines.lines_of(known.fact.spans[0]))
        output.answer(
            f"  {one_line(told(known.fact))}  ",
            Styled(place, "place"),
            Styled(f"  {known.fact.certainty}", "faint"),
        )


def facts_as_json(facts: "Sequence[Known]", texts: "Texts") -> list[dict[str, object]]:
    """Return what a script may want to know of facts."""
    rows: list[dict[str, object]] = []
    for known in facts:
        fact, text = known.fact, texts[known.document]
        lines = text.lines.lines_of(fact.spans[0])
        rows.append(
            {
                "about": fact.about,
                "subject": fact.subject,
                "field": fact.field,
                "value": fact.value,
                "details": [list(pair) for pair in fact.details],
                "certainty": fact.certainty,
                "filled_by": fact.keeper,
                "file": known.document,
                "chars": [[span.start, span.end] for span in fact.spans],
                "lines": [lines.first, lines.last],
            }
        )
    return rows


def told(fact: "Fact") -> str:
    """Tell a fact in a few words."""
    from lrwr.core.model.facts import About

    match fact.about:
        case About.EVENT | About.SCENE:
            return fact.value
        case About.TOLD:
            return f"{fact.subject} tells {fact.detail('hearer')}: {fact.value}"
        case About.GAP:
            return f"Open: {fact.subject or 'the story'}, {fact.field}: {fact.value}"
        case _:
            what = fact.detail("attribute") or fact.detail("kind") or fact.field
            target = fact.detail("target")
            value = " ".join(word for word in (fact.value, target) if word)
            return f"{fact.subject}, {what.replace('_', ' ')}: {value}"
