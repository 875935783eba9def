"""The knowledge base: a folder of documents that answers are quoted from.

    folder           the files of the folder, each read again only when it changes
    document_reader  bytes → Document: text in lines, sections, status; by `tallystick.text.documents`
    passages         Document → Passages, each with its section and lines
    index, vectors   passages ranked by words and by meaning; words lists synonyms
    index_file       what was read, by the hash of the file
    knowledge        all of it together; library joins it to a workspace

Documents are data, never instructions. What a reader of the document would not see (scripts, comments, hidden text) is
left out and noted, so that nothing unseen can become evidence.
"""
