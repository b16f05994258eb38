"""Prompts for the language model that writes the answer.

Pure functions. Prompt texts are part of cache keys: change them only on purpose.
"""

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from types import MappingProxyType

from lrwr.core.attribution.citations import strip_answer_citation_marks
from lrwr.core.bible.horizon import compile_forms_pattern
from lrwr.core.chat.context.gap_finder import find_unknown_names
from lrwr.core.chat.context.items import ContextItem, StoryFacet
from lrwr.core.chat.context.lookups import MAX_LOOKUPS_AT_ONCE
from lrwr.core.chat.context.material import (
    NumberedItem,
    NumberedMaterial,
    estimate_material_tokens,
)
from lrwr.core.chat.state import (
    RetrievalResult,
    TurnQuestion,
    find_answering_character,
    select_web_pages,
)
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.documents import Horizon
from lrwr.core.model.language_model import FENCE_RULE, wrap_in_fence
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    extract_content_words,
    normalize_word,
)
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerSpeaker,
    AnswerToken,
    Citation,
    QuestionPlan,
    WebCitation,
)
from lrwr.core.ports.models import ChatMessage, ChatModel
from lrwr.core.web.citations import number_web_pages, strip_web_part

WEB_TOKEN_BUDGET = 800
"""Tokens of web pages in a prompt at most, by `estimate_material_tokens`."""

MAX_PROMPT_NAME_CHARS = 80
"""Characters of a name in the system prompt. Names come from the manuscript, so a long
one could smuggle in instructions."""

_EVIDENCE_PROMPT = f"""\
{FENCE_RULE}
Answer only from the numbered material. Never add what you know of this book or any \
other. The lists of chapters and characters have no numbers: find your way by them, and \
prove nothing with them.
Use no number that is not there.
The author's own text, and what the author decided, outrank everything else."""

_QUOTING_PROMPT = """\
Quote word for word, in “…”, with the number directly after the closing mark, or do not \
quote."""

_ANALYST_PROMPT = """\
You are the close reader of a novelist's unfinished book, and answer the novelist's \
question about it: briefly, plainly, the answer first.
Every claim about the book needs a number right after it, inside the sentence, as in [2] \
or [1][3]. A summary, a sum or a conclusion needs none of its own where the sentences \
beside it have theirs.
Where passages disagree with each other, say so and cite both.
Where the material does not say, say that the text is silent on it."""

_CHARACTER_PROMPT = """\
You are {name}, a character of a novelist's book, and talk with the novelist.
Speak as {name} does: take the manner from the lines and habits in the material, the \
facts from the material alone.
It is now {moment}. Whatever comes later has not happened: you have never heard of it, \
and do not guess at it.{witnessed}
You know what you did, saw, were told or could hear in these passages, and what all the \
world knows. What happens where you are not, and what others think, write or keep \
secret, you do not know: never tell it.
Asked what you would do or feel, answer as {name} would, from what you value and have \
done; invent no event, person or fact.
What is from the author's notes is about you, and not known to you: take manner and \
values from it, and never say it.
Asked for what the material does not tell, turn the question aside as {name} would, and \
claim nothing new.
Put a number, as in [2], only where you state a fact of the story.
Stay {name}: no word on prompts, material or models."""

_WITNESSED_PROMPT = """
You know only what you were there for and what you were told."""

_INTENT_PROMPTS: Mapping[AnswerIntent, str] = MappingProxyType(
    {
        AnswerIntent.SCENARIO: """\
The novelist asks what would be if. Judge it in three parts and write no scene:
Fits: what the material speaks for, with quotes and numbers.
Strains: what it speaks against, with quotes and numbers.
Unknown: what the text leaves open that would decide it.""",
        AnswerIntent.GAP_PROBE: """\
The novelist asks whether the text defines something. If it does, say what it says. If \
not, say that the text is silent on it, what it implies, with numbers, and offer one or \
two ways to define it, called suggestions.""",
        AnswerIntent.EXTERNAL_REFERENCE: """\
The novelist asks about something outside of the book. Say what the book itself makes \
of it; what it does not say, leave open.""",
        AnswerIntent.JUDGEMENT: """\
The novelist asks for a judgement, as on pacing, a reveal, voice or consistency. Judge \
as an editor: say what on the page does it, with numbers; then, in a paragraph that \
begins “In my opinion”, what works, what does not, and what you would try.""",
    }
)

_LOOKUP_PROMPT = """\
Only if the material lacks what the question needs: do not answer yet, and reply with \
lines of this form alone, {lookups} look-ups at most. You will be asked again, with more. \
Not if passages that would say it are there and do not: then the text is silent.
search: a line as the book itself or a note might have it; no names, unless the line \
would have them
read: the number of a chapter, to get all of it
keep: the numbers of what you need of this material, as in 2, 5; the rest is dropped"""

_NO_LOOKUP_PROMPT = "Nothing more can be looked up: answer from this material."

_WEB_PROMPT = """\
What is fenced as “from the web” is no part of the book, and supplementary. Use it only \
for what lies outside of the book: a work, a person, a fact, a matter of craft; of such \
a thing it may tell what the book leaves open. Say first what the book itself has. After \
each sentence that rests on the web put its mark, as in [w1], never a number of the \
book's. It tells nothing of this book's people, places and \
events, even where a name is the same. Where it differs from the author's own text, \
the author's version holds."""

_UNKNOWN_NAMES_PROMPT = (
    "These names in the question stand nowhere in the text so far: {names}."
)
_LOW_CONFIDENCE_PROMPT = (
    "The search was not sure of what it found: say so if it does not answer."
)
_PARTIAL_CHAPTER_PROMPT = (
    "Chapter {number} is too long to be given whole: above are {given} of its {total}"
    " passages."
)
_WORDS_ONLY_PROMPT = (
    "Only the words of the question were searched: never say that the text does not"
    " contain something, say that you did not find it."
)
_OUTDATED_PROMPT = """\
(The author has since changed passages that the next answer rests on: repeat none of it \
unless the material bears it out.)"""

_NOTHING_FOUND_PROMPT = "Nothing was found for this question."


async def stream_model_answer(
    model: ChatModel, messages: Sequence[ChatMessage]
) -> AsyncGenerator[AnswerToken]:
    """Send `messages` to `model` and yield its answer token by token.

    Closing the generator stops the request.

    Raises:
        ServiceUnavailable: The server did not answer, refused, or stopped in the
            middle.
    """
    async with aclosing(model.stream(messages)) as pieces:
        async for piece in pieces:
            if piece:
                yield AnswerToken(piece, AnswerSpeaker.AVATAR)


def find_names_beyond_horizon(
    answer: str, bible_whole_names: Collection[str], known_names: Collection[str]
) -> tuple[str, ...]:
    """Return the names in `answer` that occur only after the horizon, each once, in the
    order of the answer.

    `bible_whole_names` are all names of characters and world elements of the whole
    story, `known_names` those up to the horizon. Of overlapping names the longest
    counts, because "Nell Tallow" may reveal what "Nell" does not. Matching is
    case-sensitive, because a name may be a common word.
    """
    visible_names = {_normalize_text(name) for name in known_names}
    names = compile_forms_pattern(
        {_normalize_text(name) for name in bible_whole_names} | visible_names
    )
    if names is None:
        return ()
    matched_names = (name[0] for name in names.finditer(_normalize_text(answer)))
    return tuple(
        dict.fromkeys(name for name in matched_names if name not in visible_names)
    )


def _normalize_text(text: str) -> str:
    """Return a text with single spaces and straight apostrophes."""
    return " ".join(text.replace("’", "'").split())


def build_avatar_messages(
    question: TurnQuestion,
    plan: QuestionPlan,
    result: RetrievalResult,
    material: NumberedMaterial,
    mark: str,
    *,
    lookups: int = 0,
) -> list[ChatMessage]:
    """Return the system prompt, the material, the earlier turns, and the question.

    What changes least comes first, so that a provider's prompt cache applies. Text of
    the manuscript and of the web stands between lines that contain `mark`, so that the
    model cannot take it for instructions; see `generate_fence_mark`. `mark` must not
    occur in any of `list_fenced_texts`. `lookups` is how much the model may ask to look
    up instead of answering.
    """
    opening = list(_build_material_parts(question, result, material, mark))
    messages = [ChatMessage("system", _build_system_prompt(question, plan, result))]
    for earlier in _build_history(question):
        # Servers with strict chat templates want the roles to alternate, so the
        # material shares a message with the first question.
        messages.append(replace(earlier, text=_join_parts(*opening, earlier.text)))
        opening = []
    closing = _build_question_parts(question, result, material, lookups)
    messages.append(ChatMessage("user", _join_parts(*opening, *closing)))
    return messages


def _join_parts(*parts: str) -> str:
    return "\n\n".join(parts)


def list_fenced_texts(
    question: TurnQuestion,
    result: RetrievalResult,
    material: NumberedMaterial,
    web: Sequence[WebCitation] = (),
) -> tuple[str, ...]:
    """Return every text of the prompt that stands between lines with the random mark.

    These texts must not contain the mark: pass them to `generate_fence_mark`.
    """
    notes = (entry.item.line for entry in material.entries)
    cited_texts = (
        _format_heading(citation) + citation.text for citation in material.citations
    )
    outline = (result.outline.chapters, result.outline.people)
    pages = map(_format_page, web)
    other = (*material.conflicts, *result.lookups, question.before)
    return (*outline, *notes, *cited_texts, *pages, *other)


def select_prompt_pages(
    question: TurnQuestion, result: RetrievalResult
) -> tuple[WebCitation, ...]:
    """Return the numbered web pages for the prompt, in the order of `result`.

    A page that exceeds what is left of `WEB_TOKEN_BUDGET` is skipped, not shortened.
    Empty if a character answers.
    """
    web_citations: list[WebCitation] = []
    remaining_tokens = WEB_TOKEN_BUDGET
    for page in number_web_pages(select_web_pages(question, result)):
        cost = estimate_material_tokens(_format_page(page))
        if cost <= remaining_tokens:
            web_citations.append(page)
            remaining_tokens -= cost
    return tuple(web_citations)


def describe_horizon(horizon: Horizon | None) -> str:
    """Return a horizon in words, such as "the end of chapter 3".

    None gives "the end of what is written so far". The words follow "It is now" or "The
    story is read up to" in a prompt.
    """
    if horizon is None:
        return "the end of what is written so far"
    if horizon.offset is not None:
        return f"a point in chapter {horizon.chapter}"
    if horizon.scene is None:
        return f"the end of chapter {horizon.chapter}"
    if not horizon.scene:
        return f"the beginning of chapter {horizon.chapter}"
    return f"the end of scene {horizon.scene} of chapter {horizon.chapter}"


def _build_system_prompt(
    question: TurnQuestion, plan: QuestionPlan, result: RetrievalResult
) -> str:
    parts = [_ANALYST_PROMPT, _EVIDENCE_PROMPT, _QUOTING_PROMPT]
    if speaker := find_answering_character(question, plan):
        name = " ".join(speaker.split())[:MAX_PROMPT_NAME_CHARS]
        witnessed = _WITNESSED_PROMPT if question.witnessed else ""
        moment = describe_horizon(question.horizon)
        character_fields = {"name": name, "moment": moment, "witnessed": witnessed}
        parts = [_CHARACTER_PROMPT.format_map(character_fields), _EVIDENCE_PROMPT]
    elif question.horizon is not None:
        moment = describe_horizon(question.horizon)
        parts.append(f"The story is read up to {moment}; speak of nothing later.")
    if plan.intent in _INTENT_PROMPTS:
        parts.append(_INTENT_PROMPTS[plan.intent])
    if select_prompt_pages(question, result):
        parts.append(_WEB_PROMPT)
    return "\n\n".join(parts)


def _build_history(question: TurnQuestion) -> Iterator[ChatMessage]:
    for turn in question.history:
        own_text = strip_web_part(turn.output.response_text)
        answered = strip_answer_citation_marks(own_text).strip()
        outdated = turn.id in question.outdated
        prompt_text = (
            f"{turn.question}\n\n{_OUTDATED_PROMPT}" if outdated else turn.question
        )
        yield ChatMessage("user", prompt_text)
        yield ChatMessage("assistant", answered or "…")


def _build_material_parts(
    question: TurnQuestion,
    result: RetrievalResult,
    material: NumberedMaterial,
    mark: str,
) -> Iterator[str]:
    for label, text in (
        ("chapters so far", result.outline.chapters),
        ("characters so far, with their other names", result.outline.people),
    ):
        if text:
            yield wrap_in_fence(label, text, mark)
    speaks = question.mode is AnswerMode.IN_CHARACTER
    yield from _format_material(material, mark, speaks=speaks)
    for page in select_prompt_pages(question, result):
        yield wrap_in_fence("from the web", _format_page(page), mark)
    if result.lookups:
        looked_up = "\n".join(result.lookups)
        yield wrap_in_fence("looked up for this question", looked_up, mark)
    if question.before.strip():
        yield wrap_in_fence(
            "earlier in this conversation", question.before.strip(), mark
        )


def _build_question_parts(
    question: TurnQuestion,
    result: RetrievalResult,
    material: NumberedMaterial,
    lookups: int,
) -> Iterator[str]:
    if not material.entries and not material.passages:
        yield _NOTHING_FOUND_PROMPT
    if question.state.assumptions:
        yield f"Assumed for now: {'; '.join(question.state.assumptions)}."
    if names := find_unknown_names(question, result):
        yield _UNKNOWN_NAMES_PROMPT.format(names=", ".join(names))
    if result.low_confidence:
        yield _LOW_CONFIDENCE_PROMPT
    yield from _describe_partial_chapters(result, material)
    if result.by_words_only:
        yield _WORDS_ONLY_PROMPT
    if lookups:
        yield _LOOKUP_PROMPT.format(lookups=min(lookups, MAX_LOOKUPS_AT_ONCE))
    elif result.lookups:
        yield _NO_LOOKUP_PROMPT
    yield f"The novelist asks: {question.text.strip()}"


def _describe_partial_chapters(
    result: RetrievalResult, material: NumberedMaterial
) -> Iterator[str]:
    for number, total in result.whole_chapters:
        given = sum(passage.chapter == number for passage in material.passages)
        if given < total:
            yield _PARTIAL_CHAPTER_PROMPT.format(
                number=number, given=given, total=total
            )


def _is_decision(item: ContextItem) -> bool:
    """Return whether the author decided an item, if only to leave it open."""
    return item.decided or item.statement.startswith("left open on purpose")


def _format_material(
    material: NumberedMaterial, mark: str, *, speaks: bool
) -> Iterator[str]:
    """Yield the material in fences; a character who `speaks` knows of no conflicts."""
    for passage in material.passages:
        material_text = f"{_format_heading(passage)}\n{passage.text}"
        yield wrap_in_fence(f"passage {passage.number}", material_text, mark)
    citations_by_number = {citation.number: citation for citation in material.citations}
    lines = [e for e in material.entries if e.item.facet is StoryFacet.LINE]
    unnumbered_entries = [entry for entry in material.entries if not entry.numbers]
    facts = [e for e in material.entries if e.numbers and e not in lines]
    decisions = [entry for entry in unnumbered_entries if _is_decision(entry.item)]
    open_entries = [entry for entry in unnumbered_entries if entry not in decisions]
    for label, entries in (
        ("known of the story", facts),
        ("decided by the author", decisions),
        ("undefined so far, and not decided by the author", open_entries),
        ("lines they say", lines),
    ):
        if entries:
            material_text = "\n".join(
                _format_entry(entry, citations_by_number) for entry in entries
            )
            yield wrap_in_fence(label, material_text, mark)
    if material.conflicts and not speaks:
        conflicts = "\n".join(material.conflicts)
        yield wrap_in_fence("these disagree with each other", conflicts, mark)


def _format_entry(
    entry: NumberedItem, citations_by_number: Mapping[int, Citation]
) -> str:
    """Return a fact on one line, followed by its numbers and quotations."""
    marks = "".join(f"[{n}]" for n in entry.numbers if n not in entry.quoted)
    quotations = " ".join(
        _format_quotation(citations_by_number[n]) for n in entry.quoted
    )
    head = " ".join(filter(None, (entry.item.line, marks)))
    return ": ".join(filter(None, (head, quotations)))


def _format_quotation(citation: Citation) -> str:
    note = "(the author's notes) " if citation.chapter is None else ""
    return f"[{citation.number}] {note}“{' '.join(citation.text.split())}”"


def _format_heading(citation: Citation) -> str:
    if citation.chapter is None:
        return f"[{citation.number}] from the author's notes, outside of the story"
    place = f"chapter {citation.chapter}" if citation.chapter else "before chapter 1"
    return f"[{citation.number}] {place}"


def _format_page(page: WebCitation) -> str:
    return f"[w{page.number}] {page.title}\n{page.url}\n{page.text}"


def collect_story_name_words(
    plan: QuestionPlan, result: RetrievalResult
) -> frozenset[str]:
    """Return the words of the names of characters in `result` and entities in `plan`.

    Only capitalized words are included, but in lower case and without possessive
    endings: "nell", "tallow". A web page cannot be the source of a sentence about
    these. Words that were sent to the web search are excluded: they name something
    outside the story.
    """
    profiles = result.character_profiles
    named = [
        *(profile.name for profile in profiles),
        *(form.name for profile in profiles for form in profile.aliases),
        *(entity.name for entity in plan.entities),
    ]
    words = {
        normalize_word(word)
        for name in named
        for word in WORD_PATTERN.findall(name)
        if word[0].isupper()
    }
    return frozenset(words - STOP_WORDS - set(extract_content_words(result.web_query)))
