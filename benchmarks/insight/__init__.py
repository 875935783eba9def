"""What insight is measured by: rows a second, search, clusters against labelled corpora."""
