"""The nine proposals, one file each."""
