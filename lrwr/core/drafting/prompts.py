"""Prompts that let a language model draft a scene, and their replies."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from string import Template

from lrwr.core.bible.values import TextEvidence
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.drafting.brief import Brief, render_brief
from lrwr.core.drafting.brief_items import BriefItem, BriefSection
from lrwr.core.drafting.findings import DraftFinding
from lrwr.core.drafting.folder import PROMPTS_FOLDER
from lrwr.core.drafting.model_steps import StepPrompt
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.language_model import (
    CHARACTERS_PER_TOKEN,
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
)
from lrwr.core.ports.models import ReplyShape

MAX_FIND_CHARS = 1_000
"""Longest words that one edit replaces: a revision rewrites no scene."""


@dataclass(frozen=True, slots=True)
class DraftIssue:
    """A finding about a draft, as a sentence for the model and the writer.

    `quote` are words of the draft. `others` are places of the story that it refers to,
    each with its words. `is_remark` leaves it to the writer: no revision is asked for it.
    """

    text: str
    quote: str = ""
    others: tuple[str, ...] = ()
    is_remark: bool = False

    @classmethod
    def of(cls, finding: DraftFinding, draft: str) -> "DraftIssue":
        """Return the issue of a finding about `draft`, the file that it would become."""
        place = finding.place
        if place.startswith(f"{draft}:"):
            place = f"the draft, line {place.removeprefix(f'{draft}:')}"
        return cls(
            f"{finding.kind}: {finding.text}",
            finding.quote,
            (f"See {place}",) if place else (),
            finding.is_remark,
        )

    @classmethod
    def of_contradiction(cls, contradiction: Contradiction, draft: str) -> "DraftIssue":
        """Return the issue of a contradiction that involves the file `draft`."""
        sides = (contradiction.canon, contradiction.found)
        own = [e for side in sides for e in side.evidence if e.document == draft]
        others = [e for side in sides for e in side.evidence if e.document != draft]
        values = " or ".join(f"“{side.value}”" for side in sides)
        return cls(
            f"contradiction: {contradiction.about}, {contradiction.attribute}: {values}?",
            own[0].text if own else "",
            tuple(f"In {_name_source(e)}: “{e.text}”" for e in others[:3]),
        )

    def describe(self) -> str:
        """Return the issue with its quotations, on several lines."""
        quoted = [f"In the draft: “{self.quote}”"] if self.quote else []
        return "\n".join([self.text, *quoted, *self.others])


def _name_source(evidence: TextEvidence) -> str:
    return "a note" if evidence.chapter is None else f"chapter {evidence.chapter}"


@dataclass(frozen=True, slots=True)
class DraftEdit:
    """An edit for finding number `finding`, from 1: `find` becomes `replace`."""

    finding: int
    find: str
    replace: str


@dataclass(frozen=True, slots=True)
class RefusedIssue:
    """A finding, by its number from 1, that a model does not correct, and the reason."""

    finding: int
    why: str


@dataclass(frozen=True, slots=True)
class Revision:
    """A revised `text`, with the edits that led to it and what was left as it is."""

    text: str
    edits: tuple[DraftEdit, ...] = ()
    refused: tuple[RefusedIssue, ...] = ()


def apply_edits(text: str, edits: Sequence[DraftEdit]) -> str:
    """Return `text` after all `edits`, each of which must match it exactly once.

    Raises:
        MalformedReply: An edit matches not at all or several times, is too long, changes
            nothing, or overlaps another.
    """
    located = [(_locate_edit(text, edit), edit) for edit in edits]
    located.sort(key=lambda pair: pair[0])
    parts: list[str] = []
    end = 0
    for start, edit in located:
        if start < end:
            raise MalformedReply(
                f"the edit of “{_shorten(edit.find)}” overlaps another"
            )
        parts += [text[end:start], edit.replace]
        end = start + len(edit.find)
    return "".join([*parts, text[end:]])


def _locate_edit(text: str, edit: DraftEdit) -> int:
    count = text.count(edit.find) if edit.find else 0
    shown = _shorten(edit.find)
    if not edit.find.strip():
        raise MalformedReply("`find` is empty")
    if len(edit.find) > MAX_FIND_CHARS:
        raise MalformedReply(f"“{shown}” is longer than {MAX_FIND_CHARS} characters")
    if count != 1:
        times = "not" if not count else f"{count} times"
        raise MalformedReply(f"“{shown}” stands {times} in the draft, not once")
    if edit.find == edit.replace:
        raise MalformedReply(f"the edit of “{shown}” changes nothing")
    return text.index(edit.find)


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 60 else f"{plain[:60]} …"


TOKENS_PER_WORD = 1.4
USUAL_WORDS = 1_000
"""Planned length of a scene whose card names none, for estimates."""
EDIT_TOKENS = 120
"""Usual tokens of an edit."""
REVISION_TOKENS = 2_000
"""Tokens of the entries of a brief with which a draft is revised, at most."""
MAX_ISSUES = 12
"""Findings that a language model gets in one round."""
MAX_REASON_CHARS = 300

_REVISED = frozenset(
    {
        BriefSection.CARD,
        BriefSection.RULES,
        BriefSection.PEOPLE,
        BriefSection.PLACE,
        BriefSection.ABOUT,
    }
)
"""What an edit needs: the draft shows how the text sounds, and what is around it."""

_MARKUP = re.compile(r"^(?:#{1,6}\s|```|~~~|<[A-Za-z/!])", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


class PromptName(StrEnum):
    """A prompt that the writer can change; its value is the name of its file."""

    WRITE = "write"
    BEAT = "beat"
    REVISE = "revise"
    REVIEW = "review"
    PLAN = "plan"


_SCENE_RULES = """\
- Keep the point of view, tense, person, spelling, quotation marks and sentence length \
of “How the text sounds”, but copy none of its sentences.
- What the brief says of the story is true. Entries with “plan:” or “planned” are the \
author's intentions: obey those about this scene, and tell nothing that is planned for \
after it. Obey “Rules”.
- Invent no age, date, number, kinship, look or past for people and places that the \
brief names. Small new things that the scene needs are allowed.
- Show what people do and say. No summary at the end, no moral.
"""
"""What holds for a whole scene and for each part of one."""

_DEFAULTS: Mapping[PromptName, str] = {
    PromptName.WRITE: """\
You write a scene of a novel for its author, who decides about every word of it. The \
brief has numbered entries: what the scene needs, and what the story says before it.
- Tell what “The scene” plans, its beats in their order. Length: $length.
- If the scene goes on at the place and time of “The end of the scene before”, start where \
it stops. Do not repeat its words.
"""
    + _SCENE_RULES
    + """\
paragraphs: the scene, one paragraph each, without title, headings, notes or numbers in \
brackets.
""",
    PromptName.BEAT: """\
You write a part of a scene of a novel for its author, who decides about every word of \
it. The brief has numbered entries: what the scene needs, and what the story says before \
it. “so far” is what was written of the scene.
- Write only beat $beat of the $beats beats, and stop before the next one. Length: \
$length.
- Continue where “so far” stops. If it is empty, start where “The end of the scene \
before” stops, if the place is the same. Do not repeat their words.
"""
    + _SCENE_RULES
    + """\
paragraphs: this part, one paragraph each, without title, headings, notes or numbers in \
brackets.
""",
    PromptName.REVISE: """\
You correct a draft of a scene of a novel for its author. A check found $findings. \
Correct each with the smallest edit; leave everything else as it is.
finding: the number of the finding that the edit corrects.
find: words copied letter by letter from the draft, which stand there exactly once; take \
more words around if they stand there twice. Edits must not overlap.
replace: what stands there instead, in the same voice. To add something, repeat the words \
of `find` and add to them.
What the brief and the quoted places say of the story is true. Invent no age, date, \
number, kinship, look or past.
refused: findings that you do not correct, because they are no fault, or because an edit \
would spoil the scene; why: a short reason for the author.
""",
    PromptName.REVIEW: """\
You compare a draft of a scene of a novel, for its author, with its planned beats and \
with a brief of numbered entries: the author's rules, what the story says before the \
scene, and last passages of story and notes about what the draft mentions. Judge neither \
style nor quality.
beats: for each of the $beats beats copy the words of the draft that show it happen, 4 to \
30 of them, letter by letter. If it does not happen in the draft, or only something like \
it, leave quote empty.
conflicts: what the draft tells as a fact while an entry says something else: another \
number, age, time, kinship, trade, name, colour, material, side, place or owner; somebody \
else who did it; somebody who is dead or cannot know; a rule that is broken. Compare the \
draft sentence by sentence with all entries. draft: the words of the draft, \
2 to 30, letter by letter. entry: the number of the entry. brief: its words that say \
otherwise, letter by letter.
No conflicts are: new things; what has changed in the draft itself; lies, guesses and \
mistakes of characters; what “plan:” or “planned” entries intend for later. If you are \
not sure, leave it out.
""",
    PromptName.PLAN: """\
You help a novelist plan a novel; the author decides about everything. You get the plan \
so far, what the story says, and $questions questions that the plan leaves open. Suggest \
an answer to each.
- Follow what the plan and the story say; contradict nothing. Build on what is left open \
there before you invent.
- Be specific: who does what, where, and what it changes. No themes without events.
- Answers agree with each other.
question: its number. answer: one line of plain text without markup; for people names \
with commas between, spelled as in the story; for words a number; for beats three to \
five steps with semicolons between; for always and never one rule; else one or two \
sentences. Leave the answer empty if only the author can know it.
""",
}

_NAMES: Mapping[PromptName, tuple[str, ...]] = {
    PromptName.WRITE: ("length",),
    PromptName.BEAT: ("beat", "beats", "length"),
    PromptName.REVISE: ("findings",),
    PromptName.REVIEW: ("beats",),
    PromptName.PLAN: ("questions",),
}
"""The names that each prompt may contain, such as `$length`."""


def list_prompt_names(prompt: PromptName) -> tuple[str, ...]:
    """Return the names that a prompt may contain, as `$name`."""
    return _NAMES[prompt]


def prompt_path(prompt: PromptName) -> str:
    """Return the path of a prompt's file, inside the folder of drafts."""
    return f"{PROMPTS_FOLDER}/{prompt}.md"


def get_default_prompt(prompt: PromptName) -> str:
    """Return the text of a prompt that the writer did not change."""
    return _DEFAULTS[prompt]


def check_prompt(prompt: PromptName, text: str, place: str) -> None:
    """Make sure that `text`, the file at `place`, can be used as a prompt.

    Raises:
        SettingsProblem: It is empty, or contains a `$` without a name, or a name that
            the prompt does not have.
    """
    allowed = ", ".join(f"`${name}`" for name in _NAMES[prompt])
    template = Template(text)
    if not text.strip():
        raise SettingsProblem(
            f"{place} is empty",
            hint=f"Run `lrwr draft prompts reset {prompt}` to get the default back.",
        )
    if not template.is_valid():
        raise SettingsProblem(
            f"{place} contains a `$` without a name",
            hint=f"Write `$$` for a dollar sign; the names allowed are {allowed}.",
        )
    unknown = [
        name for name in template.get_identifiers() if name not in _NAMES[prompt]
    ]
    if unknown:
        raise SettingsProblem(
            f"{place} contains `${unknown[0]}`, which this prompt does not have",
            hint=f"The names allowed are {allowed}.",
        )


@dataclass(frozen=True, slots=True)
class PromptTexts:
    """The texts of the prompts; `own` are those that the writer changed."""

    own: Mapping[PromptName, str] = field(default_factory=dict)

    def render(self, prompt: PromptName, **values: str | int) -> str:
        """Return a prompt with `values` instead of its names."""
        text = self.own.get(prompt, _DEFAULTS[prompt])
        return Template(text).substitute(values)


def reduce_brief(brief: Brief, sections: frozenset[BriefSection], tokens: int) -> Brief:
    """Return `brief` with the entries of `sections` only, the most important ones of
    them in `tokens`.
    """
    room = tokens * CHARACTERS_PER_TOKEN
    chosen: list[BriefItem] = []
    for item in sorted(brief.items, key=lambda item: item.rank):
        size = len(item.text) + len(item.place) + 12
        if item.section in sections and size <= room:
            chosen.append(item)
            room -= size
    items = tuple(item for item in brief.items if item in chosen)
    return replace(brief, items=items)


def build_write_prompt(texts: PromptTexts, brief: Brief, attempt: int) -> StepPrompt:
    """Return the prompt that asks for a whole scene."""
    words = brief.card.words or USUAL_WORDS
    task = texts.render(PromptName.WRITE, length=_spell_length(brief.card.words))
    blocks = (("brief", render_brief(brief)),)
    tokens = round(words * TOKENS_PER_WORD) + 50
    return StepPrompt("write", task, blocks, _build_text_shape(), tokens, attempt)


def build_beat_prompt(
    texts: PromptTexts, brief: Brief, beat: int, so_far: str, attempt: int
) -> StepPrompt:
    """Return the prompt that asks for beat number `beat`, from 1, of a scene."""
    card = brief.card
    words = round(card.words / len(card.beats))
    task = texts.render(
        PromptName.BEAT,
        beat=beat,
        beats=len(card.beats),
        length=_spell_length(words),
    )
    tokens = round((words or USUAL_WORDS / len(card.beats)) * TOKENS_PER_WORD) + 50
    blocks = (("brief", render_brief(brief)), ("so far", so_far))
    step = f"write beat {beat}"
    return StepPrompt(step, task, blocks, _build_text_shape(), tokens, attempt)


def build_revise_prompt(
    texts: PromptTexts, brief: Brief, draft: str, issues: Sequence[DraftIssue]
) -> StepPrompt:
    """Return the prompt that asks for edits, each for one of `issues`; of `brief` it has
    what an edit needs.
    """
    count = f"{len(issues)} findings" if len(issues) != 1 else "one finding"
    needed = reduce_brief(brief, _REVISED, REVISION_TOKENS)
    blocks = [("brief", render_brief(needed)), ("draft", draft)]
    blocks += [
        (f"finding {number}", issue.describe())
        for number, issue in enumerate(issues, start=1)
    ]
    task = texts.render(PromptName.REVISE, findings=count)
    tokens = EDIT_TOKENS * len(issues)
    return StepPrompt("revise", task, tuple(blocks), _build_edit_shape(), tokens)


def parse_prose(reply: str) -> str:
    """Return the prose of a reply, its paragraphs with an empty line between them.

    Raises:
        MalformedReply: The reply has another shape, no words, or headings.
    """
    match extract_json_object(reply):
        case {"paragraphs": [*rows], **more} if not more:
            paragraphs = [_clean_prose(row) for row in rows]
        case _:
            raise MalformedReply("it is not an object of `paragraphs`")
    text = "\n\n".join(filter(None, paragraphs))
    if not any(character.isalnum() for character in text):
        raise MalformedReply("`paragraphs` has no words")
    return text


def parse_revision(reply: str, draft: str, issues: Sequence[DraftIssue]) -> Revision:
    """Return the revision in a reply, applied to `draft`.

    Raises:
        MalformedReply: The reply has another shape, or one of its edits is for no
            finding, or does not match exactly once.
    """
    match extract_json_object(reply):
        case {"edits": [*edits], "refused": [*refusals], **more} if not more:
            parsed = tuple(_parse_edit(row, len(issues)) for row in edits)
            refused = tuple(_parse_refusal(row, len(issues)) for row in refusals)
        case _:
            raise MalformedReply("it is not an object of `edits` and `refused`")
    return Revision(apply_edits(draft, parsed), parsed, refused)


def _clean_prose(row: object) -> str:
    if not isinstance(row, str):
        raise MalformedReply("a paragraph is no text")
    text = _CONTROL.sub("", row.replace("\r\n", "\n")).strip()
    if _MARKUP.search(text):
        raise MalformedReply("a paragraph has a heading or markup")
    return re.sub(r"\n{2,}", "\n\n", text)


def _parse_edit(row: object, count: int) -> DraftEdit:
    match row:
        case {
            "finding": int(finding),
            "find": str(find),
            "replace": str(replacement),
            **more,
        } if not (more or isinstance(finding, bool)):
            if not 1 <= finding <= count:
                raise MalformedReply(f"there is no finding {finding}")
            return DraftEdit(finding, find, _clean_prose_edit(replacement))
    raise MalformedReply("an edit is not `finding`, `find` and `replace`")


def _clean_prose_edit(text: str) -> str:
    if _MARKUP.search(text):
        raise MalformedReply("`replace` has a heading or markup")
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def _parse_refusal(row: object, count: int) -> RefusedIssue:
    match row:
        case {"finding": int(finding), "why": str(why), **more} if not more:
            if not 1 <= finding <= count:
                raise MalformedReply(f"there is no finding {finding}")
            return RefusedIssue(finding, flatten_reply_text(why)[:MAX_REASON_CHARS])
    raise MalformedReply("an entry of `refused` is not `finding` and `why`")


def _spell_length(words: int) -> str:
    return f"about {words:,} words" if words else "as long as the scene needs"


TEXT_FIELD, NUMBER_FIELD = {"type": "string"}, {"type": "integer"}


def build_list_shape(name: str, **lists: object) -> ReplyShape:
    """Return the shape of a reply with a list for each name in `lists`, of which it has
    the schema of an entry.
    """
    fields = {key: {"type": "array", "items": items} for key, items in lists.items()}
    schema = build_strict_schema(fields)
    return ReplyShape(name, json.dumps(schema, separators=(",", ":")))


@cache
def _build_text_shape() -> ReplyShape:
    return build_list_shape("Scene", paragraphs=TEXT_FIELD)


@cache
def _build_edit_shape() -> ReplyShape:
    edit = {"finding": NUMBER_FIELD, "find": TEXT_FIELD, "replace": TEXT_FIELD}
    refusal = {"finding": NUMBER_FIELD, "why": TEXT_FIELD}
    return build_list_shape(
        "Edits",
        edits=build_strict_schema(edit),
        refused=build_strict_schema(refusal),
    )
