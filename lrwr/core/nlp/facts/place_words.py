"""Words by which rules recognise names of places, and words that rule them out."""

_NOUNS_TEXT = (
    "House Street Road Lane Square Park Hall Court Place Gate Bridge Church Abbey "
    "Castle Tower Hill Wood Woods Forest Moor Marsh River Lake Sea Bay Harbour Harbor "
    "Port Island Isle Valley Mountain Mountains Hills Cottage Inn Hotel Tavern "
    "School College University Station Market Row Terrace Gardens Garden Grove "
    "Farm Manor Grange Priory Cathedral Chapel Prison Hospital Theatre Museum "
    "Palace Fort Cliff Beach Shore Point Head County Village Town City "
    "Avenue Boulevard Crescent Mews Wharf Dock Docks Quay Quarter Heath Common "
    "Green Down Downs Fields Field Mill Wells Falls Ford Creek Brook Pond Ditch "
    "Pass Peak Ridge Desert Plains Ocean Coast Bank Library Lodge Villa Alley Arms "
    "Mount Parsonage Rectory Vicarage Spinney Copse Arch Statue Buildings Chambers"
)
PLACE_NOUNS = frozenset(_NOUNS_TEXT.split())
"""Last words of names of places."""
_LOWERCASE_NOUNS_TEXT = (
    "street road lane square lodge hall park house church terrace gardens"
)
LOWERCASE_NOUNS = frozenset(_LOWERCASE_NOUNS_TEXT.split())
"""Those of `PLACE_NOUNS` that older books write in lower case: "Gull-street"."""
_SURNAME_NOUNS_TEXT = (
    "Hill Wells Wood Woods Fields Field Brook Marsh Forest Lake Moor Church Lane Bay "
    "Heath Green Bank Head Mill Ford Park Down Downs Bridge Hall Place Pond Court "
    "Garden Grove Cliff Mount Quarter Row Port"
)
SURNAME_NOUNS = frozenset(_SURNAME_NOUNS_TEXT.split())
"""Those of `PLACE_NOUNS` that are also surnames."""
_STRONG_PREPOSITIONS_TEXT = (
    "in at into near through throughout toward towards across outside inside around "
    "round beyond reached within"
)
STRONG_PREPOSITIONS = frozenset(_STRONG_PREPOSITIONS_TEXT.split())
_WEAK_PREPOSITIONS_TEXT = "to from entered left behind along by"
WEAK_PREPOSITIONS = frozenset(_WEAK_PREPOSITIONS_TEXT.split())
"""Prepositions and verbs that precede places as often as other things."""
_PAIRS_TEXT = (
    "left for|leave for|road to|way to|journey to|back to|went to|go to|"
    "gone to|came to|come to|come from|came from|arrived from|down to|up to|"
    "over to|sent to|return to|returned to|removed to|walk to|drive to|walked to|"
    "drove to|off to|going to|taken to|visit to|got to|out of|streets of|arrived at"
)
STRONG_WORD_PAIRS = frozenset(_PAIRS_TEXT.split("|"))
"""Two words before a name that make it a place's."""
_KINDS_OF_PLACES_TEXT = (
    "city town village county isle parish port neighbourhood neighborhood hamlet borough "
    "island district suburb kingdom province"
)
KINDS_OF_PLACES = frozenset(_KINDS_OF_PLACES_TEXT.split())
"""Nouns before "of" and a name that say that it is a place's."""
_NOT_LOCATIVE_BEFORE_TEXT = (
    "look looked looking looks glance glanced glancing stare stared staring gaze gazed "
    "gazing laugh laughed laughing smile smiled smiling frown frowned pointed nodded "
    "angry aimed shouted scowled winked believe believed believes belief faith "
    "confidence confide confided trust trusted interest interested change changed "
    "delight delighted disappointed see saw seen written read reading read sung played "
    "hope joy pleasure"
)
NOT_LOCATIVE_BEFORE = frozenset(_NOT_LOCATIVE_BEFORE_TEXT.split())
"""Words before "at" or "in" after which a person or a thing follows."""
_NO_PLACE_NAMES_TEXT = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February "
    "March April May June July August September October November December "
    "Christmas Easter Michaelmas Lent Spring Summer Autumn Winter God Gods Heaven Hell "
    "Providence Nature Fortune Fate Love Death Time Parliament Congress Lord Lor Jove "
    "Jupiter Venus Mars Apollo Christ Jesus Satan Devil Bible Scripture Scriptures "
    "Latin Greek English French German Italian Spanish Russian Dutch Hebrew Arabic "
    "Chinese Japanese Roman Mr Mrs Miss Ms Sir Madam Monsieur Madame Messieurs "
    "Mademoiselle Esq Court Society"
)
NO_PLACE_NAMES = frozenset(_NO_PLACE_NAMES_TEXT.split())
"""Words of no place's name: days, gods, languages, forms of address."""
_WORKS_AND_PAPERS_TEXT = (
    "Times Gazette Herald Chronicle Standard Globe Courier Journal Guide Calendar "
    "Book Books Magazine Review Sermons Post Mail Telegraph Observer Mercury Tribune "
    "News Advertiser Examiner Spectator Tales Poems Sonata Symphony Act Bill Law "
    "Company Committee Society Army Navy Ministry Office Press Murder Inquest"
)
WORKS_AND_PAPERS = frozenset(_WORKS_AND_PAPERS_TEXT.split())
"""Last words of titles of works, of newspapers and of organisations."""
_ACTS_LIKE_A_PERSON_TEXT = (
    "said says asked cried replied answered thought felt who whom eyes face hand hands "
    "voice arm heart mother father sister brother wife husband exclaimed whispered "
    "murmured muttered smiled nodded laughed sighed"
)
ACTS_LIKE_A_PERSON = frozenset(_ACTS_LIKE_A_PERSON_TEXT.split())
"""Words that follow a person's name."""
_MAY_FOLLOW_RESIDENCE_TEXT = (
    "as with and or but in on till until when where while after before for to that he "
    "she i we they last yesterday to-day to-night to-morrow again once then"
)
MAY_FOLLOW_RESIDENCE = frozenset(_MAY_FOLLOW_RESIDENCE_TEXT.split())
"""Words that may follow "at Mr. Vale's"; any other is what Mr. Vale owns."""
_RESIDENCES_TEXT = (
    "house home cottage studio shop farm lodgings lodging rooms room library garden "
    "estate mill chambers villa flat office cell cabin tavern inn school stable "
    "bedroom dressing-room drawing-room study place"
)
RESIDENCES = frozenset(_RESIDENCES_TEXT.split())
"""Nouns after a possessive that make a place: "Mr. Vale's shop"."""
_ALONE_TEXT = (
    "abbey almshouse archway arcade arena attic bakery balcony ballroom barn barracks "
    "basement bathroom battlements bay beach bedroom belfry boathouse boudoir brewery "
    "bridge cabin cafe canteen castle cathedral causeway cave cavern cellar cemetery "
    "chapel church churchyard clinic cloister club coach-house cockpit coffee-house college "
    "conservatory convent copse cottage courthouse courtroom courtyard crypt dairy "
    "dining-room dispensary docks dormitory drawing-room dressing-room dungeon embassy "
    "factory farm farmhouse farmyard ferry foundry forge forest fort fortress gallery "
    "garage garden gardens garret graveyard greenhouse grove guardroom gymnasium harbour "
    "harbor hall harem hayloft hospital hotel infirmary inn jail jetty kitchen laboratory "
    "laundry library lighthouse lodge loft manor manse marsh mansion market mill "
    "monastery moor morgue morning-room mosque museum nursery observatory office opera "
    "orchard orphanage palace palisade pantry park parlour parlor parsonage pier "
    "playground plantation police-station post-office prison public-house pub quarry quay "
    "railway-station ranch rectory refectory restaurant saloon school schoolroom "
    "scullery shipyard shrubbery smithy smoking-room sitting-room spinney stable stables "
    "station studio study summer-house summerhouse surgery swamp tavern temple theatre "
    "theater throne-room tower treasury tunnel university valley vault vestry vicarage "
    "waiting-room warehouse watchtower waterfront wharf windmill woods workhouse workshop"
)
_MODIFIED_TEXT = "room house shop office den station field store theatre tent camp hut"
PLACES_WITH_MODIFIER = frozenset(_MODIFIED_TEXT.split())
"""Common nouns of places that need a word before them: "the assembly room"."""
COMMON_PLACES = frozenset(_ALONE_TEXT.split()) | PLACES_WITH_MODIFIER
"""All common nouns of places after "the"."""
_DROPPED_MODIFIERS_TEXT = (
    "old little great big small large long dark next same other whole very first last "
    "new own open narrow wide high low deep quiet silent front back inner outer lower "
    "upper adjoining opposite nearest distant only main second third bare cold warm "
    "poor good bad gloomy dingy black white red green grey gray brown blue best right "
    "left private public neighbouring ancient ruined huge vast tiny whole entire fine "
    "sick hot close near far late sunny dim bright lonely strange wretched squalid "
    "beautiful pretty cheerful common ordinary usual"
)
DROPPED_MODIFIERS = frozenset(_DROPPED_MODIFIERS_TEXT.split())
"""Adjectives that are no part of a place's name."""
_NOUNS_IN_Y_TEXT = (
    "assembly party jury nursery library laundry story city county military navy army "
    "grocery jewelry toy pastry embroidery surgery lottery body"
)
NOUNS_IN_Y = frozenset(_NOUNS_IN_Y_TEXT.split())
"""Words before a noun of a place that end like adjectives and are nouns."""
