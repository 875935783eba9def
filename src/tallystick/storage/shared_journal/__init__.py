"""The journal in PostgreSQL: several nodes append to one log; the database decides their order.

    tally_head         one row: size, last leaf and the head's slot with its MAC; locked by the node that appends
    tally_records      header, inputs and outputs of each record by sequence number, the same bytes as in the files
    tally_nodes        subtree hashes per 256 and 65,536 records; derived, rebuilt if lost
    tally_checkpoints  signed notes
    tally_blobs        payloads too large for a record
    tally_definitions  policies and tool definitions that receipts name by digest
    tally_rates        calls of the last minute per caller and tool
    tally_meters       what tasks have spent of their budgets
    tally_processes    processes that may have calls in flight, each with an advisory lock

Keys and the mirror of the head stay in files on every node, never in the database.
"""
