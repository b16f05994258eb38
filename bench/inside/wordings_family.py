"""Sentences about deaths and parents to insert into novels; see `family`.

`n` is a character, `pos` "his" or "her", `child` "son" or "daughter". `p` is the name of
a parent, `parent` "father" or "mother", `ppos` the parent's "his" or "her".
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FamilyWordings:
    """Sentences that tell of a death, of an act of the dead, and of a parent.

    `harmless_acts` do not show the dead alive, and `harmless_parents` do not state that
    `p` is a parent.
    """

    deaths: tuple[str, ...]
    acts: tuple[str, ...]
    harmless_acts: tuple[str, ...]
    parents: tuple[str, ...]
    harmless_parents: tuple[str, ...]


FIRST = FamilyWordings(
    deaths=(
        "{n} died that night.",
        "{n} was dead before the doctor came.",
        "That winter {n} died of a fever.",
        "They found in the morning that {n} was dead.",
        "{n} had died in the night, alone.",
        "At the turn of the tide {n} drowned.",
        "{n} was killed by a fall from a horse.",
        "They buried {n} on the Tuesday.",
        "{n} breathed {pos} last a little before dawn.",
        "{n} was hanged on the Monday morning.",
        "The death of {n} was told at breakfast.",
        "{n} passed away in the spring.",
        "{n}'s funeral took place on the Thursday.",
        "Before the week was out {n} lay dead in the upper room.",
        "{n} expired in the arms of the nurse.",
        "A stray ball struck {n}, who fell dead on the stones.",
    ),
    acts=(
        "{n} opened the door and came in.",
        "“Come in,” said {n}.",
        "{n} walked down the street with a basket.",
        "{n} smiled at the clerk.",
        "Then {n} took a chair by the fire.",
        "{n} looked out of the window and laughed.",
        "At the gate stood {n}.",
        "{n} gave the boy a shilling.",
        "“No,” {n} said, “not to-day.”",
        "{n} had already finished {pos} tea and was reading the paper.",
        "In the afternoon {n} drove the clerk to the station.",
        "The door opened, and {n} hurried in out of the rain.",
        "{n} bought two pounds of candles at the shop.",
        "“It wants ten minutes to four,” {n} announced.",
    ),
    harmless_acts=(
        "The clerk dreamed that {n} opened the door and came in.",
        "“{n} came in at the gate,” said the porter.",
        "Years before, {n} had stood at the same gate.",
        "Nobody had forgotten how {n} laughed.",
        "In the portrait {n} smiled at the clerk.",
        "{n} never again walked down that street.",
        "It was as if {n} stood at the gate.",
        "The clerk remembered the day when {n} gave the boy a shilling.",
    ),
    parents=(
        "{n}'s {parent}, {p}, came down by the early coach.",
        "{p} was {n}'s {parent}.",
        "{p}, the {parent} of {n}, took the reins.",
        "{n} was the {child} of {p}.",
        "{n}, the {child} of {p}, waited below.",
        "{n} had a letter from {pos} {parent}, {p}.",
        "{p}, {n}'s {parent}, nodded.",
        "{n} kissed {pos} {parent} {p} at the gate.",
        "{n}, {p}'s {child}, shut the gate.",
        "{p} was proud of {ppos} {child} {n}.",
    ),
    harmless_parents=(
        "“{n}'s {parent}, {p}, is below,” said the porter.",
        "{p} was not {n}'s {parent}.",
        "People said that {p} was {n}'s {parent}.",
        "{p} was like a {parent} to {n}.",
        "{n} met {p}, the {parent} of the clerk.",
    ),
)
"""What the rules may be adapted to."""

SECOND = FamilyWordings(
    deaths=(
        "{n} died on the last day of the month.",
        "The fever took {n} within the week.",
        "By the time that the surgeon arrived, {n} was already dead.",
        "{n} was found dead at the foot of the stairs.",
        "{n} was drowned in the great flood.",
        "{n} died quietly in {pos} sleep.",
        "The news of {n}'s death reached the house at noon.",
        "On the Friday they buried {n} beside the old church.",
        "{n} lived three days longer, and then died.",
        "{n} was shot through the heart at the bridge.",
        "The cart overturned, and {n} was killed on the spot.",
        "{n} gave one long sigh and died.",
        "An hour later {n} was no more.",
        "{n} closed {pos} eyes for ever as the clock struck two.",
        "{n} had been dead a month.",
        "It was on a wet Sunday that {n} died.",
    ),
    acts=(
        "{n} stood at the counter and counted the change.",
        "“You are late,” {n} remarked.",
        "{n} shut the gate and crossed the yard.",
        "Presently {n} rose from the table.",
        "{n} laid the book on the shelf.",
        "{n} ran up the steps two at a time.",
        "{n} nodded and went upstairs.",
        "“What is the hour?” asked {n}.",
        "{n} was standing at the window with a candle.",
        "{n} carried the tray into the kitchen.",
        "Into the room came {n} with a lamp.",
        "{n} ate an apple on the bench by the door.",
        "Towards evening {n} called at the parsonage.",
        "{n} slowly turned the key and listened.",
    ),
    harmless_acts=(
        "If {n} came in now, the clerk would not be surprised.",
        "“I saw {n} walk down the street,” cried the porter.",
        "The story told how {n} opened the gate in the old days.",
        "{n} used to sit on that bench.",
        "The ghost of {n} stood at the gate, the children said.",
        "{n}'s brother opened the door and came in.",
        "The clerk had once seen how {n} carried the tray.",
        "In the play {n} was a king, and laughed.",
    ),
    parents=(
        "{p} was the {parent} of {n}.",
        "{n} looked very like {pos} {parent}, {p}.",
        "The {parent} of {n}, {p}, was at the door.",
        "{p} had come with {n}, who was {p}'s {child}.",
        "{n}'s {parent} was {p}.",
        "{n}'s {parent} {p} had the best seat.",
        "{p}, {parent} of {n}, kept the inn.",
        "{n} was {p}'s only {child}.",
        "There sat {p}, {n}'s own {parent}, with a book.",
        "{n}, who was a {child} of {p}, wrote to the bank.",
    ),
    harmless_parents=(
        "“{p} is the {parent} of {n},” cried the porter.",
        "If {p} was {n}'s {parent}, nobody spoke of it.",
        "{n}'s friend, {p}, came to dinner.",
        "{p} treated {n} as a {child}.",
        "The porter took {p} for {n}'s {parent}.",
    ),
)
"""What the rules were adapted to after a first figure."""

THIRD = FamilyWordings(
    deaths=(
        "{n} died on a Thursday in the first snow.",
        "After a long illness {n} died at the inn.",
        "{n}, after a short struggle, died.",
        "{n} was murdered on the heath by two men.",
        "The burial of {n} took place at ten.",
        "{n} fell from the roof and was killed.",
        "{n} drowned in the mill pond.",
        "{n} passed away on the last night of the year.",
        "{n}'s death was in all the papers.",
        "The nurse came in and saw that {n} was dead.",
        "{n} had been killed in the first hour.",
        "{n} sank back on the pillow and died.",
        "{n} never woke again.",
        "They buried {n} in the new churchyard.",
    ),
    acts=(
        "{n} shook hands with the clerk.",
        "{n} went to the window and drew the curtain.",
        "“Good evening,” said {n}.",
        "{n} folded the paper and rose.",
        "On the stairs stood {n} with a lantern.",
        "{n} whistled and walked on.",
        "{n} paid for the candles and thanked the girl.",
        "“By all means,” replied {n}.",
        "{n} was working in the garden.",
        "{n} knocked twice at the door.",
        "{n} poured the tea and cut the cake.",
        "In came {n} with the dog.",
    ),
    harmless_acts=(
        "They say that {n} walked there at night.",
        "“Look, {n} is coming,” cried the porter.",
        "The clerk still had the book that {n} gave away.",
        "{n} had often sat there in the old days.",
        "{n} would have laughed.",
        "The clerk wrote about the evening when {n} sang.",
        "{n}'s son nodded and went upstairs.",
        "The clerk thought that {n} smiled.",
    ),
    parents=(
        "{p}, {n}'s {parent}, came to the door.",
        "{n} was waiting for {pos} {parent}, {p}.",
        "{p} was the {parent} of {n}, and had a shop.",
        "The {child} of {p}, {n}, was there.",
        "{n}, {child} of {p}, wrote to the bank.",
        "{n}'s {parent}, {p}, kept the inn.",
        "{n} was {p}'s {child}.",
        "{n} walked to town with {pos} {parent}, {p}.",
        "{n}'s old {parent}, {p}, was asleep.",
        "{p} sent for {ppos} {child} {n}.",
    ),
    harmless_parents=(
        "“I am {n}'s {parent},” said {p}.",
        "{p} might have been {n}'s {parent}.",
        "{n} and {p} met the {parent} of the clerk.",
        "{p} was never {n}'s {parent}.",
        "{n}'s guest, {p}, came late.",
    ),
)
"""For figures only: no rule was adapted to these."""

FOURTH = FamilyWordings(
    deaths=(
        "{n} died a week before the fair.",
        "{n} was dead by the time the snow melted.",
        "Nobody could save {n}, who died at noon.",
        "{n} went through the ice and was drowned.",
        "{n} was struck by a falling beam and killed.",
        "That same night {n} died without a word.",
        "In March came the funeral of {n}.",
        "{n} had died of the cold on the moor.",
        "{n} was carried to the grave on a Friday.",
        "{n} did not live to see the spring.",
        "A fall from the cliff killed {n}.",
        "{n} died in the arms of the clerk.",
        "Word came that {n} was dead.",
        "{n} lay dead on the floor of the mill.",
    ),
    acts=(
        "{n} tied the boat and came up the bank.",
        "“Not a penny,” said {n}.",
        "{n} filled the lamp and sat down.",
        "At the corner {n} stopped and looked back.",
        "{n} lifted the latch.",
        "“Is it far?” {n} asked.",
        "{n} was waiting at the ferry.",
        "{n} put the key under the mat.",
        "Then {n} laughed and went out.",
        "{n} spread the map on the table.",
    ),
    harmless_acts=(
        "The clerk wished that {n} had come.",
        "“{n} laughed at me,” said the porter.",
        "{n} had once mended that gate.",
        "The picture showed how {n} sat by the window.",
        "{n}'s nephew lifted the latch.",
        "In the letter {n} asked for money.",
        "It might have been {n} who came up the bank.",
    ),
    parents=(
        "{n}'s {parent} was called {p}.",
        "{p} had a {child}, {n}.",
        "{n} sat beside {pos} {parent}, {p}.",
        "The clerk greeted {p}, the {parent} of {n}.",
        "{p}, whose {child} was {n}, lived by the mill.",
        "{p} scolded {ppos} {child} {n}.",
        "{n}, the only {child} of {p}, nodded.",
        "{n} wrote to {pos} {parent} {p}.",
        "{p} and {ppos} {child} {n} came late.",
        "{n} was born to {p}, {pos} {parent}, at the mill.",
    ),
    harmless_parents=(
        "“My {parent} was {p},” said {n}.",
        "{n} wished that {p} were {pos} {parent}.",
        "{p} was older than {n}'s {parent}.",
        "{n} and {p} had the same {parent}.",
        "The clerk thought {p} the {parent} of {n}.",
    ),
)
"""Counted once with rules that were not adapted to them; then some were added."""
