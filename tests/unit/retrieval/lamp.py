"""Three chapters for tests of searching: who is there, who is spoken of, and when."""

from lrwr.core.model.facts import FactAbout, NarrativeFunction, PassageField

OUT = "“The lamp is out,” said Nell Tallow to Corin Vale. Nell Tallow’s eyes were grey."
RAIN = "Rain beat on the glass of the lamp all that night, and nobody came to the door."
MISSED = "“I miss Orla Finch and her lamp,” said Corin Vale."
ALONE = "Corin Vale sat alone by the lamp, and he sang."
MINE = (
    "“The lamp is mine,” said Orla Finch to Nell Tallow. “My own lamp,” said Orla"
    " Finch."
)
HARBOUR = "Orla Finch went to the harbour with the lamp. Orla Finch’s eyes were green."

CHAPTERS = {
    "1.md": f"# One\n\n{OUT}\n\n* * *\n\n{RAIN}",
    "2.md": f"# Two\n\n{MISSED}\n\n* * *\n\n{ALONE}",
    "3.md": f"# Three\n\n{MINE}\n\n* * *\n\n{HARBOUR}",
}

NOTE = """\
---
type: character
name: Orla Finch
aliases: [Kestrel]
---

# Orla Finch

- **Eyes:** brown
"""

SCRIPT = {
    "Rain beat": (FactAbout.PASSAGE, PassageField.CONTENT_TYPE, "description"),
    "Corin Vale sat": (
        FactAbout.PASSAGE,
        PassageField.NARRATIVE_FUNCTION,
        NarrativeFunction.BACKSTORY,
    ),
    "The lamp is out": (FactAbout.EVENT, "event", "The lamp goes out at dusk."),
}
"""What a model says of them, beside what rules say."""
