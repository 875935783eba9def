"""Taking the book out again: Markdown, Word, e-book. The same book gives the same bytes."""
