"""Models behind an OpenAI-compatible chat endpoint.

address, keys        where, and with what key
strict, forms        the answer's schema, as far as the endpoint can hold the model to it
capabilities         what an endpoint refused before
request, answer      our nouns ↔ the wire
capped               no answer is read without a limit
failures, patience   what went wrong, and whether to try again
client               the SDK; the only module that loads it
compatible           the model
"""
