"""What to search for besides the words of a question: phrases, forms and related words.

For English. The lists are hand-written: they hold irregular forms, kinship, everyday
words that writers use for one another ("wed" for "married"), and today's words with
those of older books ("dowry", "portion").
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise

from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    Span,
    extract_capitalized_words,
    extract_content_words,
    normalize_word,
    normalize_words,
    stem_lightly,
    stem_word,
)

MAX_RELATED_WORDS = 60
"""Related words searched for at most, so that a long question stays fast."""

MAX_PHRASES = 24
"""Phrases of one question searched for at most."""

_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"|«([^»]+)»")

_NAMES = frozenset({"may", "will"})
"""Function words that are also names."""

_TITLE = re.compile(r"\b(?:Mr|Mrs|Miss|Ms|Dr|Sir|Lady)\b\.?\s+(?=[A-Z])")

_SPEECH = """
say says said saying tell tells told telling ask asks asked asking
speak speaks spoke spoken talk talks talked reply replies replied
answer answers answered promise promises promised explain explains explained
word words character characters anyone anybody everyone everybody people
first last mr mrs miss ms dr
"""
"""Words of a question about who says what that tell nothing about the topic."""

_FORMS = """
arise arose arisen; awake awoke awoken; bear bore borne born birth; beat beaten; become became;
begin began begun beginning; bend bent; bind bound; bite bit bitten; bleed bled blood;
blow blew blown; break broke broken; breed bred; bring brought; build built; burn burnt; buy bought;
catch caught; choose chose chosen choice; cling clung; come came; creep crept; deal dealt; dig dug;
draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten;
fall fell fallen; feed fed food; feel felt; fight fought; find found; flee fled flight; fling flung;
fly flew flown flight; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
freeze froze frozen; give gave given gift; go went gone; grind ground; grow grew grown; hang hung;
hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know knew known knowledge; lay laid;
lead led; lean leant; leap leapt; learn learnt; leave left; lend lent loan; lie lay lain; light lit;
lose lost loss; make made; mean meant; meet met meeting; mistake mistook mistaken; pay paid;
ride rode ridden; ring rang rung; rise rose risen; run ran; say said; see saw seen; seek sought;
sell sold sale; send sent; shake shook shaken; shine shone; shoot shot; show shown;
shrink shrank shrunk; sing sang sung song; sink sank sunk; sit sat; sleep slept asleep; slide slid;
sling slung; smell smelt; speak spoke spoken speech; spend spent; spin spun; spit spat;
spring sprang sprung; stand stood; steal stole stolen theft thief; stick stuck; sting stung;
strike struck stricken; strive strove; swear swore sworn oath; sweep swept; swell swelled swollen;
swim swam swum; swing swung; take took taken; teach taught teacher; tear tore torn; tell told;
think thought; throw threw thrown; understand understood; wake woke woken; wear wore worn;
weave wove woven; weep wept tears; win won; wind wound; write wrote written letter;
die died dies dead death dying; kill killed murder slay slew slain; foot feet; man men; woman women;
child children; tooth teeth; mouse mice; wife wives; knife knives; life lives live; person people
"""
"""Words that are forms of one another and do not share a stem, by groups."""

_RELATED = """
home house live lodging lodgings dwell dwelling reside residence address abode;
marry marriage married wedding wed engaged engagement betrothed bride bridegroom propose proposal;
husband wife spouse married; money pay paid wage wages salary income fortune pounds cost price fee;
rich wealthy wealth fortune; poor poverty debt debts owe owed;
job work profession occupation trade employ employed employment; old age aged young years;
born birth birthday; sick ill illness sickness disease fever ailing;
doctor physician surgeon apothecary; kill murder murdered poison stab;
grave buried burial bury funeral; mother mamma mama mum mom; father papa dad; parents mother father;
brother brothers sibling siblings; sister sisters sibling siblings; son sons boy child;
daughter daughters girl child; child children boy girl baby infant;
uncle aunt nephew niece cousin relation relative;
grandmother grandfather grandson granddaughter grandmamma grandpapa; ship boat vessel;
car carriage coach motor; horse pony mare; dog hound; road street lane; inn tavern hotel;
church chapel parish; parson clergyman vicar rector curate priest minister;
police policeman constable inspector detective; servant maid footman butler housekeeper;
boss master employer; friend companion acquaintance; enemy foe rival;
love loved adore affection fond; hate hatred detest despise dislike; angry anger rage fury;
happy glad pleased joy; sad unhappy sorrow grief; afraid fear frightened scared terror;
cry weep tears sob; laugh smile; beautiful handsome pretty beauty; ugly plain;
clothes dress coat gown wearing wore; hair beard whiskers moustache curls; eyes eye gaze;
steal stole theft thief rob robbed robbery; lie lied false falsehood deceive deceived untrue;
secret hidden conceal concealed; letter note wrote write written message; gift present gave;
begin start started beginning; end finish finished; big large great huge; small little tiny;
quick fast swift hurry; buy bought purchase purchased; sell sold;
meal dinner breakfast supper lunch tea; drink wine beer brandy; room chamber bedroom; evening night;
morning dawn; holiday trip journey travel voyage; school pupil teacher taught lesson governess tutor;
soldier officer army regiment captain colonel; fight quarrel quarrelled dispute argue argued;
help helped assist aid; promise vow swore oath; reason because cause;
inherit heir estate will legacy bequeath entail; argument quarrel; job position situation post;
fire burn burned burnt flames; hurt injured wound wounded injury;
arrest arrested prison jail gaol imprisoned; escape fled flee ran
"""
"""Words of related meaning, by groups; a word may be in several."""

_PARAPHRASES = """
accept: consent consented yes agreed;
admit confess confesses confession: confessed owned avowed acknowledged guilty;
adopt: brought bred reared ward orphan son daughter; affair: intrigue passion lover mistress;
afford: means income; agree agreement deal: bargain terms consented promised;
alias: name called known false assumed; alibi: elsewhere; ambition: wish aspire hopes future;
amnesia: memory forgotten; announce: told declared news;
apologise apologize apology: pardon sorry beg forgive excuse;
argue argument row: quarrel quarrelled dispute angry words;
arrest: custody officers constable taken handcuffs prisoner apprehended; asylum: mad madhouse;
attack assault: struck strike blow beat knocked sprang seized; attic: garret upstairs;
aware: knew known suspected; bachelor: unmarried single;
background upbringing: born parents family brought school;
bad-tempered grumpy: cross temper surly sullen; bankrupt: ruined debts creditors;
battle war: army fought enemy regiment; bet gamble: wager cards play stake;
betray: informed traitor treachery told false;
blackmail extort: threatened threat secret money silence; bodyguard: guard;
bored: weary tedious dull tired ennui; boss: governor;
boyfriend girlfriend: lover sweetheart admirer suitor; brag boast: proud vain;
brave bravery: courage bold fearless;
break-in burglary burglar burgle: housebreaking robbery broke window shutter thieves;
bribe: paid money gold; bully bullying bullies: beat cruel tyrant;
cafe restaurant: dined inn coffee; cancel cancelled: put postponed; cash: money gold notes coins;
caught: seized taken custody; cause: owing; cellar basement: vault below underground;
cemetery graveyard: churchyard grave tomb buried; charity: poor alms kindness;
cheat: swindle fraud deceived robbed; childhood: boyhood girlhood infancy child young years;
clergyman vicar priest minister pastor: parson rector curate living church;
clever smart: intelligent talents sharp wit; clue: trace evidence found;
coffin: grave buried funeral; coincidence: chance accident; comfort: console soothe;
compliment: praise flattery; con trick: deceive deceived cheat plot scheme stratagem;
conceited arrogant: proud vain pride; convince: persuade persuaded; cottage: house lodge;
couch sofa: settee; court: trial judge jury; coward: afraid craven;
crazy insane: mad lunatic madness; crime: guilt guilty murder theft; cruel: harsh unkind brutal;
custody: prison; dance: ball danced partner; danger: peril risk; debt: creditors;
decide decision: resolved determined made mind; deny denies denied: false untrue;
describe description: appearance face; destroy: burnt burned tore torn; die: killed;
disappear vanish: gone missing lost; discover: found learnt perceived saw;
disguise: dressed wig mask; dislike: aversion; divorce: separated separation;
dowry: portion fortune settled settlement; drug drugged: opium laudanum poison draught powder;
drunk drunken: intoxicated liquor tipsy drink gin brandy;
eavesdrop overhear overheard spy spies: listened listening heard behind door watched;
economy: saving; educated education: school taught tutor governess lessons;
elope elopement runaway: fled gone together left flight; embarrassed: blushed confused ashamed;
escape: flight; evidence: proof proofs; evil: wicked; exile: abroad banished; explain: account;
fail: unsuccessful; faint: swoon swooned insensible senseless; fake: false forged counterfeit;
fat: stout corpulent plump portly; fiance: betrothed engaged lover; fire sack: dismissed turned;
flat apartment: rooms lodgings chambers; fog: mist; forge forgery: handwriting signature false;
foundling: infant child; friendship: friends; funeral: mourning; future: hope;
gang: thieves fellows; glasses: spectacles; gossip: rumour report scandal talk;
graduate: college degree; greedy: avarice; guess guesses: suspected thought; guest: visitor stay;
guilty: guilt; gun pistol: fired shot rifle revolver; handwriting: hand writing written;
hanged: gallows gibbet scaffold executed noose; happy: content; harm: hurt; hate: abhor;
heir heiress inherit inheritance: estate property left will entail legacy fortune;
honeymoon: wedding journey tour; hospital: ward infirmary; hypocrite: false;
identity: real true name son daughter; illegitimate bastard: natural unmarried;
impostor: false deceive; in-law: married; infer: conclude; injured injury: broken bruised;
innocent: innocence; insult: offended affront; interrupt: broke cut;
invite invitation: asked ask come dine; jail gaol prison: cell dungeon prisoner;
jealous jealousy: envy rival;
jewel jewellery jewelry: diamonds necklace ring brooch locket bracelet gold trinket;
job post position: place office living appointment clerk; joke: jest laugh; judge: magistrate bench;
keepsake: token; kid: child children boy girl little ones; kidnap kidnapped: seized carried dragged;
kindness: kind; knife: blade dagger; lawyer: attorney solicitor counsel barrister;
lazy: idle indolent; legacy: bequeathed left; limp: lame; livelihood living: trade work business;
lodger: lodgings lodging; lonely: alone solitary;
look-alike lookalike double: likeness resemblance resemble; luck: chance fortune hazard;
luggage bags: trunk box portmanteau baggage; madness: mad; maiden: name born;
manipulate: influence persuade; matrimony: marriage married; mean: stingy;
medicine: draught powder bottle dose; memory: remember remembered; mirror: looking-glass glass;
mistaken: wrong; mistress: lady; mood: spirits; mortgage: debt; motive: reason because gain;
mourn: black grief; move: removed went live settled; musical: music; name: called named;
nervous: anxious agitated uneasy; newspaper papers press: paragraph journal gazette printed;
nickname: called known; nurse: nursed tended; obsessed: passion; occupation: business;
opinion: think thought; orphan: parents dead;
painting picture portrait: canvas painted likeness miniature; party: ball supper guests;
passport: papers; pet: dog cat bird; phone: telephone; photo photograph: portrait;
piano: instrument played pianoforte; plan: scheme design intend intended project;
plot: scheme conspiracy; poison: strychnine arsenic dose; police: officer; polite: civil;
popular: liked; predict prophecy: foretold; pregnant pregnancy: child birth confinement baby;
pretend pretence pretext: affected excuse feigned; proof prove: evidence;
propose proposal: hand offer accept refuse; publish: printed book;
punish punishment: beaten flogged whipped; puzzle: mystery; quit: left resigned; rain: wet storm;
raise: brought bred; realise realize: saw knew struck understood; receive: got;
recognise recognize: knew face likeness; reconcile: forgave forgiven friends;
refuse reject: declined never; regret: sorry remorse; relationship: connection;
remarry: married second; rescue: saved; resemble: likeness; return: came back again;
reveal: told confessed disclosed; revenge: vengeance avenge; ridiculous: absurd;
rude: insolent impertinent uncivil; rumour rumor: report said; sarcastic: irony;
save: saved rescued; scandal: disgrace gossip; scar: mark; school: pupils master; seaman: sailor;
secretly: private; seduce: ruined lover betrayed;
sentence condemned: guilty transported death judge; shy: timid bashful reserved; single: unmarried;
slander: false scandal; snob snobbish: proud; soul: spirit; stab stabbed: knife dagger blood;
stay: visit remain; stepmother stepfather: married second wife husband; stingy miser: avarice money;
store: shop; storm: thunder rain wind; stow stash: hide hidden put placed locked concealed;
strict: stern severe; stupid: foolish fool; subject: topic;
suicide: killed himself herself own hand destroyed; suitor: lover admirer; surname: name called;
surprised: astonished amazed; suspect suspicion: suspected; swear: vow; taxi cab: coach carriage;
telegram: wire; tempt: temptation; testament: will bequeathed;
theatre playhouse: play theatre stage; threaten threat: threatened; town: city village;
train: railway; trial: judge jury court; truth: true; ugly: hideous; unhappy: miserable wretched;
university: college; upset: distressed agitated; vacation: holiday; vain: vanity;
victim: murdered dead; view: opinion; visit: call called came; wallet purse: pocket money;
weapon: pistol knife dagger gun poker club; wedding: church; weird odd: strange;
widow widower: husband wife died dead late; will: testament left bequeathed property;
window: shutter pane; wound: shot; writer author: wrote
"""
"""Words of a question and, after each colon, what a novel may say in their place."""

_PHRASES = """
turn down: refuse refused decline declined reject; run away: fled flee escape elope eloped left;
run off: fled eloped elopement ran left; break up: parted separated quarrel;
find out: discover discovered learn learnt hear heard; give up: renounce renounced resign left;
give away: bride betrayed told; bring up: bred reared educated; make up: invented reconciled;
let down: disappointed deceived; look after: care nurse nursed tended;
look down: despise proud contempt; put off: postponed delay; put down: insult wrote;
set out: left started departed journey; set off: left started departed;
show up: came arrived appeared; turn out: proved proves; fall out: quarrel quarrelled;
fall ill: fever sick; fall love: loved; pass out: fainted; pass away: died; end up: last finally;
get rid: sent dismissed; get away: escape escaped fled; get out: escape; get married: wedding marry;
tell off: scolded reproached; lock up: prison key locked; take part: joined; carry off: seized taken;
first meet: introduced acquaintance; first impression: thought appearance; way out: escape save;
line business: trade; make money: fortune trade business; make living: trade work earn;
stand gain: profit inherit; best friend: intimate companion; dress up: disguise dressed;
cut off: will disinherited
"""
"""Two words that a question has both, and what a novel may say in their place."""


def extract_quoted_phrases(question: str) -> list[str]:
    """Return the texts of two words or more that `question` puts in double quotation
    marks, as typed except for white space, which becomes single spaces.

    Each once, ignoring case and marks, in order.
    """
    phrases: dict[tuple[str, ...], str] = {}
    for match in _QUOTED.finditer(question):
        phrase = " ".join("".join(match.groups(default="")).split())
        words = tuple(WORD_PATTERN.findall(phrase.lower().replace("’", "'")))
        if len(words) > 1:
            phrases.setdefault(words, phrase)
    return list(phrases.values())[:MAX_PHRASES]


def has_search_words(question: str) -> bool:
    """Return whether `question` says what to search for: with a content word, a quoted
    phrase, which may consist of function words, or a function word that is a name.

    Such a name has a capital and does not begin a sentence, or is "Will" or "May" alone.
    """
    words = extract_content_words(question)
    return bool(
        not STOP_WORDS.issuperset(words)
        or (len(words) == 1 and words[0] in _NAMES and find_possible_names(question))
        or extract_capitalized_words(question)
        or extract_quoted_phrases(question)
    )


def find_possible_names(question: str) -> list[str]:
    """Return the words of `question` with a capital, as typed, in order."""
    return [word for word in WORD_PATTERN.findall(question) if word[0].isupper()]


def extract_search_words(question: str) -> list[str]:
    """Return the words to search for: the content words of `question`, and "will" and
    "may" where a capital inside a sentence makes them a name.

    In lower case and without possessive endings, each once.
    """
    names = _NAMES.intersection(extract_capitalized_words(question))
    if not names:
        return extract_content_words(question)
    words = dict.fromkeys(normalize_words(question))
    return [word for word in words if word in names or word not in STOP_WORDS]


def extract_adjacent_words(question: str) -> list[str]:
    """Return every two adjacent words of `question` of which one at least is a content
    word, as "first second" in lower case, each once, in order.
    """
    pairs = (
        f"{first} {second}"
        for first, second in pairwise(normalize_words(question))
        if first not in STOP_WORDS or second not in STOP_WORDS
    )
    return list(dict.fromkeys(pairs))[:MAX_PHRASES]


def find_topic_words(question: str, names: Iterable[Span]) -> list[str]:
    """Return the content words of a question about who says what that say what it is
    about: no names, verbs of saying or words such as "first".

    `names` are the spans of known names; other capitalized words count as names, too.
    """
    rest = question
    for span in sorted(names, reverse=True):
        rest = rest[: span.start] + " " * len(span) + rest[span.end :]
    words = WORD_PATTERN.findall(rest)
    capitalized = {normalize_word(word) for word in words[1:] if word[0].isupper()}
    ignored = {*STOP_WORDS, *_SPEECH.split(), *capitalized}
    return [word for word in extract_content_words(rest) if word not in ignored]


def hide_names(question: str) -> str:
    """Return `question` with "they" or "their" in place of names and their titles.

    Names are capitalized words that do not begin a sentence. The embedding of the result
    compares what happens, not who is named. A question that is about nothing else, such
    as "What does Nell say to Mags?", is returned unchanged.
    """
    untitled = _TITLE.sub("", question)
    names = set(extract_capitalized_words(untitled)) - STOP_WORDS
    if not names or not find_topic_words(question, []):
        return question

    def replace_name(match: re.Match[str]) -> str:
        word = match.group()
        if not word[0].isupper() or normalize_word(word) not in names:
            return word
        return "they" if word.lower() in names else "their"

    return WORD_PATTERN.sub(replace_name, untitled)


def find_related_words(words: Sequence[str]) -> list[str]:
    """Return other forms and related words of the lower-case `words`, without those
    that share a stem with one of `words`, each once, in the order of `words`.
    """
    table = _load_related_words()
    related = (other for word in words for other in table.get(_stem(word), ()))
    return _list_new_words(related, words)


def expand_query(question: str) -> list[str]:
    """Return what to search for besides the words of `question`: the words for its
    expressions of two words, such as "give up", then its related words.
    """
    words = normalize_words(question)
    stems = set(map(_stem, words))
    phrases = (
        substitutes for heads, substitutes in _load_phrases().items() if heads <= stems
    )
    related = find_related_words(extract_search_words(question))
    return _list_new_words((*chain.from_iterable(phrases), *related), words)


def _list_new_words(related: Iterable[str], words: Iterable[str]) -> list[str]:
    stems = set(map(_stem, words))
    new = (other for other in related if _stem(other) not in stems)
    return list(dict.fromkeys(new))[:MAX_RELATED_WORDS]


def find_substitutes(word: str, texts: Iterable[str]) -> list[str]:
    """Return the words of `texts` that are forms of the lower-case `word`, or related to
    it, as the texts inflect them, in lower case. The closest comes first.
    """
    related = find_related_words([word])
    if not related:
        return []
    by_stem: dict[str, str] = {}
    for other in chain.from_iterable(map(WORD_PATTERN.findall, texts)):
        by_stem.setdefault(stem_word(other), normalize_word(other))
    stems = dict.fromkeys(map(stem_lightly, related))
    return [by_stem[stem] for stem in stems if stem in by_stem]


def list_word_forms(word: str) -> tuple[str, ...]:
    """Return the irregular forms of a lower-case word, itself included, such as "ran"
    for "run"; empty if it has none.
    """
    return _load_word_forms().get(word, ())


@cache
def _load_word_forms() -> Mapping[str, tuple[str, ...]]:
    forms: dict[str, tuple[str, ...]] = {}
    for line in _FORMS.split(";"):
        group = tuple(line.split())
        for word in group:
            forms[word] = tuple(dict.fromkeys((*forms.get(word, ()), *group)))
    return forms


def _stem(word: str) -> str:
    # `stem_lightly` turns "marriages" into "marriag", but leaves "marriage".
    return stem_lightly(word).rstrip("e")


@cache
def _load_related_words() -> Mapping[str, Iterable[str]]:
    """Return the words of all groups of each stem, in the order of the lists."""
    table: dict[str, dict[str, None]] = {}
    for line in f"{_FORMS};{_RELATED}".split(";"):
        group = line.split()
        for word in group:
            table.setdefault(_stem(word), {}).update(dict.fromkeys(group))
    for heads, substitutes in _iter_entries(_PARAPHRASES):
        for word in heads:
            table.setdefault(_stem(word), {}).update(dict.fromkeys(substitutes))
    return table


@cache
def _load_phrases() -> Mapping[frozenset[str], Sequence[str]]:
    """Return what a novel may say in place of two words, by the stems of these."""
    entries = _iter_entries(_PHRASES)
    return {frozenset(map(_stem, heads)): substitutes for heads, substitutes in entries}


def _iter_entries(table: str) -> Iterator[tuple[list[str], list[str]]]:
    for entry in table.replace("\n", " ").split(";"):
        heads, colon, substitutes = entry.partition(":")
        if colon:
            yield heads.split(), substitutes.split()
