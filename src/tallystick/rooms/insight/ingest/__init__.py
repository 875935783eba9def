"""A file of tickets becomes a dataset.

    opening   1  a path → an open file with its hash; a file that was taken before ends here
    formats   2  its bytes → rows of text: CSV, XLSX, JSON or JSON Lines
    layout    3  its first rows → which column is which field, and how its dates are written
    tickets   4  a row → a ticket without personal data, or what is wrong with the row
    taking    5  all of it → the store, in one transaction, or nothing

Only the file's own rows are ever held: a batch at a time, so that a file may be larger than memory.
"""
