"""Boards, briefs and checked drafts of scenes as text and JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence

from lrwr.app.draft_check import CheckedScene
from lrwr.app.draft_decisions import LedgerRow
from lrwr.app.drafts import SceneState, SceneStatus
from lrwr.app.presenters.contradictions import (
    contradiction_as_json,
    render_contradictions,
)
from lrwr.app.presenters.story_json import evidence_as_json
from lrwr.app.presenters.text import (
    LinePiece,
    StyledLine,
    StyledTable,
    StyledText,
    format_count,
    sanitize_line,
    shorten_excerpt,
    styled_line,
)
from lrwr.core.drafting.board import SceneCard, spell_horizon
from lrwr.core.drafting.brief import Brief, count_brief_tokens
from lrwr.core.drafting.findings import DraftFinding, NewFact
from lrwr.core.drafting.plan_questions import PlanQuestion, TidyHint
from lrwr.core.drafting.style import VoiceDistance

SHOWN_FACTS = 12
"""Facts of a draft that are shown, unless all are."""

FAR = 0.95
"""Share of the writer's own passages that are nearer, from which a draft is far."""


def render_board_status(
    statuses: Sequence[SceneStatus],
) -> Iterator[StyledLine | StyledTable]:
    """Yield a table with a row for each scene of a board, and a line that counts them."""
    rows: list[list[LinePiece]] = [
        [
            status.card.id,
            status.card.title,
            status.card.pov,
            f"{status.card.words:,}" if status.card.words else "",
            describe_state(status),
            StyledText(str(status.card.at or ""), "place"),
        ]
        for status in statuses
    ]
    headings = ["Scene", "Title", "Point of view", "Words", "State", "File"]
    yield StyledTable(headings, rows, right={"Words"})
    counts = Counter(status.state for status in statuses)
    parts = [f"{counts[state]:,} {state}" for state in SceneState if counts[state]]
    total = format_count(len(statuses), "scene")
    yield styled_line(f"{total}: {', '.join(parts)}." if parts else f"{total}.")


def scene_status_as_json(status: SceneStatus) -> dict[str, object]:
    """Return a scene of the board as JSON: its card, state and proposals."""
    return {
        **card_as_json(status.card),
        "state": status.state,
        "proposals": status.proposals,
    }


def render_card(status: SceneStatus) -> Iterator[StyledLine]:
    """Yield the lines of a card: title, state, and the fields that are filled in."""
    card = status.card
    yield styled_line(
        StyledText(sanitize_line(card.title), "strong"),
        StyledText(f"  {card.id}  {describe_state(status)}", "faint"),
    )
    fields = {
        "part": card.part,
        "chapter": card.chapter,
        "point of view": card.pov,
        "people": ", ".join(card.people),
        "place": card.place,
        "words": f"{card.words:,}" if card.words else "",
    }
    for name, value in fields.items():
        if value:
            yield styled_line(f"{name}: {sanitize_line(value)}", indent=2)
    if card.summary:
        yield styled_line(sanitize_line(card.summary), indent=2)
    for beat in card.beats:
        yield styled_line(f"- {sanitize_line(beat)}", indent=2)


def card_as_json(card: SceneCard) -> dict[str, object]:
    """Return a card as JSON; fields that it leaves out are None or empty."""
    return {
        "id": card.id,
        "title": card.title,
        "part": card.part or None,
        "chapter": card.chapter or None,
        "pov": card.pov or None,
        "people": card.people,
        "place": card.place or None,
        "words": card.words or None,
        "file": card.at.file if card.at else None,
        "lines": [card.at.first, card.at.last] if card.at and card.at.first else None,
        "summary": card.summary or None,
        "beats": card.beats,
        "line": card.line,
    }


def brief_as_json(brief: Brief) -> dict[str, object]:
    """Return a brief as JSON: the card, the horizon, and the numbered `items`.

    `tokens` are those that the text of the brief has, about four characters each;
    `limit` is what was asked for.
    """
    return {
        "scene": card_as_json(brief.card),
        "horizon": spell_horizon(brief.horizon),
        "tokens": count_brief_tokens(brief),
        "limit": brief.tokens,
        "left_out": brief.left_out,
        "items": [
            {
                "number": number,
                "section": item.section,
                "text": item.text,
                "place": item.place or None,
                "chapter": item.evidence.chapter if item.evidence else None,
                "scene": item.evidence.scene if item.evidence else None,
            }
            for number, item in enumerate(brief.items, start=1)
        ],
    }


def describe_state(status: SceneStatus) -> str:
    """Return where a scene stands, and how many drafts it has."""
    if not status.proposals:
        return status.state
    proposals = format_count(len(status.proposals), "proposal")
    if status.state is SceneState.PROPOSED:
        return proposals
    return f"{status.state}, {proposals}"


def render_checked_scene(
    checked: CheckedScene, *, every: bool = False
) -> Iterator[StyledLine]:
    """Yield the lines of a checked draft: contradictions, findings, what it makes known
    and how it sounds. With `every`, all that it makes known.
    """
    chapter = (
        "as a note" if checked.chapter is None else f"as chapter {checked.chapter}"
    )
    rejected = "rejected, " if checked.is_rejected else ""
    moves = "; later chapters are numbered one higher" if checked.moves_chapters else ""
    yield styled_line(
        StyledText(f"{checked.name}, {rejected}{chapter}{moves}", "strong")
    )
    yield styled_line()
    yield from render_contradictions(checked.contradictions)
    for finding in checked.report.findings:
        yield from _render_finding(finding, checked.name)
    facts = checked.report.new_facts
    if facts:
        yield styled_line(StyledText("It would make known:", "strong"))
        for fact in facts if every else facts[:SHOWN_FACTS]:
            yield from _render_fact(fact, checked.name)
        left_out = 0 if every else len(facts) - SHOWN_FACTS
        if left_out > 0:
            yield styled_line(f"and {left_out:,} more (--all)", indent=2)
    if checked.report.voice is not None:
        yield styled_line(describe_voice(checked.report.voice))
    yield styled_line(describe_compared(checked))
    yield styled_line(f"{describe_finding_counts(checked)}.")


def describe_finding_counts(checked: CheckedScene) -> str:
    """Return how many findings of each kind a draft has, such as "2 findings (1 number,
    1 card)". Lists of new names are not counted.
    """
    findings = (f for f in checked.report.findings if f.needs_author)
    counts = Counter(finding.kind.value for finding in findings)
    contradictions = len(checked.contradictions)
    total = format_count(contradictions + counts.total(), "finding")
    kinds = [f"{count} {kind}" for kind, count in counts.items()]
    if contradictions:
        kinds.insert(0, format_count(contradictions, "contradiction"))
    return f"{total} ({', '.join(kinds)})" if kinds else total


def is_for_author(finding: DraftFinding) -> bool:
    """Return whether a finding asks for a decision that no model makes: no revision gets
    it.
    """
    return finding.is_remark and finding.needs_author


def _render_finding(finding: DraftFinding, name: str) -> Iterator[StyledLine]:
    first = f":{finding.lines.first}" if finding.lines else ""
    yield styled_line(
        StyledText(f"{sanitize_line(name)}{first}", "place"),
        StyledText(f"  {finding.kind}: ", "bad" if finding.needs_author else "faint"),
        sanitize_line(finding.text),
        StyledText("  for you" if is_for_author(finding) else "", "faint"),
    )
    if finding.quote:
        yield styled_line(f"“{shorten_excerpt(finding.quote)}”", indent=6)
    if finding.place:
        yield styled_line(StyledText(sanitize_line(finding.place), "place"), indent=6)


def _render_fact(fact: NewFact, name: str) -> Iterator[StyledLine]:
    yield styled_line(
        f"{sanitize_line(fact.about)}: {sanitize_line(fact.text)}  ",
        StyledText(f"{sanitize_line(name)}:{fact.evidence.lines.first}", "place"),
        indent=2,
    )


def describe_compared(checked: CheckedScene) -> str:
    """Return a sentence on what of a draft was compared with the story, and what was
    not.
    """
    numbers = format_count(checked.report.compared_counts, "number")
    passages = format_count(checked.reviewed_passages, "passage")
    rest = (
        f"{checked.reviewed_by} compared it with the brief and {passages} about the same,"
        " not with the whole story."
        if checked.reviewed_by
        else "What else the draft says of the story was not."
    )
    return (
        f"Compared with the story: names, facts that lrwr recognizes, and {numbers} of"
        f" things that it has, too. {rest}"
    )


def describe_voice(voice: VoiceDistance) -> str:
    """Return a sentence on how far a draft is from the writer's own passages."""
    traits = ", ".join(
        f"{trait.name} {trait.draft:.3g} instead of {trait.own:.3g}"
        for trait in voice.traits
    )
    share = f"{voice.farther:.0%} of your own passages of this length are nearer to"
    far = f": {traits}" if voice.farther >= FAR else ""
    return f"Voice: {share} your average{far}."


def checked_scene_as_json(checked: CheckedScene) -> dict[str, object]:
    """Return a checked draft as JSON: its contradictions, findings and new facts.

    `voice` is None for a short draft or a short book; see docs/drafting.md.
    """
    voice = checked.report.voice
    return {
        "file": checked.name,
        "chapter": checked.chapter,
        "needs_author": checked.needs_author,
        "contradictions": [
            contradiction_as_json(contradiction)
            for contradiction in checked.contradictions
        ],
        "findings": [
            {
                "kind": finding.kind,
                "text": finding.text,
                "lines": [finding.lines.first, finding.lines.last]
                if finding.lines
                else None,
                "quote": finding.quote or None,
                "place": finding.place or None,
            }
            for finding in checked.report.findings
        ],
        "new_facts": [
            {
                "about": fact.about,
                "text": fact.text,
                "evidence": evidence_as_json(fact.evidence),
            }
            for fact in checked.report.new_facts
        ],
        "compared_numbers": checked.report.compared_counts,
        "reviewed_by": checked.reviewed_by or None,
        "voice": {
            "distance": voice.distance,
            "farther": voice.farther,
            "traits": voice.traits,
        }
        if voice
        else None,
    }


def render_ledger(rows: Sequence[LedgerRow]) -> Iterator[StyledTable]:
    """Yield a table with a row for each draft."""
    table: list[list[LinePiece]] = [
        [
            row.entry.key,
            row.entry.decision,
            StyledText(row.entry.file, "place"),
            row.entry.model or "you",
            "" if row.standing is None else f"{row.standing:.0%}",
        ]
        for row in rows
    ]
    headings = ["Draft", "State", "File", "Written by", "Still stands"]
    yield StyledTable(headings, table, right={"Still stands"})


def ledger_row_as_json(row: LedgerRow) -> dict[str, object]:
    """Return a draft of the ledger as JSON; `standing` is the share of its words that its
    file still has, None if it is no file now. `at` is None if the time is unknown.
    """
    return {
        "draft": row.entry.key,
        "state": row.entry.decision,
        "file": row.entry.file or None,
        "model": row.entry.model or None,
        "at": row.entry.at or None,
        "standing": row.standing,
    }


def render_plan_questions(questions: Sequence[PlanQuestion]) -> Iterator[StyledLine]:
    """Yield a line for each question, with the place for its answer."""
    for question in questions:
        yield styled_line(
            StyledText(f"{sanitize_line(question.about)}: ", "strong"),
            f"{sanitize_line(question.text)}  ",
            StyledText(sanitize_line(question.place), "place"),
        )
    yield styled_line(f"{format_count(len(questions), 'open question')}.")


def render_tidy_hints(hints: Sequence[TidyHint]) -> Iterator[StyledLine]:
    """Yield two lines for each hint: what may be tidied up, and how."""
    for hint in hints:
        yield styled_line(f"{sanitize_line(hint.text)}:")
        yield styled_line(StyledText(sanitize_line(hint.remedy), "place"), indent=2)
    yield styled_line(f"{format_count(len(hints), 'hint')}.")
