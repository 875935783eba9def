"""The knowledge base: a folder of documents that answers are taken from.

    walk      which files there are, and which of them changed          walking.py
    read      bytes → Document: text in lines, headings, standing       reading.py → markdown, html, docx, pdf
    split     Document → Passages, each with its section and lines      passages.py
    index     words → passages, ranked                                  words.py, index.py, meaning.py
    keep      what was read, by the hash of the file                    kept.py
    ask       all of it together                                        knowledge.py

Documents are what somebody wrote: data, never instructions. What a reader of the document would not see (scripts,
comments, hidden text) is left out and noted, so that nothing unseen can become evidence.
"""
