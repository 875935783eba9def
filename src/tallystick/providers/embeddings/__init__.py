"""Text embeddings.

    builtin     WordLlama's static word vectors: weights included in its wheel, needs numpy and scipy
    minilm      MiniLM on onnxruntime, without torch: sentence and token vectors (extra `reading`, a fetched file)
    sentences   any sentence-transformers model and cross-encoder that is on this machine (extra `embeddings`)
    selection   selects one by the name of a backend or a model

Nothing here uses the network: for a model that is not on the machine, the error names the command that fetches it.
"""
