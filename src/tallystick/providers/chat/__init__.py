"""Models behind an OpenAI-compatible chat endpoint.

address, keys        the URL and the key
strict, forms        how the endpoint is asked to keep to the response schema
capabilities         what an endpoint refused before
request, answer      conversion between our types and the API's JSON
capped               size limits for responses
failures, patience   error codes, and whether and when to retry
client               the SDK; the only module that loads it
compatible           the model
"""
