"""Questions about tickets, answered with evidence.

query_answer        the numbers of a typed query as sentences
context, sampling   the periods and tickets that an answer or a report may use
shifts              values and themes whose share differs between two sides
model_answer        answers by a model that calls tools through the gate
evidence_check      removes sentences without evidence
analysis            one analysis from the question to the stored answer
"""
