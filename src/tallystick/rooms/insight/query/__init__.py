"""Typed queries over the tickets of a dataset: a closed language, run by SQL, that a figure can name.

model        the query, its JSON form and its line form
schema       the JSON Schema of the JSON form
columns      the dataset's real columns, to which names and values are held
validation   a query against those columns
execution    a valid query → rows of numbers
reading      a valid query → one sentence that says what it counts
"""
