"""Figures about tickets, each with the query that reproduces it.

facts         one pass over a dataset: columns of plain numbers
query         `share?dataset=1&part.category=Refund`: what a number is the answer to
selection     the tickets of a query
measures      one selection → a number
comparisons   two selections → differences and their significance
calculator    query → number, for analyses, reports, rechecks and the reply check
"""
