"""Texts as vectors.

    builtin     WordLlama's static word vectors: weights inside its wheel, numpy only
    sentences   any sentence-transformers model that is on this machine (extra `embeddings`)
    judging     a cross-encoder that reads question and text together (same extra)
    choosing    from a backend's name and a model's name to one of them

Nothing here reaches the network: a model that is not on the machine is named with the command that fetches it.
"""
