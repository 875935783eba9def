"""Rules over the wording of documents.

sentences       the sentences of a snippet, without markup and quotations
overlap         shared stems, numbers, measures, negation
"""
