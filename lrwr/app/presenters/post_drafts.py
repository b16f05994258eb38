"""Drafts of texts about the story, as text and JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import ndiff

from lrwr.app.post_drafts import PostDrafting, PostEstimate, PostPlan
from lrwr.app.post_files import PostEvidence, StoredPost
from lrwr.app.posts import AnchoredPost
from lrwr.app.presenters.text import (
    StyledLine,
    StyledTable,
    StyledText,
    Tone,
    format_age,
    format_count,
    format_horizon,
    format_tokens_and_price,
    sanitize_line,
    shorten_excerpt,
    styled_line,
)
from lrwr.core.evidence.drafts import count_post_words, describe_gap, format_source
from lrwr.core.evidence.kinds import KIND_RULES
from lrwr.core.evidence.pack import (
    AnchoredFact,
    EvidenceFact,
    QuoteState,
    mark_cut,
)
from lrwr.core.evidence.revision import SentenceRevision
from lrwr.core.model.language_model import Usage

SHOWN_DOCUMENTS = 5
SHOWN_LINES = 6
_NEEDS_LOOK = (QuoteState.CHANGED, QuoteState.GONE)


def render_drafting(drafting: PostDrafting) -> Iterator[StyledLine]:
    """Yield the lines of new drafts: text, revisions, what is missing, files."""
    for post in drafting.posts:
        yield styled_line(post.text.rstrip())
        yield styled_line()
        yield from render_revisions(post.evidence.revisions)
    if drafting.model:
        yield from render_gaps(drafting)
    yield from _render_counts(drafting)
    for post in drafting.posts:
        yield styled_line(StyledText(str(post.file), "place"))


def _render_counts(drafting: PostDrafting) -> Iterator[StyledLine]:
    pack, check = drafting.result.pack, drafting.result.check
    own = sum(fact.source.is_own for fact in pack.facts)
    facts = f"{format_count(len(pack.facts), 'fact')}, {own:,} from your text"
    dropped = (
        f"; {format_count(pack.dropped, 'other')} dropped, because the quotation is not"
        " in the source"
    )
    yield styled_line(f"{facts}{dropped if pack.dropped else ''}.")
    if drafting.model and check.unjudged:
        count = format_count(len(check.unjudged), "sentence")
        yield styled_line(
            f"{count} checked by rules only: the model gave no verdict with a quotation"
            " that stands in a source and tells of them."
        )
        for text in check.unjudged:
            yield styled_line(f"- {sanitize_line(text)}", indent=2)


def render_revisions(revisions: Sequence[SentenceRevision]) -> Iterator[StyledLine]:
    """Yield each sentence that the check changed, with the reason and what it became."""
    if revisions:
        yield styled_line(StyledText("Changed after the check:", "strong"))
    for revision in revisions:
        yield styled_line(
            StyledText(f"- {sanitize_line(revision.before)}", "bad"), indent=2
        )
        if revision.after:
            yield styled_line(
                StyledText(f"+ {sanitize_line(revision.after)}", "good"), indent=2
            )
        reason = revision.reason if revision.after else f"left out: {revision.reason}"
        yield styled_line(StyledText(reason, "faint"), indent=4)
    if revisions:
        yield styled_line()


def render_gaps(drafting: PostDrafting) -> Iterator[StyledLine]:
    """Yield what the evidence lacks, a line for each gap."""
    brief = drafting.posts[0].evidence.brief if drafting.posts else ""
    gaps = drafting.result.pack.gaps
    if not gaps:
        return
    yield styled_line(StyledText("What your text cannot tell:", "strong"))
    for gap in gaps:
        yield styled_line(sanitize_line(describe_gap(gap, brief)), indent=2)
    yield styled_line()


def describe_changed_quotations(
    facts: Sequence[AnchoredFact], changed: Sequence[str]
) -> str:
    """Return a sentence about documents that have changed since the last ingest and the
    quotations that are not in them any more; empty if nothing has changed.
    """
    gone = [f"[{f.fact.number}]" for f in facts if f.state in _NEEDS_LOOK]
    lost = f"The text has changed at the quotations {', '.join(gone)}." if gone else ""
    return " ".join(filter(None, (describe_changed_documents(changed), lost)))


def describe_changed_documents(changed: Sequence[str]) -> str:
    """Return a sentence about files that have changed since the last ingest; empty for
    none.
    """
    if not changed:
        return ""
    names = ", ".join(map(sanitize_line, changed[:SHOWN_DOCUMENTS]))
    more = len(changed) - SHOWN_DOCUMENTS
    names += f" and {more:,} more" if more > 0 else ""
    has = "has" if len(changed) == 1 else "have"
    return (
        f"{names} {has} changed since the last ingest; quotations are compared with the"
        " text as it is now. Run `lrwr ingest`."
    )


def render_stored_post(
    post: StoredPost, facts: Sequence[AnchoredFact]
) -> Iterator[StyledLine]:
    """Yield a draft and its evidence, with the present places of quotations."""
    yield styled_line(post.text.rstrip())
    yield styled_line()
    yield styled_line(StyledText("Evidence:", "strong"))
    for anchored in facts:
        yield from _render_fact(anchored)
    yield styled_line()
    yield from render_revisions(post.evidence.revisions)
    yield styled_line(describe_post(post))
    yield styled_line(StyledText(str(post.file), "place"))


def render_undo(undone: StoredPost, post: StoredPost) -> Iterator[StyledLine]:
    """Yield what going back from the draft `undone` to its version `post` changed."""
    yield styled_line(
        StyledText(str(post.file), "place"), f": back to {describe_post(post)}"
    )
    is_edit = undone.evidence == post.evidence
    what = "your edits" if is_edit else describe_origin(undone.evidence)
    lines = [
        line
        for line in ndiff(undone.text.split("\n"), post.text.split("\n"))
        if line[:2] in ("- ", "+ ") and line[2:].strip()
    ]
    counts = Counter(line[0] for line in lines)
    yield styled_line(
        f"Undone: {what}; {format_count(counts['-'], 'line')} removed,"
        f" {format_count(counts['+'], 'line')} restored."
    )
    for line in lines[:SHOWN_LINES]:
        tone: Tone = "bad" if line[0] == "-" else "good"
        text = f"{line[:2]}{shorten_excerpt(line[2:])}"
        yield styled_line(StyledText(text, tone), indent=2)
    if len(lines) > SHOWN_LINES:
        yield styled_line(f"… and {len(lines) - SHOWN_LINES:,} more", indent=2)


def describe_origin(evidence: PostEvidence) -> str:
    """Return what a draft is, in a clause: "the newsletter “The lantern”, an outline"."""
    origin = f"written with {evidence.model}" if evidence.model else "an outline"
    name = KIND_RULES[evidence.kind].name
    return f"the {name} “{shorten_excerpt(evidence.brief)}”, {origin}"


def _render_fact(anchored: AnchoredFact) -> Iterator[StyledLine]:
    fact, state = anchored.fact, anchored.state
    tone: StyledText | str = ""
    if state in _NEEDS_LOOK or state is QuoteState.MOVED:
        tone = StyledText(
            f"  {state.value}", "bad" if state in _NEEDS_LOOK else "faint"
        )
    yield styled_line(
        f"[{fact.number}] {sanitize_line(fact.statement)} ({fact.certainty.value})",
        tone,
        indent=2,
    )
    yield styled_line(
        StyledText(sanitize_line(format_source(fact.source)), "place"),
        f"  “{shorten_excerpt(mark_cut(fact))}”",
        indent=4,
    )


def describe_post(post: StoredPost) -> str:
    """Return the kind of a draft, its horizon and its versions in a sentence."""
    evidence = post.evidence
    kind = KIND_RULES[evidence.kind].name.capitalize()
    until = (
        f"up to {format_horizon(evidence.as_of)}"
        if evidence.as_of
        else "about the whole story"
    )
    origin = f"written with {evidence.model}" if evidence.model else "an outline"
    return f"{kind} {until}, {origin}; {format_count(post.versions, 'version')}."


def build_post_table(posts: Sequence[StoredPost], now: float) -> StyledTable:
    """Return a table of drafts; `now` is in seconds since 1970."""
    rows = [
        (
            post.name,
            KIND_RULES[post.evidence.kind].name,
            post.evidence.as_of or "whole",
            f"{count_post_words(post.text):,}",
            format_age(max(0.0, now - post.changed)),
            shorten_excerpt(post.evidence.brief),
        )
        for post in posts
    ]
    headings = ("name", "kind", "up to", "words", "changed", "brief")
    return StyledTable(headings, rows, ("words",))


def render_post_plan(
    plan: PostPlan, estimate: PostEstimate | None
) -> Iterator[StyledLine]:
    """Yield what drafting would use: sources, what a web search would send, and what the
    calls of a language model take; None for an outline.
    """
    yield styled_line(StyledText("Your text:", "strong"))
    for source in plan.sources:
        yield styled_line(
            StyledText(sanitize_line(format_source(source)), "place"),
            f"  “{shorten_excerpt(source.text)}”",
            indent=2,
        )
    if not plan.sources:
        yield styled_line("nothing found", indent=2)
    for doubt in plan.doubts:
        yield styled_line(StyledText(sanitize_line(doubt), "bad"))
    queries = ", ".join(f"“{query}”" for query in plan.queries)
    yield styled_line(f"With --web, lrwr would search for: {queries or 'nothing'}.")
    if estimate is None:
        yield styled_line("No language model would be asked: it would be an outline.")
    else:
        usage = estimate.usage
        calls = format_count(usage.calls, "call")
        tokens = format_tokens_and_price(usage, estimate.cost, about=True)
        yield styled_line(
            f"{sanitize_line(estimate.model)} would need {calls}: {tokens}. Up to three"
            " more if the draft is too short or sentences are flagged."
        )
    yield styled_line("Nothing was sent or written.")


def post_as_json(
    post: StoredPost, anchored: AnchoredPost | None = None
) -> dict[str, object]:
    """Return a draft as JSON; `anchored` are its facts at their present places."""
    evidence = post.evidence
    return {
        "name": post.name,
        "file": str(post.file),
        "text": post.text,
        "versions": post.versions,
        **post_evidence_as_json(evidence),
        "facts": [
            {**fact_as_json(present.fact), "state": present.state}
            for present in (anchored.facts if anchored else ())
        ]
        or [fact_as_json(fact) for fact in evidence.pack.facts],
        **({"changed_files": list(anchored.changed)} if anchored else {}),
    }


def post_evidence_as_json(evidence: PostEvidence) -> dict[str, object]:
    """Return the evidence of a draft as JSON, without its facts."""
    return {
        "kind": evidence.kind,
        "brief": evidence.brief,
        "as_of": evidence.as_of or None,
        "platform": evidence.platform or None,
        "model": evidence.model or None,
        "gaps": [
            {"kind": gap.kind, "need": gap.need, "topic": gap.topic}
            for gap in evidence.pack.gaps
        ],
        "queries": list(evidence.pack.queries),
        "dropped": evidence.pack.dropped,
        "revisions": [
            {"before": r.before, "after": r.after, "reason": r.reason}
            for r in evidence.revisions
        ],
        "remarks": list(evidence.remarks),
    }


def fact_as_json(fact: EvidenceFact) -> dict[str, object]:
    """Return a fact with its source as JSON."""
    source = fact.source
    place: dict[str, object] = (
        {
            "file": source.document,
            "lines": [source.lines.first, source.lines.last],
            "chapter": source.chapter,
        }
        if source.is_own
        else {
            "url": source.url,
            "title": source.title,
            "author": source.author,
            "published": source.published,
        }
    )
    return {
        "number": fact.number,
        "statement": fact.statement,
        "quote": fact.quote,
        "certainty": fact.certainty,
        **place,
    }


def drafting_as_json(drafting: PostDrafting) -> dict[str, object]:
    """Return new drafts as JSON, with what the language models used."""
    usage, check = drafting.usage, drafting.result.check
    return {
        "drafts": [post_as_json(post) for post in drafting.posts],
        "model": drafting.model or None,
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": drafting.cost,
        "supported": check.supported,
        "checked_by_rules_only": len(check.unjudged),
    }


def plan_as_json(
    plan: PostPlan, estimate: PostEstimate | None = None
) -> dict[str, object]:
    """Return what drafting would use as JSON."""
    usage = estimate.usage if estimate else Usage()
    return {
        "sources": [
            {"place": format_source(source), "text": source.text}
            for source in plan.sources
        ],
        "queries": list(plan.queries),
        "doubts": list(plan.doubts),
        "model": estimate.model if estimate else None,
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "usd": estimate.cost if estimate else None,
    }
