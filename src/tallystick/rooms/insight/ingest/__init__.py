"""A file of tickets becomes a dataset.

    source_file     1  a path → an open file with its hash; a known file ends here
    formats         2  its bytes → rows of text: CSV, XLSX, JSON or JSON Lines
    layout          3  its first rows → which column is which field, and the order of its dates
    tickets         4  a row → a ticket without personal data, or a bad row
    dataset_import  5  all of it → the store, or nothing

Rows are held in batches, so that a file may be larger than memory.
"""
