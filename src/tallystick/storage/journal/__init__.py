r"""The journal on files: one log per workspace, shared by threads and processes.

    .control-room/audit/
      journal/000000.log …   the truth: one record a line, `HEADER \t INPUTS \t OUTPUTS \n`   segments.py
      journal/head           size and last leaf, MACed, two slots written in place by turns      head.py
      journal/checkpoints    signed notes, one after another                                     checkpoints.py
      journal/tree/          leaf hashes, offsets, subtree hashes; derived, rebuilt if lost      tiles.py
      journal/torn/          what a crash left half-written, kept                                recovery.py
      journal/live/          one locked file for each process that may have calls under way      live.py
      journal/lock           who writes                                                          lock.py
      blobs/                 payloads too large for a line                                       blobs.py
      sessions/              the views of single sessions; derived                               views.py

Every new note also goes to the witnesses of the settings (`witnesses.py`), by a thread for each (`courier.py`), to a
file or as a POST (`posting.py`).

`files.py` joins them into the journal that `gate/record/journal.py` asks for; `archive.py` reads them for an audit
and writes nothing; `disk.py` is the only place that calls the operating system to change anything.
"""
