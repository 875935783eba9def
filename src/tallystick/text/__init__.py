"""Text utilities shared by the whole package, built on established libraries; independent of `gate`.

folding     one spelling for quote marks, dashes, white space, case and Unicode variants
spans       ranges of characters, and their line numbers
words       words with their positions, and the only stop-word list
stems       the stem of a word (Snowball)
sentences   sentences as spans (syntok)
bm25        relevance scores of texts for a query
headings    headings and listings of a Markdown text (markdown-it-py)
encoding    from the bytes of a file to its text
number_words, calendar_names   English words for numbers, months and weekdays
documents   readers for Markdown, HTML, PDF and Word documents: optional, and never imported by the kernel
"""
