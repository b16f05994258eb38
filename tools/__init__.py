"""Scripts for contributors; not part of the installed package."""
