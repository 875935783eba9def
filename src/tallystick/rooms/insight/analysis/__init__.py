"""Questions about tickets, answered with evidence.

question, periods   what is asked: which tickets, which numbers, which comparison
offline             the answer from numbers alone
governed            the answer of a model that may look things up through the gate
checked             what of an answer its evidence bears out; the rest is left out
running             one analysis from the question to the stored answer
"""
