"""Contradictions as text and JSON."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from lrwr.app.presenters.story_json import evidence_as_json
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    format_count,
    sanitize_line,
    shorten_excerpt,
    styled_line,
)
from lrwr.core.bible.values import format_evidence_location
from lrwr.core.continuity.finder import ComparedFacts
from lrwr.core.continuity.statements import (
    Contradiction,
    ContradictionSide,
    StatementSource,
)

POSSIBLE_NOTE = (
    "“possible”: rules are not sure; one passage may be about another time or about"
    " somebody else."
)

_CHARACTERS_BEFORE = 100
"""About how much of a long sentence is shown before the value it is quoted for."""


def render_contradictions(
    contradictions: Sequence[Contradiction],
    notes: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[StyledLine]:
    """Yield the lines of each contradiction, in the order of `contradictions`.

    They show its id and values, who found it, why it is intended if it is, its note in
    `notes` by id, and the quotations of both sides; an empty line ends each.
    """
    for contradiction in contradictions:
        intended_note = ""
        if contradiction.intended:
            reason = contradiction.because
            intended_note = f"  intended{f': {reason}' if reason else ''}"
        yield styled_line(
            StyledText(contradiction.id, "place"),
            f"  {describe_contradiction(contradiction)}",
            StyledText(intended_note, "faint"),
        )
        if note := notes.get(contradiction.id):
            yield styled_line(StyledText(note, "faint"), indent=6)
        if contradiction.judge:
            reason = (
                f": {sanitize_line(contradiction.why)}" if contradiction.why else ""
            )
            yield styled_line(
                StyledText(f"found by {contradiction.judge}{reason}", "faint"), indent=6
            )
        for side in (contradiction.canon, contradiction.found):
            yield from _render_side(side)
        yield styled_line()


def describe_contradiction(contradiction: Contradiction) -> str:
    """Return what contradicts what, such as "Nell, eyes: grey in ch1, green in ch3".

    One of which rules are not sure starts with "possible: ".
    """
    doubt = "possible: " if contradiction.possible else ""
    about, attribute = contradiction.about, contradiction.attribute
    return f"{doubt}{about}, {attribute}: {_values(contradiction)}"


def contradiction_as_json(contradiction: Contradiction) -> dict[str, object]:
    """Return a contradiction as JSON: `id`, what it is about, and both sides.

    `canon` is the confirmed side, `found` the contradicting one; each has `value`,
    `source` and `evidence` (see `evidence_as_json`). `because` is the reason why it is
    intended; `possible` means that rules are not sure of it. `judge` and `why` are the language model that found it and its reason,
    None if rules did.
    """
    return {
        "id": contradiction.id,
        "about": contradiction.about,
        "attribute": contradiction.attribute,
        "canon": _side_as_json(contradiction.canon),
        "found": _side_as_json(contradiction.found),
        "possible": contradiction.possible,
        "intended": contradiction.intended,
        "because": contradiction.because or None,
        "judge": contradiction.judge or None,
        "why": contradiction.why or None,
    }


def _values(contradiction: Contradiction) -> str:
    sides = contradiction.canon, contradiction.found
    canon_text, found_text = (sanitize_line(side.value) for side in sides)
    if contradiction.judge:
        return f"“{found_text}”, against “{canon_text}”"
    canon_origin, found_origin = map(_describe_origin, sides)
    return f"{canon_text} {canon_origin}, {found_text} {found_origin}"


def _describe_origin(side: ContradictionSide) -> str:
    """Return where a side is stated: "in ch3", "in the text" or "in your note"."""
    if side.source is not StatementSource.TEXT:
        return f"in your {side.source}"
    chapters = [p.chapter for p in side.evidence if p.chapter is not None]
    return f"in ch{chapters[0]}" if chapters else "in the text"


def _render_side(side: ContradictionSide) -> Iterator[StyledLine]:
    source = (
        "the text" if side.source is StatementSource.TEXT else f"your {side.source}"
    )
    if not side.evidence:
        yield styled_line(
            StyledText("lrwr.canon.toml", "place"),
            f"  {source}: {side.value}",
            indent=6,
        )
    for passage in side.evidence:
        chapter = "" if passage.chapter is None else f"ch{passage.chapter}  "
        yield styled_line(
            StyledText(sanitize_line(format_evidence_location(passage)), "place"),
            StyledText(f"  {chapter}{source}: ", "faint"),
            f"“{_shorten_around(passage.text, side.value)}”",
            indent=6,
        )


def _shorten_around(text: str, value: str) -> str:
    """Return `text` on one line, shortened so that the first `value` in it is shown."""
    line = " ".join(text.split())
    shortened, at = shorten_excerpt(line), line.find(value)
    if at < 0 or value in shortened:
        return shortened
    start = line.find(" ", max(0, at - _CHARACTERS_BEFORE)) + 1
    return f"… {shorten_excerpt(line[start:])}"


def _side_as_json(side: ContradictionSide) -> dict[str, object]:
    return {
        "value": side.value,
        "source": side.source,
        "evidence": [evidence_as_json(passage) for passage in side.evidence],
    }


def describe_no_new_contradictions(earlier: int) -> str:
    """Return the sentence to show if all of `earlier` contradictions were reported before."""
    number = format_count(earlier, "contradiction")
    return f"No new contradictions; {number} reported earlier."


def describe_no_contradictions(facts: ComparedFacts) -> str:
    """Return the sentences to show if no contradiction was found: how many facts were
    compared, or that none could be.
    """
    if facts.compared:
        compared = format_count(facts.compared, "fact")
        return (
            f"No contradictions found among the {compared} that are stated twice or"
            " more."
        )
    stated = format_count(facts.stated, "fact") if facts.stated else "no facts"
    once = " for certain, each the only one of its attribute" if facts.stated else ""
    return (
        f"No contradictions found, but nothing could be compared: {stated} read{once}."
        " Notes with ages, eyes or hair give the text something to agree"
        " with."
    )
