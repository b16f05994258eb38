"""Drafting: the board of scenes, their briefs, and checks of drafts. Writes no story."""
