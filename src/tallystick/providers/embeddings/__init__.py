"""Text embeddings.

    builtin     WordLlama's static word vectors: weights included in its wheel, needs numpy and scipy
    sentences   any sentence-transformers model that is on this machine (extra `embeddings`)
    judging     a cross-encoder that reads question and text together (same extra)
    choosing    selects one by the name of a backend or a model

Nothing here uses the network: for a model that is not on the machine, the error names the command that fetches it.
"""
