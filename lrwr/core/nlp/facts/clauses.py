"""Names and assertions in clauses: patterns and checks shared by all fact rules."""

import re
from collections.abc import Iterable, Iterator, Sequence

from lrwr.core.model.facts import RULES_KEEPER, Certainty, Fact, FactAbout
from lrwr.core.model.text import LazyPattern, Span
from lrwr.core.nlp.text.prose import MASK_CHARACTER, AnnotatedProse, ProseSentence

TITLE_WORDS = (
    "Mr Mrs Ms Miss Dr Sir Lady Lord Captain Capt Colonel Col Major General Sergeant "
    "Lieutenant Professor Prof Doctor Father Brother Sister Mother Saint St Uncle "
    "Aunt Madame Madam Monsieur Mademoiselle Count Countess Baron Baroness Duke "
    "Duchess Prince Princess King Queen Inspector Rev Reverend Master Mistress Dame "
    "Squire Judge Justice Admiral Corporal Widow Goodman Goody Mme Mlle"
)
_TITLE = "|".join(TITLE_WORDS.split())
_WORD = r"(?:[ODM]')?[A-ZÀ-ÖØ-Þ][\w]+(?:-[A-Z]?\w+)*"
NAME_PATTERN = (
    rf"(?:[Tt]he )?(?:(?:{_TITLE})\b\.? ){{0,2}}(?:[A-Z]\. )*{_WORD}"
    rf"(?: (?:(?:de|du|van|von|la|le|of the|of) |"
    rf"(?:{_TITLE})\b\.? )?(?:[A-Z]\. )*{_WORD}){{0,4}}"
)
"""Matches a name; may also match capitalised words that are none (see `clean_name`)."""
_FEMALE_TEXT = (
    "Mrs Ms Miss Lady Sister Mother Aunt Madame Madam Mademoiselle Countess "
    "Baroness Duchess Princess Queen Dame Widow Goody Mme Mlle Mistress"
)
FEMALE_TITLE_WORDS = frozenset(_FEMALE_TEXT.split())
_MALE_TEXT = (
    "Mr Sir Lord Father Brother Uncle Monsieur Count Baron Duke Prince King "
    "Goodman Squire"
)
MALE_TITLE_WORDS = frozenset(_MALE_TEXT.split())
_NO_NAMES_TEXT = (
    "A About Above After Again Ah All Alas Almost Already Also Although Always Am "
    "An And Another Any Anybody Anyone Anything Are As At Aye Be Because Been "
    "Before Behind Being Below Beside Besides Between Beyond Both But By Can "
    "Certainly Come Could Dear Did Do Does Down During Each Either Else Even Ever "
    "Every Everybody Everyone Everything Except Few First For From Get Go Good "
    "Had Has Have Having He Hence Her Here Hers Herself Him Himself His How "
    "However I If In Indeed Instead Into Is It Its Itself Just Last Later Let "
    "Like Little Look Many May Maybe Me Meanwhile Might Mine More Most Much Must "
    "My Myself Near Nearly Neither Never Next No Nobody None Nor Not Nothing Now "
    "O Of Off Often Oh On Once One Only Or Other Others Our Ours Out Over Own "
    "Perhaps Poor Quite Rather Really Same Second See Several Shall She Should "
    "Since So Some Somebody Someone Something Sometimes Somewhere Soon Still Such "
    "Than That The Their Theirs Them Themselves Then There Therefore These They "
    "This Those Though Three Through Thus Till To Together Too Toward Towards Two "
    "Under Unless Until Up Upon Us Very Was We Well Were What Whatever When "
    "Whenever Where Whether Which While Who Whom Whose Why Will With Within "
    "Without Would Yes Yet You Your Yours Old Young Chapter Book Volume Part "
    "Finally Suddenly Presently Afterwards Inside Outside Across Along Around "
    "Against Among Amid Hullo Hello Hush Nay Pray Thank Thanks Today Tomorrow "
    "Yesterday Tonight Monday Tuesday Wednesday Thursday Friday Saturday Sunday "
    "January February March April June July August September October November "
    "December Christmas Easter Michaelmas Lent God Heaven Lord Providence English "
    "French German Italian Spanish Irish Scotch Scottish Welsh American Latin "
    "Greek Indian Russian Dutch Jewish Jew Christian Catholic Protestant Bible "
    "Mamma Mama Papa Mother Father Mr Mrs Miss Sir Madam Ma'am Everywhere Nowhere "
    "Neither Having Being Aunts Uncles Whoever Whichever Four Five Six Seven "
    "Eight Nine Ten"
)
NON_NAMES = frozenset(_NO_NAMES_TEXT.split())
"""Words that are no names, though they may start a sentence."""
_TITLE_WORDS = frozenset(TITLE_WORDS.split())
_TITLED = re.compile(rf"(?:{_TITLE})\b\.? ")
_PLACE_PREPOSITION = re.compile(
    r"\b(?:in|at|into|near|through|towards?|across|from|of|on|over|beyond|"
    r"between|beside|behind|under|above|below|against|past|with|upon|before|"
    r"after|than|for) $"
)
_NON_NAME_ENDINGS = ("ing", "ed", "ly", "ous", "ful", "less")
"""Endings of verbs, adverbs and adjectives that often start a sentence."""
_FIRST_WORD = re.compile(r"[\w']+")
_ARTICLE = re.compile(r"[Tt]he ")
_ADVERB_BEFORE_TITLE = re.compile(rf"^[A-Z][a-z]+ly (?=(?:{_TITLE})\b)")
"""An adverb that starts a sentence: "Luckily Lady Vale came"."""


def clean_name(phrase: str, prose: AnnotatedProse) -> str:
    """Return the name in `phrase` without words that only start a sentence; "" if there
    is no name.

    A single capitalised word is a name if it is capitalised inside a sentence
    elsewhere, or never occurs in lower case and has no typical ending of verbs and
    adverbs.
    """
    name = _ADVERB_BEFORE_TITLE.sub("", phrase.strip())
    while (first := name.split(" ")[0]) in NON_NAMES and not _TITLED.match(name):
        if " " not in name:
            return ""
        if first == "The":
            break
        name = name[len(first) + 1 :]
    words = _ARTICLE.sub("", name).split(" ")
    if not words or (words[-1] in NON_NAMES and not name.endswith(".")):
        return ""
    if name.rstrip(".") in _TITLE_WORDS and not name.startswith(("the ", "The ")):
        return ""
    if len(words) == 1 and words[0] not in prose.names:
        common = words[0].lower() in prose.plain or words[0].endswith(_NON_NAME_ENDINGS)
        return "" if common else name
    return name


def find_matches_at(
    pattern: LazyPattern, words: str, starts: Sequence[int]
) -> Iterator[re.Match[str]]:
    """Yield the matches of `pattern` that start at one of the offsets `starts` of
    `words`.

    `pattern` begins with a name. `starts` are ascending; matches are in text order and
    do not overlap. A start is skipped if its word is capitalised only as the first of a
    sentence ("If Nell …").
    """
    end = 0
    for start in starts:
        if start < end or _begins_sentence(words, start):
            continue
        if match := pattern.match(words, start):
            yield match
            end = match.end()


def _begins_sentence(words: str, start: int) -> bool:
    first = _FIRST_WORD.match(words, start)
    word = first.group() if first else ""
    return word in NON_NAMES and word != "The" and word not in _TITLE_WORDS


def has_place_preposition(words: str, start: int) -> bool:
    """Return whether a place preposition ("in", "at", "of") directly precedes offset
    `start` of `words`.
    """
    return bool(_PLACE_PREPOSITION.search(words, max(0, start - 10), start))


def is_known_person(name: str, prose: AnnotatedProse) -> bool:
    """Return whether `name` has a title, or a word of a name that `prose` knows to be a
    person's.
    """
    return bool(_TITLED.match(name)) or any(w in prose.known for w in name.split(" "))


def may_be_person(name: str, prose: AnnotatedProse) -> bool:
    """Return whether `name` may be a person's: `is_known_person` is true, or no people
    are known in `prose`.
    """
    return not prose.known or is_known_person(name, prose)


def infer_title_possessive(name: str) -> str:
    """Return "her" or "his" according to the title in `name` ("Mrs. Vale"); "" without
    a title, or if the title tells no gender.
    """
    first = name.removeprefix("the ").removeprefix("The ").split(" ")[0].rstrip(".")
    if first in FEMALE_TITLE_WORDS:
        return "her"
    return "his" if first in MALE_TITLE_WORDS else ""


SPOKEN_DETAIL = ("said", "yes")
"""Detail of a fact that a character states in dialogue; it may be a lie or an error."""
# Words that make a clause hypothetical, doubtful, negated, reported or a comparison
_NOT_ASSERTED = re.compile(
    r"\b(?:if|unless|whether|would|might|could|should|may|must|perhaps|maybe|possibly|"
    r"probably|supposed?|imagin\w+|dream\w*|dreamt|pretend\w*|fanc(?:y|ied)|believ\w+|"
    r"thought|think|hoped?|wish\w*|fear\w*|doubt\w*|seem\w*|appear\w*|like|as though|"
    r"as if|said to|suspect\w*|guess\w*|almost|nearly|never|not|no longer|hardly|"
    r"rumou?r\w*|lied?|lying|sworn?|swore|claim\w*|insist\w*|declar\w*|assum\w*|presum\w*"
    r"|n't|until|till|before|lest|head that)\b|n't\b",
    re.I,
)


def is_asserted(clause: str) -> bool:
    """Return whether a clause states something: it has no word of doubt, wish, negation
    or comparison, such as "perhaps" or "like".
    """
    return not _NOT_ASSERTED.search(clause)


def split_narration_and_speech(sentence: ProseSentence) -> Iterator[tuple[str, bool]]:
    """Yield (text, whether spoken): the masked narration of a sentence with False, then
    its quoted speech, if any, with True.
    """
    yield sentence.narration, False
    if sentence.speech:
        yield sentence.speech, True


def extract_clause_before(words: str, at: int) -> str:
    """Return the text of `words` between the last `;`, `:` or quotation before offset
    `at` and that offset.
    """
    start = max(words.rfind(mark, 0, at) for mark in ";:\x01")
    return words[start + 1 : at]


def ends_in_question(words: str, end: int) -> bool:
    """Return whether the first of `.`, `!`, `?` and `;` in `words` after offset `end`
    is `?`.
    """
    end_mark = re.search(r"[.!?;]", words[end:])
    return bool(end_mark and end_mark.group() == "?")


def make_fact(
    about: FactAbout,
    field: str,
    value: str,
    span: Span,
    certainty: Certainty,
    *,
    subject: str = "",
    details: tuple[tuple[str, str], ...] = (),
) -> Fact:
    """Create a fact that a rule extracted, with one span as its source.

    `about` determines the meaning of `subject` and `field`, and the names of `details`;
    see `FactAbout`.
    """
    return Fact(about, subject, field, value, (span,), RULES_KEEPER, certainty, details)


def rate_rule_certainty(spoken: bool, named: bool = True) -> Certainty:
    """Return the certainty of a fact that a rule extracted: probable or verified.

    Probable if it is `spoken` by a character, or if the person is not `named` but a
    pronoun.
    """
    return Certainty.PROBABLE if spoken or not named else Certainty.VERIFIED


def to_text_span(sentence: ProseSentence, start: int, end: int) -> Span:
    """Convert the offsets `start` and `end` within `sentence` to a span of the text."""
    return Span(sentence.span.start + start, sentence.span.start + end)


def extract_verbatim(prose: AnnotatedProse, span: Span) -> str:
    """Return the words at `span` of the text on one line: each run of whitespace
    becomes one space.
    """
    return " ".join(prose.text[span.start : span.end].split())


def deduplicate_facts(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the facts in their order, without those that equal an earlier one apart
    from spans, source and certainty.
    """
    seen_keys = set()
    for fact in facts:
        key = (fact.about, fact.subject, fact.field, fact.value, fact.details)
        if key not in seen_keys:
            seen_keys.add(key)
            yield fact


_NAME = re.compile(rf"(?<![\w'])(?<!\w-){NAME_PATTERN}")


def resolve_possessive(
    prose: AnnotatedProse,
    place: int,
    words: str,
    at: int,
    pronoun: str,
    *,
    of_kin: bool = False,
) -> str:
    """Return the name that the `pronoun` "his" or "her" at offset `at` refers to; "" if
    unclear.

    `words` are those of the sentence with index `place` in `prose`. The result is the
    only name before the pronoun, or, without a name there, the subject of the previous
    sentence if that names nobody else. A title must not contradict the pronoun.

    With `of_kin`, the subject of the sentence is a person even if the text says nothing
    else of it: who has a daughter is one.
    """
    names = find_prose_person_names(prose, words[:at])
    if not names:
        names = _subject_of_previous_sentence(prose, place)
    if len(names) != 1:
        return ""
    is_owner = of_kin and words.lstrip(MASK_CHARACTER + " \n").startswith(names[0])
    if not is_owner and not may_be_person(names[0], prose):
        return ""
    gender = infer_title_possessive(names[0])
    return names[0] if gender in ("", pronoun) else ""


def find_prose_names(prose: AnnotatedProse, words: str) -> list[str]:
    """Return the distinct names in `words`, in text order.

    `words` are from a sentence of `prose`, which tells names from other capitalised
    words.
    """
    names = (clean_name(match.group(), prose) for match in _NAME.finditer(words))
    return list(dict.fromkeys(name for name in names if name))


def find_prose_person_names(prose: AnnotatedProse, words: str) -> list[str]:
    """Return the distinct names in `words`, in text order, without those after a place
    preposition ("in", "at", "of").

    `words` are from a sentence of `prose`, which tells names from other capitalised
    words.
    """
    names = (
        clean_name(match.group(), prose)
        for match in _NAME.finditer(words)
        if not has_place_preposition(words, match.start())
    )
    return list(dict.fromkeys(name for name in names if name))


def find_sentence_subject(prose: AnnotatedProse, words: str) -> str:
    """Return the name with which the sentence `words` begins; "" if it begins
    otherwise.
    """
    start = len(words) - len(words.lstrip(MASK_CHARACTER + " "))
    match = _NAME.match(words, start)
    return clean_name(match.group(), prose) if match else ""


def _subject_of_previous_sentence(prose: AnnotatedProse, place: int) -> list[str]:
    if not place:
        return []
    before, sentence = prose.sentences[place - 1], prose.sentences[place]
    if "\n\n" in prose.text[before.span.end : sentence.span.start]:
        return []
    subject = find_sentence_subject(prose, before.narration)
    names = find_prose_names(prose, before.narration)
    return [subject] if subject and names == [subject] else []
