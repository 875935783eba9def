"""The tickets nearest to a text.

    files       a dataset's vectors in one file that is mapped into memory, tickets of a kind side by side
    exact       the best of some rows, ties by ticket id
    graph       an HNSW graph over the file, for datasets that are too large to read whole for every question
    local       both of them behind one question
    postgres    the same question asked of pgvector
    finder      which of them answers; when they are stale
    lexical     how much words and parts of words agree
    reranking   the best by vectors put in order once more by words and by each other
    highlights  why a ticket was found
    searching   all of it together: what the tools and doors ask

Filters are applied before anything is ranked: a ticket of another department is never even compared.
"""
