"""Retrieval for chat and every room: texts are cut into passages, indexed and found again.

    passages    text → passages, each with its headings and lines
    index       the port of a lexical index, and what it returns
    fts         the index on SQLite FTS5, in a file of its own
    embedder    the port of an embedding model
    vectors     the vectors of passages, in a file beside the index
    retriever   search by words and meaning, joined and reranked; what rooms use
    files       the files of a workspace in an index, updated by content hash

An index holds only what can be made again from its sources: it is never migrated, but emptied and filled anew.
"""
