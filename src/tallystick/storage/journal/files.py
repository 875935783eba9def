"""The journal on files.

Every change happens under one lock. What a commit writes, in this order, and why the order matters:

1. blobs         a record never names a payload that is not there
2. the log       one write for all records of the commit, then fdatasync (durability "fsync")
3. views         so that whatever the head covers stands in its session's view
4. the head      here, then in the mirror; from now on the commit counts, and its callers are told
5. a checkpoint  when 256 records or 10 seconds have passed; the tiles with it

An error before 4 takes everything back; an error after it loses nothing but what is derived.
"""

import contextlib
import os
import stat as modes
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tallystick.errors import LedgerDamaged, LedgerError, LedgerUnwritable
from tallystick.gate.record.journal import Incident, Notary, Place, Seal, Sealed
from tallystick.storage.journal import disk
from tallystick.storage.journal.blobs import Blobs
from tallystick.storage.journal.checkpoints import Checkpoints
from tallystick.storage.journal.head import FAILED, Head, HeadFile, pack
from tallystick.storage.journal.lock import WriteLock
from tallystick.storage.journal.recovery import Walk, split_line
from tallystick.storage.journal.segments import Segments, Tail, offset_of, position, segment_of
from tallystick.storage.journal.stand import Stand, follow, starting_stand
from tallystick.storage.journal.tiles import Tiles
from tallystick.storage.journal.views import Views
