"""What every rule asks of a clause, and how a rule's finding becomes a fact."""

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
_WORD = r"(?:[OD]')?[A-ZÀ-ÖØ-Þ][\w]+(?:-[A-Z]?\w+)*"
NAME_PATTERN = (
    rf"(?:[Tt]he )?(?:(?:{_TITLE})\b\.? ){{0,2}}(?:[A-Z]\. )*{_WORD}"
    rf"(?: (?:(?:de|du|van|von|la|le|of the|of) |"
    rf"(?:{_TITLE})\b\.? )?(?:[A-Z]\. )*{_WORD}){{0,4}}"
)
"""Matches one name, and sometimes a capitalised word that is none: `clean_name`."""
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
_NO_NAMES = frozenset(_NO_NAMES_TEXT.split())
_TITLE_WORDS = frozenset(TITLE_WORDS.split())
_TITLED = re.compile(rf"(?:{_TITLE})\b\.? ")
_PLACED = re.compile(
    r"\b(?:in|at|into|near|through|towards?|across|from|of|on|over|beyond|"
    r"between|beside|behind|under|above|below|against|past|with|upon|before|"
    r"after|than|for) $"
)
_NO_ENDINGS = ("ing", "ed", "ly", "ous", "ful", "less")
"""How words end that begin a sentence more often than they are names."""
_FIRST_WORD = re.compile(r"[\w']+")
_ARTICLE = re.compile(r"[Tt]he ")


def clean_name(phrase: str, prose: AnnotatedProse) -> str:
    """Return the name in `phrase` without words that only begin a sentence, or "".

    One capitalised word alone is a name when the text has it so inside a sentence, or
    never has it in lower case and it does not end as verbs and adverbs do.
    """
    name = phrase.strip()
    while (first := name.split(" ")[0]) in _NO_NAMES and not _TITLED.match(name):
        if " " not in name:
            return ""
        if first == "The":
            break
        name = name[len(first) + 1 :]
    words = _ARTICLE.sub("", name).split(" ")
    if not words or (words[-1] in _NO_NAMES and not name.endswith(".")):
        return ""
    if name.rstrip(".") in _TITLE_WORDS and not name.startswith(("the ", "The ")):
        return ""
    if len(words) == 1 and words[0] not in prose.names:
        common = words[0].lower() in prose.plain or words[0].endswith(_NO_ENDINGS)
        return "" if common else name
    return name


def find_matches_at(
    pattern: LazyPattern, words: str, starts: Sequence[int]
) -> Iterator[re.Match[str]]:
    """Yield what a pattern that begins with a name matches, at `starts` only.

    A word that only begins the sentence ("If Nell …") begins no name.
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
    return word in _NO_NAMES and word != "The" and word not in _TITLE_WORDS


def has_place_preposition(words: str, start: int) -> bool:
    """Say whether "in", "at", "of" or the like stands before the name at `start`."""
    return bool(_PLACED.search(words, max(0, start - 10), start))


def is_known_person(name: str, prose: AnnotatedProse) -> bool:
    """Say whether a name is known for a person's, or bears a title."""
    return bool(_TITLED.match(name)) or any(w in prose.known for w in name.split(" "))


def may_be_person(name: str, prose: AnnotatedProse) -> bool:
    """Say whether a name can be a person's: any, where no names are known."""
    return not prose.known or is_known_person(name, prose)


def infer_title_possessive(name: str) -> str:
    """Return `her`, `his` or nothing, as the title in a name tells."""
    first = name.removeprefix("the ").removeprefix("The ").split(" ")[0].rstrip(".")
    if first in FEMALE_TITLE_WORDS:
        return "her"
    return "his" if first in MALE_TITLE_WORDS else ""


SPOKEN_DETAIL = ("said", "yes")
"""The detail of a fact that stands in somebody's words: they may lie, or be wrong."""
_UNREAL = re.compile(
    r"\b(?:if|unless|whether|would|might|could|should|may|must|perhaps|maybe|possibly|"
    r"probably|supposed?|imagin\w+|dream\w*|dreamt|pretend\w*|fanc(?:y|ied)|believ\w+|"
    r"thought|think|hoped?|wish\w*|fear\w*|doubt\w*|seem\w*|appear\w*|like|as though|"
    r"as if|said to|suspect\w*|guess\w*|almost|nearly|never|not|no longer|hardly|"
    r"rumou?r\w*|lied?|lying|sworn?|swore|claim\w*|insist\w*|declar\w*|assum\w*|presum\w*"
    r"|n't|until|till|before|lest)\b|n't\b",
    re.I,
)


def is_asserted(clause: str) -> bool:
    """Say whether a clause asserts what it says: no doubt, wish, "not" or "as if"."""
    return not _UNREAL.search(clause)


def split_narration_and_speech(sentence: ProseSentence) -> Iterator[tuple[str, bool]]:
    """Yield what the narrator tells, then what is spoken; True marks the spoken."""
    yield sentence.told, False
    if sentence.spoken:
        yield sentence.spoken, True


def extract_clause_before(words: str, at: int) -> str:
    """Return the words of the sentence before `at`, as far as they bear on it."""
    start = max(words.rfind(mark, 0, at) for mark in ";:\x01")
    return words[start + 1 : at]


def ends_in_question(words: str, end: int) -> bool:
    """Say whether the sentence goes on after `end` to a question mark."""
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
    """Make a fact of the rules with one span."""
    return Fact(about, subject, field, value, (span,), RULES_KEEPER, certainty, details)


def rate_rule_certainty(spoken: bool, named: bool = True) -> Certainty:
    """Return how sure a rule is: at most probable where it is spoken or resolved."""
    return Certainty.PROBABLE if spoken or not named else Certainty.VERIFIED


def to_text_span(sentence: ProseSentence, start: int, end: int) -> Span:
    """Turn characters of a sentence into a span of the text."""
    return Span(sentence.span.start + start, sentence.span.start + end)


def extract_verbatim(prose: AnnotatedProse, span: Span) -> str:
    """Return the text at a span in one line."""
    return " ".join(prose.text[span.start : span.end].split())


def deduplicate_facts(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield facts in order, of those that claim the same only the first."""
    seen_keys = set()
    for fact in facts:
        key = (fact.about, fact.subject, fact.field, fact.value, fact.details)
        if key not in seen_keys:
            seen_keys.add(key)
            yield fact


_NAME = re.compile(rf"(?<![\w'])(?<!\w-){NAME_PATTERN}")


def resolve_possessive(
    prose: AnnotatedProse, place: int, words: str, at: int, pronoun: str
) -> str:
    """Return the name that `his` or `her` at `at` stands for, or nothing.

    It is the only name before it in its sentence; where there is none, the subject of
    the sentence before, when that one names nobody else. A title must not gainsay.
    """
    names = find_prose_person_names(prose, words[:at])
    if not names:
        names = _of_sentence_before(prose, place)
    if len(names) != 1 or not may_be_person(names[0], prose):
        return ""
    gender = infer_title_possessive(names[0])
    return names[0] if gender in ("", pronoun) else ""


def find_prose_names(prose: AnnotatedProse, words: str) -> list[str]:
    """Return the different names in some words, in order."""
    names = (clean_name(match.group(), prose) for match in _NAME.finditer(words))
    return list(dict.fromkeys(name for name in names if name))


def find_prose_person_names(prose: AnnotatedProse, words: str) -> list[str]:
    """Return the names in some words save those that "in", "at" or "of" precede."""
    names = (
        clean_name(match.group(), prose)
        for match in _NAME.finditer(words)
        if not has_place_preposition(words, match.start())
    )
    return list(dict.fromkeys(name for name in names if name))


def find_sentence_subject(prose: AnnotatedProse, words: str) -> str:
    """Return the name that a sentence begins with, or nothing."""
    start = len(words) - len(words.lstrip(MASK_CHARACTER + " "))
    match = _NAME.match(words, start)
    return clean_name(match.group(), prose) if match else ""


def _of_sentence_before(prose: AnnotatedProse, place: int) -> list[str]:
    if not place:
        return []
    before, sentence = prose.sentences[place - 1], prose.sentences[place]
    if "\n\n" in prose.text[before.span.end : sentence.span.start]:
        return []
    subject = find_sentence_subject(prose, before.told)
    names = find_prose_names(prose, before.told)
    return [subject] if subject and names == [subject] else []
