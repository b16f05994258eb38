"""The kinds of texts about a story that lrwr drafts: length, audience, horizon."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.errors import SettingsProblem


class PostKind(StrEnum):
    """A kind of text about the story."""

    NEWSLETTER = "newsletter"
    THREAD = "thread"
    ESSAY = "essay"
    BLURB = "blurb"
    QUERY_LETTER = "query-letter"
    SYNOPSIS = "synopsis"
    AUTHORS_NOTE = "authors-note"


class PostAudience(StrEnum):
    """Who reads a text: readers of the book, or agents and publishers."""

    READERS = "readers of the book"
    TRADE = "literary agents and publishers"


class QuestionScope(StrEnum):
    """Where the answer to a question stands: in the story, in notes or pages, or nowhere
    but in the author's head.
    """

    STORY = "story"
    BACKGROUND = "background"
    AUTHOR = "author"


@dataclass(frozen=True, slots=True)
class PostQuestion:
    """A question that a text answers.

    `cues` is a regular expression for words of which a sentence of the answer has one;
    empty for any sentence.
    """

    text: str
    answer: QuestionScope = QuestionScope.STORY
    cues: str = ""


class GapKind(StrEnum):
    """What evidence a text lacks. The last two cannot be searched for."""

    NUMBER = "number or date"
    AUTHORITY = "authority"
    RECENT = "recent development"
    BACKGROUND = "background"
    COMPARABLE = "comparable title"
    PICTURE = "picture"
    AUTHOR = "only you can say"

    @property
    def is_searchable(self) -> bool:
        """Whether a page of the web may fill the gap."""
        return self not in (GapKind.PICTURE, GapKind.AUTHOR)


@dataclass(frozen=True, slots=True)
class PostGap:
    """Evidence that a text lacks: `need` says what, in a few words.

    `topic` is what to search the web for, not checked yet; empty for nothing.
    """

    kind: GapKind
    need: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class PostKindRules:
    """What holds for one kind of text.

    It has `words` words at least and at most and about `parts` parts: paragraphs, or
    posts if `is_thread`. `needs_horizon` says that its readers may not know the whole
    story, so that the author must choose a point. `questions` are what it answers, in
    the order of its parts; one of them at least is open to any sentence. `gaps` are
    needed whatever the brief. It rests on at most `sources` sources and `facts` facts.
    So many of its sources, `moments`, are moments of the whole story.
    """

    name: str
    words: tuple[int, int]
    parts: int
    audience: PostAudience
    needs_horizon: bool
    questions: tuple[PostQuestion, ...]
    gaps: tuple[PostGap, ...] = ()
    is_thread: bool = False
    moments: int = 0
    sources: int = 8
    facts: int = 14
    advice: str = ""

    @property
    def covers_story(self) -> bool:
        """Whether it tells the story in its order, not only what fits the brief."""
        return self.moments > 0

    @property
    def name_with_article(self) -> str:
        """Its name with the indefinite article: "an essay"."""
        article = "an" if self.name[0] in "aeiou" else "a"
        return f"{article} {self.name}"


_BACKGROUND, _AUTHOR = QuestionScope.BACKGROUND, QuestionScope.AUTHOR

_WISHES = (
    r"want(?:s|ed|ing)?|wish\w*|hop(?:e|es|ed|ing)|longed|longing|intend\w*|meant to"
    r"|needs? to|needed to|seeks?|sought|desir\w*|resolv\w*|determined|promised?|vow\w*"
)
_OBSTACLES = (
    r"cannot|can[’']t|could(?: not|n[’']t)|must(?: not|n[’']t)|refus\w+|forb[ai]d\w*"
    r"|oppos\w+|prevent\w*|enem\w+|rival\w*|afraid|fear\w*|impossible|despite|lock\w*"
)
_STAKES = (
    r"los(?:e|es|t|ing)|d(?:ie|ies|ied|ying)|death|dead|ruin\w*|danger\w*|liv?es?|save[sd]?"
    r"|risk\w*|for ?ever|drown\w*|kill\w*"
)
"""Words of wishes, obstacles and what may be lost, as regular expressions."""

_BIOGRAPHY = PostGap(GapKind.AUTHOR, "who you are, and what you wrote before")
TITLE_GAP = PostGap(GapKind.AUTHOR, "the title of the book")
"""What a letter lacks if the manuscript has no title page."""

_WHY = PostGap(GapKind.AUTHOR, "why you write about this")
_PICTURE = PostGap(GapKind.PICTURE, "a picture that belongs to it")
_COMPARABLE = PostGap(
    GapKind.COMPARABLE, "two titles of the last years for the same readers"
)

KIND_RULES: Mapping[PostKind, PostKindRules] = {
    PostKind.NEWSLETTER: PostKindRules(
        "newsletter",
        (250, 600),
        5,
        PostAudience.READERS,
        True,
        (
            PostQuestion("What is this letter about?"),
            PostQuestion("What does the story show of it?"),
            PostQuestion("What is behind it?", _BACKGROUND),
            PostQuestion("What should readers do next?", _AUTHOR),
        ),
        (_WHY, _PICTURE),
        advice="A letter to subscribers: an opening they can picture, one thought a"
        " paragraph, a plain end.",
    ),
    PostKind.THREAD: PostKindRules(
        "thread",
        (60, 300),
        6,
        PostAudience.READERS,
        True,
        (
            PostQuestion("What is worth stopping for?"),
            PostQuestion("What does the story show of it?"),
            PostQuestion("What is the best detail?"),
            PostQuestion("Where does it lead?"),
        ),
        (_PICTURE,),
        is_thread=True,
        advice="Each part stands alone as a post and says one thing. No hashtags.",
    ),
    PostKind.ESSAY: PostKindRules(
        "essay",
        (700, 1_200),
        9,
        PostAudience.READERS,
        True,
        (
            PostQuestion("What does the essay claim?", _AUTHOR),
            PostQuestion("What in the story shows it?"),
            PostQuestion("What speaks against it?", _AUTHOR),
            PostQuestion("What does the world outside the book say?", _BACKGROUND),
            PostQuestion("What follows?", _AUTHOR),
        ),
        (PostGap(GapKind.AUTHOR, "your own experience of it"),),
        sources=12,
        facts=24,
        advice="An argument in steps, from the particular to the general.",
    ),
    PostKind.BLURB: PostKindRules(
        "blurb",
        (100, 200),
        3,
        PostAudience.READERS,
        True,
        (
            PostQuestion("Who is it about, and where?"),
            PostQuestion("What does this person want?", cues=_WISHES),
            PostQuestion("What stands in the way?", cues=_OBSTACLES),
            PostQuestion("What is at stake?", cues=_STAKES),
        ),
        moments=2,
        advice="Present tense. End on a question of the story, not on its answer.",
    ),
    PostKind.QUERY_LETTER: PostKindRules(
        "query letter",
        (200, 350),
        4,
        PostAudience.TRADE,
        False,
        (
            PostQuestion("What kind of book is it, and how long?", _AUTHOR),
            PostQuestion("Who is it about, and what does this person want?"),
            PostQuestion(
                "What stands in the way, and what is at stake?",
                cues=f"{_OBSTACLES}|{_STAKES}",
            ),
            PostQuestion("Which books stand beside it, and who writes?", _AUTHOR),
        ),
        (_COMPARABLE, _BIOGRAPHY),
        moments=2,
        sources=12,
        advice="A letter to an agent; its greeting and its close are parts of their own."
        " Present tense for the story. No praise of the book.",
    ),
    PostKind.SYNOPSIS: PostKindRules(
        "synopsis",
        (400, 800),
        6,
        PostAudience.TRADE,
        False,
        (
            PostQuestion("Who is it about, and how does it begin?"),
            PostQuestion("What sets the story going?"),
            PostQuestion("How does it come to a head?"),
            PostQuestion("How does it end?"),
        ),
        moments=10,
        sources=16,
        facts=24,
        advice="The whole plot with its end, in order, present tense, third person.",
    ),
    PostKind.AUTHORS_NOTE: PostKindRules(
        "author's note",
        (150, 500),
        4,
        PostAudience.READERS,
        True,
        (
            PostQuestion("What in the book needs a word?"),
            PostQuestion("What is invented, and what is not?", _BACKGROUND),
            PostQuestion("Where does it come from?", _BACKGROUND),
            PostQuestion("Whom do you thank?", _AUTHOR),
        ),
        (PostGap(GapKind.AUTHOR, "what you changed on purpose, and whom you thank"),),
        advice="In the author's own voice; say what is history and what is invented.",
    ),
}


def check_horizon_choice(kind: PostKind, as_of: str, *, whole: bool) -> None:
    """Check that the author chose how much of the story the text may use.

    Raises:
        SettingsProblem: Both or, for a kind that readers see, neither was chosen.
    """
    if whole and as_of:
        raise SettingsProblem(
            "`--whole` and `--as-of` cannot be combined", hint="Leave out one of them."
        )
    rules = KIND_RULES[kind]
    if rules.needs_horizon and not (whole or as_of):
        raise SettingsProblem(
            f"Readers see a {rules.name}: how much of the story may it tell?",
            hint="Add `--as-of ch3` for what readers know after chapter 3, or `--whole`.",
        )
