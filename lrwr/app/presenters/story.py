"""Characters and things of the world as cards: every claim with its words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import Line, Styled, excerpt, one_line
from lrwr.core.bible.phrases import (
    NO_READER,
    implied_by,
    name_of_chapter,
    not_evaluated,
    place_of,
    relation_in_words,
    told_by_models,
)
from lrwr.core.bible.values import GapState
from lrwr.core.model.certainty import Certainty

if TYPE_CHECKING:
    from lrwr.core.bible.values import (
        Bible,
        CharacterProfile,
        Claim,
        Evidence,
        Gap,
        Moment,
        Relation,
        WorldElement,
    )
    from lrwr.core.settings.model import Settings


def character_lines(profile: "CharacterProfile", bible: "Bible") -> Iterator[Line]:
    """Tell all that is known of one character."""
    yield Line((Styled(profile.name, "strong"), _sure(profile.certainty)))
    yield from _who(profile)
    for claim in profile.attributes:
        yield from claim_lines(f"{claim.label}: ", claim)
    for label, claims in told_by_models(profile):
        for claim in claims:
            yield from claim_lines(f"{label}: ", claim)
    if missing := not_evaluated(profile, bible):
        yield Line((f"{', '.join(missing).capitalize()}: {NO_READER}",))
    own = [r for r in bible.relations if profile.name in (r.source, r.target)]
    yield from relation_lines(own)
    yield from _open(profile.open_gaps)


def element_lines(element: "WorldElement") -> Iterator[Line]:
    """Tell all that is known of a thing of the world."""
    yield Line((Styled(element.name, "strong"), _sure(element.certainty)))
    for claim in element.element_types:
        yield from claim_lines("what: ", claim)
    for claim in element.descriptions:
        yield from claim_lines("", claim)
    for claim in element.connected_characters:
        yield from claim_lines("with: ", claim)


def claim_lines(label: str, claim: "Claim") -> Iterator[Line]:
    """Tell a claim, how sure it is, and the words that it rests on."""
    sure = "you decided" if claim.decided else str(claim.certainty)
    first = next(iter(claim.evidence), None)
    yield Line((label, excerpt(claim.value), _sure(sure)), 2, first)
    yield from words_lines(claim.evidence, besides=claim.value)


def words_lines(evidence: "Iterable[Evidence]", besides: str = "") -> Iterator[Line]:
    """Tell words with their places; those that are `besides` once more are left out."""
    for one in evidence:
        words = excerpt(one.text)
        place = Styled(one_line(place_of(one)), "place")
        same = words == excerpt(besides)
        yield Line((place, "" if same else f"  “{words}”"), 6, one)


def relation_lines(relations: "Iterable[Relation]") -> Iterator[Line]:
    """Tell who is what to whom."""
    for relation in relations:
        lead, told = relation_in_words(relation)
        first = next(iter(relation.evidence), None)
        yield Line((f"{lead}: {told}", _sure(relation.certainty)), 2, first)
        yield from words_lines(relation.evidence)


def other_names(profile: "CharacterProfile") -> str:
    """Return what a character is called besides, with commas between."""
    return ", ".join(f.name for f in profile.aliases if f.name != profile.name)


def first_place(profile: "CharacterProfile") -> str:
    """Return where a character is first seen; empty where nobody knows."""
    first = profile.first_seen
    return one_line(place_of(first)) if first is not None else ""


def times_mentioned(profile: "CharacterProfile") -> str:
    """Return how often the text names a character: "once", "12 times"."""
    return "once" if profile.mentions == 1 else f"{profile.mentions:,} times"


def what_it_is(element: "WorldElement") -> str:
    """Return what a thing of the world is said to be, each once."""
    return ", ".join(dict.fromkeys(claim.value for claim in element.element_types))


def _who(profile: "CharacterProfile") -> Iterator[Line]:
    if others := other_names(profile):
        yield Line((f"also {others}",), 2)
    told = [f"mentioned {times_mentioned(profile)}"]
    if profile.gender_certainty is not Certainty.NOT_EVALUATED:
        told.append(f"{profile.gender} ({profile.gender_certainty})")
    if profile.narrator:
        told.append("tells the story")
    if profile.because:
        told.append(profile.because)
    yield Line(("; ".join(told),), 2)
    if profile.first_seen is not None:
        place = Styled(first_place(profile), "place")
        chapter = Styled(f"  {name_of_chapter(profile.first_seen)}", "faint")
        yield Line(("first seen ", place, chapter), 2, profile.first_seen)


def _open(gaps: "Sequence[Gap]") -> Iterator[Line]:
    for gap in gaps:
        yield Line((Styled(gap.id, "place"), f"  not defined: {gap.attribute}"), 2)


def _sure(certainty: str) -> Styled:
    return Styled(f"  {certainty}", "faint")


READ_IT = (
    "Turn one on with `use` under [model] in lrwr.toml; `lrwr config show` says how it"
    " is set. Then run `lrwr ingest`."
)


def how_to_read(bible: "Bible", settings: "Settings") -> str:
    """Return how to have the story read; empty where it was read."""
    from lrwr.core.model.chunks import Pipeline

    if not bible.unread:
        return ""
    chosen = settings.pipeline is Pipeline.AGENTIC
    return f"`lrwr ingest{'' if chosen else ' --pipeline b'}` reads your story."


def nothing_known(what: str, as_of: str | None, remedy: str) -> str:
    """Say that there is nothing to show, and what to try; see `how_to_read`."""
    until = "" if as_of is None else f" up to {as_of}"
    return f"{what}{until}. {remedy}".rstrip()


def nobody_evaluated(bible: "Bible", what: str) -> str:
    """Say of what only a language model can tell that none has; empty where one has."""
    return "" if bible.readers else f"{what}: {NO_READER}"


def moment_lines(moment: "Moment") -> Iterator[Line]:
    """Tell what happens, to whom, and the words that say so."""
    who = ", ".join(moment.characters)
    yield Line(
        (
            Styled(f"{moment.kind}  ", "faint"),
            excerpt(moment.text),
            Styled(f"  {who}" if who else "", "faint"),
        ),
        2,
        moment.evidence,
    )
    yield from words_lines([moment.evidence], besides=moment.text)


def gap_lines(gap: "Gap") -> Iterator[Line]:
    """Tell what the text leaves open, and what has become of it."""
    whose = f"{gap.about}: " if gap.about else ""
    yield Line(
        (
            Styled(gap.id, "place"),
            f"  {whose}{excerpt(gap.attribute)}",
            Styled(f"  {gap.state}{', asked by you' if gap.wondered else ''}", "faint"),
        )
    )
    if gap.answer:
        yield Line((f"you answered: {gap.answer}",), 6)
    if gap.state is GapState.CLOSED:
        yield Line(("the text says so now:",), 6)
        for claim in gap.defined:
            yield from claim_lines("", claim)
    else:
        yield from _hints(gap)


def _hints(gap: "Gap") -> Iterator[Line]:
    for text in implied_by(gap):
        yield Line((f"implied: {excerpt(text)}",), 6)
    for text in gap.suggestions:
        yield Line((f"perhaps: {excerpt(text)}",), 6)
    for claim in gap.implied:
        yield from words_lines(claim.evidence, besides=gap.attribute)
