"""One module per revision of insight's tables."""
