"""Drafts of texts about the story: their sentences with facts, as Markdown and posts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from lrwr.core.attribution.citations import strip_answer_citation_marks
from lrwr.core.evidence.kinds import (
    KIND_RULES,
    GapKind,
    PostGap,
    PostKind,
    PostQuestion,
    QuestionScope,
)
from lrwr.core.evidence.limits import Platform, divide_text, fits
from lrwr.core.evidence.pack import (
    EvidenceFact,
    EvidencePack,
    anchor_facts,
    list_pack_documents,
    mark_cut,
)
from lrwr.core.evidence.sources import EvidenceSource
from lrwr.core.evidence.statements import extract_post
from lrwr.core.model.text import SentenceSplitter
from lrwr.core.ports.stores import PassageStore

PART_BREAK = "\n\n---\n\n"
SOURCES_HEADING = "## Sources"

_QUOTATION_MARKS = "“”\"‘’'"
_NOTHING_FOUND = {
    QuestionScope.STORY: "Nothing found in your text.",
    QuestionScope.BACKGROUND: "Nothing found in notes or pages.",
    QuestionScope.AUTHOR: "Only you can say.",
}

_ALL_USED = " It has every fact that was found."
_TOO_SHORT = " Add to it, or use a wider brief or a later `--as-of`."

_SENTENCE_END = re.compile(r"([.!?…]+)\s*$")
_SOURCES = re.compile(r"^#{1,6}[ \t]*Sources[ \t]*$.*\Z", re.MULTILINE | re.DOTALL)


_SOURCE_NUMBER = re.compile(r"^- \[\d+\] ", re.MULTILINE)
_WORD = re.compile(r"\S*\w\S*")
_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)


class CitationStyle(StrEnum):
    """What an export does with citations: numbers in the text and sources at the end,
    sources at the end only, or neither.
    """

    KEEP = "keep"
    END = "end"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence of a draft, and the numbers of the facts that it rests on."""

    text: str
    facts: tuple[int, ...] = ()

    @property
    def marked(self) -> str:
        """The sentence with its citation marks before the full stop, such as [1]."""
        if not self.facts:
            return self.text
        marks = " " + "".join(f"[{number}]" for number in self.facts)
        if _SENTENCE_END.search(self.text):
            return _SENTENCE_END.sub(lambda match: f"{marks}{match[1]}", self.text)
        return self.text + marks


@dataclass(frozen=True, slots=True)
class DraftPart:
    """A paragraph of a draft, or one post of a thread."""

    sentences: tuple[DraftSentence, ...]

    @property
    def text(self) -> str:
        """The part without citation marks."""
        return " ".join(sentence.text for sentence in self.sentences)


@dataclass(frozen=True, slots=True)
class PostDraft:
    """A draft: its title, empty for none, and its parts."""

    title: str
    parts: tuple[DraftPart, ...]

    @property
    def sentences(self) -> tuple[DraftSentence, ...]:
        """All sentences, in text order."""
        return tuple(s for part in self.parts for s in part.sentences)

    @property
    def words(self) -> int:
        """How many words its parts have."""
        return sum(len(part.text.split()) for part in self.parts)

    @property
    def cited(self) -> tuple[int, ...]:
        """The numbers of the facts that it cites, ascending."""
        return tuple(sorted({n for s in self.sentences for n in s.facts}))


def map_sentences(
    draft: PostDraft, replacements: dict[DraftSentence, DraftSentence | None]
) -> PostDraft:
    """Return `draft` with sentences replaced, or left out for None; empty parts are
    left out.
    """
    parts = []
    for part in draft.parts:
        pairs = ((s, replacements.get(s, s)) for s in part.sentences)
        remaining = tuple(new for _, new in pairs if new is not None and new.text)
        if remaining:
            parts.append(DraftPart(remaining))
    return replace(draft, parts=tuple(parts))


def fit_parts(
    draft: PostDraft, platform: Platform, split: SentenceSplitter
) -> PostDraft:
    """Return a thread with every part short enough for a post, without its marks.

    A part that is too long ends after a sentence; a sentence that is too long is
    divided at words.
    """
    parts: list[DraftPart] = []
    for part in draft.parts:
        sentences: tuple[DraftSentence, ...] = ()
        for sentence in part.sentences:
            longer = DraftPart((*sentences, sentence))
            if fits(longer.text, platform):
                sentences = longer.sentences
                continue
            if sentences:
                parts.append(DraftPart(sentences))
            *whole, rest = _divide(sentence, platform, split)
            parts += [DraftPart((piece,)) for piece in whole]
            sentences = (rest,)
        if sentences:
            parts.append(DraftPart(sentences))
    return replace(draft, parts=tuple(parts))


def pack_parts(draft: PostDraft, platform: Platform) -> PostDraft:
    """Return a thread with as few parts as its sentences, in their order, need."""
    parts: list[DraftPart] = []
    for sentence in draft.sentences:
        longer = DraftPart((*parts[-1].sentences, sentence)) if parts else None
        if longer is not None and fits(longer.text, platform):
            parts[-1] = longer
        else:
            parts.append(DraftPart((sentence,)))
    return replace(draft, parts=tuple(parts))


def describe_length(
    draft: PostDraft, pack: EvidencePack, kind: PostKind, parts: int
) -> list[str]:
    """Return sentences that say if a draft is shorter or longer than its kind, or has more
    than `parts` parts; 0 is as many as usual.
    """
    rules, sentences = KIND_RULES[kind], []
    low, high = rules.words
    if draft.words < low or (draft.words > high and not rules.is_thread):
        used = _ALL_USED if uses_all_facts([draft], pack) else ""
        sentences.append(
            f"It has {draft.words:,} words; {rules.name_with_article} has {low:,} to"
            f" {high:,}.{used + _TOO_SHORT if draft.words < low else ''}"
        )
    most = parts or (rules.parts if rules.is_thread else 0)
    if 0 < most < len(draft.parts):
        phrase = "you asked for" if parts else "a thread has about"
        unit = "posts" if rules.is_thread else "parts"
        sentences.append(f"It has {len(draft.parts)} {unit}; {phrase} {most}.")
    return sentences


def uses_all_facts(drafts: Sequence[PostDraft], pack: EvidencePack) -> bool:
    """Return whether each of `drafts` rests on all facts, so that none can be longer."""
    numbers = {fact.number for fact in pack.facts}
    return all(
        numbers <= {number for s in draft.sentences for number in s.facts}
        for draft in drafts
    )


def renumber_facts(
    draft: PostDraft, pack: EvidencePack
) -> tuple[PostDraft, EvidencePack]:
    """Return a draft and its pack with the facts numbered in the order in which the
    draft first cites them; those that it does not cite come last.
    """
    cited = dict.fromkeys(n for s in draft.sentences for n in sorted(s.facts))
    others = (f.number for f in pack.facts if f.number not in cited)
    facts = pack.select([*cited, *others])
    numbers = {fact.number: place for place, fact in enumerate(facts, start=1)}

    def renumber(sentence: DraftSentence) -> DraftSentence:
        present = (numbers[n] for n in sentence.facts if n in numbers)
        return replace(sentence, facts=tuple(sorted(present)))

    parts = (DraftPart(tuple(map(renumber, p.sentences))) for p in draft.parts)
    numbered = (replace(fact, number=numbers[fact.number]) for fact in facts)
    return replace(draft, parts=tuple(parts)), replace(pack, facts=tuple(numbered))


def _divide(
    sentence: DraftSentence, platform: Platform, split: SentenceSplitter
) -> list[DraftSentence]:
    if fits(sentence.text, platform):
        return [sentence]
    texts = divide_text(sentence.text, platform, split) or [sentence.text]
    *whole, last = (DraftSentence(text) for text in texts)
    return [*whole, replace(last, facts=sentence.facts)]


def render_draft(draft: PostDraft, pack: EvidencePack, kind: PostKind) -> str:
    """Return a draft as Markdown: title, parts with citation marks, sources last.

    Lines of `---` divide the posts of a thread.
    """
    is_thread = KIND_RULES[kind].is_thread
    texts = [" ".join(s.marked for s in part.sentences) for part in draft.parts]
    body = (PART_BREAK if is_thread else "\n\n").join(texts)
    title = f"# {draft.title}\n\n" if draft.title and not is_thread else ""
    sources = render_sources(pack.select(draft.cited))
    end = f"\n\n{SOURCES_HEADING}\n\n{sources}" if sources else ""
    return f"{title}{body}{end}\n"


def render_sources(facts: Iterable[EvidenceFact]) -> str:
    """Return the list of sources, a line for each fact: number, place, quotation."""
    return "\n".join(
        f"- [{fact.number}] {format_source(fact.source)}: “{mark_cut(fact)}”"
        for fact in facts
    )


def format_source(source: EvidenceSource) -> str:
    """Return where a source stands: file and line, or title, address and date."""
    if source.is_own:
        is_word = source.document.endswith(".docx")
        place = (
            f"{source.document}{', paragraph ' if is_word else ':'}{source.lines.first}"
        )
        if source.lines.last > source.lines.first:
            place += f"–{source.lines.last}"
        if source.chapter is None:
            return f"{place} (note)"
        return f"{place} (chapter {source.chapter})" if source.chapter else place
    words = (source.title, source.url, source.published)
    return ", ".join(word for word in words if word)


def convert_citations(text: str, style: CitationStyle) -> str:
    """Return the Markdown of a draft with its citations in another style."""
    if style is CitationStyle.KEEP:
        return text
    body = _SOURCES.sub("", text)
    sources = text[len(body) :] if style is CitationStyle.END else ""
    sources = _SOURCE_NUMBER.sub("- ", sources)
    return f"{strip_answer_citation_marks(body).rstrip()}\n\n{sources}".rstrip() + "\n"


def count_post_words(text: str) -> int:
    """Return how many words the Markdown of a draft has, without headings, citation marks
    and sources.
    """
    body = _HEADING.sub("", _SOURCES.sub("", text))
    return len(_WORD.findall(extract_post(body)))


def list_posts(
    text: str, platform: Platform, style: CitationStyle, split: SentenceSplitter
) -> list[str]:
    """Return the posts of a draft for `platform`, none over its limit; those with the
    sources are last.

    Only pages are cited: readers have no use for the files of the author.
    """
    body = _SOURCES.sub("", text)
    lines = [line.removeprefix("- ") for line in text[len(body) :].split("\n")[1:]]
    entries = [line for line in lines if "http" in line]
    own_marks = [line.partition("]")[0] for line in lines if line not in entries]
    for mark in filter(None, own_marks):
        body = re.sub(rf"(?:(?<=\])|[^\S\n]*){re.escape(mark)}\]", "", body)
    keeps_marks = style is CitationStyle.KEEP
    posts: list[str] = []
    for part in re.split(r"^[ \t]*-{3,}[ \t]*$", body, flags=re.MULTILINE):
        plain = part if keeps_marks else extract_post(part)
        plain = re.sub(r"^#{1,6}[ \t]+", "", plain.strip(), flags=re.MULTILINE)
        if plain:
            posts += (
                [plain]
                if fits(plain, platform)
                else divide_text(plain, platform, split)
            )
    if style is not CitationStyle.REMOVE and entries:
        posts += _pack_lines(["Sources:", *entries], platform, split)
    return posts


def _pack_lines(
    lines: Sequence[str], platform: Platform, split: SentenceSplitter
) -> list[str]:
    posts = [""]
    for line in lines:
        longer = f"{posts[-1]}\n{line}".lstrip("\n")
        if fits(longer, platform):
            posts[-1] = longer
        else:
            posts += divide_text(line, platform, split)
    return [post for post in posts if post]


def render_outline(
    brief: str, kind: PostKind, pack: EvidencePack, limits: Sequence[str] = ()
) -> str:
    """Return an outline as Markdown: for each part its question, the author's own
    sentences with their places, and room to write; then what is missing.

    `limits` are sentences about what the text may not tell or exceed.
    """
    rules = KIND_RULES[kind]
    low, high = rules.words
    unit = "posts" if rules.is_thread else "words"
    size = f"about {rules.parts}" if rules.is_thread else f"{low:,} to {high:,}"
    lines = [f"# {brief}", "", f"{rules.name.capitalize()}, {size} {unit}."]
    lines += [*limits, ""]
    for question, facts in assign_facts(pack.facts, rules.questions).items():
        lines += [f"## {question.text}", ""]
        lines += [f"- {_format_own_words(f)} [{f.number}]" for f in facts]
        if not facts:
            lines += [_NOTHING_FOUND[question.answer]]
        lines += ["", "…", ""]
    lines += _render_gaps(pack.gaps, brief)
    lines += [SOURCES_HEADING, ""]
    lines += [f"- [{f.number}] {format_source(f.source)}" for f in pack.facts]
    return "\n".join(lines).rstrip() + "\n"


def assign_facts(
    facts: Sequence[EvidenceFact], questions: Sequence[PostQuestion]
) -> dict[PostQuestion, list[EvidenceFact]]:
    """Return for each question the facts that may answer it, in their order.

    Facts of notes and pages answer what is behind the story; those of the story with a
    word that a question asks for answer it. The others are divided among the questions
    that any sentence may answer, nearly as many for each.
    """
    answers: dict[PostQuestion, list[EvidenceFact]] = {q: [] for q in questions}
    behind = [q for q in questions if q.answer is QuestionScope.BACKGROUND]
    asking = [q for q in questions if q.cues]
    rest: list[EvidenceFact] = []
    for fact in facts:
        fitting = [q for q in asking if _has_cue(fact, q)]
        if behind and fact.source.chapter is None:
            fitting = behind
        if fitting:
            answers[min(fitting, key=lambda q: len(answers[q]))].append(fact)
        else:
            rest.append(fact)
    is_open = QuestionScope.STORY
    open_questions = [q for q in questions if q.answer is is_open and not q.cues]
    start = 0
    for place, question in enumerate(open_questions, start=1):
        end = round(place * len(rest) / len(open_questions))
        answers[question] += rest[start:end]
        start = end
    return answers


def _has_cue(fact: EvidenceFact, question: PostQuestion) -> bool:
    pattern = rf"\b(?:{question.cues})\b"
    return re.search(pattern, fact.statement, re.IGNORECASE) is not None


def _format_own_words(fact: EvidenceFact) -> str:
    """Return the statement of a fact if it is a sentence of its source, else its
    quotation: a language model states facts in its own words.
    """
    is_own = fact.quote.strip(_QUOTATION_MARKS) in fact.statement
    return fact.statement if is_own else f"“{mark_cut(fact)}”"


def _render_gaps(gaps: Sequence[PostGap], brief: str) -> list[str]:
    if not gaps:
        return []
    lines = ["## What your text cannot tell", ""]
    return [*lines, *(f"- {describe_gap(gap, brief)}" for gap in gaps), ""]


def describe_gap(gap: PostGap, brief: str) -> str:
    """Return a sentence that says what is missing, and what to look for if that is not
    the `brief`.
    """
    label = "only you can say" if gap.kind is GapKind.AUTHOR else gap.kind.value
    topic = "" if gap.topic.casefold() == brief.casefold() else gap.topic
    where = f" Look for “{topic}”." if topic else ""
    return f"{label.capitalize()}: {gap.need}.{where}"


async def add_citations(
    drafts: Sequence[PostDraft],
    citations: Mapping[DraftSentence, EvidenceFact],
    pack: EvidencePack,
    passages: PassageStore,
) -> tuple[list[PostDraft], EvidencePack]:
    """Return `drafts` with sentences that cite their fact in `citations` too, and `pack`
    with these facts and the lines of their quotations.

    Raises:
        StoreProblem: The library cannot be read.
    """
    last = max((fact.number for fact in pack.facts), default=0)
    used = {s for draft in drafts for s in draft.sentences}
    numbered = {
        sentence: replace(fact, number=number)
        for number, (sentence, fact) in enumerate(
            ((s, f) for s, f in citations.items() if s in used), last + 1
        )
    }
    replacements: dict[DraftSentence, DraftSentence | None] = {
        sentence: replace(sentence, facts=(*sentence.facts, fact.number))
        for sentence, fact in numbered.items()
    }
    further = EvidencePack(tuple(numbered.values()))
    texts = await passages.texts(list_pack_documents(further))
    anchored = (a.fact for a in anchor_facts(further.facts, texts))
    facts = (*pack.facts, *anchored)
    cited = [map_sentences(draft, replacements) for draft in drafts]
    return cited, replace(pack, facts=facts)
