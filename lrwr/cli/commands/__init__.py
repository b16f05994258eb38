"""The commands, in one module for each group of them.

They import slow modules only when they run.
"""
