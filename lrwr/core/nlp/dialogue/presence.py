"""Who is present in a scene in the flesh, told from who is only named in it."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from lrwr.core.model.cast import Mention, Quotation
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import LazyPattern, Span
from lrwr.core.nlp.text.prose import MASK_CHARACTER

_REACH = 110
"""Characters before and after a name that tell its part in the sentence."""
_PAST_TEXT = (
    "said came went saw stood sat took gave began ran fell rose turned threw caught held "
    "shook drew spoke told heard broke led left met brought bent laid lay kept put set let "
    "cut hit shut hung wrote read rode drove sang swam sprang sprung struck flung clung "
    "wept slept woke awoke swept crept leapt ate drank bit blew burst sent spent lit "
    "laughed made found got bade bid knelt paid sought stole swore tore wore wrung slid "
    "fled flew grew lost rang shot spun stuck swung trod withdrew burnt"
)
IRREGULAR_PAST_VERBS = frozenset(_PAST_TEXT.split())
"""Past forms of verbs of acting that do not end in "ed"."""
_STATES_TEXT = (
    "was were had seemed appeared felt thought knew loved hated wished wanted hoped "
    "believed remembered understood liked feared supposed belonged lived used intended "
    "remained"
)
_STATES = frozenset(_STATES_TEXT.split())
_MODALS = frozenset(
    [
        "would",
        "should",
        "could",
        "might",
        "must",
        "may",
        "will",
        "can",
        "did",
        "has",
        "have",
        "is",
        "are",
    ]
)
_NO_VERBS = frozenset({"indeed", "need", "hundred"})
_NAME = r"(?:(?:Mr|Mrs|Miss|Dr|Lady|Lord|Sir|Captain|Colonel|the)\.? )*[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*"
_ADVERBS = (
    r"(?:(?:[a-z]+ly|then|now|at once|at last|also|again|once more|just|soon|both|all|"
    r"still|too|here|there|never|only|even|at length|meanwhile|himself|herself),? )*"
)
# What follows a subject: others joined to it, an apposition, adverbs, the verb
_VERB_AFTER = LazyPattern(
    rf"(?:(?:, {_NAME})*,? and (?:\w+ )?{_NAME})?(?:,[^,.;:?!\x01]{{2,70}},)? "
    rf"{_ADVERBS}(?P<verb>[a-z]+)\b"
)
_KIND_WORDS = r"(?: the| his| her| my| poor| dear| old| little| young)*"
_TOPIC_BEFORE = LazyPattern(
    r"\b(?:[Oo]f|[Aa]bout|[Ff]or|from|concerning|respecting|[Ll]ike|than|[Ww]ithout|except|"
    r"regarding|what|especially|particularly|[Uu]ntil|[Ss]ince|dear|[Pp]oor|against|[Aa]s|[Ii]f|[Ww]hether|unless|[Tt]ill|"
    rf"nor|[Nn]either|(?:not|never) (?:seen|met|found)){_KIND_WORDS} $"
)
_COMPANION_BEFORE = LazyPattern(
    r"\b(?:to|with|at|by|beside|near|upon|on|towards?|before|behind|between|after|past|"
    rf"round){_KIND_WORDS} $"
)
# What is said, written, felt or asked of somebody: "an enquiry after Nell"
_REGARD_BEFORE = LazyPattern(
    r"\b(?:[Aa]s|relat(?:e|ed|es|ing)|kindred|regards?|respects?|enquir\w+|inquir\w+|ask(?:ed|ing)? after|wonder\w*|surprise|"
    r"letters?|notes?|wr(?:o|i)te|writing|written|correspond\w*|attach\w*|alluded?|"
    r"allusions?|alluding|refer(?:red|ring|ence|ences)?|indifferen\w*|gratitude|grateful|"
    r"unjust|just|justice|superior\w*|inferior\w*|engaged|engagement|betrothed|marri\w+|"
    r"resemblance|likeness|conversations?|acquaint\w*|quarrel\w*|angry|in love|"
    r"compar\w+|belong\w*|due|owed?|owing|superseded?)(?: \w+)? (?:to|at|after|with|on|upon)"
    rf"{_KIND_WORDS} $"
)
# "A sketch, sent years ago by Nell", "a note from her"
_MADE_BY_BEFORE = LazyPattern(
    r"\b(?:sent|drawn|painted|written|made|given|composed|bequeathed|worked|signed|sketch\w*|"
    rf"portrait|picture|letter|note|verses|gift|present)\b[^.;:\x01]{{0,45}}? by{_KIND_WORDS} $"
)
# What others do to somebody who is there: "Nell was received with kindness"
_GREETED_AFTER = LazyPattern(
    r" (?:\w+ly |then |at once |soon |again )?(?:received|greeted|welcomed|embraced|kissed|"
    r"introduced|led|seated|placed|ushered|surrounded|handed|helped|carried|lifted|assisted|"
    r"dragged|pushed|stationed|joined|summoned|called in|shown in|shown into)\b"
)
# "Nell's hand", "Nell's presence": who has them is there
_OWN_AFTER = LazyPattern(
    r"['’]s (?:\w+ )?(?:hands?|face|eyes?|arms?|lips|cheeks?|brow|shoulders?|voice|"
    r"presence|smiles?|sighs?|sobs?|tears|countenance|knees?|lap|glance)\b"
)
_LETTER_WORDS = re.compile(
    r"\bI (?:write|am writing|have written|take up my pen)\b|\b[Yy]ours (?:ever|truly|affectionately|"
    r"sincerely|faithfully|etc|always)\b|\bYours,|\bP\. ?S\."
)
_GREETING = re.compile(
    r"[“\"‘']?\s*(?:My )?(?:dear|dearest|Dear|Dearest) [A-Z][\w .]{1,30}[,:—-]"
)
_LETTER_BEFORE = re.compile(
    r"\b(?:letters?|notes?|epistle|lines|wrote|written|telegram|read|post)\b[^“”\"]{0,250}$"
)
# Thought, memory and report in the same clause
_REPORT_BEFORE = LazyPattern(
    r"\b(?:thought|think|thinking|knew|known|wish\w*|hop\w+|fear\w*|remember\w*|suppos\w+|"
    r"believ\w+|imagin\w+|heard|hear|told|said|understood|informed|mention\w*|speak\w*|"
    r"spoke\w*|talk\w*|letter|wrote|convinced|assured|doubt\w*|expect\w*|recollect\w*)\b"
    r"[^.;:\x01]{0,80}$"
)
# "Nell away", "Nell was absent", "Nell, dead these two years"
_ABSENT_AFTER = LazyPattern(
    r",?(?: (?:was|were|is|being|had been|has been))?(?: (?:still|now|already|so long|long))? "
    r"(?:away|absent|dead|gone away|abroad|far away|no more)\b(?! (?:with|from (?:h|the)))"
)
_LATE_BEFORE = LazyPattern(
    r"\b(?:the late|memory of|death of|grave of|picture of|news of) $"
)
_DEATH_AFTER = LazyPattern(r"['’]s (?:death|funeral|grave|tomb|burial|ghost|memory)\b")
# "Not considering Nell entitled to it"
_OBJECT_BEFORE = LazyPattern(
    r"\b(?:[a-z]+ing|to [a-z]+|consider\w*|thought|found|saw|see|left|made|had)(?: the| his| her)? $"
)
_NOT_AFTER = LazyPattern(r" (?:not|never|no more|no longer)\b")
# The tag of a quotation: "…," said Nell
_TAG_BEFORE = LazyPattern(r"\x01\W{0,3} ?(?:said|spoke|[a-z]+ed) (?:the |old |poor )*$")
_PARTICIPLE_AFTER = LazyPattern(
    r" (?:\w+ )?(?:been|\w+ed|gone|come|said|done|seen|made|taken|given|left|told|heard|had|"
    r"known|become|brought|found|got|lost|thought|spoken|written)\b"
)
_NARRATOR_ACTS = re.compile(r"(?<![\w'’])I(?![\w'’-])")
_LEAST_NARRATED = 2
"""Times that a narrator says "I" in a scene in which they are present."""

# Weights of a logistic model over the signs below, fitted on forty chapters of four
# novels whose people were marked as present or spoken of (decision 040). The score is
# log odds: from 0 on, presence is the likelier. The second weights of `beside` and
# `object` are added by hand, for people on whom others act, such as the injured; that of
# `absent`, for people of whom the narration says that they are away or dead, too.
_BIAS = -0.3
_CAPPED: Sequence[tuple[str, int, float]] = (
    ("says", 1, 2.0),
    ("says", 4, 1.0),
    ("may_say", 3, 0.65),
    ("hears", 2, 1.75),
    ("may_hear", 2, 1.0),
    ("acts", 1, 2.0),
    ("acts", 4, 1.0),
    ("beside", 2, 1.2),
    ("object", 2, 0.5),
    ("beside", 6, 0.8),
    ("object", 7, 0.8),
    ("state", 2, -0.7),
    ("before", 2, -0.5),
    ("topic", 2, -0.7),
    ("reported", 2, -1.0),
    ("absent", 1, -4.0),
)
"""Sign, count from which more make no difference, weight at that count."""
_PASSIVE_SIGNS = frozenset(
    {"narrated", "spoken", "topic", "reported", "before", "absent"}
)
"""Signs that never show a character present by themselves."""
_SPOKEN_OF, _NEVER_NARRATED, _DENSITY = -1.0, -0.7, 1.0
"""Weights of the share of mentions in dialogue, of having no others, and of mentions in
narration for each 2,000 characters of the scene, of which at most 10 count."""


def find_present_characters(
    text: str,
    scenes: Sequence[Sequence[Span]],
    mentions: Iterable[Mention],
    quotations: Sequence[Quotation],
    *,
    narrator: str = "",
) -> list[frozenset[str]]:
    """Return the names of the characters who are present in each of `scenes`, in order.

    `scenes` are the spans of each scene of `text`. A character is present who acts or
    speaks there; one who is only thought, told or spoken of is not. `narrator` is
    present where the narration says what "I" do.
    """
    starts = [scene[0].start if scene else len(text) for scene in scenes]
    signs: list[dict[str, Counter[str]]] = [{} for _ in scenes]
    narration = _mask_quotations(text, quotations)
    for name, sign, at in _iter_signs(text, narration, mentions, quotations):
        index = bisect_right(starts, at) - 1
        if index >= 0:
            signs[index].setdefault(name, Counter())[sign] += 1
    present = []
    for scene, people in zip(scenes, signs, strict=True):
        length = sum(map(len, scene))
        names = {name for name, seen in people.items() if _is_present(seen, length)}
        if narrator and _narrates(narration, scene):
            names.add(narrator)
        present.append(frozenset(names))
    return present


def find_narrator_words(text: str, quotations: Sequence[Quotation]) -> list[Span]:
    """Return the spans of "I" in the narration of `text`, in text order."""
    narration = _mask_quotations(text, quotations)
    return [Span(*match.span()) for match in _NARRATOR_ACTS.finditer(narration)]


def _narrates(narration: str, scene: Sequence[Span]) -> bool:
    found = sum(
        1 for part in scene for _ in _NARRATOR_ACTS.finditer(narration, part.start, part.end)
    )  # fmt: skip
    return found >= _LEAST_NARRATED


def _is_present(signs: Counter[str], length: int) -> bool:
    """Return whether the counted signs show a character present in a scene of `length`
    characters.
    """
    if _PASSIVE_SIGNS.issuperset(signs):
        return False
    narrated = signs["narrated"]
    score = _BIAS + sum(
        weight * min(signs[sign], cap) / cap for sign, cap, weight in _CAPPED
    )
    score += _SPOKEN_OF * signs["spoken"] / (1 + signs["spoken"] + narrated)
    score += _DENSITY * min(narrated, 10) * 2000 / max(length, 2000)
    return score + (0.0 if narrated else _NEVER_NARRATED) >= 0


def _iter_signs(
    text: str,
    narration: str,
    mentions: Iterable[Mention],
    quotations: Iterable[Quotation],
) -> Iterator[tuple[str, str, int]]:
    """Yield (name, sign, offset in the text)."""
    for quotation in quotations:
        at = quotation.spans[0].start
        if _is_letter(text, quotation):
            continue
        if quotation.speaker:
            is_sure = quotation.certainty is not Certainty.PROBABLE
            yield quotation.speaker, "says" if is_sure else "may_say", at
        if quotation.addressee:
            is_sure = quotation.addressee_certainty is not Certainty.PROBABLE
            yield quotation.addressee, "hears" if is_sure else "may_hear", at
    for mention in mentions:
        at = mention.span.start
        if narration[at] == MASK_CHARACTER:
            yield mention.who, "spoken", at
            continue
        yield mention.who, "narrated", at
        yield mention.who, _classify_mention(narration, mention.span), at


def _is_letter(text: str, quotation: Quotation) -> bool:
    """Return whether a quotation is a letter: who wrote it is elsewhere."""
    spans = quotation.spans
    words = text[spans[0].start : spans[-1].end]
    if _LETTER_WORDS.search(words):
        return True
    before = text[max(0, spans[0].start - 300) : spans[0].start]
    return bool(_GREETING.match(words) and _LETTER_BEFORE.search(before))


def _classify_mention(narration: str, span: Span) -> str:
    """Return the sign that a name at `span` of the narration gives."""
    after = narration[span.end : span.end + _REACH]
    before = narration[max(0, span.start - _REACH) : span.start]
    if _DEATH_AFTER.match(after, 0):
        return "absent"
    if after[:2] in ("'s", "’s") or _TOPIC_BEFORE.search(before):
        return "beside" if _owns_what_is_seen(before, after) else "topic"
    if _ABSENT_AFTER.match(after, 0) or _LATE_BEFORE.search(before):
        return "absent"
    if _TAG_BEFORE.search(before):
        return "acts"
    if _REPORT_BEFORE.search(before):
        return "reported"
    if _COMPANION_BEFORE.search(before):
        is_topic = _REGARD_BEFORE.search(before) or _MADE_BY_BEFORE.search(before)
        return "topic" if is_topic else "beside"
    match = _VERB_AFTER.match(after, 0)
    if match and _OBJECT_BEFORE.search(before):
        return "object"
    return _classify_verb(match["verb"], after[match.end() :]) if match else "object"


def _owns_what_is_seen(before: str, after: str) -> bool:
    """Return whether a name stands in "Nell's hand", which is not only spoken of."""
    is_seen = bool(_OWN_AFTER.match(after, 0))
    spoken_of = _TOPIC_BEFORE.search(before) or _REPORT_BEFORE.search(before)
    return is_seen and not spoken_of


def _classify_verb(verb: str, after: str) -> str:
    if verb in ("was", "were") and _GREETED_AFTER.match(after, 0):
        return "acts"
    if verb == "had" and _PARTICIPLE_AFTER.match(after, 0):
        return "before"
    if verb in _STATES or verb in _MODALS:
        return "state"
    if _NOT_AFTER.match(after, 0):
        return "state"
    is_past = verb in IRREGULAR_PAST_VERBS or (
        verb.endswith("ed") and len(verb) > 3 and verb not in _NO_VERBS
    )
    return "acts" if is_past else "object"


_BLOCK_QUOTE = LazyPattern(r"(?m)^ {0,3}>.*$")


def _mask_quotations(text: str, quotations: Iterable[Quotation]) -> str:
    """Return `text` with quotations, also whole lines of letters and documents (">"),
    masked and line ends as spaces.
    """
    parts: list[str] = []
    at = 0
    quoted = [span for quotation in quotations for span in quotation.spans]
    if ">" in text:
        quoted += [Span(*match.span()) for match in _BLOCK_QUOTE.finditer(text)]
    for span in sorted(quoted):
        if span.start >= at:
            parts += [text[at : span.start], MASK_CHARACTER * len(span)]
            at = span.end
    return "".join([*parts, text[at:]]).replace("\n", " ").replace("_", " ")
