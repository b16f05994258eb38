"""Texts about the manuscript, such as newsletters: are their statements in the text?"""
