"""A short story for tests: three people, and a fourth who comes later."""

LAMP = """\
# The Lamp

“Is it late, Corin?” said Nell Tallow.

“No,” said Corin Vale. He looked at Nell. She shut her book, and then she opened it.

The rain came over the flats and beat on the shutters all that night. It filled the
gutters. It ran down the steps and under the door, as it did every year in March.

“You are tired, Nell,” said Corin.

“I am not,” said Nell. She put the lamp out. Nell’s eyes were grey.

* * *

Mrs. Gannet kept the ledger. “Three cans of oil,” said Mrs. Gannet to Corin.

“Four,” said Corin. She wrote it down with a steel pen, and the pen scratched.
"""

LEDGER = """\
# The Ledger

“You are late,” said Mrs. Gannet.

“The tide was,” said Nell. Mrs. Gannet sighed, and Nell sat down by the wall.

The clock in the hall had stopped at four. Dust lay on it. Nobody wound it any more.
"""

ROAD = """\
# The Road

“Left,” said Orla Finch. “Left again,” said Orla Finch to the mule.

Orla Finch drove on, and she sang of the sea, and the mule turned right.
"""

STORY = {"1.md": LAMP, "2.md": LEDGER}

NOTE = """\
---
type: character
name: Nell Tallow
aliases: [Nell, Wren]
---

# Nell Tallow

- **Eyes:** brown
"""
