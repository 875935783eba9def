"""Models behind a chat endpoint.

endpoint             the URL and the key
strict, forms        how the endpoint is asked to keep to the response schema
capabilities         what an endpoint refused before
request, answer      conversion between our types and the API's JSON
failures, patience   error codes, and whether and when to retry
client               the SDK, with size limits for responses; the only module that loads it
anthropic            the messages API, over the HTTP port
compatible           the model
"""
