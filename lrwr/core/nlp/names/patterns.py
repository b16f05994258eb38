"""Names as the rules find them: a pattern, and whether what it found is a name."""

import re
from collections.abc import Iterator, Sequence

from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.text.prose import AnnotatedProse

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
