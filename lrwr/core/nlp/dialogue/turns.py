"""Dialogue turns: each quotation with the narration around it, and vocatives in it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lrwr.core.model.cast import Gender, Mention
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.lexicon import FEMALE_ADDRESS_TERMS, MALE_ADDRESS_TERMS
from lrwr.core.nlp.dialogue.quotations import RawQuotation, find_quotations
from lrwr.core.nlp.text.prose import find_paragraphs

MASKED_NAME_CHARACTER = "\ue000"
"""Replaces every character of a name in `DialoguePage.masked`."""
# A paragraph that leads to a quotation: "Nell said,", "Then Nell interposed."
UNMARKED_LEAD = (
    r"\b(?:said|cried|observed|remarked|exclaimed|replied|answered|added|asked|whispered)\b"
    r"[^.;:!?\n\"“”]{0,40}\w"
)
"""Matches the end of a sentence that leads to a quotation without a mark: "said so"."""
_LEADS = re.compile(
    rf"(?::|,|—|–|--?|{UNMARKED_LEAD})[\s*_>]*$"
    r"|\b(?:interposed|interrupted|resumed|burst out|broke in|"
    r"began again|spoke again)\b[^.!?\n]{0,40}\.[\s*_>]*$"
)
_MARKUP = " \t>*_#—–-\"“‘'"
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|myself)\b")


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """One utterance and its context.

    `paragraph` and `scene` are indices in the document, from 0. `gap` is the number of
    paragraphs without speech since the previous turn. `before`, `inside` and `after`
    are the narration of the same paragraph before, between and after the quoted spans,
    up to the next quotation; a span may be empty. `lead` is the previous paragraph if
    it ends with a colon, comma, dash or speech verb, else None. `first_here` means that
    this is the first turn of its paragraph.
    """

    raw: RawQuotation
    paragraph: int
    scene: int
    gap: int
    before: Span
    inside: tuple[Span, ...]
    after: Span
    lead: Span | None
    first_here: bool


@dataclass(frozen=True, slots=True)
class DialoguePage:
    """A document prepared for quote attribution.

    `masked` is the text, of the same length, with each character of a name replaced by
    `MASKED_NAME_CHARACTER`; `who` maps the offset of each name to its character.
    `turns` and `mentions` are in text order. The others have one item per paragraph:
    `scenes` the scene's index, `narrated_names` the characters named in its narration
    in text order, and `narrating` the number of first-person pronouns outside
    quotations.
    """

    text: str
    masked: str
    who: dict[int, str]
    turns: tuple[DialogueTurn, ...]
    scenes: tuple[int, ...]
    narrated_names: tuple[tuple[str, ...], ...]
    narrating: tuple[int, ...]
    mentions: tuple[Mention, ...]

    def name_at(self, start: int) -> str:
        """Return the name that starts at offset `start` of the text, as the text spells
        it; "" if none starts there.
        """
        end = start
        while end < len(self.masked) and self.masked[end] == MASKED_NAME_CHARACTER:
            end += 1
        return self.text[start:end]


def build_dialogue_page(
    text: str, scenes: Sequence[Sequence[Span]], mentions: Sequence[Mention]
) -> DialoguePage:
    """Find the dialogue turns of a document and the narration around them.

    `scenes` has the spans of each scene's text; `mentions` may overlap and be in any
    order.
    """
    parts = [part for scene in scenes for part in scene]
    quotations = [raw for raw in find_quotations(text, parts) if raw.speech]
    paragraphs = find_paragraphs(text, parts)
    ordered = tuple(sorted(mentions, key=lambda mention: mention.span.start))
    outermost = _outermost(ordered)
    masked = _mask_names(text, outermost)
    starts = _scene_starts(scenes)
    turns = _build_turns(text, paragraphs, starts, quotations)
    spoken_spans = [span for raw in quotations for span in raw.spans]
    return DialoguePage(
        text,
        masked,
        {mention.span.start: mention.who for mention in outermost},
        turns,
        tuple(bisect_right(starts, paragraph.start) - 1 for paragraph in paragraphs),
        _names_by_paragraph(paragraphs, _filter_outside(outermost, spoken_spans)),
        _count_first_person(text, paragraphs, spoken_spans),
        outermost,
    )


def _outermost(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    outermost: list[Mention] = []
    for mention in mentions:
        if not outermost or mention.span.start >= outermost[-1].span.end:
            outermost.append(mention)
    return tuple(outermost)


def _mask_names(text: str, mentions: Sequence[Mention]) -> str:
    pieces: list[str] = []
    at = 0
    for mention in mentions:
        pieces.append(text[at : mention.span.start])
        pieces.append(MASKED_NAME_CHARACTER * len(mention.span))
        at = mention.span.end
    pieces.append(text[at:])
    return "".join(pieces)


def _scene_starts(scenes: Sequence[Sequence[Span]]) -> list[int]:
    return [scene[0].start for scene in scenes if scene]


def _build_turns(
    text: str,
    paragraphs: Sequence[Span],
    scene_starts: Sequence[int],
    quotations: Sequence[RawQuotation],
) -> tuple[DialogueTurn, ...]:
    starts = [paragraph.start for paragraph in paragraphs]
    turns: list[DialogueTurn] = []
    last_paragraph = -1
    last_end = -1
    for number, raw in enumerate(quotations):
        row = bisect_right(starts, raw.spans[0].start) - 1
        final = bisect_right(starts, raw.spans[-1].start) - 1
        first_paragraph = paragraphs[row]
        gap_start = (
            last_end + 1 if last_end >= first_paragraph.start else first_paragraph.start
        )
        before = Span(gap_start, max(gap_start, raw.spans[0].start - 1))
        turns.append(
            DialogueTurn(
                raw,
                row,
                bisect_right(scene_starts, raw.spans[0].start) - 1,
                max(0, row - last_paragraph - 1),
                before,
                _spans_between(raw, paragraphs, starts),
                _span_after(raw, paragraphs[final], quotations, number),
                _leading_paragraph(text, paragraphs, row, before),
                row != last_paragraph,
            )
        )
        last_paragraph, last_end = final, raw.spans[-1].end
    return tuple(turns)


def _spans_between(
    raw: RawQuotation, paragraphs: Sequence[Span], starts: Sequence[int]
) -> tuple[Span, ...]:
    gaps = []
    for first, second in zip(raw.spans, raw.spans[1:], strict=False):
        row = bisect_right(starts, first.start) - 1
        end = min(second.start - 1, paragraphs[row].end)
        if end > first.end + 1:
            gaps.append(Span(first.end + 1, end))
    return tuple(gaps)


def _span_after(
    raw: RawQuotation,
    paragraph: Span,
    quotations: Sequence[RawQuotation],
    number: int,
) -> Span:
    start = min(raw.spans[-1].end + 1, paragraph.end)
    end = paragraph.end
    if number + 1 < len(quotations):
        end = min(end, quotations[number + 1].spans[0].start - 1)
    return Span(start, max(start, end))


def _leading_paragraph(
    text: str, paragraphs: Sequence[Span], row: int, before: Span
) -> Span | None:
    if row == 0 or text[before.start : before.end].strip(_MARKUP):
        return None
    last = paragraphs[row - 1]
    return last if _LEADS.search(text, last.start, last.end) else None


def _filter_outside(
    mentions: Sequence[Mention], spoken_spans: Sequence[Span]
) -> list[Mention]:
    """Return the mentions outside quotations."""
    starts = [span.start for span in spoken_spans]
    outside = []
    for mention in mentions:
        last = bisect_right(starts, mention.span.start) - 1
        if last < 0 or spoken_spans[last].end <= mention.span.start:
            outside.append(mention)
    return outside


def _names_by_paragraph(
    paragraphs: Sequence[Span], mentions: Sequence[Mention]
) -> tuple[tuple[str, ...], ...]:
    at = [mention.span.start for mention in mentions]
    return tuple(
        tuple(
            mention.who
            for mention in mentions[
                bisect_left(at, paragraph.start) : bisect_left(at, paragraph.end)
            ]
        )
        for paragraph in paragraphs
    )


def _count_first_person(
    text: str, paragraphs: Sequence[Span], spoken_spans: Sequence[Span]
) -> tuple[int, ...]:
    starts = [span.start for span in spoken_spans]
    counts = []
    for paragraph in paragraphs:
        count = 0
        for match in _FIRST_PERSON.finditer(text, paragraph.start, paragraph.end):
            last = bisect_right(starts, match.start()) - 1
            count += last < 0 or spoken_spans[last].end <= match.start()
        counts.append(count)
    return tuple(counts)


# What may precede a vocative: start, punctuation, an interjection or an epithet
_BEFORE_VOCATIVE = re.compile(
    r"(?:^|[.!?,;:—–\-…(*_]|\b(?:oh|o|ah|my|dear|dearest|poor|sweet|well|yes|no|and you|"
    r"but|good|hey|hello|hallo|come|you|old|little|thank you|dear old))\s*[\"“‘'*_]?\s*$",
    re.IGNORECASE,
)
_AFTER_VOCATIVE = re.compile(r"\s*[*_]?(?:[,!?;.:—–\-…*_]|$)")
_ADDRESS_WORDS = "|".join(
    sorted(MALE_ADDRESS_TERMS | FEMALE_ADDRESS_TERMS, key=len, reverse=True)
)
_ADDRESS_TERM = re.compile(
    rf"(?:^|[,!?;.—–-]|\b(?:yes|no|dear|my|oh|good|well))\s*(?P<word>{_ADDRESS_WORDS})"
    r"(?=\s*(?:[,!?;.:—–\-…]|$))",
    re.IGNORECASE,
)
_VOCATIVE_WINDOW = 24
"""Characters before a name that are checked for a vocative."""


@dataclass(frozen=True, slots=True)
class VocativeCues:
    """People named within the words of a turn, each once.

    `named` are all characters named, `called` those addressed by name ("Nell, …"), in
    text order; `clearly` are those of `called` whom the words cannot merely mention.
    `gender` is that of a form of address such as "sir", unknown without
    one.
    """

    named: tuple[str, ...]
    called: tuple[str, ...]
    gender: Gender
    clearly: tuple[str, ...] = ()


def find_vocatives(
    page: DialoguePage, starts: Sequence[int], turn: DialogueTurn
) -> VocativeCues:
    """Find the names and forms of address within the words of `turn`.

    `starts` are the start offsets of `page.mentions`, ascending.
    """
    named: list[tuple[Mention, Span]] = []
    for span in turn.raw.spans:
        first, last = bisect_left(starts, span.start), bisect_left(starts, span.end)
        named += [(mention, span) for mention in page.mentions[first:last]]
    addressed = [
        (mention, span)
        for mention, span in named
        if _is_vocative(page.text, mention, span.start, span.end)
    ]
    clear = [
        m
        for m, span in addressed
        if _is_clear_vocative(page.text, m, span)
        and not _is_subject_of_next(page.text, m, span, turn.raw.spans)
    ]
    return VocativeCues(
        _unique_names(mention for mention, _ in named),
        _unique_names(mention for mention, _ in addressed),
        _address_gender(page, turn),
        _unique_names(clear),
    )


def _unique_names(mentions: Iterable[Mention]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(mention.who for mention in mentions))


def _is_vocative(text: str, mention: Mention, start: int, end: int) -> bool:
    before = text[
        max(start, mention.span.start - _VOCATIVE_WINDOW) : mention.span.start
    ]
    after = text[mention.span.end : min(end, mention.span.end + 4)]
    opens = _BEFORE_VOCATIVE.search(before) if before.strip() else True
    return bool(opens and _AFTER_VOCATIVE.match(after))


# What may precede a name that is certainly in address: a sentence start or a comma,
# interjections and "my dear"
_BEFORE_CLEAR = re.compile(
    r"(?:(?P<start>^|[.!?…(]|[—–]|--)|,)[\s\"“‘'*_]*"
    r"(?:(?:oh|o|ah|well|yes|no|but|now|come|and|why|good-bye|good-night|thank you|"
    r"hush|nay|pray|my|dear|dearest|poor)\b[\s,!]*)*$",
    re.IGNORECASE,
)
# "his cousin, Nell," and "with Tom, Nell, and Corin" name a person, and address nobody
_APPOSITION = re.compile(
    r"\b(?:his|her|their|the|a|an|our|my|your|that|this)\s+(?:[\w’'-]+\s+){0,2}[\w’'-]+,\s*$"
    r"|,\s+[A-Z][\w.]*,\s*$|\b(?:is|was|be|named|called|and|of|with|to|by|from|for)[\s,:]+$"
)
_SENTENCE = re.compile(r"[^.!?…]*[.!?…]*")
_SECOND_PERSON = re.compile(
    r"\b(?:you|your|yours|yourself|you['’]\w+|thou|thee|thy|let)\b", re.IGNORECASE
)
_VERB_FOLLOWS = re.compile(
    r"(?:never|always|often|\w+ly)?\s*(?:is|was|has|had|will|would|can|could|may|must|"
    r"might|does|did|(?!this\b|yes\b|his\b|as\b|us\b|perhaps\b|always\b)[a-z]{3,}s)\b"
)
_PREDICATE = re.compile(
    r"\s*,?\s*(?:who|whom|whose|with|is|was|has|had|will|would|can|could|did|does|"
    r"i (?:imagine|suppose|believe|think|fancy|am sure)|too|and|or|of|in)\b",
    re.IGNORECASE,
)


def _is_subject_of_next(
    text: str, mention: Mention, span: Span, spans: Sequence[Span]
) -> bool:
    """Return whether the sentence of a name goes on behind the tag, as in "“Nell,” said
    Corin, “never forgets”".
    """
    following = spans.index(span) + 1
    if following == len(spans) or text[mention.span.end : span.end].strip(" ,—-_*"):
        return False
    return bool(_VERB_FOLLOWS.match(text, spans[following].start))


def _is_clear_vocative(text: str, mention: Mention, span: Span) -> bool:
    """Return whether the name of `mention`, which looks like a vocative within the
    quoted words at `span`, is certainly one, and not the topic of the words.
    """
    before = text[max(span.start, mention.span.start - 60) : mention.span.start]
    opening = _BEFORE_CLEAR.search(before)
    if opening is None or _APPOSITION.search(before):
        return False
    rest = text[mention.span.end : span.end]
    if rest[:1] in (";", ":"):
        return False
    if not rest.strip(" ,.!?…—-_*"):
        return bool(before.strip()) or rest.strip()[:1] == ","
    if _PREDICATE.match(rest):
        return False
    if opening["start"] is None:
        return True
    sentence = _SENTENCE.match(rest.lstrip(",!?— "))
    return bool(sentence and _SECOND_PERSON.search(sentence[0]))


def _address_gender(page: DialoguePage, turn: DialogueTurn) -> Gender:
    for span in turn.raw.spans:
        match = _ADDRESS_TERM.search(page.text[span.start : span.end])
        if match:
            word = match["word"].lower()
            return Gender.MALE if word in MALE_ADDRESS_TERMS else Gender.FEMALE
    return Gender.UNKNOWN
