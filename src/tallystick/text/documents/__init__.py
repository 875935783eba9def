"""Readers of documents. They need packages of a room's extra, so the kernel does not import them.

model     `ParsedDocument`: text in lines, headings, what the document says about itself; `DocumentRefused`
markdown  Markdown and plain text (uses `tallystick.text.headings`)
html      the visible text of a page (standard library)
pdf       the text of each page; `pdf_process` reads it in a process with limits (pypdf)
word      Word documents (uses `archive`)
archive   zip archives of unknown origin, and the XML in them (defusedxml)
"""
