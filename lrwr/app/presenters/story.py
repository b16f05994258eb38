"""Characters and things of the world as cards: every claim with its words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    sanitize_line,
    shorten_excerpt,
)
from lrwr.core.bible.values import (
    NO_READER,
    GapState,
    format_chapter_name,
    format_evidence_location,
    format_relation,
    list_gap_implications,
    list_model_claims,
    list_unevaluated_fields,
)
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.facts import Certainty

if TYPE_CHECKING:
    from lrwr.core.bible.values import (
        Bible,
        BibleClaim,
        CharacterProfile,
        CharacterRelation,
        Gap,
        TextEvidence,
        TimelineMoment,
        WorldElement,
    )
    from lrwr.core.settings.model import Settings


def render_character(
    profile: "CharacterProfile", bible: "Bible"
) -> Iterator[StyledLine]:
    """Tell all that is known of one character."""
    yield StyledLine(
        (StyledText(profile.name, "strong"), _render_certainty(profile.certainty))
    )
    yield from _render_introduction(profile)
    for claim in profile.attributes:
        yield from render_claim(f"{claim.label}: ", claim)
    for label, claims in list_model_claims(profile):
        for claim in claims:
            yield from render_claim(f"{label}: ", claim)
    if missing := list_unevaluated_fields(profile, bible):
        yield StyledLine((f"{', '.join(missing).capitalize()}: {NO_READER}",))
    relations = [r for r in bible.relations if profile.name in (r.source, r.target)]
    yield from render_relations(relations)
    yield from _render_open_gaps(profile.open_gaps)


def render_element(element: "WorldElement") -> Iterator[StyledLine]:
    """Tell all that is known of a thing of the world."""
    yield StyledLine(
        (StyledText(element.name, "strong"), _render_certainty(element.certainty))
    )
    for claim in element.element_types:
        yield from render_claim("what: ", claim)
    for claim in element.descriptions:
        yield from render_claim("", claim)
    for claim in element.connected_characters:
        yield from render_claim("with: ", claim)


def render_claim(label: str, claim: "BibleClaim") -> Iterator[StyledLine]:
    """Tell a claim, how sure it is, and the words that it rests on."""
    certainty = "you decided" if claim.decided else str(claim.certainty)
    first_evidence = next(iter(claim.evidence), None)
    yield StyledLine(
        (label, shorten_excerpt(claim.value), _render_certainty(certainty)),
        2,
        first_evidence,
    )
    yield from render_evidence(claim.evidence, besides=claim.value)


def render_evidence(
    evidence: "Iterable[TextEvidence]", besides: str = ""
) -> Iterator[StyledLine]:
    """Tell words with their places; those that are `besides` once more are left out."""
    for text_evidence in evidence:
        words = shorten_excerpt(text_evidence.text)
        place = StyledText(
            sanitize_line(format_evidence_location(text_evidence)), "place"
        )
        is_repeated = words == shorten_excerpt(besides)
        yield StyledLine(
            (place, "" if is_repeated else f"  “{words}”"), 6, text_evidence
        )


def render_relations(relations: "Iterable[CharacterRelation]") -> Iterator[StyledLine]:
    """Tell who is what to whom."""
    for relation in relations:
        lead, description = format_relation(relation)
        first_evidence = next(iter(relation.evidence), None)
        yield StyledLine(
            (f"{lead}: {description}", _render_certainty(relation.certainty)),
            2,
            first_evidence,
        )
        yield from render_evidence(relation.evidence)


def format_other_names(profile: "CharacterProfile") -> str:
    """Return what a character is called besides, with commas between."""
    return ", ".join(f.name for f in profile.aliases if f.name != profile.name)


def format_first_place(profile: "CharacterProfile") -> str:
    """Return where a character is first seen; empty where nobody knows."""
    first = profile.first_seen
    return sanitize_line(format_evidence_location(first)) if first is not None else ""


def format_mention_count(profile: "CharacterProfile") -> str:
    """Return how often the text names a character: "once", "12 times"."""
    return "once" if profile.mentions == 1 else f"{profile.mentions:,} times"


def describe_element(element: "WorldElement") -> str:
    """Return what a thing of the world is said to be, each once."""
    return ", ".join(dict.fromkeys(claim.value for claim in element.element_types))


def _render_introduction(profile: "CharacterProfile") -> Iterator[StyledLine]:
    if other_names_text := format_other_names(profile):
        yield StyledLine((f"also {other_names_text}",), 2)
    phrases = [f"mentioned {format_mention_count(profile)}"]
    if profile.gender_certainty is not Certainty.NOT_EVALUATED:
        phrases.append(f"{profile.gender} ({profile.gender_certainty})")
    if profile.narrator:
        phrases.append("tells the story")
    if profile.because:
        phrases.append(profile.because)
    yield StyledLine(("; ".join(phrases),), 2)
    if profile.first_seen is not None:
        place = StyledText(format_first_place(profile), "place")
        chapter = StyledText(f"  {format_chapter_name(profile.first_seen)}", "faint")
        yield StyledLine(("first seen ", place, chapter), 2, profile.first_seen)


def _render_open_gaps(gaps: "Sequence[Gap]") -> Iterator[StyledLine]:
    for gap in gaps:
        yield StyledLine(
            (StyledText(gap.id, "place"), f"  not defined: {gap.attribute}"), 2
        )


def _render_certainty(certainty: str) -> StyledText:
    return StyledText(f"  {certainty}", "faint")


TURN_ON_MODEL = (
    "Turn one on with `use` under [model] in lrwr.toml; `lrwr config show` says how it"
    " is set. Then run `lrwr ingest`."
)


def explain_model_setup(bible: "Bible", settings: "Settings") -> str:
    """Return how to have the story read; empty where it was read."""
    if not bible.unread:
        return ""
    is_agentic = settings.pipeline is Pipeline.AGENTIC
    return f"`lrwr ingest{'' if is_agentic else ' --pipeline b'}` reads your story."


def describe_nothing_known(statement: str, as_of: str | None, remedy: str) -> str:
    """Say that there is nothing to show, and what to try; see `explain_model_setup`."""
    until = "" if as_of is None else f" up to {as_of}"
    return f"{statement}{until}. {remedy}".rstrip()


def describe_not_evaluated(bible: "Bible", topic: str) -> str:
    """Say of what only a language model can tell that none has; empty where one has."""
    return "" if bible.readers else f"{topic}: {NO_READER}"


def render_moment(moment: "TimelineMoment") -> Iterator[StyledLine]:
    """Tell what happens, to whom, and the words that say so."""
    characters = ", ".join(moment.characters)
    yield StyledLine(
        (
            StyledText(f"{moment.kind}  ", "faint"),
            shorten_excerpt(moment.text),
            StyledText(f"  {characters}" if characters else "", "faint"),
        ),
        2,
        moment.evidence,
    )
    yield from render_evidence([moment.evidence], besides=moment.text)


def render_gap(gap: "Gap") -> Iterator[StyledLine]:
    """Tell what the text leaves open, and what has become of it."""
    subject = f"{gap.about}: " if gap.about else ""
    yield StyledLine(
        (
            StyledText(gap.id, "place"),
            f"  {subject}{shorten_excerpt(gap.attribute)}",
            StyledText(
                f"  {gap.state}{', asked by you' if gap.wondered else ''}", "faint"
            ),
        )
    )
    if gap.answer:
        yield StyledLine((f"you answered: {gap.answer}",), 6)
    if gap.state is GapState.CLOSED:
        yield StyledLine(("the text says so now:",), 6)
        for claim in gap.defined:
            yield from render_claim("", claim)
    else:
        yield from _render_hints(gap)


def _render_hints(gap: "Gap") -> Iterator[StyledLine]:
    for text in list_gap_implications(gap):
        yield StyledLine((f"implied: {shorten_excerpt(text)}",), 6)
    for text in gap.suggestions:
        yield StyledLine((f"perhaps: {shorten_excerpt(text)}",), 6)
    for claim in gap.implied:
        yield from render_evidence(claim.evidence, besides=gap.attribute)
