"""Continuity: what a book says about its people, places and days, and where it says otherwise.

Reading order: `prose` and `speech` (what is told and what is only said), `narration` and `claims` (what is told as a
fact), `people`, `binding` and `focus` (who is meant), then one module for each kind of fact, `comparing` (which two
cannot both be true) and `checking` (the whole book, one scene, a few files).
"""
