"""Exports the book as Markdown, Word or e-book. The same book gives the same bytes."""
