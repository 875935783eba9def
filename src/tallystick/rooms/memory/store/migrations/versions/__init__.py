"""One module per revision of memory's tables."""
