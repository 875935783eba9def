"""One module per revision of desk's tables."""
