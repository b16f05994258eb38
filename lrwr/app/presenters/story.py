"""The story bible as text: lists, full entries, and quotations with their locations."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import (
    LinePiece,
    StyledLine,
    StyledTable,
    StyledText,
    format_count,
    format_horizon,
    sanitize_line,
    shorten_excerpt,
    styled_line,
)
from lrwr.core.bible.story_graph import Neighbor, describe_edge
from lrwr.core.bible.values import (
    NO_READER,
    SHOWN_EVIDENCE,
    GapState,
    find_last_scenes,
    format_chapter_name,
    format_evidence_location,
    format_relation,
    list_gap_implications,
    list_model_claims,
    list_unevaluated_fields,
)
from lrwr.core.bible.world import nest_places
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import format_chapter_title

if TYPE_CHECKING:
    from lrwr.core.bible.values import (
        AttributedQuote,
        Bible,
        BibleClaim,
        CharacterProfile,
        CharacterRelation,
        Gap,
        SceneSummary,
        TextEvidence,
        TimelineMoment,
        WorldElement,
    )
    from lrwr.core.settings.model import Settings


UNKNOWN_SPEAKER = "unknown speaker"


def list_characters(
    profiles: "Iterable[CharacterProfile]", bible: "Bible"
) -> Iterator[StyledTable]:
    """Yield one table with a row for each of `profiles`, in their order; `bible` has the
    last scene of each.
    """
    last_scenes = find_last_scenes(bible)
    rows: list[list[LinePiece]] = [
        [
            profile.name,
            format_other_names(profile),
            str(profile.gender),
            f"{profile.mentions:,}",
            StyledText(format_first_location(profile), "place"),
            format_scene_point(last_scenes.get(profile.name)),
            str(profile.certainty),
        ]
        for profile in profiles
    ]
    headings = [
        "Name",
        "Aliases",
        "Gender",
        "Mentions",
        "First seen",
        "Last",
        "Certainty",
    ]
    optional = ("Certainty", "First seen", "Gender", "Mentions")
    yield StyledTable(headings, rows, right={"Mentions"}, optional=optional)


def format_scene_point(scene: "SceneSummary | None") -> str:
    """Return a scene in the notation of horizons, as in "ch3:s2"; "" for None."""
    return f"ch{scene.chapter}:s{scene.scene}" if scene else ""


def list_world(elements: "Iterable[WorldElement]") -> Iterator[StyledTable]:
    """Yield one table with a row for each of `elements` (settings, objects, rules, …),
    those that are part of another one indented below it.

    Columns: name, type, connected characters, mentions, first location, certainty.
    """
    rows: list[list[LinePiece]] = [
        [
            "  " * depth + element.name + (f" (in {element.part_of})" if depth else ""),
            describe_element(element),
            ", ".join(claim.value for claim in element.connected_characters),
            str(element.mentions or ""),
            StyledText(_first_element_location(element), "place"),
            str(element.certainty),
        ]
        for element, depth in nest_places(tuple(elements))
    ]
    headings = ["Name", "Type", "Characters", "Mentions", "First seen", "Certainty"]
    yield StyledTable(headings, rows, right={"Mentions"})


def render_character(
    profile: "CharacterProfile", bible: "Bible"
) -> Iterator[StyledLine]:
    """Yield the lines of a character: names, facts, relationships, open questions.

    Each fact is followed by its quotations. `bible` has the relationships, and says
    whether fields are empty because no language model analysed the manuscript.
    """
    yield StyledLine(
        (StyledText(profile.name, "strong"), _render_certainty(profile.certainty))
    )
    yield from _render_introduction(profile)
    yield from _render_appearances(profile, bible)
    for claim in profile.attributes:
        yield from render_claim(f"{claim.label.rstrip(' .:')}: ", claim)
    for label, claims in list_model_claims(profile):
        for claim in claims:
            yield from render_claim(f"{label}: ", claim)
    if missing := list_unevaluated_fields(profile, bible):
        yield StyledLine((f"{', '.join(missing).capitalize()}: {NO_READER}",))
    relations = [r for r in bible.relations if profile.name in (r.source, r.target)]
    yield from render_relations(relations)
    for gap in profile.open_gaps:
        yield styled_line(
            StyledText(gap.id, "place"), f"  open question: {gap.attribute}", indent=2
        )


def render_element(element: "WorldElement") -> Iterator[StyledLine]:
    """Yield the lines of a world element: its types, descriptions and characters.

    Each is followed by the quotations that support it.
    """
    yield StyledLine(
        (StyledText(element.name, "strong"), _render_certainty(element.certainty))
    )
    for claim in element.element_types:
        yield from render_claim("type: ", claim)
    for claim in element.descriptions:
        yield from render_claim("", claim)
    if element.part_of:
        yield StyledLine((f"in: {element.part_of}",))
    if element.mentions:
        others = element.unquoted_mentions
        more = f", {others:,} more than are quoted here" if others else ""
        yield StyledLine((f"mentions: {element.mentions}{more}",))
    for claim in element.connected_characters:
        yield from render_claim("with: ", claim)


def render_claim(label: str, claim: "BibleClaim") -> Iterator[StyledLine]:
    """Yield a line with `label`, a fact's value and its certainty, then its quotations.

    `label` is printed unchanged, so it ends with ": " or is empty. For a decision of
    the user, "you decided" replaces the certainty.
    """
    certainty = "you decided" if claim.decided else str(claim.certainty)
    first_evidence = next(iter(claim.evidence), None)
    yield StyledLine(
        (label, shorten_excerpt(claim.value), _render_certainty(certainty)),
        2,
        first_evidence,
    )
    yield from render_evidence(claim.evidence, shown_value=claim.value)


def render_evidence(
    evidence: "Iterable[TextEvidence]", shown_value: str = ""
) -> Iterator[StyledLine]:
    """Yield a line with location and quotation for each passage in `evidence`.

    The quotation is left out if it equals `shown_value`, which the user sees already.
    """
    for text_evidence in evidence:
        words = shorten_excerpt(text_evidence.text)
        place = StyledText(
            sanitize_line(format_evidence_location(text_evidence)), "place"
        )
        is_repeated = words == shorten_excerpt(shown_value)
        yield StyledLine(
            (place, "" if is_repeated else f"  “{words}”"), 6, text_evidence
        )


def render_relations(
    relations: "Iterable[CharacterRelation]", *, shown: int | None = SHOWN_EVIDENCE
) -> Iterator[StyledLine]:
    """Yield a line for each relationship with its certainty, then its first `shown`
    quotations, all if None, and the number of the others.
    """
    for relation in relations:
        lead, description = format_relation(relation)
        first_evidence = next(iter(relation.evidence), None)
        yield StyledLine(
            (f"{lead}: {description}", _render_certainty(relation.certainty)),
            2,
            first_evidence,
        )
        yield from render_evidence(relation.evidence[:shown])
        if rest := len(relation.evidence[shown:]) if shown is not None else 0:
            yield styled_line(StyledText(f"and {rest} more", "faint"), indent=6)


def render_timeline(moments: "Iterable[TimelineMoment]") -> Iterator[StyledLine]:
    """Yield the lines of `moments`, in their order, under chapter headings."""
    for chapter, chapter_moments in groupby(
        moments, lambda moment: format_chapter_name(moment.evidence)
    ):
        yield styled_line(StyledText(chapter, "strong"))
        for moment in chapter_moments:
            yield from render_moment(moment)
        yield styled_line()


def describe_moment_kind(moment: "TimelineMoment") -> str:
    """Return the kind of a timeline entry in words: "dies (told, earlier)", "told"."""
    marks = [
        mark
        for mark, applies in (("told", moment.told), ("earlier", moment.earlier))
        if applies
    ]
    kind = moment.event_kind or str(moment.kind)
    return f"{kind} ({', '.join(marks)})" if marks else kind


def render_moment(moment: "TimelineMoment") -> Iterator[StyledLine]:
    """Yield the lines of a timeline entry: kind, text, characters and quotation."""
    characters = ", ".join(moment.characters)
    setting = " · ".join(filter(None, (moment.when, moment.where)))
    if moment.kind == "scene":
        yield StyledLine(
            (
                StyledText(f"scene {moment.evidence.scene}", "strong"),
                StyledText(f"  {setting}" if setting else "", "faint"),
                StyledText(f"  {characters}" if characters else "", "faint"),
            ),
            2,
            moment.evidence,
        )
        yield from render_evidence([moment.evidence])
        return
    yield StyledLine(
        (
            StyledText(f"{describe_moment_kind(moment)}  ", "faint"),
            shorten_excerpt(moment.text),
            StyledText(f"  {characters}" if characters else "", "faint"),
        ),
        2,
        moment.evidence,
    )
    yield from render_evidence([moment.evidence], shown_value=moment.text)


def render_quotes(quotes: "Iterable[AttributedQuote]") -> Iterator[StyledLine]:
    """Yield two lines for each quotation of dialogue: who speaks where, then the words.

    The first has the location, the speaker and, if known, the addressee, each with its
    own certainty.
    """
    for quote in quotes:
        certainty, heard = quote.evidence.certainty, quote.addressee_certainty
        speaker = f"  {quote.speaker or UNKNOWN_SPEAKER}{_note_certainty(certainty)}"
        if quote.addressee:
            speaker += f" to {quote.addressee}{_note_certainty(heard)}"
        place = sanitize_line(format_evidence_location(quote.evidence))
        pieces = StyledText(place, "place"), StyledText(speaker, "faint")
        yield StyledLine(pieces, 0, quote.evidence)
        yield StyledLine((f"“{quote.evidence.text}”",), 4, quote.evidence)


def _note_certainty(certainty: "Certainty") -> str:
    return "" if certainty is Certainty.NOT_EVALUATED else f" ({certainty})"


def render_recap(scenes: "Iterable[SceneSummary]") -> Iterator[StyledLine]:
    """Yield a summary of each of `scenes` under chapter headings, in their order.

    A scene without a summary by a language model shows its key sentences.
    """
    for (number, title), chapter_scenes in groupby(
        scenes, lambda summary: (summary.chapter, summary.chapter_title)
    ):
        name = f"Chapter {number}" if number else "Before chapter 1"
        titled = format_chapter_title(number, title)
        yield styled_line(StyledText(f"{name}{titled}", "strong"))
        for scene in chapter_scenes:
            yield from _render_scene(scene)
        yield styled_line()


def render_gap(gap: "Gap") -> Iterator[StyledLine]:
    """Yield the lines of an open question: id, attribute and state, then what is known.

    That is the user's answer; and the facts that define it now, or else what the text
    implies.
    """
    subject = f"{gap.about}: " if gap.about else ""
    yield styled_line(
        StyledText(gap.id, "place"),
        f"  {subject}{shorten_excerpt(gap.attribute)}",
        StyledText(
            f"  {gap.state}{', asked in a thread' if gap.asked_in_thread else ''}",
            "faint",
        ),
    )
    if gap.answer:
        yield styled_line(f"your answer: {gap.answer}", indent=6)
    if gap.state is GapState.CLOSED:
        yield styled_line("now defined in the text:", indent=6)
        for claim in gap.defined:
            yield from render_claim("", claim)
    else:
        yield from _render_gap_hints(gap)


def format_other_names(profile: "CharacterProfile") -> str:
    """Return the aliases of a character without the main name, joined by commas."""
    return ", ".join(f.name for f in profile.aliases if f.name != profile.name)


def format_first_location(profile: "CharacterProfile") -> str:
    """Return the location where a character is first named; empty if unknown."""
    first = profile.first_seen
    return sanitize_line(format_evidence_location(first)) if first is not None else ""


def format_mention_count(profile: "CharacterProfile") -> str:
    """Return how often the text names a character: "once", "12 times"."""
    return "once" if profile.mentions == 1 else f"{profile.mentions:,} times"


def describe_element(element: "WorldElement") -> str:
    """Return the distinct types of a world element, joined by commas; empty if none."""
    return ", ".join(dict.fromkeys(claim.value for claim in element.element_types))


def describe_all_present(chapter: int) -> str:
    """Return that no character is absent after `chapter`, without a full stop."""
    return f"Everybody appears after chapter {chapter}"


def explain_model_setup(bible: "Bible", settings: "Settings") -> str:
    """Return what fills an empty story bible: how many documents are not ingested yet,
    and the `lrwr ingest` command.

    Empty if every document was already ingested with pipeline b.
    """
    if not (bible.unread or bible.waiting):
        return ""
    is_agentic = settings.pipeline is Pipeline.AGENTIC
    command = f"lrwr ingest{'' if is_agentic else ' --pipeline b'}"
    if not bible.waiting:
        return f"Run `{command}` to analyse your story."
    verb = "is" if bible.waiting == 1 else "are"
    documents = format_count(bible.waiting, "document")
    return f"{documents} {verb} not ingested yet. Run `{command}` to go on."


def describe_nothing_known(statement: str, as_of: str | None, remedy: str) -> str:
    """Return the message for an empty list: `statement`, the horizon, then `remedy`.

    `statement` has no full stop, such as "No characters found". `as_of` is the horizon
    as typed, None for the whole story. `remedy` is a sentence, or empty.
    """
    until = "" if as_of is None else f" up to {format_horizon(as_of)}"
    return f"{statement}{until}. {remedy}".rstrip()


def describe_not_evaluated(bible: "Bible", topic: str) -> str:
    """Return that `topic` is not analysed, because it needs a language model.

    Empty if a language model analysed the manuscript.
    """
    return "" if bible.readers else f"{topic}: {NO_READER}"


def _render_introduction(profile: "CharacterProfile") -> Iterator[StyledLine]:
    if other_names_text := format_other_names(profile):
        yield StyledLine((f"also called {other_names_text}",), 2)
    phrases = [f"mentioned {format_mention_count(profile)}"]
    if profile.gender_certainty is not Certainty.NOT_EVALUATED:
        phrases.append(f"gender: {profile.gender} ({profile.gender_certainty})")
    if profile.narrator:
        phrases.append("narrator")
    if profile.because:
        phrases.append(f"counted as a character because: {profile.because}")
    yield StyledLine(("; ".join(phrases),), 2)
    if profile.first_seen is not None:
        place = StyledText(format_first_location(profile), "place")
        chapter = StyledText(f"  {format_chapter_name(profile.first_seen)}", "faint")
        yield StyledLine(("first seen: ", place, chapter), 2, profile.first_seen)


def _render_appearances(
    profile: "CharacterProfile", bible: "Bible"
) -> Iterator[StyledLine]:
    """Yield a line with the chapters in which a character acts or speaks."""
    scenes = [scene for scene in bible.scenes if profile.name in scene.present]
    if not scenes:
        return
    last, chapters = scenes[-1], _join_ranges([scene.chapter for scene in scenes])
    place = f"{sanitize_line(last.document)}:{last.lines.first}"
    yield styled_line(
        f"acts or speaks in {chapters}; last in {format_scene_point(last)}  ",
        StyledText(place, "place"),
        indent=2,
    )


def _join_ranges(numbers: Iterable[int]) -> str:
    """Return ascending chapter numbers as "ch1-3, ch7"."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number <= ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(
        f"ch{first}" if first == last else f"ch{first}-{last}" for first, last in ranges
    )


def _render_scene(scene: "SceneSummary") -> Iterator[StyledLine]:
    first, last = scene.lines.first, scene.lines.last
    views = [format_point_of_view(claim) for claim in scene.points_of_view]
    phrases = [f"scene {scene.scene}"]
    phrases += [f"point of view: {', '.join(views)}"] if views else []
    phrases += [f"with {', '.join(scene.present)}"] if scene.present else []
    yield styled_line(
        StyledText(f"{sanitize_line(scene.document)}:{first}-{last}", "place"),
        StyledText(f"  {'; '.join(phrases)}", "faint"),
        indent=2,
    )
    for claim in scene.recap:
        yield styled_line(
            claim.value, StyledText(f"  {claim.certainty}", "faint"), indent=4
        )
    if not scene.recap:
        for sentence in scene.key_sentences:
            yield StyledLine((f"“{shorten_excerpt(sentence.text)}”",), 4, sentence)


def format_point_of_view(claim: "BibleClaim") -> str:
    """Return who has a point of view, and how certain a guess is."""
    return claim.value if claim.decided else f"{claim.value} ({claim.certainty})"


def _first_element_location(element: "WorldElement") -> str:
    parts = (element.element_types, element.descriptions, element.connected_characters)
    evidence = [
        text_evidence
        for claims in parts
        for claim in claims
        for text_evidence in claim.evidence
    ]
    return sanitize_line(format_evidence_location(evidence[0])) if evidence else ""


def _render_certainty(certainty: str) -> StyledText:
    return StyledText(f"  {certainty}", "faint")


def _render_gap_hints(gap: "Gap") -> Iterator[StyledLine]:
    for text in list_gap_implications(gap):
        yield styled_line(f"implied: {shorten_excerpt(text)}", indent=6)
    for text in gap.suggestions:
        yield styled_line(f"suggestion: {shorten_excerpt(text)}", indent=6)
    for claim in gap.implied:
        yield from render_evidence(claim.evidence, shown_value=gap.attribute)


def render_neighbors(neighbors: Sequence[Neighbor]) -> Iterator[StyledLine]:
    """Yield a line for each connection, then their number."""
    for neighbor in neighbors:
        indent = 2 * (neighbor.distance - 1)
        via = f" (through {neighbor.through.name})" if neighbor.distance > 1 else ""
        yield styled_line(
            sanitize_line(shorten_excerpt(neighbor.node.name)),
            StyledText(f"  {describe_edge(neighbor)}{via}  ", "faint"),
            StyledText(sanitize_line(neighbor.edge.place), "place"),
            indent=indent,
        )
    names = {neighbor.node.id for neighbor in neighbors}
    yield styled_line(f"{format_count(len(names), 'name')}.")
