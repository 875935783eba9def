r"""The journal on files: one log per workspace, shared by threads and processes.

    .control-room/audit/
      journal/000000.log …   source of truth; a record per line: `HEADER \t INPUTS \t OUTPUTS \n`  segments.py
      journal/head           size and last leaf with a MAC; two slots, overwritten in turn       head.py
      journal/checkpoints    signed notes, appended                                              checkpoints.py
      journal/tree/          leaf hashes, offsets, subtree hashes; derived, rebuilt if lost      tiles.py
      journal/torn/          partial records left by a crash, kept                               recovery.py
      journal/live/          one locked file per process that may have calls in flight           live.py
      journal/lock           the writer lock                                                     lock.py
      blobs/                 payloads too large for a line                                       blobs.py
      sessions/              one view per session; derived                                       views.py

Every new note is also sent to the configured witnesses (`witnesses.py`), each from its own thread (`courier.py`), by
appending to a file or as an HTTP POST (`posting.py`).

`files.py` combines these parts into the journal that `gate/record/journal.py` specifies; `archive.py` reads them for an
audit and writes nothing; `disk.py` is the only module that makes modifying system calls.
"""
