"""Turns and readings that leave a trace, heard from outside: no room knows of it."""
