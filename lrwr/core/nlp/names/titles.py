"""Titles before a name, and what they say about who bears it."""

from lrwr.core.model.cast import Gender

_MALE_WRITTEN = """mr mister messrs master sir lord king prince duke earl baron count viscount
    marquis marquess emperor uncle father brother grandfather grandpa granddad monsieur
    m don signor signore senor señor herr squire friar abbot monk lad boy"""
MALE_TITLES = frozenset(_MALE_WRITTEN.split())
_FEMALE_WRITTEN = """mrs miss ms missus mistress lady queen princess duchess countess baroness
    viscountess marchioness empress aunt auntie aunty mother sister grandmother granny
    grandma madame madam mademoiselle mme mlle dame donna signora signorina senora
    señora fräulein frau nurse widow abbess"""
FEMALE_TITLES = frozenset(_FEMALE_WRITTEN.split())
_EITHER_WRITTEN = """dr doctor prof professor captain capt colonel col general gen major maj
    lieutenant lieut lt sergeant sgt corporal private inspector superintendent detective
    constable sheriff marshal deputy officer judge justice reverend rev saint st cousin
    president senator governor mayor admiral commodore commander chief bishop archbishop
    cardinal pope deacon parson vicar chancellor comrade agent warden keeper reeve"""
NEUTRAL_TITLES = frozenset(_EITHER_WRITTEN.split())
NAME_TITLES = MALE_TITLES | FEMALE_TITLES | NEUTRAL_TITLES

_SHORTENED_WRITTEN = """mr mrs ms dr st messrs mme mlle rev prof capt col gen maj lieut lt sgt hon jr sr
    esq m"""
TITLE_ABBREVIATIONS = frozenset(_SHORTENED_WRITTEN.split())
"""Titles that end in a full stop which ends no sentence."""

SURNAME_TITLES = frozenset({"mr", "mrs", "miss", "ms", "mister", "missus", "messrs"})
"""Titles before a surname, or before a full name, seldom before a given name."""

_GIVEN_TITLES_WRITTEN = """sir aunt auntie aunty uncle cousin sister brother king queen prince princess
    master granny saint st pope friar"""
GIVEN_TITLES = frozenset(_GIVEN_TITLES_WRITTEN.split())
"""Titles before a given name."""

_RANKS_WRITTEN = """king queen prince princess duke duchess earl count countess baron baroness lord
    lady knave marquis emperor empress bishop archbishop mayor master keeper reeve
    warden"""
TITLES_WITH_OF = frozenset(_RANKS_WRITTEN.split())
"""Titles that take an "of": the Duke of Thole."""

_MEN_WRITTEN = """captain colonel general major lieutenant sergeant corporal admiral commodore
    inspector constable sheriff bishop archbishop cardinal vicar parson squire"""
DEFAULT_MALE_TITLES = frozenset(_MEN_WRITTEN.split())
"""Titles that men bear where nothing says otherwise."""

_EPITHETS_WRITTEN = """old young little poor dear dearest good big great honest gentle sweet darling
    kind mad"""
NAME_EPITHETS = frozenset(_EPITHETS_WRITTEN.split())
"""Words before a name that are no part of it."""

_SAME = {
    "mister": "mr",
    "missus": "mrs",
    "mistress": "mrs",
    "ms": "miss",
    "doctor": "dr",
    "professor": "prof",
    "capt": "captain",
    "col": "colonel",
    "gen": "general",
    "maj": "major",
    "lieut": "lieutenant",
    "lt": "lieutenant",
    "sgt": "sergeant",
    "rev": "reverend",
    "auntie": "aunt",
    "aunty": "aunt",
    "mme": "madame",
    "mlle": "mademoiselle",
}


def normalize_name_title(word: str) -> str:
    """Return the title that `word` is, in lower case without a stop; else ""."""
    low = word.lower().rstrip(".")
    return _SAME.get(low, low) if low in NAME_TITLES else ""


def infer_title_gender(title: str) -> Gender:
    """Return whom a title, as `normalize_name_title` gives it, is for."""
    if title in MALE_TITLES:
        return Gender.MALE
    return Gender.FEMALE if title in FEMALE_TITLES else Gender.UNKNOWN
