"""Continuity: what cards and scenes state, and which statements cannot both be true.

Reading order: `card_lines` and `card_statements` (what the cards settle), `passages`, `cast`, `mentions` and
`certainty` (who is meant in a scene, and what is told for sure), `fields` (one module for each kind of statement),
`comparison`, `calendar_checks` and `spellings` (what contradicts what), and `book_check` (the whole book).
"""
