"""The tickets nearest to a text.

    files       a dataset's vectors in memory-mapped files, grouped by department and product
    exact       exact ranking of rows, ties by ticket id
    local       full scan, or an HNSW graph for large datasets
    postgres    the same on pgvector
    finder      chooses the backend, and tells stale vectors
    reranking   reorders candidates by words and by each other
    highlights  explains a match
    service     all of it together

Filters are applied before ranking: a ticket of another department is never compared.
"""
