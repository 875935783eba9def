"""The journal in PostgreSQL: several nodes append to one log; the database serialises them.

    tally_head         one row: size, last leaf and the head's slot with its MAC; locked by the appending node
    tally_records      header, inputs and outputs of each record by sequence number, byte for byte as in the files
    tally_nodes        subtree hashes per 256 and 65,536 records; derived data, rebuilt if lost
    tally_checkpoints  signed notes
    tally_blobs        payloads too large for a record
    tally_definitions  policies and tool definitions that receipts name by digest
    tally_rates        calls in the last minute per caller and tool
    tally_meters       usage of tasks, charged to their budgets
    tally_processes    processes that may have calls in flight; each holds an advisory lock

Keys and the mirror of the head stay in files on every node, never in the database.
"""
