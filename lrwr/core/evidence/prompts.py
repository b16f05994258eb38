"""Prompts that let a language model draft texts about the story, and their replies."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from lrwr.core.attribution.details import stem_words
from lrwr.core.evidence.drafts import DraftPart, DraftSentence, PostDraft, format_source
from lrwr.core.evidence.kinds import KIND_RULES, GapKind, PostGap, PostKind
from lrwr.core.evidence.limits import LIMITS, Platform
from lrwr.core.evidence.pack import (
    MAX_QUOTE_WORDS,
    EvidenceFact,
    EvidencePack,
    FactCertainty,
    FactProposal,
)
from lrwr.core.evidence.sources import EvidenceSource
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.ports.models import ChatMessage, ReplyShape
from lrwr.core.web.citations import strip_mark_lookalikes

MAX_SEARCHES = 4
MAX_GAPS = 8
MAX_NEED_CHARS = 120
MAX_SENTENCE_CHARS = 600
SHOWN_SOURCE_CHARS = 2_100
"""Characters of one source in a prompt; hardly a passage of the author is longer."""

_GAP_KINDS = {
    "number": GapKind.NUMBER,
    "authority": GapKind.AUTHORITY,
    "recent": GapKind.RECENT,
    "background": GapKind.BACKGROUND,
    "comparable": GapKind.COMPARABLE,
    "picture": GapKind.PICTURE,
    "author": GapKind.AUTHOR,
}

_GAPS_TASK = """\
You plan {a_name} about a novel for its author. You get the author's brief and passages \
of the novel or of its notes that a search found.
searches: at most 4 short searches of the novel for what the brief needs and the \
passages lack; none if they are enough.
gaps: at most 8 things that the {name} needs and the novel cannot give: a number or \
date, an authority, a recent development, background, a comparable title, a picture, or \
something only the author can say. need: what, in at most 12 words. topic: what to \
search the web for, in general words of the world outside the novel, never a name or a \
sentence from the passages; empty for picture and author.
"""

_PACK_TASK = """\
You collect evidence for {a_name} about a novel. You get the author's brief and \
numbered sources: passages of the novel, the author's notes, pages of the web. Return 5 \
to {facts} facts that the brief needs, those of the novel first.
source: the number of the source that says it.
fact: one plain sentence. What a character says, believes or dreams is only that.
quote: the words that show it, 3 to {quote_words}, copied letter by letter from \
that source.
certainty: stated if the words say it, implied if it follows from them.
"""

_WRITE_TASK = """\
You write {a_name} about a novel, for its author to revise. Readers: {audience}. \
{advice}
Length: {length}.
Use only the numbered facts and the brief. Every sentence that says something about the \
story or the world names the numbers of the facts it rests on, a question about what \
happened too; a greeting, an invitation, or what only the brief says names none, and \
promises and praises nothing. Do not invent names, numbers, quotations or events, and do \
not go beyond a fact. Quote only words that stand in a quotation, between “ and ”, \
letter by letter. No superlatives, no praise of the book, no placeholders, no numbers \
in brackets: the numbers go into `facts`.
variants: {variants}. title: empty for a thread. parts: {parts}; each has its sentences \
in order.
"""

_REPAIR_TASK = """\
A check flagged sentences of {a_name} about a novel. For each, write one sentence that \
the numbered facts support, as short as the old one, with the numbers of its facts; \
leave the text empty to drop it. Keep the wording where it is not at fault, and do not \
repeat what the sentences before and after it say. No superlatives, no new names, \
numbers or quotations.
"""

_SENTENCE_BREAK = re.compile(r"[.!?…][”\"’)]*\s+")


@dataclass(frozen=True, slots=True)
class GapAnalysis:
    """What a language model finds missing: further searches of the library, and gaps."""

    searches: tuple[str, ...] = ()
    gaps: tuple[PostGap, ...] = ()


@dataclass(frozen=True, slots=True)
class WritingRequest:
    """What to write: `parts` 0 is as many as the kind has, `platform` None for none.

    `title` is that of the book, empty if unknown; `length` is the number of words of the
    manuscript, 0 if the text does not need it.
    """

    brief: str
    kind: PostKind
    platform: Platform | None = None
    variants: int = 1
    parts: int = 0
    title: str = ""
    length: int = 0

    @property
    def about_book(self) -> str:
        """A line for what is known of the book as a book; empty for nothing."""
        title = f"Title of the book: {self.title}" if self.title else ""
        length = f"The manuscript has {self.length:,} words." if self.length else ""
        return "\n".join(filter(None, (title, length)))

    @property
    def limit_of_parts(self) -> int:
        """The number of parts asked for; 0 if a paragraph more or less is no matter."""
        rules = KIND_RULES[self.kind]
        return self.parts or (rules.parts if rules.is_thread else 0)


@dataclass(frozen=True, slots=True)
class FlaggedSentence:
    """A sentence of a draft, and why a check flagged it."""

    sentence: DraftSentence
    reason: str


def build_gap_messages(
    request: WritingRequest, sources: Sequence[EvidenceSource]
) -> list[ChatMessage]:
    """Return the prompt that asks what is missing."""
    rules = KIND_RULES[request.kind]
    task = _GAPS_TASK.format(name=rules.name, a_name=rules.name_with_article)
    return _build_messages(task, request.brief, _list_sources(sources, request.brief))


def build_pack_messages(
    request: WritingRequest, sources: Sequence[EvidenceSource]
) -> list[ChatMessage]:
    """Return the prompt that asks for facts with quotations."""
    rules = KIND_RULES[request.kind]
    task = _PACK_TASK.format(
        a_name=rules.name_with_article, facts=rules.facts, quote_words=MAX_QUOTE_WORDS
    )
    return _build_messages(task, request.brief, _list_sources(sources, request.brief))


def build_writing_messages(
    request: WritingRequest, pack: EvidencePack
) -> list[ChatMessage]:
    """Return the prompt that asks for a draft."""
    rules = KIND_RULES[request.kind]
    low, high = rules.words
    parts = request.parts or rules.parts
    length = f"{low} to {high} words"
    unit = f"about {parts} paragraphs"
    if rules.is_thread:
        limit = LIMITS[request.platform or Platform.X].characters
        unit = f"{parts} posts at most"
        length = f"each post at most {limit} characters, better {limit - 20}"
    task = _WRITE_TASK.format(
        a_name=rules.name_with_article,
        audience=rules.audience.value,
        advice=rules.advice,
        length=length,
        variants=_describe_variants(request.variants),
        parts=unit,
    )
    blocks = [*_list_book(request), *_list_facts(pack.facts)]
    return _build_messages(task, request.brief, blocks)


def _list_book(request: WritingRequest) -> list[tuple[str, str]]:
    about = request.about_book
    return [("brief, about the book", about)] if about else []


def build_longer_messages(
    messages: Sequence[ChatMessage], drafts: Sequence[PostDraft], words: int
) -> list[ChatMessage]:
    """Return the prompt `messages` with its reply, `drafts`, and a request for texts of at
    least `words` words.
    """
    reply = {"variants": [_encode_draft(draft) for draft in drafts]}
    counts = " and ".join(f"{draft.words:,}" for draft in drafts)
    unused = "from facts that you did not use, or more of a fact's quotation"
    return [
        *messages,
        ChatMessage("assistant", json.dumps(reply, ensure_ascii=False)),
        ChatMessage(
            "user",
            f"That has {counts} words; at least {words:,} are needed. Write it again with"
            f" more sentences, {unused}, by the same rules. If the facts give no more,"
            " return it as it is.",
        ),
    ]


def _encode_draft(draft: PostDraft) -> dict[str, object]:
    parts = [
        {"sentences": [{"text": s.text, "facts": [*s.facts]} for s in part.sentences]}
        for part in draft.parts
    ]
    return {"title": draft.title, "parts": parts}


def _describe_variants(count: int) -> str:
    return f"{count}, different in approach" if count > 1 else "one"


def build_revision_messages(
    request: WritingRequest,
    pack: EvidencePack,
    flagged: Sequence[FlaggedSentence],
    drafts: Sequence[PostDraft] = (),
) -> list[ChatMessage]:
    """Return the prompt that asks to rewrite flagged sentences, numbered from 1, each
    with its neighbours in `drafts`.
    """
    task = _REPAIR_TASK.format(a_name=KIND_RULES[request.kind].name_with_article)
    blocks = [*_list_book(request), *_list_facts(pack.facts)]
    for number, flag in enumerate(flagged, start=1):
        facts = ", ".join(map(str, flag.sentence.facts)) or "none"
        label = f"sentence {number}, facts {facts}"
        lines = [flag.sentence.text, f"Problem: {flag.reason}"]
        lines += _describe_neighbours(flag.sentence, drafts)
        blocks.append((label, "\n".join(lines)))
    return _build_messages(task, request.brief, blocks)


def _describe_neighbours(
    sentence: DraftSentence, drafts: Sequence[PostDraft]
) -> list[str]:
    """Return lines with the sentences before and after one of the first draft with it."""
    for draft in drafts:
        if sentence in draft.sentences:
            at = draft.sentences.index(sentence)
            before, after = draft.sentences[:at][-1:], draft.sentences[at + 1 :][:1]
            return [
                *(f"Before it: {neighbour.text}" for neighbour in before),
                *(f"After it: {neighbour.text}" for neighbour in after),
            ]
    return []


def _build_messages(
    task: str, brief: str, blocks: Sequence[tuple[str, str]]
) -> list[ChatMessage]:
    """Return a prompt with all texts of others between lines with a random mark."""
    mark = generate_fence_mark(task, brief, *(text for _, text in blocks))
    fenced = "\n".join(wrap_in_fence(label, text, mark) for label, text in blocks)
    return [
        ChatMessage("system", f"{task}{FENCE_RULE}"),
        ChatMessage(
            "user", f"Brief of the author: {flatten_reply_text(brief)}\n\n{fenced}"
        ),
    ]


def _list_sources(
    sources: Sequence[EvidenceSource], brief: str
) -> list[tuple[str, str]]:
    return [
        (_label_source(number, source), cut_source(source.text, brief))
        for number, source in enumerate(sources, start=1)
    ]


def cut_source(text: str, brief: str) -> str:
    """Return `text`, or its `SHOWN_SOURCE_CHARS` characters with most words of `brief`,
    from the beginning of a sentence to the end of a word.
    """
    if len(text) <= SHOWN_SOURCE_CHARS:
        return text
    stems = stem_words(brief)
    last = len(text) - SHOWN_SOURCE_CHARS
    starts = [0, *(m.end() for m in _SENTENCE_BREAK.finditer(text, 0, last))]
    windows = [text[at : at + SHOWN_SOURCE_CHARS] for at in starts]
    best = max(windows, key=lambda window: len(stems & stem_words(window)))
    start = "" if best is windows[0] else "… "
    if text.endswith(best):
        return f"{start}{best}"
    return f"{start}{best.rpartition(' ')[0]} …"


def _label_source(number: int, source: EvidenceSource) -> str:
    if not source.is_own:
        return f"source {number}, web page of {source.author} {source.published}"
    if source.chapter is None:
        return f"source {number}, note"
    return f"source {number}, chapter {source.chapter}"


def _list_facts(facts: Iterable[EvidenceFact]) -> list[tuple[str, str]]:
    return [
        (
            f"fact {fact.number}, {fact.certainty.value}",
            f"{fact.statement}\nQuotation: “{fact.quote}”\n"
            f"From: {format_source(fact.source)}",
        )
        for fact in facts
    ]


def _shape(name: str, fields: Mapping[str, object]) -> ReplyShape:
    schema = build_strict_schema(dict(fields))
    return ReplyShape(name, json.dumps(schema, separators=(",", ":")))


def _rows(fields: Mapping[str, object]) -> dict[str, object]:
    return {"type": "array", "items": build_strict_schema(dict(fields))}


_TEXT = {"type": "string"}
_NUMBERS = {"type": "array", "items": {"type": "integer"}}


@cache
def build_gap_shape() -> ReplyShape:
    """Return the format of a reply about gaps."""
    kind = {"type": "string", "enum": list(_GAP_KINDS)}
    gaps = _rows({"kind": kind, "need": _TEXT, "topic": _TEXT})
    searches = {"type": "array", "items": _TEXT}
    return _shape("Gaps", {"searches": searches, "gaps": gaps})


@cache
def build_pack_shape() -> ReplyShape:
    """Return the format of a reply with facts."""
    certainty = {"type": "string", "enum": [value.value for value in FactCertainty]}
    row = {
        "source": {"type": "integer"},
        "fact": _TEXT,
        "quote": _TEXT,
        "certainty": certainty,
    }
    return _shape("Facts", {"facts": _rows(row)})


@cache
def build_writing_shape() -> ReplyShape:
    """Return the format of a reply with drafts."""
    parts = _rows({"sentences": _rows({"text": _TEXT, "facts": _NUMBERS})})
    return _shape("Drafts", {"variants": _rows({"title": _TEXT, "parts": parts})})


@cache
def build_revision_shape() -> ReplyShape:
    """Return the format of a reply with rewritten sentences."""
    row = {"id": {"type": "integer"}, "text": _TEXT, "facts": _NUMBERS}
    return _shape("Sentences", {"sentences": _rows(row)})


def parse_gaps(reply: str) -> GapAnalysis:
    """Return the searches and gaps in a reply.

    Raises:
        MalformedReply: The reply does not match the format.
    """
    match extract_json_object(reply):
        case {"searches": [*searches], "gaps": [*rows], **more} if not more:
            lines = [_read_text(search, MAX_NEED_CHARS) for search in searches]
            gaps = tuple(map(_parse_gap, rows))[:MAX_GAPS]
            return GapAnalysis(tuple(filter(None, lines))[:MAX_SEARCHES], gaps)
    raise MalformedReply("it is not an object of `searches` and `gaps`")


def _parse_gap(row: object) -> PostGap:
    match row:
        case {"kind": str(kind), "need": str(need), "topic": str(topic)} if (
            kind in _GAP_KINDS
        ):
            gap = _GAP_KINDS[kind]
            words = _read_text(topic, MAX_NEED_CHARS) if gap.is_searchable else ""
            return PostGap(gap, _read_text(need, MAX_NEED_CHARS).rstrip("."), words)
    raise MalformedReply("a gap is not `kind`, `need` and `topic`")


def parse_facts(reply: str, sources: int) -> list[FactProposal]:
    """Return the facts in a reply about a number of `sources`; those with another
    number are left out.

    Raises:
        MalformedReply: The reply does not match the format.
    """
    match extract_json_object(reply):
        case {"facts": [*rows], **more} if not more:
            facts = [_parse_fact(row) for row in rows]
            return [fact for fact in facts if 0 <= fact.source < sources]
    raise MalformedReply("it is not an object of `facts`")


def _parse_fact(row: object) -> FactProposal:
    match row:
        case {
            "source": int(source),
            "fact": str(fact),
            "quote": str(quote),
            "certainty": str(certainty),
        } if certainty in [value.value for value in FactCertainty]:
            statement = _read_text(fact, MAX_SENTENCE_CHARS)
            return FactProposal(source - 1, statement, quote, FactCertainty(certainty))
    raise MalformedReply("a fact is not `source`, `fact`, `quote` and `certainty`")


def parse_drafts(reply: str, pack: EvidencePack) -> list[PostDraft]:
    """Return the drafts in a reply; numbers of facts that `pack` lacks are left out.

    Raises:
        MalformedReply: The reply does not match the format, or has no sentence.
    """
    match extract_json_object(reply):
        case {"variants": [*rows], **more} if not more:
            drafts = [_parse_draft(row, pack) for row in rows]
            drafts = [draft for draft in drafts if draft.sentences]
            if drafts:
                return drafts
            raise MalformedReply("it has no sentence")
    raise MalformedReply("it is not an object of `variants`")


def _parse_draft(row: object, pack: EvidencePack) -> PostDraft:
    match row:
        case {"title": str(title), "parts": [*rows]}:
            parts = [_parse_part(part, pack) for part in rows]
            named = _read_text(title, MAX_NEED_CHARS).lstrip("# ")
            return PostDraft(named, tuple(part for part in parts if part.sentences))
    raise MalformedReply("a variant is not `title` and `parts`")


def _parse_part(row: object, pack: EvidencePack) -> DraftPart:
    match row:
        case {"sentences": [*rows]}:
            sentences = [parse_sentence(sentence, pack) for sentence in rows]
            return DraftPart(tuple(s for s in sentences if s.text))
    raise MalformedReply("a part is not an object of `sentences`")


def parse_sentence(row: object, pack: EvidencePack) -> DraftSentence:
    """Return a sentence of a reply, an object of `text` and `facts`.

    Raises:
        MalformedReply: It is no such object.
    """
    match row:
        case {"text": str(text), "facts": [*numbers]}:
            known_numbers = {fact.number for fact in pack.facts}
            facts = dict.fromkeys(
                n for n in numbers if isinstance(n, int) and n in known_numbers
            )
            words = strip_mark_lookalikes(_read_text(text, MAX_SENTENCE_CHARS))
            return DraftSentence(words.lstrip("#-> "), tuple(facts))
    raise MalformedReply("a sentence is not `text` and `facts`")


def parse_revisions(reply: str, count: int, pack: EvidencePack) -> list[DraftSentence]:
    """Return `count` rewritten sentences by their number; an empty text drops one, and
    so does its absence.

    Raises:
        MalformedReply: The reply does not match the format.
    """
    revised = [DraftSentence("")] * count
    match extract_json_object(reply):
        case {"sentences": [*rows], **more} if not more:
            for row in rows:
                match row:
                    case {"id": int(number)} if 1 <= number <= count:
                        revised[number - 1] = parse_sentence(row, pack)
            return revised
    raise MalformedReply("it is not an object of `sentences`")


def _read_text(text: object, limit: int) -> str:
    if not isinstance(text, str):
        raise MalformedReply("a text is missing")
    return flatten_reply_text(text)[:limit].strip()
