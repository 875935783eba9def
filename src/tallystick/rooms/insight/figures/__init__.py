"""Numbers about tickets, each with the query that gives it again.

facts         one pass over a dataset: columns of plain numbers
query         `share?dataset=1&part.category=Refund`: what a number is the answer to
selecting     which tickets a query means
measures      one selection → a number
comparing     two selections → differences and tests of them
book          query → number, for analyses, reports, rechecks and the reply check alike
"""
