"""Lets a language model compare statements with passages: prompts, replies, verdicts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cache

from lrwr.core.attribution.details import stem_words
from lrwr.core.attribution.names import find_missing_names, fold_words
from lrwr.core.attribution.quotations import find_quotation, occurs_in
from lrwr.core.batch_judge import BatchJudge, JudgeBudget
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape
from lrwr.core.ports.stores import AnalysisStore

PROMPT_REVISION = "5"
"""Version of prompt and schema; part of the cache key of verdicts."""

STATEMENTS_PER_CALL = 6
MAX_STATEMENTS_PER_RUN = 400
MIN_QUOTE_WORDS = 3
MIN_QUOTE_STEMS = 2
"""Words, and content words, that a quotation must have to decide anything."""

_AROUND_CHARS = 300
"""Characters around a quotation in which a content word of the statement must stand."""

_FIRST_WORDS = 4
"""Words by which the place of a quotation is found."""

MAX_REASON_WORDS = 20
_REPLY_TOKENS = 60

_INSTRUCTIONS = """\
You check a text about a novel against the novel. You get numbered passages of the \
novel, or of its author's notes, the names of its characters, and statements. The label \
of a statement lists its passages: $which. "before" is what the text says before a \
statement: it shows whom "she" or "it" means, and is not to be judged. For each \
statement decide:
supported: the passages say all of it, in any words, or it follows from them;
contradicted: a passage says something that cannot be true together with it;
absent: neither. Also choose absent where a person, thing, act, number, place or time in \
the statement is not said, where the passages are about somebody or something else, or \
where you are not sure. What only frames, values or sums up (“it is essential that”, “at \
last”) need not be said. A “this” or “it” that nothing explains means what the passages \
are about.
Judge what is meant, not the choice of words. Two passages together may say it. What a \
character says shows that it was said, and counts for what it tells of unless something \
speaks against it; where the narration tells it too, the narration decides. What is only \
dreamt, supposed or pretended is not so. Passages are single moments: what changes later \
does not contradict.
passage: the number of the passage that decides; 0 for absent.
quote: the words that decide, 3 to 25 of them, with the names, numbers or things that \
the statement is about, copied letter by letter from that passage; empty for absent.
why: at most 20 words, without numbers of passages.
"""

_OWN_ONLY = "use those only"
_ANY_PASSAGE = "they most likely decide, but any other passage here may decide as well"


class Verdict(StrEnum):
    """What a language model says about a statement."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    ABSENT = "not in the evidence"


_WORDS = {
    "supported": Verdict.SUPPORTED,
    "contradicted": Verdict.CONTRADICTED,
    "absent": Verdict.ABSENT,
}


@dataclass(frozen=True, slots=True)
class EvidenceClaim:
    """A statement, the texts of the passages to compare it with, best first, and lines
    with the names of the characters in it, as in "Nell, Nell Tallow".

    `before` are the sentences before it, if it may need them to be understood. `nearby`
    are the texts of further passages that may decide, those of statements around it.
    `places` says of each of `texts` where it stands, as in "chapter 3"; empty if unknown.
    """

    statement: str
    passages: tuple[str, ...]
    names: tuple[str, ...] = ()
    before: str = ""
    nearby: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of all passages that may decide, its own first."""
        return (*self.passages, *self.nearby)


@dataclass(frozen=True, slots=True)
class ClaimJudgement:
    """A language model's verdict about a statement, not verified yet.

    `passage` is the index in `EvidenceClaim.texts`, from 0, of the passage with the words `quote` that decide;
    None if none does. `why` is the reason in a few words.
    """

    verdict: Verdict
    passage: int | None = None
    quote: str = ""
    why: str = ""


def verify_judgement(
    claim: EvidenceClaim, judgement: ClaimJudgement
) -> ClaimJudgement | None:
    """Return the judgement if its quotation stands in a passage of `claim`, with the
    index of that passage; None if not.

    The quotation must have content words and stand beside one of the statement; for
    `Verdict.CONTRADICTED`, in a passage with one. `Verdict.SUPPORTED` needs passages
    with the names of the statement too, `Verdict.ABSENT` needs no quotation.
    """
    if judgement.verdict is Verdict.ABSENT:
        return ClaimJudgement(Verdict.ABSENT, why=judgement.why)
    if not _is_telling(judgement.quote):
        return None
    if judgement.verdict is Verdict.SUPPORTED and _lacks_name(claim):
        return None
    named = () if judgement.passage is None else (judgement.passage,)
    for at in (*named, *range(len(claim.texts))):
        if at < len(claim.texts) and _decides(judgement, claim, at):
            return ClaimJudgement(judgement.verdict, at, judgement.quote, judgement.why)
    return None


def _is_telling(quote: str) -> bool:
    enough = len(quote.split()) >= MIN_QUOTE_WORDS
    return enough and len(stem_words(quote)) >= MIN_QUOTE_STEMS


def _decides(judgement: ClaimJudgement, claim: EvidenceClaim, at: int) -> bool:
    """Return whether the quotation stands in a passage; if the statement names a
    character, near a content word of it, or anywhere in its passage to contradict it.
    """
    text, quote = claim.texts[at], judgement.quote
    if not occurs_in(quote, [text]) or not claim.names:
        return occurs_in(quote, [text])
    around = text
    if judgement.verdict is Verdict.SUPPORTED:
        place = find_quotation(text, " ".join(quote.split()[:_FIRST_WORDS]))
        start = place.start if place else 0
        end = start + len(quote) + _AROUND_CHARS
        around = text[max(0, start - _AROUND_CHARS) : end]
    names = " ".join(claim.names)
    return not stem_words(f"{claim.statement} {names}").isdisjoint(stem_words(around))


def _lacks_name(claim: EvidenceClaim) -> bool:
    """Return whether a statement that names a character has some name of which no
    passage has anything; other statements may have other words for their names.
    """
    if not claim.names:
        return False
    source = "\n".join(claim.texts)
    words = {*fold_words(source)}
    cast = [line.split(", ") for line in claim.names]
    return any(
        words.isdisjoint(fold_words(name.text))
        for name in find_missing_names(claim.statement, source, cast)
    )


def build_claim_messages(claims: Sequence[EvidenceClaim]) -> list[ChatMessage]:
    """Return the prompt that asks about `claims`, numbered from 1.

    All text of the draft and the manuscript stands between lines with a random mark, so
    that the model cannot take it for instructions. A passage of several claims is sent
    once.
    """
    passages = _list_passages(claims)
    numbers = {text: number for number, text in enumerate(passages, start=1)}
    names = list(dict.fromkeys(line for claim in claims for line in claim.names))
    blocks = [("names", "\n".join(names))] if names else []
    places = _map_places(claims)
    blocks += [
        (", ".join(filter(None, (f"passage {number}", places.get(text)))), text)
        for text, number in numbers.items()
    ]
    for number, claim in enumerate(claims, start=1):
        listed = ", ".join(str(numbers[text]) for text in claim.passages)
        if claim.before:
            blocks.append((f"before {number}", claim.before))
        blocks.append((f"statement {number}, passages {listed}", claim.statement))
    mark = generate_fence_mark(*(text for _, text in blocks))
    fenced = "\n".join(wrap_in_fence(label, text, mark) for label, text in blocks)
    which = _ANY_PASSAGE if any(claim.nearby for claim in claims) else _OWN_ONLY
    instructions = _INSTRUCTIONS.replace("$which", which)
    return [
        ChatMessage("system", f"{instructions}{FENCE_RULE}"),
        ChatMessage("user", fenced),
    ]


def _list_passages(claims: Sequence[EvidenceClaim]) -> list[str]:
    """Return the texts of the passages of a prompt, in the order of their numbers."""
    own = [text for claim in claims for text in claim.passages]
    nearby = [text for claim in claims for text in claim.nearby]
    return list(dict.fromkeys([*own, *nearby]))


def _map_places(claims: Sequence[EvidenceClaim]) -> Mapping[str, str]:
    """Return the known places of passages by their texts."""
    return {
        text: place
        for claim in claims
        for text, place in zip(claim.texts, claim.places, strict=False)
        if place
    }


def share_passages(claims: Sequence[EvidenceClaim]) -> list[EvidenceClaim]:
    """Return the claims, each with the passages of those that are sent in one call with
    it as `nearby`.
    """
    shared = []
    for start in range(0, len(claims), STATEMENTS_PER_CALL):
        batch = claims[start : start + STATEMENTS_PER_CALL]
        texts, places = _list_passages(batch), _map_places(batch)
        for claim in batch:
            nearby = tuple(text for text in texts if text not in claim.passages)
            listed = tuple(places.get(text, "") for text in (*claim.passages, *nearby))
            shared.append(replace(claim, nearby=nearby, places=listed))
    return shared


@cache
def build_claim_shape() -> ReplyShape:
    """Return the format of a reply: a JSON object with the array "statements"."""
    row = {
        "id": {"type": "integer"},
        "verdict": {"type": "string", "enum": list(_WORDS)},
        "passage": {"type": "integer"},
        "quote": {"type": "string"},
        "why": {"type": "string"},
    }
    fields = {"statements": {"type": "array", "items": build_strict_schema(row)}}
    schema = json.dumps(build_strict_schema(fields), separators=(",", ":"))
    return ReplyShape("Statements", schema)


def parse_claim_judgements(
    reply: str, claims: Sequence[EvidenceClaim]
) -> Mapping[int, ClaimJudgement]:
    """Return the judgements in `reply` by index of the claim, from 0.

    Claims that are left out, judged twice or whose row is malformed are missing.

    Raises:
        MalformedReply: The reply does not match the schema, or none of its rows does.
    """
    match extract_json_object(reply):
        case {"statements": [*rows], **more} if not more:
            judged = [parsed for row in rows if (parsed := _parse_row(row))]
        case _:
            raise MalformedReply("it is not an object of `statements`")
    if rows and not judged:
        raise MalformedReply(
            "no statement is `id`, `verdict`, `passage`, `quote` and `why`"
        )
    passages = _list_passages(claims)
    numbers = [number for number, _ in judged]
    return {
        number - 1: _localize(judgement, claims[number - 1], passages)
        for number, judgement in judged
        if 1 <= number <= len(claims) and numbers.count(number) == 1
    }


def _localize(
    judgement: ClaimJudgement, claim: EvidenceClaim, passages: Sequence[str]
) -> ClaimJudgement:
    """Turn the number of a passage of the prompt into its index in the claim."""
    number = judgement.passage
    at = None
    if number is not None and 0 < number <= len(passages):
        text = passages[number - 1]
        at = claim.texts.index(text) if text in claim.texts else None
    return ClaimJudgement(judgement.verdict, at, judgement.quote, judgement.why)


def _parse_row(row: object) -> tuple[int, ClaimJudgement] | None:
    """Return the number of the statement and its judgement; None for a malformed row."""
    match row:
        case {
            "id": int(number),
            "verdict": str(verdict),
            "passage": int(passage),
            "quote": str(quote),
            "why": str(why),
            **more,
        } if verdict in _WORDS and not (more or isinstance(number, bool)):
            words = flatten_reply_text(why).split()[:MAX_REASON_WORDS]
            judgement = ClaimJudgement(
                _WORDS[verdict], passage, quote.strip(" “”\"'"), " ".join(words)
            )
            return number, judgement
    return None


class _ClaimFormat:
    """How statements are sent to a language model, and its verdicts read."""

    most_per_run = MAX_STATEMENTS_PER_RUN
    reply_tokens = _REPLY_TOKENS

    def __init__(self, per_call: int) -> None:
        self.per_call = per_call

    def build_messages(self, items: Sequence[EvidenceClaim]) -> list[ChatMessage]:
        """Return the prompt about several statements."""
        return build_claim_messages(items)

    def shape(self) -> ReplyShape:
        """Return the format of a reply."""
        return build_claim_shape()

    def parse(
        self, reply: str, items: Sequence[EvidenceClaim]
    ) -> Mapping[int, ClaimJudgement]:
        """Return the judgements in `reply`, by index of the statement."""
        return parse_claim_judgements(reply, items)

    def serialize(self, judgement: ClaimJudgement) -> str:
        """Return a judgement as text, for storage."""
        return json.dumps(asdict(judgement), ensure_ascii=False)

    def deserialize(self, text: str) -> ClaimJudgement:
        """Return the judgement that `serialize` turned into `text`."""
        row = json.loads(text)
        verdict = Verdict(row["verdict"])
        return ClaimJudgement(verdict, row["passage"], row["quote"], row["why"])

    def list_key_parts(self, item: EvidenceClaim) -> list[str]:
        """Return all that a judgement depends on, besides the model."""
        texts = [item.statement, item.before, *item.texts, *item.names, *item.places]
        return ["evidence", PROMPT_REVISION, *texts]


class ClaimJudge(BatchJudge[EvidenceClaim, ClaimJudgement]):
    """Lets a language model judge statements, and stores each judgement.

    A stored judgement is reused while the statement, its passages, the model and the
    prompt are the same. `budget` limits what a run may cost. A call has `per_call`
    statements at most.
    """

    def __init__(
        self,
        chat: ChatModel,
        store: AnalysisStore,
        budget: JudgeBudget,
        per_call: int = STATEMENTS_PER_CALL,
    ) -> None:
        super().__init__(chat, store, budget, _ClaimFormat(per_call))
