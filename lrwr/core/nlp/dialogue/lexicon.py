"""Speech verbs and nouns for people."""

_SPEECH = (
    "said says say asked asks replied replies answered answers cried cries exclaimed "
    "exclaims whispered whispers shouted shouts muttered mutters murmured murmurs "
    "added adds continued continues returned returns observed observes remarked "
    "remarks inquired inquires enquired enquires demanded demands began begins "
    "repeated repeats declared declares called calls told tells explained explains "
    "interrupted interrupts protested protests suggested suggests agreed agrees "
    "admitted admits announced announces commented comments concluded concludes "
    "confessed confesses echoed echoes ejaculated insisted insists mumbled mumbles "
    "objected objects persisted persists pleaded pleads pronounced responded "
    "responds retorted retorts rejoined rejoins resumed resumes pursued proceeded "
    "stammered stammers faltered falters urged urges ventured ventures warned warns "
    "assented affirmed argued argues begged begs implored entreated queried "
    "questioned acknowledged allowed apologised apologized assured asserted avowed "
    "blurted bawled bellowed boomed breathed chided chimed chorused coaxed "
    "complained contended corrected counselled croaked croaks crooned drawled "
    "entreated gasped gasps groaned groans growled growls grumbled grunted grunts "
    "hissed hisses hollered howled intoned interjected interposed interrupted "
    "jeered joked lied lisped mimicked moaned mused nagged offered ordered panted "
    "piped prayed proclaimed prompted proposed purred quavered quipped "
    "quoted quoth raged ranted rasped reasoned reassured recited recommended "
    "reflected reminded reported roared roars scoffed scolded screamed screams "
    "screeched shrieked shrilled sighed sighs snapped snaps snarled snarls sneered "
    "snorted sobbed sobs soothed speculated spluttered sputtered squeaked squealed "
    "stated states stuttered swore taunted teased thundered vowed volunteered wailed "
    "wheezed whimpered whined whooped wondered yelled yells yelped yapped barked "
    "cautioned challenged cackled chattered chirped consented cooed cursed "
    "conceded countered crowed deadpanned elaborated exhorted expostulated "
    "finished thought thinks wrote spoke speaks remonstrated greeted congratulated "
    "hinted hazarded opined surmised mouthed vociferated lamented deplored praised "
    "thanked instructed commanded directed invited pressed prophesied predicted"
)
SPEECH_VERBS = frozenset(_SPEECH.split())
"""Verbs of speaking, in the forms that occur in fiction."""

_GESTURES = (
    "laughed laughs smiled smiles nodded nods grinned grins frowned chuckled "
    "giggled shrugged winced beamed smirked blushed simpered sniffed coughed "
    "hesitated paused wept went broke burst came put cut struck turned"
)
GESTURE_VERBS = frozenset(_GESTURES.split())
"""Verbs of gesture that may replace a speech verb: "…," laughed Nell."""

_SURE = (
    "said says asked replied answered cried exclaimed whispered shouted muttered "
    "murmured added continued returned observed remarked inquired enquired "
    "demanded repeated declared say called explained interrupted protested suggested "
    "retorted rejoined responded resumed ejaculated growled stammered faltered"
)
SURE_VERBS = frozenset(_SURE.split())
"""Verbs whose subject, beside a quotation, is almost always the speaker."""

_MEN = (
    "man gentleman boy lad fellow father brother husband son uncle nephew "
    "grandfather papa dad king prince duke lord baronet squire master butler "
    "footman coachman clergyman priest vicar parson monk policeman fireman sailor "
    "soldier waiter groom widower bachelor host landlord schoolmaster salesman "
    "postman milkman workman foreman chairman sportsman statesman nobleman "
    "frenchman englishman scotchman irishman dutchman highwayman tradesman huntsman "
    "watchman boatman fisherman ferryman countryman kinsman actor emperor count "
    "baron wizard monsieur youth guy lordship dude bloke chap beadle curate bishop abbot"
)
MALE_NOUNS = frozenset(_MEN.split())

_WOMEN = (
    "woman lady girl maid mother sister wife daughter aunt niece grandmother mamma "
    "mama mum mom queen princess duchess countess baroness mistress housekeeper "
    "governess nurse widow hostess landlady schoolmistress matron spinster actress "
    "lass damsel maiden nun bride waitress housemaid chambermaid handmaid "
    "charwoman washerwoman gentlewoman stepmother godmother witch madame "
    "mademoiselle matriarch ladyship frenchwoman englishwoman seamstress empress heiress"
)
FEMALE_NOUNS = frozenset(_WOMEN.split())

_ANYONE = (
    "child friend companion doctor inspector detective captain colonel major "
    "general sergeant lieutenant constable servant cook porter driver cabman "
    "stranger visitor guest client speaker other latter former person creature "
    "cousin teacher professor lawyer attorney solicitor judge officer guard "
    "prisoner patient neighbour neighbor traveller traveler thief jailer "
    "surgeon clerk secretary merchant baker butcher smith farmer shepherd hunter "
    "pilot manager banker singer dancer artist painter author writer poet editor "
    "philosopher minister deacon preacher messenger page usher magistrate "
    "coroner apothecary chemist physician tutor student pupil invalid orphan baby "
    "animal voice orderly apprentice undertaker housebreaker robber burglar "
    "reeve clerk miller tinker beggar captive leader chief commander admiral "
    "newcomer listener narrator elder youngest eldest younger"
)
ANYONE_NOUNS = frozenset(_ANYONE.split())
PERSON_NOUNS = MALE_NOUNS | FEMALE_NOUNS | ANYONE_NOUNS
"""Nouns for one person, in lower case."""

_KIN = (
    "father mother brother sister husband wife son daughter uncle aunt nephew niece "
    "grandfather grandmother papa mamma mama dad mum mom cousin stepmother "
    "stepfather parent"
)
FAMILY_NOUNS = frozenset(_KIN.split())
"""Nouns for relatives."""

_TO_MEN = "sir mister lad lads sonny papa father dad uncle monsieur boy brother son"
_TO_WOMEN = (
    "madam ma'am ma’am miss mamma mama mother mum mom aunt mademoiselle madame lass "
    "lady sister girl daughter"
)
MALE_ADDRESS_TERMS = frozenset(_TO_MEN.split())
FEMALE_ADDRESS_TERMS = frozenset(_TO_WOMEN.split())
"""Forms of address for men and women."""

_MARRIED = (
    "wife mother mamma mama mum mom aunt grandmother widow stepmother lady ladyship"
)
_SINGLE = "daughter sister niece girl lass maiden damsel spinster"
YOUNG_MEN = frozenset({"son", "nephew", "grandson"})
"""Nouns for younger relatives, who are seldom called Mr."""
MARRIED_NOUNS = frozenset(_MARRIED.split())
"""Nouns for women who are more often called Mrs. than Miss."""
SINGLE_NOUNS = frozenset(_SINGLE.split())
"""Nouns for women who are more often called Miss than Mrs."""
