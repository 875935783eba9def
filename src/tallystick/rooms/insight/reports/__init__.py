"""Reports whose every number can be computed again.

blocks          what a report is made of; each number is noted with its query
building        the sections, from the numbers of one dataset
markdown, html  the two forms, each with an appendix that a machine reads; `charts` draws
recheck         appendix → every number again, and which differ
marks           text → its numbers and quotes, and back
difference      what differs, in a sentence
metrics         the numbers behind charts, for pages
"""
